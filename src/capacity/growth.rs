//! Growth: days left, what is full first and because of whom, and what a further pod subnet would buy.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::loads::{of_nodes, part_here, units_of_node};
use super::needs::GroupNeed;
use super::shares::ZoneShare;
use super::subnet_room::{NodesHeld, nodes_held};
use super::{Fit, PodSubnet};
use crate::net::usable_addresses;

const DAYS_A_WEEK: f64 = 7.0;

/// Nodes a week.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Growth {
    /// Of all groups that have no figure of their own, together.
    pub all: Option<f64>,
    /// Of groups by name.
    pub groups: BTreeMap<String, f64>,
}

impl Growth {
    /// Nodes a week of every group. What is said for all is split by desired sizes, or evenly where they are all zero.
    pub fn by_group(&self, needs: &[GroupNeed]) -> BTreeMap<String, f64> {
        let mut rates = self.groups.clone();
        let Some(all) = self.all else { return rates };
        let others: Vec<&GroupNeed> = needs.iter().filter(|need| !self.groups.contains_key(&need.name)).collect();
        let desired = |need: &GroupNeed| need.sizes.map_or(0, |sizes| sizes.desired);
        let total: u64 = others.iter().map(|need| desired(need)).sum();
        for need in &others {
            let part = if total == 0 { 1.0 / others.len() as f64 } else { desired(need) as f64 / total as f64 };
            rates.insert(need.name.clone(), all * part);
        }
        rates
    }
}

/// The pod subnet that is full first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstToFill {
    /// Id of the subnet.
    pub subnet_id: String,
    /// Its ENIConfigs.
    pub eni_configs: Vec<String>,
    /// The group that fills it: the one that grows most there, or, without growth, the one that takes most at its largest.
    pub node_group: String,
    /// Most nodes of that group, over all its zones, that still fit while the other groups stay at their desired size.
    pub node_group_fits: u64,
    /// Nodes of that group wanted now.
    pub node_group_desired: u64,
    /// Days until then, where growth was asked about.
    pub days: Option<u64>,
}

