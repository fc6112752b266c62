//! What a pod subnet holds: addresses, whole /28 blocks, nodes in the worst and in the best case, reservations.

use ipnet::Ipv4Net;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_addresses::Taken;
use crate::max_pods::{ADDRESSES_PER_PREFIX, whole_prefix_blocks};
use crate::net::{ADDRESSES_RESERVED_BY_AWS, usable_addresses};

/// Addresses that AWS keeps at the start of a subnet. Source: VPC user guide, "Subnet sizing".
const RESERVED_AT_START: u64 = 4;

/// Prefix length of a block. Source: EC2 user guide, "Prefix delegation".
const BLOCK_LENGTH: u8 = 28;

/// Nodes that an empty subnet holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodesHeld {
    /// With prefixes: every interface's own address spoils a block. With single addresses: the only case.
    pub worst: u64,
    /// With prefixes: interface addresses fill the two broken blocks first and then share blocks.
    pub best: u64,
}

/// Addresses outside whole blocks, which single addresses can use without spoiling one.
fn addresses_outside_blocks(pod_subnet: Ipv4Net) -> u64 {
    if pod_subnet.prefix_len() >= BLOCK_LENGTH {
        return usable_addresses(pod_subnet);
    }
    2 * u64::from(ADDRESSES_PER_PREFIX) - ADDRESSES_RESERVED_BY_AWS
}

/// Blocks that single addresses spoil when EC2 packs them.
pub fn blocks_spoiled_at_best(pod_subnet: Ipv4Net, single_addresses: u64) -> u64 {
    single_addresses.saturating_sub(addresses_outside_blocks(pod_subnet)).div_ceil(u64::from(ADDRESSES_PER_PREFIX))
}

/// Nodes that each take `taken` and that an empty subnet holds.
pub fn nodes_held(pod_subnet: Ipv4Net, taken: Taken) -> NodesHeld {
    if taken.addresses() == 0 {
        return NodesHeld::default();
    }
    if taken.prefixes == 0 {
        let nodes = usable_addresses(pod_subnet) / taken.addresses();
        return NodesHeld { worst: nodes, best: nodes };
    }
    let blocks = whole_prefix_blocks(pod_subnet);
    let (prefixes, interfaces) = (u64::from(taken.prefixes), u64::from(taken.interfaces));
    let worst = blocks / (prefixes + interfaces);
    let fits = |nodes: u64| nodes * prefixes + blocks_spoiled_at_best(pod_subnet, nodes * interfaces) <= blocks;
    // Blocks needed grow with every node, so the boundary can be searched for.
    let (mut fit, mut beyond) = (worst, blocks / prefixes + 1);
    while beyond - fit > 1 {
        let middle = fit + (beyond - fit) / 2;
        if fits(middle) { fit = middle } else { beyond = middle }
    }
    NodesHeld { worst, best: fit }
}

/// Subnet CIDR reservations of type `prefix`, which keep single addresses out of blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reservations {
    /// What to reserve, from the lowest address up.
    #[schemars(with = "Vec<String>")]
    pub cidrs: Vec<Ipv4Net>,
    /// Nodes that the subnet then holds, whatever EC2 does with single addresses.
    pub nodes: u64,
}

/// The reservations under which the subnet holds most nodes: all of it but a first part, which interfaces' own addresses
/// need. `None` where nodes take no prefixes, or where none fits.
pub fn reservations(pod_subnet: Ipv4Net, taken: Taken) -> Option<Reservations> {
    if taken.prefixes == 0 {
        return None;
    }
    let (prefixes, interfaces) = (u64::from(taken.prefixes), u64::from(taken.interfaces));
    let size = |length: u8| 1u64 << (32 - u32::from(length));
    let mut most: Option<Reservations> = None;
    for first_part in pod_subnet.prefix_len() + 1..=BLOCK_LENGTH {
        let single = size(first_part) - RESERVED_AT_START;
        // The last block of the subnet lacks the address that AWS keeps there.
        let reserved = size(pod_subnet.prefix_len()) - size(first_part);
        let blocks = (reserved / u64::from(ADDRESSES_PER_PREFIX)).saturating_sub(1);
        let nodes = (blocks / prefixes).min(single.checked_div(interfaces).unwrap_or(u64::MAX));
        if nodes > most.as_ref().map_or(0, |most| most.nodes) {
            most = Some(Reservations { cidrs: all_but_first(pod_subnet, first_part), nodes });
        }
    }
    most
}

