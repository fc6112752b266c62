//! Findings as SARIF 2.1.0, for code scanning.
//!
//! Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", sections 3.13 to 3.30.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::json::pretty;
use crate::check::rule;
use crate::error::Error;
use crate::finding::{Evidence, Finding, Severity, Subject};

/// Findings as one SARIF run with the rules that they name.
///
/// # Errors
/// [`Error::Serialise`]; a defect of the program.
pub fn document(findings: &[Finding]) -> Result<String, Error> {
    let ids: BTreeSet<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
    let rules: Vec<Value> = ids
        .into_iter()
        .filter_map(rule)
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": { "text": rule.summary },
                "fullDescription": { "text": rule.why },
                "helpUri": format!("{}/blob/main/docs/rules.md#{}", env!("CARGO_PKG_REPOSITORY"), rule.id),
                "defaultConfiguration": { "level": level(rule.severity) },
            })
        })
        .collect();
    let results: Vec<Value> = findings.iter().map(result).collect();
    let driver = json!({
        "name": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": rules,
    });
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "results": results }],
    });
    pretty("the findings", &log)
}

fn level(severity: Severity) -> &'static str {
    severity.word()
}

/// Pieces of evidence that the message has; all of them are among the properties.
const EVIDENCE_IN_MESSAGE: usize = 5;

fn result(finding: &Finding) -> Value {
    let mut text = finding.message.clone();
    for Evidence { object, field, value } in finding.evidence.iter().take(EVIDENCE_IN_MESSAGE) {
        text.push_str(&format!("\n{object}, {field}: {value}"));
    }
    text.push_str(&format!("\nhelp: {}", finding.help));
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.severity),
        "message": { "text": text },
    });
    if let Some(fields) = result.as_object_mut().filter(|_| !finding.evidence.is_empty()) {
        fields.insert("properties".into(), json!({ "evidence": finding.evidence }));
    }
    let place = match &finding.subject {
        Subject::File(path) => {
            let mut physical = json!({ "artifactLocation": { "uri": path } });
            if let (Some(line), Some(fields)) = (finding.line, physical.as_object_mut()) {
                fields.insert("region".into(), json!({ "startLine": line }));
            }
            json!({ "physicalLocation": physical })
        }
        subject => json!({ "logicalLocations": [{ "fullyQualifiedName": subject.to_string() }] }),
    };
    if let Some(fields) = result.as_object_mut() {
        fields.insert("locations".into(), json!([place]));
    }
    result
}
