//! The custom resources beside ENIConfigs that decide where interfaces and pods end up.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::inventory::{CniNode, Ec2NodeClass, NodePool, SecurityGroupPolicy};

/// The label of a node's zone. Source: Kubernetes reference, "Well-Known Labels, Annotations and Taints".
const ZONE: &str = "topology.kubernetes.io/zone";

#[derive(Debug, Deserialize)]
struct Metadata {
    #[serde(default)]
    namespace: String,
    name: String,
}

/// `CNINode` of `vpcresources.k8s.aws/v1alpha1`.
/// Source: amazon-vpc-resource-controller-k8s `apis/vpcresources/v1alpha1/cninode_types.go`.
#[derive(Debug, Deserialize)]
pub(crate) struct CniNodeObject {
    metadata: Metadata,
    #[serde(default)]
    spec: CniNodeSpec,
}

#[derive(Debug, Default, Deserialize)]
struct CniNodeSpec {
    #[serde(default)]
    features: Option<Vec<Feature>>,
}

#[derive(Debug, Deserialize)]
struct Feature {
    name: String,
    #[serde(default)]
    value: String,
}

impl From<CniNodeObject> for CniNode {
    fn from(object: CniNodeObject) -> Self {
        let features = object.spec.features.unwrap_or_default();
        Self {
            name: object.metadata.name,
            features: features.into_iter().map(|feature| (feature.name, feature.value)).collect(),
        }
    }
}

