//! What is known of a group before anything is decided about it: from EKS where EKS knows it, else from the file.

use std::collections::BTreeMap;

use super::is_ours;
use super::notes::{Notes, list};
use crate::config::{AmiFamily, Config, NodeGroupConfig};
use crate::finding::Subject;
use crate::inventory::{
    AmiRelease, GapSource, Inventory, LaunchTemplate, LaunchTemplateVersion, NodeGroup, Subnet, Taint,
};
use crate::user_data;

/// A group as it is, or as the file describes it.
#[derive(Debug, Clone)]
pub(super) struct GroupFacts<'a> {
    pub(super) name: &'a str,
    pub(super) config: &'a NodeGroupConfig,
    /// What EKS says of it; `None` for a group that is new or not managed.
    pub(super) known: Option<&'a NodeGroup>,
    pub(super) managed: bool,
    pub(super) family: AmiFamily,
    pub(super) release: Option<AmiRelease>,
    pub(super) image_id: Option<String>,
    pub(super) subnets: Vec<&'a Subnet>,
    pub(super) instance_types: Vec<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) taints: Vec<Taint>,
    pub(super) template: Option<TemplateInUse<'a>>,
}

/// The group's launch template and the version of it that is in use.
#[derive(Debug, Clone, Copy)]
pub(super) struct TemplateInUse<'a> {
    pub(super) template: &'a LaunchTemplate,
    pub(super) version: &'a LaunchTemplateVersion,
}

impl GroupFacts<'_> {
    /// Whether our part of the user data in use holds one of these texts. What a run has made that did not get as far
    /// as the node group counts as in use: the next run is to make the same.
    pub(super) fn ours_in_use_has(&self, inventory: &Inventory, texts: &[&str]) -> bool {
        let in_use = self.template.map(|in_use| in_use.version);
        let made = || {
            let is_ours = |template: &&LaunchTemplate| is_ours(&template.tags, &inventory.cluster.name, self.name);
            let template = inventory.launch_templates.iter().find(is_ours)?;
            template.version(template.latest_version_number)
        };
        in_use.or_else(made).is_some_and(|version| ours_has(version, texts))
    }
}

fn ours_has(version: &LaunchTemplateVersion, texts: &[&str]) -> bool {
    let bytes = version.launch_template_data.user_data.as_ref();
    let Some(document) = bytes.and_then(|bytes| user_data::read(&bytes.0).ok()) else { return false };
    document.parts.iter().any(|part| {
        let content = part.content();
        let text = String::from_utf8_lossy(&content);
        user_data::marker_name(&content).is_some() && texts.iter().any(|says| text.contains(says))
    })
}

/// Gathers what is known of every group of the file; groups that cannot be planned leave a problem and are left out.
pub(super) fn gather<'a>(inventory: &'a Inventory, config: &'a Config, notes: &mut Notes) -> Vec<GroupFacts<'a>> {
    let mut groups: Vec<_> =
        config.node_groups.iter().filter_map(|group| gather_one(inventory, group, notes)).collect();
    groups.sort_by_key(|group| group.name);
    unplanned(inventory, config, notes);
    groups
}

