//! The EKS cluster.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `eks:DescribeCluster`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cluster {
    /// Name.
    pub name: String,
    /// ARN.
    #[serde(default)]
    pub arn: Option<String>,
    /// Kubernetes version, such as `1.33`.
    #[serde(default)]
    pub version: Option<String>,
    /// `ACTIVE`, `CREATING`, `UPDATING` …
    #[serde(default)]
    pub status: Option<String>,
    /// API server URL; absent while the cluster is being made.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// Base64 of the PEM certificate authority, as the API gives it; absent while the cluster is being made.
    #[serde(default)]
    pub certificate_authority: Option<String>,
    /// Service CIDR of an IPv4 cluster.
    #[serde(default)]
    pub service_ipv4_cidr: Option<String>,
    /// Service CIDR of an IPv6 cluster.
    #[serde(default)]
    pub service_ipv6_cidr: Option<String>,
    /// `ipv4` or `ipv6`.
    #[serde(default)]
    pub ip_family: Option<String>,
    /// VPC.
    #[serde(default)]
    pub vpc_id: Option<String>,
    /// Subnets of the control plane's interfaces. Node groups may use others.
    #[serde(default)]
    pub subnet_ids: Vec<String>,
    /// The security group that EKS made for the cluster.
    #[serde(default)]
    pub cluster_security_group_id: Option<String>,
    /// Further security groups of the control plane's interfaces.
    #[serde(default)]
    pub security_group_ids: Vec<String>,
    /// Whether the API server can be reached from the internet.
    #[serde(default)]
    pub endpoint_public_access: Option<bool>,
    /// Whether the API server can be reached inside the VPC.
    #[serde(default)]
    pub endpoint_private_access: Option<bool>,
    /// `API`, `CONFIG_MAP` or `API_AND_CONFIG_MAP`.
    #[serde(default)]
    pub authentication_mode: Option<String>,
    /// EKS Auto Mode: `computeConfig.enabled`.
    #[serde(default)]
    pub auto_mode: bool,
    /// Set for a local cluster on Outposts.
    #[serde(default)]
    pub outpost_config: Option<OutpostConfig>,
    /// Id of a local cluster on Outposts.
    #[serde(default)]
    pub id: Option<String>,
    /// Tags.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
}

impl Cluster {
    /// Minor number of the Kubernetes version: 33 for `1.33`.
    pub fn kubernetes_minor(&self) -> Option<u32> {
        self.version.as_deref()?.split('.').nth(1)?.parse().ok()
    }
}

/// `outpostConfig` of a local cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutpostConfig {
    /// ARNs of the Outposts.
    #[serde(default)]
    pub outpost_arns: Vec<String>,
}
