//! An inventory that can be shown to others: names and ids are replaced by pseudonyms that keep their shape.
//!
//! The same name has the same pseudonym wherever it stands, word by word, so that names that are made of one another
//! stay so. Kept are addresses, CIDRs, zones, Regions, versions, instance types, and the words of AWS and Kubernetes.

mod observed;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Inventory;
use super::pseudonyms::Pseudonyms;
use crate::error::Error;
use crate::launch_template::{Base64Bytes, LaunchTemplateData};

/// The pseudonyms for everything in an inventory that has a name.
pub fn pseudonyms(inventory: &Inventory) -> Pseudonyms {
    let mut names = Names::default();
    names.of(inventory);
    let zones = inventory.subnets.iter().map(|subnet| subnet.availability_zone.clone());
    Pseudonyms::new(
        &secret(inventory),
        &names.names,
        zones.chain([inventory.region.clone()]),
        inventory.cluster.certificate_authority.as_deref(),
    )
}

/// Replaces names and ids. `user_data` decides what stays of the bytes of user data.
///
/// # Errors
/// [`Error::Serialise`]; a defect of the program.
pub fn redacted(
    inventory: &Inventory,
    pseudonyms: &Pseudonyms,
    user_data: impl Fn(&[u8]) -> Vec<u8>,
) -> Result<Inventory, Error> {
    let defect = |source: serde_json::Error| Error::Serialise { what: "the inventory".into(), source: source.into() };
    let mut inventory = inventory.clone();
    let observed = inventory.observed.take().map(|whole| observed::redacted(&whole, pseudonyms, &user_data));
    let mut bodies = Vec::new();
    for data in launch_template_data(&mut inventory) {
        bodies.push(data.user_data.take().map(|Base64Bytes(bytes)| Base64Bytes(user_data(&bytes))));
    }
    let mut value = serde_json::to_value(&inventory).map_err(defect)?;
    replace(&mut value, "", pseudonyms);
    let mut inventory: Inventory = serde_json::from_value(value).map_err(defect)?;
    for (data, body) in launch_template_data(&mut inventory).zip(bodies) {
        data.user_data = body;
    }
    inventory.observed = observed;
    inventory.redacted = true;
    inventory.sort();
    Ok(inventory)
}

fn launch_template_data(inventory: &mut Inventory) -> impl Iterator<Item = &mut LaunchTemplateData> {
    let versions = inventory.launch_templates.iter_mut().flat_map(|template| &mut template.versions);
    versions.map(|version| &mut version.launch_template_data)
}

/// What the pseudonyms depend on: the same for every reading of a cluster, and not to be guessed from a name.
fn secret(inventory: &Inventory) -> Vec<u8> {
    let cluster = &inventory.cluster;
    let parts = [cluster.arn.as_deref(), cluster.certificate_authority.as_deref(), cluster.vpc_id.as_deref()];
    Sha256::digest(parts.map(Option::unwrap_or_default).join("\n")).to_vec()
}

/// Fields whose text is the word of an API, a number, or an address, and never somebody's name.
const KEPT: &[&str] = &[
    "schema_version",
    "collected_at",
    "region",
    "version",
    "status",
    "state",
    "service_ipv4_cidr",
    "service_ipv6_cidr",
    "ip_family",
    "authentication_mode",
    "cidr_block",
    "availability_zone",
    "availability_zone_id",
    "ip_protocol",
    "ip_ranges",
    "destination",
    "ami_type",
    "capacity_type",
    "release_version",
    "effect",
    "architecture",
    "instance_types",
    "instance_type",
    "hypervisor",
    "supported_architectures",
    "addon_version",
    "operation",
    "fields",
    "internal_ip",
    "created_at",
    "os_image",
    "source",
    "action",
    "code",
    "InstanceType",
    "VolumeType",
    "DeviceName",
    "HttpTokens",
    "HttpEndpoint",
    "HttpProtocolIpv6",
    "InstanceMetadataTags",
    "ResourceType",
    "Tenancy",
    "HostnameType",
    "MarketType",
    "SpotInstanceType",
    "CpuCredits",
    "AutoRecovery",
    "InterfaceType",
    "BandwidthWeighting",
    "AmdSevSnp",
    "InstanceRequirements",
    "InstanceInitiatedShutdownBehavior",
];

