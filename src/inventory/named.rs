//! Ids that one answer names and another has to explain.

use std::collections::BTreeSet;

use super::{Cluster, EniConfig, LaunchTemplate, Node, NodeGroup, Subnet};
use crate::launch_template::LaunchTemplateData;

/// Ids that eniplan.yaml names and that the cluster itself may not, and how much is read of what is named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlsoRead {
    /// Subnet ids; those of the cluster's VPC are read anyway.
    pub subnets: BTreeSet<String>,
    /// Security group ids.
    pub security_groups: BTreeSet<String>,
    /// Launch template id and version: a number, `$Latest` or `$Default`.
    pub launch_templates: BTreeSet<(String, String)>,
    /// Every version of each launch template that is read, not only those in use.
    pub all_versions: bool,
    /// What `verify` looks at on top: pods, network interfaces, and what else decides where they are.
    pub verification: bool,
    /// AMI ids.
    pub images: BTreeSet<String>,
    /// Instance types.
    pub instance_types: BTreeSet<String>,
}

/// Ids that one answer names and another has to explain.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) subnets: BTreeSet<String>,
    pub(crate) security_groups: BTreeSet<String>,
    pub(crate) images: BTreeSet<String>,
    pub(crate) instance_types: BTreeSet<String>,
}

impl Named {
    pub(crate) fn by(
        cluster: &Cluster,
        node_groups: &[NodeGroup],
        launch_templates: &[LaunchTemplate],
        eni_configs: &[EniConfig],
        nodes: &[Node],
        also: &AlsoRead,
    ) -> Self {
        let mut named = Self {
            subnets: also.subnets.clone(),
            security_groups: also.security_groups.clone(),
            images: also.images.clone(),
            instance_types: also.instance_types.clone(),
        };
        named.security_groups.extend(cluster.cluster_security_group_id.clone());
        named.security_groups.extend(cluster.security_group_ids.iter().cloned());
        for group in node_groups {
            named.subnets.extend(group.subnets.iter().cloned());
            named.instance_types.extend(group.instance_types.iter().cloned());
            let access = group.remote_access.iter();
            named.security_groups.extend(access.flat_map(|access| access.source_security_groups.iter().cloned()));
        }
        for version in launch_templates.iter().flat_map(|template| &template.versions) {
            named.by_template(&version.launch_template_data);
        }
        for eni_config in eni_configs {
            named.subnets.extend(eni_config.subnet.clone());
            named.security_groups.extend(eni_config.security_groups.iter().cloned());
        }
        for node in nodes.iter().filter(|node| node.runs_aws_node()) {
            named.instance_types.extend(node.instance_type().map(str::to_owned));
        }
        // A Systems Manager parameter names an image only when an instance is launched.
        named.images.retain(|image| image.starts_with("ami-"));
        named
    }

    fn by_template(&mut self, data: &LaunchTemplateData) {
        self.images.extend(data.image_id.clone());
        self.instance_types.extend(data.instance_type.clone());
        self.security_groups.extend(data.security_group_ids.iter().cloned());
        self.security_groups.extend(data.network_interfaces.iter().flat_map(|interface| interface.groups.clone()));
    }

    /// The subnets that are named and not among those of the VPC. When those could not be read, none.
    pub(crate) fn subnets_outside(&self, of_vpc: &[Subnet]) -> BTreeSet<String> {
        if of_vpc.is_empty() {
            return BTreeSet::new();
        }
        let known: BTreeSet<&String> = of_vpc.iter().map(|subnet| &subnet.subnet_id).collect();
        self.subnets.iter().filter(|id| !known.contains(id)).cloned().collect()
    }
}
