//! VPC, subnets, route tables and security groups.

use std::collections::BTreeSet;

use aws_sdk_ec2::types::Filter;

use super::map_network;
use super::reading::{Reading, VALUES_PER_FILTER, filter, in_chunks, mapped};
use crate::inventory::{GapSource, RouteTable, SecurityGroup, Subnet, Vpc};
use crate::live::failure::Failure;

/// What EC2 says about a VPC.
#[derive(Default)]
pub(in crate::live) struct Network {
    pub(in crate::live) vpc: Option<Vpc>,
    pub(in crate::live) subnets: Vec<Subnet>,
    pub(in crate::live) route_tables: Vec<RouteTable>,
}

/// Reads the cluster's VPC with all its subnets and route tables.
pub(in crate::live) async fn read_network(reading: &Reading, vpc_id: Option<&str>) -> Network {
    let Some(vpc_id) = vpc_id else {
        let nothing = || Failure::unreadable("eks:DescribeCluster", None, "the cluster names no VPC".into());
        for source in [GapSource::Vpc, GapSource::Subnets, GapSource::RouteTables] {
            reading.settle(source, 0, vec![nothing()]);
        }
        return Network::default();
    };
    let (vpc, subnets, route_tables) = tokio::join!(
        async { reading.settle_object(GapSource::Vpc, describe_vpc(reading, vpc_id).await) },
        async {
            let subnets = describe_subnets(reading, Some(vpc_id), filter("vpc-id", [vpc_id.to_owned()])).await;
            reading.settle_list(GapSource::Subnets, subnets)
        },
        async { reading.settle_list(GapSource::RouteTables, describe_route_tables(reading, vpc_id).await) },
    );
    Network { vpc, subnets, route_tables }
}

/// Reads subnets that something names although they are not in the cluster's VPC, so that a wrong id can be told from
/// one that does not exist.
pub(in crate::live) async fn read_outside_subnets(reading: &Reading, ids: &BTreeSet<String>) -> Vec<Subnet> {
    let (found, failures) =
        in_chunks(ids, VALUES_PER_FILTER, async |ids| describe_subnets(reading, None, filter("subnet-id", ids)).await)
            .await;
    if !ids.is_empty() {
        reading.settle(GapSource::Subnets, found.len(), failures);
    }
    found
}

/// Reads the security groups that are named anywhere. A filter, unlike ids, does not fail for one that is gone.
pub(in crate::live) async fn read_security_groups(reading: &Reading, ids: &BTreeSet<String>) -> Vec<SecurityGroup> {
    let (found, failures) =
        in_chunks(ids, VALUES_PER_FILTER, async |ids| describe_security_groups(reading, filter("group-id", ids)).await)
            .await;
    reading.settle(GapSource::SecurityGroups, found.len(), failures);
    found
}

async fn describe_vpc(reading: &Reading, vpc_id: &str) -> Result<Option<Vpc>, Failure> {
    const ACTION: &str = "ec2:DescribeVpcs";
    let clients = &reading.clients;
    let pages = clients.ec2.describe_vpcs().vpc_ids(vpc_id).into_paginator().items().send();
    let raw = match clients.ask(ACTION, Some(vpc_id), pages.collect::<Result<Vec<_>, _>>()).await {
        Err(failure) if failure.code.as_deref() == Some("InvalidVpcID.NotFound") => return Ok(None),
        raw => raw?,
    };
    Ok(mapped(ACTION, Some(vpc_id), raw, map_network::vpc)?.into_iter().next())
}

async fn describe_subnets(reading: &Reading, vpc_id: Option<&str>, filter: Filter) -> Result<Vec<Subnet>, Failure> {
    const ACTION: &str = "ec2:DescribeSubnets";
    let clients = &reading.clients;
    let pages = clients.ec2.describe_subnets().filters(filter).into_paginator().items().send();
    let raw = clients.ask(ACTION, vpc_id, pages.collect::<Result<Vec<_>, _>>()).await?;
    Ok(mapped(ACTION, vpc_id, raw, map_network::subnet)?.into_iter().flatten().collect())
}

async fn describe_route_tables(reading: &Reading, vpc_id: &str) -> Result<Vec<RouteTable>, Failure> {
    const ACTION: &str = "ec2:DescribeRouteTables";
    let clients = &reading.clients;
    let filter = filter("vpc-id", [vpc_id.to_owned()]);
    let pages = clients.ec2.describe_route_tables().filters(filter).into_paginator().items().send();
    let raw = clients.ask(ACTION, Some(vpc_id), pages.collect::<Result<Vec<_>, _>>()).await?;
    mapped(ACTION, Some(vpc_id), raw, map_network::route_table)
}

async fn describe_security_groups(reading: &Reading, filter: Filter) -> Result<Vec<SecurityGroup>, Failure> {
    const ACTION: &str = "ec2:DescribeSecurityGroups";
    let clients = &reading.clients;
    let resource = filter.values().join(", ");
    let pages = clients.ec2.describe_security_groups().filters(filter).into_paginator().items().send();
    let raw = clients.ask(ACTION, Some(&resource), pages.collect::<Result<Vec<_>, _>>()).await?;
    mapped(ACTION, Some(&resource), raw, map_network::security_group)
}
