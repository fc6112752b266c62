//! Which part of a group's nodes each pod subnet gets.

use std::collections::BTreeMap;

use crate::plan::{Assignment, Plan};

/// A group's nodes in one zone.
#[derive(Debug, Clone)]
pub(super) struct ZoneShare<'a> {
    pub(super) node_group: &'a str,
    pub(super) availability_zone: &'a str,
    /// Zones that the group spans. EC2 Auto Scaling keeps them equal, to one node.
    pub(super) zones: u64,
    /// Rows of the zone; EC2 Auto Scaling picks any of a zone's subnets.
    /// Source: EC2 Auto Scaling user guide, "Availability Zone distribution".
    pub(super) rows: Vec<&'a Assignment>,
    /// Part of the zone's nodes by ENIConfig; the parts add up to one.
    pub(super) parts: BTreeMap<&'a str, f64>,
}

impl ZoneShare<'_> {
    /// Nodes in this zone when the group has `size`.
    pub(super) fn nodes(&self, size: u64) -> u64 {
        size.div_ceil(self.zones.max(1))
    }
}

/// The shares of all groups, by group and zone.
pub(super) fn zone_shares(plan: &Plan) -> Vec<ZoneShare<'_>> {
    let mut shares = Vec::new();
    for group in &plan.node_groups {
        let mut by_zone: BTreeMap<(&str, &str), Vec<&Assignment>> = BTreeMap::new();
        for row in &group.assignments {
            by_zone.entry((&row.availability_zone, &row.availability_zone_id)).or_default().push(row);
        }
        let zones = by_zone.len() as u64;
        for ((availability_zone, _), rows) in by_zone {
            let parts = parts(&rows);
            shares.push(ZoneShare { node_group: &group.name, availability_zone, zones, rows, parts });
        }
    }
    shares
}

fn parts<'a>(rows: &[&'a Assignment]) -> BTreeMap<&'a str, f64> {
    let mut parts = BTreeMap::new();
    for row in rows {
        let total = row.candidates.last().map_or(0, |candidate| candidate.bound);
        if total == 0 {
            continue;
        }
        for candidate in &row.candidates {
            let part = candidate.weight as f64 / total as f64 / rows.len() as f64;
            *parts.entry(candidate.eni_config.as_str()).or_insert(0.0) += part;
        }
    }
    parts
}

/// `nodes × part`, rounded up; a part such as a third of three must not become two for lack of precision.
pub(super) fn part_of(nodes: u64, part: f64) -> u64 {
    let exact = nodes as f64 * part;
    let rounded = exact.round();
    if (exact - rounded).abs() < 1e-6 { rounded as u64 } else { exact.ceil() as u64 }
}
