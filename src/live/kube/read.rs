//! ENIConfigs with their definition, aws-node, nodes.

use super::api::{Api, Kind};
use super::connect::Access;
use crate::inventory::kubernetes::{CrdObject, DaemonSetObject, EniConfigObject, NodeObject};
use crate::inventory::{AwsNode, Cluster, EniConfig, EniConfigCrd, GapSource, Node};
use crate::live::aws::Reading;
use crate::live::failure::Failure;

const ENI_CONFIGS: Kind = Kind {
    source: GapSource::EniConfigs,
    action: "list eniconfigs",
    resource: "eniconfigs.crd.k8s.amazonaws.com",
    path: "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs",
};
const ENI_CONFIG_CRD: Kind = Kind {
    source: GapSource::EniConfigCrd,
    action: "get customresourcedefinitions",
    resource: "eniconfigs.crd.k8s.amazonaws.com",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/eniconfigs.crd.k8s.amazonaws.com",
};
const AWS_NODE: Kind = Kind {
    source: GapSource::AwsNode,
    action: "get daemonsets",
    resource: "kube-system/aws-node",
    path: "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node",
};
const NODES: Kind = Kind { source: GapSource::Nodes, action: "list nodes", resource: "nodes", path: "/api/v1/nodes" };

/// What the API server says.
#[derive(Default)]
pub(in crate::live) struct Kubernetes {
    pub(in crate::live) eni_config_crd: Option<EniConfigCrd>,
    pub(in crate::live) eni_configs: Vec<EniConfig>,
    pub(in crate::live) aws_node: Option<AwsNode>,
    pub(in crate::live) nodes: Vec<Node>,
}

/// Reads the four kinds side by side, in bounded time. What is not installed is empty, not a gap.
pub(in crate::live) async fn read_kubernetes(reading: &Reading, access: &Access, cluster: &Cluster) -> Kubernetes {
    let connection = match access {
        Access::Ready(connection) => connection,
        Access::Unavailable(reason) => {
            for kind in [ENI_CONFIG_CRD, ENI_CONFIGS, AWS_NODE, NODES] {
                reading.settle(kind.source, 0, vec![Failure::unreadable(kind.action, None, reason.clone())]);
            }
            return Kubernetes::default();
        }
    };
    let api = Api { connection, cluster, timing: &reading.clients.timing };
    let (crd, eni_configs, aws_node, nodes) = tokio::join!(
        async { reading.settle_object(GapSource::EniConfigCrd, api.object::<CrdObject>(&ENI_CONFIG_CRD).await) },
        async { reading.settle_list(GapSource::EniConfigs, api.list::<EniConfigObject>(&ENI_CONFIGS).await) },
        async { reading.settle_object(GapSource::AwsNode, api.object::<DaemonSetObject>(&AWS_NODE).await) },
        async { reading.settle_list(GapSource::Nodes, api.list::<NodeObject>(&NODES).await) },
    );
    Kubernetes {
        eni_config_crd: crd.map(EniConfigCrd::from),
        eni_configs: eni_configs.into_iter().map(EniConfig::from).collect(),
        aws_node: aws_node.and_then(DaemonSetObject::into_aws_node),
        nodes: nodes.into_iter().map(Node::from).collect(),
    }
}
