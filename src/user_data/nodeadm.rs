//! What nodeadm will make of several NodeConfigs: the flags of kubelet, the labels of the node, max pods.
//!
//! The rules are nodeadm's own (`internal/api/merge.go`): flags are appended, never replaced; maps are merged key by
//! key; of everything else the later wins, unless it is empty. Afterwards kubelet reads its flags: each
//! `--node-labels` adds, and of the same key the last wins.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Document;
use super::labels;
use super::node_config::{NodeConfig, NodeConfigError, is_node_config};

/// Where nodeadm-run looks for our NodeConfig. Files there are merged over the user data.
pub const DROP_IN: &str = "/etc/eks/nodeadm.d/zz-eniplan.yaml";

/// Fields of `spec.cluster` without which nodeadm stops. Source: nodeadm, `internal/api/validation.go`.
const REQUIRED: [&str; 4] = ["name", "apiServerEndpoint", "certificateAuthority", "cidr"];

/// A NodeConfig and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// For people: `part 2`, or the path of the drop-in.
    pub from: String,
    /// What it says.
    pub config: NodeConfig,
}

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin<T> {
    /// The value.
    pub value: T,
    /// The source that decided.
    pub from: String,
}

/// What the node will have.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The merged `spec`.
    pub merged: NodeConfig,
    /// The flags that users and we add to kubelet, in their order on its command line.
    pub flags: Vec<Origin<String>>,
    /// The labels that these flags give the node.
    pub labels: BTreeMap<String, Origin<String>>,
    /// Max pods; `None` leaves it to nodeadm's default for the instance type.
    pub max_pods: Option<Origin<u64>>,
    /// Fields of `spec.cluster` that nobody sets. With one of them missing the node does not join, unless EKS adds
    /// its own NodeConfig.
    pub missing: Vec<&'static str>,
}

/// The NodeConfigs of a document in nodeadm's order.
///
/// # Errors
///
/// The number of the part that nodeadm would stop at, and why.
pub fn sources(document: &Document) -> Result<Vec<Source>, (usize, NodeConfigError)> {
    document
        .parts
        .iter()
        .enumerate()
        .filter(|(_, part)| is_node_config(part))
        .map(|(index, part)| {
            let config = NodeConfig::of_part(part).map_err(|error| (index + 1, error))?;
            Ok(Source { from: format!("part {}", index + 1), config })
        })
        .collect()
}

/// The NodeConfig that our shell part leaves for nodeadm-run.
pub fn drop_in(label: Option<(&str, &str)>, max_pods: Option<u32>) -> Source {
    let mut kubelet = Map::new();
    if let Some(max_pods) = max_pods {
        kubelet.insert("config".into(), json!({ "maxPods": max_pods }));
    }
    if let Some((key, value)) = label {
        kubelet.insert("flags".into(), json!([format!("--node-labels={key}={value}")]));
    }
    let mut spec = Map::new();
    spec.insert("kubelet".into(), Value::Object(kubelet));
    Source { from: DROP_IN.into(), config: NodeConfig { spec } }
}

/// What comes out of NodeConfigs in that order.
pub fn predict(sources: &[Source]) -> Prediction {
    let mut merged = NodeConfig::default();
    let mut flags = Vec::new();
    let mut max_pods = None;
    for source in sources {
        merge_map(&mut merged.spec, &source.config.spec, &mut Vec::new());
        let origin = |value: &str| Origin { value: value.to_owned(), from: source.from.clone() };
        flags.extend(source.config.flags().into_iter().map(origin));
        let from = source.from.clone();
        max_pods = source.config.max_pods().map(|value| Origin { value, from }).or(max_pods);
    }
    let mut found = BTreeMap::new();
    for flag in &flags {
        for (key, value) in labels::labels(&flag.value) {
            found.insert(key, Origin { value, from: flag.from.clone() });
        }
        // Flags come above the configuration file.
        for value in values(&flag.value, "--max-pods") {
            max_pods = value.parse().ok().map(|value| Origin { value, from: flag.from.clone() }).or(max_pods);
        }
    }
    let missing = REQUIRED.into_iter().filter(|field| merged.cluster(field).is_none()).collect();
    Prediction { merged, flags, labels: found, max_pods, missing }
}