/// Sets the days left of every subnet and finds the one that is full first: with growth the one with fewest days, else
/// the one that the groups' largest sizes fill most.
pub(super) fn fill(
    needs: &[GroupNeed],
    shares: &[ZoneShare<'_>],
    rates: &BTreeMap<String, f64>,
    pod_subnets: &mut [PodSubnet],
) -> Option<FirstToFill> {
    for pod_subnet in pod_subnets.iter_mut() {
        let weekly: f64 = shares.iter().map(|share| weekly(share, needs, rates, pod_subnet)).sum();
        pod_subnet.days_left = (weekly > 0.0).then(|| {
            let room = pod_subnet.at_desired.head_room.max(0) as f64;
            (room / weekly * DAYS_A_WEEK).floor() as u64
        });
    }
    let grows = pod_subnets.iter().any(|pod_subnet| pod_subnet.days_left.is_some());
    let filled = |pod_subnet: &PodSubnet| {
        (pod_subnet.others + pod_subnet.at_max.taken) as f64 / (pod_subnet.size as f64).max(0.5)
    };
    let first = if grows {
        pod_subnets
            .iter()
            .filter(|pod_subnet| pod_subnet.days_left.is_some())
            .min_by_key(|pod_subnet| pod_subnet.days_left)
    } else {
        let used = pod_subnets.iter().filter(|pod_subnet| !pod_subnet.at_max.nodes.is_empty());
        // The first of equals, as with days.
        used.rev().max_by(|a, b| filled(a).total_cmp(&filled(b)))
    }?;
    let cause = shares
        .iter()
        .filter(|share| part_here(share, &first.eni_configs) > 0.0)
        .map(|share| {
            let weight = if grows { weekly(share, needs, rates, first) } else { taken_at_max(share, needs, first) };
            (share, weight)
        })
        .rev()
        .max_by(|a, b| a.1.total_cmp(&b.1))?
        .0;
    let need = needs.iter().find(|need| need.name == cause.node_group)?;
    Some(FirstToFill {
        subnet_id: first.subnet_id.clone(),
        eni_configs: first.eni_configs.clone(),
        node_group: cause.node_group.into(),
        node_group_fits: most_nodes(cause, needs, first),
        node_group_desired: need.sizes.map_or(0, |sizes| sizes.desired),
        days: first.days_left,
    })
}

/// What a group's growth takes of a subnet in a week.
fn weekly(share: &ZoneShare<'_>, needs: &[GroupNeed], rates: &BTreeMap<String, f64>, pod_subnet: &PodSubnet) -> f64 {
    let rate = rates.get(share.node_group).copied().unwrap_or_default() / share.zones.max(1) as f64;
    rate * part_here(share, &pod_subnet.eni_configs) * units(share, needs, pod_subnet) as f64
}

fn taken_at_max(share: &ZoneShare<'_>, needs: &[GroupNeed], pod_subnet: &PodSubnet) -> f64 {
    let nodes = pod_subnet.at_max.nodes.get(share.node_group).copied().unwrap_or_default();
    (nodes * units(share, needs, pod_subnet)) as f64
}

fn units(share: &ZoneShare<'_>, needs: &[GroupNeed], pod_subnet: &PodSubnet) -> u64 {
    let peak = needs.iter().find(|need| need.name == share.node_group).and_then(GroupNeed::peak);
    peak.map_or(0, |peak| units_of_node(pod_subnet.unit, peak))
}

/// Most nodes of a group, over all zones, while the other groups stay at their desired size.
fn most_nodes(share: &ZoneShare<'_>, needs: &[GroupNeed], pod_subnet: &PodSubnet) -> u64 {
    let mut nodes = pod_subnet.at_desired.nodes.clone();
    let mut fits = |count: u64| {
        nodes.insert(share.node_group.to_owned(), count);
        of_nodes(pod_subnet, needs, nodes.clone()).fit != Fit::DoesNotFit
    };
    let units = units(share, needs, pod_subnet);
    if units == 0 || !fits(0) {
        return 0;
    }
    let (mut fit, mut beyond) = (0, pod_subnet.size / units + 1);
    while beyond - fit > 1 {
        let middle = fit + (beyond - fit) / 2;
        if fits(middle) { fit = middle } else { beyond = middle }
    }
    let part = part_here(share, &pod_subnet.eni_configs);
    if part <= 0.0 { 0 } else { (fit as f64 / part + 1e-6).floor() as u64 * share.zones }
}

/// What a further pod subnet would hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Addition {
    /// Its prefix length.
    pub prefix_length: u8,
    /// Addresses that interfaces can have in it.
    pub usable_addresses: u64,
    /// What it holds of each group alone.
    pub node_groups: Vec<AdditionForGroup>,
}

/// What a further pod subnet holds of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdditionForGroup {
    /// Group.
    pub node_group: String,
    /// Nodes, full.
    pub nodes: NodesHeld,
    /// Pods on the nodes of the worst case.
    pub pods: u64,
    /// Days that one such subnet in every zone of the group adds, where growth was asked about.
    pub days: Option<u64>,
}

/// What an empty pod subnet of that prefix length holds of every group.
pub(super) fn addition(
    prefix_length: u8,
    needs: &[GroupNeed],
    shares: &[ZoneShare<'_>],
    rates: &BTreeMap<String, f64>,
) -> Addition {
    // Only the length counts; the command line keeps it within 0 to 32.
    let network = Ipv4Net::new(Ipv4Addr::UNSPECIFIED, prefix_length).unwrap_or_default();
    let node_groups = needs
        .iter()
        .filter_map(|need| {
            let node = need.node.as_ref()?;
            let nodes = nodes_held(network, node.peak);
            let zones = shares.iter().find(|share| share.node_group == need.name).map_or(1, |share| share.zones.max(1));
            let rate = rates.get(&need.name).copied().unwrap_or_default() / zones as f64;
            Some(AdditionForGroup {
                node_group: need.name.clone(),
                nodes,
                pods: nodes.worst * u64::from(node.pods),
                days: (rate > 0.0).then(|| (nodes.worst as f64 / rate * DAYS_A_WEEK).floor() as u64),
            })
        })
        .collect();
    Addition { prefix_length, usable_addresses: usable_addresses(network), node_groups }
}
