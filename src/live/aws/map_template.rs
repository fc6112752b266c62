//! Launch templates and their versions as parts of the inventory. Every field that EC2 gives is kept: those that
//! eniplan looks at in fields of their own, the rest under AWS's names in `other`.

use std::collections::BTreeMap;

use aws_sdk_ec2::types as ec2;
use base64::Engine as _;
use serde_json::Value;

use super::map_network::tags;
use super::map_template_other::{self as other, fields};
use crate::inventory::{LaunchTemplate, LaunchTemplateVersion};
use crate::launch_template::{
    Base64Bytes, BlockDeviceMapping, EbsBlockDevice, LaunchTemplateData, MetadataOptions, NetworkInterface, Tag,
    TagSpecification,
};

pub(in crate::live) fn launch_template(raw: ec2::LaunchTemplate) -> Result<LaunchTemplate, String> {
    Ok(LaunchTemplate {
        launch_template_id: raw.launch_template_id.ok_or("a launch template without `launchTemplateId`")?,
        launch_template_name: raw.launch_template_name.ok_or("a launch template without `launchTemplateName`")?,
        default_version_number: raw.default_version_number.ok_or("a launch template without `defaultVersionNumber`")?,
        latest_version_number: raw.latest_version_number.ok_or("a launch template without `latestVersionNumber`")?,
        tags: tags(raw.tags),
        versions: Vec::new(),
    })
}

pub(super) fn launch_template_version(raw: ec2::LaunchTemplateVersion) -> Result<LaunchTemplateVersion, String> {
    Ok(LaunchTemplateVersion {
        version_number: raw.version_number.ok_or("a launch template version without `versionNumber`")?,
        version_description: raw.version_description.filter(|description| !description.is_empty()),
        launch_template_data: raw
            .launch_template_data
            .map(launch_template_data)
            .transpose()?
            .ok_or("a launch template version without `launchTemplateData`")?,
    })
}

fn launch_template_data(raw: ec2::ResponseLaunchTemplateData) -> Result<LaunchTemplateData, String> {
    let other = other::of_data(&raw);
    Ok(LaunchTemplateData {
        image_id: raw.image_id,
        instance_type: raw.instance_type.map(|instance_type| instance_type.as_str().to_owned()),
        key_name: raw.key_name,
        user_data: raw.user_data.map(|text| user_data(&text)).transpose()?,
        security_group_ids: raw.security_group_ids.unwrap_or_default(),
        network_interfaces: raw.network_interfaces.unwrap_or_default().into_iter().map(network_interface).collect(),
        iam_instance_profile: raw.iam_instance_profile.map(|profile| other::iam_instance_profile(&profile)),
        block_device_mappings: raw
            .block_device_mappings
            .unwrap_or_default()
            .into_iter()
            .map(block_device_mapping)
            .collect(),
        metadata_options: raw.metadata_options.map(metadata_options),
        tag_specifications: raw.tag_specifications.unwrap_or_default().into_iter().map(tag_specification).collect(),
        instance_market_options: raw.instance_market_options.map(|options| other::market_options(&options)),
        hibernation_options: raw
            .hibernation_options
            .map(|options| other::object([("Configured", options.configured.map(Value::from))])),
        instance_initiated_shutdown_behavior: raw
            .instance_initiated_shutdown_behavior
            .map(|behavior| behavior.as_str().to_owned()),
        other,
    })
}

fn user_data(text: &str) -> Result<Base64Bytes, String> {
    let compact: String = text.split_whitespace().collect();
    base64::engine::general_purpose::STANDARD
        .decode(compact)
        .map(Base64Bytes)
        .map_err(|error| format!("user data that is not base64: {error}"))
}

fn network_interface(raw: ec2::LaunchTemplateInstanceNetworkInterfaceSpecification) -> NetworkInterface {
    let other = other::of_network_interface(&raw);
    NetworkInterface {
        device_index: raw.device_index.map(i64::from),
        subnet_id: raw.subnet_id,
        groups: raw.groups.unwrap_or_default(),
        other,
    }
}

fn block_device_mapping(raw: ec2::LaunchTemplateBlockDeviceMapping) -> BlockDeviceMapping {
    BlockDeviceMapping {
        device_name: raw.device_name,
        ebs: raw.ebs.map(ebs_block_device),
        other: fields([
            ("VirtualName", raw.virtual_name.map(Value::from)),
            ("NoDevice", raw.no_device.map(Value::from)),
        ]),
    }
}

