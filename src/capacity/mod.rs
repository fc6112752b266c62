//! What pod subnets hold, what node groups need, and when the one no longer suffices for the other.

pub mod growth;
mod loads;
pub mod moves;
mod needs;
pub mod node_addresses;
mod shares;
pub mod skew;
pub mod subnet_room;

use std::collections::BTreeMap;

use ipnet::Ipv4Net;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::inventory::Inventory;
use crate::plan::Plan;
use growth::{Addition, FirstToFill, Growth};
use skew::Skew;

pub use needs::{GroupNeed, NodeNeed, Sizes};

/// What to look into beside the stages that the groups' sizes give.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Question {
    /// Nodes a week.
    pub growth: Growth,
    /// Prefix length of a further pod subnet.
    pub add: Option<u8>,
    /// Interfaces on the default card of every node that the CNI leaves alone.
    pub unmanaged_interfaces: u32,
    /// Whether to simulate what groups with `strategy: hash` do by chance.
    pub simulate: bool,
}

/// The answer for one plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// Planned groups, by name.
    pub node_groups: Vec<GroupNeed>,
    /// Pod subnets of the plan, by zone and CIDR.
    pub pod_subnets: Vec<PodSubnet>,
    /// The pod subnet that is full first; `None` where nothing is known to grow.
    pub first_to_fill: Option<FirstToFill>,
    /// What chance does to groups with `strategy: hash` at their maximum.
    pub skew: Vec<Skew>,
    /// What a further pod subnet would hold.
    pub addition: Option<Addition>,
}

/// A pod subnet with what fills it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PodSubnet {
    /// Id.
    pub subnet_id: String,
    /// CIDR.
    #[schemars(with = "String")]
    pub cidr: Ipv4Net,
    /// Zone name.
    pub availability_zone: String,
    /// Zone id.
    pub availability_zone_id: String,
    /// ENIConfigs of the plan that stand for it.
    pub eni_configs: Vec<String>,
    /// Addresses that interfaces can have in it.
    pub usable_addresses: u64,
    /// Whole /28 blocks of it.
    pub whole_blocks: u64,
    /// Free addresses when the inventory was read.
    pub free_addresses: Option<u64>,
    /// Nodes whose next interface goes here under the settings in force.
    pub nodes_now: u64,
    /// Addresses in use that today's nodes cannot account for, even full; at least so many belong to others.
    pub addresses_of_others: u64,
    /// Nodes outside the plan that are and stay here.
    pub outside: OutsideNodes,
    /// What the figures below count.
    pub unit: Unit,
    /// Size in that unit.
    pub size: u64,
    /// What others take of it, packed as well as possible.
    pub others: u64,
    /// Every planned group at its smallest.
    pub at_min: Load,
    /// Every planned group at its desired size.
    pub at_desired: Load,
    /// Every planned group at its largest.
    pub at_max: Load,
    /// The same while EKS updates all of them.
    pub at_max_with_surge: Load,
    /// What chance can make of the load at the largest size, where a group spreads by hash.
    pub by_chance: Option<ByChance>,
    /// Days until it is full at the growth that was asked about.
    pub days_left: Option<u64>,
}

/// What a pod subnet is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Single addresses.
    Addresses,
    /// Whole /28 blocks: nodes take prefixes here, and every interface's own address may spoil a block.
    Blocks,
}

impl Unit {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Addresses => "addresses",
            Self::Blocks => "blocks",
        }
    }
}

/// Nodes that no planned group has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutsideNodes {
    /// How many.
    pub nodes: u64,
    /// Addresses that they take when full.
    pub addresses: u64,
}

/// The load of a pod subnet at one stage, with full nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Nodes by planned group.
    pub nodes: BTreeMap<String, u64>,
    /// What all nodes take, in the subnet's unit.
    pub taken: u64,
    /// What is left; negative where it does not fit.
    pub head_room: i64,
    /// Whether it fits.
    pub fit: Fit,
}

/// Whether a load fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    /// It does.
    #[default]
    Fits,
    /// It does if EC2 packs single addresses well; the free count cannot show it.
    NotProvable,
    /// It does not.
    DoesNotFit,
}

/// A load that 95 of 100 outcomes do not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ByChance {
    /// In the subnet's unit.
    pub p95_taken: u64,
    /// Part of outcomes in which it does not fit, from 0 to 1.
    pub overflows: f64,
}

/// Answers for one plan.
pub fn capacity(inventory: &Inventory, config: &Config, plan: &Plan, question: &Question) -> Capacity {
    let node_groups = needs::group_needs(inventory, config, plan, question.unmanaged_interfaces);
    let shares = shares::zone_shares(plan);
    let mut pod_subnets = loads::pod_subnets(inventory, plan, &node_groups, &shares);
    let skew =
        if question.simulate { skew::simulate(plan, &node_groups, &shares, &mut pod_subnets) } else { Vec::new() };
    let rates = question.growth.by_group(&node_groups);
    let first_to_fill = growth::fill(&node_groups, &shares, &rates, &mut pod_subnets);
    let addition = question.add.map(|length| growth::addition(length, &node_groups, &shares, &rates));
    Capacity { node_groups, pod_subnets, first_to_fill, skew, addition }
}
