//! Which rules, and which nodes, a report is about.

use std::collections::{BTreeMap, BTreeSet};

use super::NodeReport;
use crate::check::live::CannotTell;
use crate::check::live::matrix::{CHECKS, is_checked};
use crate::finding::{Finding, Severity, Subject};
use crate::render::SourceFlags;

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these rules; empty means all.
    pub only: Vec<String>,
    /// Not these rules.
    pub skip: Vec<String>,
    /// Nothing less severe.
    pub least: Option<Severity>,
    /// Only these node groups; empty means all nodes.
    pub node_groups: Vec<String>,
    /// How the cluster was found, for the commands that come next.
    pub source: SourceFlags,
}

impl Selection {
    /// The findings that were asked for. What concerns no single group concerns all.
    pub(super) fn findings(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let asked = |finding: &Finding| {
            let of_group = match &finding.subject {
                Subject::NodeGroup(group) => self.takes_group(group),
                _ => true,
            };
            self.takes_rule(&finding.rule) && self.least.is_none_or(|least| finding.severity <= least) && of_group
        };
        findings.into_iter().filter(asked).collect()
    }

    /// What would have been found by the rules that were not asked for.
    pub(super) fn not_shown(&self, findings: &[Finding]) -> BTreeMap<Severity, usize> {
        let all_rules = Self { only: Vec::new(), skip: Vec::new(), ..self.clone() };
        let mut counts = BTreeMap::new();
        for finding in all_rules.findings(findings.to_vec()).iter().filter(|finding| !self.takes_rule(&finding.rule)) {
            *counts.entry(finding.severity).or_default() += 1;
        }
        counts
    }

    /// Whether it leaves out every rule that it names.
    pub fn takes_nothing(&self) -> bool {
        !self.only.is_empty() && !self.only.iter().any(|rule| self.takes_rule(rule))
    }

    /// Whether a rule was asked for.
    pub fn takes_rule(&self, rule: &str) -> bool {
        let named = |rules: &[String]| rules.iter().any(|named| named == rule);
        (self.only.is_empty() || named(&self.only)) && !named(&self.skip)
    }

    /// What is open of the checks that were asked for, and of all reading.
    pub(super) fn cannot_tell(&self, open: Vec<CannotTell>) -> Vec<CannotTell> {
        let asked = |number: u8| {
            let check = CHECKS.iter().find(|check| check.number == number);
            check.is_none_or(|check| check.rules.iter().any(|rule| self.takes_rule(rule)))
        };
        open.into_iter().filter(|open| asked(open.check)).collect()
    }

    pub(super) fn takes_group(&self, group: &String) -> bool {
        self.node_groups.is_empty() || self.node_groups.contains(group)
    }

    pub(super) fn takes(&self, node: &NodeReport) -> bool {
        self.node_groups.is_empty() || node.group.as_ref().is_some_and(|group| self.takes_group(group))
    }
}

/// Names that are no rules of `verify`.
pub fn unknown_rules<'a>(rules: impl IntoIterator<Item = &'a String>) -> BTreeSet<&'a str> {
    rules.into_iter().map(String::as_str).filter(|rule| !is_checked(rule)).collect()
}
