//! Whether the world is still as a diff found it.

use super::{AddOnBefore, Change, Diff, EniConfigBefore, LaunchTemplateBefore, NodeGroupBefore};
use crate::inventory::Inventory;

/// Everything that a saved diff rests on and that is another thing now, in sentences.
pub fn stale(diff: &Diff, inventory: &Inventory) -> Vec<String> {
    let mut found = Vec::new();
    let cluster = &diff.cluster;
    for (what, then, now) in [
        ("cluster", Some(&cluster.name), Some(&inventory.cluster.name)),
        ("region", Some(&cluster.region), Some(&inventory.region)),
        ("account", cluster.account_id.as_ref(), inventory.account_id.as_ref()),
        ("endpoint", cluster.endpoint.as_ref(), inventory.cluster.endpoint.as_ref()),
    ] {
        if then != now {
            let shown = |value: Option<&String>| value.cloned().unwrap_or_else(|| "none".into());
            found.push(format!("the {what} was {}, and is {}", shown(then), shown(now)));
        }
    }
    for change in &diff.changes {
        if let Some(reason) = reason(change, inventory) {
            found.push(format!("{}: {reason}", change.subject()));
        }
    }
    found
}

fn reason(change: &Change, inventory: &Inventory) -> Option<String> {
    let gone = || "it is gone".to_owned();
    let there = || "it is there already".to_owned();
    let said = |moved: super::before::Moved| format!("{} was {}, and is {}", moved.field, moved.before, moved.now);
    let template = |before: &LaunchTemplateBefore| match inventory.launch_template(&before.id) {
        None => Some(gone()),
        Some(now) => before.moved(&LaunchTemplateBefore::of(now)).map(said),
    };
    match change {
        Change::ApplyEniConfig { name, before: None, .. } => inventory.eni_config(name).map(|_| there()),
        Change::ApplyEniConfig { name, before: Some(before), .. } | Change::DeleteEniConfig { name, before } => {
            match inventory.eni_config(name) {
                None => Some(gone()),
                Some(now) => before.moved(&EniConfigBefore::of(now)).map(said),
            }
        }
        Change::CreateLaunchTemplate { request, .. } => inventory
            .launch_templates
            .iter()
            .any(|template| template.launch_template_name == request.launch_template_name)
            .then(there),
        Change::CreateLaunchTemplateVersion { before, .. }
        | Change::SetDefaultVersion { before, .. }
        | Change::DeleteLaunchTemplateVersions { before, .. } => template(before),
        Change::LabelNode { name, key, before, .. } => {
            let Some(node) = inventory.nodes.iter().find(|node| node.name == *name) else { return Some(gone()) };
            (node.labels.get(key) != before.as_ref()).then(|| format!("its label {key} is another one now"))
        }
        Change::SetDaemonSetEnv { before, .. } => {
            let Some(aws_node) = &inventory.aws_node else { return Some(gone()) };
            before.iter().find(|(name, value)| aws_node.env.get(*name) != value.as_ref()).map(|(name, value)| {
                let shown = |value: Option<&String>| value.cloned().unwrap_or_else(|| "unset".into());
                format!("{name} was {}, and is {}", shown(value.as_ref()), shown(aws_node.env.get(name)))
            })
        }
        Change::UpdateAddOn { before, .. } => match &inventory.add_on {
            None => Some(gone()),
            Some(now) => before.moved(&AddOnBefore::of(now)).map(said),
        },
        Change::CreateAddOn { .. } => inventory.add_on.as_ref().map(|_| there()),
        Change::UpdateNodeGroup { name, before, .. } => match inventory.node_group(name) {
            None => Some(gone()),
            Some(now) => before.moved(&NodeGroupBefore::of(now)).map(said),
        },
        Change::CreateNodeGroup { name, .. } => inventory.node_group(name).map(|_| there()),
    }
}