/// Merges `from` over `into`.
fn merge_map(into: &mut Map<String, Value>, from: &Map<String, Value>, path: &mut Vec<String>) {
    for (key, value) in from {
        path.push(key.clone());
        let is_flags = path.as_slice() == ["kubelet", "flags"];
        match (into.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge_map(old, new, path),
            (Some(Value::Array(old)), Value::Array(new)) if is_flags => old.extend(new.iter().cloned()),
            (Some(_), value) if is_empty(value) => {}
            _ => _ = into.insert(key.clone(), value.clone()),
        }
        path.pop();
    }
}

/// Values that do not override. Source: mergo, `WithOverride`.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

/// The values of a flag in a text of flags.
fn values<'a>(flags: &'a str, name: &str) -> Vec<&'a str> {
    flags.split_whitespace().filter_map(|token| token.strip_prefix(name)?.strip_prefix('=')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(from: &str, spec: Value) -> Source {
        let Value::Object(spec) = spec else { panic!("not a map") };
        Source { from: from.into(), config: NodeConfig { spec } }
    }

    #[test]
    fn flags_add_up_and_the_later_value_wins() {
        let eks = source(
            "EKS",
            json!({
                "cluster": {"name": "demo", "apiServerEndpoint": "https://a", "certificateAuthority": "LS0t", "cidr": "10.100.0.0/16"},
                "kubelet": {
                    "config": {"maxPods": 17, "clusterDNS": ["10.100.0.10"], "evictionHard": {"memory.available": "5%"}},
                    "flags": ["--node-labels=eks.amazonaws.com/nodegroup=web,k8s.amazonaws.com/eniConfig=old"]
                }
            }),
        );
        let user = source(
            "part 1",
            json!({
                "cluster": {"cidr": ""},
                "kubelet": {
                    "config": {"clusterDNS": ["169.254.20.10"], "evictionHard": {"nodefs.available": "10%"}},
                    "flags": ["--v=3", "--node-labels=team=a"]
                }
            }),
        );
        let ours = drop_in(Some(("k8s.amazonaws.com/eniConfig", "pod-1a")), Some(20));
        let found = predict(&[eks, user, ours]);
        let flags: Vec<&str> = found.flags.iter().map(|flag| flag.value.as_str()).collect();
        assert_eq!(
            flags,
            [
                "--node-labels=eks.amazonaws.com/nodegroup=web,k8s.amazonaws.com/eniConfig=old",
                "--v=3",
                "--node-labels=team=a",
                "--node-labels=k8s.amazonaws.com/eniConfig=pod-1a",
            ]
        );
        let labels: Vec<String> =
            found.labels.iter().map(|(key, one)| format!("{key}={} from {}", one.value, one.from)).collect();
        assert_eq!(
            labels,
            [
                "eks.amazonaws.com/nodegroup=web from EKS",
                "k8s.amazonaws.com/eniConfig=pod-1a from /etc/eks/nodeadm.d/zz-eniplan.yaml",
                "team=a from part 1",
            ]
        );
        assert_eq!(found.max_pods, Some(Origin { value: 20, from: DROP_IN.into() }));
        assert_eq!(found.missing, [""; 0]);
        assert_eq!(
            found.merged.spec["kubelet"]["config"],
            json!({"maxPods": 20, "clusterDNS": ["169.254.20.10"], "evictionHard": {"memory.available": "5%", "nodefs.available": "10%"}})
        );
    }

    #[test]
    fn a_flag_of_kubelet_comes_above_its_configuration_file() {
        let user = source("part 1", json!({"kubelet": {"flags": ["--max-pods=110"]}}));
        let found = predict(&[user, drop_in(None, Some(20))]);
        assert_eq!(found.max_pods, Some(Origin { value: 110, from: "part 1".into() }));
        assert_eq!(found.missing, REQUIRED);
    }
}
