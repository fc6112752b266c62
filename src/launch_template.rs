//! The launch-template fields that we write or look at, under AWS's own names; shared by inventory, render and diff.
//!
//! Fields that are not named here are kept as they are in [`LaunchTemplateData::other`].

use std::collections::BTreeMap;

use base64::Engine as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes that travel as base64 text, as EC2 sends and takes user data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Base64Bytes(pub Vec<u8>);

impl Serialize for Base64Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64::engine::general_purpose::STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let compact: String = text.split_whitespace().collect();
        base64::engine::general_purpose::STANDARD
            .decode(compact.as_bytes())
            .map(Self)
            .map_err(|error| serde::de::Error::custom(format!("user data is not base64: {error}")))
    }
}

impl JsonSchema for Base64Bytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Base64Bytes".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "contentEncoding": "base64" })
    }
}

/// `RequestLaunchTemplateData` of the EC2 API. Source: EC2 API reference, `RequestLaunchTemplateData`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", default)]
pub struct LaunchTemplateData {
    /// AMI id, or `resolve:ssm:…`. When it is set EKS merges nothing into the user data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_id: Option<String>,
    /// Instance type; then the node group must name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// EC2 key pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_name: Option<String>,
    /// User data as the instance gets it, decoded once from base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_data: Option<Base64Bytes>,
    /// Security groups of the primary interface; with any of these EKS does not add the cluster security group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub security_group_ids: Vec<String>,
    /// Interfaces; a subnet in one of them is refused by EKS.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network_interfaces: Vec<NetworkInterface>,
    /// Instance profile; refused by EKS in a managed node group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iam_instance_profile: Option<serde_json::Value>,
    /// Disks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub block_device_mappings: Vec<BlockDeviceMapping>,
    /// Instance metadata service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_options: Option<MetadataOptions>,
    /// Tags for what is launched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tag_specifications: Vec<TagSpecification>,
    /// Spot options; refused by EKS in a managed node group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_market_options: Option<serde_json::Value>,
    /// Hibernation; refused by EKS in a managed node group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hibernation_options: Option<serde_json::Value>,
    /// Shutdown behaviour; refused by EKS in a managed node group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_initiated_shutdown_behavior: Option<String>,
    /// Every other field, untouched.
    #[serde(flatten)]
    pub other: BTreeMap<String, serde_json::Value>,
}

/// One interface of a launch template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", default)]
pub struct NetworkInterface {
    /// Position; 0 is the primary interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_index: Option<i64>,
    /// Subnet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnet_id: Option<String>,
    /// Security groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Every other field, untouched.
    #[serde(flatten)]
    pub other: BTreeMap<String, serde_json::Value>,
}

/// One disk of a launch template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", default)]
pub struct BlockDeviceMapping {
    /// Device, such as `/dev/xvda`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    /// Volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ebs: Option<EbsBlockDevice>,
    /// Every other field, untouched.
    #[serde(flatten)]
    pub other: BTreeMap<String, serde_json::Value>,
}

/// An EBS volume of a launch template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", default)]
pub struct EbsBlockDevice {
    /// Snapshot that the volume is made from. EC2 drops such mappings from a version made with `SourceVersion`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// Size in GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_size: Option<i64>,
    /// Kind, such as `gp3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_type: Option<String>,
    /// Every other field, untouched.
    #[serde(flatten)]
    pub other: BTreeMap<String, serde_json::Value>,
}

/// Instance metadata service of a launch template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", default)]
pub struct MetadataOptions {
    /// `required` is IMDSv2 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_tokens: Option<String>,
    /// Network hops an answer may travel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_put_response_hop_limit: Option<i64>,
    /// `disabled` turns the service off; then no node can boot with us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_endpoint: Option<String>,
    /// Every other field, untouched.
    #[serde(flatten)]
    pub other: BTreeMap<String, serde_json::Value>,
}

/// Tags for one kind of resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", default)]
pub struct TagSpecification {
    /// `instance`, `volume`, `launch-template` …
    pub resource_type: String,
    /// The tags.
    pub tags: Vec<Tag>,
}

/// One tag.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", default)]
pub struct Tag {
    /// Key.
    pub key: String,
    /// Value.
    pub value: String,
}
