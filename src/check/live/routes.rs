//! The way out that pods take through the node when the CNI translates their addresses.

use std::collections::BTreeSet;

use super::LiveFacts;
use crate::finding::{Evidence, Problem, Subject};
use crate::inventory::{GapSource, RouteTable};

/// With AWS_VPC_K8S_CNI_EXTERNALSNAT off, traffic out of the VPC leaves by the node's primary interface and routes.
/// Source: amazon-vpc-cni-k8s README, `AWS_VPC_K8S_CNI_EXTERNALSNAT`.
pub(super) fn node_subnet_without_route(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let inventory = live.facts.inventory;
    let were_read = inventory.gaps_in(GapSource::RouteTables).next().is_none() && !inventory.route_tables.is_empty();
    let external = live.settings().flag("AWS_VPC_K8S_CNI_EXTERNALSNAT");
    if external || !were_read {
        return;
    }
    let used: BTreeSet<&str> =
        live.nodes.iter().filter_map(|node| node.node_subnet).map(|subnet| subnet.subnet_id.as_str()).collect();
    for subnet in used {
        let table = table_of(&inventory.route_tables, subnet);
        let leads_out = |table: &RouteTable| {
            table.routes.iter().any(|route| {
                route.destination == "0.0.0.0/0" && route.state.as_deref().is_none_or(|state| state == "active")
            })
        };
        if table.is_some_and(leads_out) {
            continue;
        }
        let id = table.map_or("none", |table| table.route_table_id.as_str());
        problems.push(
            Problem::new(
                "node-subnet-without-route",
                Subject::Subnet(subnet.to_owned()),
                "pods leave the VPC with the node's address and routes, and this node subnet has no default route that works",
                "give its route table a default route to a NAT or transit gateway, unless nothing is to leave the VPC",
            )
            .shown_by([Evidence::new(Subject::Subnet(subnet.to_owned()), "route table", id)]),
        );
    }
}

/// The table that a subnet names, else the main one.
fn table_of<'a>(tables: &'a [RouteTable], subnet: &str) -> Option<&'a RouteTable> {
    let named = tables.iter().find(|table| table.subnet_ids.iter().any(|id| id == subnet));
    named.or_else(|| tables.iter().find(|table| table.main))
}
