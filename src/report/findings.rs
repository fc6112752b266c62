//! Findings for people.

use super::style::{of, styled};
use crate::finding::{Finding, Severity};

/// All findings, the worst first, with a count at the end. Quiet leaves errors only.
pub fn text(findings: &[Finding], quiet: bool) -> String {
    let mut text = String::new();
    for finding in findings.iter().filter(|finding| !quiet || finding.severity == Severity::Error) {
        let head = styled(of(finding.severity), &format!("{}[{}]:", finding.severity.word(), finding.rule));
        text.push_str(&format!("{head} {}: {}\n", finding.subject, finding.message));
        text.push_str(&format!("  help: {}\n", finding.help));
    }
    if !quiet && !findings.is_empty() {
        text.push_str(&format!("{}\n", count(findings)));
    }
    text
}

/// `2 errors, 1 warning, 3 notes`; severities without findings are left out.
pub(super) fn count(findings: &[Finding]) -> String {
    [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .filter_map(|severity| {
            let count = findings.iter().filter(|finding| finding.severity == severity).count();
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} {}{plural}", severity.word()))
        })
        .collect::<Vec<_>>()
        .join(", ")
}