/// `SecurityGroupPolicy` of `vpcresources.k8s.aws/v1beta1`.
/// Source: amazon-vpc-resource-controller-k8s `apis/vpcresources/v1beta1/securitygrouppolicy_types.go`.
#[derive(Debug, Deserialize)]
pub(crate) struct SecurityGroupPolicyObject {
    metadata: Metadata,
    #[serde(default)]
    spec: SecurityGroupPolicySpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SecurityGroupPolicySpec {
    #[serde(default)]
    security_groups: GroupIds,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GroupIds {
    #[serde(default)]
    group_ids: Option<Vec<String>>,
}

impl From<SecurityGroupPolicyObject> for SecurityGroupPolicy {
    fn from(object: SecurityGroupPolicyObject) -> Self {
        Self {
            namespace: object.metadata.namespace,
            name: object.metadata.name,
            group_ids: object.spec.security_groups.group_ids.unwrap_or_default(),
        }
    }
}

/// `NodePool` of `karpenter.sh/v1`. Source: Karpenter, `pkg/apis/v1/nodepool.go`.
#[derive(Debug, Deserialize)]
pub(crate) struct NodePoolObject {
    metadata: Metadata,
    #[serde(default)]
    spec: NodePoolSpec,
}

#[derive(Debug, Default, Deserialize)]
struct NodePoolSpec {
    #[serde(default)]
    template: NodeTemplate,
}

#[derive(Debug, Default, Deserialize)]
struct NodeTemplate {
    #[serde(default)]
    metadata: TemplateMetadata,
    #[serde(default)]
    spec: NodeClaimSpec,
}

#[derive(Debug, Default, Deserialize)]
struct TemplateMetadata {
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeClaimSpec {
    #[serde(default)]
    requirements: Option<Vec<Requirement>>,
    #[serde(default)]
    node_class_ref: Option<NodeClassRef>,
}

#[derive(Debug, Deserialize)]
struct Requirement {
    key: String,
    operator: String,
    #[serde(default)]
    values: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct NodeClassRef {
    name: String,
}

impl From<NodePoolObject> for NodePool {
    fn from(object: NodePoolObject) -> Self {
        let NodeTemplate { metadata, spec } = object.spec.template;
        let of_zones = |wanted: &Requirement| wanted.key == ZONE && wanted.operator == "In";
        let requirements = spec.requirements.unwrap_or_default();
        Self {
            name: object.metadata.name,
            labels: metadata.labels.unwrap_or_default(),
            zones: requirements.into_iter().find(of_zones).and_then(|wanted| wanted.values).unwrap_or_default(),
            node_class: spec.node_class_ref.map(|class| class.name),
        }
    }
}

/// `EC2NodeClass` of `karpenter.k8s.aws/v1`. Source: karpenter-provider-aws, `pkg/apis/v1/ec2nodeclass.go`.
#[derive(Debug, Deserialize)]
pub(crate) struct Ec2NodeClassObject {
    metadata: Metadata,
    #[serde(default)]
    spec: Ec2NodeClassSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ec2NodeClassSpec {
    #[serde(default)]
    user_data: Option<String>,
    #[serde(default)]
    kubelet: Option<Kubelet>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kubelet {
    #[serde(default)]
    max_pods: Option<u32>,
}

impl From<Ec2NodeClassObject> for Ec2NodeClass {
    fn from(object: Ec2NodeClassObject) -> Self {
        Self {
            name: object.metadata.name,
            user_data: object.spec.user_data,
            max_pods: object.spec.kubelet.and_then(|kubelet| kubelet.max_pods),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;

    fn read<T: DeserializeOwned, U: From<T>>(object: Value) -> U {
        serde_json::from_value::<T>(object).unwrap().into()
    }

    #[test]
    fn the_eni_config_of_trunk_interfaces_is_a_feature() {
        let node: CniNode = read::<CniNodeObject, _>(json!({
            "metadata": {"name": "ip-10-0-1-2.eu-west-1.compute.internal"},
            "spec": {"features": [{"name": "SecurityGroupsForPods"}, {"name": "CustomNetworking", "value": "a-1"}]},
        }));
        assert_eq!(node.features.get("CustomNetworking").map(String::as_str), Some("a-1"));
        assert_eq!(node.features.get("SecurityGroupsForPods").map(String::as_str), Some(""));
        let bare: CniNode = read::<CniNodeObject, _>(json!({"metadata": {"name": "n"}, "spec": {"features": null}}));
        assert!(bare.features.is_empty());
    }

    #[test]
    fn a_policy_names_groups() {
        let policy: SecurityGroupPolicy = read::<SecurityGroupPolicyObject, _>(json!({
            "metadata": {"namespace": "shop", "name": "db"},
            "spec": {"podSelector": {}, "securityGroups": {"groupIds": ["sg-1", "sg-2"]}},
        }));
        assert_eq!(policy.group_ids, ["sg-1", "sg-2"]);
    }

    #[test]
    fn zones_of_a_pool_are_those_of_its_requirement() {
        let pool = |operator: &str| -> NodePool {
            read::<NodePoolObject, _>(json!({
                "metadata": {"name": "spot"},
                "spec": {"template": {
                    "metadata": {"labels": {"team": "a"}},
                    "spec": {
                        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "spot"},
                        "requirements": [
                            {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
                            {"key": "topology.kubernetes.io/zone", "operator": operator, "values": ["eu-west-1a"]},
                        ],
                    },
                }},
            }))
        };
        assert_eq!(pool("In").zones, ["eu-west-1a"]);
        assert!(pool("NotIn").zones.is_empty());
        assert_eq!(pool("In").node_class.as_deref(), Some("spot"));
        assert_eq!(pool("In").labels.get("team").map(String::as_str), Some("a"));
    }

    #[test]
    fn a_node_class_may_leave_everything_to_karpenter() {
        let class: Ec2NodeClass = read::<Ec2NodeClassObject, _>(json!({"metadata": {"name": "spot"}, "spec": {}}));
        assert_eq!((class.user_data, class.max_pods), (None, None));
        let class: Ec2NodeClass = read::<Ec2NodeClassObject, _>(json!({
            "metadata": {"name": "spot"}, "spec": {"userData": "#!/bin/sh\n", "kubelet": {"maxPods": 58}},
        }));
        assert_eq!((class.user_data.as_deref(), class.max_pods), (Some("#!/bin/sh\n"), Some(58)));
    }
}
