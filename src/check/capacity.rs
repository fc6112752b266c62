//! Rules about what pod subnets hold.

use super::Facts;
use crate::capacity::subnet_room::reservations;
use crate::capacity::{Fit, GroupNeed, Load, PodSubnet, Unit};
use crate::finding::{Problem, Subject};

fn problem(rule: &'static str, pod_subnet: &PodSubnet, message: String, help: impl Into<String>) -> Problem {
    Problem::new(rule, Subject::Subnet(pod_subnet.subnet_id.clone()), message, help)
}

/// `3 full nodes of web, 1 full node of batch`.
fn nodes(pod_subnet: &PodSubnet, load: &Load) -> String {
    let counted = |count: u64| format!("{count} full node{}", if count == 1 { "" } else { "s" });
    let mut groups: Vec<String> = load
        .nodes
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(name, count)| format!("{} of {name}", counted(*count)))
        .collect();
    if pod_subnet.outside.nodes > 0 {
        groups.push(format!("{} outside the plan", counted(pod_subnet.outside.nodes)));
    }
    groups.join(", ")
}

fn named(pod_subnet: &PodSubnet) -> String {
    format!("{} ({}, {})", pod_subnet.eni_configs.join(", "), pod_subnet.cidr, pod_subnet.availability_zone)
}

fn does_not_fit(pod_subnet: &PodSubnet, load: &Load, when: &str) -> String {
    let unit = pod_subnet.unit.word();
    let others = match pod_subnet.others {
        0 => String::new(),
        others => format!(", {others} of which belong to others"),
    };
    format!(
        "{} gets {} {when}, which take {} {unit}; it has {}{others}",
        named(pod_subnet),
        nodes(pod_subnet, load),
        load.taken,
        pod_subnet.size,
    )
}

const MORE_ROOM: &str = "add a pod subnet of this zone for some of the groups, or lower their largest sizes; \
                         `eniplan capacity --add /20` says what a further subnet holds";

pub(super) fn small_for_maximum(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for pod_subnet in facts.capacity.pod_subnets.iter().filter(|pod_subnet| too_small(pod_subnet)) {
        problems.push(problem("pod-subnet-small-for-maximum", pod_subnet, maximum(pod_subnet), MORE_ROOM));
    }
}

pub(super) fn maximum_does_not_fit(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for pod_subnet in facts.capacity.pod_subnets.iter().filter(|pod_subnet| too_small(pod_subnet)) {
        problems.push(problem("capacity-maximum-does-not-fit", pod_subnet, maximum(pod_subnet), MORE_ROOM));
    }
}

fn too_small(pod_subnet: &PodSubnet) -> bool {
    pod_subnet.at_max.fit == Fit::DoesNotFit
}

fn maximum(pod_subnet: &PodSubnet) -> String {
    does_not_fit(pod_subnet, &pod_subnet.at_max, "at the groups' largest sizes")
}

pub(super) fn update_does_not_fit(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for pod_subnet in facts.capacity.pod_subnets.iter().filter(|pod_subnet| !too_small(pod_subnet)) {
        let load = &pod_subnet.at_max_with_surge;
        if load.fit == Fit::DoesNotFit {
            problems.push(problem(
                "capacity-update-does-not-fit",
                pod_subnet,
                does_not_fit(pod_subnet, load, "at the groups' largest sizes during an update"),
                "update the groups one after the other and below their largest size, or add a pod subnet",
            ));
        }
    }
}

pub(super) fn skew_overflows(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for pod_subnet in facts.capacity.pod_subnets.iter().filter(|pod_subnet| !too_small(pod_subnet)) {
        let Some(by_chance) = pod_subnet.by_chance else { continue };
        if pod_subnet.others + by_chance.p95_taken <= pod_subnet.size {
            continue;
        }
        problems.push(problem(
            "capacity-skew-overflows",
            pod_subnet,
            format!(
                "{} is to hold {} {} at the groups' largest sizes on average, but {} in one outcome of twenty; it has {} \
                 ({:.0} % of outcomes do not fit)",
                named(pod_subnet),
                pod_subnet.others + pod_subnet.at_max.taken,
                pod_subnet.unit.word(),
                pod_subnet.others + by_chance.p95_taken,
                pod_subnet.size,
                by_chance.overflows * 100.0,
            ),
            "leave more room: a further candidate, a smaller largest size, or one group for each pod subnet",
        ));
    }
}

