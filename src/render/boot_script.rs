//! The parts of user data that run, or are read, on an Amazon Linux node.

use std::collections::BTreeMap;

use serde::Serialize;

use super::registry::{self, Template};
use crate::config::{OnNoMatch, Strategy};
use crate::error::Error;
use crate::inventory::Taint;
use crate::plan::{Assignment, Bootstrap, Candidate, ClusterAccess, DropIn, NO_MATCH, NodeGroupPlan};

/// The line by which our AL2023 shell part is recognised, whatever release wrote it.
pub const AL2023_MARKER: &str = "# eniplan.dev/part: al2023-boot";

/// The line by which our `NodeConfig` part is recognised.
pub const NODE_CONFIG_MARKER: &str = "# eniplan.dev/part: node-config";

const AL2023_BOOT: Template =
    Template { name: "al2023-boot.sh.hbs", source: include_str!("../../templates/al2023-boot.sh.hbs") };
const NODE_CONFIG: Template =
    Template { name: "node-config.yaml.hbs", source: include_str!("../../templates/node-config.yaml.hbs") };

/// Attempts that fit into the 60 s a node may spend on IMDS: 3 s each (curl gives up after 2 s, then 1 s of rest).
const ATTEMPTS: u32 = 20;
/// Of these, what is kept back for the zone; the template says the same.
const ATTEMPTS_FOR_ZONE: u32 = 5;

/// Longest value of a Kubernetes label (`k8s.io/apimachinery/pkg/util/validation`, `LabelValueMaxLength`).
const LABEL_VALUE_MAX_LENGTH: usize = 63;

/// The shell part of an AL2023 node: leaves label and max pods where `nodeadm-run` or kubelet reads them.
///
/// The same group gives the same bytes.
///
/// # Errors
/// [`Error::RenderedInvalid`] when the group has nothing for the script to do, or when a name in it is no label value;
/// [`Error::Template`] when the template does not fit the plan.
pub fn al2023_shell_part(group: &NodeGroupPlan) -> Result<String, Error> {
    registry::render(AL2023_BOOT, &Lookup::of(group)?)
}

/// The `application/node.eks.aws` part of an AL2023 node: what EKS would have said, where EKS merges nothing.
///
/// # Errors
/// [`Error::RenderedInvalid`] when EKS completes this group's user data, or when a taint has an unknown effect.
pub fn node_config_part(group: &NodeGroupPlan) -> Result<String, Error> {
    let Bootstrap::UserData(cluster) = &group.bootstrap else {
        return Err(invalid(group, "EKS writes the NodeConfig of this group"));
    };
    let flags = kubelet_flags(group)?;
    let has_kubelet = !flags.is_empty() || group.max_pods.written.is_some();
    registry::render(NODE_CONFIG, &NodeConfig { cluster, has_kubelet, max_pods: group.max_pods.written, flags })
}

/// `--node-labels` and `--register-with-taints` of a group whose user data sets them; one flag each, so that neither
/// can hide the other's values.
pub(super) fn kubelet_flags(group: &NodeGroupPlan) -> Result<Vec<String>, Error> {
    let taints = group.taints.iter().map(|taint| kubelet_taint(group, taint)).collect::<Result<Vec<_>, _>>()?;
    let mut flags = Vec::new();
    if !group.labels.is_empty() {
        flags.push(format!("--node-labels={}", node_labels(&group.labels)));
    }
    if !taints.is_empty() {
        flags.push(format!("--register-with-taints={}", taints.join(",")));
    }
    Ok(flags)
}

fn node_labels(labels: &BTreeMap<String, String>) -> String {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
}

/// A taint as kubelet reads it: `key=value:Effect`, without `=value` when there is none.
fn kubelet_taint(group: &NodeGroupPlan, taint: &Taint) -> Result<String, Error> {
    let effect = match taint.effect.as_str() {
        "NO_SCHEDULE" | "NoSchedule" => "NoSchedule",
        "NO_EXECUTE" | "NoExecute" => "NoExecute",
        "PREFER_NO_SCHEDULE" | "PreferNoSchedule" => "PreferNoSchedule",
        other => return Err(invalid(group, &format!("taint `{}` has the unknown effect `{other}`", taint.key))),
    };
    Ok(match taint.value.as_str() {
        "" => format!("{}:{effect}", taint.key),
        value => format!("{}={value}:{effect}", taint.key),
    })
}

