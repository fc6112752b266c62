//! What the file says about a node group that EKS does not know yet, or that is not managed.

use std::collections::BTreeMap;

use super::aws_names::{image_id, instance_type, launch_template_id, launch_template_version, role_arn, subnet_id};
use super::fault::{Fault, shown};
use super::kubernetes_names::{check_label_key, check_label_value, is_refused_by_kubelet};
use super::label::{DEFAULT_LABEL_KEY, EXTERNAL_ENI_CONFIG_KEY};
use super::read::{Fields, any_text, boolean, filled_list, found, key, list, mapping, text, texts, whole, word};
use super::tree::{Entry, Node, ScalarKind, Value};
use super::{AmiFamily, DescribedGroup, DescribedLaunchTemplate, DescribedScaling, DescribedTaint, LabelConfig};

pub(super) const DESCRIBED_KEYS: &[&str] = &[
    "managed",
    "amiFamily",
    "imageId",
    "launchTemplate",
    "subnets",
    "instanceTypes",
    "nodeRole",
    "scaling",
    "labels",
    "taints",
];
pub(super) const LAUNCH_TEMPLATE_KEYS: &[&str] = &["id", "version"];
pub(super) const SCALING_KEYS: &[&str] = &["min", "max", "desired"];
pub(super) const TAINT_KEYS: &[&str] = &["key", "value", "effect"];

pub(super) const AMI_FAMILIES: &[(&str, AmiFamily)] = &[
    ("AL2023", AmiFamily::Al2023),
    ("AL2", AmiFamily::Al2),
    ("Bottlerocket", AmiFamily::Bottlerocket),
    ("Ubuntu", AmiFamily::Ubuntu),
    ("Windows", AmiFamily::Windows),
];
pub(super) const TAINT_EFFECTS: &[(&str, &str)] =
    &[("NoSchedule", "NoSchedule"), ("PreferNoSchedule", "PreferNoSchedule"), ("NoExecute", "NoExecute")];

/// The version of a launch template that EC2 takes where none is named.
/// Source: EC2 API reference, `LaunchTemplateSpecification`.
pub(super) const DEFAULT_VERSION: &str = "$Default";

/// Most nodes of a node group. A bound against slips of the keyboard, far above EKS's quota of 450 nodes per group.
/// Source of the quota: EKS user guide, "Service quotas".
pub(super) const NODES_LIMIT: u32 = 100_000;

/// Most instance types of a managed node group. Source: EKS API reference, `CreateNodegroup.instanceTypes`.
const INSTANCE_TYPES_LIMIT: usize = 20;

pub(super) fn described(fields: &Fields<'_>, name: &str, label: Option<&LabelConfig>) -> Result<DescribedGroup, Fault> {
    let place = |part: &str| format!("{part} of node group `{name}`");
    let managed = fields.value("managed", |node| boolean(node, "managed"))?;
    Ok(DescribedGroup {
        managed,
        ami_family: fields.value("amiFamily", |node| word(node, "an AMI family", AMI_FAMILIES))?,
        image_id: fields.value("imageId", image_id)?,
        launch_template: fields.entry("launchTemplate", |entry| launch_template(entry, &place("launchTemplate")))?,
        subnets: fields.value("subnets", subnets)?.unwrap_or_default(),
        instance_types: fields.value("instanceTypes", |node| instance_types(node, managed))?.unwrap_or_default(),
        node_role: fields.value("nodeRole", role_arn)?,
        scaling: fields.entry("scaling", |entry| scaling(entry, &place("scaling")))?,
        labels: fields.entry("labels", |entry| labels(entry, &place("labels"), label))?.unwrap_or_default(),
        taints: fields.value("taints", |node| taints(node, &place("a taint")))?.unwrap_or_default(),
    })
}

fn launch_template(entry: &Entry, place: &str) -> Result<DescribedLaunchTemplate, Fault> {
    if let Value::Scalar(scalar) = &entry.value.value
        && scalar.text.starts_with("lt-")
    {
        let id = launch_template_id(&entry.value)?;
        return Err(Fault::new(
            entry.value.mark,
            format!("expected a mapping for {place}, found `{id}` alone"),
            format!("write `launchTemplate: {{id: {id}, version: \"$Default\"}}`"),
        ));
    }
    let fields = Fields::new(&entry.value, entry.key.mark, place, LAUNCH_TEMPLATE_KEYS)?;
    let id = launch_template_id(&fields.require("id", "id: lt-…")?.value)?;
    let version = fields.value("version", version)?.unwrap_or_else(|| DEFAULT_VERSION.into());
    Ok(DescribedLaunchTemplate { id, version })
}

