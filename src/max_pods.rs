//! Interface and address arithmetic of one node under custom networking.
//!
//! Symbols as in the CNI: a type has E interfaces on its default network card with L IPv4 addresses each. The primary
//! interface carries no pods, one more is reserved for the trunk with security groups for pods, and of each other
//! interface one address is its own.

use ipnet::Ipv4Net;

use crate::inventory::{CniSettings, CniVersion, InstanceType, Subnet};

/// Pods that need no address of the pod subnet: aws-node and kube-proxy run on the host network.
/// Source: amazon-eks-ami `nodeadm/internal/kubelet/eni_max_pods.go` (`+ 2`).
pub const HOST_NETWORK_PODS: u32 = 2;

/// Addresses in the /28 that one slot holds under prefix delegation. Source: EC2 user guide, "Prefix delegation".
pub const ADDRESSES_PER_PREFIX: u32 = 16;

/// First CNI that assigns prefixes. Source: amazon-eks-ami (branch al2) `max-pods-calculator.sh`.
const FIRST_CNI_WITH_PREFIXES: CniVersion = CniVersion(1, 9, 0);

/// vCPU above which AWS recommends 250 pods instead of 110 under prefix delegation.
/// Source: EKS user guide, "Choose an optimal Amazon EC2 node instance type"; `max-pods-calculator.sh`.
const V_CPUS_OF_A_LARGE_TYPE: u32 = 30;
const CAP_OF_A_SMALL_TYPE: u32 = 110;
const CAP_OF_A_LARGE_TYPE: u32 = 250;

/// More interfaces on a card, or addresses on an interface, than any type has; a file may claim anything.
/// Source: EC2 user guide, "Maximum IP addresses per network interface" (50 at most).
const MOST_PER_CARD: u32 = 1_024;

/// How many pods a node of one type can hold, and from which numbers that follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeArithmetic {
    /// Interfaces that can carry pods.
    pub pod_interfaces: u32,
    /// Address slots of each, its own address not counted.
    pub slots_per_interface: u32,
    /// Whether a slot holds a /28 prefix.
    pub prefixes: bool,
    /// Max pods. Zero when no interface is left for pods.
    pub max_pods: u32,
}

/// The arithmetic of a type under settings. `None` when the inventory does not say how many interfaces it has.
pub fn node_arithmetic(instance_type: &InstanceType, settings: &CniSettings) -> Option<NodeArithmetic> {
    let interfaces = instance_type.default_card_interfaces()?.min(MOST_PER_CARD);
    let allowed = settings.max_eni().map_or(interfaces, |max| max.min(interfaces));
    let trunk = u32::from(settings.pod_eni());
    let pod_interfaces = allowed.saturating_sub(1 + trunk);
    let slots_per_interface = instance_type.ipv4_addresses_per_interface.min(MOST_PER_CARD).saturating_sub(1);
    let prefixes = settings.prefix_delegation()
        && instance_type.is_nitro()
        && settings.version.is_none_or(|version| version >= FIRST_CNI_WITH_PREFIXES);
    let slots = pod_interfaces.saturating_mul(slots_per_interface);
    let max_pods = if slots == 0 {
        0
    } else if prefixes {
        let cap = if instance_type.default_v_cpus > V_CPUS_OF_A_LARGE_TYPE {
            CAP_OF_A_LARGE_TYPE
        } else {
            CAP_OF_A_SMALL_TYPE
        };
        slots.saturating_mul(ADDRESSES_PER_PREFIX).saturating_add(HOST_NETWORK_PODS).min(cap)
    } else {
        slots.saturating_add(HOST_NETWORK_PODS)
    };
    Some(NodeArithmetic { pod_interfaces, slots_per_interface, prefixes, max_pods })
}

impl NodeArithmetic {
    /// Addresses of the pod subnet that a full node takes with single addresses: its interfaces' own included.
    fn peak_addresses(self, max_pods: u32) -> u64 {
        if self.slots_per_interface == 0 {
            return 0;
        }
        let interfaces = self.pod_interfaces.min(max_pods.div_ceil(self.slots_per_interface));
        u64::from(interfaces) * u64::from(self.slots_per_interface + 1)
    }

    /// Nodes that an empty pod subnet holds in the worst case: every node full and, under prefix delegation, every
    /// interface address spoiling a /28 block. `max_pods` is the kubelet's, where it is not the formula's.
    pub fn nodes_in(self, pod_subnet: &Subnet, max_pods: Option<u32>) -> u64 {
        let max_pods = max_pods.unwrap_or(self.max_pods);
        if self.pod_interfaces == 0 || self.slots_per_interface == 0 || max_pods == 0 {
            return 0;
        }
        if !self.prefixes {
            return pod_subnet.usable_addresses() / self.peak_addresses(max_pods).max(1);
        }
        let slots = self.pod_interfaces * self.slots_per_interface;
        let prefixes = slots.min(max_pods.div_ceil(ADDRESSES_PER_PREFIX));
        let interfaces = prefixes.div_ceil(self.slots_per_interface);
        whole_prefix_blocks(pod_subnet.cidr_block) / u64::from(prefixes + interfaces)
    }
}

