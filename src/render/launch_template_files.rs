//! Requests as AWS takes them: a new launch template, a version of an existing one, a new node group.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{UserData, json_text};
use crate::config::AmiFamily;
use crate::error::Error;
use crate::inventory::{Inventory, LaunchTemplate};
use crate::launch_template::{
    Base64Bytes, BlockDeviceMapping, EbsBlockDevice, LaunchTemplateData, MetadataOptions, Tag, TagSpecification,
};
use crate::plan::{CLUSTER_TAG, LaunchTemplatePlan, NODE_GROUP_TAG, NodeGroupPlan, Plan};

/// Hop limit that lets pods without host network reach IMDS through the node, as EKS's own templates set it.
/// Source: EKS user guide, "Customize managed nodes with launch templates".
const HOP_LIMIT: i64 = 2;

/// Digits of the content hash in a version's description.
const HASH_DIGITS: usize = 12;

/// One of the two ways to bring user data into a launch template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum LaunchTemplateRequest {
    /// `ec2:CreateLaunchTemplate`.
    Create(CreateLaunchTemplate),
    /// `ec2:CreateLaunchTemplateVersion`.
    CreateVersion(CreateLaunchTemplateVersion),
}

/// Input of `aws ec2 create-launch-template`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub struct CreateLaunchTemplate {
    /// Name.
    pub launch_template_name: String,
    /// `eniplan NODEGROUP HASH`.
    pub version_description: String,
    /// Content.
    pub launch_template_data: LaunchTemplateData,
    /// Tags of the template itself, by which it is known as ours.
    pub tag_specifications: Vec<TagSpecification>,
}

/// Input of `aws ec2 create-launch-template-version`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub struct CreateLaunchTemplateVersion {
    /// Template id.
    pub launch_template_id: String,
    /// The version in use, from which EC2 takes every field that is not sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_version: Option<String>,
    /// `eniplan NODEGROUP HASH`.
    pub version_description: String,
    /// User data, and the disks where EC2 would drop them.
    pub launch_template_data: LaunchTemplateData,
}

impl LaunchTemplateRequest {
    /// The request as JSON.
    ///
    /// # Errors
    /// [`Error::Serialise`]; a defect of the program.
    pub fn to_json(&self) -> Result<String, Error> {
        json_text("the launch-template request", self)
    }
}

/// The request for a group's launch template; `None` where it needs none.
pub(super) fn launch_template(
    plan: &Plan,
    group: &NodeGroupPlan,
    user_data: Option<&UserData>,
    inventory: &Inventory,
) -> Option<LaunchTemplateRequest> {
    let user_data = user_data.map(|user_data| Base64Bytes(user_data.bytes.clone()));
    match group.launch_template.as_ref()? {
        LaunchTemplatePlan::Create { name, image_id, disk_size, key_name } => {
            let launch_template_data = LaunchTemplateData {
                image_id: image_id.clone(),
                key_name: key_name.clone(),
                user_data,
                // Nobody but the template names groups for an Auto Scaling group; EKS does for a managed one.
                security_group_ids: inventory
                    .cluster
                    .cluster_security_group_id
                    .iter()
                    .filter(|_| !group.managed)
                    .cloned()
                    .collect(),
                block_device_mappings: disk_size.map(|size| root_disk(group.family, size)).into_iter().collect(),
                metadata_options: Some(MetadataOptions {
                    http_tokens: Some("required".into()),
                    http_put_response_hop_limit: Some(HOP_LIMIT),
                    ..MetadataOptions::default()
                }),
                ..LaunchTemplateData::default()
            };
            let tag = |key: &str, value: &str| Tag { key: key.into(), value: value.into() };
            Some(LaunchTemplateRequest::Create(CreateLaunchTemplate {
                launch_template_name: name.clone(),
                version_description: description(&group.name, &launch_template_data),
                launch_template_data,
                tag_specifications: vec![TagSpecification {
                    resource_type: "launch-template".into(),
                    tags: vec![tag(CLUSTER_TAG, &plan.cluster), tag(NODE_GROUP_TAG, &group.name)],
                }],
            }))
        }
        LaunchTemplatePlan::NewVersion { id, source_version, .. } => {
            let launch_template_data = LaunchTemplateData {
                user_data,
                block_device_mappings: disks_from_snapshots(inventory, id, *source_version),
                ..LaunchTemplateData::default()
            };
            Some(LaunchTemplateRequest::CreateVersion(CreateLaunchTemplateVersion {
                launch_template_id: id.clone(),
                source_version: Some(source_version.to_string()),
                version_description: description(&group.name, &launch_template_data),
                launch_template_data,
            }))
        }
    }
}

