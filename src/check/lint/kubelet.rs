//! Flags and labels as kubelet takes them, wherever they are written.

use super::{Input, line_in};
use crate::config::AmiFamily;
use crate::finding::Problem;
use crate::plan::kubelet_may_set;
use crate::user_data::bootstrap_call::calls;
use crate::user_data::node_config::{NodeConfig, is_node_config};
use crate::user_data::{Kind, is_ours, kubelet_flags, labels};

/// Flags and where they are written.
struct Flags {
    text: String,
    line: usize,
    is_ours: bool,
}

pub(super) fn look(input: &Input<'_>, problems: &mut Vec<Problem>) {
    let all = flags(input);
    let mut eni_config_labels: Vec<(String, String, usize)> = Vec::new();
    for flags in &all {
        for (key, value) in labels::labels(&flags.text) {
            label(input, &key, &value, flags, problems);
            if labels::names_eni_config(&key, None) && !flags.is_ours {
                eni_config_labels.push((key, value, flags.line));
            }
        }
        for (flag, since) in kubelet_flags::removed(&flags.text, input.kubernetes_minor) {
            problems.push(input.problem(
                "kubelet-flag-removed",
                flags.line,
                format!("{flag} is gone since Kubernetes 1.{since}: kubelet does not start with it"),
                "take the flag out",
            ));
        }
    }
    let mut kinds: Vec<&(String, String, usize)> = Vec::new();
    for one in &eni_config_labels {
        if kinds.iter().all(|(key, value, _)| (key, value) != (&one.0, &one.1)) {
            kinds.push(one);
        }
    }
    if let [first, second, ..] = kinds.as_slice() {
        problems.push(input.problem(
            "eniconfig-labels-compete",
            second.2,
            format!(
                "it gives nodes {}={} and {}={}; one of them decides, and not by their order",
                first.0, first.1, second.0, second.1
            ),
            "keep the label whose key is ENI_CONFIG_LABEL_DEF of aws-node",
        ));
    }
}

fn label(input: &Input<'_>, key: &str, value: &str, flags: &Flags, problems: &mut Vec<Problem>) {
    // What the shell computes is not known here, and quotes are the matter of another rule.
    let is_known = !key.contains(['$', '`', '"', '\'']) && !value.contains(['"', '\'']);
    if is_known && !kubelet_may_set(key) {
        problems.push(input.problem(
            "kubelet-refuses-label",
            flags.line,
            format!("kubelet may not set {key} on its own node and does not start"),
            "use a key outside kubernetes.io and k8s.io, or label the nodes after they have joined",
        ));
    }
    if is_known && !(is_key(key) && is_value(value)) {
        problems.push(input.problem(
            "kubelet-label-malformed",
            flags.line,
            format!("{key}={value} is no label, and kubelet does not start with it"),
            "keys are name or domain/name, values at most 63 letters, digits, `-`, `_` and `.`",
        ));
    }
    if labels::is_eks_owned(key) && !flags.is_ours {
        problems.push(input.problem(
            "eks-owned-label-copied",
            flags.line,
            format!("EKS sets {key} itself; this copy goes stale with the next image or template version, and updates then wait for nothing"),
            "take the label out",
        ));
    }
}

/// Every text of flags in the document.
fn flags(input: &Input<'_>) -> Vec<Flags> {
    let mut found = Vec::new();
    if input.document.kind == Kind::Toml {
        return settings_labels(input);
    }
    for (_, part, place) in input.parts() {
        let content = part.content();
        if is_node_config(part) && input.family == AmiFamily::Al2023 {
            let Ok(config) = NodeConfig::of_part(part) else { continue };
            let text = String::from_utf8_lossy(&content);
            for flag in config.flags() {
                let line = text.lines().position(|line| line.contains(flag)).map_or(1, |index| index + 1);
                let line = line_in(part, place, line);
                found.push(Flags { text: flag.to_owned(), line, is_ours: is_ours(part) });
            }
        }
        if part.is_script() {
            for call in calls(&content) {
                let Some(word) = call.option("--kubelet-extra-args") else { continue };
                let raw = String::from_utf8_lossy(content.get(word.range.clone()).unwrap_or_default()).into_owned();
                let text = word.literal.clone().unwrap_or_else(|| raw.replace(['"', '\''], ""));
                let line =
                    content.get(..word.range.start).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count();
                found.push(Flags { text, line: line_in(part, place, line + 1), is_ours: is_ours(part) });
            }
        }
    }
    found
}

/// `settings.kubernetes.node-labels` as if they were flags.
fn settings_labels(input: &Input<'_>) -> Vec<Flags> {
    let Some((_, part, _)) = input.parts().next() else { return Vec::new() };
    let text = String::from_utf8_lossy(&part.body);
    let Ok(settings) = text.parse::<toml::Table>() else { return Vec::new() };
    let labels = settings.get("settings").and_then(|one| one.get("kubernetes")?.get("node-labels")?.as_table());
    let line_of = |key: &str| text.lines().position(|line| line.contains(key)).map_or(1, |index| index + 1);
    labels
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| {
            let value = value.as_str()?;
            Some(Flags { text: format!("--node-labels={key}={value}"), line: line_of(key), is_ours: is_ours(part) })
        })
        .collect()
}

/// A label key: `name` or `domain/name`. Source: Kubernetes, "Labels and Selectors".
fn is_key(key: &str) -> bool {
    let (domain, name) = key.split_once('/').map_or((None, key), |(domain, name)| (Some(domain), name));
    let is_domain = |domain: &str| {
        domain.len() <= 253
            && domain.split('.').all(|part| {
                let inner = part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
                !part.is_empty() && inner && !part.starts_with('-') && !part.ends_with('-')
            })
    };
    domain.is_none_or(is_domain) && !name.is_empty() && is_value(name)
}

/// A label value; one that the shell computes counts as one.
fn is_value(value: &str) -> bool {
    if value.contains(['$', '`', '{', '}']) {
        return true;
    }
    let is_end = |byte: Option<u8>| byte.is_none_or(|byte| byte.is_ascii_alphanumeric());
    value.len() <= 63
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && is_end(value.bytes().next())
        && is_end(value.bytes().last())
}
