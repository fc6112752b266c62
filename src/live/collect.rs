//! One reading of one cluster: which question waits for which answer.
//!
//! Four round trips: the cluster; what its name, VPC and endpoint lead to; the launch templates that its node groups
//! name; what those and the ENIConfigs name. For `verify` a fifth, where nodes were launched from older versions.

use std::time::SystemTime;

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;

use super::aws::{
    Clients, Found, Reading, find_cluster, read_images, read_instance_types, read_launch_templates, read_network,
    read_network_interfaces, read_node_groups, read_outside_subnets, read_security_groups, read_versions_of_nodes,
};
use super::kube::{connect, read_kubernetes};
use super::options::CollectOptions;
use super::progress::Events;
use crate::error::AccessError;
use crate::inventory::named::Named;
use crate::inventory::{Gap, Inventory, Observed, SCHEMA_VERSION};

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

    let named =
        Named::by(&cluster, &node_groups, &launch_templates, &kubernetes.eni_configs, &kubernetes.nodes, &options.also);
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
