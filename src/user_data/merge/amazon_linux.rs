//! Amazon Linux: MIME for cloud-init and, on AL2023, nodeadm.

use super::{Family, MergeProblem, Merged, Note, Target, bootstrap, node_config, strict};
use crate::user_data::bootstrap_call::calls;
use crate::user_data::kind::{Kind, contains};
use crate::user_data::layers::Layer;
use crate::user_data::mime::{self, Part};
use crate::user_data::node_config::is_node_config;
use crate::user_data::oddity::OddityKind;
use crate::user_data::ours::{is_ours, marker_name};
use crate::user_data::shell::commands;
use crate::user_data::{Document, edits};

/// A part on its way into the result.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Its number in the existing document; `None` is ours.
    pub(super) number: Option<usize>,
    pub(super) part: Part,
}

pub(super) fn merge(existing: &Document, ours: &[Part], target: &Target<'_>) -> Result<Merged, Vec<MergeProblem>> {
    refuse_other_formats(existing, target).map_err(|problem| vec![problem])?;
    let mut notes = document_notes(existing);
    let mut problems = Vec::new();
    let mut entries = placed(existing, ours);

    for entry in &mut entries {
        let Some(number) = entry.number else { continue };
        let (part, changes) = strict::part(&entry.part);
        entry.part = part;
        entry.part.body = edits::undo(&entry.part.body);
        notes.extend(changes.into_iter().map(|message| Note { part: Some(number), message }));
        problems.extend(refusals(number, &entry.part, target));
        if is_node_config(&entry.part) && target.family == Family::Al2023 {
            match node_config::merge(number, &mut entry.part, target) {
                Ok(more) => notes.extend(more),
                Err(problem) => problems.push(problem),
            }
        }
    }
    if target.family == Family::Al2 && !target.eks_merges && problems.is_empty() {
        match bootstrap::fold(&mut entries, target) {
            Ok(more) => notes.extend(more),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let parts: Vec<Part> = entries.into_iter().map(|entry| entry.part).collect();
    let text = mime::write(&parts).map_err(|error| {
        vec![MergeProblem { part: None, line: None, help: error.help(), message: error.to_string() }]
    })?;
    Ok(Merged { text, parts, notes })
}

/// The parts in the order of the result: ours where they stand already, else at the end.
fn placed(existing: &Document, ours: &[Part]) -> Vec<Entry> {
    let mut waiting: Vec<&Part> = ours.iter().collect();
    let mut entries = Vec::new();
    for (index, part) in existing.parts.iter().enumerate() {
        if !is_ours(part) {
            entries.push(Entry { number: Some(index + 1), part: part.clone() });
            continue;
        }
        // A part of ours that is not wanted any more, or stands there twice, goes.
        let name = marker_name(&part.content());
        if let Some(position) = waiting.iter().position(|one| marker_name(&one.content()) == name) {
            entries.push(Entry { number: None, part: waiting.remove(position).clone() });
        }
    }
    entries.extend(waiting.into_iter().map(|part| Entry { number: None, part: part.clone() }));
    entries
}

fn refuse_other_formats(existing: &Document, target: &Target<'_>) -> Result<(), MergeProblem> {
    let refuse = |message: String, help: &str| Err(MergeProblem { part: None, line: None, message, help: help.into() });
    let family = target.family.word();
    match existing.kind {
        Kind::Toml => refuse(
            format!("the user data is TOML settings, which {family} does not read"),
            "check the AMI family of the node group, or make the launch template version anew without this user data",
        ),
        Kind::Unknown => refuse(
            format!("the user data is neither MIME nor anything else that {family} reads"),
            "make it a script that starts with `#!`, `#cloud-config`, a NodeConfig or a MIME multipart",
        ),
        Kind::Mime if existing.has(OddityKind::NoParts) => refuse(
            "the user data is a MIME multipart in which no part can be found".into(),
            "check its boundary: every part starts with a line of two hyphens and the boundary",
        ),
        _ => Ok(()),
    }
}

fn refusals(number: usize, part: &Part, target: &Target<'_>) -> Vec<MergeProblem> {
    let content = part.content();
    let media_type = part.media_type();
    let mut problems = Vec::new();
    let mut refuse = |message: String, help: &str| {
        problems.push(MergeProblem { part: Some(number), line: None, message, help: help.into() });
    };
    let calls_bootstrap = if part.is_script() {
        !calls(&content).is_empty()
    } else {
        !is_node_config(part) && contains(&content, b"/etc/eks/bootstrap.sh")
    };
    match target.family {
        Family::Al2023 if calls_bootstrap => refuse(
            format!("{media_type} calls /etc/eks/bootstrap.sh, which on AL2023 only prints an error"),
            "take the call out: on AL2023 a NodeConfig does its work; or check the AMI family of the node group",
        ),
        Family::Al2 if calls_bootstrap && target.eks_merges => refuse(
            format!("{media_type} calls bootstrap.sh, and EKS adds a call of its own: the node is bootstrapped twice"),
            "take the call out of the script, or name an image in the launch template (ImageId)",
        ),
        Family::Al2 if calls_bootstrap && !part.is_script() => refuse(
            format!("{media_type} calls bootstrap.sh, and so does our part"),
            "take the call out: our part makes it",
        ),
        Family::Al2 if is_node_config(part) => refuse(
            format!("{media_type} is read by nodeadm of AL2023, not by AL2"),
            "take the part out, or check the AMI family of the node group",
        ),
        Family::Al2023 | Family::Al2 | Family::Bottlerocket => {}
    }
    if target.eks_merges && has_eks_delimiter(&part.body) {
        refuse(
            format!("{media_type} has a line `--//`, and EKS writes its merged document with the boundary `//`"),
            "change that line, for example by writing `echo '--''//'`",
        );
    }
    problems
}

/// Whether a body has a line that is a delimiter of the document that EKS makes. Source: amazon-eks-ami issue 1988.
fn has_eks_delimiter(body: &[u8]) -> bool {
    body.split(|byte| matches!(byte, b'\n' | b'\r')).any(|line| {
        let Some(rest) = line.strip_prefix(b"--//") else { return false };
        rest.strip_prefix(b"--").unwrap_or(rest).trim_ascii().is_empty()
    })
}

fn document_notes(existing: &Document) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut note = |part, message: String| notes.push(Note { part, message });
    if existing.layers.contains(&Layer::Gzip) {
        note(None, "it was gzip and is plain text now: EKS merges no gzip".into());
    }
    if existing.layers.contains(&Layer::Base64) {
        note(None, "it was encoded as base64 once more than EC2 undoes, and is plain text now".into());
    }
    if !matches!(existing.kind, Kind::Mime | Kind::Empty) {
        note(Some(1), format!("the {} is now a part of a MIME multipart", existing.kind.word()));
    }
    for oddity in &existing.oddities {
        // These need no repair, or are noted with their part.
        let is_silent = matches!(
            oddity.kind,
            OddityKind::HeaderOrder | OddityKind::Crlf | OddityKind::TransferEncoding | OddityKind::BadContentType
        );
        if !is_silent {
            note(oddity.part, format!("{} (line {}); repaired", oddity.kind.describe(), oddity.line));
        }
    }
    for (number, part) in existing.foreign_parts().filter(|(_, part)| part.is_script()) {
        let calls_nodeadm = commands(&part.content()).iter().any(|command| {
            command.words.iter().any(|word| matches!(word.literal.as_deref(), Some("nodeadm" | "/usr/bin/nodeadm")))
        });
        if calls_nodeadm {
            note(Some(number), "it calls nodeadm, which the image does by itself".into());
        }
    }
    notes
}
