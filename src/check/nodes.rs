//! Rules about the nodes that are there now, under the settings that the plan leads to.

use std::collections::{BTreeMap, BTreeSet};

use super::Facts;
use super::cni::settings_after;
use crate::config::LabelDesign;
use crate::finding::{Problem, Subject};
use crate::inventory::{Inventory, Node};
use crate::max_pods::node_arithmetic;
use crate::plan::NodeGroupPlan;
use crate::render::shell_line;
use crate::resolve::{EXTERNAL_ENI_CONFIG_LABEL, Resolution, Rule, resolve};

fn subject(node: &Node) -> Subject {
    Subject::Node(node.name.clone())
}

fn planned_group<'a>(facts: &Facts<'a>, node: &Node) -> Option<&'a NodeGroupPlan> {
    let name = node.node_group()?;
    facts.plan.node_groups.iter().find(|group| {
        group.name == name || group.create.as_ref().is_some_and(|create| create.replaces.as_deref() == Some(name))
    })
}

fn is_known(facts: &Facts<'_>, eni_config: &str) -> bool {
    facts.inventory.eni_config(eni_config).is_some()
        || facts.plan.eni_configs.iter().any(|planned| planned.name == eni_config)
}

/// Nodes whose ENIConfig, under the settings to come, would not exist, with what they would look for.
fn lost<'a>(facts: &Facts<'a>) -> Vec<(&'a Node, Resolution)> {
    let settings = settings_after(facts);
    let lost = |node: &'a Node| {
        let resolution = resolve(node, &settings);
        (node.runs_aws_node() && !is_known(facts, &resolution.eni_config)).then_some((node, resolution))
    };
    facts.inventory.nodes.iter().filter_map(lost).collect()
}

/// Nodes of planned groups are replaced by the plan; but a switch reaches them before that.
fn is_replaced_in_time(facts: &Facts<'_>, node: &Node) -> bool {
    !facts.plan.cni.switch && planned_group(facts, node).is_some_and(|group| group.label_key.is_some())
}

pub(super) fn node_names_missing_eniconfig(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for (node, resolution) in lost(facts) {
        let place = match &resolution.rule {
            Rule::ExternalLabel => format!("label {EXTERNAL_ENI_CONFIG_LABEL}"),
            Rule::Annotation(key) => format!("annotation {key}"),
            Rule::Label(key) if facts.plan.label.design == LabelDesign::Own => format!("label {key}"),
            Rule::Label(_) | Rule::Default => continue,
        };
        if is_replaced_in_time(facts, node) {
            continue;
        }
        problems.push(Problem::new(
            "node-names-missing-eniconfig",
            subject(node),
            format!("its {place} names ENIConfig `{}`, which is neither in the cluster nor in the plan: its next interface fails", resolution.eni_config),
            "correct the value on the node, or add the pod subnet of that name to a pool",
        ));
    }
}

/// Karpenter computes max pods and picks types itself, and must be told about the interface that carries no pods.
/// Source: Karpenter, "Settings", `RESERVED_ENIS`.
pub(super) fn karpenter_reserves_no_interface(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let node_pools: BTreeSet<&str> = facts
        .inventory
        .nodes
        .iter()
        .filter(|node| node.runs_aws_node())
        .filter_map(|node| node.labels.get("karpenter.sh/nodepool"))
        .map(String::as_str)
        .collect();
    if !node_pools.is_empty() {
        problems.push(Problem::new(
            "karpenter-reserves-no-interface",
            Subject::Cluster(facts.inventory.cluster.name.clone()),
            format!(
                "Karpenter launches nodes here ({}); eniplan checks them and edits none of their launch templates, and nothing \
                 read here says whether Karpenter knows that their primary interface carries no pods",
                node_pools.into_iter().collect::<Vec<_>>().join(", ")
            ),
            "set RESERVED_ENIS=1 on Karpenter (chart value `settings.reservedENIs`)",
        ));
    }
}

pub(super) fn node_without_label(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if facts.plan.label.design != LabelDesign::Own {
        return;
    }
    for (node, resolution) in lost(facts) {
        if resolution.rule != Rule::Default || is_replaced_in_time(facts, node) {
            continue;
        }
        let looked_for = resolution.eni_config;
        problems.push(Problem::new(
            "node-without-label",
            subject(node),
            format!(
                "{}, which the plan does not label, would look for ENIConfig `{looked_for}`, which does not exist: its next interface fails",
                belongs_to(facts.inventory, node)
            ),
            format!("label it with {}=NAME, plan its group, or use `label: {{design: override}}`", facts.plan.label.node_label_key),
        ));
    }
}

fn belongs_to(inventory: &Inventory, node: &Node) -> String {
    match (node.node_group(), node.labels.get("karpenter.sh/nodepool")) {
        (Some(name), _) if inventory.node_group(name).is_some() => format!("a node of group {name}"),
        (_, Some(pool)) => format!("a node of Karpenter's NodePool {pool}"),
        _ => "a node of no managed group".to_owned(),
    }
}