/// Whole /28 blocks of an empty subnet: all but the first and the last, which hold addresses that AWS keeps.
pub fn whole_prefix_blocks(pod_subnet: Ipv4Net) -> u64 {
    let length = u32::from(pod_subnet.prefix_len());
    if length >= 28 { 0 } else { (1u64 << (28 - length)).saturating_sub(2) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::inventory::NetworkCard;

    fn instance_type(name: &str, interfaces: u32, addresses: u32, v_cpus: u32) -> InstanceType {
        InstanceType {
            instance_type: name.into(),
            network_cards: vec![NetworkCard { network_card_index: 0, maximum_network_interfaces: interfaces }],
            ipv4_addresses_per_interface: addresses,
            hypervisor: Some("nitro".into()),
            default_v_cpus: v_cpus,
            ..InstanceType::default()
        }
    }

    fn settings(env: &[(&str, &str)]) -> CniSettings {
        CniSettings {
            env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            version: Some(CniVersion(1, 19, 0)),
        }
    }

    fn subnet(cidr: &str) -> Subnet {
        serde_json::from_value(serde_json::json!({
            "subnet_id": "subnet-00000001", "cidr_block": cidr,
            "availability_zone": "eu-west-1a", "availability_zone_id": "euw1-az1",
        }))
        .unwrap()
    }

    #[test]
    fn max_pods_by_type_and_mode() {
        let prefix = [("ENABLE_PREFIX_DELEGATION", "true")];
        let trunk = [("ENABLE_POD_ENI", "true")];
        for (name, interfaces, addresses, v_cpus, env, expected) in [
            ("t3.small", 3, 4, 2, &[][..], 8),
            ("t3.medium", 3, 6, 2, &[], 12),
            ("m5.large", 3, 10, 2, &[], 20),
            ("m5.xlarge", 4, 15, 4, &[], 44),
            ("m5.4xlarge", 8, 30, 16, &[], 205),
            ("p5.48xlarge", 2, 50, 192, &[], 51),
            ("m5.large", 3, 10, 2, &prefix, 110),
            ("p5.48xlarge", 2, 50, 192, &prefix, 250),
            ("t3.nano", 2, 2, 2, &prefix, 18),
            ("m5.large", 3, 10, 2, &trunk, 11),
            ("m5.4xlarge", 8, 30, 16, &trunk, 176),
            ("p5.48xlarge", 2, 50, 192, &trunk, 0),
            ("hpc6id.32xlarge", 1, 50, 64, &[], 0),
            ("m5.large", 3, 10, 2, &[("MAX_ENI", "2")], 11),
            ("m5.large", 3, 10, 2, &[("MAX_ENI", "1")], 0),
        ] {
            let arithmetic =
                node_arithmetic(&instance_type(name, interfaces, addresses, v_cpus), &settings(env)).unwrap();
            assert_eq!(arithmetic.max_pods, expected, "{name} {env:?}");
        }
    }

    #[test]
    fn types_that_are_not_nitro_take_single_addresses() {
        let mut xen = instance_type("m4.large", 2, 10, 2);
        xen.hypervisor = Some("xen".into());
        assert_eq!(node_arithmetic(&xen, &settings(&[("ENABLE_PREFIX_DELEGATION", "true")])).unwrap().max_pods, 11);
        xen.hypervisor = None;
        xen.bare_metal = true;
        assert_eq!(node_arithmetic(&xen, &settings(&[("ENABLE_PREFIX_DELEGATION", "true")])).unwrap().max_pods, 110);
    }

    #[test]
    fn the_default_card_is_found_by_its_index() {
        let mut two_cards = instance_type("p5.48xlarge", 2, 50, 192);
        two_cards.network_cards.insert(0, NetworkCard { network_card_index: 1, maximum_network_interfaces: 9 });
        assert_eq!(two_cards.default_card_interfaces(), Some(2));
    }

    #[test]
    fn nodes_that_a_subnet_holds() {
        let m5_large = instance_type("m5.large", 3, 10, 2);
        let single = node_arithmetic(&m5_large, &settings(&[])).unwrap();
        let prefix = node_arithmetic(&m5_large, &settings(&[("ENABLE_PREFIX_DELEGATION", "true")])).unwrap();
        for (cidr, singles, prefixes) in [
            ("10.0.0.0/24", 12, 1),
            ("10.0.0.0/22", 50, 7),
            ("10.0.0.0/20", 204, 31),
            ("10.0.0.0/18", 818, 127),
            ("10.0.0.0/16", 3276, 511),
        ] {
            assert_eq!(single.nodes_in(&subnet(cidr), None), singles, "{cidr}");
            assert_eq!(prefix.nodes_in(&subnet(cidr), None), prefixes, "{cidr}");
        }
        let t3_medium = node_arithmetic(&instance_type("t3.medium", 3, 6, 2), &settings(&[])).unwrap();
        assert_eq!(t3_medium.nodes_in(&subnet("10.0.0.0/27"), None), 2);
        assert_eq!(single.nodes_in(&subnet("10.0.0.0/24"), Some(9)), 25);
    }
}
