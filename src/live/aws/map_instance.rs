//! EC2's answers about images and instance types as parts of the inventory.

use aws_sdk_ec2::types as ec2;

use crate::inventory::{Image, InstanceType, NetworkCard};

pub(super) fn image(raw: ec2::Image) -> Result<Image, String> {
    Ok(Image {
        image_id: raw.image_id.ok_or("an image without `imageId`")?,
        name: raw.name,
        owner_id: raw.owner_id,
        architecture: raw.architecture.map(|architecture| architecture.as_str().to_owned()),
        state: raw.state.map(|state| state.as_str().to_owned()),
    })
}

pub(super) fn instance_type(raw: ec2::InstanceTypeInfo) -> Result<InstanceType, String> {
    let name = raw.instance_type.ok_or("an instance type without `instanceType`")?.as_str().to_owned();
    let network = raw.network_info.ok_or_else(|| format!("instance type {name} without `networkInfo`"))?;
    let lacks = |field: &str| format!("instance type {name} without `{field}`");
    Ok(InstanceType {
        default_network_card_index: network.default_network_card_index.and_then(number).unwrap_or_default(),
        network_cards: network
            .network_cards
            .unwrap_or_default()
            .into_iter()
            .map(network_card)
            .collect::<Option<_>>()
            .ok_or_else(|| lacks("networkCards"))?,
        ipv4_addresses_per_interface: network
            .ipv4_addresses_per_interface
            .and_then(number)
            .ok_or_else(|| lacks("ipv4AddressesPerInterface"))?,
        hypervisor: raw.hypervisor.map(|hypervisor| hypervisor.as_str().to_owned()),
        bare_metal: raw.bare_metal.unwrap_or(false),
        default_v_cpus: raw
            .v_cpu_info
            .and_then(|info| info.default_v_cpus)
            .and_then(number)
            .ok_or_else(|| lacks("defaultVCpus"))?,
        supported_architectures: raw
            .processor_info
            .and_then(|info| info.supported_architectures)
            .unwrap_or_default()
            .into_iter()
            .map(|architecture| architecture.as_str().to_owned())
            .collect(),
        instance_type: name,
    })
}

fn network_card(raw: ec2::NetworkCardInfo) -> Option<NetworkCard> {
    Some(NetworkCard {
        network_card_index: raw.network_card_index.and_then(number)?,
        maximum_network_interfaces: raw.maximum_network_interfaces.and_then(number)?,
    })
}

fn number(value: i32) -> Option<u32> {
    u32::try_from(value).ok()
}
