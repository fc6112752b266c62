//! What only `verify` and `explain` look at: pods, interfaces, and the objects that decide about them beside ENIConfigs.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything that was read to prove where nodes and pods ended up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Observed {
    /// All pods.
    #[serde(default)]
    pub pods: Vec<Pod>,
    /// Interfaces that are attached to the nodes' instances, and those that the CNI has left behind unattached.
    #[serde(default)]
    pub network_interfaces: Vec<NetworkInterface>,
    /// `cninodes.vpcresources.k8s.aws`.
    #[serde(default)]
    pub cni_nodes: Vec<CniNode>,
    /// `securitygrouppolicies.vpcresources.k8s.aws`.
    #[serde(default)]
    pub security_group_policies: Vec<SecurityGroupPolicy>,
    /// `nodepools.karpenter.sh`.
    #[serde(default)]
    pub node_pools: Vec<NodePool>,
    /// `ec2nodeclasses.karpenter.k8s.aws`.
    #[serde(default)]
    pub ec2_node_classes: Vec<Ec2NodeClass>,
}

impl Observed {
    pub(super) fn sort(&mut self) {
        self.pods.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        self.network_interfaces.sort_by(|a, b| a.network_interface_id.cmp(&b.network_interface_id));
        for interface in &mut self.network_interfaces {
            interface.groups.sort();
            interface.ipv4_prefixes.sort();
        }
        self.cni_nodes.sort_by(|a, b| a.name.cmp(&b.name));
        self.security_group_policies.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        self.node_pools.sort_by(|a, b| a.name.cmp(&b.name));
        self.ec2_node_classes.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

/// One pod, as small as it can be: a cluster has a hundred thousand of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pod {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// `spec.nodeName`; absent before it is scheduled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// `status.podIP`, where it has one of IPv4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<Ipv4Addr>,
    /// `spec.hostNetwork`: it has the node's own address.
    #[serde(default, skip_serializing_if = "is_false")]
    pub host_network: bool,
    /// `status.phase`.
    pub phase: PodPhase,
    /// Whether it has a branch interface of its own: the annotation `vpc.amazonaws.com/pod-eni`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub branch_interface: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// `status.phase` of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum PodPhase {
    Pending,
    Running,
    Succeeded,
    Failed,
    Unknown,
}

impl Pod {
    /// Whether its address tells which pod subnet it lives in: it is there, has an address, and the address is neither
    /// the node's nor that of a branch interface, whose subnet the VPC resource controller chooses.
    pub fn address_in_pod_subnet(&self) -> Option<Ipv4Addr> {
        let is_over = matches!(self.phase, PodPhase::Succeeded | PodPhase::Failed);
        self.ip.filter(|_| !self.host_network && !self.branch_interface && !is_over)
    }
}

/// `ec2:DescribeNetworkInterfaces`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkInterface {
    /// Id.
    pub network_interface_id: String,
    /// `interface`, `trunk`, `branch`, `efa`, `efa-only` …
    #[serde(default)]
    pub interface_type: Option<String>,
    /// `in-use`, `available` …
    #[serde(default)]
    pub status: Option<String>,
    /// Description; the CNI writes `aws-K8S-INSTANCE`.
    #[serde(default)]
    pub description: Option<String>,
    /// Subnet.
    pub subnet_id: String,
    /// Security groups.
    #[serde(default)]
    pub groups: Vec<String>,
    /// What it is attached to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attachment: Option<Attachment>,
    /// Its own address.
    #[serde(default)]
    pub private_ip_address: Option<Ipv4Addr>,
    /// How many further single addresses it holds.
    #[serde(default)]
    pub secondary_private_ip_addresses: u32,
    /// The /28 prefixes it holds.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub ipv4_prefixes: Vec<Ipv4Net>,
    /// Tags.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
}

/// `attachment` of a network interface.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// Instance, where it is one of the account.
    #[serde(default)]
    pub instance_id: Option<String>,
    /// Device index; 0 on card 0 is the primary interface.
    pub device_index: u32,
    /// Network card.
    #[serde(default)]
    pub network_card_index: u32,
}

/// Interfaces with this tag are left alone by the CNI. Source: amazon-vpc-cni-k8s `pkg/awsutils/awsutils.go`.
const NO_MANAGE_TAG: &str = "node.k8s.amazonaws.com/no_manage";

impl NetworkInterface {
    /// Whether it is the interface that the instance was launched with.
    pub fn is_primary(&self) -> bool {
        self.attachment.as_ref().is_some_and(|at| at.device_index == 0 && at.network_card_index == 0)
    }

    /// Whether the CNI has made it, or takes it as its own, to give pods addresses: attached, not the primary one, neither a
    /// trunk nor an interface without addresses, and not tagged to be left alone. Interfaces of further network cards
    /// serve pods only where `ENABLE_MULTI_NIC` is on. Source: amazon-vpc-cni-k8s `pkg/awsutils/awsutils.go`,
    /// `multiCardENIIDs`; README, `ENABLE_MULTI_NIC`.
    pub fn serves_pods(&self, multi_nic: bool) -> bool {
        self.attachment.as_ref().is_some_and(|at| at.network_card_index == 0 || multi_nic)
            && !self.is_primary()
            && !matches!(self.interface_type.as_deref(), Some("trunk" | "branch" | "efa-only"))
            && self.tags.get(NO_MANAGE_TAG).is_none_or(|value| value != "true")
    }

    /// Whether it carries the branch interfaces of security groups for pods.
    pub fn is_trunk(&self) -> bool {
        self.interface_type.as_deref() == Some("trunk")
    }
}

/// `CNINode` of `vpcresources.k8s.aws`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CniNode {
    /// Name: that of the node.
    pub name: String,
    /// `spec.features`, name to value: `CustomNetworking` names the ENIConfig of trunk and branch interfaces.
    #[serde(default)]
    pub features: BTreeMap<String, String>,
}

/// `SecurityGroupPolicy` of `vpcresources.k8s.aws`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecurityGroupPolicy {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// `spec.securityGroups.groupIds`.
    #[serde(default)]
    pub group_ids: Vec<String>,
}

/// `NodePool` of `karpenter.sh`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodePool {
    /// Name.
    pub name: String,
    /// `spec.template.metadata.labels`.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Zones of a requirement `topology.kubernetes.io/zone In …`; empty where it has none.
    #[serde(default)]
    pub zones: Vec<String>,
    /// `spec.template.spec.nodeClassRef.name`.
    #[serde(default)]
    pub node_class: Option<String>,
}

/// `EC2NodeClass` of `karpenter.k8s.aws`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ec2NodeClass {
    /// Name.
    pub name: String,
    /// `spec.userData`.
    #[serde(default)]
    pub user_data: Option<String>,
    /// `spec.kubelet.maxPods`.
    #[serde(default)]
    pub max_pods: Option<u32>,
}
