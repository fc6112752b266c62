//! The move from one phase to the next, for people.

use super::style::{BOLD, styled};
use crate::capacity::moves::{GroupChange, GroupMove, Move};

/// The move as text, with an empty line ahead.
pub fn text(moved: &Move) -> String {
    let from = moved.from.as_deref().unwrap_or("the spec without phases");
    let mut text = format!("\n{} from {from} to {}\n", styled(BOLD, "Move"), moved.to);
    if !moved.eni_configs_added.is_empty() {
        text.push_str(&format!("  new ENIConfigs       {}\n", moved.eni_configs_added.join(", ")));
    }
    if !moved.eni_configs_unused.is_empty() {
        text.push_str(&format!("  unused from then on  {}\n", moved.eni_configs_unused.join(", ")));
    }
    for (name, (before, after)) in &moved.cni_settings {
        let or_unset = |value: &Option<String>| value.clone().unwrap_or_else(|| "unset".into());
        text.push_str(&format!("  CNI setting          {name}: {} → {}\n", or_unset(before), or_unset(after)));
    }
    if moved.cni_settings.is_empty() {
        text.push_str("  CNI settings         untouched\n");
    }
    for group in &moved.node_groups {
        text.push_str(&node_group(group));
    }
    text
}

fn node_group(group: &GroupMove) -> String {
    let nodes = |count: usize| format!("{count} node{}", if count == 1 { "" } else { "s" });
    let template = group.launch_template.as_deref().map_or(String::new(), |name| format!(", launch template {name}"));
    let head = match group.change {
        GroupChange::New => format!("new{template}"),
        GroupChange::Replaced => format!("{} replaced{template}", nodes(group.nodes_replaced.len())),
        GroupChange::Resized => format!("sizes only; {} untouched", nodes(group.nodes_untouched)),
        GroupChange::Untouched => format!("untouched ({})", nodes(group.nodes_untouched)),
        GroupChange::Dropped => "no longer planned".into(),
    };
    let mut text = format!("  {:<20} {head}\n", group.name);
    for differs in &group.differs {
        text.push_str(&format!("  {:<20}   {differs}\n", ""));
    }
    text
}
