//! The rule table, and the matrix of what `verify` checks, as pages of the docs.

use super::live::matrix::{CHECKS, CONDITIONS, Check};
use super::{RULES, rule};
use crate::finding::Severity;
use crate::resolve::behaviours::BEHAVIOURS;

/// The text of `docs/rules.md`.
pub fn rules_page() -> String {
    let mut page = String::from(
        "# Rules\n\n\
         What eniplan looks for. Errors keep `generate` and `apply` from writing (exit code 4); warnings and notes do not.\n\
         This page is made from the rule table in `src/check/`; a test keeps the two equal.\n\n\
         | rule | severity | says |\n|---|---|---|\n",
    );
    for rule in RULES {
        page.push_str(&format!(
            "| [`{0}`](#{0}) | {1} | {2} |\n",
            rule.id,
            rule.severity.word(),
            rule.summary.replace('|', "\\|")
        ));
    }
    for rule in RULES {
        page.push_str(&format!("\n## {}\n\n**{}**: {} {}\n", rule.id, rule.severity.word(), rule.summary, rule.why));
    }
    page
}

/// The text of `docs/checks.md`.
pub fn checks_page() -> String {
    let mut page = String::from(
        "# What `verify` checks\n\n\
         One row a check. `eniplan verify -o junit` has a test case for each of them, in this order. Errors give exit code 4.\n\
         What cannot be told from what is read is listed by each run, with the command that tells; it never counts as passed.\n\
         This page is made from the tables in `src/check/`; a test keeps them equal.\n\n\
         | # | holds | read from | rules: errors | warnings and notes | cannot be told |\n|---|---|---|---|---|---|\n",
    );
    for check in CHECKS {
        page.push_str(&row(check));
    }
    let conditions: Vec<String> = CONDITIONS.iter().map(|id| link(id)).collect();
    page.push_str(&format!(
        "\nWithout these no check says anything, and they are looked at first: {}, and every error that planning states.\n",
        conditions.join(", ")
    ));
    page.push_str(
        "\n## What releases of the VPC CNI do differently\n\n\
         | releases | what they do | source |\n|---|---|---|\n",
    );
    for behaviour in &BEHAVIOURS {
        page.push_str(&format!("| {behaviour} | {} | {} |\n", behaviour.what, behaviour.source));
    }
    page
}

fn row(check: &Check) -> String {
    let from: Vec<&str> = check.from.iter().map(|source| source.word()).collect();
    let is_error = |id: &&&str| rule(id).is_none_or(|rule| rule.severity == Severity::Error);
    let (errors, others): (Vec<&str>, Vec<&str>) = check.rules.iter().partition(|id| is_error(id));
    let links = |ids: Vec<&str>| ids.into_iter().map(link).collect::<Vec<_>>().join(", ");
    format!(
        "| {} | {} | {} | {} | {} | {} |\n",
        check.number,
        check.holds,
        from.join(", "),
        links(errors),
        links(others),
        check.open
    )
}

fn link(id: &str) -> String {
    format!("[`{id}`](rules.md#{id})")
}
