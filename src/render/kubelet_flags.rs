//! Labels and taints that a node registers with, where our user data has to say them.

use std::collections::BTreeMap;

use super::invalid_group;
use crate::error::Error;
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
    let taints = taints(group)?;
    let mut flags = Vec::new();
    if !labels.is_empty() {
        flags.push(format!("--node-labels={}", labels.join(",")));
    }
    if !taints.is_empty() {
        flags.push(format!("--register-with-taints={}", taints.join(",")));
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

/// The group's taints as kubelet reads them: `key=value:Effect`, without `=value` when there is none.
///
/// # Errors
/// See [`taints_by_key`].
pub(super) fn taints(group: &NodeGroupPlan) -> Result<Vec<String>, Error> {
    let mut flags = Vec::new();
    for (key, values) in taints_by_key(group)? {
        for (value, effect) in values {
            flags.push(if value.is_empty() { format!("{key}:{effect}") } else { format!("{key}={value}:{effect}") });
        }
    }
    Ok(flags)
}

/// The group's taints by key: value and effect, the effect as Kubernetes spells it.
///
/// # Errors
/// [`Error::RenderedInvalid`] for a taint that kubelet would refuse.
pub(super) fn taints_by_key(group: &NodeGroupPlan) -> Result<BTreeMap<&str, Vec<(&str, &'static str)>>, Error> {
    let mut by_key: BTreeMap<&str, Vec<(&str, &'static str)>> = BTreeMap::new();
    for taint in &group.taints {
        let effect = match taint.effect.as_str() {
            "NO_SCHEDULE" | "NoSchedule" => "NoSchedule",
            "NO_EXECUTE" | "NoExecute" => "NoExecute",
            "PREFER_NO_SCHEDULE" | "PreferNoSchedule" => "PreferNoSchedule",
            other => {
                return Err(invalid_group(group, format!("taint `{}` has the unknown effect `{other}`", taint.key)));
            }
        };
        if !is_label_key(&taint.key) || !(taint.value.is_empty() || is_label_value(&taint.value)) {
            return Err(invalid_group(group, format!("`{}={}` is no taint", taint.key, taint.value)));
        }
        by_key.entry(&taint.key).or_default().push((&taint.value, effect));
    }
    Ok(by_key)
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
