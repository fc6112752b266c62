//! Kubernetes nodes, reduced to what a plan or a check looks at.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// Name.
    pub name: String,
    /// EC2 instance id, from `spec.providerID`; absent for Fargate and hybrid nodes.
    #[serde(default)]
    pub instance_id: Option<String>,
    /// Labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// `status.addresses` of type InternalIP, IPv4.
    #[serde(default)]
    pub internal_ip: Option<std::net::Ipv4Addr>,
    /// `status.capacity.pods`.
    #[serde(default)]
    pub max_pods: Option<u32>,
    /// `metadata.creationTimestamp`.
    #[serde(default)]
    pub created_at: Option<String>,
    /// Whether the condition Ready is true.
    #[serde(default)]
    pub ready: bool,
    /// `status.nodeInfo.osImage`.
    #[serde(default)]
    pub os_image: Option<String>,
    /// `spec.unschedulable`.
    #[serde(default)]
    pub unschedulable: bool,
}

impl Node {
    /// The managed node group, by the label that EKS sets.
    pub fn node_group(&self) -> Option<&str> {
        self.labels.get("eks.amazonaws.com/nodegroup").map(String::as_str)
    }

    /// Zone name, by the well-known label.
    pub fn zone(&self) -> Option<&str> {
        self.labels
            .get("topology.kubernetes.io/zone")
            .or_else(|| self.labels.get("failure-domain.beta.kubernetes.io/zone"))
            .map(String::as_str)
    }

    /// Instance type, by the well-known label.
    pub fn instance_type(&self) -> Option<&str> {
        self.labels.get("node.kubernetes.io/instance-type").map(String::as_str)
    }

    /// Whether aws-node runs on it: not on Windows, Fargate, hybrid nodes or Auto Mode.
    /// Source: amazon-vpc-cni-k8s `charts/aws-vpc-cni/values.yaml`, `affinity`.
    pub fn runs_aws_node(&self) -> bool {
        let label = |key: &str| self.labels.get(key).map(String::as_str);
        label("kubernetes.io/os").unwrap_or("linux") == "linux"
            && !matches!(label("eks.amazonaws.com/compute-type"), Some("fargate" | "hybrid" | "auto"))
    }
}
