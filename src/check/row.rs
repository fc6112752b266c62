//! How a row of the rule table is written.

use super::live::LiveFacts;
use super::{Facts, How, Rule, When};
use crate::finding::{Problem, Severity};

pub(super) const fn stated(id: &'static str, severity: Severity, summary: &'static str, why: &'static str) -> Rule {
    Rule { id, severity, when: When::Plan, summary, why, how: How::Stated }
}

pub(super) const fn stated_by_diff(
    id: &'static str,
    severity: Severity,
    summary: &'static str,
    why: &'static str,
) -> Rule {
    Rule { id, severity, when: When::Apply, summary, why, how: How::Stated }
}

pub(super) const fn examined(
    id: &'static str,
    severity: Severity,
    examine: fn(&Facts<'_>, &mut Vec<Problem>),
    summary: &'static str,
    why: &'static str,
) -> Rule {
    Rule { id, severity, when: When::Plan, summary, why, how: How::Facts(examine) }
}

pub(super) const fn of_capacity(
    id: &'static str,
    severity: Severity,
    examine: fn(&Facts<'_>, &mut Vec<Problem>),
    summary: &'static str,
    why: &'static str,
) -> Rule {
    Rule { id, severity, when: When::Capacity, summary, why, how: How::Facts(examine) }
}

pub(super) const fn of_plan_and_capacity(
    id: &'static str,
    severity: Severity,
    examine: fn(&Facts<'_>, &mut Vec<Problem>),
    summary: &'static str,
    why: &'static str,
) -> Rule {
    Rule { id, severity, when: When::PlanAndCapacity, summary, why, how: How::Facts(examine) }
}

pub(super) const fn of_live(
    id: &'static str,
    severity: Severity,
    examine: fn(&LiveFacts<'_>, &mut Vec<Problem>),
    summary: &'static str,
    why: &'static str,
) -> Rule {
    Rule { id, severity, when: When::Live, summary, why, how: How::Live(examine) }
}
