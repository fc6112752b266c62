//! The VPC, its subnets, security groups and routes.

use std::collections::BTreeMap;

use ipnet::Ipv4Net;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::net::{deserialize_ipv4_cidr, usable_addresses};

/// `ec2:DescribeVpcs`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Vpc {
    /// Id.
    pub vpc_id: String,
    /// IPv4 CIDR blocks, primary and secondary.
    #[serde(default)]
    pub cidr_block_associations: Vec<CidrBlockAssociation>,
    /// Account that owns the VPC; another one than ours in a shared VPC.
    #[serde(default)]
    pub owner_id: Option<String>,
    /// Tags.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
}

/// One IPv4 CIDR block of a VPC.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct CidrBlockAssociation {
    /// The block.
    #[schemars(with = "String")]
    #[serde(deserialize_with = "deserialize_ipv4_cidr")]
    pub cidr_block: Ipv4Net,
    /// `associated`, `associating`, `disassociating`, `failed` …
    pub state: String,
}

/// `ec2:DescribeSubnets`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subnet {
    /// Id.
    pub subnet_id: String,
    /// VPC.
    #[serde(default)]
    pub vpc_id: Option<String>,
    /// IPv4 CIDR block.
    #[schemars(with = "String")]
    #[serde(deserialize_with = "deserialize_ipv4_cidr")]
    pub cidr_block: Ipv4Net,
    /// Zone name as this account sees it. Names differ between accounts.
    pub availability_zone: String,
    /// Zone id, the same for every account; what subnets are joined on.
    pub availability_zone_id: String,
    /// Free addresses at the time of reading.
    #[serde(default)]
    pub available_ip_address_count: Option<u64>,
    /// Whether instances get a public address.
    #[serde(default)]
    pub map_public_ip_on_launch: bool,
    /// `available` or `pending`.
    #[serde(default)]
    pub state: Option<String>,
    /// Account that owns the subnet; another one than ours in a shared VPC, whose tags we then cannot see.
    #[serde(default)]
    pub owner_id: Option<String>,
    /// Outpost that the subnet is on.
    #[serde(default)]
    pub outpost_arn: Option<String>,
    /// Tags.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
}

impl Subnet {
    /// The `Name` tag, where it is set and not blank.
    pub fn name(&self) -> Option<&str> {
        self.tags.get("Name").map(|name| name.trim()).filter(|name| !name.is_empty())
    }

    /// Addresses that interfaces can have in an empty subnet of this size.
    pub fn usable_addresses(&self) -> u64 {
        usable_addresses(self.cidr_block)
    }
}

impl SecurityGroup {
    /// Sorts rules and what they name; EC2 promises no order.
    pub(super) fn sort(&mut self) {
        for rules in [&mut self.ip_permissions, &mut self.ip_permissions_egress] {
            for rule in rules.iter_mut() {
                rule.ip_ranges.sort();
                rule.user_id_group_pairs.sort();
                rule.prefix_list_ids.sort();
            }
            rules.sort();
        }
    }
}

/// `ec2:DescribeSecurityGroups`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecurityGroup {
    /// Id.
    pub group_id: String,
    /// Name.
    #[serde(default)]
    pub group_name: Option<String>,
    /// VPC.
    #[serde(default)]
    pub vpc_id: Option<String>,
    /// What may come in.
    #[serde(default)]
    pub ip_permissions: Vec<SecurityGroupRule>,
    /// What may go out.
    #[serde(default)]
    pub ip_permissions_egress: Vec<SecurityGroupRule>,
    /// Tags.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
}

/// `IpPermission` of a security group.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct SecurityGroupRule {
    /// `tcp`, `udp`, `icmp`, a number, or `-1` for all.
    pub ip_protocol: String,
    /// First port; absent means all.
    #[serde(default)]
    pub from_port: Option<i64>,
    /// Last port; absent means all.
    #[serde(default)]
    pub to_port: Option<i64>,
    /// IPv4 ranges.
    #[serde(default)]
    pub ip_ranges: Vec<String>,
    /// Other security groups.
    #[serde(default)]
    pub user_id_group_pairs: Vec<String>,
    /// Prefix lists, which we cannot look into.
    #[serde(default)]
    pub prefix_list_ids: Vec<String>,
}

impl RouteTable {
    /// Sorts subnets and routes, those inside the VPC first; EC2 promises no order.
    pub(super) fn sort(&mut self) {
        self.subnet_ids.sort();
        let order = |route: &Route| (route.target != "local", route.destination.clone(), route.target.clone());
        self.routes.sort_by_cached_key(order);
    }
}

/// `ec2:DescribeRouteTables`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RouteTable {
    /// Id.
    pub route_table_id: String,
    /// Whether it serves the subnets that name no table.
    #[serde(default)]
    pub main: bool,
    /// Subnets that name it.
    #[serde(default)]
    pub subnet_ids: Vec<String>,
    /// Routes.
    #[serde(default)]
    pub routes: Vec<Route>,
}

/// One route.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Route {
    /// CIDR block or prefix list.
    pub destination: String,
    /// Id of what it leads to: `local`, `igw-…`, `nat-…`, `tgw-…`, `pcx-…`, `vpce-…`, `eni-…`.
    pub target: String,
    /// `active` or `blackhole`.
    #[serde(default)]
    pub state: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_do_not_depend_on_the_order_of_the_answer() {
        let rule = |protocol: &str, groups: [&str; 2]| SecurityGroupRule {
            ip_protocol: protocol.into(),
            user_id_group_pairs: groups.map(str::to_owned).to_vec(),
            ..SecurityGroupRule::default()
        };
        let sorted = |rules: [SecurityGroupRule; 2]| {
            let mut group = SecurityGroup { ip_permissions: rules.into(), ..SecurityGroup::default() };
            group.sort();
            group
        };
        assert_eq!(
            sorted([rule("tcp", ["sg-2", "sg-1"]), rule("-1", ["sg-4", "sg-3"])]),
            sorted([rule("-1", ["sg-3", "sg-4"]), rule("tcp", ["sg-1", "sg-2"])]),
        );
    }
}
