//! `eniplan plan`: what would be decided, and why.

use super::load::{self, Loaded};
use super::{Data, Outcome, html_file, wrote};
use crate::capacity::moves::{Move, Point, moves};
use crate::capacity::{Capacity, Question, capacity};
use crate::check::{Facts, findings, graded};
use crate::cli::{Cli, Format, PlanArgs};
use crate::config::Config;
use crate::error::{Error, ExitStatus};
use crate::finding::{Finding, Problem, has_errors};
use crate::inventory::{GapSource, Inventory};
use crate::plan::{Plan, plan};
use crate::render::{Rendered, render};
use crate::report;
use crate::report::html::Sheet;

/// A plan, what it renders to, and everything that is wrong.
pub(super) struct Decided {
    pub(super) plan: Plan,
    pub(super) rendered: Rendered,
    pub(super) findings: Vec<Finding>,
    pub(super) capacity: Capacity,
}

/// The rule that `--replace-in-use` overrides.
pub(super) const IN_USE_ELSEWHERE: &str = "eniconfig-in-use-elsewhere";

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
    // A plan with errors may lack what a template needs; nothing of it would be written anyway. This one lacks nothing.
    let hinders = |problem: &&Problem| problem.rule != IN_USE_ELSEWHERE;
    let hinder: Vec<Problem> = problems.iter().filter(hinders).cloned().collect();
    let rendered = if has_errors(&graded(hinder)) { Rendered::default() } else { render(&plan, inventory)? };
    let capacity = capacity(inventory, config, &plan, &Question::default());
    let facts = Facts { inventory, config, plan: &plan, rendered: &rendered, capacity: &capacity };
    let findings = findings(&facts, &problems);
    Ok(Decided { plan, rendered, findings, capacity })
}

pub(super) fn run(args: &PlanArgs, cli: &Cli) -> Result<Outcome, Error> {
    let loaded = load::load(&args.source, cli)?;
    let moved = moved_to(&loaded);
    let phase = loaded.way.get(loaded.point).and_then(|at| at.name.clone());
    let Decided { plan, findings, capacity, .. } =
        decide(&loaded.inventory, &loaded.config, loaded.problems, args.source.node_group.as_deref())?;
    if let Some(file) = &args.html {
        let (phase, moved, findings) = (phase.as_deref(), moved.as_ref(), findings.as_slice());
        let sheet = Sheet { phase, plan: &plan, capacity: &capacity, moved, findings };
        html_file::write(file, &report::html::page("Plan", &plan.cluster, &plan.region, &[sheet]))?;
    }
    let status = if has_errors(&findings) { ExitStatus::Findings } else { ExitStatus::Done };
    let wrote = args.html.as_deref().map(|file| wrote(file, cli.quiet)).unwrap_or_default();
    let (stdout, stderr) = match args.output {
        Format::Json => (Data::Bytes(report::json::plan(&plan, moved.as_ref(), &findings)?.into()), String::new()),
        Format::Human => {
            let unread = loaded.inventory.gaps_in(GapSource::EniConfigs).next().is_some();
            let text = report::plan::text(&plan, unread, cli.verbose);
            let moved = moved.map_or_else(String::new, |moved| report::moves::text(&moved));
            (Data::Text(text + &moved), report::findings::text(&findings, cli.quiet))
        }
    };
    Ok(Outcome { stdout, stderr: stderr + &wrote, status })
}

/// The move to the phase that is planned, from the one before it.
fn moved_to(loaded: &Loaded) -> Option<Move> {
    let (before, after) = (loaded.way.get(loaded.point.checked_sub(1)?)?, loaded.way.get(loaded.point)?);
    let (plan_before, plan_after) =
        (plan(&loaded.inventory, &before.config).plan, plan(&loaded.inventory, &after.config).plan);
    Some(moves(
        &loaded.inventory,
        Point { phase: before.name.as_deref(), config: &before.config, plan: &plan_before },
        Point { phase: after.name.as_deref(), config: &after.config, plan: &plan_after },
    ))
}
