//! Bottlerocket: our settings into the user's TOML, whose bytes and form stay.

use toml_edit::Value;

use super::toml_text::{Leaf, TomlText, leaves};
use super::{MergeProblem, Merged, Note, Target};
use crate::user_data::kind::{Kind, TOML};
use crate::user_data::mime::Part;
use crate::user_data::oddity::OddityKind;
use crate::user_data::ours::MARKER;
use crate::user_data::{Document, edits, labels};

/// Keys of `settings.kubernetes` that we write.
const RENDERED: [&str; 7] =
    ["api-server", "cluster-certificate", "cluster-dns-ip", "cluster-name", "max-pods", "node-labels", "node-taints"];

pub(super) fn merge(existing: &Document, ours: &[Part], target: &Target<'_>) -> Result<Merged, Vec<MergeProblem>> {
    let refuse =
        |message: String, help: &str| vec![MergeProblem { part: None, line: None, message, help: help.into() }];
    if !matches!(existing.kind, Kind::Toml | Kind::Empty) {
        return Err(refuse(
            format!("the user data is {}, and Bottlerocket reads TOML settings only", existing.kind.word()),
            "check the AMI family of the node group, or make the launch template version anew without this user data",
        ));
    }
    let theirs: Vec<u8> = existing.parts.iter().flat_map(|part| foreign(&part.body)).collect();
    let our_text: Vec<u8> = ours.iter().flat_map(|part| part.body.clone()).collect();
    if theirs.trim_ascii().is_empty() {
        return Ok(merged(our_text, Vec::new()));
    }
    let mut notes = Vec::new();
    if existing.has(OddityKind::ByteOrderMark) {
        notes.push("its byte order mark is gone".to_owned());
    }
    let not_toml = |error: String| {
        refuse(format!("the user data is not TOML: {error}"), "correct the user data of the launch template")
    };
    let mut text = TomlText::parse(&theirs).map_err(not_toml)?;
    let our_leaves = leaves(&our_text).map_err(not_toml)?;

    let our_paths: Vec<&[String]> = our_leaves.iter().map(|leaf| leaf.path.as_slice()).collect();
    for path in text.stale_labels(|key| target.drops_label(key)) {
        if !our_paths.contains(&path.as_slice()) {
            text.remove(&path).map_err(|reason| {
                refuse(format!("its label {} has to go: {reason}", name(&path)), "take the label out of the user data")
            })?;
            notes.push(format!("its label {} is taken out: ours or EKS's own takes its place", name(&path)));
        }
    }
    for leaf in &our_leaves {
        set(&mut text, leaf, target, &mut notes).map_err(|reason| {
            refuse(
                format!("{} cannot be set: {reason}", name(&leaf.path)),
                "write the settings of the user data as plain lines of dotted keys or under table headers",
            )
        })?;
    }
    let notes = notes.into_iter().map(|message| Note { part: None, message }).collect();
    Ok(merged(text.into_marked(), notes))
}

fn merged(text: Vec<u8>, notes: Vec<Note>) -> Merged {
    Merged { parts: vec![Part::new(TOML, text.clone())], text, notes }
}

/// Sets one of our settings; where the user has set it already, by the rule of that setting.
fn set(text: &mut TomlText, leaf: &Leaf, target: &Target<'_>, notes: &mut Vec<String>) -> Result<(), String> {
    let Some(item) = text.get(&leaf.path) else { return text.insert(&leaf.path, &leaf.value) };
    let Some(theirs) = item.as_value().cloned() else { return Err("it is a table there".into()) };
    if same(&theirs, &leaf.value) {
        return Ok(());
    }
    let path = name(&leaf.path);
    let (shown, wanted) = (plain(&theirs), plain(&leaf.value));
    let setting = leaf.path.get(2).map(String::as_str).unwrap_or_default();
    let key = leaf.path.last().map(String::as_str).unwrap_or_default();
    match setting {
        "max-pods" => {
            if theirs.as_integer().zip(leaf.value.as_integer()).is_some_and(|(theirs, ours)| theirs < ours) {
                notes.push(format!("its {path} = {shown} stays: it is below ours, {wanted}"));
                return Ok(());
            }
            notes.push(format!("its {path} = {shown} is replaced by ours, {wanted}"));
        }
        "node-labels" if !labels::names_eni_config(key, target.label_key) => {
            notes.push(format!("its {path} = {shown} stays; the node group says {wanted}"));
            return Ok(());
        }
        "cluster-dns-ip" => {
            notes.push(format!("its {path} = {shown} stays"));
            return Ok(());
        }
        "node-taints" => {
            let union = union(&theirs, &leaf.value).ok_or("it is no list of texts there")?;
            if !same(&union, &theirs) {
                notes.push(format!("its {path} = {shown} is now {}", plain(&union)));
                text.replace(&leaf.path, &union)?;
            }
            return Ok(());
        }
        _ => notes.push(format!("its {path} = {shown} is replaced by ours, {wanted}")),
    }
    text.replace(&leaf.path, &leaf.value)
}

fn union(theirs: &Value, ours: &Value) -> Option<Value> {
    let mut all = theirs.as_array()?.clone();
    for value in ours.as_array()? {
        let text = value.as_str()?;
        if !all.iter().any(|one| one.as_str() == Some(text)) {
            all.push(text);
        }
    }
    Some(Value::Array(all))
}

fn same(a: &Value, b: &Value) -> bool {
    plain(a) == plain(b)
}

/// A value in one form, whatever its spelling.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{}\"", text.value()),
        Value::Integer(number) => number.value().to_string(),
        Value::Array(array) => format!("[{}]", array.iter().map(plain).collect::<Vec<_>>().join(", ")),
        other => other.to_string().trim().to_owned(),
    }
}

fn name(path: &[String]) -> String {
    path.iter().map(|key| toml_edit::Key::new(key).to_string()).collect::<Vec<_>>().join(".")
}

/// The user's part of a TOML text: our edits undone, our own lines left out.
///
/// Our own lines follow our marker line without a gap.
pub(in crate::user_data) fn foreign(body: &[u8]) -> Vec<u8> {
    let text = edits::undo(body);
    if is_all_ours(&text) {
        return Vec::new();
    }
    let mut in_ours = false;
    let mut kept = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        in_ours = line.starts_with(MARKER.as_bytes()) || (in_ours && is_rendered(line));
        if !in_ours {
            kept.extend_from_slice(line);
        }
    }
    kept
}

fn is_all_ours(text: &[u8]) -> bool {
    text.starts_with(MARKER.as_bytes())
        && leaves(text).is_ok_and(|leaves| {
            leaves.iter().all(|leaf| {
                let [settings, kubernetes, key, ..] = leaf.path.as_slice() else { return false };
                settings == "settings" && kubernetes == "kubernetes" && RENDERED.contains(&key.as_str())
            })
        })
}

fn is_rendered(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"settings.kubernetes.") else { return false };
    RENDERED.iter().any(|key| {
        rest.strip_prefix(key.as_bytes())
            .is_some_and(|rest| rest.starts_with(b".") || rest.trim_ascii_start().starts_with(b"="))
    })
}