fn gather_one<'a>(inventory: &'a Inventory, config: &'a NodeGroupConfig, notes: &mut Notes) -> Option<GroupFacts<'a>> {
    let subject = || Subject::NodeGroup(config.name.clone());
    let described = &config.described;
    let managed = described.managed.unwrap_or(true);
    let asked_for = if managed { inventory.node_group(&config.name) } else { None };
    let successor = config.successor.as_deref().and_then(|name| inventory.node_group(name));
    // Once the successor is there, it is the group to plan; the old one waits to be drained.
    let known =
        if asked_for.is_none_or(|group| group.launch_template.is_none()) { successor.or(asked_for) } else { asked_for };
    if managed && known.is_none() && inventory.gaps_in(GapSource::NodeGroups).next().is_some() {
        return None;
    }
    let template = match template_in_use(inventory, config, known, notes) {
        Ok(template) => template,
        Err(TemplateUnknown) => return None,
    };
    let data = template.map(|template| &template.version.launch_template_data);
    let image_id = match data {
        Some(data) => data.image_id.clone(),
        None => described.image_id.clone(),
    };
    let image = image_id.as_deref().and_then(|id| inventory.image(id));
    let image_name = image.and_then(|image| image.name.as_deref());
    let family = family(known, image_id.as_deref(), image_name, described.ami_family, managed);
    let Some(family) = family else {
        let image_id = image_id.as_deref().unwrap_or_default();
        let why = match inventory.gaps_in(GapSource::Images).next() {
            Some(gap) => format!("{} did not answer ({})", gap.action, gap.message),
            None if image.is_none() && !image_id.starts_with("resolve:") => {
                "EC2 does not know the image; it may have been deregistered, or belong to another account or Region"
                    .into()
            }
            None => "its name tells no family".into(),
        };
        notes.problem(
            "ami-family-unknown",
            subject(),
            format!("the AMI family of image {image_id} is unknown: {why}"),
            "set `amiFamily` on the group to AL2023, AL2 or Bottlerocket",
        );
        return None;
    };
    if matches!(family, AmiFamily::Ubuntu | AmiFamily::Windows) {
        let reason = if family == AmiFamily::Windows {
            "the VPC CNI has no custom networking on Windows"
        } else {
            "its images take no bootstrap that eniplan can write"
        };
        notes.problem(
            "ami-family-refused",
            subject(),
            format!("{} nodes cannot be planned: {reason}", family.word()),
            "put the group under `ignore`, or move it to AL2023 or Bottlerocket",
        );
        return None;
    }
    let release = match image_name {
        Some(name) => AmiRelease::at_end_of(name),
        None if image_id.is_some() => None,
        None => known.and_then(|known| known.release_version.as_deref()).and_then(AmiRelease::at_end_of),
    };
    let subnets = node_subnets(inventory, config, known, notes);
    let instance_types = instance_types(config, known, data.and_then(|data| data.instance_type.as_deref()));
    Some(GroupFacts {
        name: known.map_or(&config.name, |known| &known.name),
        config,
        known,
        managed,
        family,
        release,
        image_id,
        subnets,
        instance_types,
        labels: known.map_or_else(|| described.labels.clone(), |known| known.labels.clone()),
        taints: known.map_or_else(|| described_taints(config), |known| known.taints.clone()),
        template,
    })
}

/// The group has a template, but what is in it could not be read.
struct TemplateUnknown;

fn template_in_use<'a>(
    inventory: &'a Inventory,
    config: &NodeGroupConfig,
    known: Option<&'a NodeGroup>,
    notes: &mut Notes,
) -> Result<Option<TemplateInUse<'a>>, TemplateUnknown> {
    let (id, wanted) = match (known, &config.described.launch_template) {
        (Some(known), _) => match &known.launch_template {
            None => return Ok(None),
            Some(used) => {
                (used.id.as_deref().or_else(|| id_of(inventory, used.name.as_deref())), used.version.as_deref())
            }
        },
        (None, Some(described)) => (Some(described.id.as_str()), Some(described.version.as_str())),
        (None, None) => return Ok(None),
    };
    let template = id.and_then(|id| inventory.launch_template(id));
    let version = template.and_then(|template| template.version(template.resolve_version(wanted)?));
    if let (Some(template), Some(version)) = (template, version) {
        return Ok(Some(TemplateInUse { template, version }));
    }
    if inventory.gaps_in(GapSource::LaunchTemplates).next().is_none() {
        notes.problem(
            "launch-template-unknown",
            Subject::NodeGroup(config.name.clone()),
            format!(
                "its launch template {} version {} is not in the inventory",
                id.unwrap_or("(no id)"),
                wanted.unwrap_or("$Default")
            ),
            "read the inventory again; if the template was deleted, the group needs a new one and must be replaced",
        );
    }
    Err(TemplateUnknown)
}

