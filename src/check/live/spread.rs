//! Whether nodes that pick by hash have spread as their weights say, and whether one pod subnet fills before the others.

use std::collections::BTreeMap;

use super::{LiveFacts, belongs_to};
use crate::config::Strategy;
use crate::finding::{Evidence, Problem, Subject};
use crate::plan::{Assignment, NodeGroupPlan};

/// Deviations from the expected number that chance brings about too rarely to be one: three standard deviations of the
/// binomial, and one node.
const DEVIATIONS: f64 = 3.0;

/// A pod subnet is said to fill first when it is used to more than four fifths while another of the row is not to two.
const FULL: f64 = 0.8;
const ROOMY: f64 = 0.4;

pub(super) fn uneven(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for group in live.facts.plan.node_groups.iter().filter(|group| group.strategy == Strategy::Hash) {
        for row in group.assignments.iter().filter(|row| row.candidates.len() > 1) {
            let by_count = uneven_counts(live, group, row);
            let evidence = if by_count.is_empty() { uneven_use(live, row) } else { by_count };
            if evidence.is_empty() {
                continue;
            }
            problems.push(
                Problem::new(
                    "eniconfig-shares-uneven",
                    Subject::NodeGroup(group.name.clone()),
                    format!("nodes in {} ({}) have not spread over their pod subnets as the weights say: one fills before the others", row.subnet_id, row.availability_zone),
                    "correct the weights with `weights: free`, or by numbers, and roll the group; `eniplan capacity` shows what fits",
                )
                .shown_by(evidence),
            );
        }
    }
}

fn uneven_counts(live: &LiveFacts<'_>, group: &NodeGroupPlan, row: &Assignment) -> Vec<Evidence> {
    let subject = Subject::NodeGroup(group.name.clone());
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let mut all = 0;
    for node in &live.nodes {
        let here = node.node_subnet.is_some_and(|subnet| subnet.subnet_id == row.subnet_id);
        if here && belongs_to(&live.facts, node.node) == subject {
            *counts.entry(&node.resolution.eni_config).or_default() += 1;
            all += 1;
        }
    }
    let total = row.candidates.last().map_or(0, |candidate| candidate.bound);
    if all == 0 || total == 0 {
        return Vec::new();
    }
    let shares = row.candidates.iter().map(|candidate| {
        let share = candidate.weight as f64 / total as f64;
        let expected = f64::from(all) * share;
        let allowed = DEVIATIONS * (expected * (1.0 - share)).sqrt() + 1.0;
        let found = counts.get(candidate.eni_config.as_str()).copied().unwrap_or_default();
        (candidate, expected, found, (f64::from(found) - expected).abs() > allowed)
    });
    let shares: Vec<_> = shares.collect();
    if !shares.iter().any(|(_, _, _, far)| *far) {
        return Vec::new();
    }
    let evidence = |(candidate, expected, found, _): &(&crate::plan::Candidate, f64, u32, bool)| {
        let object = Subject::EniConfig(candidate.eni_config.clone());
        Evidence::new(object, "nodes", format!("{found}, expected {expected:.0}"))
    };
    shares.iter().map(evidence).collect()
}

fn uneven_use(live: &LiveFacts<'_>, row: &Assignment) -> Vec<Evidence> {
    let mut used: Vec<(String, f64, String)> = Vec::new();
    for candidate in row.candidates.iter().filter(|candidate| candidate.weight > 0) {
        let planned = live.facts.plan.eni_configs.iter().find(|planned| planned.name == candidate.eni_config);
        let subnet = planned.and_then(|planned| live.facts.inventory.subnet(&planned.subnet_id));
        let Some((subnet, free)) = subnet.and_then(|subnet| Some((subnet, subnet.available_ip_address_count?))) else {
            return Vec::new();
        };
        let all = subnet.usable_addresses();
        let part = if all == 0 { 1.0 } else { 1.0 - free as f64 / all as f64 };
        used.push((subnet.subnet_id.clone(), part, format!("{free} of {all}")));
    }
    // A subnet without any free address is a finding of its own.
    if used.iter().any(|(_, part, _)| *part >= 1.0) {
        return Vec::new();
    }
    let has_full = used.iter().any(|(_, part, _)| *part > FULL);
    let has_roomy = used.iter().any(|(_, part, _)| *part < ROOMY);
    if !(has_full && has_roomy) {
        return Vec::new();
    }
    let evidence = |(subnet, _, free)| Evidence::new(Subject::Subnet(subnet), "AvailableIpAddressCount", free);
    used.into_iter().map(evidence).collect()
}
