//! `eniplan plan`: what would be decided, and why.

use super::{Data, Outcome, load};
use crate::capacity::{Question, capacity};
use crate::check::{Facts, findings, graded};
use crate::cli::{Cli, Format, PlanArgs};
use crate::config::Config;
use crate::error::{Error, ExitStatus};
use crate::finding::{Finding, Problem, has_errors};
use crate::inventory::Inventory;
use crate::plan::{Plan, plan};
use crate::render::{Rendered, render};
use crate::report;

/// A plan, what it renders to, and everything that is wrong.
pub(super) struct Decided {
    pub(super) plan: Plan,
    pub(super) rendered: Rendered,
    pub(super) findings: Vec<Finding>,
}

/// Plans, renders and looks at every rule, limited to one node group where one is named.
pub(super) fn decide(
    inventory: &Inventory,
    config: &Config,
    mut problems: Vec<Problem>,
    node_group: Option<&str>,
) -> Result<Decided, Error> {
    let planned = plan(inventory, config);
    problems.extend(planned.problems);
    let plan = match node_group {
        Some(name) => planned.plan.limited_to(name).ok_or_else(|| Error::NoSuchNodeGroup {
            name: name.into(),
            known: config.node_groups.iter().map(|group| group.name.clone()).collect(),
        })?,
        None => planned.plan,
    };
    if let Some(name) = node_group {
        problems.retain(|problem| match &problem.subject {
            crate::finding::Subject::NodeGroup(group) => group == name,
            _ => true,
        });
    }
    // A plan with errors may lack what a template needs; nothing of it would be written anyway.
    let rendered = if has_errors(&graded(problems.clone())) { Rendered::default() } else { render(&plan, inventory)? };
    let capacity = capacity(inventory, config, &plan, &Question::default());
    let facts = Facts { inventory, config, plan: &plan, rendered: &rendered, capacity: &capacity };
    let findings = findings(&facts, &problems);
    Ok(Decided { plan, rendered, findings })
}

pub(super) fn run(args: &PlanArgs, cli: &Cli) -> Result<Outcome, Error> {
    let loaded = load::load(&args.source, cli)?;
    let Decided { plan, findings, .. } =
        decide(&loaded.inventory, &loaded.config, loaded.problems, args.source.node_group.as_deref())?;
    let status = if has_errors(&findings) { ExitStatus::Findings } else { ExitStatus::Done };
    let (stdout, stderr) = match args.output {
        Format::Json => (Data::Bytes(report::json::plan(&plan, &findings)?.into()), String::new()),
        Format::Human => {
            (Data::Text(report::plan::text(&plan, cli.verbose)), report::findings::text(&findings, cli.quiet))
        }
    };
    Ok(Outcome { stdout, stderr, status })
}
