//! Addresses that one node takes from its pod subnet: at start, idle, with pods, at peak.
//!
//! Closed forms of what the CNI's allocation loop settles on when pods arrive one after the other. `tests/capacity.rs`
//! runs that loop step by step and compares. Source: amazon-vpc-cni-k8s `pkg/ipamd/ipamd.go` (v1.20 to v1.23.1):
//! `isDatastorePoolTooLow`, `datastoreTargetState`, `getPrefixesNeeded`, `GetENIResourcesToAllocate`, `hasRoomForEni`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::inventory::CniSettings;
use crate::max_pods::{ADDRESSES_PER_PREFIX, NodeArithmetic};

/// How much a node keeps ready. Names as in the CNI's environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmTargets {
    /// `WARM_ENI_TARGET`; counts only with single addresses, and only where no address target is set.
    pub warm_eni: u32,
    /// `WARM_IP_TARGET`; zero is unset.
    pub warm_ip: u32,
    /// `MINIMUM_IP_TARGET`; zero is unset.
    pub minimum_ip: u32,
    /// `WARM_PREFIX_TARGET`; counts only with prefixes, and only where no address target is set.
    pub warm_prefix: u32,
}

impl Default for WarmTargets {
    /// Source: amazon-vpc-cni-k8s `config/master/aws-k8s-cni.yaml`: `WARM_ENI_TARGET` and `WARM_PREFIX_TARGET` are 1.
    fn default() -> Self {
        Self { warm_eni: 1, warm_ip: 0, minimum_ip: 0, warm_prefix: 1 }
    }
}

/// No VPC has more addresses to keep warm: a CIDR block is a /16 at most. Source: VPC user guide, "VPC CIDR blocks".
const MOST_ADDRESSES: u32 = 65_536;

impl WarmTargets {
    /// The targets of the settings. What is unset, negative or no number counts as the default, as in the CNI.
    pub fn of(settings: &CniSettings) -> Self {
        let default = Self::default();
        let target = |name: &str, default: u32| {
            let target = settings.value(name).and_then(|value| value.parse::<u32>().ok()).unwrap_or(default);
            target.min(MOST_ADDRESSES)
        };
        Self {
            warm_eni: target("WARM_ENI_TARGET", default.warm_eni),
            warm_ip: target("WARM_IP_TARGET", default.warm_ip),
            minimum_ip: target("MINIMUM_IP_TARGET", default.minimum_ip),
            warm_prefix: target("WARM_PREFIX_TARGET", default.warm_prefix),
        }
    }

    fn address_targets(self) -> bool {
        self.warm_ip > 0 || self.minimum_ip > 0
    }
}

/// What decides how many addresses a node takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeShape {
    /// Interfaces that can carry pods: those of the default card within `MAX_ENI`, less the primary one, the trunk and
    /// those that the CNI leaves alone (tag `node.k8s.amazonaws.com/no_manage`).
    pub pod_interfaces: u32,
    /// Address slots of each, its own address not counted.
    pub slots_per_interface: u32,
    /// Whether a slot holds a /28 prefix.
    pub prefixes: bool,
    /// Max pods of the kubelet; the CNI stops growing there.
    pub max_pods: u32,
    /// Whether the trunk of security groups for pods has its address in the pod subnet too.
    pub trunk: bool,
}

/// What a node has taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Taken {
    /// Interfaces in the pod subnet; each has one address of its own.
    pub interfaces: u32,
    /// Addresses for pods, where slots hold single addresses.
    pub pod_addresses: u32,
    /// /28 prefixes, where slots hold prefixes.
    pub prefixes: u32,
}

impl Taken {
    /// Addresses that are gone from the pod subnet.
    pub fn addresses(self) -> u64 {
        u64::from(self.interfaces)
            + u64::from(self.pod_addresses)
            + u64::from(self.prefixes) * u64::from(ADDRESSES_PER_PREFIX)
    }
}

impl NodeShape {
    /// The shape of a node of a type. `max_pods` is the kubelet's, where it is not the formula's; `unmanaged` counts
    /// the interfaces of the default card that the CNI leaves alone.
    pub fn new(arithmetic: NodeArithmetic, max_pods: Option<u32>, unmanaged: u32, trunk: bool) -> Self {
        Self {
            pod_interfaces: arithmetic.pod_interfaces.saturating_sub(unmanaged),
            slots_per_interface: arithmetic.slots_per_interface,
            prefixes: arithmetic.prefixes,
            max_pods: max_pods.unwrap_or(arithmetic.max_pods),
            trunk,
        }
    }

