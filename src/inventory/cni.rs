//! The VPC CNI: its DaemonSet, its add-on, the ENIConfig objects and their definition.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GapSource, Inventory};

/// The `vpc-cni` add-on: `eks:DescribeAddon`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddOn {
    /// Version, such as `v1.19.0-eksbuild.1`.
    pub addon_version: String,
    /// `ACTIVE`, `UPDATING`, `DEGRADED` …
    #[serde(default)]
    pub status: Option<String>,
    /// Configuration values as the text that was set, JSON or YAML.
    #[serde(default)]
    pub configuration_values: Option<String>,
    /// IAM role for the service account.
    #[serde(default)]
    pub service_account_role_arn: Option<String>,
    /// ARNs of the pod identity associations.
    #[serde(default)]
    pub pod_identity_associations: Vec<String>,
    /// Messages of `health.issues`.
    #[serde(default)]
    pub health_issues: Vec<String>,
}

impl AddOn {
    /// The `env` of the configuration values, where they can be read.
    pub fn env(&self) -> BTreeMap<String, String> {
        let Some(text) = &self.configuration_values else { return BTreeMap::new() };
        let Ok(values) = serde_saphyr::from_str::<serde_json::Value>(text) else { return BTreeMap::new() };
        let Some(env) = values.get("env").and_then(serde_json::Value::as_object) else { return BTreeMap::new() };
        env.iter()
            .map(|(name, value)| (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
            .collect()
    }
}

/// The `aws-node` DaemonSet in `kube-system`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AwsNode {
    /// Image of the container `aws-node`.
    pub image: String,
    /// Environment of the container `aws-node`; entries that take their value from elsewhere are left out.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Labels of the DaemonSet.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Annotations of the DaemonSet, without the last-applied copy.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// Who owns which env entry.
    #[serde(default)]
    pub managers: Vec<FieldManager>,
    /// `metadata.generation`.
    #[serde(default)]
    pub generation: Option<i64>,
}

impl AwsNode {
    /// Version from the image's tag.
    pub fn version(&self) -> Option<CniVersion> {
        let (_, tag) = self.image.rsplit_once(':')?;
        CniVersion::parse(tag)
    }
}

/// A field manager and the fields that it owns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldManager {
    /// Name, such as `eks`, `kubectl-set`, `Helm`.
    pub manager: String,
    /// `Apply` or `Update`.
    pub operation: String,
    /// Names of the env entries, or paths such as `.spec.subnet`.
    #[serde(default)]
    pub fields: Vec<String>,
}

/// Version of the VPC CNI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct CniVersion(pub u32, pub u32, pub u32);

impl CniVersion {
    /// Reads `v1.19.0`, `v1.19.0-eksbuild.1`, `1.19.0`, `v1.19`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let core = text.split(['-', '+']).next()?;
        let mut numbers = core.split('.');
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        let patch = numbers.next().map_or(Some(0), |patch| patch.parse().ok())?;
        Some(Self(major, minor, patch))
    }
}

impl std::fmt::Display for CniVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "v{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The ENIConfig custom resource definition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EniConfigCrd {
    /// Whether it has a schema for `spec`; those from before CNI v1.18.3 have none and accept anything.
    #[serde(default)]
    pub has_schema: bool,
}

/// An ENIConfig object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EniConfig {
    /// `metadata.name`.
    pub name: String,
    /// `spec.subnet`; definitions without a schema let it be missing.
    #[serde(default)]
    pub subnet: Option<String>,
    /// `spec.securityGroups`; empty means those of the node's primary interface.
    #[serde(default)]
    pub security_groups: Vec<String>,
    /// Labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Annotations, without the last-applied copy.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// `metadata.uid`.
    #[serde(default)]
    pub uid: Option<String>,
    /// Who owns which field.
    #[serde(default)]
    pub managers: Vec<FieldManager>,
}

impl EniConfig {
    /// Whether a Helm release owns the object.
    pub fn owned_by_helm(&self) -> bool {
        owned_by_helm(&self.labels, &self.annotations)
    }
}

/// Helm marks its objects with a label and an annotation. Source: Helm, "Labels and Annotations" and `pkg/action/validate.go`.
pub(crate) fn owned_by_helm(labels: &BTreeMap<String, String>, annotations: &BTreeMap<String, String>) -> bool {
    labels.get("app.kubernetes.io/managed-by").is_some_and(|manager| manager == "Helm")
        || annotations.contains_key("meta.helm.sh/release-name")
}

/// The CNI's settings as they are in force, or would be once the add-on has rolled out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CniSettings {
    /// Environment by name.
    pub env: BTreeMap<String, String>,
    /// Version, where it can be told.
    pub version: Option<CniVersion>,
}

