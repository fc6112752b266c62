//! What a switch of the CNI's settings would do to every live node, and to every node that a group may launch.

use std::collections::BTreeSet;

use super::Facts;
use crate::inventory::{CniSettings, Node, NodeGroup};
use crate::plan::LaunchTemplatePlan;
use crate::resolve::{DEFAULT_ENI_CONFIG, is_zone_label, resolve};

/// Who would find no ENIConfig, and who would find another one than today.
pub(super) struct Gate {
    pub(super) stranded: Vec<String>,
    pub(super) moves: Vec<String>,
}

/// The CNI's settings as the plan wants them.
pub(super) fn settings_after(facts: &Facts<'_>) -> CniSettings {
    let mut settings = facts.inventory.cni_settings().unwrap_or_default();
    settings.env.extend(facts.plan.cni.env.clone());
    settings
}

fn exists(facts: &Facts<'_>, name: &str) -> bool {
    facts.inventory.eni_config(name).is_some() || facts.plan.eni_configs.iter().any(|planned| planned.name == name)
}

pub(super) fn evaluate(facts: &Facts<'_>) -> Gate {
    let mut gate = Gate { stranded: Vec::new(), moves: Vec::new() };
    for node in facts.inventory.nodes.iter().filter(|node| node.runs_aws_node()) {
        live_node(facts, node, &mut gate);
    }
    for group in &facts.inventory.node_groups {
        next_nodes_of(facts, group, &mut gate);
    }
    gate
}

fn live_node(facts: &Facts<'_>, node: &Node, gate: &mut Gate) {
    let before =
        facts.inventory.cni_settings().filter(CniSettings::custom_networking).map(|now| resolve(node, &now).eni_config);
    let mut after = resolve(node, &settings_after(facts)).eni_config;
    if facts.options.label_nodes
        && let Some(name) = before.as_ref().filter(|name| exists(facts, name))
    {
        after.clone_from(name);
    }
    if !exists(facts, &after) {
        gate.stranded.push(format!("node {} (looks for `{after}`)", node.name));
    } else if before.as_ref() != Some(&after) {
        let before = before.map_or_else(|| "its own subnet".to_owned(), |name| format!("`{name}`"));
        gate.moves.push(format!("node {} from {before} to `{after}`", node.name));
    }
}

/// New nodes of a group carry what the template version in use gives them, until the group is updated.
fn next_nodes_of(facts: &Facts<'_>, group: &NodeGroup, gate: &mut Gate) {
    if group.ami_type.as_deref().is_some_and(|ami_type| ami_type.starts_with("WINDOWS_")) {
        return;
    }
    let settings = settings_after(facts);
    let key = settings.label_key();
    if is_zone_label(key) {
        let zones: BTreeSet<&str> = group
            .subnets
            .iter()
            .filter_map(|id| facts.inventory.subnet(id))
            .map(|subnet| subnet.availability_zone.as_str())
            .collect();
        let missing: Vec<&str> = zones.into_iter().filter(|zone| !exists(facts, zone)).collect();
        if !missing.is_empty() {
            gate.stranded.push(format!(
                "new nodes of group {} in {} (look for the zone's name)",
                group.name,
                missing.join(", ")
            ));
        }
        return;
    }
    if exists(facts, DEFAULT_ENI_CONFIG)
        || group.labels.get(key).is_some_and(|name| exists(facts, name))
        || names_key(facts, group, key)
    {
        return;
    }
    let rolled = facts.options.roll
        && facts.plan.node_groups.iter().any(|planned| {
            planned.name == group.name && matches!(planned.launch_template, Some(LaunchTemplatePlan::NewVersion { .. }))
        });
    if !rolled {
        gate.stranded.push(format!("new nodes of group {} (its launch template sets no label {key})", group.name));
    }
}

/// Whether the user data of the version in use sets the label at all.
fn names_key(facts: &Facts<'_>, group: &NodeGroup, key: &str) -> bool {
    let bytes = group.launch_template.as_ref().and_then(|used| {
        let template = facts.inventory.launch_template(used.id.as_deref()?)?;
        template.version(template.resolve_version(used.version.as_deref())?)?.launch_template_data.user_data.as_ref()
    });
    let Some(document) = bytes.and_then(|bytes| crate::user_data::read(&bytes.0).ok()) else { return false };
    document.parts.iter().any(|part| String::from_utf8_lossy(&part.body).contains(key))
}

/// The steps after which nobody would be stranded, a line each; those that start with a program's name are commands.
pub(super) fn way_through(facts: &Facts<'_>) -> String {
    let after = settings_after(facts);
    let anyway = "or replace the nodes at the cost of pods that find no address meanwhile:";
    let anyway = [anyway.to_owned(), "eniplan apply --accept-moves --roll".to_owned()];
    let on = facts.inventory.cni_settings().is_some_and(|now| now.custom_networking());
    let mut steps = Vec::new();
    if is_zone_label(after.label_key()) {
        steps.push("let a pool name an ENIConfig by zone (`names: zone`) in every zone of these nodes".to_owned());
    } else if on {
        steps.push(
            "label these nodes with what they use today, and move the groups to versions that set the label:".into(),
        );
        steps.push("eniplan apply --label-nodes --roll".into());
    } else {
        steps.push("let nodes without a label find an ENIConfig: leave spec.label out of eniplan.yaml, and let a pool name one by zone (`names: zone`) in every zone".into());
        steps.push("or give every node its label before the label counts: first the nodes of planned groups,".into());
        steps.push("eniplan apply --only eniconfigs,launch-templates,node-groups --roll".into());
        steps.extend(others(facts, after.label_key()));
        steps.push("and then everything else, which makes the switch and replaces the nodes once more:".into());
        steps.push("eniplan apply --roll".into());
    }
    steps.into_iter().chain(anyway).collect::<Vec<_>>().join("\n")
}

/// What to do with nodes that no planned group will label.
fn others(facts: &Facts<'_>, key: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let without_template = facts.inventory.node_groups.iter().filter(|group| group.launch_template.is_none());
    for group in without_template {
        let successor = facts.config.node_group(&group.name).and_then(|group| group.successor.as_ref());
        let Some(successor) = successor else { continue };
        let (cluster, name) = (&facts.inventory.cluster.name, &group.name);
        steps.push(format!("then {name} goes, in whose place {successor} has come,"));
        steps.push(format!(
            "kubectl drain -l eks.amazonaws.com/nodegroup={name} --ignore-daemonsets --delete-emptydir-data"
        ));
        steps.push(format!("aws eks delete-nodegroup --cluster-name {cluster} --nodegroup-name {name}"));
    }
    let is_planned = |node: &Node| {
        let group = node.node_group().and_then(|name| facts.config.node_group(name));
        group.is_some()
    };
    let nodes: Vec<&Node> = facts
        .inventory
        .nodes
        .iter()
        .filter(|node| node.runs_aws_node() && !is_planned(node) && !node.labels.contains_key(key))
        .collect();
    if !nodes.is_empty() {
        steps.push("then the nodes of no planned group,".into());
    }
    steps.extend(nodes.iter().map(|node| format!("kubectl label node {} {key}=NAME-OF-AN-ENICONFIG", node.name)));
    steps
}
