//! What planning leaves behind beside the plan: problems and the reasons of decisions.

use super::Decision;
use crate::finding::{Problem, Subject};

/// Collected while planning; nothing stops at the first problem.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) problems: Vec<Problem>,
    pub(super) decisions: Vec<Decision>,
}

impl Notes {
    pub(super) fn problem(
        &mut self,
        rule: &'static str,
        subject: Subject,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let problem = Problem::new(rule, subject, message, help);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(super) fn decision(&mut self, subject: Subject, choice: impl Into<String>, because: impl Into<String>) {
        self.decisions.push(Decision { subject, choice: choice.into(), because: because.into() });
    }
}

/// A list for people, at most ten long.
pub(super) fn list<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    const SHOWN: usize = 10;
    let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names.get(..SHOWN).unwrap_or_default().join(", ")),
    }
}
