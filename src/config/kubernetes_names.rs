//! The shapes of what Kubernetes names: objects, label keys and values.
//!
//! An ENIConfig's name is both the name of an object and, on every node that uses it, the value of a label; the two
//! rules differ. Source: Kubernetes documentation, "Object Names and IDs" and "Labels and Selectors".

use super::fault::{Fault, shown};
use super::read::text;
use super::tree::Node;

/// The label value of a node that found no ENIConfig. It must name none.
const NO_MATCH: &str = "eniplan-no-match";

/// Longest DNS-1123 subdomain, and longest label value (and name part of a label key).
const SUBDOMAIN_LENGTH: usize = 253;
const LABEL_LENGTH: usize = 63;

/// Labels of Kubernetes' own that a kubelet may set on its node, besides those below `kubelet.kubernetes.io` and
/// `node.kubernetes.io`. Source: `k8s.io/kubelet/pkg/apis/well_known_labels.go`.
const KUBELET_LABELS: [&str; 10] = [
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];
const KUBELET_LABEL_NAMESPACES: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

/// The name of an ENIConfig, from a value.
pub(super) fn eni_config_name(node: &Node) -> Result<&str, Fault> {
    let name = text(node, "the name of an ENIConfig")?;
    check_eni_config_name(node, name)?;
    Ok(name)
}

/// The name of an ENIConfig that stands at `node`, which may be a key.
pub(super) fn check_eni_config_name(node: &Node, name: &str) -> Result<(), Fault> {
    if name == NO_MATCH {
        return Err(Fault::new(
            node.mark,
            format!("`{NO_MATCH}` is what a node gets that found no ENIConfig; no ENIConfig may have that name"),
            "choose another name",
        ));
    }
    let broken = match (is_subdomain(name), is_label_value(name)) {
        (true, true) => return Ok(()),
        (false, true) => {
            "cannot be the name of an ENIConfig: Kubernetes allows lower-case letters, digits, `-` and `.` in object names"
        }
        (true, false) => {
            "cannot be the name of an ENIConfig: it is the value of a node label too, and those have 63 characters at most"
        }
        (false, false) => {
            "cannot be the name of an ENIConfig: it is neither a Kubernetes object name nor a label value"
        }
    };
    let help = match legal_spelling(name) {
        Some(legal) => format!("write `{legal}`"),
        None if name.len() > LABEL_LENGTH => {
            format!("shorten it from {} to {LABEL_LENGTH} characters", name.chars().count())
        }
        None => "write lower-case letters, digits and `-`, beginning and ending with a letter or digit".into(),
    };
    Err(Fault::new(node.mark, format!("`{}` {broken}", shown(name)), help))
}

/// The name with the usual slips put right; `None` when that does not make it legal.
fn legal_spelling(name: &str) -> Option<String> {
    let replaced: String = name
        .to_lowercase()
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() || character == '.' { character } else { '-' })
        .collect();
    let legal = replaced.trim_matches(['-', '.']);
    (is_subdomain(legal) && is_label_value(legal) && legal != NO_MATCH).then(|| legal.into())
}

/// DNS-1123 subdomain.
fn is_subdomain(name: &str) -> bool {
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
    name.len() <= SUBDOMAIN_LENGTH
        && name.split('.').all(|part| {
            edge(part.bytes().next())
                && edge(part.bytes().next_back())
                && part.bytes().all(|byte| byte == b'-' || edge(Some(byte)))
        })
}

/// A label value that is not empty; the name part of a label key has the same rule.
fn is_label_value(value: &str) -> bool {
    let edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    value.len() <= LABEL_LENGTH
        && edge(value.bytes().next())
        && edge(value.bytes().next_back())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// A label key: a name, or a domain, a slash and a name.
pub(super) fn check_label_key(node: &Node, key: &str) -> Result<(), Fault> {
    let legal = match key.split_once('/') {
        Some((domain, name)) => is_subdomain(domain) && is_label_value(name),
        None => is_label_value(key),
    };
    if legal {
        return Ok(());
    }
    Err(Fault::new(
        node.mark,
        format!("`{}` is not a label key", shown(key)),
        "write `name` or `domain/name`: the domain in lower case, the name of at most 63 letters, digits, `-`, `_` and `.`",
    ))
}

/// A label value; it may be empty.
pub(super) fn check_label_value(node: &Node, value: &str) -> Result<(), Fault> {
    if value.is_empty() || is_label_value(value) {
        return Ok(());
    }
    Err(Fault::new(
        node.mark,
        format!("`{}` is not a label value", shown(value)),
        "write at most 63 letters, digits, `-`, `_` and `.`, beginning and ending with a letter or digit",
    ))
}

/// Whether a label key belongs to Kubernetes itself.
pub(super) fn is_reserved_label_key(key: &str) -> bool {
    key.split_once('/').is_some_and(|(domain, _)| {
        ["kubernetes.io", "k8s.io"]
            .iter()
            .any(|reserved| domain.strip_suffix(reserved).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    })
}

/// Whether a kubelet refuses to start with that label in `--node-labels`. Source: `cmd/kubelet/app/options/options.go`,
/// `ValidateKubeletFlags`.
pub(super) fn is_refused_by_kubelet(key: &str) -> bool {
    let allowed_domain = key.split_once('/').is_some_and(|(domain, _)| {
        KUBELET_LABEL_NAMESPACES
            .iter()
            .any(|namespace| domain.strip_suffix(namespace).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
    });
    is_reserved_label_key(key) && !allowed_domain && !KUBELET_LABELS.contains(&key)
}