/// What the node-config template reads.
#[derive(Serialize)]
struct NodeConfig<'a> {
    cluster: &'a ClusterAccess,
    has_kubelet: bool,
    max_pods: Option<u32>,
    flags: Vec<String>,
}

/// What the shell templates read.
#[derive(Serialize)]
struct Lookup<'a> {
    group: &'a str,
    label_key: Option<&'a str>,
    no_match: &'static str,
    max_pods: Option<u32>,
    hash: bool,
    zone_fallback: bool,
    decide_at_boot: bool,
    attempts: u32,
    rows: Vec<Row<'a>>,
    known: String,
}

/// One row of the table: a node subnet and its candidates.
#[derive(Serialize)]
struct Row<'a> {
    cidr: String,
    subnet_id: &'a str,
    availability_zone: &'a str,
    only: Option<&'a str>,
    names: Vec<&'a str>,
    bounds: Vec<u64>,
}

impl<'a> Lookup<'a> {
    fn of(group: &'a NodeGroupPlan) -> Result<Self, Error> {
        if group.label_key.is_none() && group.max_pods.written.is_none() {
            return Err(invalid(group, "there is neither a label nor max pods to leave on the node"));
        }
        if let Some(key) = group.label_key.as_deref().filter(|key| !is_label_key(key)) {
            return Err(invalid(group, &format!("`{key}` is no label key")));
        }
        let rows = group.assignments.iter().map(|row| Row::of(group, row)).collect::<Result<Vec<_>, _>>()?;
        let known = rows.iter().map(|row| row.cidr.as_str()).collect::<Vec<_>>().join(", ");
        let zone_fallback = group.on_no_match == OnNoMatch::Zone;
        Ok(Self {
            group: &group.name,
            label_key: group.label_key.as_deref(),
            no_match: NO_MATCH,
            max_pods: group.max_pods.written,
            hash: group.strategy == Strategy::Hash,
            zone_fallback,
            decide_at_boot: group.drop_in == DropIn::DecideAtBoot,
            attempts: if zone_fallback { ATTEMPTS - ATTEMPTS_FOR_ZONE } else { ATTEMPTS },
            rows,
            known,
        })
    }
}

impl<'a> Row<'a> {
    fn of(group: &NodeGroupPlan, row: &'a Assignment) -> Result<Self, Error> {
        let names: Vec<&str> = row.candidates.iter().map(|candidate| candidate.eni_config.as_str()).collect();
        if let Some(name) = names.iter().find(|name| !is_label_value(name)) {
            return Err(invalid(group, &format!("ENIConfig `{name}` cannot be a label value")));
        }
        let bounds: Vec<u64> = row.candidates.iter().map(|candidate| candidate.bound).collect();
        let only = match (group.strategy, row.candidates.as_slice()) {
            (Strategy::Pinned, [Candidate { eni_config, .. }]) => Some(eni_config.as_str()),
            (Strategy::Pinned, several) => {
                let reason = format!("node subnet {} is pinned, but has {} candidates", row.cidr, several.len());
                return Err(invalid(group, &reason));
            }
            (Strategy::Hash, _) if is_usable(&bounds) => None,
            (Strategy::Hash, _) => {
                return Err(invalid(
                    group,
                    &format!("the bounds of node subnet {} do not ascend to a total", row.cidr),
                ));
            }
        };
        Ok(Self {
            cidr: row.cidr.to_string(),
            subnet_id: &row.subnet_id,
            availability_zone: &row.availability_zone,
            only,
            names,
            bounds,
        })
    }
}

/// Whether bash, whose numbers are signed, can draw from these bounds.
fn is_usable(bounds: &[u64]) -> bool {
    bounds.is_sorted() && bounds.last().is_some_and(|total| (1..=i64::MAX.unsigned_abs()).contains(total))
}

/// A label value that is not empty: `k8s.io/apimachinery/pkg/util/validation`, `IsValidLabelValue`.
fn is_label_value(text: &str) -> bool {
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= LABEL_VALUE_MAX_LENGTH
        && ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

/// A label key with or without a prefix; the script prints it between double quotes of YAML and in a unit file.
fn is_label_key(text: &str) -> bool {
    let (prefix, name) = text.rsplit_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    is_label_value(name) && prefix.is_none_or(|prefix| prefix.split('.').all(is_label_value))
}

fn invalid(group: &NodeGroupPlan, reason: &str) -> Error {
    Error::RenderedInvalid { what: format!("user data of node group `{}`", group.name), reason: reason.into() }
}
