//! The address arithmetic against the CNI's allocation loop, run step by step, and against the figures of the manuals.
//!
//! [`Ipamd`] is written after amazon-vpc-cni-k8s `pkg/ipamd/ipamd.go` (v1.20 to v1.23.1) as a loop over interfaces and
//! slots; it knows nothing of the closed forms that it checks.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods, missing_docs)]

#[path = "capacity/advise.rs"]
mod advise;
#[path = "capacity/command.rs"]
mod command;
#[path = "capacity/html.rs"]
mod html;
#[path = "capacity/ipamd.rs"]
mod ipamd;
#[path = "capacity/phases.rs"]
mod phases;

use eniplan::capacity::node_addresses::{NodeShape, WarmTargets};
use eniplan::capacity::subnet_room::nodes_held;
use ipamd::{Ipamd, Targets};
use proptest::prelude::*;

fn shape_of(node: &Ipamd) -> NodeShape {
    NodeShape {
        pod_interfaces: node.interfaces_left(),
        slots_per_interface: node.slots_per_interface,
        prefixes: node.prefixes,
        max_pods: node.max_pods,
        trunk: false,
    }
}

fn targets_of(targets: Targets) -> WarmTargets {
    WarmTargets {
        warm_eni: targets.warm_eni,
        warm_ip: targets.warm_ip,
        minimum_ip: targets.minimum_ip,
        warm_prefix: targets.warm_prefix,
    }
}

/// Compares every pod count from none to beyond max pods. Gives back how many comparisons that were.
fn compare(mut node: Ipamd) -> u32 {
    let (shape, targets) = (shape_of(&node), targets_of(node.targets));
    let describe = |node: &Ipamd, pods: u32| format!("{node:?} with {pods} pods");
    node.start();
    let at_start = shape.at_start(targets);
    assert_eq!(node.taken(), (at_start.interfaces, at_start.pod_addresses, at_start.prefixes), "{node:?} at start");
    node.settle();
    let mut compared = 1;
    for pods in 0..=node.max_pods + 3 {
        if pods > 0 {
            node.add_pod();
            node.settle();
        }
        let taken = shape.with_pods(targets, pods);
        assert_eq!(node.taken(), (taken.interfaces, taken.pod_addresses, taken.prefixes), "{}", describe(&node, pods));
        compared += 1;
    }
    compared
}

/// Interfaces on the default card and addresses of each. Source: EC2 user guide, "IP addresses per network interface".
const TYPES: [(&str, u32, u32); 9] = [
    ("t3.nano", 2, 2),
    ("t3.small", 3, 4),
    ("t3.medium", 3, 6),
    ("m5.large", 3, 10),
    ("m5.xlarge", 4, 15),
    ("m5.4xlarge", 8, 30),
    ("d3en.xlarge", 4, 3),
    ("p5.48xlarge", 2, 50),
    ("hpc6id.32xlarge", 1, 50),
];

#[test]
fn every_type_in_every_mode_under_common_targets() {
    let mut compared = 0;
    for (_, interfaces, addresses) in TYPES {
        for prefixes in [false, true] {
            for (warm_eni, warm_ip, minimum_ip, warm_prefix) in [
                (1, 0, 0, 1),
                (0, 0, 0, 0),
                (2, 0, 0, 2),
                (3, 0, 0, 5),
                (1, 2, 0, 1),
                (1, 2, 10, 1),
                (1, 0, 8, 1),
                (1, 5, 30, 1),
                (0, 16, 0, 1),
                (1, 1, 1, 0),
                (1, 40, 0, 1),
                (1, 0, 200, 1),
            ] {
                for (trunk, max_eni, unmanaged) in
                    [(0, 99, 0), (1, 99, 0), (0, 2, 0), (0, 99, 1), (1, 3, 0), (1, 99, 1)]
                {
                    for max_pods in [8, 17, 20, 29, 58, 110] {
                        compared += compare(Ipamd::new(
                            interfaces.min(max_eni),
                            trunk,
                            unmanaged,
                            addresses - 1,
                            prefixes,
                            max_pods,
                            Targets { warm_eni, warm_ip, minimum_ip, warm_prefix },
                        ));
                    }
                }
            }
        }
    }
    assert!(compared > 300_000, "{compared}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

    #[test]
    fn any_node_under_any_targets(
        interfaces in 1u32..16,
        trunk in 0u32..2,
        unmanaged in 0u32..3,
        slots in 1u32..50,
        prefixes: bool,
        max_pods in 1u32..260,
        (warm_eni, warm_prefix) in (0u32..6, 0u32..10),
        (warm_ip, minimum_ip) in prop_oneof![
            Just((0u32, 0u32)),
            (0u32..80, 0u32..200),
        ],
    ) {
        let targets = Targets { warm_eni, warm_ip, minimum_ip, warm_prefix };
        compare(Ipamd::new(interfaces, trunk, unmanaged, slots, prefixes, max_pods, targets));
    }
}

/// Nodes of a subnet, found by putting one after the other into it, address by address.
fn filled(length: u8, per_node: u64) -> u64 {
    let mut free = (0..1u64 << (32 - length)).skip(4).count() as u64 - 1;
    let mut nodes = 0;
    while free >= per_node {
        free -= per_node;
        nodes += 1;
    }
    nodes
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nodes_of_a_subnet_are_those_that_can_be_put_into_it(length in 16u8..=28, interfaces in 1u32..15, slots in 1u32..50) {
        let taken = eniplan::capacity::node_addresses::Taken { interfaces, pod_addresses: interfaces * slots, prefixes: 0 };
        let cidr = format!("10.0.0.0/{length}").parse().unwrap();
        prop_assert_eq!(nodes_held(cidr, taken).worst, filled(length, u64::from(interfaces * (slots + 1))));
    }

    /// Blocks are handed out lowest first, and interface addresses from the top down: the best that EC2 can do.
    #[test]
    fn the_best_case_with_prefixes_can_be_laid_out(length in 16u8..=28, interfaces in 1u32..4, prefixes in 1u32..20) {
        let taken = eniplan::capacity::node_addresses::Taken { interfaces, pod_addresses: 0, prefixes };
        let cidr = format!("10.0.0.0/{length}").parse().unwrap();
        let held = nodes_held(cidr, taken);
        prop_assert!(held.worst <= held.best);
        prop_assert_eq!(held.best, laid_out(length, interfaces, prefixes));
    }
}

fn laid_out(length: u8, interfaces: u32, prefixes: u32) -> u64 {
    let size = 1usize << (32 - length);
    let mut used = vec![false; size];
    for reserved in (0..4).chain([size - 1]) {
        used[reserved] = true;
    }
    let mut block = 0;
    let mut singles: Vec<usize> = (1..16).map(|back| size - 1 - back).chain((4..16).rev()).collect();
    if size == 16 {
        singles = (4..15).collect();
    }
    singles.reverse();
    let mut next_single = size.saturating_sub(17);
    let mut nodes = 0;
    loop {
        for _ in 0..interfaces {
            let address = match singles.pop() {
                Some(address) => address,
                None if next_single < 16 => return nodes,
                None => {
                    next_single -= 1;
                    next_single + 1
                }
            };
            if used[address] {
                return nodes;
            }
            used[address] = true;
        }
        for _ in 0..prefixes {
            while block < size && used[block..block + 16].contains(&true) {
                block += 16;
            }
            if block >= size {
                return nodes;
            }
            used[block..block + 16].fill(true);
        }
        nodes += 1;
    }
}
