//! Pods: nothing of them is kept beyond a row each.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::inventory::{Pod, PodPhase};

/// What the VPC resource controller writes when a pod has a branch interface of its own.
/// Source: amazon-vpc-resource-controller-k8s `pkg/config/type.go`, `ResourceNamePodENI`.
const BRANCH_INTERFACE: &str = "vpc.amazonaws.com/pod-eni";

/// `Pod` of `v1`. All other fields are passed over while the text is read.
#[derive(Debug, Deserialize)]
pub(crate) struct PodObject {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    #[serde(default)]
    namespace: String,
    name: String,
    #[serde(default)]
    annotations: Option<BTreeMap<String, IgnoredAny>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(default)]
    node_name: Option<String>,
    #[serde(default)]
    host_network: bool,
}

#[derive(Debug, Default, Deserialize)]
struct Status {
    #[serde(default)]
    phase: Option<String>,
    #[serde(default, rename = "podIP")]
    pod_ip: Option<String>,
}

impl From<PodObject> for Pod {
    fn from(PodObject { metadata, spec, status }: PodObject) -> Self {
        Self {
            branch_interface: metadata.annotations.is_some_and(|all| all.contains_key(BRANCH_INTERFACE)),
            namespace: metadata.namespace,
            name: metadata.name,
            node: spec.node_name.filter(|node| !node.is_empty()),
            ip: status.pod_ip.and_then(|ip| ip.parse::<Ipv4Addr>().ok()),
            host_network: spec.host_network,
            phase: match status.phase.as_deref() {
                Some("Pending") => PodPhase::Pending,
                Some("Running") => PodPhase::Running,
                Some("Succeeded") => PodPhase::Succeeded,
                Some("Failed") => PodPhase::Failed,
                _ => PodPhase::Unknown,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json};

    use super::*;

    fn pod(object: Value) -> Pod {
        serde_json::from_value::<PodObject>(object).unwrap().into()
    }

    #[test]
    fn a_pod_is_a_row() {
        let read = pod(json!({
            "metadata": {"namespace": "shop", "name": "web-1", "labels": {"a": "b"},
                "annotations": {"vpc.amazonaws.com/pod-eni": "[{\"eniId\":\"eni-1\"}]"}},
            "spec": {"nodeName": "ip-10-0-1-2.eu-west-1.compute.internal", "containers": [{"name": "web"}]},
            "status": {"phase": "Running", "podIP": "100.64.1.7", "podIPs": [{"ip": "100.64.1.7"}]},
        }));
        let row = Pod {
            namespace: "shop".into(),
            name: "web-1".into(),
            node: Some("ip-10-0-1-2.eu-west-1.compute.internal".into()),
            ip: Some(Ipv4Addr::new(100, 64, 1, 7)),
            host_network: false,
            phase: PodPhase::Running,
            branch_interface: true,
        };
        assert_eq!(read, row);
    }

    #[test]
    fn what_a_pod_does_not_have_yet_is_absent() {
        let read = pod(json!({
            "metadata": {"namespace": "shop", "name": "web-1", "annotations": null},
            "spec": {"hostNetwork": true}, "status": {"phase": "Pending", "podIP": ""},
        }));
        assert_eq!((read.node, read.ip, read.phase), (None, None, PodPhase::Pending));
        assert!(read.host_network && !read.branch_interface);
        let six = pod(json!({"metadata": {"name": "a"}, "status": {"phase": "Evicted", "podIP": "2600:1f14::7"}}));
        assert_eq!((six.ip, six.phase), (None, PodPhase::Unknown));
    }
}
