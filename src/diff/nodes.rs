//! Labels for nodes that are there already: what they use today, under the key that is to decide.

use super::gate::settings_after;
use super::{Change, Facts, Found};
use crate::inventory::CniSettings;
use crate::resolve::{is_zone_label, resolve};

pub(super) fn labels(facts: &Facts<'_>, found: &mut Found) {
    if !facts.options.label_nodes {
        return;
    }
    let after = settings_after(facts);
    let key = after.label_key();
    let Some(now) = facts.inventory.cni_settings().filter(CniSettings::custom_networking) else { return };
    if is_zone_label(key) {
        return;
    }
    for node in facts.inventory.nodes.iter().filter(|node| node.runs_aws_node()) {
        let today = resolve(node, &now).eni_config;
        if facts.inventory.eni_config(&today).is_none() || resolve(node, &after).eni_config == today {
            continue;
        }
        found.changes.push(Change::LabelNode {
            name: node.name.clone(),
            key: key.to_owned(),
            value: today,
            before: node.labels.get(key).cloned(),
        });
    }
}