/// A version is a number or a word; both stay texts.
fn version(node: &Node) -> Result<String, Fault> {
    match &node.value {
        Value::Scalar(scalar) if matches!(scalar.kind, ScalarKind::Number | ScalarKind::Text) => {
            launch_template_version(node, &scalar.text)
        }
        _ => Err(Fault::new(
            node.mark,
            format!("expected the version of a launch template, found {}", found(node)),
            "write its number, `$Latest` or `$Default`",
        )),
    }
}

fn subnets(node: &Node) -> Result<Vec<String>, Fault> {
    filled_list(node, "subnet ids")?;
    texts(node, "subnet ids", subnet_id)
}

fn instance_types(node: &Node, managed: Option<bool>) -> Result<Vec<String>, Fault> {
    filled_list(node, "instance types")?;
    let types = texts(node, "instance types", instance_type)?;
    if managed != Some(false) && types.len() > INSTANCE_TYPES_LIMIT {
        return Err(Fault::new(
            node.mark,
            format!("{} instance types are more than a managed node group can have", types.len()),
            format!("keep {INSTANCE_TYPES_LIMIT} at most"),
        ));
    }
    Ok(types)
}

fn scaling(entry: &Entry, place: &str) -> Result<DescribedScaling, Fault> {
    let fields = Fields::new(&entry.value, entry.key.mark, place, SCALING_KEYS)?;
    let size = |key: &str, least: u32| {
        let entry = fields.require(key, &format!("{key}: 3"))?;
        let limit = format!("write a number of nodes from {least} to {NODES_LIMIT}");
        Ok((whole(&entry.value, &format!("a number for `{key}`"), least..=NODES_LIMIT, &limit)?, entry.value.mark))
    };
    let (min, min_mark) = size("min", 0)?;
    let (max, _) = size("max", 1)?;
    let (desired, desired_mark) = size("desired", 0)?;
    if min > max {
        return Err(Fault::new(min_mark, format!("`min` {min} is above `max` {max}"), "write min ≤ desired ≤ max"));
    }
    if !(min..=max).contains(&desired) {
        return Err(Fault::new(
            desired_mark,
            format!("`desired` {desired} is not between `min` {min} and `max` {max}"),
            "write min ≤ desired ≤ max",
        ));
    }
    Ok(DescribedScaling { min, max, desired })
}

fn labels(entry: &Entry, place: &str, label: Option<&LabelConfig>) -> Result<BTreeMap<String, String>, Fault> {
    let mut labels = BTreeMap::new();
    for entry in mapping(&entry.value, entry.key.mark, place)? {
        let name = key(entry, place)?;
        check_label_key(&entry.key, name)?;
        if is_ours(name, label) {
            return Err(Fault::new(
                entry.key.mark,
                format!("`{name}` says which ENIConfig a node uses; the plan decides that"),
                "remove the label, and name the ENIConfig under `pools` or `map`",
            ));
        }
        if is_refused_by_kubelet(name) {
            return Err(Fault::new(
                entry.key.mark,
                format!("a kubelet may not set `{}` on its node", shown(name)),
                "use a domain of your own, or `node.kubernetes.io/…`",
            ));
        }
        let value = any_text(&entry.value, "the value of a label")?;
        check_label_value(&entry.value, value)?;
        labels.insert(name.into(), value.into());
    }
    Ok(labels)
}

fn is_ours(key: &str, label: Option<&LabelConfig>) -> bool {
    let chosen = label.and_then(|label| label.key.as_deref());
    key == EXTERNAL_ENI_CONFIG_KEY || key == DEFAULT_LABEL_KEY || Some(key) == chosen
}

fn taints(node: &Node, place: &str) -> Result<Vec<DescribedTaint>, Fault> {
    let mut taints: Vec<DescribedTaint> = Vec::new();
    for item in list(node, "taints")? {
        let fields = Fields::new(item, item.mark, place, TAINT_KEYS)?;
        let key_node = &fields.require("key", "key: NAME")?.value;
        let key = text(key_node, "the key of a taint")?;
        check_label_key(key_node, key)?;
        let value = match fields.get("value") {
            Some(entry) => {
                let value = any_text(&entry.value, "the value of a taint")?;
                check_label_value(&entry.value, value)?;
                value
            }
            None => "",
        };
        let effect =
            word(&fields.require("effect", "effect: NoSchedule")?.value, "the effect of a taint", TAINT_EFFECTS)?;
        if taints.iter().any(|other| other.key == key && other.effect == effect) {
            return Err(Fault::new(
                key_node.mark,
                format!("the taint `{key}` with the effect `{effect}` is there already"),
                "keep one of the two",
            ));
        }
        taints.push(DescribedTaint { key: key.into(), value: value.into(), effect: effect.into() });
    }
    Ok(taints)
}