fn id_of<'a>(inventory: &'a Inventory, name: Option<&str>) -> Option<&'a str> {
    let template =
        inventory.launch_templates.iter().find(|template| Some(template.launch_template_name.as_str()) == name)?;
    Some(&template.launch_template_id)
}

/// The AMI family: EKS's own `amiType`, else the image's name, else what the file says.
/// `None` only where there is an image whose name tells nothing.
fn family(
    known: Option<&NodeGroup>,
    image_id: Option<&str>,
    image_name: Option<&str>,
    described: Option<AmiFamily>,
    managed: bool,
) -> Option<AmiFamily> {
    let by_ami_type = known.and_then(|known| family_of_ami_type(known.ami_type.as_deref()?));
    let by_name = image_name.or(image_id).and_then(family_of_image_name);
    match by_ami_type.or(by_name).or(described) {
        Some(family) => Some(family),
        None if image_id.is_some() || !managed => None,
        None => Some(AmiFamily::Al2023),
    }
}

/// Source: EKS API reference, `Nodegroup.amiType`; `CUSTOM` says nothing.
fn family_of_ami_type(ami_type: &str) -> Option<AmiFamily> {
    [
        ("AL2023_", AmiFamily::Al2023),
        ("AL2_", AmiFamily::Al2),
        ("BOTTLEROCKET_", AmiFamily::Bottlerocket),
        ("WINDOWS_", AmiFamily::Windows),
    ]
    .into_iter()
    .find_map(|(prefix, family)| ami_type.starts_with(prefix).then_some(family))
}

/// The names of published images, and the SSM parameters that resolve to them.
/// Source: EKS user guide, "Retrieve recommended Amazon Linux AMI IDs" and the pages for Bottlerocket, Ubuntu and Windows.
fn family_of_image_name(name: &str) -> Option<AmiFamily> {
    let name = name.to_ascii_lowercase();
    let amazon_linux = name.contains("amazon-eks-") || name.contains("optimized-ami");
    if name.contains("bottlerocket") {
        return Some(AmiFamily::Bottlerocket);
    }
    if name.contains("windows") {
        return Some(AmiFamily::Windows);
    }
    if name.contains("ubuntu") {
        return Some(AmiFamily::Ubuntu);
    }
    if amazon_linux && (name.contains("al2023") || name.contains("amazon-linux-2023")) {
        return Some(AmiFamily::Al2023);
    }
    let al2 = name.starts_with("amazon-eks-node-")
        || name.starts_with("amazon-eks-gpu-node-")
        || name.starts_with("amazon-eks-arm64-node-")
        || name.contains("amazon-linux-2");
    (amazon_linux && al2).then_some(AmiFamily::Al2)
}

fn node_subnets<'a>(
    inventory: &'a Inventory,
    config: &'a NodeGroupConfig,
    known: Option<&'a NodeGroup>,
    notes: &mut Notes,
) -> Vec<&'a Subnet> {
    let ids = known.map_or(&config.described.subnets, |known| &known.subnets);
    let subject = || Subject::NodeGroup(config.name.clone());
    if ids.is_empty() {
        notes.problem(
            "node-group-without-subnets",
            subject(),
            "EKS does not know the group, and eniplan.yaml names no `subnets` for it",
            "correct the name, or describe the group: subnets, instanceTypes, amiFamily, scaling, nodeRole",
        );
    }
    let mut subnets = Vec::new();
    for id in ids {
        match inventory.subnet(id) {
            Some(subnet) => subnets.push(subnet),
            None if inventory.gaps_in(GapSource::Subnets).next().is_some() => {}
            None => notes.problem(
                "node-subnet-unknown",
                subject(),
                format!("its node subnet {id} is not in the VPC of the cluster"),
                "correct the id, or read the inventory again",
            ),
        }
    }
    subnets.sort_by_key(|subnet| subnet.cidr_block);
    subnets.dedup_by_key(|subnet| &subnet.subnet_id);
    subnets
}

