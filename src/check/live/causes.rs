//! Which rule says the cause of which others: the cause is said, and its effects are not said again.

use crate::check::rule;
use crate::finding::{Problem, Severity};

/// How far a cause reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// To the effect on the same subject.
    Subject,
    /// To the effect wherever it is.
    Cluster,
}

use Reach::{Cluster, Subject};

/// Cause, effect, reach.
const CAUSES: &[(&str, &str, Reach)] = &[
    // Whatever such a CNI does with an unknown name, it writes the label over first.
    ("cni-relabels", "no-match-fails-open", Cluster),
    ("cni-needs-groups", "security-groups-empty", Subject),
    ("cni-takes-default-group", "security-groups-empty", Cluster),
    ("eniconfig-subnet-differs", "eniconfig-in-use-elsewhere", Subject),
    ("planned-node-on-default", "eniconfig-named-default", Cluster),
    ("node-falls-back-to-default", "eniconfig-named-default", Cluster),
    ("default-hidden-from-controller", "eniconfig-named-default", Cluster),
    ("default-hidden-from-controller", "node-falls-back-to-default", Subject),
    ("pod-subnet-full", "pod-subnet-small-for-maximum", Subject),
];

/// What compares the cluster with a plan that is not complete says nothing.
const AGAINST_THE_PLAN: &[&str] = &[
    "nodes-outdated",
    "node-in-unplanned-subnet",
    "node-uses-other-eniconfig",
    "planned-node-on-default",
    "launch-template-not-as-planned",
    "launch-template-not-rolled-out",
    "eniconfig-shares-uneven",
];

/// Takes out what follows from something else that is said.
pub(in crate::check) fn without_effects(problems: Vec<Problem>, stated_by_plan: &[Problem]) -> Vec<Problem> {
    // An ENIConfig that was edited in place is the cluster's fault and not the plan's.
    let is_fault = |problem: &Problem| {
        problem.rule != "eniconfig-in-use-elsewhere"
            && rule(problem.rule).is_some_and(|rule| rule.severity == Severity::Error)
    };
    let is_incomplete = stated_by_plan.iter().any(is_fault);
    let follows = |problem: &Problem| {
        let has_cause = CAUSES.iter().filter(|(_, effect, _)| *effect == problem.rule).any(|(cause, _, reach)| {
            let is_cause =
                |other: &&Problem| other.rule == *cause && (*reach == Cluster || other.subject == problem.subject);
            problems.iter().any(|other| is_cause(&other))
        });
        has_cause || (is_incomplete && AGAINST_THE_PLAN.contains(&problem.rule))
    };
    problems.iter().filter(|problem| !follows(problem)).cloned().collect()
}
