//! Who owns which field, out of `metadata.managedFields`.
//!
//! Source: Kubernetes, "Server-Side Apply"; structured-merge-diff `fieldpath/serialize-pe.go` for the key prefixes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::super::FieldManager;

/// One entry of `metadata.managedFields`.
#[derive(Debug, Deserialize)]
pub(super) struct ManagedFields {
    #[serde(default)]
    manager: String,
    #[serde(default)]
    operation: String,
    #[serde(default, rename = "fieldsV1")]
    fields: Value,
}

/// The managers of fields below `spec`, with paths such as `.spec.subnet`.
pub(super) fn managers_of_spec(entries: &[ManagedFields]) -> Vec<FieldManager> {
    managers(entries, |fields| {
        let mut paths = BTreeSet::new();
        if let Some(spec) = fields.get("f:spec") {
            leaves(spec, ".spec", &mut paths);
        }
        paths
    })
}

/// The managers of the environment of the container `aws-node`, with the names of the entries.
pub(super) fn managers_of_env(entries: &[ManagedFields]) -> Vec<FieldManager> {
    managers(entries, |fields| {
        fields
            .pointer(r#"/f:spec/f:template/f:spec/f:containers/k:{"name":"aws-node"}/f:env"#)
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|env| env.keys())
            .filter_map(|key| {
                let key: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
                Some(key.get("name")?.as_str()?.to_owned())
            })
            .collect()
    })
}

/// One row for each manager and operation that owns any of the fields.
fn managers(entries: &[ManagedFields], fields: impl Fn(&Value) -> BTreeSet<String>) -> Vec<FieldManager> {
    let mut owned: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
    for entry in entries {
        owned.entry((&entry.manager, &entry.operation)).or_default().extend(fields(&entry.fields));
    }
    owned
        .into_iter()
        .filter(|(_, fields)| !fields.is_empty())
        .map(|((manager, operation), fields)| FieldManager {
            manager: manager.to_owned(),
            operation: operation.to_owned(),
            fields: fields.into_iter().collect(),
        })
        .collect()
}

fn leaves(fields: &Value, path: &str, found: &mut BTreeSet<String>) {
    let below = || fields.as_object().into_iter().flatten().filter(|(key, _)| *key != ".");
    if below().next().is_none() {
        found.insert(path.to_owned());
        return;
    }
    for (key, value) in below() {
        match key.strip_prefix("f:") {
            Some(name) => leaves(value, &format!("{path}.{name}"), found),
            None => leaves(value, &format!("{path}[{key}]"), found),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn entries(json: Value) -> Vec<ManagedFields> {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_owners_of_spec_are_named_with_their_paths() {
        let managers = managers_of_spec(&entries(serde_json::json!([
            {"manager": "kubectl", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {
                "f:metadata": {"f:annotations": {".": {}, "f:a": {}}},
                "f:spec": {".": {}, "f:securityGroups": {}, "f:subnet": {}}}},
            {"manager": "eniplan", "operation": "Apply", "fieldsV1": {"f:spec": {"f:subnet": {}}}},
            {"manager": "labeller", "operation": "Apply", "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}}}}}
        ])));
        let rows: Vec<String> =
            managers.iter().map(|row| format!("{} {}: {}", row.manager, row.operation, row.fields.join(" "))).collect();
        assert_eq!(rows, ["eniplan Apply: .spec.subnet", "kubectl Update: .spec.securityGroups .spec.subnet"]);
    }

    #[test]
    fn the_owners_of_env_entries_are_named_and_the_same_manager_once() {
        let env = |names: &[&str]| {
            let keys =
                names.iter().map(|name| (format!(r#"k:{{"name":"{name}"}}"#), serde_json::json!({"f:value": {}})));
            serde_json::json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {
                r#"k:{"name":"aws-node"}"#: {"f:env": keys.collect::<serde_json::Map<_, _>>()},
                r#"k:{"name":"other"}"#: {"f:env": {r#"k:{"name":"NOT_OURS"}"#: {}}}}}}}})
        };
        let managers = managers_of_env(&entries(serde_json::json!([
            {"manager": "eks", "operation": "Apply", "fieldsV1": env(&["B"])},
            {"manager": "eks", "operation": "Apply", "subresource": "scale", "fieldsV1": env(&["A"])},
            {"manager": "kubectl-set", "operation": "Update", "fieldsV1": env(&["C"])},
            {"manager": "controller", "operation": "Update", "fieldsV1": {"f:status": {}}}
        ])));
        let rows: Vec<String> =
            managers.iter().map(|row| format!("{}: {}", row.manager, row.fields.join(" "))).collect();
        assert_eq!(rows, ["eks: A B", "kubectl-set: C"]);
    }
}
