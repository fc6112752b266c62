//! Differences for people and for programs: the same sentences for both.

mod describe;
mod user_data;

use serde::Serialize;
use serde_json::{Value, json};

use super::style::{ADDED, BOLD, CHANGED, DIM, REMOVED, styled};
use crate::diff::{Change, Diff};
use crate::finding::Subject;
use crate::inventory::Inventory;

/// The schema version of the JSON document.
const SCHEMA_VERSION: u32 = 1;

/// One change in words.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Described {
    pub(super) action: Action,
    pub(super) subject: Subject,
    /// One sentence, no final period.
    pub(super) sentence: String,
    /// What the reader should know, a sentence each.
    pub(super) remarks: Vec<String>,
    /// Unified text diffs.
    pub(super) texts: Vec<String>,
}

/// What happens to the subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Action {
    Add,
    Change,
    Delete,
}

/// The sentence of a change, for lists of what was done.
pub fn sentence(change: &Change, inventory: &Inventory) -> String {
    describe::change(change, inventory).sentence
}

/// A diff as text.
pub fn text(diff: &Diff, inventory: &Inventory) -> String {
    let mut text = String::new();
    let mut counts = [0_usize; 3];
    for change in &diff.changes {
        let described = describe::change(change, inventory);
        let (sign, style, count) = match described.action {
            Action::Add => ("+", ADDED, 0),
            Action::Change => ("~", CHANGED, 1),
            Action::Delete => ("-", REMOVED, 2),
        };
        if let Some(count) = counts.get_mut(count) {
            *count += 1;
        }
        text.push_str(&format!("{} {}\n", styled(style, sign), styled(BOLD, &described.sentence)));
        for remark in &described.remarks {
            text.push_str(&format!("    {remark}\n"));
        }
        for block in &described.texts {
            text.push_str(&coloured(block));
        }
    }
    if !diff.awaiting.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("{}\n", styled(BOLD, "Waiting for you")));
    }
    for awaiting in &diff.awaiting {
        text.push_str(&format!("? {}: {}\n", awaiting.subject, awaiting.what.replace('\n', "\n      ")));
        for line in awaiting.how.lines() {
            text.push_str(&format!("    {}\n", styled(DIM, line)));
        }
    }
    if diff.is_empty() {
        return "No differences: the cluster is as planned.\n".into();
    }
    let [added, changed, deleted] = counts;
    text.push_str(&format!(
        "\n{added} to add, {changed} to change, {deleted} to delete, {} waiting.\n",
        diff.awaiting.len()
    ));
    text
}

fn coloured(block: &str) -> String {
    block
        .lines()
        .map(|line| {
            let style = match line.chars().next() {
                Some('+') => ADDED,
                Some('-') => REMOVED,
                Some('@') => CHANGED,
                _ => return format!("    {line}\n"),
            };
            format!("    {}\n", styled(style, line))
        })
        .collect()
}

/// A diff for programs, without a byte of foreign user data.
pub fn json(diff: &Diff, inventory: &Inventory) -> Value {
    let changes: Vec<Value> = diff
        .changes
        .iter()
        .map(|change| {
            let mut request = serde_json::to_value(change).unwrap_or_default();
            user_data::without_foreign_bytes(&mut request);
            let Described { action, subject, sentence, remarks, texts } = describe::change(change, inventory);
            json!({
                "action": action, "subject": subject, "sentence": sentence, "remarks": remarks, "texts": texts,
                "request": request,
            })
        })
        .collect();
    json!({
        "schema_version": SCHEMA_VERSION, "cluster": diff.cluster, "changes": changes, "awaiting": diff.awaiting,
    })
}

/// A unified diff of two texts; empty where they are equal.
pub(super) fn unified(before: &str, after: &str, before_name: &str, after_name: &str) -> Option<String> {
    if before == after {
        return None;
    }
    let diff = similar::TextDiff::from_lines(before, after);
    Some(diff.unified_diff().context_radius(3).header(before_name, after_name).to_string())
}
