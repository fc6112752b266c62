//! Every rule of the product in one table: what it is called, how severe it is, when it is looked at, and how.
//!
//! A rule either examines facts here, or is stated by `plan/` while it decides; both leave a [`Problem`], and only this
//! table gives it a severity. `docs/rules.md` is made from the table.

mod capacity;
mod cluster;
mod cni;
mod eni_configs;
mod launch_templates;
pub mod lint;
pub mod live;
mod node_groups;
mod nodes;
mod page;
mod pod_subnets;
mod row;
mod table;
#[cfg(test)]
mod tests;
mod user_data;

use self::live::LiveFacts;
use self::live::matrix::is_checked;
use crate::capacity::Capacity;
use crate::config::Config;
use crate::finding::{Finding, Problem, Severity};
use crate::inventory::Inventory;
use crate::plan::Plan;
use crate::render::Rendered;

pub use page::{checks_page, rules_page};
pub use table::RULES;

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Id; also the anchor of its section in `docs/rules.md`.
    pub id: &'static str,
    /// How severe its findings are.
    pub severity: Severity,
    /// When it is looked at.
    pub when: When,
    /// What it says, in one sentence.
    pub summary: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// How it is looked at.
    pub how: How,
}

/// When a rule is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// With every plan.
    Plan,
    /// With every plan, and by `eniplan capacity`.
    PlanAndCapacity,
    /// By `eniplan capacity`.
    Capacity,
    /// By `diff` and `apply`, when changes are worked out.
    Apply,
    /// By `eniplan lint`, on one user-data file.
    Lint,
    /// By `eniplan verify`, on the live cluster.
    Live,
}

/// How a rule is looked at.
#[derive(Debug, Clone, Copy)]
pub enum How {
    /// `plan/` or `diff/` states it while it decides.
    Stated,
    /// A function over inventory, config and plan.
    Facts(fn(&Facts<'_>, &mut Vec<Problem>)),
    /// A function over the same and what the live cluster makes of it.
    Live(fn(&LiveFacts<'_>, &mut Vec<Problem>)),
}

/// What rules look at.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// What is.
    pub inventory: &'a Inventory,
    /// What is wanted.
    pub config: &'a Config,
    /// What was decided.
    pub plan: &'a Plan,
    /// What it renders to.
    pub rendered: &'a Rendered,
    /// What its pod subnets hold.
    pub capacity: &'a Capacity,
}

/// The rule of that id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

/// Looks at every rule of the plan and adds what planning itself has stated. The worst come first.
pub fn findings(facts: &Facts<'_>, stated_by_plan: &[Problem]) -> Vec<Finding> {
    let mut problems = stated_by_plan.to_vec();
    examine(facts, &[When::Plan, When::PlanAndCapacity], &mut problems);
    graded(problems)
}

/// Looks at every rule of `eniplan capacity`. Of what planning has stated only errors matter here: with them the plan,
/// and so every figure, is incomplete.
pub fn capacity_findings(facts: &Facts<'_>, stated_by_plan: &[Problem]) -> Vec<Finding> {
    let mut problems = errors(stated_by_plan);
    examine(facts, &[When::Capacity, When::PlanAndCapacity], &mut problems);
    graded(problems)
}

/// Looks at every rule of `eniplan verify`. Of what planning has stated only errors matter, and what a check names.
pub fn live_findings(live: &LiveFacts<'_>, stated_by_plan: &[Problem]) -> Vec<Finding> {
    let is_error = |id: &str| rule(id).is_none_or(|rule| rule.severity == Severity::Error);
    let matters = |problem: &&Problem| is_error(problem.rule) || is_checked(problem.rule);
    let mut problems: Vec<Problem> = stated_by_plan.iter().filter(matters).cloned().collect();
    for rule in RULES {
        match rule.how {
            How::Live(examine) => examine(live, &mut problems),
            How::Facts(examine) if rule.when != When::Lint && is_checked(rule.id) => {
                examine(&live.facts, &mut problems)
            }
            How::Facts(_) | How::Stated => {}
        }
    }
    graded(live::without_effects(problems, stated_by_plan))
}

/// What keeps a plan from being complete: errors that planning has stated, reads that failed, another Region.
pub fn incomplete(facts: &Facts<'_>, stated_by_plan: &[Problem]) -> Vec<Finding> {
    let mut problems = errors(stated_by_plan);
    cluster::read_failed(facts, &mut problems);
    cluster::region_differs(facts, &mut problems);
    graded(problems)
}

fn errors(problems: &[Problem]) -> Vec<Problem> {
    let is_error = |problem: &&Problem| rule(problem.rule).is_none_or(|rule| rule.severity == Severity::Error);
    problems.iter().filter(is_error).cloned().collect()
}

fn examine(facts: &Facts<'_>, now: &[When], problems: &mut Vec<Problem>) {
    for rule in RULES.iter().filter(|rule| now.contains(&rule.when)) {
        if let How::Facts(examine) = rule.how {
            examine(facts, problems);
        }
    }
}

/// Problems with the severity of their rules, sorted, each once.
pub fn graded(problems: Vec<Problem>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = problems
        .into_iter()
        .map(|problem| Finding {
            // A rule that is missing from the table is a defect; it must not make a problem disappear.
            severity: rule(problem.rule).map_or(Severity::Error, |rule| rule.severity),
            rule: problem.rule.into(),
            subject: problem.subject,
            line: problem.line,
            message: problem.message,
            help: problem.help,
            evidence: problem.evidence,
        })
        .collect();
    findings.sort();
    findings.dedup();
    findings
}