    /// After the one growth step of a starting aws-node. A pod subnet without this much keeps the node NotReady.
    pub fn at_start(self, targets: WarmTargets) -> Taken {
        let first_step = if self.prefixes && targets.address_targets() {
            targets.warm_ip.max(targets.minimum_ip).div_ceil(ADDRESSES_PER_PREFIX)
        } else if self.prefixes {
            targets.warm_prefix.max(1)
        } else if targets.address_targets() {
            targets.warm_ip.max(targets.minimum_ip)
        } else {
            self.slots_per_interface
        };
        self.taken(if self.max_pods == 0 { 0 } else { first_step.min(self.slots_per_interface) })
    }

    /// With no pod on it, once the loop has settled.
    pub fn idle(self, targets: WarmTargets) -> Taken {
        self.with_pods(targets, 0)
    }

    /// With as many pods as kubelet takes, every one of which needs an address.
    pub fn peak(self, targets: WarmTargets) -> Taken {
        self.with_pods(targets, self.max_pods)
    }

    /// With `pods` that need an address, arrived one after the other.
    pub fn with_pods(self, targets: WarmTargets, pods: u32) -> Taken {
        let pods = pods.min(self.max_pods).min(self.most_pods());
        let slots = match (self.prefixes, targets.address_targets()) {
            (false, false) => return self.whole_interfaces(targets.warm_eni, pods),
            (false, true) => {
                self.grown(targets, 1, pods, targets.warm_ip.max(targets.minimum_ip), pods + targets.warm_ip)
            }
            (true, true) => self.grown(
                targets,
                ADDRESSES_PER_PREFIX,
                pods,
                targets.warm_ip.max(targets.minimum_ip).div_ceil(ADDRESSES_PER_PREFIX),
                (pods + targets.warm_ip).div_ceil(ADDRESSES_PER_PREFIX),
            ),
            (true, false) if targets.warm_prefix == 0 => {
                (pods / ADDRESSES_PER_PREFIX + 1).min(self.max_pods.div_ceil(ADDRESSES_PER_PREFIX)).min(self.slots())
            }
            (true, false) => {
                let wanted = pods.div_ceil(ADDRESSES_PER_PREFIX) + targets.warm_prefix;
                self.grown(targets, ADDRESSES_PER_PREFIX, pods, targets.warm_prefix, wanted)
            }
        };
        self.taken(slots)
    }

    /// Pods that the node's interfaces can give an address to.
    pub fn most_pods(self) -> u32 {
        let addresses_per_slot = if self.prefixes { ADDRESSES_PER_PREFIX } else { 1 };
        self.slots().saturating_mul(addresses_per_slot)
    }

    fn slots(self) -> u32 {
        self.pod_interfaces.saturating_mul(self.slots_per_interface)
    }

    /// `WARM_ENI_TARGET`: an interface comes with all its addresses.
    fn whole_interfaces(self, warm_eni: u32, pods: u32) -> Taken {
        if self.slots_per_interface == 0 {
            return self.taken(0);
        }
        let wanted = if warm_eni > 0 {
            pods.div_ceil(self.slots_per_interface) + warm_eni
        } else {
            pods / self.slots_per_interface + 1
        };
        let for_max_pods = self.max_pods.div_ceil(self.slots_per_interface);
        self.taken(wanted.min(for_max_pods).min(self.pod_interfaces) * self.slots_per_interface)
    }

    /// Slots after growth towards targets: `first` without pods, `wanted` with them. Before the first pod the loop grows
    /// by up to one interface a step and stops at the first step that reaches max pods, which may overshoot; after that
    /// it grows slot by slot.
    fn grown(self, targets: WarmTargets, addresses_per_slot: u32, pods: u32, first: u32, wanted: u32) -> u32 {
        if self.slots_per_interface == 0 {
            return 0;
        }
        let for_max_pods = self.max_pods.div_ceil(addresses_per_slot);
        let whole_steps = for_max_pods.div_ceil(self.slots_per_interface) * self.slots_per_interface;
        let first = first.min(whole_steps).min(self.slots());
        // A minimum without a warm target is met and never looked at again: pods beyond it get no address.
        let grows = pods > 0 && (targets.warm_ip > 0 || !targets.address_targets());
        if grows { first.max(wanted.min(for_max_pods).min(self.slots())) } else { first }
    }

