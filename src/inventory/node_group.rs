//! Managed node groups and what they are made from: launch templates, images, instance types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::launch_template::LaunchTemplateData;

/// `eks:DescribeNodegroup`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeGroup {
    /// `nodegroupName`.
    pub name: String,
    /// `ACTIVE`, `UPDATING`, `DEGRADED` …
    #[serde(default)]
    pub status: Option<String>,
    /// `AL2023_x86_64_STANDARD`, `BOTTLEROCKET_ARM_64`, `CUSTOM` …
    #[serde(default)]
    pub ami_type: Option<String>,
    /// `ON_DEMAND`, `SPOT` …
    #[serde(default)]
    pub capacity_type: Option<String>,
    /// Kubernetes version.
    #[serde(default)]
    pub version: Option<String>,
    /// AMI release, such as `1.33.1-20251023`; the image id when the template names one.
    #[serde(default)]
    pub release_version: Option<String>,
    /// Instance types; empty when the launch template names one.
    #[serde(default)]
    pub instance_types: Vec<String>,
    /// Node subnets.
    #[serde(default)]
    pub subnets: Vec<String>,
    /// The group's own launch template, never the child that EKS makes from it.
    #[serde(default)]
    pub launch_template: Option<LaunchTemplateSpecification>,
    /// Sizes.
    #[serde(default)]
    pub scaling_config: Option<ScalingConfig>,
    /// Labels that EKS sets on the nodes.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Taints that EKS sets on the nodes.
    #[serde(default)]
    pub taints: Vec<Taint>,
    /// ARN of the node role.
    #[serde(default)]
    pub node_role: Option<String>,
    /// Disk in GiB, where the group has no launch template of its own.
    #[serde(default)]
    pub disk_size: Option<i64>,
    /// SSH access, where the group has no launch template of its own.
    #[serde(default)]
    pub remote_access: Option<RemoteAccess>,
    /// `updateConfig.maxUnavailable`.
    #[serde(default)]
    pub max_unavailable: Option<i64>,
    /// Messages of `health.issues`.
    #[serde(default)]
    pub health_issues: Vec<String>,
    /// Tags.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
}

/// `nodegroup.launchTemplate`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchTemplateSpecification {
    /// Id.
    #[serde(default)]
    pub id: Option<String>,
    /// Name.
    #[serde(default)]
    pub name: Option<String>,
    /// Version in use: a number as text, `$Latest` or `$Default`.
    #[serde(default)]
    pub version: Option<String>,
}

/// `nodegroup.scalingConfig`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingConfig {
    /// Fewest nodes.
    pub min_size: u32,
    /// Most nodes.
    pub max_size: u32,
    /// Nodes wanted now.
    pub desired_size: u32,
}

/// A taint; `effect` as EKS spells it (`NO_SCHEDULE`).
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Taint {
    /// Key.
    pub key: String,
    /// Value; may be empty.
    #[serde(default)]
    pub value: String,
    /// `NO_SCHEDULE`, `NO_EXECUTE` or `PREFER_NO_SCHEDULE`.
    pub effect: String,
}

/// `nodegroup.remoteAccess`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteAccess {
    /// EC2 key pair.
    #[serde(default)]
    pub ec2_ssh_key: Option<String>,
    /// Groups that may open SSH.
    #[serde(default)]
    pub source_security_groups: Vec<String>,
}

/// `ec2:DescribeLaunchTemplates` with those of its versions that are in use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchTemplate {
    /// Id.
    pub launch_template_id: String,
    /// Name.
    pub launch_template_name: String,
    /// What `$Default` means.
    pub default_version_number: i64,
    /// What `$Latest` means.
    pub latest_version_number: i64,
    /// Tags of the template itself.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    /// Versions that were read: those in use, the default and the latest.
    #[serde(default)]
    pub versions: Vec<LaunchTemplateVersion>,
}

/// `ec2:DescribeLaunchTemplateVersions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchTemplateVersion {
    /// Number.
    pub version_number: i64,
    /// Description; ours are `eniplan NODEGROUP HASH`.
    #[serde(default)]
    pub version_description: Option<String>,
    /// Content.
    pub launch_template_data: LaunchTemplateData,
}

