//! Launch-template data as the SDK takes it: exactly the fields that our requests have.

use aws_sdk_ec2::types as ec2;
use base64::Engine as _;
use serde_json::Value;

use crate::error::ChangeError;
use crate::launch_template::{
    BlockDeviceMapping, EbsBlockDevice, LaunchTemplateData, MetadataOptions, TagSpecification,
};

fn unknown(field: &str) -> ChangeError {
    ChangeError::UnknownField { field: field.to_owned() }
}

/// Maps the request.
///
/// # Errors
/// [`ChangeError::UnknownField`] for a field that our requests never have.
pub(super) fn request(data: &LaunchTemplateData) -> Result<ec2::RequestLaunchTemplateData, ChangeError> {
    let LaunchTemplateData {
        image_id,
        instance_type,
        key_name,
        user_data,
        security_group_ids,
        network_interfaces,
        iam_instance_profile,
        block_device_mappings,
        metadata_options,
        tag_specifications,
        instance_market_options,
        hibernation_options,
        instance_initiated_shutdown_behavior,
        other,
    } = data;
    let never_sent = [
        (instance_type.is_some(), "InstanceType"),
        (!network_interfaces.is_empty(), "NetworkInterfaces"),
        (iam_instance_profile.is_some(), "IamInstanceProfile"),
        (!tag_specifications.is_empty(), "TagSpecifications"),
        (instance_market_options.is_some(), "InstanceMarketOptions"),
        (hibernation_options.is_some(), "HibernationOptions"),
        (instance_initiated_shutdown_behavior.is_some(), "InstanceInitiatedShutdownBehavior"),
        (!other.is_empty(), "a field without a name of its own"),
    ];
    if let Some((_, field)) = never_sent.into_iter().find(|(is_there, _)| *is_there) {
        return Err(unknown(field));
    }
    let disks: Vec<_> = block_device_mappings.iter().map(disk).collect::<Result<_, _>>()?;
    Ok(ec2::RequestLaunchTemplateData::builder()
        .set_image_id(image_id.clone())
        .set_key_name(key_name.clone())
        .set_security_group_ids((!security_group_ids.is_empty()).then(|| security_group_ids.clone()))
        .set_user_data(user_data.as_ref().map(|bytes| base64::engine::general_purpose::STANDARD.encode(&bytes.0)))
        .set_block_device_mappings((!disks.is_empty()).then_some(disks))
        .set_metadata_options(metadata_options.as_ref().map(metadata).transpose()?)
        .build())
}

fn disk(mapping: &BlockDeviceMapping) -> Result<ec2::LaunchTemplateBlockDeviceMappingRequest, ChangeError> {
    let BlockDeviceMapping { device_name, ebs, other } = mapping;
    let mut request = ec2::LaunchTemplateBlockDeviceMappingRequest::builder()
        .set_device_name(device_name.clone())
        .set_ebs(ebs.as_ref().map(volume).transpose()?);
    for (name, value) in other {
        request = match (name.as_str(), value) {
            ("VirtualName", Value::String(text)) => request.virtual_name(text),
            ("NoDevice", Value::String(text)) => request.no_device(text),
            (name, _) => return Err(unknown(&format!("BlockDeviceMappings.{name}"))),
        };
    }
    Ok(request.build())
}

fn volume(ebs: &EbsBlockDevice) -> Result<ec2::LaunchTemplateEbsBlockDeviceRequest, ChangeError> {
    let EbsBlockDevice { snapshot_id, volume_size, volume_type, other } = ebs;
    let number = |value: &Value| value.as_i64().and_then(|number| i32::try_from(number).ok());
    let mut request = ec2::LaunchTemplateEbsBlockDeviceRequest::builder()
        .set_snapshot_id(snapshot_id.clone())
        .set_volume_size(volume_size.and_then(|size| i32::try_from(size).ok()))
        .set_volume_type(volume_type.as_deref().map(ec2::VolumeType::from));
    for (name, value) in other {
        request = match (name.as_str(), value) {
            ("Encrypted", Value::Bool(encrypted)) => request.encrypted(*encrypted),
            ("DeleteOnTermination", Value::Bool(delete)) => request.delete_on_termination(*delete),
            ("KmsKeyId", Value::String(key)) => request.kms_key_id(key),
            ("Iops", value) => request.set_iops(number(value)),
            ("Throughput", value) => request.set_throughput(number(value)),
            ("VolumeInitializationRate", value) => request.set_volume_initialization_rate(number(value)),
            (name, _) => return Err(unknown(&format!("BlockDeviceMappings.Ebs.{name}"))),
        };
    }
    Ok(request.build())
}

fn metadata(options: &MetadataOptions) -> Result<ec2::LaunchTemplateInstanceMetadataOptionsRequest, ChangeError> {
    let MetadataOptions { http_tokens, http_put_response_hop_limit, http_endpoint, other } = options;
    if let Some(name) = other.keys().next() {
        return Err(unknown(&format!("MetadataOptions.{name}")));
    }
    Ok(ec2::LaunchTemplateInstanceMetadataOptionsRequest::builder()
        .set_http_tokens(http_tokens.as_deref().map(ec2::LaunchTemplateHttpTokensState::from))
        .set_http_put_response_hop_limit(http_put_response_hop_limit.and_then(|limit| i32::try_from(limit).ok()))
        .set_http_endpoint(http_endpoint.as_deref().map(ec2::LaunchTemplateInstanceMetadataEndpointState::from))
        .build())
}

/// Tags of the template itself.
pub(super) fn tags(specifications: &[TagSpecification]) -> Vec<ec2::TagSpecification> {
    specifications
        .iter()
        .map(|specification| {
            let TagSpecification { resource_type, tags } = specification;
            let tags = tags.iter().map(|tag| ec2::Tag::builder().key(&tag.key).value(&tag.value).build()).collect();
            ec2::TagSpecification::builder().resource_type(resource_type.as_str().into()).set_tags(Some(tags)).build()
        })
        .collect()
}
