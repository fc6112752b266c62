//! User data part by part: ours as text, foreign parts by type, size and SHA-256.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::unified;
use crate::launch_template::Base64Bytes;
use crate::user_data::{self, Part, is_ours, marker_name};

/// One text for each part that is there before or after.
pub(super) fn user_data_texts(
    before: Option<&Base64Bytes>,
    after: Option<&Base64Bytes>,
    after_name: &str,
) -> Vec<String> {
    let (before, after) = (parts(before), parts(after));
    let mut texts = Vec::new();
    let (ours, theirs): (Vec<&Part>, Vec<&Part>) = after.iter().partition(|part| is_ours(part));
    let (old_ours, old_theirs): (Vec<&Part>, Vec<&Part>) = before.iter().partition(|part| is_ours(part));
    for part in &theirs {
        let kept = old_theirs.iter().any(|old| old.body == part.body);
        let said = if kept { "kept as it is" } else { "with changed headers or settings of eniplan's in it" };
        texts.push(format!("  {}: {said}\n", described(part)));
    }
    for old in old_theirs.iter().filter(|old| !theirs.iter().any(|part| part.body == old.body)) {
        texts.push(format!("  {}: as it was\n", described(old)));
    }
    for part in &ours {
        let name = marker_name(&part.content());
        let old = old_ours.iter().find(|old| marker_name(&old.content()) == name);
        texts.extend(unified(
            &old.map(|old| content(old)).unwrap_or_default(),
            &content(part),
            &format!("{} now", name.as_deref().unwrap_or("part")),
            &format!("{} in {after_name}", name.as_deref().unwrap_or("part")),
        ));
    }
    for old in &old_ours {
        let name = marker_name(&old.content());
        if !ours.iter().any(|part| marker_name(&part.content()) == name) {
            let name = name.as_deref().unwrap_or("part");
            texts.extend(unified(&content(old), "", &format!("{name} now"), "gone"));
        }
    }
    texts
}

fn parts(bytes: Option<&Base64Bytes>) -> Vec<Part> {
    bytes.and_then(|bytes| user_data::read(&bytes.0).ok()).map(|document| document.parts).unwrap_or_default()
}

fn content(part: &Part) -> String {
    String::from_utf8_lossy(&part.content()).into_owned()
}

/// `text/cloud-config, 123 bytes, sha256:…`.
fn described(part: &Part) -> String {
    format!("{}, {} bytes, sha256:{}", part.media_type(), part.body.len(), hash(&part.body))
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Replaces every `UserData` of a document by its parts; of foreign ones type, size and hash are left.
pub(super) fn without_foreign_bytes(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == "UserData" {
                    *value = shown(value);
                } else {
                    without_foreign_bytes(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_foreign_bytes),
        _ => {}
    }
}

fn shown(value: &Value) -> Value {
    let Ok(bytes) = serde_json::from_value::<Base64Bytes>(value.clone()) else { return Value::Null };
    match user_data::read(&bytes.0) {
        Ok(document) => document
            .parts
            .iter()
            .map(|part| {
                let ours = is_ours(part);
                let mut shown = json!({
                    "type": part.media_type(), "bytes": part.body.len(), "sha256": hash(&part.body), "ours": ours,
                });
                if ours && let Some(fields) = shown.as_object_mut() {
                    fields.insert("content".into(), content(part).into());
                }
                shown
            })
            .collect(),
        Err(_) => json!({ "bytes": bytes.0.len(), "sha256": hash(&bytes.0) }),
    }
}
