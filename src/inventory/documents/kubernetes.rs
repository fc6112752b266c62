//! What `kubectl get … -o json` prints, as parts of the inventory.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::document::OfKind;
use super::folder::Folder;
use super::names::{self, Known};
use crate::error::Error;
use crate::inventory::kubernetes::{
    CniNodeObject, CrdObject, DaemonSetObject, Ec2NodeClassObject, EniConfigObject, NodeObject, NodePoolObject,
    PodObject, SecurityGroupPolicyObject,
};
use crate::inventory::{AwsNode, Cluster, EniConfig, EniConfigCrd, Node, Observed};

/// What the files of Kubernetes say.
#[derive(Default)]
pub(super) struct Kubernetes {
    pub(super) eni_config_crd: Option<EniConfigCrd>,
    pub(super) eni_configs: Vec<EniConfig>,
    pub(super) aws_node: Option<AwsNode>,
    pub(super) nodes: Vec<Node>,
    /// All of it but the network interfaces; only where any of it is there or wanted.
    pub(super) observed: Option<Observed>,
}

macro_rules! of_kind {
    ($($object:ty: $kind:literal,)*) => {$(
        impl OfKind for $object {
            const KIND: &'static str = $kind;
        }
    )*};
}

of_kind! {
    ApiGroups: "APIGroupList",
    CrdObject: "CustomResourceDefinition",
    EniConfigObject: "ENIConfig",
    DaemonSetObject: "DaemonSet",
    NodeObject: "Node",
    PodObject: "Pod",
    CniNodeObject: "CNINode",
    SecurityGroupPolicyObject: "SecurityGroupPolicy",
    NodePoolObject: "NodePool",
    Ec2NodeClassObject: "EC2NodeClass",
}

/// `APIGroupList` of the API server: which kinds can be there at all.
#[derive(Debug, Deserialize)]
struct ApiGroups {
    groups: Vec<ApiGroup>,
}

#[derive(Debug, Deserialize)]
struct ApiGroup {
    versions: Vec<GroupVersion>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GroupVersion {
    group_version: String,
}

/// Reads the objects. A file that is missing is no gap where its kind is known not to be installed.
pub(super) fn objects(folder: &mut Folder<'_>, cluster: &Cluster, verification: bool) -> Result<Kubernetes, Error> {
    let reader = Reader { has_endpoint: cluster.endpoint.is_some(), served: served(folder)? };
    let crd = match folder.one(names::ENI_CONFIG_CRD) {
        Some(document) => Crd::Read(document.objects::<CrdObject>()?.into_iter().find(CrdObject::is_of_eni_configs)),
        None if reader.is_not_installed(ENI_CONFIGS) => Crd::Read(None),
        None => Crd::Unknown,
    };
    let eni_configs = match (&crd, folder.one(names::ENI_CONFIGS)) {
        // Without the definition there are no objects, and `kubectl` finds no such kind.
        (Crd::Read(None), None) => Vec::new(),
        _ => reader.list::<EniConfigObject, EniConfig>(folder, names::ENI_CONFIGS, ENI_CONFIGS)?,
    };
    let eni_config_crd = match crd {
        Crd::Read(crd) => crd.map(EniConfigCrd::from),
        Crd::Unknown => {
            reader.gap(folder, names::ENI_CONFIG_CRD);
            None
        }
    };
    let aws_node = match folder.one(names::AWS_NODE) {
        Some(document) => document.objects::<DaemonSetObject>()?.into_iter().find_map(DaemonSetObject::into_aws_node),
        None => {
            reader.gap(folder, names::AWS_NODE);
            None
        }
    };
    let nodes = reader.list::<NodeObject, Node>(folder, names::NODES, ALWAYS)?;
    let observed = reader.observed(folder, verification)?;
    Ok(Kubernetes { eni_config_crd, eni_configs, aws_node, nodes, observed })
}

/// Groups of the API, with the version that has the kind; a group can be there without it.
const ALWAYS: &str = "";
const ENI_CONFIGS: &str = "crd.k8s.amazonaws.com/v1alpha1";
const CNI_NODES: &str = "vpcresources.k8s.aws/v1alpha1";
const SECURITY_GROUP_POLICIES: &str = "vpcresources.k8s.aws/v1beta1";
const NODE_POOLS: &str = "karpenter.sh/v1";
const EC2_NODE_CLASSES: &str = "karpenter.k8s.aws/v1";

enum Crd {
    Read(Option<CrdObject>),
    Unknown,
}

struct Reader {
    has_endpoint: bool,
    /// Versions of groups that the API server has, where they are known.
    served: Option<Vec<String>>,
}

impl Reader {
    fn is_not_installed(&self, version: &str) -> bool {
        let is_there = |served: &Vec<String>| served.iter().any(|one| one == version);
        version != ALWAYS && self.served.as_ref().is_some_and(|served| !is_there(served))
    }

    fn list<T, U>(&self, folder: &mut Folder<'_>, known: Known, version: &str) -> Result<Vec<U>, Error>
    where
        T: DeserializeOwned + OfKind,
        U: From<T>,
    {
        if let Some(document) = folder.one(known) {
            return Ok(document.objects::<T>()?.into_iter().map(U::from).collect());
        }
        if version == ALWAYS || known == names::ENI_CONFIGS || !self.has_endpoint {
            self.gap(folder, known);
        } else if self.served.is_none() {
            folder.gap_unless(known, "there is no such kind", names::API_GROUPS);
        } else if !self.is_not_installed(version) {
            folder.gap(known);
        }
        Ok(Vec::new())
    }

    /// A cluster that is being made has no API server yet, and no command can ask it.
    fn gap(&self, folder: &mut Folder<'_>, known: Known) {
        if self.has_endpoint {
            folder.gap(known);
        } else {
            folder.gap_saying(known, None, "the cluster has no endpoint yet".into());
        }
    }

    fn observed(&self, folder: &mut Folder<'_>, verification: bool) -> Result<Option<Observed>, Error> {
        const KINDS: [Known; 6] = [
            names::PODS,
            names::NETWORK_INTERFACES,
            names::CNI_NODES,
            names::SECURITY_GROUP_POLICIES,
            names::NODE_POOLS,
            names::EC2_NODE_CLASSES,
        ];
        if !verification && !KINDS.into_iter().any(|known| folder.has(known)) {
            return Ok(None);
        }
        Ok(Some(Observed {
            pods: self.list::<PodObject, _>(folder, names::PODS, ALWAYS)?,
            network_interfaces: Vec::new(),
            cni_nodes: self.list::<CniNodeObject, _>(folder, names::CNI_NODES, CNI_NODES)?,
            security_group_policies: self.list::<SecurityGroupPolicyObject, _>(
                folder,
                names::SECURITY_GROUP_POLICIES,
                SECURITY_GROUP_POLICIES,
            )?,
            node_pools: self.list::<NodePoolObject, _>(folder, names::NODE_POOLS, NODE_POOLS)?,
            ec2_node_classes: self.list::<Ec2NodeClassObject, _>(folder, names::EC2_NODE_CLASSES, EC2_NODE_CLASSES)?,
        }))
    }
}

fn served(folder: &Folder<'_>) -> Result<Option<Vec<String>>, Error> {
    let Some(document) = folder.one(names::API_GROUPS) else { return Ok(None) };
    let lists = document.objects::<ApiGroups>()?;
    Ok(Some(
        lists
            .into_iter()
            .flat_map(|list| list.groups)
            .flat_map(|group| group.versions)
            .map(|version| version.group_version)
            .collect(),
    ))
}
