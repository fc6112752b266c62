//! For each node subnet of a group: the ENIConfig candidates of its zone, with weights.

use ipnet::Ipv4Net;

use super::group_facts::GroupFacts;
use super::notes::{Notes, list};
use super::pools::EniConfigs;
use super::{Assignment, Candidate, EniConfigPlan};
use crate::config::{MapRow, MaxPods, OnNoMatch, Strategy, Weights};
use crate::finding::Subject;
use crate::inventory::{CniSettings, Inventory, Subnet};
use crate::max_pods::node_arithmetic;

/// The rows of a group's table, by CIDR.
pub(super) fn assignments(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    settings: &CniSettings,
    eni_configs: &mut EniConfigs,
    notes: &mut Notes,
) -> Vec<Assignment> {
    map_rows_without_use(group, notes);
    let mut rows = Vec::new();
    for subnet in &group.subnets {
        let names = if group.config.map.is_empty() {
            from_pools(inventory, group, subnet, eni_configs, notes)
        } else {
            from_map(inventory, group, subnet, eni_configs, notes)
        };
        if names.is_empty() {
            continue;
        }
        if names.len() > 1 && group.config.strategy == Strategy::Pinned {
            notes.problem(
                "several-pod-subnets-in-zone",
                group.subject(),
                format!(
                    "nodes of {} ({}, {}) could use any of {}, and nothing says which",
                    subnet.subnet_id,
                    subnet.cidr_block,
                    subnet.availability_zone,
                    list(&names)
                ),
                "draw the group from a pool with one subnet in this zone, or set `strategy: hash` on it",
            );
            continue;
        }
        rows.push(Assignment {
            cidr: subnet.cidr_block,
            subnet_id: subnet.subnet_id.clone(),
            availability_zone: subnet.availability_zone.clone(),
            availability_zone_id: subnet.availability_zone_id.clone(),
            candidates: weigh(inventory, group, settings, &names, eni_configs, notes),
        });
    }
    rows.sort_by_key(|row| row.cidr);
    if group.config.on_no_match == OnNoMatch::Zone {
        zone_names_for_no_match(inventory, group, eni_configs, notes);
    }
    rows
}

fn from_pools(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    node_subnet: &Subnet,
    eni_configs: &EniConfigs,
    notes: &mut Notes,
) -> Vec<String> {
    let pools = &group.config.pools;
    let of_pools = || {
        pools
            .iter()
            .filter_map(|pool| eni_configs.of_pool.get(pool))
            .flatten()
            .filter_map(|name| eni_configs.by_name.get(name))
    };
    let mut names: Vec<String> = of_pools()
        .filter(|eni_config| can_serve(inventory, node_subnet, eni_config))
        .map(|eni_config| eni_config.name.clone())
        .collect();
    names.sort();
    names.dedup();
    if names.is_empty() && !pools_are_at_fault(pools, notes) {
        let of_pools: Vec<&EniConfigPlan> = of_pools().collect();
        no_pod_subnet(inventory, group, node_subnet, &of_pools, notes);
    }
    names
}

fn no_pod_subnet(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    node_subnet: &Subnet,
    of_pools: &[&EniConfigPlan],
    notes: &mut Notes,
) {
    let mut places: Vec<String> =
        of_pools.iter().filter_map(|eni_config| inventory.subnet(&eni_config.subnet_id)).map(place).collect();
    places.sort();
    places.dedup();
    let in_zone = of_pools.iter().any(|eni_config| eni_config.availability_zone_id == node_subnet.availability_zone_id);
    notes.problem(
        if in_zone { "pod-subnet-on-other-outpost" } else { "zone-without-pod-subnet" },
        group.subject(),
        format!(
            "node subnet {} ({}) is in {}, where pool {} has no pod subnet; it has them in: {}",
            node_subnet.subnet_id,
            node_subnet.cidr_block,
            place(node_subnet),
            list(&group.config.pools),
            if places.is_empty() { "no zone".to_owned() } else { list(&places) }
        ),
        "add a pod subnet of that place to the pool, or take the node subnet out of the group",
    );
}

/// A pool whose own problem is already stated would make every zone look uncovered.
fn pools_are_at_fault(pools: &[String], notes: &Notes) -> bool {
    notes.problems.iter().any(|problem| match &problem.subject {
        Subject::Pool(pool) => pools.contains(pool),
        _ => matches!(problem.rule, "pod-subnet-without-name" | "eniconfig-name-clash"),
    })
}

