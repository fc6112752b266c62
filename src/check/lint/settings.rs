//! Bottlerocket's settings.

use super::Input;
use crate::config::AmiFamily;
use crate::finding::Problem;
use crate::user_data::Kind;

pub(super) fn look(input: &Input<'_>, problems: &mut Vec<Problem>) {
    if input.family != AmiFamily::Bottlerocket || input.document.kind != Kind::Toml {
        return;
    }
    let Some((_, part, place)) = input.parts().next() else { return };
    let text = String::from_utf8_lossy(&part.body);
    let line_at = |offset: usize| place.body + text.get(..offset).unwrap_or_default().matches('\n').count();
    let settings = match text.parse::<toml::Table>() {
        Ok(settings) => settings,
        Err(error) => {
            problems.push(input.problem(
                "settings-malformed",
                line_at(error.span().map_or(0, |span| span.start)),
                format!("it is not TOML: {}", error.message()),
                "correct the TOML; a table may have one header only",
            ));
            return;
        }
    };
    let max_pods = settings.get("settings").and_then(|settings| settings.get("kubernetes")?.get("max-pods"));
    if max_pods.is_some_and(|value| !value.is_integer()) {
        problems.push(input.problem(
            "settings-max-pods-no-integer",
            line_at(text.find("max-pods").unwrap_or_default()),
            "max-pods is not an integer, and Bottlerocket refuses the settings",
            "write the number without quotes",
        ));
    }
    if input.eks_merges {
        for (index, line) in text.lines().enumerate() {
            if let Some(what) = unsupported_by_eks(line) {
                problems.push(input.problem(
                    "settings-form-not-merged",
                    place.body + index,
                    format!("{what}, which EKS cannot merge with its own settings"),
                    "write plain lines of dotted keys, such as settings.kubernetes.node-labels.\"a/b\" = \"c\"",
                ));
            }
        }
    }
}

/// Forms of TOML that EKS does not take. Source: EKS User Guide, "Customize managed nodes with launch templates".
fn unsupported_by_eks(line: &str) -> Option<&'static str> {
    let line = line.trim();
    if line.starts_with('#') {
        return None;
    }
    if line.starts_with('[') {
        return line.contains(['"', '\'']).then_some("the table header has a quoted key");
    }
    let (key, value) = line.split_once('=')?;
    if key.contains("\\\"") {
        return Some("the quoted key has a quote in it");
    }
    if value.contains("\\\"") {
        return Some("the value has an escaped quote in it");
    }
    let value = value.trim();
    let items = value.strip_prefix('[').map(|rest| rest.split(']').next().unwrap_or_default());
    let kinds = items.map(|items| {
        let mut kinds: Vec<bool> = items
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(|item| item.starts_with(['"', '\'']))
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.len()
    });
    (kinds == Some(2)).then_some("the list holds values of several kinds")
}
