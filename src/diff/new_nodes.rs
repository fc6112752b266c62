//! Whether the new nodes of a group found their ENIConfig; what stands between one group's update and the next.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{CniSettings, Node};
use crate::plan::NodeGroupPlan;
use crate::resolve::resolve;

/// By zone, the ENIConfigs one of which each new node of a group is to use.
pub(super) fn expected(group: &NodeGroupPlan) -> BTreeMap<String, BTreeSet<String>> {
    let mut expected: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in &group.assignments {
        expected
            .entry(row.availability_zone.clone())
            .or_default()
            .extend(row.candidates.iter().map(|candidate| candidate.eni_config.clone()));
    }
    expected
}

/// What is wrong with the nodes, each in a sentence.
pub fn not_as_expected(
    nodes: &[Node],
    settings: &CniSettings,
    eni_configs: &BTreeSet<String>,
    expected: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for node in nodes {
        let found = resolve(node, settings).eni_config;
        let name = &node.name;
        if !eni_configs.contains(&found) {
            wrong.push(format!("node {name} looks for ENIConfig `{found}`, which does not exist"));
            continue;
        }
        let wanted = node.zone().and_then(|zone| expected.get(zone));
        if let Some(wanted) = wanted.filter(|wanted| !wanted.contains(&found)) {
            let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
            wrong.push(format!("node {name} uses ENIConfig `{found}`, not {}", wanted.join(" or ")));
        }
    }
    wrong
}
