//! What `aws ec2 describe-network-interfaces` prints, as a part of the inventory.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde::Deserialize;

use super::aws::{TagList, Whole};
use crate::inventory::{Attachment, NetworkInterface};
use crate::net::deserialize_ipv4_cidr;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DescribeNetworkInterfaces {
    pub(super) network_interfaces: Vec<NetworkInterfaceAnswer>,
    #[serde(default, rename = "NextToken")]
    _whole: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct NetworkInterfaceAnswer {
    network_interface_id: String,
    pub(super) vpc_id: Option<String>,
    interface_type: Option<String>,
    status: Option<String>,
    description: Option<String>,
    subnet_id: String,
    groups: Option<Vec<GroupIdentifier>>,
    attachment: Option<AttachmentAnswer>,
    private_ip_address: Option<Ipv4Addr>,
    private_ip_addresses: Option<Vec<PrivateIpAddress>>,
    ipv4_prefixes: Option<Vec<Ipv4Prefix>>,
    #[serde(default)]
    tag_set: TagList,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GroupIdentifier {
    group_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AttachmentAnswer {
    instance_id: Option<String>,
    device_index: u32,
    network_card_index: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PrivateIpAddress {
    primary: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Ipv4Prefix {
    #[serde(deserialize_with = "deserialize_ipv4_cidr")]
    ipv4_prefix: Ipv4Net,
}

impl From<NetworkInterfaceAnswer> for NetworkInterface {
    fn from(answer: NetworkInterfaceAnswer) -> Self {
        let addresses = answer.private_ip_addresses.unwrap_or_default();
        let secondary = addresses.iter().filter(|address| address.primary != Some(true)).count();
        Self {
            network_interface_id: answer.network_interface_id,
            interface_type: answer.interface_type,
            status: answer.status,
            description: answer.description.filter(|description| !description.is_empty()),
            subnet_id: answer.subnet_id,
            groups: answer.groups.unwrap_or_default().into_iter().filter_map(|group| group.group_id).collect(),
            attachment: answer.attachment.map(|attachment| Attachment {
                instance_id: attachment.instance_id,
                device_index: attachment.device_index,
                network_card_index: attachment.network_card_index.unwrap_or_default(),
            }),
            private_ip_address: answer.private_ip_address,
            secondary_private_ip_addresses: u32::try_from(secondary).unwrap_or(u32::MAX),
            ipv4_prefixes: answer.ipv4_prefixes.unwrap_or_default().iter().map(|prefix| prefix.ipv4_prefix).collect(),
            tags: answer.tag_set.into_map(),
        }
    }
}
