//! How a row of the rule table is written.

use super::live::LiveFacts;
use super::{Facts, How, Rule, When};
use crate::finding::{Problem, Severity};

/// A function for each kind of rule: when it is looked for, how, and, where it has a function of its own, in which facts.
macro_rules! kinds_of_rules {
    ($($name:ident: $when:ident, $how:ident $(($examine:ident: $facts:ty))?;)*) => {$(
        pub(super) const fn $name(
            id: &'static str,
            severity: Severity,
            $($examine: fn(&$facts, &mut Vec<Problem>),)?
            summary: &'static str,
            why: &'static str,
        ) -> Rule {
            Rule { id, severity, when: When::$when, summary, why, how: How::$how $(($examine))? }
        }
    )*};
}

kinds_of_rules! {
    stated: Plan, Stated;
    stated_by_diff: Apply, Stated;
    stated_by_lint: Lint, Stated;
    examined: Plan, Facts(examine: Facts<'_>);
    of_capacity: Capacity, Facts(examine: Facts<'_>);
    of_plan_and_capacity: PlanAndCapacity, Facts(examine: Facts<'_>);
    of_live: Live, Live(examine: LiveFacts<'_>);
}
