//! EC2's answers about the network as parts of the inventory.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use aws_sdk_ec2::types as ec2;
use ipnet::Ipv4Net;

use crate::inventory::{
    Attachment, CidrBlockAssociation, NetworkInterface, Route, RouteTable, SecurityGroup, SecurityGroupRule, Subnet,
    Vpc,
};

pub(super) fn vpc(raw: ec2::Vpc) -> Result<Vpc, String> {
    let cidr_block_associations = raw
        .cidr_block_association_set
        .unwrap_or_default()
        .into_iter()
        .map(cidr_block_association)
        .collect::<Result<_, _>>()?;
    Ok(Vpc {
        vpc_id: raw.vpc_id.ok_or("a VPC without `vpcId`")?,
        cidr_block_associations,
        owner_id: raw.owner_id,
        tags: tags(raw.tags),
    })
}

fn cidr_block_association(raw: ec2::VpcCidrBlockAssociation) -> Result<CidrBlockAssociation, String> {
    Ok(CidrBlockAssociation {
        cidr_block: cidr(raw.cidr_block.as_deref().ok_or("a CIDR association without `cidrBlock`")?)?,
        state: raw
            .cidr_block_state
            .and_then(|state| state.state)
            .ok_or("a CIDR association without a state")?
            .as_str()
            .to_owned(),
    })
}

/// A subnet; `None` for one that has IPv6 addresses only, which neither nodes nor pods of custom networking can use.
pub(super) fn subnet(raw: ec2::Subnet) -> Result<Option<Subnet>, String> {
    let Some(cidr_block) = raw.cidr_block.filter(|block| !block.is_empty()) else { return Ok(None) };
    Ok(Some(Subnet {
        subnet_id: raw.subnet_id.ok_or("a subnet without `subnetId`")?,
        vpc_id: raw.vpc_id,
        cidr_block: cidr(&cidr_block)?,
        availability_zone: raw.availability_zone.ok_or("a subnet without `availabilityZone`")?,
        availability_zone_id: raw.availability_zone_id.ok_or("a subnet without `availabilityZoneId`")?,
        available_ip_address_count: raw.available_ip_address_count.and_then(|count| u64::try_from(count).ok()),
        map_public_ip_on_launch: raw.map_public_ip_on_launch.unwrap_or(false),
        state: raw.state.map(|state| state.as_str().to_owned()),
        owner_id: raw.owner_id,
        outpost_arn: raw.outpost_arn,
        tags: tags(raw.tags),
    }))
}

pub(super) fn security_group(raw: ec2::SecurityGroup) -> Result<SecurityGroup, String> {
    Ok(SecurityGroup {
        group_id: raw.group_id.ok_or("a security group without `groupId`")?,
        group_name: raw.group_name,
        vpc_id: raw.vpc_id,
        ip_permissions: rules(raw.ip_permissions)?,
        ip_permissions_egress: rules(raw.ip_permissions_egress)?,
        tags: tags(raw.tags),
    })
}

fn rules(raw: Option<Vec<ec2::IpPermission>>) -> Result<Vec<SecurityGroupRule>, String> {
    raw.unwrap_or_default().into_iter().map(rule).collect()
}

fn rule(raw: ec2::IpPermission) -> Result<SecurityGroupRule, String> {
    Ok(SecurityGroupRule {
        ip_protocol: raw.ip_protocol.ok_or("a security group rule without `ipProtocol`")?,
        from_port: raw.from_port.map(i64::from),
        to_port: raw.to_port.map(i64::from),
        ip_ranges: raw.ip_ranges.unwrap_or_default().into_iter().filter_map(|range| range.cidr_ip).collect(),
        user_id_group_pairs: raw
            .user_id_group_pairs
            .unwrap_or_default()
            .into_iter()
            .filter_map(|pair| pair.group_id)
            .collect(),
        prefix_list_ids: raw
            .prefix_list_ids
            .unwrap_or_default()
            .into_iter()
            .filter_map(|list| list.prefix_list_id)
            .collect(),
    })
}

pub(super) fn route_table(raw: ec2::RouteTable) -> Result<RouteTable, String> {
    let associations = raw.associations.unwrap_or_default();
    Ok(RouteTable {
        route_table_id: raw.route_table_id.ok_or("a route table without `routeTableId`")?,
        main: associations.iter().any(|association| association.main == Some(true)),
        subnet_ids: associations.into_iter().filter_map(|association| association.subnet_id).collect(),
        routes: raw.routes.unwrap_or_default().into_iter().filter_map(route).collect(),
    })
}

