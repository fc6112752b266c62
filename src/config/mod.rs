//! `eniplan.yaml`: what the user wants. Parsed with line and column; everything that the file alone can show to be
//! wrong is an error here, everything that needs the inventory is a finding of the plan.

mod aws_names;
mod cni_env;
mod described;
mod fault;
mod kubernetes_names;
mod label;
mod node_groups;
mod parse;
mod phases;
mod pools;
mod read;
mod schema;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ipnet::Ipv4Net;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use schema::json_schema;

/// What the user wants for one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Name of the EKS cluster.
    pub cluster: String,
    /// Region, where the file names one.
    pub region: Option<String>,
    /// Security groups of pods where a pool names none; `None` is the cluster security group.
    pub security_groups: Option<Vec<String>>,
    /// How nodes name their ENIConfig; `None` leaves the choice to the plan.
    pub label: Option<LabelConfig>,
    /// Further CNI settings to manage.
    pub cni_env: BTreeMap<String, String>,
    /// Pools by name.
    pub pools: BTreeMap<String, PoolConfig>,
    /// Node groups to plan, in the file's order.
    pub node_groups: Vec<NodeGroupConfig>,
    /// Managed node groups to leave alone.
    pub ignore: Vec<String>,
    /// Phases in order, each with everything that is wanted then. Empty in the config of a phase.
    pub phases: Vec<Phase>,
    /// The phase to plan where none is named; `None` is the spec without any phase.
    pub current_phase: Option<String>,
}

/// What is wanted, at one point of the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AtPhase {
    /// The phase; `None` is the spec without any.
    pub name: Option<String>,
    /// What is wanted then.
    pub config: Config,
}

/// One phase of growth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Name.
    pub name: String,
    /// The spec with what this phase and those before it add.
    pub config: Config,
}

impl Config {
    /// The whole way: the spec without phases, then phase by phase.
    pub fn way(&self) -> Vec<AtPhase> {
        let start = Self { phases: Vec::new(), current_phase: None, ..self.clone() };
        let phases =
            self.phases.iter().map(|phase| AtPhase { name: Some(phase.name.clone()), config: phase.config.clone() });
        std::iter::once(AtPhase { name: None, config: start }).chain(phases).collect()
    }

    /// The group of that name.
    pub fn node_group(&self, name: &str) -> Option<&NodeGroupConfig> {
        self.node_groups.iter().find(|group| group.name == name)
    }
}

/// `spec.label`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelConfig {
    /// The label design.
    pub design: LabelDesign,
    /// Label key, for the design `own`.
    pub key: Option<String>,
}

/// How nodes name their ENIConfig.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LabelDesign {
    /// Every node carries a label of its own key, `ENI_CONFIG_LABEL_DEF`.
    Own,
    /// The cluster stays on the zone label; planned groups carry `vpc.amazonaws.com/externalEniConfig`.
    Override,
    /// ENIConfigs are named by zone; no label is rendered.
    Zone,
}

impl LabelDesign {
    /// The word in the file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Override => "override",
            Self::Zone => "zone",
        }
    }
}

/// A named set of pod subnets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoolConfig {
    /// How its ENIConfigs are called; `None` where every subnet has a name of its own, or where the plan is to use
    /// names of existing ENIConfigs, else the subnets' Name tags.
    pub names: Option<PoolNames>,
    /// Subnets by id.
    pub subnets: Vec<PoolSubnet>,
    /// Subnets by tag: all of these tags with these values.
    pub subnet_tags: BTreeMap<String, String>,
    /// Security groups of its pods.
    pub security_groups: Option<Vec<String>>,
}

/// How the ENIConfigs of a pool are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PoolNames {
    /// By the zone of the subnet; one subnet a zone.
    Zone,
    /// By the Name tag of the subnet.
    Subnet,
}

/// One subnet of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolSubnet {
    /// Subnet id.
    pub id: String,
    /// Name of its ENIConfig.
    pub name: Option<String>,
}

