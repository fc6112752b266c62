//! ENIConfigs with their definition, aws-node, nodes; for `verify` what else decides where interfaces and pods are.

use serde::de::DeserializeOwned;

use super::api::{Api, Kind, PAGE};
use super::connect::Access;
use crate::inventory::kubernetes::{
    CniNodeObject, CrdObject, DaemonSetObject, Ec2NodeClassObject, EniConfigObject, NodeObject, NodePoolObject,
    PodObject, SecurityGroupPolicyObject,
};
use crate::inventory::{AwsNode, Cluster, EniConfig, EniConfigCrd, GapSource, Node, Observed};
use crate::live::aws::Reading;
use crate::live::failure::Failure;

const ENI_CONFIGS: Kind = Kind {
    source: GapSource::EniConfigs,
    action: "list eniconfigs",
    resource: "eniconfigs.crd.k8s.amazonaws.com",
    path: "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs",
    page: PAGE,
};
const ENI_CONFIG_CRD: Kind = Kind {
    source: GapSource::EniConfigCrd,
    action: "get customresourcedefinitions",
    resource: "eniconfigs.crd.k8s.amazonaws.com",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/eniconfigs.crd.k8s.amazonaws.com",
    page: PAGE,
};
const AWS_NODE: Kind = Kind {
    source: GapSource::AwsNode,
    action: "get daemonsets",
    resource: "kube-system/aws-node",
    path: "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node",
    page: PAGE,
};
const NODES: Kind =
    Kind { source: GapSource::Nodes, action: "list nodes", resource: "nodes", path: "/api/v1/nodes", page: PAGE };
const PODS: Kind =
    Kind { source: GapSource::Pods, action: "list pods", resource: "pods", path: "/api/v1/pods", page: PAGE };
const CNI_NODES: Kind = Kind {
    source: GapSource::CniNodes,
    action: "list cninodes",
    resource: "cninodes.vpcresources.k8s.aws",
    path: "/apis/vpcresources.k8s.aws/v1alpha1/cninodes",
    // One for each node and less than a kilobyte.
    page: 4 * PAGE,
};
const SECURITY_GROUP_POLICIES: Kind = Kind {
    source: GapSource::SecurityGroupPolicies,
    action: "list securitygrouppolicies",
    resource: "securitygrouppolicies.vpcresources.k8s.aws",
    path: "/apis/vpcresources.k8s.aws/v1beta1/securitygrouppolicies",
    page: PAGE,
};
const NODE_POOLS: Kind = Kind {
    source: GapSource::NodePools,
    action: "list nodepools",
    resource: "nodepools.karpenter.sh",
    path: "/apis/karpenter.sh/v1/nodepools",
    page: PAGE,
};
const EC2_NODE_CLASSES: Kind = Kind {
    source: GapSource::Ec2NodeClasses,
    action: "list ec2nodeclasses",
    resource: "ec2nodeclasses.karpenter.k8s.aws",
    path: "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
    page: PAGE,
};

/// What the API server says.
#[derive(Default)]
pub(in crate::live) struct Kubernetes {
    pub(in crate::live) eni_config_crd: Option<EniConfigCrd>,
    pub(in crate::live) eni_configs: Vec<EniConfig>,
    pub(in crate::live) aws_node: Option<AwsNode>,
    pub(in crate::live) nodes: Vec<Node>,
    /// All of it but the network interfaces; only for `verify`.
    pub(in crate::live) observed: Option<Observed>,
}

/// Reads the kinds side by side, in bounded time. What is not installed is empty, not a gap.
pub(in crate::live) async fn read_kubernetes(
    reading: &Reading,
    access: &Access,
    cluster: &Cluster,
    verification: bool,
) -> Kubernetes {
    let connection = match access {
        Access::Ready(connection) => connection,
        Access::Unavailable(reason) => {
            let observed = [PODS, CNI_NODES, SECURITY_GROUP_POLICIES, NODE_POOLS, EC2_NODE_CLASSES];
            let observed = observed.into_iter().filter(|_| verification);
            for kind in [ENI_CONFIG_CRD, ENI_CONFIGS, AWS_NODE, NODES].into_iter().chain(observed) {
                reading.settle(kind.source, 0, vec![Failure::unreadable(kind.action, None, reason.clone())]);
            }
            return Kubernetes { observed: verification.then(Observed::default), ..Kubernetes::default() };
        }
    };
    let api = Api { connection, cluster, timing: &reading.clients.timing };
    let (crd, eni_configs, aws_node, nodes, observed) = tokio::join!(
        async { reading.settle_object(GapSource::EniConfigCrd, api.object::<CrdObject>(&ENI_CONFIG_CRD).await) },
        list::<EniConfigObject, _>(reading, &api, &ENI_CONFIGS),
        async { reading.settle_object(GapSource::AwsNode, api.object::<DaemonSetObject>(&AWS_NODE).await) },
        list::<NodeObject, _>(reading, &api, &NODES),
        async { if verification { Some(observed(reading, &api).await) } else { None } },
    );
    Kubernetes {
        eni_config_crd: crd.map(EniConfigCrd::from),
        eni_configs,
        aws_node: aws_node.and_then(DaemonSetObject::into_aws_node),
        nodes,
        observed,
    }
}

async fn observed(reading: &Reading, api: &Api<'_>) -> Observed {
    let (pods, cni_nodes, security_group_policies, node_pools, ec2_node_classes) = tokio::join!(
        list::<PodObject, _>(reading, api, &PODS),
        list::<CniNodeObject, _>(reading, api, &CNI_NODES),
        list::<SecurityGroupPolicyObject, _>(reading, api, &SECURITY_GROUP_POLICIES),
        list::<NodePoolObject, _>(reading, api, &NODE_POOLS),
        list::<Ec2NodeClassObject, _>(reading, api, &EC2_NODE_CLASSES),
    );
    Observed { pods, network_interfaces: Vec::new(), cni_nodes, security_group_policies, node_pools, ec2_node_classes }
}

async fn list<T: DeserializeOwned, U: From<T>>(reading: &Reading, api: &Api<'_>, kind: &Kind) -> Vec<U> {
    reading.settle_list(kind.source, api.list::<T, U>(kind).await)
}
