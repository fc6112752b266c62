//! Our parts into user data that is already there, without losing a byte of it.
//!
//! Ours are recognised by their marker lines and replaced where they stand, or added at the end. Foreign parts keep
//! their order, their headers and their bodies; where a line of theirs has to change, the old line stays above the new
//! one as a comment, so that [`without_ours`] gives it back.

mod amazon_linux;
mod bootstrap;
pub(super) mod bottlerocket;
mod node_config;
mod strict;
mod toml_text;

use super::Document;
use super::kind::Kind;
use super::mime::{self, Part};
use crate::error::Error;

/// The AMI family that will read the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Amazon Linux 2023.
    Al2023,
    /// Amazon Linux 2.
    Al2,
    /// Bottlerocket.
    Bottlerocket,
}

impl Family {
    /// The word in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Al2023 => "AL2023",
            Self::Al2 => "AL2",
            Self::Bottlerocket => "Bottlerocket",
        }
    }
}

/// What the result is for.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The AMI family.
    pub family: Family,
    /// Whether the launch template names no image, so that EKS merges its own part into the user data.
    pub eks_merges: bool,
    /// Key of the label by which our part names the ENIConfig; `None` where it names none.
    pub label_key: Option<&'a str>,
    /// Max pods that our part sets, if it does.
    pub max_pods: Option<u32>,
    /// Minor version of Kubernetes, such as 33 of 1.33, where it is known.
    pub kubernetes_minor: Option<u32>,
}

impl Target<'_> {
    /// Whether a label has to go from foreign flags: another ENIConfig label would compete with ours, and copies of
    /// EKS's own labels go stale.
    fn drops_label(&self, key: &str) -> bool {
        super::labels::is_eks_owned(key)
            || (self.label_key.is_some() && super::labels::names_eni_config(key, self.label_key))
    }
}

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The text to put into the launch template, decoded.
    pub text: Vec<u8>,
    /// Its parts; one for TOML.
    pub parts: Vec<Part>,
    /// What was changed or kept that a reader should know.
    pub notes: Vec<Note>,
}

/// Something that a reader of the result should know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The part of the existing document it is about, from 1; `None` is the document.
    pub part: Option<usize>,
    /// What it is, no final period.
    pub message: String,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.part {
            Some(part) => write!(f, "part {part}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Why user data cannot be merged safely.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MergeProblem {
    /// The part of the existing document, from 1; `None` is the document.
    pub part: Option<usize>,
    /// The line of the decoded text, from 1, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong, with the media type of the part; no final period.
    pub message: String,
    /// What to do about it, no final period.
    pub help: String,
}

impl std::fmt::Display for MergeProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.part, self.line) {
            (Some(part), Some(line)) => write!(f, "part {part}, line {line}: {}", self.message),
            (Some(part), None) => write!(f, "part {part}: {}", self.message),
            (None, Some(line)) => write!(f, "line {line}: {}", self.message),
            (None, None) => f.write_str(&self.message),
        }
    }
}

/// Merges our parts into an existing document. Each of ours holds its marker line.
///
/// # Errors
///
/// Every problem that keeps the merge from being safe, with the part it is in.
pub fn merge(existing: &Document, ours: &[Part], target: &Target<'_>) -> Result<Merged, Vec<MergeProblem>> {
    let mut merged = match target.family {
        Family::Bottlerocket => bottlerocket::merge(existing, ours, target)?,
        Family::Al2023 | Family::Al2 => amazon_linux::merge(existing, ours, target)?,
    };
    let mut seen: Vec<Note> = Vec::new();
    merged.notes.retain(|note| {
        let is_new = !seen.contains(note);
        seen.push(note.clone());
        is_new
    });
    Ok(merged)
}

/// What is left of a document when ours is taken out and every edit of foreign parts is undone.
///
/// # Errors
///
/// When a foreign part cannot be written, which [`merge`] would have repaired.
pub fn without_ours(document: &Document) -> Result<Vec<u8>, Error> {
    if document.kind == Kind::Toml {
        return Ok(document.parts.iter().flat_map(|part| bottlerocket::foreign(&part.body)).collect());
    }
    let parts: Vec<Part> = document
        .foreign_parts()
        .map(|(_, part)| {
            let mut part = strict::part(part).0;
            part.body = super::edits::undo(&part.body);
            part
        })
        .collect();
    if parts.is_empty() { Ok(Vec::new()) } else { mime::write(&parts) }
}