impl LaunchTemplate {
    /// The version that a specification means: a number, `$Latest`, `$Default`, or nothing (which is the default).
    pub fn resolve_version(&self, version: Option<&str>) -> Option<i64> {
        match version {
            None | Some("$Default") => Some(self.default_version_number),
            Some("$Latest") => Some(self.latest_version_number),
            Some(number) => number.parse().ok(),
        }
    }

    /// The version of that number, where it was read.
    pub fn version(&self, number: i64) -> Option<&LaunchTemplateVersion> {
        self.versions.iter().find(|version| version.version_number == number)
    }
}

/// `ec2:DescribeImages`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// Id.
    pub image_id: String,
    /// AMI name, which carries family and release for AWS's own images.
    #[serde(default)]
    pub name: Option<String>,
    /// Account that owns it.
    #[serde(default)]
    pub owner_id: Option<String>,
    /// `x86_64` or `arm64`.
    #[serde(default)]
    pub architecture: Option<String>,
    /// `available`, `deregistered` …
    #[serde(default)]
    pub state: Option<String>,
}

/// Date of an EKS AMI release, such as 20251023: `releaseVersion` `1.33.1-20251023`, AMI name `…-v20251023`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct AmiRelease(pub u32);

impl AmiRelease {
    /// Reads the date at the end of a release version or AMI name. `None` when there is none, as for a private image.
    pub fn at_end_of(text: &str) -> Option<Self> {
        let last = text.rsplit('-').next()?;
        let digits = last.strip_prefix('v').unwrap_or(last);
        (digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| digits.parse().ok().map(Self))?
    }
}

impl std::fmt::Display for AmiRelease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// `ec2:DescribeInstanceTypes`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstanceType {
    /// Name, such as `m5.large`.
    pub instance_type: String,
    /// `networkInfo.defaultNetworkCardIndex`.
    #[serde(default)]
    pub default_network_card_index: u32,
    /// `networkInfo.networkCards`.
    #[serde(default)]
    pub network_cards: Vec<NetworkCard>,
    /// `networkInfo.ipv4AddressesPerInterface`, the interface's own address included.
    pub ipv4_addresses_per_interface: u32,
    /// `nitro`, `xen`; absent for bare metal.
    #[serde(default)]
    pub hypervisor: Option<String>,
    /// Bare metal, which counts as Nitro for prefixes.
    #[serde(default)]
    pub bare_metal: bool,
    /// `vCpuInfo.defaultVCpus`.
    pub default_v_cpus: u32,
    /// `processorInfo.supportedArchitectures`, such as `x86_64` or `arm64`.
    #[serde(default)]
    pub supported_architectures: Vec<String>,
}

/// One network card of an instance type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkCard {
    /// `networkCardIndex`; not the position in the list.
    pub network_card_index: u32,
    /// `maximumNetworkInterfaces` on this card.
    pub maximum_network_interfaces: u32,
}

impl InstanceType {
    /// Interfaces on the default network card, found by its index. Only these can carry pods.
    /// Source: amazon-eks-ami `nodeadm/internal/util/ec2.go`.
    pub fn default_card_interfaces(&self) -> Option<u32> {
        self.network_cards
            .iter()
            .find(|card| card.network_card_index == self.default_network_card_index)
            .map(|card| card.maximum_network_interfaces)
    }

    /// Whether the type can take /28 prefixes.
    pub fn is_nitro(&self) -> bool {
        self.bare_metal || self.hypervisor.as_deref() == Some("nitro")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn release_is_read_from_release_versions_and_ami_names() {
        for (text, release) in [
            ("1.33.1-20251023", Some(20_251_023)),
            ("amazon-eks-node-al2023-x86_64-standard-1.33-v20251023", Some(20_251_023)),
            ("ami-0123456789abcdef0", None),
            ("1.26.1-943d9a41", None),
            ("my-golden-image", None),
            ("", None),
        ] {
            assert_eq!(AmiRelease::at_end_of(text), release.map(AmiRelease), "{text}");
        }
    }
}
