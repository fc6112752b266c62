//! Phases for people: a line for each, what makes the next necessary, then each one's figures.

use serde::Serialize;

use super::bars::percent;
use super::html::Sheet;
use super::style::{BOLD, styled};
use super::table::table;
use super::{capacity, moves};
use crate::capacity::moves::Move;
use crate::capacity::{Capacity, PodSubnet};
use crate::finding::Finding;
use crate::plan::Plan;

/// One phase with its figures.
#[derive(Debug, Serialize)]
pub struct PhaseCapacity {
    /// Name; `None` is the spec without phases.
    pub phase: Option<String>,
    /// The move to it from the one before.
    #[serde(rename = "move")]
    pub moved: Option<Move>,
    /// What was decided; `eniplan plan --phase NAME -o json` has it.
    #[serde(skip)]
    pub plan: Plan,
    /// What its pod subnets hold; `first_to_fill` is what makes the next phase necessary.
    pub capacity: Capacity,
    /// What is wrong with that.
    pub findings: Vec<Finding>,
}

impl PhaseCapacity {
    /// The phase as a part of a page.
    pub fn sheet(&self) -> Sheet<'_> {
        Sheet {
            phase: self.phase.as_deref(),
            plan: &self.plan,
            capacity: &self.capacity,
            moved: self.moved.as_ref(),
            findings: &self.findings,
        }
    }

    /// The name for people.
    pub(super) fn title(&self) -> &str {
        self.phase.as_deref().unwrap_or("(spec)")
    }
}

/// All phases as text.
pub fn text(cluster: &str, region: &str, phases: &[PhaseCapacity]) -> String {
    let mut text = format!("{} {cluster} in {region}\n\n", styled(BOLD, "Cluster"));
    let rows = phases.iter().enumerate().map(|(index, phase)| row(phase, phases.get(index + 1))).collect();
    let heads = ["phase", "pod subnets", "addresses", "nodes at max", "fullest at max", "the next is needed"];
    text.push_str(&table(&heads, rows));
    for phase in phases {
        text.push_str(&format!("\n{} {}\n", styled(BOLD, "Phase"), phase.title()));
        text.push_str(&capacity::figures(&phase.capacity));
        if let Some(moved) = &phase.moved {
            text.push_str(&moves::text(moved));
        }
    }
    text
}

/// Findings of all phases, under the name of each.
pub fn findings(phases: &[PhaseCapacity], quiet: bool) -> String {
    let mut text = String::new();
    for phase in phases {
        let findings = super::findings::text(&phase.findings, quiet);
        if !findings.is_empty() {
            text.push_str(&format!("{} {}\n{findings}", styled(BOLD, "Phase"), phase.title()));
        }
    }
    text
}

fn row(phase: &PhaseCapacity, next: Option<&PhaseCapacity>) -> Vec<String> {
    let subnets = &phase.capacity.pod_subnets;
    let nodes: u64 = phase.capacity.node_groups.iter().filter_map(|need| need.sizes).map(|sizes| sizes.max).sum();
    let filled = |subnet: &&PodSubnet| (subnet.others + subnet.at_max.taken) as f64 / (subnet.size as f64).max(0.5);
    let fullest = subnets.iter().rev().max_by(|a, b| filled(a).total_cmp(&filled(b)));
    vec![
        phase.title().into(),
        subnets.len().to_string(),
        subnets.iter().map(|subnet| subnet.usable_addresses).sum::<u64>().to_string(),
        nodes.to_string(),
        fullest.map_or(String::new(), |subnet| {
            format!("{} {}", percent(subnet.others + subnet.at_max.taken, subnet.size), subnet.eni_configs.join(", "))
        }),
        trigger(phase, next),
    ]
}

/// When the next phase must be in place.
fn trigger(phase: &PhaseCapacity, next: Option<&PhaseCapacity>) -> String {
    let Some(first) = phase.capacity.first_to_fill.as_ref() else { return "–".into() };
    let when = first.days.map_or(String::new(), |days| format!(", in {days} days"));
    let what = format!("{} has {} nodes{when}", first.node_group, first.node_group_fits);
    match next {
        Some(_) => format!("before {what}"),
        None => format!("(this one holds until {what})"),
    }
}
