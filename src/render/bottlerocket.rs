//! User data of a Bottlerocket node: settings as TOML, one dotted key a line. EKS merges that form and not every other
//! (EKS user guide, "Customize managed nodes with launch templates", on Bottlerocket).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::invalid_group;
use super::kubelet_flags::{is_label_key, is_label_value, node_labels, taints};
use super::registry::{self, Template};
use crate::error::Error;
use crate::plan::{Bootstrap, ClusterAccess, NodeGroupPlan};

/// The line by which our settings are recognised.
pub const MARKER: &str = "# eniplan.dev/part: bottlerocket";

const SETTINGS: Template =
    Template { name: "bottlerocket.toml.hbs", source: include_str!("../../templates/bottlerocket.toml.hbs") };

/// The settings of a group: its label and max pods, and where EKS merges nothing also what a node needs to join.
///
/// # Errors
/// [`Error::RenderedInvalid`] when the group does not come down to one ENIConfig, as no node can compute its own;
/// [`Error::Template`] when the template does not fit the plan.
pub fn settings(group: &NodeGroupPlan) -> Result<String, Error> {
    node_labels(group)?;
    let mut labels: BTreeMap<&str, &str> =
        group.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    if let Some(key) = &group.label_key {
        if !is_label_key(key) {
            return Err(invalid_group(group, format!("`{key}` is no label key")));
        }
        labels.insert(key, only_eni_config(group)?);
    }
    let mut taints_by_key: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for taint in taints(group)? {
        taints_by_key.entry(taint.key).or_default().push(format!("{}:{}", taint.value, taint.effect));
    }
    let cluster = match &group.bootstrap {
        Bootstrap::Eks => None,
        Bootstrap::UserData(cluster) => Some(cluster),
    };
    registry::render(SETTINGS, &Settings { cluster, labels, taints: taints_by_key, max_pods: group.max_pods.written })
}

/// The one ENIConfig that every node of the group takes.
fn only_eni_config(group: &NodeGroupPlan) -> Result<&str, Error> {
    let names: BTreeSet<&str> = group
        .assignments
        .iter()
        .flat_map(|row| &row.candidates)
        .map(|candidate| candidate.eni_config.as_str())
        .collect();
    let mut names = names.into_iter();
    match (names.next(), names.next()) {
        (Some(name), None) if is_label_value(name) => Ok(name),
        (Some(name), None) => Err(invalid_group(group, format!("ENIConfig `{name}` cannot be a label value"))),
        (None, _) => Err(invalid_group(group, "there is no ENIConfig to name")),
        (Some(first), Some(second)) => {
            Err(invalid_group(group, format!("one static label cannot name both {first} and {second}")))
        }
    }
}

/// What the template reads.
#[derive(Serialize)]
struct Settings<'a> {
    cluster: Option<&'a ClusterAccess>,
    labels: BTreeMap<&'a str, &'a str>,
    taints: BTreeMap<&'a str, Vec<String>>,
    max_pods: Option<u32>,
}