/// `eu-west-1a (euw1-az3)`, with the Outpost where it is on one.
fn place(subnet: &Subnet) -> String {
    let outpost = subnet.outpost_arn.as_ref().map_or_else(String::new, |arn| format!(" on {arn}"));
    format!("{} ({}){outpost}", subnet.availability_zone, subnet.availability_zone_id)
}

/// An interface attaches only in its own zone, and an Outpost's only on that Outpost.
fn can_serve(inventory: &Inventory, node_subnet: &Subnet, eni_config: &EniConfigPlan) -> bool {
    let pod_subnet_outpost = inventory.subnet(&eni_config.subnet_id).and_then(|subnet| subnet.outpost_arn.as_deref());
    eni_config.availability_zone_id == node_subnet.availability_zone_id
        && pod_subnet_outpost == node_subnet.outpost_arn.as_deref()
}

fn from_map(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    node_subnet: &Subnet,
    eni_configs: &mut EniConfigs,
    notes: &mut Notes,
) -> Vec<String> {
    let Some(row) = longest_match(&group.config.map, node_subnet.cidr_block) else {
        return map_omits(inventory, group, node_subnet, eni_configs, notes);
    };
    let mut names = Vec::new();
    for name in &row.eni_configs {
        let Some(eni_config) = eni_configs.find_or_take(name, inventory, notes) else {
            if inventory.eni_config(name).is_none() {
                notes.problem(
                    "eniconfig-unknown",
                    group.subject(),
                    format!(
                        "map row {} names ENIConfig `{name}`, which is in no pool and not in the cluster",
                        row.cidr
                    ),
                    "put its subnet into a pool under that name, or correct the name",
                );
            }
            continue;
        };
        if !can_serve(inventory, node_subnet, eni_config) {
            notes.problem(
                "eniconfig-in-other-zone",
                group.subject(),
                format!(
                    "map row {} gives nodes of {} in {} the ENIConfig `{name}`, whose subnet {} is in {}; no interface could be attached",
                    row.cidr,
                    node_subnet.subnet_id,
                    place(node_subnet),
                    eni_config.subnet_id,
                    inventory.subnet(&eni_config.subnet_id).map(place).unwrap_or_default(),
                ),
                "name an ENIConfig of the node subnet's own zone",
            );
            continue;
        }
        names.push(name.clone());
    }
    names.sort();
    names.dedup();
    names
}

fn longest_match(map: &[MapRow], node_subnet: Ipv4Net) -> Option<&MapRow> {
    map.iter().filter(|row| row.cidr.contains(&node_subnet)).max_by_key(|row| row.cidr.prefix_len())
}

fn map_omits(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    node_subnet: &Subnet,
    eni_configs: &mut EniConfigs,
    notes: &mut Notes,
) -> Vec<String> {
    let zone = &node_subnet.availability_zone;
    if group.config.on_no_match == OnNoMatch::Zone {
        let serves = eni_configs
            .find_or_take(zone, inventory, notes)
            .is_some_and(|eni_config| eni_config.availability_zone_id == node_subnet.availability_zone_id);
        if serves {
            notes.decision(
                group.subject(),
                format!("{} → {zone}", node_subnet.cidr_block),
                "the map has no row for this node subnet, and onNoMatch is zone",
            );
            return vec![zone.clone()];
        }
        return Vec::new();
    }
    let is_split = group.config.map.iter().any(|row| node_subnet.cidr_block.contains(&row.cidr));
    if is_split {
        return Vec::new();
    }
    notes.problem(
        "map-omits-node-subnet",
        group.subject(),
        format!("the map has no row for node subnet {} ({}, {zone})", node_subnet.subnet_id, node_subnet.cidr_block),
        format!(
            "add `{{cidr: {}, eniConfigs: [...]}}`, or set `onNoMatch: zone` to use the ENIConfig named `{zone}`",
            node_subnet.cidr_block
        ),
    );
    Vec::new()
}

fn map_rows_without_use(group: &GroupFacts<'_>, notes: &mut Notes) {
    for row in &group.config.map {
        if group.subnets.iter().any(|subnet| row.cidr.contains(&subnet.cidr_block)) {
            continue;
        }
        if let Some(split) = group.subnets.iter().find(|subnet| subnet.cidr_block.contains(&row.cidr)) {
            notes.problem(
                "map-row-splits-subnet",
                group.subject(),
                format!(
                    "map row {} is a part of node subnet {} ({}); a node knows only the CIDR of its whole subnet",
                    row.cidr, split.subnet_id, split.cidr_block
                ),
                format!("write the row for {}", split.cidr_block),
            );
            continue;
        }
        notes.problem(
            "map-row-unused",
            group.subject(),
            format!("no node subnet of the group lies in map row {}", row.cidr),
            format!(
                "remove the row; the group's node subnets are {}",
                list(group.subnets.iter().map(|subnet| subnet.cidr_block.to_string()))
            ),
        );
    }
}