fn replace(value: &mut Value, field: &str, pseudonyms: &Pseudonyms) {
    match value {
        Value::String(text) if !KEPT.contains(&field) => *text = pseudonyms.text(&without_credentials(text)),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, field, pseudonyms)),
        Value::Object(_) if KEPT.contains(&field) => {}
        Value::Object(fields) if matches!(field, "labels" | "annotations" | "tags" | "env") => {
            let before = std::mem::take(fields);
            for (key, value) in before {
                let text = value.as_str().unwrap_or_default();
                let after = match field {
                    "annotations" if !is_well_known(&key) => digest(text.as_bytes()),
                    "labels" if is_kept_label(&key) => text.to_owned(),
                    _ => pseudonyms.text(&without_credentials(text)),
                };
                fields.insert(self::key(&key, pseudonyms), after.into());
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                replace(value, name, pseudonyms);
            }
        }
    }
}

/// A text without the user and password that an address in it holds, as that of a proxy: `http://user:password@host`.
fn without_credentials(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::with_capacity(text.len());
    while let Some((before, after)) = rest.split_once("://") {
        kept.push_str(before);
        kept.push_str("://");
        let authority = after.find(|c: char| matches!(c, '/' | '?' | '#' | '"' | '\'') || c.is_whitespace());
        let authority = after.get(..authority.unwrap_or(after.len())).unwrap_or_default();
        rest = after;
        if let Some(at) = authority.rfind('@') {
            kept.push_str("redacted");
            rest = after.get(at..).unwrap_or_default();
        }
    }
    kept.push_str(rest);
    kept
}

/// A key of a label or tag. Those of AWS and Kubernetes stay, up to the names that some hold: `kubernetes.io/cluster/NAME`,
/// `node-role.kubernetes.io/NAME`.
fn key(key: &str, pseudonyms: &Pseudonyms) -> String {
    const NAMING: [&str; 2] = ["node-role.kubernetes.io/", "node-restriction.kubernetes.io/"];
    if !is_well_known(key) {
        return pseudonyms.text(key);
    }
    let named = NAMING.iter().find(|domain| key.starts_with(**domain)).map(|domain| domain.len());
    let second = || key.match_indices('/').nth(1).map(|(at, _)| at + 1);
    match named.or_else(second).and_then(|at| key.split_at_checked(at)) {
        Some((known, name)) => format!("{known}{}", pseudonyms.text(name)),
        None => key.to_owned(),
    }
}