/// A route; `None` for one to an IPv6 destination. EC2 fills exactly one of the targets.
fn route(raw: ec2::Route) -> Option<Route> {
    let destination = raw.destination_cidr_block.or(raw.destination_prefix_list_id)?;
    let target = raw
        .gateway_id
        .or(raw.nat_gateway_id)
        .or(raw.transit_gateway_id)
        .or(raw.vpc_peering_connection_id)
        .or(raw.network_interface_id)
        .or(raw.instance_id)
        .or(raw.local_gateway_id)
        .or(raw.carrier_gateway_id)
        .or(raw.egress_only_internet_gateway_id)
        .or(raw.core_network_arn)
        .or(raw.odb_network_arn)
        .unwrap_or_default();
    Some(Route { destination, target, state: raw.state.map(|state| state.as_str().to_owned()) })
}

pub(super) fn network_interface(raw: ec2::NetworkInterface) -> Result<NetworkInterface, String> {
    let addresses = raw.private_ip_addresses.unwrap_or_default();
    let secondary = addresses.iter().filter(|address| address.primary != Some(true)).count();
    let prefixes = raw.ipv4_prefixes.unwrap_or_default();
    Ok(NetworkInterface {
        network_interface_id: raw.network_interface_id.ok_or("a network interface without `networkInterfaceId`")?,
        interface_type: raw.interface_type.map(|kind| kind.as_str().to_owned()),
        status: raw.status.map(|status| status.as_str().to_owned()),
        description: raw.description.filter(|description| !description.is_empty()),
        subnet_id: raw.subnet_id.ok_or("a network interface without `subnetId`")?,
        groups: raw.groups.unwrap_or_default().into_iter().filter_map(|group| group.group_id).collect(),
        attachment: raw.attachment.map(attachment).transpose()?,
        private_ip_address: raw.private_ip_address.as_deref().map(address).transpose()?,
        secondary_private_ip_addresses: u32::try_from(secondary).unwrap_or(u32::MAX),
        ipv4_prefixes: prefixes
            .into_iter()
            .filter_map(|prefix| prefix.ipv4_prefix)
            .map(|prefix| cidr(&prefix))
            .collect::<Result<_, _>>()?,
        tags: tags(raw.tag_set),
    })
}

fn attachment(raw: ec2::NetworkInterfaceAttachment) -> Result<Attachment, String> {
    let index = |index: i32| u32::try_from(index).map_err(|_| format!("`{index}` where an index is expected"));
    Ok(Attachment {
        instance_id: raw.instance_id,
        device_index: index(raw.device_index.ok_or("an attachment without `deviceIndex`")?)?,
        network_card_index: index(raw.network_card_index.unwrap_or_default())?,
    })
}

fn address(text: &str) -> Result<Ipv4Addr, String> {
    text.parse().map_err(|_| format!("`{text}` where an IPv4 address is expected"))
}

pub(super) fn tags(raw: Option<Vec<ec2::Tag>>) -> BTreeMap<String, String> {
    raw.unwrap_or_default().into_iter().filter_map(|tag| Some((tag.key?, tag.value.unwrap_or_default()))).collect()
}

fn cidr(text: &str) -> Result<Ipv4Net, String> {
    text.parse().map_err(|_| format!("`{text}` where an IPv4 CIDR is expected"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_dual_stack_subnet_is_read_by_its_ipv4_block_and_an_ipv6_one_is_left_out() {
        let raw = ec2::Subnet::builder()
            .subnet_id("subnet-1")
            .availability_zone("us-west-2-lax-1a")
            .availability_zone_id("usw2-lax1-az1")
            .ipv6_cidr_block_association_set(
                ec2::SubnetIpv6CidrBlockAssociation::builder().ipv6_cidr_block("2600:1f14::/64").build(),
            );
        let dual = subnet(raw.clone().cidr_block("10.0.0.0/24").build()).unwrap().unwrap();
        assert_eq!(dual.cidr_block.to_string(), "10.0.0.0/24");
        assert_eq!(dual.availability_zone, "us-west-2-lax-1a");
        assert_eq!(subnet(raw.build()).unwrap(), None);
    }

    #[test]
    fn a_route_keeps_the_id_of_what_it_leads_to() {
        let table = route_table(
            ec2::RouteTable::builder()
                .route_table_id("rtb-1")
                .associations(ec2::RouteTableAssociation::builder().main(true).build())
                .routes(ec2::Route::builder().destination_cidr_block("0.0.0.0/0").nat_gateway_id("nat-1").build())
                .routes(ec2::Route::builder().destination_prefix_list_id("pl-1").gateway_id("vpce-1").build())
                .routes(ec2::Route::builder().destination_ipv6_cidr_block("::/0").gateway_id("igw-1").build())
                .build(),
        )
        .unwrap();
        let routes: Vec<_> = table.routes.iter().map(|route| (&*route.destination, &*route.target)).collect();
        assert_eq!(routes, [("0.0.0.0/0", "nat-1"), ("pl-1", "vpce-1")]);
        assert!(table.main);
    }

    #[test]
    fn an_answer_that_lacks_an_id_is_said_to_be_so() {
        assert_eq!(
            security_group(ec2::SecurityGroup::builder().build()).unwrap_err(),
            "a security group without `groupId`"
        );
    }
}
