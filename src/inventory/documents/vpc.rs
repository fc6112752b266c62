//! The cluster's VPC with what is in it.

use std::collections::{BTreeMap, BTreeSet};

use super::folder::Folder;
use super::interfaces::DescribeNetworkInterfaces;
use super::names::{self, Known};
use super::network::{DescribeRouteTables, DescribeSecurityGroups, DescribeSubnets, DescribeVpcs, SubnetAnswer};
use crate::error::Error;
use crate::inventory::named::Named;
use crate::inventory::{Cluster, NetworkInterface, Node, RouteTable, SecurityGroup, Subnet, Vpc};

/// What EC2 says about a VPC.
#[derive(Default)]
pub(super) struct Network {
    pub(super) vpc: Option<Vpc>,
    pub(super) subnets: Vec<Subnet>,
    pub(super) security_groups: Vec<SecurityGroup>,
    pub(super) route_tables: Vec<RouteTable>,
}

/// The VPC with its subnets and route tables, and, of other subnets and of security groups, those that are named.
pub(super) fn network(folder: &mut Folder<'_>, cluster: &Cluster, named: &Named) -> Result<Network, Error> {
    let mut network = Network { security_groups: security_groups(folder, named)?, ..Network::default() };
    let Some(vpc_id) = cluster.vpc_id.as_deref() else {
        for known in [names::VPCS, names::SUBNETS, names::ROUTE_TABLES] {
            let known = Known { action: names::CLUSTER.action, ..known };
            folder.gap_saying(known, None, "the cluster names no VPC".into());
        }
        return Ok(network);
    };
    match folder.one(names::VPCS) {
        Some(document) => {
            let vpcs = document.answer::<DescribeVpcs>()?.vpcs.into_iter().map(Vpc::from);
            network.vpc = vpcs.into_iter().find(|vpc| vpc.vpc_id == vpc_id);
            if network.vpc.is_none() {
                let reason = format!("describe-vpcs.json does not have {vpc_id}, the cluster's VPC");
                folder.gap_because(names::VPCS, reason);
            }
        }
        None => folder.gap(names::VPCS),
    }
    match folder.one(names::SUBNETS) {
        Some(document) => {
            let answers = document.answer::<DescribeSubnets>()?.subnets;
            let all: Vec<Subnet> = answers.into_iter().filter_map(SubnetAnswer::into_subnet).collect();
            let (of_vpc, elsewhere): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|subnet| subnet.vpc_id.as_deref() == Some(vpc_id));
            let outside = named.subnets_outside(&of_vpc);
            network.subnets = of_vpc;
            network.subnets.extend(elsewhere.into_iter().filter(|subnet| outside.contains(&subnet.subnet_id)));
        }
        None => folder.gap(names::SUBNETS),
    }
    match folder.one(names::ROUTE_TABLES) {
        Some(document) => {
            let tables = document.answer::<DescribeRouteTables>()?.route_tables.into_iter();
            let of_vpc = tables.filter(|table| table.vpc_id.as_deref() == Some(vpc_id));
            network.route_tables = of_vpc.map(RouteTable::from).collect();
        }
        None => folder.gap(names::ROUTE_TABLES),
    }
    Ok(network)
}

fn security_groups(folder: &mut Folder<'_>, named: &Named) -> Result<Vec<SecurityGroup>, Error> {
    if named.security_groups.is_empty() {
        return Ok(Vec::new());
    }
    let Some(document) = folder.one(names::SECURITY_GROUPS) else {
        folder.gap(names::SECURITY_GROUPS);
        return Ok(Vec::new());
    };
    let groups = document.answer::<DescribeSecurityGroups>()?.security_groups.into_iter().map(SecurityGroup::from);
    Ok(groups.filter(|group| named.security_groups.contains(&group.group_id)).collect())
}

/// What the CNI writes into the description of each interface that it makes.
/// Source: amazon-vpc-cni-k8s `pkg/awsutils/awsutils.go`, `eniDescriptionPrefix`.
const MADE_BY_THE_CNI: &str = "aws-K8S-";

/// The interfaces that are attached to the nodes, and those of the VPC that the CNI has made and that are attached to
/// nothing any more.
pub(super) fn interfaces(
    folder: &mut Folder<'_>,
    cluster: &Cluster,
    nodes: &[Node],
) -> Result<Vec<NetworkInterface>, Error> {
    if folder.one(names::NETWORK_INTERFACES).is_none() {
        folder.gap(names::NETWORK_INTERFACES);
        return Ok(Vec::new());
    }
    let instances: BTreeSet<&str> = nodes.iter().filter_map(|node| node.instance_id.as_deref()).collect();
    let is_ours = |interface: &NetworkInterface, vpc_id: Option<&str>| match &interface.attachment {
        Some(attachment) => attachment.instance_id.as_deref().is_some_and(|id| instances.contains(id)),
        None => {
            vpc_id == cluster.vpc_id.as_deref()
                && interface.status.as_deref() == Some("available")
                && interface.description.as_deref().is_some_and(|text| text.starts_with(MADE_BY_THE_CNI))
        }
    };
    // The same interface may answer two questions.
    let mut found = BTreeMap::new();
    for document in folder.all(names::NETWORK_INTERFACES) {
        for answer in document.answer::<DescribeNetworkInterfaces>()?.network_interfaces {
            let vpc_id = answer.vpc_id.clone();
            let interface = NetworkInterface::from(answer);
            if is_ours(&interface, vpc_id.as_deref()) {
                found.insert(interface.network_interface_id.clone(), interface);
            }
        }
    }
    Ok(found.into_values().collect())
}
