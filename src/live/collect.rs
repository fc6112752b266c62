//! One reading of one cluster: which question waits for which answer.
//!
//! Four round trips: the cluster; what its name, VPC and endpoint lead to; the launch templates that its node groups
//! name; what those and the ENIConfigs name. For `verify` a fifth, where nodes were launched from older versions.

use std::collections::BTreeSet;
use std::time::SystemTime;

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;

use super::aws::{
    Clients, Found, Reading, find_cluster, read_images, read_instance_types, read_launch_templates, read_network,
    read_network_interfaces, read_node_groups, read_outside_subnets, read_security_groups, read_versions_of_nodes,
};
use super::kube::{Kubernetes, connect, read_kubernetes};
use super::options::{AlsoRead, CollectOptions};
use super::progress::Events;
use crate::error::AccessError;
use crate::inventory::{Cluster, Gap, Inventory, LaunchTemplate, NodeGroup, Observed, SCHEMA_VERSION, Subnet};
use crate::launch_template::LaunchTemplateData;

/// Reads everything that a plan for the cluster depends on.
///
/// # Errors
/// [`AccessError`] when there is no cluster to read; whatever else fails becomes a gap.
pub(super) async fn inventory(options: &CollectOptions, events: Events) -> Result<Inventory, AccessError> {
    let clients = Clients::connect(options, events).await?;
    let collected_at = now();
    let Found { cluster, node_group_names, add_on } = find_cluster(&clients, &options.cluster).await?;
    let access = connect(&clients, &cluster, options).await?;
    let reading = Reading::new(clients);
    let add_on = reading.settle_object(crate::inventory::GapSource::AddOn, add_on);

    let (network, (node_groups, mut launch_templates), kubernetes) = tokio::join!(
        read_network(&reading, cluster.vpc_id.as_deref()),
        async {
            let groups = read_node_groups(&reading, &cluster.name, node_group_names).await;
            let also = &options.also;
            let templates = read_launch_templates(&reading, &cluster.name, &groups, also).await;
            (groups, templates)
        },
        read_kubernetes(&reading, &access, &cluster, options.also.verification),
    );
    if kubernetes.observed.is_some() {
        read_versions_of_nodes(&reading, &node_groups, &kubernetes.nodes, &mut launch_templates).await;
    }

    let named = Named::by(&cluster, &node_groups, &launch_templates, &kubernetes, &options.also);
    let outside = named.subnets_outside(&network.subnets);
    let (outside, security_groups, images, instance_types, observed) = tokio::join!(
        read_outside_subnets(&reading, &outside),
        read_security_groups(&reading, &named.security_groups),
        read_images(&reading, &named.images),
        read_instance_types(&reading, &named.instance_types),
        async {
            let observed = kubernetes.observed?;
            let instance_ids = kubernetes.nodes.iter().filter_map(|node| node.instance_id.clone()).collect();
            let network_interfaces = read_network_interfaces(&reading, &instance_ids, cluster.vpc_id.as_deref()).await;
            Some(Observed { network_interfaces, ..observed })
        },
    );
    let (clients, gaps) = reading.into_gaps();
    let mut subnets = network.subnets;
    subnets.extend(outside);
    let mut inventory = Inventory {
        schema_version: SCHEMA_VERSION,
        collected_at,
        region: clients.region.clone(),
        account_id: cluster.arn.as_deref().and_then(account_of).map(str::to_owned),
        redacted: false,
        cluster,
        vpc: network.vpc,
        subnets,
        security_groups,
        route_tables: network.route_tables,
        node_groups,
        launch_templates,
        images,
        instance_types,
        add_on,
        eni_config_crd: kubernetes.eni_config_crd,
        eni_configs: kubernetes.eni_configs,
        aws_node: kubernetes.aws_node,
        nodes: kubernetes.nodes,
        observed,
        gaps: with_caller(&clients, gaps, options.kube_context.is_some()).await,
    };
    inventory.sort();
    Ok(inventory)
}

/// Says who asked, in every gap that is the answer of an API to the AWS identity. STS is asked only then, and never
/// refuses.
async fn with_caller(clients: &Clients, mut gaps: Vec<Gap>, kubeconfig: bool) -> Vec<Gap> {
    let of_aws = |gap: &Gap| gap.code.is_some() && (gap.action.contains(':') || !kubeconfig);
    if !gaps.iter().any(of_aws) {
        return gaps;
    }
    let caller = clients.sts.get_caller_identity().send().await.ok().and_then(|identity| identity.arn);
    for gap in gaps.iter_mut().filter(|gap| of_aws(gap)) {
        gap.caller.clone_from(&caller);
    }
    gaps
}

/// The account in `arn:aws:eks:REGION:ACCOUNT:cluster/NAME`.
fn account_of(arn: &str) -> Option<&str> {
    arn.split(':').nth(4).filter(|account| !account.is_empty())
}

/// Whole seconds, RFC 3339 in UTC.
fn now() -> String {
    let now = DateTime::from_secs(DateTime::from(SystemTime::now()).secs());
    now.fmt(Format::DateTime).unwrap_or_default()
}

/// Ids that one answer names and another has to explain.
#[derive(Debug, Default, PartialEq, Eq)]
struct Named {
    subnets: BTreeSet<String>,
    security_groups: BTreeSet<String>,
    images: BTreeSet<String>,
    instance_types: BTreeSet<String>,
}

impl Named {
    fn by(
        cluster: &Cluster,
        node_groups: &[NodeGroup],
        launch_templates: &[LaunchTemplate],
        kubernetes: &Kubernetes,
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
        for eni_config in &kubernetes.eni_configs {
            named.subnets.extend(eni_config.subnet.clone());
            named.security_groups.extend(eni_config.security_groups.iter().cloned());
        }
        for node in kubernetes.nodes.iter().filter(|node| node.runs_aws_node()) {
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
    fn subnets_outside(&self, of_vpc: &[Subnet]) -> BTreeSet<String> {
        if of_vpc.is_empty() {
            return BTreeSet::new();
        }
        let known: BTreeSet<&String> = of_vpc.iter().map(|subnet| &subnet.subnet_id).collect();
        self.subnets.iter().filter(|id| !known.contains(id)).cloned().collect()
    }
}