pub(super) fn free_blocks_not_provable(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for pod_subnet in &facts.capacity.pod_subnets {
        if pod_subnet.at_max.fit != Fit::NotProvable {
            continue;
        }
        let free = pod_subnet.free_addresses.map_or("an unknown number".into(), |free| free.to_string());
        problems.push(problem(
            "free-blocks-not-provable",
            pod_subnet,
            format!(
                "{} gives nodes /28 prefixes, at the groups' largest sizes {} of its {} blocks; {free} of {} addresses are \
                 free, which does not show how many whole blocks are",
                named(pod_subnet),
                pod_subnet.at_max.taken,
                pod_subnet.whole_blocks,
                pod_subnet.usable_addresses,
            ),
            reserve(facts, pod_subnet),
        ));
    }
}

/// What to reserve for prefixes, as commands.
fn reserve(facts: &Facts<'_>, pod_subnet: &PodSubnet) -> String {
    let hungriest = facts
        .capacity
        .node_groups
        .iter()
        .filter(|need| pod_subnet.at_max.nodes.contains_key(&need.name))
        .filter_map(GroupNeed::peak)
        .max_by_key(|peak| peak.prefixes);
    match hungriest.and_then(|peak| reservations(pod_subnet.cidr, peak)) {
        Some(reservations) => format!(
            "keep single addresses out of blocks: `aws ec2 create-subnet-cidr-reservation --subnet-id {} --reservation-type prefix \
             --cidr CIDR` for {}; addresses in use stay where they are",
            pod_subnet.subnet_id,
            reservations.cidrs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ),
        None => "use a larger pod subnet that nothing else uses".into(),
    }
}

pub(super) fn mixes_modes(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for pod_subnet in facts.capacity.pod_subnets.iter().filter(|pod_subnet| pod_subnet.unit == Unit::Blocks) {
        let groups = facts.capacity.node_groups.iter();
        let single: Vec<&str> = groups
            .filter(|need| pod_subnet.at_max.nodes.contains_key(&need.name))
            .filter(|need| need.node.as_ref().is_some_and(|node| node.mixes_modes || node.peak.prefixes == 0))
            .map(|need| need.name.as_str())
            .collect();
        if single.is_empty() {
            continue;
        }
        problems.push(problem(
            "pod-subnet-mixes-modes",
            pod_subnet,
            format!(
                "{} gives some nodes /28 prefixes and others single addresses (types of {} that are not Nitro)",
                named(pod_subnet),
                single.join(", ")
            ),
            "use Nitro types only, or give the others a pod subnet of their own",
        ));
    }
}

pub(super) fn unknown(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for need in &facts.capacity.node_groups {
        let (missing, help) = match (&need.node, need.sizes) {
            (None, _) => (
                "what a node of it takes is not known, because the inventory does not have its instance types",
                "name `instanceTypes`, or read the inventory again with ec2:DescribeInstanceTypes allowed",
            ),
            (Some(_), None) => {
                ("its sizes are not known", "give it `scaling: {min: …, max: …, desired: …}` in eniplan.yaml")
            }
            (Some(_), Some(_)) => continue,
        };
        problems.push(Problem::new(
            "capacity-unknown",
            Subject::NodeGroup(need.name.clone()),
            format!("it is left out of the figures: {missing}"),
            help,
        ));
    }
    for pod_subnet in facts.capacity.pod_subnets.iter().filter(|pod_subnet| pod_subnet.free_addresses.is_none()) {
        problems.push(problem(
            "capacity-unknown",
            pod_subnet,
            "its free addresses are not known; the figures take it to be empty".into(),
            "read the inventory again with ec2:DescribeSubnets allowed",
        ));
    }
}
