//! Pod subnets with their loads at every stage.

use std::collections::{BTreeMap, BTreeSet};

use super::needs::{GroupNeed, Sizes, settings_after};
use super::node_addresses::{NodeShape, Taken, WarmTargets};
use super::shares::{ZoneShare, part_of};
use super::subnet_room::blocks_spoiled_at_best;
use super::{Fit, Load, OutsideNodes, PodSubnet, Unit};
use crate::inventory::{CniSettings, Inventory, Node, Subnet};
use crate::max_pods::{node_arithmetic, whole_prefix_blocks};
use crate::plan::Plan;
use crate::resolve::resolve;

/// Pod subnets of the plan, by zone and CIDR.
pub(super) fn pod_subnets(
    inventory: &Inventory,
    plan: &Plan,
    needs: &[GroupNeed],
    shares: &[ZoneShare<'_>],
) -> Vec<PodSubnet> {
    let now = now(inventory);
    let outside = outside(inventory, plan);
    let ids: BTreeSet<&str> = plan.eni_configs.iter().map(|eni_config| eni_config.subnet_id.as_str()).collect();
    let mut pod_subnets: Vec<PodSubnet> = ids
        .into_iter()
        .filter_map(|id| inventory.subnet(id))
        .map(|subnet| {
            let here = Here {
                subnet,
                now: now.get(subnet.subnet_id.as_str()).copied().unwrap_or_default(),
                outside: outside.get(subnet.subnet_id.as_str()).copied().unwrap_or_default(),
            };
            pod_subnet(plan, needs, shares, here)
        })
        .collect();
    pod_subnets.sort_by(|a, b| (&a.availability_zone, a.cidr).cmp(&(&b.availability_zone, b.cidr)));
    pod_subnets
}

/// A subnet with the nodes that are in it anyway.
#[derive(Clone, Copy)]
struct Here<'a> {
    subnet: &'a Subnet,
    now: OutsideNodes,
    outside: OutsideNodes,
}

