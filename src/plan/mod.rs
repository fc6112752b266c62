//! Inventory + Config → [`Plan`]: everything decided, nothing left to choose later.

mod also_read;
mod assignments;
mod bootstrap;
mod cni;
mod decide;
pub mod explanation;
mod from_tags;
mod group_facts;
pub mod karpenter;
mod label;
mod launch_template_plan;
mod max_pods_plan;
mod notes;
mod pools;
pub mod proposal;

use std::collections::{BTreeMap, BTreeSet};

use ipnet::Ipv4Net;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{AmiFamily, LabelDesign, OnNoMatch, Strategy};
use crate::finding::Subject;
use crate::inventory::{Node, Taint};

pub(crate) use bootstrap::kubelet_may_set;
pub use decide::{Planned, plan};
pub use from_tags::{POOL_TAG, config_from_tags};
pub use launch_template_plan::{CLUSTER_TAG, NODE_GROUP_TAG, is_ours};

/// The schema version of [`Plan`] in JSON.
pub const SCHEMA_VERSION: u32 = 1;

/// Label value of a node that found no row for its subnet. It names no ENIConfig, so the node stays NotReady.
pub const NO_MATCH: &str = "eniplan-no-match";

/// Label that marks an ENIConfig as ours. Source: Kubernetes, "Recommended Labels".
pub const MANAGED_BY_LABEL: (&str, &str) = ("app.kubernetes.io/managed-by", "eniplan");

/// Everything decided for one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Version of this shape.
    pub schema_version: u32,
    /// Name of the cluster.
    pub cluster: String,
    /// Region of the cluster.
    pub region: String,
    /// How nodes name their ENIConfig.
    pub label: LabelPlan,
    /// The CNI's settings.
    pub cni: CniPlan,
    /// ENIConfigs by name, those that the plan needs.
    pub eni_configs: Vec<EniConfigPlan>,
    /// Node groups by name.
    pub node_groups: Vec<NodeGroupPlan>,
    /// Every decision with its reason, in the order in which they were taken.
    pub decisions: Vec<Decision>,
}

impl Plan {
    /// The plan of one node group with the ENIConfigs that it names. `None` when there is no such group.
    pub fn limited_to(mut self, node_group: &str) -> Option<Self> {
        self.node_groups.retain(|group| group.name == node_group);
        let group = self.node_groups.first()?;
        let named: BTreeSet<&str> = group
            .assignments
            .iter()
            .flat_map(|row| row.candidates.iter().map(|candidate| candidate.eni_config.as_str()))
            .collect();
        let zones: BTreeSet<&str> = match group.on_no_match {
            OnNoMatch::Zone => group.assignments.iter().map(|row| row.availability_zone.as_str()).collect(),
            OnNoMatch::Fail => BTreeSet::new(),
        };
        self.eni_configs
            .retain(|eni_config| named.contains(eni_config.name.as_str()) || zones.contains(eni_config.name.as_str()));
        self.decisions.retain(|decision| !matches!(&decision.subject, Subject::NodeGroup(name) if name != node_group));
        Some(self)
    }
}

/// How nodes name their ENIConfig.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabelPlan {
    /// The design.
    pub design: LabelDesign,
    /// `ENI_CONFIG_LABEL_DEF` as it is to be.
    pub label_def: String,
    /// Key of the label that planned nodes get.
    pub node_label_key: String,
}

/// The CNI's settings as they are to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CniPlan {
    /// Who holds the settings.
    pub owner: CniOwner,
    /// Settings that the plan manages, with the values that they are to have.
    pub env: BTreeMap<String, String>,
    /// Those of them that differ now: name → value now (`None` is unset).
    pub changes: BTreeMap<String, Option<String>>,
    /// Whether the change alters where nodes get pod addresses (custom networking on, label or annotation key).
    pub switch: bool,
}

/// Who holds the CNI's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CniOwner {
    /// The EKS add-on's configuration values.
    AddOn,
    /// The DaemonSet itself.
    DaemonSet,
    /// A Helm release.
    Helm,
    /// There is no aws-node yet.
    Absent,
}

/// One ENIConfig as it is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EniConfigPlan {
    /// Object name, which is also the label value.
    pub name: String,
    /// Pod subnet.
    pub subnet_id: String,
    /// CIDR of the pod subnet.
    #[schemars(with = "String")]
    pub cidr: Ipv4Net,
    /// Zone name of the pod subnet.
    pub availability_zone: String,
    /// Zone id of the pod subnet.
    pub availability_zone_id: String,
    /// Security groups; empty means those of the node's primary interface.
    pub security_groups: Vec<String>,
    /// Pools that it belongs to.
    pub pools: Vec<String>,
    /// Whether an object of this name is in the cluster.
    pub exists: bool,
    /// Whether the object is, or will be, marked as eniplan's own.
    pub ours: bool,
}