/// A node group to plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeGroupConfig {
    /// Name.
    pub name: String,
    /// Pools it draws from; empty with an explicit map.
    pub pools: Vec<String>,
    /// The explicit form: node subnet CIDR → ENIConfigs.
    pub map: Vec<MapRow>,
    /// How a node picks among candidates.
    pub strategy: Strategy,
    /// Weights of the candidates under `hash`.
    pub weights: Weights,
    /// Max pods.
    pub max_pods: MaxPods,
    /// What a node does whose subnet is not in its table.
    pub on_no_match: OnNoMatch,
    /// Whether a launch template that is not ours may get a new version.
    pub adopt: bool,
    /// Name of the group that is to replace this one, where this one can take no launch template.
    pub successor: Option<String>,
    /// What the file says about a group that EKS does not know, or that is not managed.
    pub described: DescribedGroup,
}

impl Default for NodeGroupConfig {
    fn default() -> Self {
        Self {
            name: String::new(),
            pools: Vec::new(),
            map: Vec::new(),
            strategy: Strategy::Pinned,
            weights: Weights::Capacity,
            max_pods: MaxPods::Auto,
            on_no_match: OnNoMatch::Fail,
            adopt: false,
            successor: None,
            described: DescribedGroup::default(),
        }
    }
}

/// One row of an explicit map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapRow {
    /// Node subnet, or a network that holds several.
    pub cidr: Ipv4Net,
    /// Names of ENIConfigs.
    pub eni_configs: Vec<String>,
}

/// How a node picks among the candidates of its row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// There is exactly one.
    #[default]
    Pinned,
    /// By a hash of the instance id over cumulative weights.
    Hash,
}

/// Weights of the candidates under [`Strategy::Hash`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weights {
    /// Nodes of the group's type that the pod subnet holds in the worst case.
    Capacity,
    /// Addresses that an empty pod subnet of that size has.
    Usable,
    /// Free addresses of the pod subnet when the inventory was read.
    Free,
    /// By ENIConfig name.
    Numbers(BTreeMap<String, u32>),
}

/// Max pods of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxPods {
    /// What the formula says, written only where EKS would not get it right.
    Auto,
    /// Left to EKS and the AMI.
    Eks,
    /// This number.
    Number(u32),
}

/// What a node does whose subnet is not in its table, or that gets no answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnNoMatch {
    /// Stay NotReady under a label value that names no ENIConfig.
    #[default]
    Fail,
    /// Use the ENIConfig called like the node's zone.
    Zone,
}

/// AMI families as the file names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum AmiFamily {
    /// Amazon Linux 2023.
    #[serde(rename = "AL2023")]
    Al2023,
    /// Amazon Linux 2; legacy.
    #[serde(rename = "AL2")]
    Al2,
    /// Bottlerocket.
    Bottlerocket,
    /// Ubuntu.
    Ubuntu,
    /// Windows.
    Windows,
}

impl AmiFamily {
    /// The word in the file and in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Al2023 => "AL2023",
            Self::Al2 => "AL2",
            Self::Bottlerocket => "Bottlerocket",
            Self::Ubuntu => "Ubuntu",
            Self::Windows => "Windows",
        }
    }
}

/// What the file says about a group that EKS does not know, or that is not managed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DescribedGroup {
    /// `false` for nodes of an Auto Scaling group of the user's own.
    pub managed: Option<bool>,
    /// AMI family, where it cannot be told otherwise.
    pub ami_family: Option<AmiFamily>,
    /// AMI id or `resolve:ssm:…`.
    pub image_id: Option<String>,
    /// Launch template that the group uses.
    pub launch_template: Option<DescribedLaunchTemplate>,
    /// Node subnets.
    pub subnets: Vec<String>,
    /// Instance types.
    pub instance_types: Vec<String>,
    /// ARN of the node role.
    pub node_role: Option<String>,
    /// Sizes.
    pub scaling: Option<DescribedScaling>,
    /// Labels of the nodes.
    pub labels: BTreeMap<String, String>,
    /// Taints of the nodes.
    pub taints: Vec<DescribedTaint>,
}

/// A launch template as the file names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedLaunchTemplate {
    /// Id.
    pub id: String,
    /// Version: a number, `$Latest` or `$Default`.
    pub version: String,
}

/// Sizes as the file gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescribedScaling {
    /// Fewest nodes.
    pub min: u32,
    /// Most nodes.
    pub max: u32,
    /// Nodes wanted at first.
    pub desired: u32,
}

/// A taint as the file gives it; `effect` as Kubernetes spells it (`NoSchedule`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedTaint {
    /// Key.
    pub key: String,
    /// Value; may be empty.
    pub value: String,
    /// `NoSchedule`, `NoExecute` or `PreferNoSchedule`.
    pub effect: String,
}