/// What stands for bytes that are left out.
pub fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(format!("redacted: {} bytes, SHA-256 ", bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Names that people gave.
#[derive(Default)]
struct Names {
    names: BTreeSet<String>,
}

impl Names {
    fn of(&mut self, inventory: &Inventory) {
        self.add(&inventory.cluster.name);
        self.arn(inventory.cluster.arn.as_deref());
        self.tags(&inventory.cluster.tags);
        self.tags(&inventory.vpc.iter().flat_map(|vpc| vpc.tags.clone()).collect());
        for subnet in &inventory.subnets {
            self.tags(&subnet.tags);
        }
        for group in &inventory.security_groups {
            self.add(group.group_name.as_deref().unwrap_or_default());
            self.tags(&group.tags);
        }
        for group in &inventory.node_groups {
            self.add(&group.name);
            self.arn(group.node_role.as_deref());
            self.labels(&group.labels);
            self.tags(&group.tags);
            for taint in &group.taints {
                self.labels(&BTreeMap::from([(taint.key.clone(), taint.value.clone())]));
            }
            self.add(group.remote_access.as_ref().and_then(|access| access.ec2_ssh_key.as_deref()).unwrap_or_default());
        }
        for template in &inventory.launch_templates {
            self.add(&template.launch_template_name);
            self.tags(&template.tags);
            for version in &template.versions {
                self.add(version.version_description.as_deref().unwrap_or_default());
                let data = &version.launch_template_data;
                self.add(data.key_name.as_deref().unwrap_or_default());
                self.strings(data.iam_instance_profile.as_ref());
                for tag in data.tag_specifications.iter().flat_map(|specification| &specification.tags) {
                    self.tags(&BTreeMap::from([(tag.key.clone(), tag.value.clone())]));
                }
                let others = data.other.iter().chain(data.network_interfaces.iter().flat_map(|one| &one.other));
                for (name, value) in others.filter(|(name, _)| !KEPT.contains(&name.as_str())) {
                    self.strings(Some(value).filter(|_| name != "Operator"));
                }
            }
        }
        for image in &inventory.images {
            self.add(image.name.as_deref().unwrap_or_default());
        }
        if let Some(add_on) = &inventory.add_on {
            self.arn(add_on.service_account_role_arn.as_deref());
        }
        for eni_config in &inventory.eni_configs {
            self.add(&eni_config.name);
            self.labels(&eni_config.labels);
            eni_config.managers.iter().for_each(|manager| self.add(&manager.manager));
        }
        if let Some(aws_node) = &inventory.aws_node {
            self.add(&aws_node.image);
            self.labels(&aws_node.labels);
            aws_node.managers.iter().for_each(|manager| self.add(&manager.manager));
            for (name, value) in &aws_node.env {
                if matches!(name.as_str(), "ENI_CONFIG_LABEL_DEF" | "ENI_CONFIG_ANNOTATION_DEF")
                    && !is_well_known(value)
                    || name == "ADDITIONAL_ENI_TAGS"
                {
                    self.add(value);
                }
            }
        }
        for node in &inventory.nodes {
            self.add(&node.name);
            self.labels(&node.labels);
            // The one annotation of a well-known key whose value is a name.
            self.add(node.annotations.get(super::DEFAULT_ENI_CONFIG_KEY).map_or("", String::as_str));
        }
        for gap in &inventory.gaps {
            self.add(gap.resource.as_deref().unwrap_or_default());
            self.arn(gap.caller.as_deref());
        }
    }

    fn add(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    /// What stands behind the account of an ARN.
    fn arn(&mut self, arn: Option<&str>) {
        self.add(arn.and_then(|arn| arn.splitn(6, ':').nth(5)).unwrap_or_default());
    }

    fn tags(&mut self, tags: &BTreeMap<String, String>) {
        for (key, value) in tags {
            self.add(if is_well_known(key) { "" } else { key });
            self.add(value);
        }
    }

    fn labels(&mut self, labels: &BTreeMap<String, String>) {
        for (key, value) in labels {
            self.add(if is_well_known(key) { "" } else { key });
            self.add(if is_kept_label(key) { "" } else { value });
        }
    }

    fn strings(&mut self, value: Option<&Value>) {
        match value {
            Some(Value::String(text)) => self.add(text),
            Some(Value::Array(items)) => items.iter().for_each(|item| self.strings(Some(item))),
            Some(Value::Object(fields)) => {
                let named = fields.iter().filter(|(name, _)| !KEPT.contains(&name.as_str()));
                named.for_each(|(_, field)| self.strings(Some(field)));
            }
            _ => {}
        }
    }
}

/// Whether a key is one of AWS's, Kubernetes' or ours, and not somebody's own.
fn is_well_known(key: &str) -> bool {
    let domain = key.split('/').next().unwrap_or_default();
    key == "Name"
        || key.starts_with("aws:")
        || (key.contains('/')
            && [
                "kubernetes.io",
                "k8s.io",
                "k8s.aws",
                "amazonaws.com",
                "eniplan.dev",
                "karpenter.sh",
                "eksctl.io",
                "helm.sh",
            ]
            .iter()
            .any(|known| domain == *known || domain.ends_with(&format!(".{known}"))))
        || matches!(key, "eks:cluster-name" | "eks:nodegroup-name" | "k8s-app")
}

/// Whether the value of a label is a word of AWS or Kubernetes, and not a name that somebody gave.
fn is_kept_label(key: &str) -> bool {
    const NAMING: [&str; 7] = [
        "eks.amazonaws.com/nodegroup",
        "k8s.amazonaws.com/eniConfig",
        "vpc.amazonaws.com/externalEniConfig",
        "kubernetes.io/hostname",
        "eks.amazonaws.com/nodegroup-image",
        "eks.amazonaws.com/sourceLaunchTemplateId",
        "eks.amazonaws.com/nodeclass",
    ];
    is_well_known(key) && !NAMING.contains(&key) && !key.contains("karpenter.sh/") && !key.contains("eksctl.io/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_addresses_do_not_stay() {
        for (text, kept) in [
            ("http://alice:secret@proxy.example:3128", "http://redacted@proxy.example:3128"),
            (
                r#"{"env":{"HTTPS_PROXY":"http://u:p@h","NO_PROXY":"a@b"}}"#,
                r#"{"env":{"HTTPS_PROXY":"http://redacted@h","NO_PROXY":"a@b"}}"#,
            ),
            ("https://host/path?to=a@b", "https://host/path?to=a@b"),
            ("no address", "no address"),
        ] {
            assert_eq!(without_credentials(text), kept);
        }
    }
}
