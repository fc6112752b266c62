//! What `aws eks … --output json` prints, as parts of the inventory.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::aws::Whole;
use crate::inventory::{
    AddOn, Cluster, LaunchTemplateSpecification, NodeGroup, OutpostConfig, RemoteAccess, ScalingConfig, Taint,
};

/// `aws eks describe-cluster`.
#[derive(Debug, Deserialize)]
pub(super) struct DescribeCluster {
    pub(super) cluster: ClusterAnswer,
}

/// `aws eks list-nodegroups`.
#[derive(Debug, Deserialize)]
pub(super) struct ListNodegroups {
    pub(super) nodegroups: Vec<String>,
    #[serde(default, rename = "nextToken")]
    _whole: Whole,
}

/// `aws eks describe-nodegroup`.
#[derive(Debug, Deserialize)]
pub(super) struct DescribeNodegroup {
    pub(super) nodegroup: NodegroupAnswer,
}

/// `aws eks list-addons`.
#[derive(Debug, Deserialize)]
pub(super) struct ListAddons {
    pub(super) addons: Vec<String>,
    #[serde(default, rename = "nextToken")]
    _whole: Whole,
}

/// `aws eks describe-addon`.
#[derive(Debug, Deserialize)]
pub(super) struct DescribeAddon {
    pub(super) addon: AddonAnswer,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClusterAnswer {
    pub(super) name: String,
    arn: String,
    version: Option<String>,
    status: Option<String>,
    endpoint: Option<String>,
    certificate_authority: Option<CertificateAuthority>,
    #[serde(default)]
    kubernetes_network_config: KubernetesNetworkConfig,
    #[serde(default)]
    resources_vpc_config: ResourcesVpcConfig,
    access_config: Option<AccessConfig>,
    compute_config: Option<ComputeConfig>,
    outpost_config: Option<OutpostAnswer>,
    id: Option<String>,
    tags: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Deserialize)]
