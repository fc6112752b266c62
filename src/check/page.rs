//! The rule table as a page of the docs.

use super::RULES;

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
