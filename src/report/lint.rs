//! What `lint` found in a user-data file, and what nodeadm will make of it.

use serde_json::{Value, json};

use super::findings::count;
use super::style::{BOLD, of, styled};
use crate::config::AmiFamily;
use crate::error::Error;
use crate::finding::Finding;
use crate::user_data::nodeadm::Prediction;

/// Findings as `file:line: severity[rule]: message`, then the prediction.
pub fn text(
    file: &str,
    family: AmiFamily,
    findings: &[Finding],
    prediction: Option<&Prediction>,
    quiet: bool,
) -> String {
    let mut text = String::new();
    let mut by_line: Vec<&Finding> = findings.iter().collect();
    by_line.sort_by_key(|finding| finding.line);
    for finding in by_line {
        let place = finding.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
        let head = styled(of(finding.severity), &format!("{}[{}]:", finding.severity.word(), finding.rule));
        text.push_str(&format!("{place}: {head} {}\n  help: {}\n", finding.message, finding.help));
    }
    if quiet {
        return text;
    }
    if let Some(prediction) = prediction {
        text.push_str(&predicted(prediction));
    }
    let result = if findings.is_empty() { "nothing found".to_owned() } else { count(findings) };
    text.push_str(&format!("{file}, read as user data of {}: {result}\n", family.word()));
    text
}

/// The flags and max pods that a node will have, with where each comes from.
fn predicted(prediction: &Prediction) -> String {
    let Prediction { merged: _, flags, labels, max_pods, missing } = prediction;
    let mut text = format!("{}\n", styled(BOLD, "What nodeadm will make of it"));
    for flag in flags {
        text.push_str(&format!("  kubelet flag  {}  (from {})\n", flag.value, flag.from));
    }
    for (key, value) in labels {
        text.push_str(&format!("  label         {key}={}  (from {})\n", value.value, value.from));
    }
    match max_pods {
        Some(max_pods) => text.push_str(&format!("  max pods      {}  (from {})\n", max_pods.value, max_pods.from)),
        None => text.push_str("  max pods      what EKS writes, else nodeadm's default for the instance type\n"),
    }
    if !missing.is_empty() {
        text.push_str(&format!("  left to EKS   spec.cluster: {}\n", missing.join(", ")));
    }
    text
}

/// The same as JSON.
///
/// # Errors
/// [`Error::Serialise`]; a defect of the program.
pub fn json(
    file: &str,
    family: AmiFamily,
    findings: &[Finding],
    prediction: Option<&Prediction>,
) -> Result<String, Error> {
    let prediction = prediction.map(|prediction| {
        let Prediction { merged: _, flags, labels, max_pods, missing } = prediction;
        json!({
            "kubelet_flags": flags.iter().map(|flag| json!({ "flag": flag.value, "from": flag.from })).collect::<Vec<_>>(),
            "labels": labels.iter().map(|(key, value)| (key.clone(), json!({ "value": value.value, "from": value.from })))
                .collect::<serde_json::Map<String, Value>>(),
            "max_pods": max_pods.as_ref().map(|max_pods| json!({ "value": max_pods.value, "from": max_pods.from })),
            "left_to_eks": missing,
        })
    });
    let document = json!({
        "schema_version": 1, "file": file, "family": family, "findings": findings, "prediction": prediction,
    });
    super::json::pretty("the findings", &document)
}
