//! Reading `eniplan.yaml`: the document, `metadata` and the parts of `spec` that are not groups or pools.

use std::collections::BTreeMap;

use super::aws_names::{cluster_name, node_group_name, region, security_groups};
use super::cni_env::cni_env;
use super::fault::{Fault, Mark, nearest, shown};
use super::label::label;
use super::node_groups::{ParsedNodeGroup, node_groups};
use super::phases::{current_phase, phases};
use super::pools::pools;
use super::read::{Fields, find, list, mapping, text, texts};
use super::tree::{Entry, Node, ScalarKind, Value, parse};
use super::{Config, Phase};
use crate::error::Error;

/// The `apiVersion` that this program reads.
pub(super) const API_VERSION: &str = "eniplan.dev/v1alpha1";
/// The `kind` that this program reads.
pub(super) const KIND: &str = "PodNetworkPlan";

pub(super) const DOCUMENT_KEYS: &[&str] = &["apiVersion", "kind", "metadata", "spec"];
pub(super) const METADATA_KEYS: &[&str] = &["name", "region"];
pub(super) const SPEC_KEYS: &[&str] =
    &["securityGroups", "label", "cni", "pools", "nodeGroups", "ignore", "phases", "currentPhase"];
pub(super) const CNI_KEYS: &[&str] = &["env"];

impl Config {
    /// Reads the text of an `eniplan.yaml`. `path` is used in errors only.
    ///
    /// # Errors
    /// [`Error::Config`] with line, column, the lines around and what to write instead.
    pub fn from_yaml(text: &str, path: &str) -> Result<Self, Error> {
        parse(text).and_then(|root| document(&root)).map_err(|fault| fault.into_error(text, path))
    }
}

fn document(root: &Node) -> Result<Config, Fault> {
    if matches!(&root.value, Value::Scalar(scalar) if scalar.kind == ScalarKind::Nothing) {
        return Err(Fault::new(
            Mark { line: 1, column: 1, width: 1 },
            "the file is empty",
            format!("begin with `apiVersion: {API_VERSION}` and `kind: {KIND}`; `eniplan init` writes a first file"),
        ));
    }
    // A version that we do not know may have keys that we do not know.
    if let Some(entry) = find(mapping(root, root.mark, "the file")?, "apiVersion") {
        api_version(&entry.value)?;
    }
    let fields = Fields::new(root, root.mark, "the file", DOCUMENT_KEYS)?;
    fields.require("apiVersion", &format!("apiVersion: {API_VERSION}"))?;
    kind(&fields.require("kind", &format!("kind: {KIND}"))?.value)?;

    let metadata = fields.require("metadata", "metadata: {name: NAME-OF-THE-CLUSTER}")?;
    let metadata = Fields::new(&metadata.value, metadata.key.mark, "metadata", METADATA_KEYS)?;
    let cluster = cluster_name(&metadata.require("name", "name: NAME-OF-THE-CLUSTER")?.value)?;
    let region = metadata.value("region", region)?;

    let entry = fields.require("spec", "spec: {pools: …, nodeGroups: …}")?;
    let read = |node: &Node| spec(node, entry.key.mark, &cluster, region.as_deref());
    let mut config = read(&entry.value)?;
    let fields = Fields::new(&entry.value, entry.key.mark, "spec", SPEC_KEYS)?;
    let phases = fields.entry("phases", |phases| self::phases(phases, &entry.value))?.unwrap_or_default();
    config.current_phase = fields.value("currentPhase", |node| current_phase(node, &phases))?;
    for phase in phases {
        config.phases.push(Phase { config: read(&phase.spec)?, name: phase.name });
    }
    Ok(config)
}

/// The spec without its phases.
fn spec(node: &Node, mark: Mark, cluster: &str, region: Option<&str>) -> Result<Config, Fault> {
    let spec = Fields::new(node, mark, "spec", SPEC_KEYS)?;
    let security_groups = spec.value("securityGroups", security_groups)?;
    let label = spec.entry("label", label)?;
    let cni_env = spec.entry("cni", cni)?.unwrap_or_default();
    let pools = spec.entry("pools", pools)?.unwrap_or_default();
    let groups = spec.value("nodeGroups", |node| node_groups(node, &pools, label.as_ref()))?.unwrap_or_default();
    let ignore = spec.value("ignore", |node| ignore(node, &groups))?.unwrap_or_default();
    Ok(Config {
        cluster: cluster.into(),
        region: region.map(str::to_owned),
        security_groups,
        label,
        cni_env,
        pools,
        node_groups: groups.into_iter().map(|group| group.config).collect(),
        ignore,
        phases: Vec::new(),
        current_phase: None,
    })
}

fn api_version(node: &Node) -> Result<(), Fault> {
    let version = text(node, "an apiVersion")?;
    if version == API_VERSION {
        return Ok(());
    }
    let (message, help) = match version.split_once('/') {
        Some(("eniplan.dev", _)) => (
            format!("apiVersion `{}` is not one that this eniplan reads", shown(version)),
            format!(
                "write `apiVersion: {API_VERSION}`, the only one so far, or use the eniplan release that knows yours"
            ),
        ),
        _ => (
            format!("apiVersion `{}` is not eniplan's", shown(version)),
            format!("write `apiVersion: {API_VERSION}`, if this is an eniplan file"),
        ),
    };
    Err(Fault::new(node.mark, message, help))
}

fn kind(node: &Node) -> Result<(), Fault> {
    let kind = text(node, "a kind")?;
    if kind == KIND {
        return Ok(());
    }
    let help = match nearest(kind, [KIND]) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write `kind: {KIND}`; there is no other"),
    };
    Err(Fault::new(node.mark, format!("kind `{}` is not one that eniplan reads", shown(kind)), help))
}

fn cni(entry: &Entry) -> Result<BTreeMap<String, String>, Fault> {
    let fields = Fields::new(&entry.value, entry.key.mark, "spec.cni", CNI_KEYS)?;
    Ok(fields.entry("env", cni_env)?.unwrap_or_default())
}

fn ignore(node: &Node, groups: &[ParsedNodeGroup]) -> Result<Vec<String>, Fault> {
    let ignored = texts(node, "node group names", node_group_name)?;
    for (name, item) in ignored.iter().zip(list(node, "node group names")?) {
        if let Some(group) = groups.iter().find(|group| group.config.name == *name) {
            return Err(Fault::new(
                item.mark,
                format!("node group `{name}` is both planned (line {}) and ignored", group.mark.line),
                "remove it from `ignore` or from `nodeGroups`",
            ));
        }
        if groups.iter().any(|group| group.config.successor.as_ref() == Some(name)) {
            return Err(Fault::new(
                item.mark,
                format!("node group `{name}` is both a successor and ignored"),
                "remove it from `ignore`, or name another successor",
            ));
        }
    }
    Ok(ignored)
}