impl CniSettings {
    /// A setting; one that is set to nothing counts as unset, as in the CNI (`pkg/eniconfig/eniconfig.go`).
    pub fn value(&self, name: &str) -> Option<&str> {
        self.env.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A boolean as Go's `strconv.ParseBool` reads it; what it cannot read counts as the CNI's default, false.
    /// Source: amazon-vpc-cni-k8s `pkg/ipamd/ipamd.go`, `parseBoolEnvVar`.
    pub fn flag(&self, name: &str) -> bool {
        self.flag_or(name, false)
    }

    /// A boolean with a default other than false.
    pub fn flag_or(&self, name: &str, default: bool) -> bool {
        self.value(name).and_then(parse_go_bool).unwrap_or(default)
    }

    /// The value of a boolean that Go cannot read, where it is set to one.
    pub fn unreadable_flag(&self, name: &str) -> Option<&str> {
        self.value(name).filter(|value| parse_go_bool(value).is_none())
    }

    /// Whether custom networking is on.
    pub fn custom_networking(&self) -> bool {
        self.flag("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG")
    }

    /// The one label key that the CNI looks at. Source: `pkg/eniconfig/eniconfig.go`, `getEniConfigLabelDef`.
    pub fn label_key(&self) -> &str {
        self.value("ENI_CONFIG_LABEL_DEF").unwrap_or(DEFAULT_ENI_CONFIG_KEY)
    }

    /// The annotation key that the CNI looks at. Source: `pkg/eniconfig/eniconfig.go`, `getEniConfigAnnotationDef`.
    pub fn annotation_key(&self) -> &str {
        self.value("ENI_CONFIG_ANNOTATION_DEF").unwrap_or(DEFAULT_ENI_CONFIG_KEY)
    }

    /// Whether each address slot holds a /28 prefix on types that can.
    pub fn prefix_delegation(&self) -> bool {
        self.flag("ENABLE_PREFIX_DELEGATION")
    }

    /// Whether security groups for pods are on, which reserves an interface for the trunk.
    pub fn pod_eni(&self) -> bool {
        self.flag("ENABLE_POD_ENI")
    }

    /// `MAX_ENI`, the primary interface included. Zero and what is no number count as unset.
    pub fn max_eni(&self) -> Option<u32> {
        self.value("MAX_ENI").and_then(|value| value.parse().ok()).filter(|max| *max > 0)
    }
}

/// Label and annotation key that the CNI uses when it is told no other.
/// Source: amazon-vpc-cni-k8s `pkg/eniconfig/eniconfig.go`, `defaultEniConfigLabelDef`.
pub const DEFAULT_ENI_CONFIG_KEY: &str = "k8s.amazonaws.com/eniConfig";

/// Go's `strconv.ParseBool`.
pub(super) fn parse_go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

impl Inventory {
    /// The CNI's settings: those of the DaemonSet, or, when it could not be read, those that the add-on sets.
    /// `None` when neither was read, or when there is no CNI.
    pub fn cni_settings(&self) -> Option<CniSettings> {
        if let Some(aws_node) = &self.aws_node {
            return Some(CniSettings {
                env: aws_node.env.clone(),
                version: aws_node.version().or_else(|| self.add_on_version()),
            });
        }
        self.gaps_in(GapSource::AwsNode).next()?;
        self.add_on.as_ref().map(|add_on| CniSettings { env: add_on.env(), version: self.add_on_version() })
    }

    fn add_on_version(&self) -> Option<CniVersion> {
        CniVersion::parse(&self.add_on.as_ref()?.addon_version)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn versions_are_read_from_image_tags() {
        let aws_node = AwsNode {
            image: "602401143452.dkr.ecr.eu-west-1.amazonaws.com/amazon-k8s-cni:v1.19.3-eksbuild.1".into(),
            ..AwsNode::default()
        };
        assert_eq!(aws_node.version(), Some(CniVersion(1, 19, 3)));
        assert_eq!(CniVersion::parse("v1.9"), Some(CniVersion(1, 9, 0)));
        assert_eq!(CniVersion::parse("latest"), None);
        assert!(CniVersion(1, 9, 3) < CniVersion(1, 11, 0));
    }

    #[test]
    fn booleans_are_read_as_go_reads_them() {
        let settings = |value: &str| CniSettings {
            env: [("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG".to_owned(), value.to_owned())].into(),
            version: None,
        };
        for (value, on) in
            [("true", true), ("T", true), ("1", true), ("yes", false), ("on", false), ("", false), ("false", false)]
        {
            assert_eq!(settings(value).custom_networking(), on, "{value}");
        }
    }

    #[test]
    fn add_on_env_is_read_from_json_and_yaml() {
        for text in [r#"{"env":{"ENABLE_PREFIX_DELEGATION":"true"}}"#, "env:\n  ENABLE_PREFIX_DELEGATION: \"true\"\n"] {
            let add_on = AddOn { configuration_values: Some(text.into()), ..AddOn::default() };
            assert_eq!(add_on.env().get("ENABLE_PREFIX_DELEGATION").unwrap(), "true");
        }
    }
}