fn ebs_block_device(raw: ec2::LaunchTemplateEbsBlockDevice) -> EbsBlockDevice {
    EbsBlockDevice {
        snapshot_id: raw.snapshot_id,
        volume_size: raw.volume_size.map(i64::from),
        volume_type: raw.volume_type.map(|volume_type| volume_type.as_str().to_owned()),
        other: fields([
            ("DeleteOnTermination", raw.delete_on_termination.map(Value::from)),
            ("EbsCardIndex", raw.ebs_card_index.map(Value::from)),
            ("Encrypted", raw.encrypted.map(Value::from)),
            ("Iops", raw.iops.map(Value::from)),
            ("KmsKeyId", raw.kms_key_id.map(Value::from)),
            ("Throughput", raw.throughput.map(Value::from)),
            ("VolumeInitializationRate", raw.volume_initialization_rate.map(Value::from)),
        ]),
    }
}

/// `State` is left out: it says how far a running instance has taken the options over, and no request can carry it.
fn metadata_options(raw: ec2::LaunchTemplateInstanceMetadataOptions) -> MetadataOptions {
    MetadataOptions {
        http_tokens: raw.http_tokens.map(|tokens| tokens.as_str().to_owned()),
        http_put_response_hop_limit: raw.http_put_response_hop_limit.map(i64::from),
        http_endpoint: raw.http_endpoint.map(|endpoint| endpoint.as_str().to_owned()),
        other: fields([
            ("HttpProtocolIpv6", raw.http_protocol_ipv6.map(|protocol| protocol.as_str().into())),
            ("InstanceMetadataTags", raw.instance_metadata_tags.map(|tags| tags.as_str().into())),
        ]),
    }
}

fn tag_specification(raw: ec2::LaunchTemplateTagSpecification) -> TagSpecification {
    let tags: BTreeMap<String, String> = tags(raw.tags);
    TagSpecification {
        resource_type: raw.resource_type.map(|kind| kind.as_str().to_owned()).unwrap_or_default(),
        tags: tags.into_iter().map(|(key, value)| Tag { key, value }).collect(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn fields_that_nobody_looks_at_are_carried_along_under_the_names_of_the_api() {
        let range = ec2::VCpuCountRange::builder().min(4).max(16).build();
        let interface = ec2::LaunchTemplateInstanceNetworkInterfaceSpecification::builder()
            .device_index(0)
            .groups("sg-1")
            .associate_public_ip_address(false)
            .ipv4_prefixes(ec2::Ipv4PrefixSpecificationResponse::builder().ipv4_prefix("10.0.0.0/28").build())
            .build();
        let disk = ec2::LaunchTemplateBlockDeviceMapping::builder()
            .device_name("/dev/xvda")
            .ebs(ec2::LaunchTemplateEbsBlockDevice::builder().volume_size(50).encrypted(true).throughput(250).build())
            .build();
        let raw = ec2::ResponseLaunchTemplateData::builder()
            .user_data("I2Nsb3VkLWNvbmZp\nZwo=")
            .network_interfaces(interface)
            .block_device_mappings(disk)
            .ebs_optimized(true)
            .monitoring(ec2::LaunchTemplatesMonitoring::builder().enabled(true).build())
            .placement(ec2::LaunchTemplatePlacement::builder().tenancy(ec2::Tenancy::Dedicated).build())
            .enclave_options(ec2::LaunchTemplateEnclaveOptions::builder().enabled(false).build())
            .instance_requirements(
                ec2::InstanceRequirements::builder()
                    .v_cpu_count(range)
                    .instance_generations(ec2::InstanceGeneration::Current)
                    .build(),
            )
            .private_dns_name_options(
                ec2::LaunchTemplatePrivateDnsNameOptions::builder().enable_resource_name_dns_aaaa_record(true).build(),
            )
            .build();
        let data = launch_template_data(raw).unwrap();
        assert_eq!(
            serde_json::to_value(&data).unwrap(),
            serde_json::json!({
                "UserData": "I2Nsb3VkLWNvbmZpZwo=",
                "NetworkInterfaces": [{
                    "DeviceIndex": 0, "Groups": ["sg-1"], "AssociatePublicIpAddress": false,
                    "Ipv4Prefixes": [{"Ipv4Prefix": "10.0.0.0/28"}],
                }],
                "BlockDeviceMappings": [{
                    "DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 50, "Encrypted": true, "Throughput": 250},
                }],
                "EbsOptimized": true,
                "Monitoring": {"Enabled": true},
                "Placement": {"Tenancy": "dedicated"},
                "EnclaveOptions": {"Enabled": false},
                "InstanceRequirements": {"VCpuCount": {"Min": 4, "Max": 16}, "InstanceGenerations": ["current"]},
                "PrivateDnsNameOptions": {"EnableResourceNameDnsAAAARecord": true},
            })
        );
    }

    #[test]
    fn user_data_that_is_not_base64_makes_the_answer_unreadable() {
        let raw = ec2::ResponseLaunchTemplateData::builder().user_data("***").build();
        assert!(launch_template_data(raw).unwrap_err().starts_with("user data that is not base64"));
    }
}
