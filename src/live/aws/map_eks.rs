//! EKS's answers as parts of the inventory.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_eks::types as eks;

use crate::inventory::{
    AddOn, Cluster, LaunchTemplateSpecification, NodeGroup, OutpostConfig, RemoteAccess, ScalingConfig, Taint,
};

pub(super) fn cluster(raw: eks::Cluster) -> Result<Cluster, String> {
    let network = raw.kubernetes_network_config;
    let vpc = raw.resources_vpc_config;
    Ok(Cluster {
        name: raw.name.ok_or("a cluster without `name`")?,
        arn: raw.arn,
        version: raw.version,
        status: raw.status.map(|status| status.as_str().to_owned()),
        endpoint: raw.endpoint.filter(|endpoint| !endpoint.is_empty()),
        certificate_authority: raw.certificate_authority.and_then(|ca| ca.data).filter(|data| !data.is_empty()),
        service_ipv4_cidr: network.as_ref().and_then(|network| network.service_ipv4_cidr.clone()),
        service_ipv6_cidr: network.as_ref().and_then(|network| network.service_ipv6_cidr.clone()),
        ip_family: network.and_then(|network| network.ip_family).map(|family| family.as_str().to_owned()),
        endpoint_public_access: vpc.as_ref().map(|vpc| vpc.endpoint_public_access),
        endpoint_private_access: vpc.as_ref().map(|vpc| vpc.endpoint_private_access),
        vpc_id: vpc.as_ref().and_then(|vpc| vpc.vpc_id.clone()).filter(|id| !id.is_empty()),
        cluster_security_group_id: vpc.as_ref().and_then(|vpc| vpc.cluster_security_group_id.clone()),
        subnet_ids: vpc.as_ref().and_then(|vpc| vpc.subnet_ids.clone()).unwrap_or_default(),
        security_group_ids: vpc.and_then(|vpc| vpc.security_group_ids).unwrap_or_default(),
        authentication_mode: raw
            .access_config
            .and_then(|access| access.authentication_mode)
            .map(|mode| mode.as_str().to_owned()),
        auto_mode: raw.compute_config.and_then(|compute| compute.enabled).unwrap_or(false),
        outpost_config: raw.outpost_config.map(|outpost| OutpostConfig { outpost_arns: outpost.outpost_arns }),
        id: raw.id,
        tags: sorted(raw.tags),
    })
}

pub(in crate::live) fn node_group(raw: eks::Nodegroup) -> Result<NodeGroup, String> {
    let taints = raw.taints.unwrap_or_default().into_iter().map(taint).collect::<Result<_, _>>()?;
    Ok(NodeGroup {
        name: raw.nodegroup_name.ok_or("a node group without `nodegroupName`")?,
        status: raw.status.map(|status| status.as_str().to_owned()),
        ami_type: raw.ami_type.map(|ami_type| ami_type.as_str().to_owned()),
        capacity_type: raw.capacity_type.map(|capacity_type| capacity_type.as_str().to_owned()),
        version: raw.version,
        release_version: raw.release_version,
        instance_types: raw.instance_types.unwrap_or_default(),
        subnets: raw.subnets.unwrap_or_default(),
        launch_template: raw.launch_template.map(|template| LaunchTemplateSpecification {
            id: template.id,
            name: template.name,
            version: template.version,
        }),
        scaling_config: raw.scaling_config.map(scaling_config),
        labels: sorted(raw.labels),
        taints,
        node_role: raw.node_role,
        disk_size: raw.disk_size.map(i64::from),
        remote_access: raw.remote_access.map(|access| RemoteAccess {
            ec2_ssh_key: access.ec2_ssh_key,
            source_security_groups: access.source_security_groups.unwrap_or_default(),
        }),
        max_unavailable: raw.update_config.and_then(|update| update.max_unavailable).map(i64::from),
        health_issues: raw
            .health
            .and_then(|health| health.issues)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|issue| issue.message)
            .collect(),
        tags: sorted(raw.tags),
    })
}

fn taint(raw: eks::Taint) -> Result<Taint, String> {
    Ok(Taint {
        key: raw.key.ok_or("a taint without `key`")?,
        value: raw.value.unwrap_or_default(),
        effect: raw.effect.ok_or("a taint without `effect`")?.as_str().to_owned(),
    })
}

fn scaling_config(raw: eks::NodegroupScalingConfig) -> ScalingConfig {
    let size = |size: Option<i32>| size.and_then(|size| u32::try_from(size).ok()).unwrap_or_default();
    ScalingConfig { min_size: size(raw.min_size), max_size: size(raw.max_size), desired_size: size(raw.desired_size) }
}

pub(in crate::live) fn add_on(raw: eks::Addon) -> Result<AddOn, String> {
    Ok(AddOn {
        addon_version: raw.addon_version.ok_or("an add-on without `addonVersion`")?,
        status: raw.status.map(|status| status.as_str().to_owned()),
        configuration_values: raw.configuration_values.filter(|values| !values.trim().is_empty()),
        service_account_role_arn: raw.service_account_role_arn,
        pod_identity_associations: raw.pod_identity_associations.unwrap_or_default(),
        health_issues: raw
            .health
            .and_then(|health| health.issues)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|issue| issue.message)
            .collect(),
    })
}

fn sorted(map: Option<HashMap<String, String>>) -> BTreeMap<String, String> {
    map.unwrap_or_default().into_iter().collect()
}
