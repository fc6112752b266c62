//! Subnets that nobody seems to use, as candidates for pods: which are meant for them, which may be, which are not.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use ipnet::Ipv4Net;

use crate::inventory::{Inventory, RouteTable, Subnet};
use crate::net::overlap;

/// Shared address space, which EKS recommends for pods. Source: EKS user guide, "Deploy Pods in alternate subnets with
/// custom networking"; RFC 6598.
pub(super) const SHARED_ADDRESS_SPACE: Ipv4Net = Ipv4Net::new_assert(Ipv4Addr::new(100, 64, 0, 0), 10);

/// Subnets without nodes, by how likely they are meant for pods; each list by CIDR.
#[derive(Debug, Default)]
pub(super) struct Unused<'a> {
    /// In a CIDR block of the VPC that holds no node subnet.
    pub(super) apart: Vec<&'a Subnet>,
    /// In a CIDR block that nodes share.
    pub(super) beside_nodes: Vec<&'a Subnet>,
}

/// Sorts the subnets of the VPC.
pub(super) fn unused(inventory: &Inventory) -> Unused<'_> {
    let nodes = node_subnets(inventory);
    let mut unused = Unused::default();
    for subnet in &inventory.subnets {
        if nodes.contains(subnet.subnet_id.as_str()) || has_another_purpose(inventory, subnet) {
            continue;
        }
        if is_apart(inventory, &nodes, subnet) {
            unused.apart.push(subnet);
        } else {
            unused.beside_nodes.push(subnet);
        }
    }
    unused.apart.sort_by_key(|subnet| subnet.cidr_block);
    unused.beside_nodes.sort_by_key(|subnet| subnet.cidr_block);
    unused
}

/// Ids of subnets with nodes or with interfaces of the control plane: those of node groups, those that EKS was given,
/// and those in which a node's address lies.
pub(super) fn node_subnets(inventory: &Inventory) -> BTreeSet<&str> {
    let of_groups = inventory.node_groups.iter().flat_map(|group| &group.subnets).map(String::as_str);
    let of_cluster = inventory.cluster.subnet_ids.iter().map(String::as_str);
    let of_nodes = inventory
        .nodes
        .iter()
        .filter_map(|node| subnet_of(inventory, node.internal_ip?))
        .map(|subnet| subnet.subnet_id.as_str());
    of_groups.chain(of_cluster).chain(of_nodes).collect()
}

/// The subnet in which an address lies.
pub(super) fn subnet_of(inventory: &Inventory, address: Ipv4Addr) -> Option<&Subnet> {
    inventory.subnets.iter().find(|subnet| subnet.cidr_block.contains(&address))
}

/// CIDR blocks of the VPC in which no node lives, in order; those that are being associated as well.
pub(super) fn blocks_without_nodes(inventory: &Inventory) -> Vec<Ipv4Net> {
    let nodes = node_subnets(inventory);
    let has_nodes = |block: Ipv4Net| {
        nodes.iter().filter_map(|id| inventory.subnet(id)).any(|subnet| overlap(block, subnet.cidr_block))
    };
    let associations = inventory.vpc.iter().flat_map(|vpc| &vpc.cidr_block_associations);
    associations
        .filter(|association| matches!(association.state.as_str(), "associated" | "associating"))
        .map(|association| association.cidr_block)
        .filter(|block| !has_nodes(*block))
        .collect()
}

fn is_apart(inventory: &Inventory, nodes: &BTreeSet<&str>, subnet: &Subnet) -> bool {
    if SHARED_ADDRESS_SPACE.contains(&subnet.cidr_block) {
        return true;
    }
    let associations = inventory.vpc.iter().flat_map(|vpc| &vpc.cidr_block_associations);
    let mut own =
        associations.map(|association| association.cidr_block).filter(|block| block.contains(&subnet.cidr_block));
    own.next().is_some_and(|block| {
        !nodes.iter().filter_map(|id| inventory.subnet(id)).any(|other| block.contains(&other.cidr_block))
    })
}

/// Public subnets, and subnets that other controllers choose, are not for pods.
fn has_another_purpose(inventory: &Inventory, subnet: &Subnet) -> bool {
    const TAGS: [&str; 3] = ["kubernetes.io/role/elb", "kubernetes.io/role/internal-elb", "karpenter.sh/discovery"];
    subnet.map_public_ip_on_launch
        || TAGS.iter().any(|tag| subnet.tags.contains_key(*tag))
        || routes_to_internet_gateway(&inventory.route_tables, &subnet.subnet_id)
}

/// Only a table that the subnet names counts: in a default VPC the main table leads to the internet for every new subnet.
fn routes_to_internet_gateway(tables: &[RouteTable], subnet_id: &str) -> bool {
    let own = tables.iter().find(|table| table.subnet_ids.iter().any(|id| id == subnet_id));
    own.is_some_and(|table| table.routes.iter().any(|route| route.target.starts_with("igw-")))
}