struct CertificateAuthority {
    data: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KubernetesNetworkConfig {
    service_ipv4_cidr: Option<String>,
    service_ipv6_cidr: Option<String>,
    ip_family: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourcesVpcConfig {
    vpc_id: Option<String>,
    subnet_ids: Option<Vec<String>>,
    cluster_security_group_id: Option<String>,
    security_group_ids: Option<Vec<String>>,
    endpoint_public_access: Option<bool>,
    endpoint_private_access: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AccessConfig {
    authentication_mode: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ComputeConfig {
    enabled: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OutpostAnswer {
    #[serde(default)]
    outpost_arns: Vec<String>,
}

impl ClusterAnswer {
    /// Region and account, out of `arn:aws:eks:REGION:ACCOUNT:cluster/NAME`.
    pub(super) fn region_and_account(&self) -> Option<(String, String)> {
        let mut parts = self.arn.split(':').skip(3);
        let (region, account) = (parts.next()?, parts.next()?);
        (!region.is_empty() && !account.is_empty()).then(|| (region.to_owned(), account.to_owned()))
    }
}

impl From<ClusterAnswer> for Cluster {
    fn from(answer: ClusterAnswer) -> Self {
        let (network, vpc) = (answer.kubernetes_network_config, answer.resources_vpc_config);
        let set = |text: Option<String>| text.filter(|text| !text.is_empty());
        Self {
            name: answer.name,
            arn: Some(answer.arn),
            version: answer.version,
            status: answer.status,
            endpoint: set(answer.endpoint),
            certificate_authority: set(answer.certificate_authority.and_then(|authority| authority.data)),
            service_ipv4_cidr: network.service_ipv4_cidr,
            service_ipv6_cidr: network.service_ipv6_cidr,
            ip_family: network.ip_family,
            vpc_id: set(vpc.vpc_id),
            subnet_ids: vpc.subnet_ids.unwrap_or_default(),
            cluster_security_group_id: vpc.cluster_security_group_id,
            security_group_ids: vpc.security_group_ids.unwrap_or_default(),
            endpoint_public_access: vpc.endpoint_public_access,
            endpoint_private_access: vpc.endpoint_private_access,
            authentication_mode: answer.access_config.and_then(|access| access.authentication_mode),
            auto_mode: answer.compute_config.and_then(|compute| compute.enabled).unwrap_or(false),
            outpost_config: answer.outpost_config.map(|outpost| OutpostConfig { outpost_arns: outpost.outpost_arns }),
            id: answer.id,
            tags: answer.tags.unwrap_or_default(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NodegroupAnswer {
    pub(super) cluster_name: Option<String>,
    nodegroup_name: String,
    status: Option<String>,
    ami_type: Option<String>,
    capacity_type: Option<String>,
    version: Option<String>,
    release_version: Option<String>,
    instance_types: Option<Vec<String>>,
    subnets: Option<Vec<String>>,
    launch_template: Option<LaunchTemplateSpecification>,
    scaling_config: Option<ScalingAnswer>,
    labels: Option<BTreeMap<String, String>>,
    taints: Option<Vec<TaintAnswer>>,
    node_role: Option<String>,
    disk_size: Option<i64>,
    remote_access: Option<RemoteAccessAnswer>,
    update_config: Option<UpdateConfig>,
    health: Option<Health>,
    tags: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ScalingAnswer {
    min_size: u32,
    max_size: u32,
    desired_size: u32,
}

#[derive(Debug, Deserialize)]
struct TaintAnswer {
    key: String,
    #[serde(default)]
    value: Option<String>,
    effect: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemoteAccessAnswer {
    ec2_ssh_key: Option<String>,
    source_security_groups: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateConfig {
    max_unavailable: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct Health {
    issues: Option<Vec<Issue>>,
}

#[derive(Debug, Deserialize)]
struct Issue {
    message: Option<String>,
}

fn messages(health: Option<Health>) -> Vec<String> {
    let issues = health.and_then(|health| health.issues).unwrap_or_default();
    issues.into_iter().filter_map(|issue| issue.message).collect()
}

impl From<NodegroupAnswer> for NodeGroup {
    fn from(answer: NodegroupAnswer) -> Self {
        let taint =
            |taint: TaintAnswer| Taint { key: taint.key, value: taint.value.unwrap_or_default(), effect: taint.effect };
        Self {
            name: answer.nodegroup_name,
            status: answer.status,
            ami_type: answer.ami_type,
            capacity_type: answer.capacity_type,
            version: answer.version,
            release_version: answer.release_version,
            instance_types: answer.instance_types.unwrap_or_default(),
            subnets: answer.subnets.unwrap_or_default(),
            launch_template: answer.launch_template,
            scaling_config: answer.scaling_config.map(|scaling| ScalingConfig {
                min_size: scaling.min_size,
                max_size: scaling.max_size,
                desired_size: scaling.desired_size,
            }),
            labels: answer.labels.unwrap_or_default(),
            taints: answer.taints.unwrap_or_default().into_iter().map(taint).collect(),
            node_role: answer.node_role,
            disk_size: answer.disk_size,
            remote_access: answer.remote_access.map(|access| RemoteAccess {
                ec2_ssh_key: access.ec2_ssh_key,
                source_security_groups: access.source_security_groups.unwrap_or_default(),
            }),
            max_unavailable: answer.update_config.and_then(|update| update.max_unavailable),
            health_issues: messages(answer.health),
            tags: answer.tags.unwrap_or_default(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AddonAnswer {
    pub(super) cluster_name: Option<String>,
    pub(super) addon_name: Option<String>,
    addon_version: String,
    status: Option<String>,
    configuration_values: Option<String>,
    service_account_role_arn: Option<String>,
    pod_identity_associations: Option<Vec<String>>,
    health: Option<Health>,
}

impl From<AddonAnswer> for AddOn {
    fn from(answer: AddonAnswer) -> Self {
        Self {
            addon_version: answer.addon_version,
            status: answer.status,
            configuration_values: answer.configuration_values.filter(|values| !values.trim().is_empty()),
            service_account_role_arn: answer.service_account_role_arn,
            pod_identity_associations: answer.pod_identity_associations.unwrap_or_default(),
            health_issues: messages(answer.health),
        }
    }
}
