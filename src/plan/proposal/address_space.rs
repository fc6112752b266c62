//! Pod subnets that are missing: where they fit, and what has to be associated with the VPC first.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde::Serialize;

use super::pools::place;
use super::unused::{SHARED_ADDRESS_SPACE, blocks_without_nodes};
use crate::inventory::{Inventory, Subnet};
use crate::net::{carve, overlap, parse_ipv4_cidr};

/// CIDR blocks that a VPC may have by default, and at most. Source: VPC user guide, "Amazon VPC quotas", IPv4 CIDR
/// blocks per VPC, L-83CA0A9D.
const BLOCKS_BY_DEFAULT: usize = 5;
const BLOCKS_AT_MOST: usize = 50;

/// Largest and smallest block of a VPC and of a subnet. Source: VPC user guide, "VPC CIDR blocks", "Subnet CIDR blocks".
const LARGEST_BLOCK: u8 = 16;

/// Sizes of a pod subnet that are tried in a block that is there, the largest first: a /18 holds 800 full nodes of a
/// common type, a /24 twelve.
const SIZES: std::ops::RangeInclusive<u8> = 18..=24;

/// Pod subnets to be made, in the order of the commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewSubnets {
    /// VPC that they are made in.
    pub vpc_id: String,
    /// Region of the VPC.
    pub region: String,
    /// CIDR block to be associated with the VPC first.
    pub associate: Option<Ipv4Net>,
    /// The subnets.
    pub subnets: Vec<NewSubnet>,
    /// What to know before running the commands, a line each.
    pub notes: Vec<String>,
}

/// One pod subnet to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewSubnet {
    /// Pool that it is for.
    pub pool: String,
    /// Value of its Name tag.
    pub name: String,
    /// CIDR block.
    pub cidr: Ipv4Net,
    /// Zone name.
    pub availability_zone: String,
    /// Zone id.
    pub availability_zone_id: String,
    /// Outpost that it must be on.
    pub outpost_arn: Option<String>,
}

/// A pool and a node subnet in whose zone it has no pod subnet.
#[derive(Debug, Clone)]
pub(super) struct Missing<'a> {
    pub(super) pool: String,
    pub(super) node_subnet: &'a Subnet,
}

impl Missing<'_> {
    /// What tells two missing pod subnets apart, by which they are sorted.
    pub(super) fn key(&self) -> impl Ord + '_ {
        (&self.pool, &self.node_subnet.availability_zone, place(self.node_subnet))
    }
}

/// Finds room for pod subnets. `None` where nothing is missing, or where the VPC is not known.
pub(super) fn new_subnets(inventory: &Inventory, missing: &[Missing<'_>]) -> Option<NewSubnets> {
    let vpc = inventory.vpc.as_ref().filter(|_| !missing.is_empty())?;
    let count = missing.len();
    let mut notes = Vec::new();
    let taken: Vec<Ipv4Net> = inventory.subnets.iter().map(|subnet| subnet.cidr_block).collect();
    let present = blocks_without_nodes(inventory);
    let in_present = SIZES.into_iter().find_map(|size| carve(&present, &taken, size, count));
    let (associate, cidrs) = match in_present {
        Some(cidrs) => (None, cidrs),
        None => {
            let block = new_block(inventory)?;
            let size = SIZES.into_iter().find(|size| 1usize << (size - LARGEST_BLOCK) >= count)?;
            (Some(block), carve(&[block], &[], size, count)?)
        }
    };
    match associate {
        Some(block) => notes.extend(notes_on_block(inventory, block)),
        None => notes.extend(notes_on_state(inventory, &cidrs)),
    }
    let owner =
        vpc.owner_id.as_ref().filter(|_| inventory.account_id.is_some() && vpc.owner_id != inventory.account_id);
    if let Some(owner) = owner {
        notes.push(format!("the VPC belongs to account {owner}, which alone can do this; it then shares the subnets with this account, without their tags"));
    }
    notes.push("new subnets use the main route table of the VPC until they are given another one".into());
    let subnets = missing.iter().zip(cidrs).map(|(missing, cidr)| new_subnet(missing, cidr)).collect();
    Some(NewSubnets { vpc_id: vpc.vpc_id.clone(), region: inventory.region.clone(), associate, subnets, notes })
}

fn new_subnet(missing: &Missing<'_>, cidr: Ipv4Net) -> NewSubnet {
    let place = missing.node_subnet;
    NewSubnet {
        pool: missing.pool.clone(),
        name: format!("pods-{}-{}", missing.pool, place.availability_zone),
        cidr,
        availability_zone: place.availability_zone.clone(),
        availability_zone_id: place.availability_zone_id.clone(),
        outpost_arn: place.outpost_arn.clone(),
    }
}

/// A free block of the shared address space, the one range that may join every VPC whatever blocks it has: those of
/// RFC 1918 exclude each other, and 198.19.0.0/16 excludes them all.
/// Source: VPC user guide, "VPC CIDR blocks", "IPv4 CIDR block association restrictions".
fn new_block(inventory: &Inventory) -> Option<Ipv4Net> {
    let associations = inventory.vpc.iter().flat_map(|vpc| &vpc.cidr_block_associations);
    let mut taken: Vec<Ipv4Net> = associations.map(|association| association.cidr_block).collect();
    taken.extend(inventory.cluster.service_ipv4_cidr.as_deref().and_then(|cidr| parse_ipv4_cidr(cidr).ok()));
    // A block must not be as large as, or larger than, the destination of a route (same page).
    taken.extend(routes(inventory).filter(|destination| destination.prefix_len() >= LARGEST_BLOCK));
    carve(&[SHARED_ADDRESS_SPACE], &taken, LARGEST_BLOCK, 1)?.first().copied()
}

fn routes(inventory: &Inventory) -> impl Iterator<Item = Ipv4Net> {
    let routes = inventory.route_tables.iter().flat_map(|table| &table.routes).filter(|route| route.target != "local");
    routes.filter_map(|route| parse_ipv4_cidr(&route.destination).ok())
}

fn notes_on_block(inventory: &Inventory, block: Ipv4Net) -> Vec<String> {
    let mut notes = vec![format!(
        "make sure that no network which the pods talk to has addresses of {block}: peered VPCs, transit gateways, sites"
    )];
    if let Some(wider) = routes(inventory).find(|route| *route != default_route() && overlap(*route, block)) {
        notes.push(format!("a route table sends {wider} elsewhere; {block} is a part of it and would become local"));
    }
    let associations = inventory.vpc.iter().flat_map(|vpc| &vpc.cidr_block_associations);
    let in_use =
        associations.filter(|association| !matches!(association.state.as_str(), "disassociated" | "failed")).count();
    if in_use >= BLOCKS_BY_DEFAULT {
        notes.push(format!(
            "the VPC has {in_use} CIDR blocks; the quota L-83CA0A9D allows {BLOCKS_BY_DEFAULT} unless it was raised ({BLOCKS_AT_MOST} at most)"
        ));
    }
    notes
}

fn notes_on_state(inventory: &Inventory, cidrs: &[Ipv4Net]) -> Vec<String> {
    let associations = inventory.vpc.iter().flat_map(|vpc| &vpc.cidr_block_associations);
    let changing = associations.filter(|association| association.state != "associated");
    changing
        .filter(|association| cidrs.iter().any(|cidr| association.cidr_block.contains(cidr)))
        .map(|association| format!("wait until {} is associated; it is {}", association.cidr_block, association.state))
        .collect()
}

const fn default_route() -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::UNSPECIFIED, 0)
}