    fn taken(self, slots: u32) -> Taken {
        let slots = slots.min(self.slots());
        if slots == 0 {
            return Taken::default();
        }
        let interfaces = slots.div_ceil(self.slots_per_interface) + u32::from(self.trunk);
        match self.prefixes {
            true => Taken { interfaces, pod_addresses: 0, prefixes: slots },
            false => Taken { interfaces, pod_addresses: slots, prefixes: 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn single(pod_interfaces: u32, slots_per_interface: u32, max_pods: u32) -> NodeShape {
        NodeShape { pod_interfaces, slots_per_interface, prefixes: false, max_pods, trunk: false }
    }

    const fn prefixes(pod_interfaces: u32, slots_per_interface: u32, max_pods: u32) -> NodeShape {
        NodeShape { prefixes: true, ..single(pod_interfaces, slots_per_interface, max_pods) }
    }

    fn targets(warm_ip: u32, minimum_ip: u32) -> WarmTargets {
        WarmTargets { warm_ip, minimum_ip, ..WarmTargets::default() }
    }

    #[test]
    fn full_nodes_by_type() {
        for (name, shape, addresses) in [
            ("t3.medium", single(2, 5, 12), 12),
            ("t3.medium with a trunk", NodeShape { trunk: true, ..single(1, 5, 7) }, 7),
            ("m5.large", single(2, 9, 20), 20),
            ("m5.large with a trunk", NodeShape { trunk: true, ..single(1, 9, 11) }, 11),
            ("m5.xlarge", single(3, 14, 44), 45),
            ("m5.4xlarge", single(7, 29, 205), 210),
            ("p5.48xlarge", single(1, 49, 51), 50),
            ("m5.large with prefixes", prefixes(2, 9, 110), 7 * 16 + 1),
            ("p5.48xlarge with prefixes", prefixes(1, 49, 250), 16 * 16 + 1),
            ("no interface for pods", single(0, 49, 110), 0),
        ] {
            assert_eq!(shape.peak(WarmTargets::default()).addresses(), addresses, "{name}");
        }
    }

    #[test]
    fn from_start_to_peak() {
        let m5_large = single(2, 9, 20);
        let default = WarmTargets::default();
        assert_eq!(m5_large.at_start(default).addresses(), 10);
        assert_eq!(m5_large.idle(default).addresses(), 10);
        assert_eq!(m5_large.with_pods(default, 1).addresses(), 20);
        assert_eq!(m5_large.with_pods(targets(2, 10), 12).addresses(), 16);
        assert_eq!(m5_large.at_start(targets(2, 10)).addresses(), 10);
        assert_eq!(m5_large.idle(targets(2, 10)).addresses(), 12);
        assert_eq!(m5_large.with_pods(targets(0, 10), 18).addresses(), 12, "pods beyond the minimum get none");
        let with_prefixes = prefixes(2, 9, 110);
        assert_eq!(with_prefixes.at_start(default).addresses(), 17);
        assert_eq!(with_prefixes.with_pods(default, 16).addresses(), 33);
        assert_eq!(with_prefixes.with_pods(default, 17).addresses(), 49);
        assert_eq!(with_prefixes.with_pods(targets(5, 0), 12).addresses(), 33);
    }

    #[test]
    fn targets_are_read_as_the_cni_reads_them() {
        let settings = |value: &str| CniSettings {
            env: [("WARM_IP_TARGET".to_owned(), value.to_owned()), ("WARM_ENI_TARGET".into(), value.into())].into(),
            version: None,
        };
        for (value, warm_ip, warm_eni) in [("5", 5, 5), ("0", 0, 0), ("-1", 0, 1), ("", 0, 1), ("many", 0, 1)] {
            let targets = WarmTargets::of(&settings(value));
            assert_eq!((targets.warm_ip, targets.warm_eni), (warm_ip, warm_eni), "{value}");
        }
    }
}
