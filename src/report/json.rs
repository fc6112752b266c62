//! Results for programs. Each document has a `schema_version`; a field is never renamed within one.

use serde::Serialize;
use serde_json::json;

use super::generate::Written;
use super::lint::predicted_json;
use super::phases::PhaseCapacity;
use crate::advise::Advice;
use crate::capacity::Capacity;
use crate::capacity::moves::Move;
use crate::diff::{Applied, Diff};
use crate::error::Error;
use crate::finding::Finding;
use crate::inventory::Inventory;
use crate::plan::Plan;
use crate::plan::explanation::Explanation;
use crate::user_data::nodeadm::Prediction;
use crate::verify::CloseUp;

/// The schema version of the documents of this file.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// A value as indented JSON with a final newline.
///
/// # Errors
/// [`Error::Serialise`]; a defect of the program.
pub fn pretty(what: &str, value: &impl Serialize) -> Result<String, Error> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|source| Error::Serialise { what: what.into(), source: source.into() })?;
    text.push('\n');
    Ok(text)
}

/// `eniplan plan -o json`.
///
/// # Errors
/// As [`pretty`].
pub fn plan(plan: &Plan, moved: Option<&Move>, findings: &[Finding]) -> Result<String, Error> {
    pretty("the plan", &json!({ "schema_version": SCHEMA_VERSION, "plan": plan, "move": moved, "findings": findings }))
}

/// `eniplan capacity -o json`.
///
/// # Errors
/// As [`pretty`].
pub fn capacity(cluster: &str, capacity: &Capacity, findings: &[Finding]) -> Result<String, Error> {
    pretty(
        "the capacity",
        &json!({ "schema_version": SCHEMA_VERSION, "cluster": cluster, "capacity": capacity, "findings": findings }),
    )
}

/// `eniplan capacity --phases -o json`.
///
/// # Errors
/// As [`pretty`].
pub fn phases(cluster: &str, phases: &[PhaseCapacity]) -> Result<String, Error> {
    pretty("the phases", &json!({ "schema_version": SCHEMA_VERSION, "cluster": cluster, "phases": phases }))
}

/// `eniplan advise -o json`.
///
/// # Errors
/// As [`pretty`].
pub fn advice(cluster: &str, advice: &Advice, findings: &[Finding]) -> Result<String, Error> {
    pretty(
        "the advice",
        &json!({ "schema_version": SCHEMA_VERSION, "cluster": cluster, "advice": advice, "findings": findings }),
    )
}

/// Findings alone, where nothing else could be done.
///
/// # Errors
/// As [`pretty`].
pub fn findings(findings: &[Finding]) -> Result<String, Error> {
    pretty("the findings", &json!({ "schema_version": SCHEMA_VERSION, "findings": findings }))
}

/// `eniplan explain -o json`.
///
/// # Errors
/// As [`pretty`].
pub fn explanation(
    explanation: &Explanation,
    live: Option<&CloseUp>,
    prediction: Option<&Prediction>,
    findings: &[Finding],
) -> Result<String, Error> {
    let prediction = prediction.map(predicted_json);
    pretty(
        "the explanation",
        &json!({
            "schema_version": SCHEMA_VERSION, "explanation": explanation, "live": live, "prediction": prediction,
            "findings": findings,
        }),
    )
}

/// `eniplan generate -o json`.
///
/// # Errors
/// As [`pretty`].
pub fn generated(written: &Written, findings: &[Finding]) -> Result<String, Error> {
    pretty("the result", &json!({ "schema_version": SCHEMA_VERSION, "written": written, "findings": findings }))
}

/// `eniplan diff -o json`.
///
/// # Errors
/// As [`pretty`].
pub fn diff(diff: &Diff, inventory: &Inventory, findings: &[Finding]) -> Result<String, Error> {
    let mut document = super::diff::json(diff, inventory);
    if let Some(fields) = document.as_object_mut() {
        fields.insert("findings".into(), json!(findings));
    }
    pretty("the diff", &document)
}

/// `eniplan apply -o json`.
///
/// # Errors
/// As [`pretty`].
pub fn applied(diff: &Diff, inventory: &Inventory, applied: &Applied) -> Result<String, Error> {
    let mut document = super::apply::json(diff, inventory, applied);
    if let Some(fields) = document.as_object_mut() {
        fields.insert("schema_version".into(), json!(SCHEMA_VERSION));
    }
    pretty("the result", &document)
}
