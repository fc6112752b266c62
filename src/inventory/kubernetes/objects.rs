//! Objects of the Kubernetes API, reduced to the fields that the inventory has.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde::Deserialize;
use serde_json::Value;

use super::super::{AwsNode, EniConfig, EniConfigCrd, Node};
use super::managed_fields::{ManagedFields, managers_of_env, managers_of_spec};

/// kubectl's copy of what was applied last; it repeats the object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A page of a list.
#[derive(Debug, Deserialize)]
pub(crate) struct List<T> {
    #[serde(default)]
    pub(crate) metadata: ListMetadata,
    pub(crate) items: Vec<T>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct ListMetadata {
    /// Where the next page begins; empty on the last.
    #[serde(default, rename = "continue")]
    pub(crate) next: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    #[serde(default)]
    uid: Option<String>,
    #[serde(default)]
    generation: Option<i64>,
    #[serde(default)]
    creation_timestamp: Option<String>,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
    #[serde(default)]
    annotations: Option<BTreeMap<String, String>>,
}

impl Metadata {
    fn take_annotations(&mut self) -> BTreeMap<String, String> {
        let mut annotations = self.annotations.take().unwrap_or_default();
        annotations.remove(LAST_APPLIED);
        annotations
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owned {
    #[serde(default)]
    managed_fields: Vec<ManagedFields>,
}

/// `ENIConfig` of `crd.k8s.amazonaws.com/v1alpha1`.
#[derive(Debug, Deserialize)]
pub(crate) struct EniConfigObject {
    metadata: WithOwners,
    #[serde(default)]
    spec: EniConfigSpec,
}

#[derive(Debug, Deserialize)]
struct WithOwners {
    #[serde(flatten)]
    own: Metadata,
    #[serde(flatten)]
    owned: Owned,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EniConfigSpec {
    #[serde(default)]
    subnet: Option<String>,
    #[serde(default)]
    security_groups: Option<Vec<String>>,
}

impl From<EniConfigObject> for EniConfig {
    fn from(mut object: EniConfigObject) -> Self {
        let annotations = object.metadata.own.take_annotations();
        Self {
            name: object.metadata.own.name,
            subnet: object.spec.subnet.filter(|subnet| !subnet.is_empty()),
            security_groups: object.spec.security_groups.unwrap_or_default(),
            labels: object.metadata.own.labels.unwrap_or_default(),
            annotations,
            uid: object.metadata.own.uid,
            managers: managers_of_spec(&object.metadata.owned.managed_fields),
        }
    }
}

/// `CustomResourceDefinition` of `apiextensions.k8s.io/v1`.
#[derive(Debug, Deserialize)]
pub(crate) struct CrdObject {
    metadata: Metadata,
    spec: CrdSpec,
}

impl CrdObject {
    /// Whether it defines ENIConfigs.
    pub(crate) fn is_of_eni_configs(&self) -> bool {
        self.metadata.name == "eniconfigs.crd.k8s.amazonaws.com"
    }
}

#[derive(Debug, Deserialize)]
struct CrdSpec {
    #[serde(default)]
    versions: Vec<CrdVersion>,
}

#[derive(Debug, Deserialize)]
struct CrdVersion {
    #[serde(default)]
    schema: Value,
}

impl From<CrdObject> for EniConfigCrd {
    fn from(object: CrdObject) -> Self {
        let has_schema = object
            .spec
            .versions
            .iter()
            .any(|version| version.schema.pointer("/openAPIV3Schema/properties/spec").is_some());
        Self { has_schema }
    }
}

/// `DaemonSet` of `apps/v1`.
#[derive(Debug, Deserialize)]
pub(crate) struct DaemonSetObject {
    metadata: WithOwners,
    spec: DaemonSetSpec,
}

#[derive(Debug, Deserialize)]
struct DaemonSetSpec {
    template: PodTemplate,
}

#[derive(Debug, Deserialize)]
struct PodTemplate {
    spec: PodSpec,
}

#[derive(Debug, Deserialize)]
struct PodSpec {
    #[serde(default)]
    containers: Vec<Container>,
}

#[derive(Debug, Deserialize)]
struct Container {
    name: String,
    #[serde(default)]
    image: String,
    #[serde(default)]
    env: Option<Vec<EnvEntry>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EnvEntry {
    name: String,
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    value_from: Option<Value>,
}

impl DaemonSetObject {
    /// The DaemonSet, where it has a container `aws-node`.
    pub(crate) fn into_aws_node(mut self) -> Option<AwsNode> {
        let container =
            self.spec.template.spec.containers.into_iter().find(|container| container.name == "aws-node")?;
        let env = container
            .env
            .unwrap_or_default()
            .into_iter()
            .filter(|entry| entry.value_from.is_none())
            .map(|entry| (entry.name, entry.value.unwrap_or_default()))
            .collect();
        Some(AwsNode {
            image: container.image,
            env,
            annotations: self.metadata.own.take_annotations(),
            labels: self.metadata.own.labels.unwrap_or_default(),
            managers: managers_of_env(&self.metadata.owned.managed_fields),
            generation: self.metadata.own.generation,
        })
    }
}

/// `Node` of `v1`.
#[derive(Debug, Deserialize)]
pub(crate) struct NodeObject {
    metadata: Metadata,
    #[serde(default)]
    spec: NodeSpec,
    #[serde(default)]
    status: NodeStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeSpec {
    #[serde(default, rename = "providerID")]
    provider_id: Option<String>,
    #[serde(default)]
    unschedulable: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeStatus {
    #[serde(default)]
    addresses: Option<Vec<NodeAddress>>,
    #[serde(default)]
    capacity: Option<BTreeMap<String, Value>>,
    #[serde(default)]
    conditions: Option<Vec<Condition>>,
    #[serde(default)]
    node_info: NodeInfo,
}

#[derive(Debug, Deserialize)]
struct NodeAddress {
    #[serde(rename = "type")]
    kind: String,
    address: String,
}

#[derive(Debug, Deserialize)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeInfo {
    #[serde(default)]
    os_image: Option<String>,
}

impl From<NodeObject> for Node {
    fn from(mut object: NodeObject) -> Self {
        let status = object.status;
        Self {
            instance_id: object.spec.provider_id.as_deref().and_then(instance_id),
            annotations: object.metadata.take_annotations(),
            labels: object.metadata.labels.unwrap_or_default(),
            internal_ip: status
                .addresses
                .unwrap_or_default()
                .iter()
                .filter(|address| address.kind == "InternalIP")
                .find_map(|address| address.address.parse::<Ipv4Addr>().ok()),
            max_pods: status.capacity.as_ref().and_then(|capacity| capacity.get("pods")).and_then(number),
            created_at: object.metadata.creation_timestamp,
            ready: status
                .conditions
                .unwrap_or_default()
                .iter()
                .any(|condition| condition.kind == "Ready" && condition.status == "True"),
            os_image: status.node_info.os_image.filter(|image| !image.is_empty()),
            unschedulable: object.spec.unschedulable,
            name: object.metadata.name,
        }
    }
}

/// The instance id of `aws:///eu-west-1a/i-0123456789abcdef0`; Fargate's and hybrid nodes' ids have another end.
fn instance_id(provider_id: &str) -> Option<String> {
    let last = provider_id.strip_prefix("aws://")?.rsplit('/').next()?;
    last.starts_with("i-").then(|| last.to_owned())
}

/// A quantity that counts things: `"110"`, or the bare number.
fn number(quantity: &Value) -> Option<u32> {
    match quantity {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64().and_then(|number| u32::try_from(number).ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instance_ids_are_read_from_provider_ids() {
        for (provider_id, id) in [
            ("aws:///eu-west-1a/i-0123456789abcdef0", Some("i-0123456789abcdef0")),
            ("aws:///eu-west-1a/f0e1d2c3-fargate-ip-10-0-1-2", None),
            ("eks-hybrid:///eu-west-1/demo/mi-0123456789abcdef0", None),
        ] {
            assert_eq!(instance_id(provider_id).as_deref(), id, "{provider_id}");
        }
    }
}
