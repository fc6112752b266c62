//! What `kubectl get … -o json` prints, as parts of the inventory.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::document::OfKind;
use super::folder::Folder;
use super::names::{self, Known};
use crate::error::Error;
use crate::inventory::kubernetes::{CrdObject, DaemonSetObject, EniConfigObject, NodeObject};
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

impl OfKind for CrdObject {
    const KIND: &'static str = "CustomResourceDefinition";
}
impl OfKind for EniConfigObject {
    const KIND: &'static str = "ENIConfig";
}
impl OfKind for DaemonSetObject {
    const KIND: &'static str = "DaemonSet";
}
impl OfKind for NodeObject {
    const KIND: &'static str = "Node";
}

/// `APIGroupList` of the API server: which kinds can be there at all.
#[derive(Debug, Deserialize)]
struct ApiGroups {
    groups: Vec<ApiGroup>,
}

#[derive(Debug, Deserialize)]
struct ApiGroup {
    name: String,
}

impl OfKind for ApiGroups {
    const KIND: &'static str = "APIGroupList";
}

/// Reads the objects. A file that is missing is no gap where its kind is known not to be installed.
pub(super) fn objects(folder: &mut Folder<'_>, cluster: &Cluster, verification: bool) -> Result<Kubernetes, Error> {
    let reader = Reader { has_endpoint: cluster.endpoint.is_some(), groups: groups(folder)? };
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

/// Groups of the API that have the kinds.
const ALWAYS: &str = "";
const ENI_CONFIGS: &str = "crd.k8s.amazonaws.com";

enum Crd {
    Read(Option<CrdObject>),
    Unknown,
}

struct Reader {
    has_endpoint: bool,
    groups: Option<Vec<String>>,
}

impl Reader {
    fn is_not_installed(&self, group: &str) -> bool {
        let is_there = |groups: &Vec<String>| groups.iter().any(|name| name == group);
        group != ALWAYS && self.groups.as_ref().is_some_and(|groups| !is_there(groups))
    }

    fn list<T, U>(&self, folder: &mut Folder<'_>, known: Known, group: &str) -> Result<Vec<U>, Error>
    where
        T: DeserializeOwned + OfKind,
        U: From<T>,
    {
        if let Some(document) = folder.one(known) {
            return Ok(document.objects::<T>()?.into_iter().map(U::from).collect());
        }
        if !self.is_not_installed(group) {
            self.gap(folder, known);
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
        Ok(Some(Observed::default()))
    }
}

fn groups(folder: &Folder<'_>) -> Result<Option<Vec<String>>, Error> {
    let Some(document) = folder.one(names::API_GROUPS) else { return Ok(None) };
    let lists = document.objects::<ApiGroups>()?;
    Ok(Some(lists.into_iter().flat_map(|list| list.groups).map(|group| group.name).collect()))
}
