//! What nodeadm makes of user data and of its folder, as far as kubelet's flags and configuration go.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::go_multipart;

/// The `NodeConfig` parts of user data, in order.
pub(crate) fn user_data(document: &[u8]) -> Result<Vec<Value>, String> {
    let parts = go_multipart::read(document)?.unwrap_or_default();
    parts
        .iter()
        .filter(|part| part.media_type == "application/node.eks.aws")
        .map(|part| decode(&String::from_utf8_lossy(&part.body)))
        .collect()
}

/// The files of the folder, by name; one that cannot be read, also an empty one, is fatal.
pub(crate) fn folder(path: &Path) -> Result<Vec<Value>, String> {
    let mut names: Vec<_> = fs::read_dir(path)
        .map_err(|error| error.to_string())?
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            ["yaml", "yml", "json"].contains(&extension.as_str())
        })
        .collect();
    names.sort();
    names.iter().map(|path| decode(&fs::read_to_string(path).expect("text"))).collect()
}

fn decode(text: &str) -> Result<Value, String> {
    let value: Value = serde_saphyr::from_str(text).map_err(|error| format!("{text:?}: {error}"))?;
    if value["apiVersion"] != "node.eks.aws/v1alpha1" || value["kind"] != "NodeConfig" {
        return Err(format!("no NodeConfig: {text}"));
    }
    Ok(value)
}

/// Merges in order: later values win, maps merge, `kubelet.flags` add up.
pub(crate) fn merge(configs: &[Value]) -> Value {
    let mut merged = json!({});
    let mut flags: Vec<Value> = Vec::new();
    for config in configs {
        flags.extend(config["spec"]["kubelet"]["flags"].as_array().cloned().unwrap_or_default());
        merge_into(&mut merged, config);
    }
    merged["spec"]["kubelet"]["flags"] = Value::Array(flags);
    merged
}

fn merge_into(target: &mut Value, source: &Value) {
    match (target, source) {
        (Value::Object(target), Value::Object(source)) => {
            for (key, value) in source {
                merge_into(target.entry(key).or_insert(Value::Null), value);
            }
        }
        (target, source) => *target = source.clone(),
    }
}

/// What must be there once everything is merged, or nodeadm gives up.
pub(crate) fn validate(config: &Value) -> Result<(), String> {
    for field in ["name", "apiServerEndpoint", "certificateAuthority", "cidr"] {
        if config["spec"]["cluster"][field].as_str().unwrap_or_default().is_empty() {
            return Err(format!("cluster.{field} is missing"));
        }
    }
    Ok(())
}

/// The labels that kubelet registers with: every `--node-labels` adds to one map.
pub(crate) fn node_labels(config: &Value) -> Vec<(String, String)> {
    let mut labels = std::collections::BTreeMap::new();
    for flag in config["spec"]["kubelet"]["flags"].as_array().expect("flags") {
        let flag = flag.as_str().expect("a flag is text");
        assert!(!flag.contains(['"', '\'', ' ']), "kubelet's environment file takes no quotes: {flag}");
        for label in flag.strip_prefix("--node-labels=").into_iter().flat_map(|labels| labels.split(',')) {
            let (key, value) = label.split_once('=').expect("key=value");
            labels.insert(key.to_owned(), value.to_owned());
        }
    }
    labels.into_iter().collect()
}
