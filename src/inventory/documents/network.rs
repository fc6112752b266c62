//! What `aws ec2 describe-vpcs`, `-subnets`, `-security-groups` and `-route-tables` print, as parts of the inventory.

use ipnet::Ipv4Net;
use serde::Deserialize;

use super::aws::{TagList, Whole};
use crate::inventory::{CidrBlockAssociation, Route, RouteTable, SecurityGroup, SecurityGroupRule, Subnet, Vpc};
use crate::net::{deserialize_ipv4_cidr, parse_ipv4_cidr};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DescribeVpcs {
    pub(super) vpcs: Vec<VpcAnswer>,
    #[serde(default, rename = "NextToken")]
    _whole: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DescribeSubnets {
    pub(super) subnets: Vec<SubnetAnswer>,
    #[serde(default, rename = "NextToken")]
    _whole: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DescribeSecurityGroups {
    pub(super) security_groups: Vec<SecurityGroupAnswer>,
    #[serde(default, rename = "NextToken")]
    _whole: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DescribeRouteTables {
    pub(super) route_tables: Vec<RouteTableAnswer>,
    #[serde(default, rename = "NextToken")]
    _whole: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct VpcAnswer {
    vpc_id: String,
    cidr_block_association_set: Option<Vec<CidrBlockAssociationAnswer>>,
    owner_id: Option<String>,
    #[serde(default)]
    tags: TagList,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CidrBlockAssociationAnswer {
    #[serde(deserialize_with = "deserialize_ipv4_cidr")]
    cidr_block: Ipv4Net,
    cidr_block_state: CidrBlockState,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CidrBlockState {
    state: String,
}

impl From<VpcAnswer> for Vpc {
    fn from(answer: VpcAnswer) -> Self {
        let association = |association: CidrBlockAssociationAnswer| CidrBlockAssociation {
            cidr_block: association.cidr_block,
            state: association.cidr_block_state.state,
        };
        let associations = answer.cidr_block_association_set.unwrap_or_default();
        Self {
            vpc_id: answer.vpc_id,
            cidr_block_associations: associations.into_iter().map(association).collect(),
            owner_id: answer.owner_id,
            tags: answer.tags.into_map(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct SubnetAnswer {
    subnet_id: String,
    vpc_id: Option<String>,
    #[serde(default, deserialize_with = "cidr_block_or_none")]
    cidr_block: Option<Ipv4Net>,
    availability_zone: String,
    availability_zone_id: String,
    available_ip_address_count: Option<u64>,
    map_public_ip_on_launch: Option<bool>,
    state: Option<String>,
    owner_id: Option<String>,
    outpost_arn: Option<String>,
    #[serde(default)]
    tags: TagList,
}

/// A block; EC2 gives an empty text for subnets of IPv6 only.
fn cidr_block_or_none<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Ipv4Net>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty());
    text.map(|text| parse_ipv4_cidr(&text)).transpose().map_err(serde::de::Error::custom)
}

impl SubnetAnswer {
    /// The subnet; `None` for one that has IPv6 addresses only, which neither nodes nor pods of custom networking use.
    pub(super) fn into_subnet(self) -> Option<Subnet> {
        Some(Subnet {
            cidr_block: self.cidr_block?,
            subnet_id: self.subnet_id,
            vpc_id: self.vpc_id,
            availability_zone: self.availability_zone,
            availability_zone_id: self.availability_zone_id,
            available_ip_address_count: self.available_ip_address_count,
            map_public_ip_on_launch: self.map_public_ip_on_launch.unwrap_or(false),
            state: self.state,
            owner_id: self.owner_id,
            outpost_arn: self.outpost_arn,
            tags: self.tags.into_map(),
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct SecurityGroupAnswer {
    group_id: String,
    group_name: Option<String>,
    vpc_id: Option<String>,
    ip_permissions: Option<Vec<IpPermission>>,
    ip_permissions_egress: Option<Vec<IpPermission>>,
    #[serde(default)]
    tags: TagList,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct IpPermission {
    ip_protocol: String,
    from_port: Option<i64>,
    to_port: Option<i64>,
    ip_ranges: Option<Vec<IpRange>>,
    user_id_group_pairs: Option<Vec<UserIdGroupPair>>,
    prefix_list_ids: Option<Vec<PrefixListId>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct IpRange {
    cidr_ip: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct UserIdGroupPair {
    group_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PrefixListId {
    prefix_list_id: Option<String>,
}

impl From<IpPermission> for SecurityGroupRule {
    fn from(answer: IpPermission) -> Self {
        let prefix_lists = answer.prefix_list_ids.unwrap_or_default();
        Self {
            ip_protocol: answer.ip_protocol,
            from_port: answer.from_port,
            to_port: answer.to_port,
            ip_ranges: answer.ip_ranges.unwrap_or_default().into_iter().filter_map(|range| range.cidr_ip).collect(),
            user_id_group_pairs: answer
                .user_id_group_pairs
                .unwrap_or_default()
                .into_iter()
                .filter_map(|pair| pair.group_id)
                .collect(),
            prefix_list_ids: prefix_lists.into_iter().filter_map(|list| list.prefix_list_id).collect(),
        }
    }
}

impl From<SecurityGroupAnswer> for SecurityGroup {
    fn from(answer: SecurityGroupAnswer) -> Self {
        let rules = |rules: Option<Vec<IpPermission>>| {
            rules.unwrap_or_default().into_iter().map(SecurityGroupRule::from).collect()
        };
        Self {
            group_id: answer.group_id,
            group_name: answer.group_name,
            vpc_id: answer.vpc_id,
            ip_permissions: rules(answer.ip_permissions),
            ip_permissions_egress: rules(answer.ip_permissions_egress),
            tags: answer.tags.into_map(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct RouteTableAnswer {
    route_table_id: String,
    pub(super) vpc_id: Option<String>,
    associations: Option<Vec<Association>>,
    routes: Option<Vec<RouteAnswer>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Association {
    main: Option<bool>,
    subnet_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RouteAnswer {
    destination_cidr_block: Option<String>,
    destination_prefix_list_id: Option<String>,
    gateway_id: Option<String>,
    nat_gateway_id: Option<String>,
    transit_gateway_id: Option<String>,
    vpc_peering_connection_id: Option<String>,
    network_interface_id: Option<String>,
    instance_id: Option<String>,
    local_gateway_id: Option<String>,
    carrier_gateway_id: Option<String>,
    egress_only_internet_gateway_id: Option<String>,
    core_network_arn: Option<String>,
    odb_network_arn: Option<String>,
    state: Option<String>,
}

impl RouteAnswer {
    /// The route; `None` for one to an IPv6 destination. EC2 fills exactly one of the targets.
    fn into_route(self) -> Option<Route> {
        Some(Route {
            destination: self.destination_cidr_block.or(self.destination_prefix_list_id)?,
            target: self
                .gateway_id
                .or(self.nat_gateway_id)
                .or(self.transit_gateway_id)
                .or(self.vpc_peering_connection_id)
                .or(self.network_interface_id)
                .or(self.instance_id)
                .or(self.local_gateway_id)
                .or(self.carrier_gateway_id)
                .or(self.egress_only_internet_gateway_id)
                .or(self.core_network_arn)
                .or(self.odb_network_arn)
                .unwrap_or_default(),
            state: self.state,
        })
    }
}

impl From<RouteTableAnswer> for RouteTable {
    fn from(answer: RouteTableAnswer) -> Self {
        let associations = answer.associations.unwrap_or_default();
        Self {
            route_table_id: answer.route_table_id,
            main: associations.iter().any(|association| association.main == Some(true)),
            subnet_ids: associations.into_iter().filter_map(|association| association.subnet_id).collect(),
            routes: answer.routes.unwrap_or_default().into_iter().filter_map(RouteAnswer::into_route).collect(),
        }
    }
}