/// The subnet without its first part of that length, as few networks, ascending.
fn all_but_first(pod_subnet: Ipv4Net, first_part: u8) -> Vec<Ipv4Net> {
    let mut networks: Vec<Ipv4Net> = (pod_subnet.prefix_len() + 1..=first_part)
        .filter_map(|length| {
            let mut halves = pod_subnet.subnets(length).ok()?;
            halves.next()?;
            halves.next()
        })
        .collect();
    networks.sort();
    networks
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn singles(interfaces: u32, pod_addresses: u32) -> Taken {
        Taken { interfaces, pod_addresses, prefixes: 0 }
    }

    fn prefixes(interfaces: u32, prefixes: u32) -> Taken {
        Taken { interfaces, pod_addresses: 0, prefixes }
    }

    fn net(cidr: &str) -> Ipv4Net {
        cidr.parse().unwrap()
    }

    #[test]
    fn nodes_of_every_subnet_size() {
        for (cidr, full, with_targets, worst, best) in [
            ("10.0.0.0/24", 12, 15, 1, 2),
            ("10.0.0.0/22", 50, 63, 7, 8),
            ("10.0.0.0/20", 204, 255, 31, 36),
            ("10.0.0.0/18", 818, 1_023, 127, 144),
            ("10.0.0.0/16", 3_276, 4_095, 511, 579),
        ] {
            let of = |taken| nodes_held(net(cidr), taken);
            assert_eq!(of(singles(2, 18)), NodesHeld { worst: full, best: full }, "{cidr}");
            assert_eq!(of(singles(2, 14)).worst, with_targets, "{cidr}");
            assert_eq!(of(prefixes(1, 7)), NodesHeld { worst, best }, "{cidr}");
        }
    }

    #[test]
    fn the_smallest_subnets() {
        assert_eq!(nodes_held(net("10.0.0.0/27"), singles(2, 10)).worst, 2);
        assert_eq!(nodes_held(net("10.0.0.0/28"), singles(2, 10)).worst, 0);
        assert_eq!(nodes_held(net("10.0.0.0/28"), prefixes(1, 1)), NodesHeld::default());
        assert_eq!(nodes_held(net("10.0.0.0/27"), prefixes(1, 1)), NodesHeld::default());
        assert_eq!(nodes_held(net("10.0.0.0/26"), prefixes(1, 1)), NodesHeld { worst: 1, best: 2 });
        assert_eq!(nodes_held(net("10.0.0.0/20"), Taken::default()), NodesHeld::default());
    }

    #[test]
    fn the_best_case_is_the_largest_count_that_fits() {
        for length in 16..=27 {
            let pod_subnet = net(&format!("10.0.0.0/{length}"));
            for taken in [prefixes(1, 7), prefixes(2, 16), prefixes(1, 1), prefixes(3, 3)] {
                let blocks = whole_prefix_blocks(pod_subnet);
                let needed = |nodes: u64| {
                    let single = nodes * u64::from(taken.interfaces);
                    nodes * u64::from(taken.prefixes) + single.saturating_sub(27).div_ceil(16)
                };
                let best = nodes_held(pod_subnet, taken).best;
                assert!(needed(best) <= blocks && needed(best + 1) > blocks, "{pod_subnet} {taken:?} {best}");
            }
        }
    }

    #[test]
    fn reservations_hold_more_than_the_worst_case() {
        let of = |cidr| reservations(net(cidr), prefixes(1, 7)).unwrap();
        let of_20 = of("10.0.16.0/20");
        assert_eq!(of_20.nodes, 35);
        assert_eq!(
            of_20.cidrs.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["10.0.16.128/25", "10.0.17.0/24", "10.0.18.0/23", "10.0.20.0/22", "10.0.24.0/21"]
        );
        assert_eq!(of("10.0.0.0/24").nodes, 2);
        assert_eq!(reservations(net("10.0.0.0/28"), prefixes(1, 1)), None);
        assert_eq!(reservations(net("10.0.0.0/20"), singles(1, 9)), None);
    }
}
