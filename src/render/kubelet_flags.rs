//! Labels and taints that a node registers with, where our user data has to say them.

use super::invalid_group;
use crate::error::Error;
use crate::inventory;
use crate::plan::NodeGroupPlan;

/// Longest value of a label, and longest name in a key (`k8s.io/apimachinery/pkg/util/validation`,
/// `LabelValueMaxLength`).
const LABEL_VALUE_MAX_LENGTH: usize = 63;

/// `--node-labels` and `--register-with-taints`; one flag each, so that neither can hide the other's values.
///
/// # Errors
/// See [`node_labels`] and [`taints`].
pub(super) fn kubelet_flags(group: &NodeGroupPlan) -> Result<Vec<String>, Error> {
    let labels = node_labels(group)?;
    let taints = taint_flags(group)?;
    let mut flags = Vec::new();
    if !labels.is_empty() {
        flags.push(format!("--node-labels={}", labels.join(",")));
    }
    if !taints.is_empty() {
        flags.push(format!("--register-with-taints={taints}"));
    }
    Ok(flags)
}

/// The group's own labels as kubelet reads them, by key: `key=value`.
///
/// # Errors
/// [`Error::RenderedInvalid`] for a label that kubelet would refuse. It also keeps quotes and blanks out: kubelet's
/// environment file knows no quoting.
pub(super) fn node_labels(group: &NodeGroupPlan) -> Result<Vec<String>, Error> {
    let label = |(key, value): (&String, &String)| {
        if is_label_key(key) && (value.is_empty() || is_label_value(value)) {
            return Ok(format!("{key}={value}"));
        }
        Err(invalid_group(group, format!("`{key}={value}` is no label")))
    };
    group.labels.iter().map(label).collect()
}

/// A taint with its effect as Kubernetes spells it.
pub(super) struct Taint<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    pub(super) effect: &'static str,
}

impl Taint<'_> {
    /// As kubelet reads it: `key=value:Effect`, without `=value` when there is none.
    fn flag(&self) -> String {
        match self.value {
            "" => format!("{}:{}", self.key, self.effect),
            value => format!("{}={value}:{}", self.key, self.effect),
        }
    }
}

/// The group's taints as one value of `--register-with-taints`; empty when there are none.
///
/// # Errors
/// See [`taints`].
pub(super) fn taint_flags(group: &NodeGroupPlan) -> Result<String, Error> {
    Ok(taints(group)?.iter().map(Taint::flag).collect::<Vec<_>>().join(","))
}

/// The group's taints, in order.
///
/// # Errors
/// [`Error::RenderedInvalid`] for a taint that kubelet would refuse.
pub(super) fn taints(group: &NodeGroupPlan) -> Result<Vec<Taint<'_>>, Error> {
    let effect = |taint: &inventory::Taint| {
        if !is_label_key(&taint.key) || !(taint.value.is_empty() || is_label_value(&taint.value)) {
            return Err(invalid_group(group, format!("`{}={}` is no taint", taint.key, taint.value)));
        }
        match taint.effect.as_str() {
            "NO_SCHEDULE" | "NoSchedule" => Ok("NoSchedule"),
            "NO_EXECUTE" | "NoExecute" => Ok("NoExecute"),
            "PREFER_NO_SCHEDULE" | "PreferNoSchedule" => Ok("PreferNoSchedule"),
            other => Err(invalid_group(group, format!("taint `{}` has the unknown effect `{other}`", taint.key))),
        }
    };
    group
        .taints
        .iter()
        .map(|taint| Ok(Taint { key: &taint.key, value: &taint.value, effect: effect(taint)? }))
        .collect()
}

/// A label value that is not empty: `k8s.io/apimachinery/pkg/util/validation`, `IsValidLabelValue`.
pub(super) fn is_label_value(text: &str) -> bool {
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= LABEL_VALUE_MAX_LENGTH
        && ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

/// A label key with or without a prefix: `k8s.io/apimachinery/pkg/util/validation`, `IsQualifiedName`.
pub(super) fn is_label_key(text: &str) -> bool {
    let (prefix, name) = text.rsplit_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    is_label_value(name) && prefix.is_none_or(|prefix| prefix.split('.').all(is_label_value))
}