fn zone_names_for_no_match(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    eni_configs: &mut EniConfigs,
    notes: &mut Notes,
) {
    for subnet in &group.subnets {
        let zone = &subnet.availability_zone;
        let serves = eni_configs
            .find_or_take(zone, inventory, notes)
            .is_some_and(|eni_config| eni_config.availability_zone_id == subnet.availability_zone_id);
        if !serves {
            notes.problem(
                "no-match-zone-without-eniconfig",
                group.subject(),
                format!("onNoMatch is zone, but no ENIConfig named `{zone}` for that zone is in the plan"),
                "add a pool with `names: zone` and a subnet in this zone, or set `onNoMatch: fail`",
            );
        }
    }
}

fn weigh(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    settings: &CniSettings,
    names: &[String],
    eni_configs: &EniConfigs,
    notes: &mut Notes,
) -> Vec<Candidate> {
    let mut bound = 0u64;
    let mut candidates = Vec::new();
    for name in names {
        let weight = if names.len() == 1 { 1 } else { weight_of(inventory, group, settings, name, eni_configs, notes) };
        bound = bound.saturating_add(weight);
        candidates.push(Candidate { eni_config: name.clone(), weight, bound });
    }
    if bound == 0 && matches!(group.config.weights, Weights::Numbers(_)) {
        notes.problem(
            "candidate-without-capacity",
            group.subject(),
            format!("the weights of {} are all zero", list(names)),
            "give at least one of them a number above zero",
        );
    }
    candidates
}

fn weight_of(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    settings: &CniSettings,
    name: &str,
    eni_configs: &EniConfigs,
    notes: &mut Notes,
) -> u64 {
    let Some(pod_subnet) = eni_configs.by_name.get(name).and_then(|eni_config| inventory.subnet(&eni_config.subnet_id))
    else {
        return 0;
    };
    let weight = match &group.config.weights {
        Weights::Usable => Some(pod_subnet.usable_addresses()),
        Weights::Free => pod_subnet.available_ip_address_count,
        Weights::Numbers(numbers) => numbers.get(name).map(|number| u64::from(*number)),
        Weights::Capacity => capacity_weight(inventory, group, settings, pod_subnet),
    };
    match (weight, &group.config.weights) {
        (Some(0), Weights::Numbers(_)) => 0,
        (Some(0), _) => {
            notes.problem(
                "candidate-without-capacity",
                group.subject(),
                format!(
                    "pod subnet {} ({}) of ENIConfig `{name}` has no room for a single node of the group",
                    pod_subnet.subnet_id, pod_subnet.cidr_block
                ),
                "take the subnet out of the pool, or give the candidates numbers under `weights`",
            );
            0
        }
        (Some(weight), _) => weight,
        (None, Weights::Numbers(_)) => {
            notes.problem(
                "weight-missing",
                group.subject(),
                format!("`weights` has no number for candidate `{name}`"),
                format!("add `{name}: N` under weights; 0 keeps nodes away from it"),
            );
            0
        }
        (None, Weights::Free) => {
            notes.problem(
                "weight-undecidable",
                group.subject(),
                format!("the inventory has no free-address count for {}", pod_subnet.subnet_id),
                "read the inventory again with ec2:DescribeSubnets allowed, or use `weights: usable`",
            );
            0
        }
        (None, _) => {
            notes.problem(
                "weight-undecidable",
                group.subject(),
                "weights by capacity need the interfaces of the group's instance types, and the inventory does not have them",
                "read the inventory again with ec2:DescribeInstanceTypes allowed, name instanceTypes, or use `weights: usable`",
            );
            0
        }
    }
}

/// Nodes that the pod subnet holds in the worst case, for the group's hungriest type.
fn capacity_weight(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    settings: &CniSettings,
    pod_subnet: &Subnet,
) -> Option<u64> {
    let max_pods = match group.config.max_pods {
        MaxPods::Number(number) => Some(number),
        MaxPods::Auto | MaxPods::Eks => None,
    };
    let mut fewest = None;
    for name in &group.instance_types {
        let nodes = node_arithmetic(inventory.instance_type(name)?, settings)?.nodes_in(pod_subnet, max_pods);
        fewest = Some(fewest.map_or(nodes, |fewest: u64| fewest.min(nodes)));
    }
    fewest
}

impl GroupFacts<'_> {
    /// The group as the subject of a finding.
    pub(super) fn subject(&self) -> Subject {
        Subject::NodeGroup(self.name.to_owned())
    }
}
