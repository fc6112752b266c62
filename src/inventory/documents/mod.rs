//! An inventory from a folder of what `aws … --output json` and `kubectl get … -o json` have printed, for people who
//! cannot give credentials. A file says the same as the API call behind it; one that is missing is a gap.

mod aws;
mod cluster;
mod document;
mod eks;
mod folder;
mod instances;
mod interfaces;
mod kubernetes;
mod names;
mod network;
mod templates;
mod text;
mod time;
mod vpc;

use std::collections::BTreeMap;

use self::eks::{ClusterAnswer, DescribeCluster};
use self::folder::Folder;
use super::named::{AlsoRead, Named};
use super::{Cluster, Inventory, SCHEMA_VERSION};
use crate::error::Error;

/// Whether a file of that name is looked at.
pub fn is_document(name: &str) -> bool {
    names::meaning(name) != names::Meaning::Foreign
}

/// Reads the files of a folder, by name. `path` is used in errors only; `written` is when the newest of them was, in
/// seconds since the beginning of 1970.
///
/// # Errors
/// [`Error::Folder`] when the files as a whole are not those of one cluster, [`Error::Document`] when one of them is not
/// what its name says.
pub fn from_documents(
    files: &BTreeMap<String, Vec<u8>>,
    path: &str,
    written: u64,
    also: &AlsoRead,
) -> Result<Inventory, Error> {
    let mut folder = Folder::new(path, files)?;
    let answer = cluster_answer(&folder)?;
    let Some((region, account)) = answer.region_and_account() else {
        let document = folder.one(names::CLUSTER).ok_or_else(|| folder.lacks(names::CLUSTER))?;
        return Err(document.wrong("\"arn\"", "its `arn` is not that of a cluster, and names no Region".into()));
    };
    let cluster = Cluster::from(answer);
    folder.fill_in("CLUSTER", &cluster.name);
    if let Some(vpc_id) = &cluster.vpc_id {
        folder.fill_in("VPC", vpc_id);
    }

    let add_on = cluster::add_on(&mut folder, &cluster)?;
    let kubernetes = kubernetes::objects(&mut folder, &cluster, also.verification)?;
    let node_groups = cluster::node_groups(&mut folder, &cluster, &kubernetes.nodes)?;
    let launch_templates =
        cluster::launch_templates(&mut folder, &cluster.name, &node_groups, &kubernetes.nodes, also)?;
    let named = Named::by(&cluster, &node_groups, &launch_templates, &kubernetes.eni_configs, &kubernetes.nodes, also);
    let network = vpc::network(&mut folder, &cluster, &named)?;
    let images = cluster::images(&mut folder, &named, &node_groups, &launch_templates, also)?;
    let instance_types = cluster::instance_types(&mut folder, &named)?;
    let mut observed = kubernetes.observed;
    if let Some(observed) = &mut observed {
        observed.network_interfaces = vpc::interfaces(&mut folder, &cluster, &kubernetes.nodes)?;
    }
    let mut inventory = Inventory {
        schema_version: SCHEMA_VERSION,
        collected_at: time::rfc3339(written),
        region,
        account_id: Some(account),
        redacted: false,
        cluster,
        vpc: network.vpc,
        subnets: network.subnets,
        security_groups: network.security_groups,
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
        gaps: folder.into_gaps(),
    };
    inventory.sort();
    Ok(inventory)
}

fn cluster_answer(folder: &Folder<'_>) -> Result<ClusterAnswer, Error> {
    let document = folder.one(names::CLUSTER).ok_or_else(|| folder.lacks(names::CLUSTER))?;
    Ok(document.answer::<DescribeCluster>()?.cluster)
}