fn pod_subnet(plan: &Plan, needs: &[GroupNeed], shares: &[ZoneShare<'_>], here: Here<'_>) -> PodSubnet {
    let subnet = here.subnet;
    let eni_configs: Vec<String> = plan
        .eni_configs
        .iter()
        .filter(|eni_config| eni_config.subnet_id == subnet.subnet_id)
        .map(|eni_config| eni_config.name.clone())
        .collect();
    let usable = subnet.usable_addresses();
    let used = subnet.available_ip_address_count.map_or(0, |free| usable.saturating_sub(free));
    let addresses_of_others = used.saturating_sub(here.now.addresses);
    let whole_blocks = whole_prefix_blocks(subnet.cidr_block);
    let takes_prefixes = needs.iter().any(|need| {
        need.peak().is_some_and(|peak| peak.prefixes > 0)
            && shares.iter().any(|share| share.node_group == need.name && part_here(share, &eni_configs) > 0.0)
    });
    let (unit, size, others) = if takes_prefixes {
        (Unit::Blocks, whole_blocks, blocks_spoiled_at_best(subnet.cidr_block, addresses_of_others))
    } else {
        (Unit::Addresses, usable, addresses_of_others)
    };
    let mut pod_subnet = PodSubnet {
        subnet_id: subnet.subnet_id.clone(),
        cidr: subnet.cidr_block,
        availability_zone: subnet.availability_zone.clone(),
        availability_zone_id: subnet.availability_zone_id.clone(),
        eni_configs,
        usable_addresses: usable,
        whole_blocks,
        free_addresses: subnet.available_ip_address_count,
        nodes_now: here.now.nodes,
        addresses_of_others,
        outside: here.outside,
        unit,
        size,
        others,
        at_min: Load::default(),
        at_desired: Load::default(),
        at_max: Load::default(),
        at_max_with_surge: Load::default(),
        by_chance: None,
        days_left: None,
    };
    pod_subnet.at_min = load(&pod_subnet, needs, shares, |sizes| sizes.min);
    pod_subnet.at_desired = load(&pod_subnet, needs, shares, |sizes| sizes.desired);
    pod_subnet.at_max = load(&pod_subnet, needs, shares, |sizes| sizes.max);
    pod_subnet.at_max_with_surge = load(&pod_subnet, needs, shares, |sizes| sizes.max + sizes.surge);
    pod_subnet
}

/// The part of a zone's nodes of a group that ENIConfigs get together.
pub(super) fn part_here(share: &ZoneShare<'_>, eni_configs: &[String]) -> f64 {
    eni_configs.iter().filter_map(|name| share.parts.get(name.as_str())).sum()
}

fn load(pod_subnet: &PodSubnet, needs: &[GroupNeed], shares: &[ZoneShare<'_>], size: impl Fn(Sizes) -> u64) -> Load {
    let mut nodes: BTreeMap<String, u64> = BTreeMap::new();
    for share in shares {
        let part = part_here(share, &pod_subnet.eni_configs);
        let sizes = needs.iter().find(|need| need.name == share.node_group).and_then(|need| need.sizes);
        let (Some(sizes), true) = (sizes, part > 0.0) else { continue };
        *nodes.entry(share.node_group.to_owned()).or_insert(0) += part_of(share.nodes(size(sizes)), part);
    }
    of_nodes(pod_subnet, needs, nodes)
}

/// The load of so many full nodes of each group, beside the nodes outside the plan.
pub(super) fn of_nodes(pod_subnet: &PodSubnet, needs: &[GroupNeed], nodes: BTreeMap<String, u64>) -> Load {
    let mut prefix_blocks = 0;
    let mut single_addresses = pod_subnet.outside.addresses;
    for (name, count) in &nodes {
        let Some(peak) = needs.iter().find(|need| need.name == *name).and_then(GroupNeed::peak) else { continue };
        match peak.prefixes {
            0 => single_addresses += count * peak.addresses(),
            prefixes => prefix_blocks += count * (u64::from(prefixes) + u64::from(peak.interfaces)),
        }
    }
    let taken = match pod_subnet.unit {
        Unit::Addresses => single_addresses,
        Unit::Blocks => {
            let spoiled = blocks_spoiled_at_best(pod_subnet.cidr, pod_subnet.addresses_of_others + single_addresses);
            prefix_blocks + spoiled.saturating_sub(pod_subnet.others)
        }
    };
    let each_spoils_one = prefix_blocks + pod_subnet.addresses_of_others + single_addresses;
    let fit = if pod_subnet.others + taken > pod_subnet.size && taken > 0 {
        Fit::DoesNotFit
    } else if pod_subnet.unit == Unit::Blocks && prefix_blocks > 0 && each_spoils_one > pod_subnet.size {
        Fit::NotProvable
    } else {
        Fit::Fits
    };
    let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let head_room = signed(pod_subnet.size).saturating_sub(signed(pod_subnet.others + taken));
    Load { nodes, taken, head_room, fit }
}

/// What one full node of a group takes in a pod subnet's unit.
pub(super) fn units_of_node(unit: Unit, peak: Taken) -> u64 {
    match (unit, peak.prefixes) {
        (Unit::Addresses, _) => peak.addresses(),
        (Unit::Blocks, 0) => peak.addresses().div_ceil(u64::from(crate::max_pods::ADDRESSES_PER_PREFIX)),
        (Unit::Blocks, prefixes) => u64::from(prefixes) + u64::from(peak.interfaces),
    }
}

/// Nodes whose next interface goes to a pod subnet under the settings in force, by subnet id.
fn now(inventory: &Inventory) -> BTreeMap<&str, OutsideNodes> {
    let Some(settings) = inventory.cni_settings().filter(CniSettings::custom_networking) else {
        return BTreeMap::new();
    };
    let mut by_subnet: BTreeMap<&str, OutsideNodes> = BTreeMap::new();
    for node in inventory.nodes.iter().filter(|node| node.runs_aws_node()) {
        let eni_config = inventory.eni_config(&resolve(node, &settings).eni_config);
        let Some(subnet_id) = eni_config.and_then(|eni_config| eni_config.subnet.as_deref()) else { continue };
        add(by_subnet.entry(subnet_id).or_default(), inventory, node, &settings);
    }
    by_subnet
}

/// Nodes that no planned group has, by the subnet that they use under the settings to come.
fn outside<'a>(inventory: &'a Inventory, plan: &'a Plan) -> BTreeMap<&'a str, OutsideNodes> {
    let settings = settings_after(inventory, plan);
    let has_unmanaged_groups = plan.node_groups.iter().any(|group| !group.managed);
    let planned = |name: &str| {
        plan.node_groups.iter().any(|group| {
            let replaces = group.create.as_ref().and_then(|create| create.replaces.as_deref());
            group.name == name || replaces == Some(name)
        })
    };
    let is_outside = |node: &&Node| match node.node_group() {
        Some(name) => !planned(name),
        // Nothing tells a node of a self-managed group from another; those are counted with the group.
        None => !has_unmanaged_groups || node.labels.contains_key("karpenter.sh/nodepool"),
    };
    let mut by_subnet: BTreeMap<&str, OutsideNodes> = BTreeMap::new();
    for node in inventory.nodes.iter().filter(|node| node.runs_aws_node()).filter(is_outside) {
        let name = resolve(node, &settings).eni_config;
        let planned = plan.eni_configs.iter().find(|eni_config| eni_config.name == name);
        let existing = || inventory.eni_config(&name).and_then(|eni_config| eni_config.subnet.as_deref());
        let Some(subnet_id) = planned.map(|eni_config| eni_config.subnet_id.as_str()).or_else(existing) else {
            continue;
        };
        add(by_subnet.entry(subnet_id).or_default(), inventory, node, &settings);
    }
    by_subnet
}

fn add(nodes: &mut OutsideNodes, inventory: &Inventory, node: &Node, settings: &CniSettings) {
    let arithmetic = node
        .instance_type()
        .and_then(|name| inventory.instance_type(name))
        .and_then(|instance_type| node_arithmetic(instance_type, settings));
    let peak = arithmetic.map(|arithmetic| {
        NodeShape::new(arithmetic, node.max_pods, 0, settings.pod_eni()).peak(WarmTargets::of(settings))
    });
    nodes.nodes += 1;
    nodes.addresses += peak.map_or(0, Taken::addresses);
}
