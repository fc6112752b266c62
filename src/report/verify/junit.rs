//! The report as JUnit XML: a test case for each check, so that CI systems show what does not hold.
//!
//! Source: the schema that Jenkins's xUnit plugin and GitLab read, `junit-10.xsd`.

use super::super::style::printable;
use crate::check::live::CannotTell;
use crate::check::live::matrix::CHECKS;
use crate::check::live::parts::parts;
use crate::finding::{Finding, Severity};
use crate::verify::{Report, Selection};

/// What decides about all checks: what could not be read or planned at all.
const EVERYTHING: (u8, &str) = (0, "Everything that decides was read, and the plan is whole");

/// One test case: a check with what is known of it.
struct Case<'a> {
    name: String,
    /// Whether any of its rules was asked for.
    asked: bool,
    findings: Vec<&'a Finding>,
    open: Vec<&'a CannotTell>,
    /// Parts of the inventory that it looks at and that were not read.
    unread: Vec<&'static str>,
}

/// The document.
pub fn junit(report: &Report, selection: &Selection) -> String {
    let of_check = |finding: &Finding, number: u8| match CHECKS.iter().find(|check| check.number == number) {
        Some(check) => check.rules.contains(&finding.rule.as_str()),
        None => CHECKS.iter().all(|check| !check.rules.contains(&finding.rule.as_str())),
    };
    let case = |number: u8, holds: &str, asked: bool| Case {
        name: format!("{number:02} {holds}"),
        asked,
        findings: report.findings.iter().filter(|finding| of_check(finding, number)).collect(),
        open: report.cannot_tell.iter().filter(|open| open.check == number).collect(),
        unread: report
            .unread
            .iter()
            .filter(|part| number == EVERYTHING.0 || parts(number).contains(part))
            .map(|part| part.name())
            .collect(),
    };
    let mut cases = vec![case(EVERYTHING.0, EVERYTHING.1, true)];
    cases.extend(CHECKS.iter().map(|check| {
        let asked = check.rules.iter().any(|rule| selection.takes_rule(rule));
        case(check.number, check.holds, asked)
    }));
    let failures = cases.iter().filter(|case| case.errors().next().is_some()).count();
    let skipped = cases.iter().filter(|case| case.skipped().is_some()).count();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"", cases.len());
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text.push_str(&format!("<testsuites name=\"eniplan verify\" {counts}>\n"));
    text.push_str(&format!(
        "  <testsuite name=\"{}\" {counts} timestamp=\"{}\">\n",
        escaped(&format!("eniplan verify {}", report.cluster)),
        escaped(report.collected_at.trim_end_matches('Z'))
    ));
    cases.iter().for_each(|case| text.push_str(&case.text(&report.cluster)));
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

impl Case<'_> {
    fn errors(&self) -> impl Iterator<Item = &&Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// Why the case says nothing: it was not asked for, or nobody can tell. What does not hold is never skipped.
    fn skipped(&self) -> Option<String> {
        if self.errors().next().is_some() {
            return None;
        }
        if !self.asked {
            return Some("not asked for".into());
        }
        let unread = (!self.unread.is_empty()).then(|| format!("not read: {}", self.unread.join(", ")));
        let open: Vec<String> = unread.into_iter().chain(self.open.iter().map(|open| cannot_tell(open))).collect();
        (!open.is_empty()).then(|| open.join("\n"))
    }

    fn text(&self, cluster: &str) -> String {
        let name = format!("classname=\"{}\" name=\"{}\"", escaped(&format!("eniplan.{cluster}")), escaped(&self.name));
        let mut inside = String::new();
        if let Some(first) = self.errors().next() {
            let message = format!("{}: {}", first.subject, first.message);
            let all: Vec<String> = self.errors().map(|finding| in_words(finding)).collect();
            inside.push_str(&format!(
                "      <failure message=\"{}\" type=\"{}\">{}</failure>\n",
                escaped(&message),
                escaped(&first.rule),
                escaped(&all.join("\n"))
            ));
        }
        if let Some(because) = self.skipped() {
            inside.push_str(&format!("      <skipped message=\"{}\"/>\n", escaped(&because)));
        }
        let mut rest: Vec<String> = self
            .findings
            .iter()
            .filter(|finding| finding.severity != Severity::Error)
            .map(|finding| in_words(finding))
            .collect();
        if self.skipped().is_none() {
            rest.extend(self.open.iter().map(|open| cannot_tell(open)));
        }
        if !rest.is_empty() {
            inside.push_str(&format!("      <system-out>{}</system-out>\n", escaped(&rest.join("\n"))));
        }
        if inside.is_empty() {
            return format!("    <testcase {name}/>\n");
        }
        format!("    <testcase {name}>\n{inside}    </testcase>\n")
    }
}

fn in_words(finding: &Finding) -> String {
    let Finding { severity, rule, subject, line: _, message, help, evidence } = finding;
    let mut text = format!("{}[{rule}]: {subject}: {message}\n", severity.word());
    for evidence in evidence {
        text.push_str(&format!("  {}  {}: {}\n", evidence.object, evidence.field, evidence.value));
    }
    text.push_str(&format!("  help: {help}"));
    text
}

fn cannot_tell(open: &CannotTell) -> String {
    format!("cannot tell {}: {}; {}", open.what, open.because, open.command)
}

/// Text and attributes of XML 1.0: markup as references, line ends too, because readers make blanks of those in attributes;
/// characters that XML does not have become dots. Source: W3C, "Extensible Markup Language (XML) 1.0", 2.2, 2.4, 3.3.3.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\u{1b}' | '\u{fffe}' | '\u{ffff}' => escaped.push('·'),
            other => escaped.push(other),
        }
    }
    escaped
}