pub(super) fn zone_without_eniconfig(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if facts.plan.label.design == LabelDesign::Own {
        return;
    }
    let mut by_name: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (node, resolution) in lost(facts) {
        let by_zone = matches!(resolution.rule, Rule::Label(_) | Rule::Default);
        if by_zone && !is_replaced_in_time(facts, node) {
            by_name.entry(resolution.eni_config).or_default().push(&node.name);
        }
    }
    for (looked_for, nodes) in by_name {
        let who = match nodes.len() {
            1 => "1 node that keeps".to_owned(),
            count => format!("{count} nodes that keep"),
        };
        problems.push(Problem::new(
            "zone-without-eniconfig",
            Subject::EniConfig(looked_for.clone()),
            format!("{who} the zone label would look for it, and it does not exist: {}", shown(&nodes)),
            "add a pod subnet of that zone to a pool with `names: zone`",
        ));
    }
}

fn shown(nodes: &[&str]) -> String {
    const SHOWN: usize = 5;
    let first = nodes.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if nodes.len() > SHOWN { format!("{first} and {} more", nodes.len() - SHOWN) } else { first }
}

/// Nodes of planned groups that keep what they have until they are replaced.
pub(super) fn node_needs_replacement(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let settings = facts.inventory.cni_settings().unwrap_or_default();
    let mut by_group: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in facts.inventory.nodes.iter().filter(|node| node.runs_aws_node()) {
        let Some(group) = planned_group(facts, node) else { continue };
        let Some(key) = &group.label_key else { continue };
        let right = node.labels.get(key).is_some_and(|name| settings.custom_networking() && group.gives(node, name));
        if !right {
            by_group.entry(&group.name).or_default().push(&node.name);
        }
    }
    for (group, nodes) in by_group {
        problems.push(Problem::new(
            "node-needs-replacement",
            Subject::NodeGroup(group.into()),
            match nodes.as_slice() {
                [one] => format!("1 of its nodes does not carry the planned label and keeps its pod addresses until it is replaced: {one}"),
                _ => format!("{} of its nodes do not carry the planned label and keep their pod addresses until they are replaced: {}", nodes.len(), shown(&nodes)),
            },
            "update the node group to the new launch-template version, which replaces its nodes",
        ));
    }
}

pub(super) fn annotation_beats_label(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let settings = settings_after(facts);
    for node in facts.inventory.nodes.iter().filter(|node| node.runs_aws_node()) {
        let resolution = resolve(node, &settings);
        let Rule::Annotation(key) = &resolution.rule else { continue };
        let label = node.labels.get(settings.label_key());
        if label.is_some_and(|label| *label == resolution.eni_config) {
            continue;
        }
        let beside = label.map_or_else(
            || "it has no such label".to_owned(),
            |label| format!("its label {} says `{label}`", settings.label_key()),
        );
        problems.push(Problem::new(
            "annotation-beats-label",
            subject(node),
            format!("its annotation {key}=`{}` decides its ENIConfig; {beside}", resolution.eni_config),
            format!(
                "remove the annotation: `{}`; nodes that replace it will not have it",
                remove_annotation(node, key)
            ),
        ));
    }
}

/// The key is a setting of the CNI's, which can be anything.
fn remove_annotation(node: &Node, key: &str) -> String {
    let words = ["kubectl", "annotate", "node", &node.name, &format!("{key}-")].map(str::to_owned);
    shell_line(&words).unwrap_or_else(|_| "kubectl annotate node NODE KEY-".into())
}

/// `RESERVED_ENIS` is a setting of the controller, which the inventory does not hold; what its nodes report tells.
pub(super) fn karpenter_counts_all_interfaces(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let settings = settings_after(facts);
    let mut nodes = facts.inventory.nodes.iter().filter(|node| node.labels.contains_key("karpenter.sh/nodepool"));
    let above = |node: &&Node| {
        let of_type = node.instance_type().and_then(|name| facts.inventory.instance_type(name));
        let formula = of_type.and_then(|of_type| node_arithmetic(of_type, &settings)).map(|numbers| numbers.max_pods);
        node.runs_aws_node() && node.max_pods.zip(formula).is_some_and(|(reported, formula)| reported > formula)
    };
    let Some(node) = nodes.find(above) else { return };
    problems.push(Problem::new(
        "karpenter-counts-all-interfaces",
        subject(node),
        format!(
            "Karpenter gave it {} pods, more than it has addresses for under custom networking",
            node.max_pods.unwrap_or_default()
        ),
        format!(
            "set RESERVED_ENIS={} for Karpenter's controller; `eniplan generate --for karpenter` writes the value for its chart",
            1 + u32::from(settings.pod_eni())
        ),
    ));
}

pub(super) fn node_with_two_labels(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let settings = settings_after(facts);
    let key = settings.label_key();
    if key == EXTERNAL_ENI_CONFIG_LABEL || crate::resolve::is_zone_label(key) {
        return;
    }
    for node in facts.inventory.nodes.iter().filter(|node| node.runs_aws_node()) {
        let (Some(external), Some(own)) = (node.labels.get(EXTERNAL_ENI_CONFIG_LABEL), node.labels.get(key)) else {
            continue;
        };
        if external != own {
            problems.push(Problem::new(
                "node-with-two-labels",
                subject(node),
                format!("{EXTERNAL_ENI_CONFIG_LABEL}=`{external}` beats {key}=`{own}`"),
                "remove one of the two labels",
            ));
        }
    }
}
