//! What `aws ec2 describe-images` and `-instance-types` print, as parts of the inventory.

use serde::Deserialize;

use super::aws::Whole;
use crate::inventory::{Image, InstanceType, NetworkCard};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DescribeImages {
    pub(super) images: Vec<ImageAnswer>,
    #[serde(default, rename = "NextToken")]
    _whole: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct DescribeInstanceTypes {
    pub(super) instance_types: Vec<InstanceTypeAnswer>,
    #[serde(default, rename = "NextToken")]
    _whole: Whole,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ImageAnswer {
    image_id: String,
    name: Option<String>,
    owner_id: Option<String>,
    architecture: Option<String>,
    state: Option<String>,
}

impl From<ImageAnswer> for Image {
    fn from(answer: ImageAnswer) -> Self {
        Self {
            image_id: answer.image_id,
            name: answer.name,
            owner_id: answer.owner_id,
            architecture: answer.architecture,
            state: answer.state,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct InstanceTypeAnswer {
    instance_type: String,
    network_info: NetworkInfo,
    hypervisor: Option<String>,
    bare_metal: Option<bool>,
    #[serde(rename = "VCpuInfo")]
    v_cpu_info: VCpuInfo,
    processor_info: Option<ProcessorInfo>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct NetworkInfo {
    #[serde(default)]
    default_network_card_index: u32,
    network_cards: Option<Vec<NetworkCardInfo>>,
    ipv4_addresses_per_interface: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct NetworkCardInfo {
    network_card_index: u32,
    maximum_network_interfaces: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct VCpuInfo {
    #[serde(rename = "DefaultVCpus")]
    default_v_cpus: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ProcessorInfo {
    supported_architectures: Option<Vec<String>>,
}

impl From<InstanceTypeAnswer> for InstanceType {
    fn from(answer: InstanceTypeAnswer) -> Self {
        let card = |card: NetworkCardInfo| NetworkCard {
            network_card_index: card.network_card_index,
            maximum_network_interfaces: card.maximum_network_interfaces,
        };
        Self {
            instance_type: answer.instance_type,
            default_network_card_index: answer.network_info.default_network_card_index,
            network_cards: answer.network_info.network_cards.unwrap_or_default().into_iter().map(card).collect(),
            ipv4_addresses_per_interface: answer.network_info.ipv4_addresses_per_interface,
            hypervisor: answer.hypervisor,
            bare_metal: answer.bare_metal.unwrap_or(false),
            default_v_cpus: answer.v_cpu_info.default_v_cpus,
            supported_architectures: answer
                .processor_info
                .and_then(|processor| processor.supported_architectures)
                .unwrap_or_default(),
        }
    }
}
