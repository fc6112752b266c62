//! One node from near: how it stands, what its template gives it, and where its interfaces and pods are.

use std::net::Ipv4Addr;

use ipnet::Ipv4Net;
use serde::Serialize;

use crate::check::live::{Given, JudgedNode, LiveFacts, SOURCE_TEMPLATE_LABEL, SOURCE_VERSION_LABEL, Standing};
use crate::inventory::{Inventory, NetworkInterface, Pod};
use crate::user_data::{self, boot_table};

/// What the live cluster says of one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CloseUp {
    /// How it stands.
    pub standing: Standing,
    /// Why.
    pub because: String,
    /// The version of the launch template that it was launched from; `None` where no label tells.
    pub launched_from: Option<FromTemplate>,
    /// The version that its group launches nodes from now; `None` for nodes of no managed group with a template.
    pub in_use: Option<FromTemplate>,
    /// Whether pods and interfaces were read; otherwise there are none below.
    pub evidence_read: bool,
    /// Its interfaces, by card and device index.
    pub interfaces: Vec<InterfaceAt>,
    /// Its pods, those elsewhere first.
    pub pods: Vec<PodAt>,
}

/// What a version of a launch template gives a node in the place of this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FromTemplate {
    /// Id of the template.
    pub launch_template_id: String,
    /// Number of the version.
    pub version: String,
    /// Whether its user data was read.
    pub read: bool,
    /// ENIConfigs that it gives, one of several by a hash of the instance id; empty where it has no part of ours, or no
    /// row for the node subnet.
    pub gives: Vec<String>,
}

/// An interface of the node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InterfaceAt {
    /// Id.
    pub network_interface_id: String,
    /// What it is for.
    pub role: Role,
    /// Network card.
    pub network_card_index: u32,
    /// Device index.
    pub device_index: u32,
    /// Subnet.
    pub subnet_id: String,
    /// CIDR of the subnet, where it is known.
    pub cidr: Option<Ipv4Net>,
    /// Whether that is the pod subnet; `None` for interfaces that give pods no addresses, or where that is not known.
    pub in_pod_subnet: Option<bool>,
    /// Security groups.
    pub groups: Vec<String>,
    /// Addresses that it holds for pods.
    pub addresses: u64,
}

/// What an interface is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The node's own.
    Primary,
    /// It gives pods addresses.
    Pods,
    /// It carries branch interfaces.
    Trunk,
    /// The CNI leaves it alone.
    Other,
}

/// A pod of the node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PodAt {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Address.
    pub ip: Option<Ipv4Addr>,
    /// Where that is.
    pub place: PodPlace,
    /// Subnet of the address, where it is in one that is known.
    pub subnet_id: Option<String>,
}

/// Where a pod is. The order is that in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PodPlace {
    /// In another subnet than the pod subnet.
    Elsewhere,
    /// In the pod subnet.
    PodSubnet,
    /// With a branch interface, whose subnet the VPC resource controller chooses.
    BranchInterface,
    /// With an address, and the pod subnet is not known.
    Unknown,
    /// With the node's own address.
    HostNetwork,
    /// Waiting for an address, or finished.
    NoAddress,
}

/// The node of that name; `None` for one that aws-node does not run on.
pub fn close_up(live: &LiveFacts<'_>, node: &str) -> Option<CloseUp> {
    let inventory = live.facts.inventory;
    let judged = live.nodes.iter().find(|judged| judged.node.name == node)?;
    let mut interfaces: Vec<InterfaceAt> = inventory
        .observed()
        .network_interfaces
        .iter()
        .filter(|interface| is_of(interface, judged))
        .map(|interface| interface_at(inventory, judged, interface))
        .collect();
    interfaces.sort_by_key(|interface| (interface.network_card_index, interface.device_index));
    let of_node = |pod: &&Pod| pod.node.as_deref() == Some(node);
    let mut pods: Vec<PodAt> =
        inventory.observed().pods.iter().filter(of_node).map(|pod| pod_at(inventory, judged, pod)).collect();
    pods.sort_by_key(|pod| pod.place);
    Some(CloseUp {
        standing: judged.standing,
        because: judged.because.clone(),
        launched_from: launched_from(inventory, judged),
        in_use: in_use(inventory, judged),
        evidence_read: super::evidence_read(inventory),
        interfaces,
        pods,
    })
}