/// One node group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeGroupPlan {
    /// Name.
    pub name: String,
    /// Whether EKS manages it.
    pub managed: bool,
    /// Whether EKS knows it already.
    pub exists: bool,
    /// AMI family.
    pub family: AmiFamily,
    /// Who completes the user data.
    pub bootstrap: Bootstrap,
    /// Where an AL2023 node leaves its label.
    pub drop_in: DropIn,
    /// Key of the label that its nodes get; `None` where the zone label does.
    pub label_key: Option<String>,
    /// How a node picks among candidates.
    pub strategy: Strategy,
    /// What a node does whose subnet is not in its table.
    pub on_no_match: OnNoMatch,
    /// One row for each node subnet, by CIDR.
    pub assignments: Vec<Assignment>,
    /// Max pods.
    pub max_pods: MaxPodsPlan,
    /// Labels that the user data sets beside ours (only where EKS merges nothing).
    pub labels: BTreeMap<String, String>,
    /// Taints that the user data sets (only where EKS merges nothing).
    pub taints: Vec<Taint>,
    /// The launch template to write; `None` where the group needs no user data.
    pub launch_template: Option<LaunchTemplatePlan>,
    /// What `eks:CreateNodegroup` needs, where the group is new and managed.
    pub create: Option<CreateNodeGroup>,
}

impl NodeGroupPlan {
    /// Whether the table gives a node that name: by the node's own subnet where its address tells it, else by zone.
    pub fn gives(&self, node: &Node, name: &str) -> bool {
        let own = node.internal_ip.and_then(|ip| self.assignments.iter().find(|row| row.cidr.contains(&ip)));
        let rows = self.assignments.iter().filter(|row| match own {
            Some(own) => own.subnet_id == row.subnet_id,
            None => node.zone().is_none_or(|zone| zone == row.availability_zone),
        });
        rows.flat_map(|row| &row.candidates).any(|candidate| candidate.eni_config == name)
    }
}

/// Who completes the user data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Bootstrap {
    /// EKS merges its own part: the launch template names no image.
    Eks,
    /// The user data does: the launch template names an image, or the group is not managed.
    UserData(ClusterAccess),
}

/// What a node needs to join, where EKS does not add it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClusterAccess {
    /// Name of the cluster.
    pub name: String,
    /// API server URL.
    pub endpoint: String,
    /// Base64 of the PEM certificate authority, on one line.
    pub certificate_authority: String,
    /// Service CIDR.
    #[schemars(with = "String")]
    pub service_ipv4_cidr: Ipv4Net,
    /// Address of the cluster DNS service.
    pub dns_address: std::net::Ipv4Addr,
    /// Id of a local cluster on Outposts.
    pub outpost_cluster_id: Option<String>,
}

/// Where an AL2023 node leaves its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropIn {
    /// `/etc/eks/nodeadm.d/`: the AMI release is known to read it.
    NodeadmFolder,
    /// The script looks at boot; a systemd drop-in for kubelet on images that are too old.
    DecideAtBoot,
}

/// For one node subnet of one group: the ENIConfig candidates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assignment {
    /// Node subnet CIDR; what the node looks up, by equality.
    #[schemars(with = "String")]
    pub cidr: Ipv4Net,
    /// Node subnet id.
    pub subnet_id: String,
    /// Zone name of the node subnet.
    pub availability_zone: String,
    /// Zone id of the node subnet.
    pub availability_zone_id: String,
    /// Candidates by name.
    pub candidates: Vec<Candidate>,
}

/// One ENIConfig that a node may pick.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// Name of the ENIConfig.
    pub eni_config: String,
    /// Its share of the row's total.
    pub weight: u64,
    /// Sum of the weights up to and including this one.
    pub bound: u64,
}

/// Max pods of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MaxPodsPlan {
    /// What the user data sets; `None` leaves it to EKS or the AMI.
    pub written: Option<u32>,
    /// What the formula gives: the minimum over the group's instance types; `None` when they are unknown.
    pub formula: Option<u32>,
}

/// The launch template to write for a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum LaunchTemplatePlan {
    /// A new template of ours.
    Create {
        /// `eniplan-CLUSTER-NODEGROUP`.
        name: String,
        /// Image, where the group names one.
        image_id: Option<String>,
        /// Root disk in GiB, carried over from a group without a template.
        disk_size: Option<i64>,
        /// EC2 key pair, carried over from a group without a template.
        key_name: Option<String>,
    },
    /// A new version of an existing template, made from the version in use, with our user data.
    NewVersion {
        /// Template id.
        id: String,
        /// Template name.
        name: String,
        /// The version in use.
        source_version: i64,
        /// Whether the template carries our tags; else it is adopted.
        ours: bool,
    },
}

/// What `eks:CreateNodegroup` needs beside the launch template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreateNodeGroup {
    /// Node subnets.
    pub subnets: Vec<String>,
    /// Instance types.
    pub instance_types: Vec<String>,
    /// `AL2023_x86_64_STANDARD` …; `None` where the template names an image.
    pub ami_type: Option<String>,
    /// `ON_DEMAND` or `SPOT`.
    pub capacity_type: Option<String>,
    /// ARN of the node role; `None` is for the user to fill in.
    pub node_role: Option<String>,
    /// Fewest, most and wanted nodes.
    pub scaling: Option<(u32, u32, u32)>,
    /// Labels that EKS sets.
    pub labels: BTreeMap<String, String>,
    /// Taints that EKS sets.
    pub taints: Vec<Taint>,
    /// The group that it replaces.
    pub replaces: Option<String>,
}

/// One decision with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// What it is about.
    pub subject: Subject,
    /// What was decided.
    pub choice: String,
    /// Why.
    pub because: String,
}