/// A version that says the same as the one in use: moving the group to it replaces its nodes and changes nothing else.
/// `None` where the version in use has no user data, since nothing would be left to send.
pub fn same_version_again(group: &str, template: &LaunchTemplate, in_use: i64) -> Option<CreateLaunchTemplateVersion> {
    let source = &template.version(in_use)?.launch_template_data;
    let launch_template_data = LaunchTemplateData {
        user_data: Some(source.user_data.clone()?),
        block_device_mappings: where_from_snapshots(&source.block_device_mappings),
        ..LaunchTemplateData::default()
    };
    Some(CreateLaunchTemplateVersion {
        launch_template_id: template.launch_template_id.clone(),
        source_version: Some(in_use.to_string()),
        // By the number it is told from every other version with this content.
        version_description: description(group, &(in_use, &launch_template_data)),
        launch_template_data,
    })
}

/// `eniplan NODEGROUP HASH`: by the hash a version that a broken run left behind is found again.
fn description(group: &str, data: &impl Serialize) -> String {
    let content = serde_json::to_vec(data).unwrap_or_default();
    let hash: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).take(HASH_DIGITS / 2).collect();
    format!("eniplan {group} {hash}")
}

/// Root device of the family's images. Source: EKS user guide; Bottlerocket keeps its data on the second device.
fn root_disk(family: AmiFamily, gibibytes: i64) -> BlockDeviceMapping {
    let device = if family == AmiFamily::Bottlerocket { "/dev/xvdb" } else { "/dev/xvda" };
    BlockDeviceMapping {
        device_name: Some(device.into()),
        ebs: Some(EbsBlockDevice {
            volume_size: Some(gibibytes),
            volume_type: Some("gp3".into()),
            ..EbsBlockDevice::default()
        }),
        ..BlockDeviceMapping::default()
    }
}

/// All disks of the source version when one of them comes from a snapshot: EC2 leaves such mappings out of a version
/// made with `SourceVersion`. Source: EC2 API reference, `CreateLaunchTemplateVersion`, `SourceVersion`.
fn disks_from_snapshots(inventory: &Inventory, id: &str, source_version: i64) -> Vec<BlockDeviceMapping> {
    let Some(source) = inventory.launch_template(id).and_then(|template| template.version(source_version)) else {
        return Vec::new();
    };
    where_from_snapshots(&source.launch_template_data.block_device_mappings)
}

fn where_from_snapshots(disks: &[BlockDeviceMapping]) -> Vec<BlockDeviceMapping> {
    let from_snapshot = |disk: &BlockDeviceMapping| disk.ebs.as_ref().is_some_and(|ebs| ebs.snapshot_id.is_some());
    if disks.iter().any(from_snapshot) { disks.to_vec() } else { Vec::new() }
}

/// Input of `aws eks create-nodegroup`; `None` where the group is there or not managed.
///
/// # Errors
/// [`Error::Serialise`]; a defect of the program.
pub(super) fn create_node_group(plan: &Plan, group: &NodeGroupPlan) -> Result<Option<String>, Error> {
    let Some(create) = &group.create else { return Ok(None) };
    let mut input = Map::new();
    let mut set = |name: &str, value: Value| {
        let is_empty = match &value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        if !is_empty {
            input.insert(name.to_owned(), value);
        }
    };
    set("clusterName", json!(plan.cluster));
    set("nodegroupName", json!(group.name));
    set("nodeRole", json!(create.node_role));
    set("subnets", json!(create.subnets));
    set("instanceTypes", json!(create.instance_types));
    set("amiType", json!(create.ami_type));
    set("capacityType", json!(create.capacity_type));
    if let Some((min, max, desired)) = create.scaling {
        set("scalingConfig", json!({ "minSize": min, "maxSize": max, "desiredSize": desired }));
    }
    set("labels", json!(create.labels));
    set("taints", json!(create.taints));
    match &group.launch_template {
        Some(LaunchTemplatePlan::Create { name, .. }) => set("launchTemplate", json!({ "name": name, "version": "1" })),
        Some(LaunchTemplatePlan::NewVersion { id, source_version, .. }) => {
            set("launchTemplate", json!({ "id": id, "version": source_version.to_string() }));
        }
        None => {}
    }
    json_text("the create-nodegroup input", &input).map(Some)
}