/// At most one type is in a launch template, and then EKS has none.
fn instance_types(config: &NodeGroupConfig, known: Option<&NodeGroup>, in_template: Option<&str>) -> Vec<String> {
    let mut types =
        known.map(|known| known.instance_types.clone()).filter(|types| !types.is_empty()).unwrap_or_default();
    if types.is_empty() {
        types.clone_from(&config.described.instance_types);
    }
    if types.is_empty() {
        types.extend(in_template.map(str::to_owned));
    }
    types.sort();
    types.dedup();
    types
}

/// Taints as EKS spells their effects.
fn described_taints(config: &NodeGroupConfig) -> Vec<Taint> {
    let effect = |effect: &str| match effect {
        "NoExecute" => "NO_EXECUTE",
        "PreferNoSchedule" => "PREFER_NO_SCHEDULE",
        _ => "NO_SCHEDULE",
    };
    config
        .described
        .taints
        .iter()
        .map(|taint| Taint { key: taint.key.clone(), value: taint.value.clone(), effect: effect(&taint.effect).into() })
        .collect()
}

/// Every managed node group is planned or ignored; Windows groups are passed over with a reason.
fn unplanned(inventory: &Inventory, config: &Config, notes: &mut Notes) {
    for group in &inventory.node_groups {
        if config.node_group(&group.name).is_some() || config.ignore.contains(&group.name) {
            continue;
        }
        if config.node_groups.iter().any(|planned| planned.successor.as_deref() == Some(group.name.as_str())) {
            continue;
        }
        if group.ami_type.as_deref().and_then(family_of_ami_type) == Some(AmiFamily::Windows) {
            notes.problem(
                "windows-group-skipped",
                Subject::NodeGroup(group.name.clone()),
                "left out: the VPC CNI has no custom networking on Windows",
                "put it under `ignore` to say that you know",
            );
            continue;
        }
        notes.problem(
            "node-group-unplanned",
            Subject::NodeGroup(group.name.clone()),
            "the cluster has this managed node group, and eniplan.yaml neither plans nor ignores it",
            "add it under spec.nodeGroups, or under spec.ignore",
        );
    }
    for name in &config.ignore {
        if inventory.node_group(name).is_none() && inventory.gaps_in(GapSource::NodeGroups).next().is_none() {
            notes.problem(
                "ignored-group-unknown",
                Subject::NodeGroup(name.clone()),
                format!(
                    "spec.ignore names it, but the cluster has no such group; it has: {}",
                    list(inventory.node_groups.iter().map(|group| &group.name))
                ),
                "correct or remove the name",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_from_image_names() {
        for (name, family) in [
            ("amazon-eks-node-al2023-x86_64-standard-1.33-v20251023", Some(AmiFamily::Al2023)),
            ("amazon-eks-node-al2023-arm64-nvidia-1.33-v20251023", Some(AmiFamily::Al2023)),
            ("amazon-eks-node-1.31-v20251209", Some(AmiFamily::Al2)),
            ("amazon-eks-arm64-node-1.31-v20251209", Some(AmiFamily::Al2)),
            ("amazon-eks-gpu-node-1.31-v20251209", Some(AmiFamily::Al2)),
            ("bottlerocket-aws-k8s-1.33-x86_64-v1.49.0-713f44ce", Some(AmiFamily::Bottlerocket)),
            ("ubuntu-eks/k8s_1.31/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-20250101", Some(AmiFamily::Ubuntu)),
            ("Windows_Server-2022-English-Core-EKS_Optimized-1.31-2025.10.16", Some(AmiFamily::Windows)),
            (
                "resolve:ssm:/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id",
                Some(AmiFamily::Al2023),
            ),
            (
                "resolve:ssm:/aws/service/eks/optimized-ami/1.31/amazon-linux-2/recommended/image_id",
                Some(AmiFamily::Al2),
            ),
            ("my-golden-image-2026", None),
        ] {
            assert_eq!(family_of_image_name(name), family, "{name}");
        }
    }
}