fn is_of(interface: &NetworkInterface, judged: &JudgedNode<'_>) -> bool {
    let instance = interface.attachment.as_ref().and_then(|at| at.instance_id.as_ref());
    instance.is_some() && instance == judged.node.instance_id.as_ref()
}

fn interface_at(inventory: &Inventory, judged: &JudgedNode<'_>, interface: &NetworkInterface) -> InterfaceAt {
    let role = match interface {
        _ if interface.is_primary() => Role::Primary,
        _ if interface.is_trunk() => Role::Trunk,
        _ if interface.serves_pods(
            judged.serving.iter().any(|serving| serving.network_interface_id == interface.network_interface_id),
        ) =>
        {
            Role::Pods
        }
        _ => Role::Other,
    };
    let matters = matches!(role, Role::Pods | Role::Trunk);
    let attachment = interface.attachment.clone().unwrap_or_default();
    InterfaceAt {
        network_interface_id: interface.network_interface_id.clone(),
        role,
        network_card_index: attachment.network_card_index,
        device_index: attachment.device_index,
        subnet_id: interface.subnet_id.clone(),
        cidr: inventory.subnet(&interface.subnet_id).map(|subnet| subnet.cidr_block),
        in_pod_subnet: judged
            .pod_subnet
            .filter(|_| matters)
            .map(|pod_subnet| pod_subnet.subnet_id == interface.subnet_id),
        groups: interface.groups.clone(),
        addresses: u64::from(interface.secondary_private_ip_addresses) + 16 * interface.ipv4_prefixes.len() as u64,
    }
}

fn pod_at(inventory: &Inventory, judged: &JudgedNode<'_>, pod: &Pod) -> PodAt {
    let place = match (pod.address_in_pod_subnet(), judged.pod_subnet) {
        (Some(ip), Some(subnet)) if subnet.cidr_block.contains(&ip) => PodPlace::PodSubnet,
        (Some(_), Some(_)) => PodPlace::Elsewhere,
        (Some(_), None) => PodPlace::Unknown,
        (None, _) if pod.host_network => PodPlace::HostNetwork,
        (None, _) if pod.branch_interface && pod.ip.is_some() => PodPlace::BranchInterface,
        (None, _) => PodPlace::NoAddress,
    };
    let subnet = pod.ip.and_then(|ip| inventory.subnets.iter().find(|subnet| subnet.cidr_block.contains(&ip)));
    PodAt {
        namespace: pod.namespace.clone(),
        name: pod.name.clone(),
        ip: pod.ip,
        place,
        subnet_id: subnet.map(|subnet| subnet.subnet_id.clone()),
    }
}

fn launched_from(inventory: &Inventory, judged: &JudgedNode<'_>) -> Option<FromTemplate> {
    let label = |key: &str| judged.node.labels.get(key).cloned();
    let (template, version) = (label(SOURCE_TEMPLATE_LABEL)?, label(SOURCE_VERSION_LABEL)?);
    let picked = match &judged.given {
        Given::Name(name) => vec![name.clone()],
        Given::Nothing | Given::Unread => Vec::new(),
    };
    let read = judged.given != Given::Unread && inventory.launch_template(&template).is_some();
    Some(FromTemplate { launch_template_id: template, version, read, gives: picked })
}

fn in_use(inventory: &Inventory, judged: &JudgedNode<'_>) -> Option<FromTemplate> {
    let used = inventory.node_group(judged.node.node_group()?)?.launch_template.as_ref()?;
    let id = used.id.clone()?;
    let found = inventory.launch_template(&id);
    let number = found.and_then(|template| template.resolve_version(used.version.as_deref()));
    let version = found.zip(number).and_then(|(template, number)| template.version(number));
    let bytes = version.map(|version| version.launch_template_data.user_data.as_ref().map_or(&[][..], |data| &data.0));
    let document = bytes.and_then(|bytes| user_data::read(bytes).ok());
    let table = document.as_ref().and_then(boot_table).unwrap_or_default();
    let row = judged.node_subnet.and_then(|subnet| table.rows.get(&subnet.cidr_block));
    let gives = table.fixed.into_iter().chain(row.into_iter().flat_map(|row| row.names.iter().cloned())).collect();
    Some(FromTemplate {
        launch_template_id: id,
        version: number.map(|number| number.to_string()).or_else(|| used.version.clone()).unwrap_or_default(),
        read: document.is_some(),
        gives,
    })
}
