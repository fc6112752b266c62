//! Foreign NodeConfig parts: labels that compete with ours or go stale are taken out of their flags.

use serde_json::Value;

use super::{MergeProblem, Note, Target};
use crate::user_data::mime::Part;
use crate::user_data::node_config::NodeConfig;
use crate::user_data::{edits, kubelet_flags, labels};

/// Looks at a foreign NodeConfig part and edits it where it must be.
pub(super) fn merge(number: usize, part: &mut Part, target: &Target<'_>) -> Result<Vec<Note>, MergeProblem> {
    let refuse = |message: String, help: &str| MergeProblem {
        part: Some(number),
        line: None,
        message: format!("{} {message}", part.media_type()),
        help: help.into(),
    };
    let config = NodeConfig::of_part(part).map_err(|error| {
        refuse(
            format!("cannot be read, and nodeadm will stop at it: {error}"),
            "correct this part in the launch template",
        )
    })?;
    let mut notes = Vec::new();
    let mut note = |message: String| notes.push(Note { part: Some(number), message });

    if !config.cluster_dns().is_empty() {
        note(format!("its clusterDNS {} stays", config.cluster_dns().join(", ")));
    }
    if let (Some(theirs), Some(ours)) = (config.max_pods(), target.max_pods)
        && theirs != u64::from(ours)
    {
        note(format!("it sets maxPods {theirs}; ours, {ours}, is read after it and wins"));
    }

    for (flag, since) in kubelet_flags::removed(&config.flags().join(" "), target.kubernetes_minor) {
        note(format!("its flag {flag} is kept, but kubelet of Kubernetes 1.{since} and later does not start with it"));
    }

    let mut wanted: Vec<(String, String)> = Vec::new();
    let mut dropped = Vec::new();
    for flag in config.flags() {
        let (kept, gone) = labels::without(flag, |key| target.drops_label(key));
        if !gone.is_empty() {
            wanted.push((flag.to_owned(), kept));
            dropped.extend(gone);
        }
    }
    if wanted.is_empty() {
        return Ok(notes);
    }
    let original = part.content().into_owned();
    let mut body = original.clone();
    for (flag, kept) in &wanted {
        body = replace_flag(&body, flag, kept).ok_or_else(|| {
            refuse(
                format!("sets labels that have to go ({}), in a form that cannot be edited safely", dropped.join(", ")),
                "write each entry of spec.kubelet.flags on a line of its own, or take these labels out",
            )
        })?;
    }
    if !says_the_same_otherwise(&config, &body, &wanted) {
        return Err(refuse(
            format!("sets labels that have to go ({}), in a form that cannot be edited safely", dropped.join(", ")),
            "take these labels out of spec.kubelet.flags in the launch template",
        ));
    }
    note(format!("its labels {} are taken out: ours or EKS's own take their place", dropped.join(", ")));
    part.body = edits::marked(&original, &body);
    part.headers.retain(|header| !header.name.eq_ignore_ascii_case("content-transfer-encoding"));
    Ok(notes)
}

/// Replaces the one line that holds a flag, or takes it out where nothing of the flag is left.
fn replace_flag(body: &[u8], flag: &str, kept: &str) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(body).ok()?;
    let mut places = text.match_indices(flag).filter(|(start, _)| {
        let is_comment = edits::whole_lines(body, *start..*start + 1);
        !text.get(is_comment).unwrap_or_default().trim_start().starts_with('#')
    });
    let (start, _) = places.next()?;
    if places.next().is_some() {
        return None;
    }
    let end = start + flag.len();
    let lines = edits::whole_lines(body, start..end);
    let line = text.get(lines.clone())?.trim_end_matches(['\r', '\n']);
    let mut edited = body.get(..lines.start)?.to_vec();
    if kept.is_empty() {
        let item = line.trim().strip_prefix('-')?.trim();
        let is_alone = item == flag || item == format!("\"{flag}\"") || item == format!("'{flag}'");
        if !is_alone {
            return None;
        }
    } else {
        edited.extend_from_slice(line.replacen(flag, kept, 1).as_bytes());
        edited.extend_from_slice(text.get(lines.start + line.len()..lines.end)?.as_bytes());
    }
    edited.extend_from_slice(body.get(lines.end..)?);
    Some(edited)
}

fn says_the_same_otherwise(before: &NodeConfig, body: &[u8], wanted: &[(String, String)]) -> bool {
    let Ok(after) = NodeConfig::parse(body) else { return false };
    let expected: Vec<&str> = before
        .flags()
        .into_iter()
        .map(|flag| wanted.iter().find(|(old, _)| old == flag).map_or(flag, |(_, new)| new.as_str()))
        .filter(|flag| !flag.is_empty())
        .collect();
    after.flags() == expected && without_flags(before) == without_flags(&after)
}

fn without_flags(config: &NodeConfig) -> NodeConfig {
    let mut config = config.clone();
    if let Some(Value::Object(kubelet)) = config.spec.get_mut("kubelet") {
        kubelet.remove("flags");
    }
    config
}
