//! `eniplan capacity`: what pod subnets hold, what groups need, and when the one no longer suffices for the other.

use super::load::{self, Loaded};
use super::{Data, Outcome, html_file, wrote};
use crate::capacity::growth::Growth;
use crate::capacity::moves::{Point, moves};
use crate::capacity::{Capacity, Question, capacity};
use crate::check::{Facts, capacity_findings};
use crate::cli::{CapacityArgs, Cli, Format};
use crate::config::{AtPhase, Config};
use crate::error::{Error, ExitStatus};
use crate::finding::{Finding, Problem, has_errors};
use crate::inventory::Inventory;
use crate::plan::{Plan, plan};
use crate::render::Rendered;
use crate::report;
use crate::report::html::Sheet;
use crate::report::phases::PhaseCapacity;

/// A plan with what its pod subnets hold, and what is wrong with that.
struct Answer {
    plan: Plan,
    capacity: Capacity,
    findings: Vec<Finding>,
}

pub(super) fn run(args: &CapacityArgs, cli: &Cli) -> Result<Outcome, Error> {
    let loaded = load::load(&args.source, cli)?;
    let question = question(args, &loaded)?;
    let only = args.source.node_group.as_deref();
    if args.phases {
        return phases(loaded, only, &question, args, cli);
    }
    let Answer { plan, capacity, findings } =
        answer(&loaded.inventory, &loaded.config, loaded.problems, only, &question)?;
    if let Some(file) = &args.html {
        let phase = loaded.way.get(loaded.point).and_then(|at| at.name.as_deref());
        let sheet = Sheet { phase, plan: &plan, capacity: &capacity, moved: None, findings: &findings };
        html_file::write(file, &report::html::page("Capacity", &plan.cluster, &plan.region, &[sheet]))?;
    }
    let status = if has_errors(&findings) { ExitStatus::Findings } else { ExitStatus::Done };
    let (stdout, stderr) = match args.output {
        Format::Json => {
            (Data::Bytes(report::json::capacity(&plan.cluster, &capacity, &findings)?.into()), String::new())
        }
        Format::Human => {
            (Data::Text(report::capacity::text(&plan, &capacity)), report::findings::text(&findings, cli.quiet))
        }
    };
    Ok(Outcome { stdout, stderr: stderr + &wrote_page(args, cli), status })
}

fn wrote_page(args: &CapacityArgs, cli: &Cli) -> String {
    args.html.as_deref().map(|file| wrote(file, cli.quiet)).unwrap_or_default()
}

/// Every phase, one after the other.
fn phases(
    loaded: Loaded,
    only: Option<&str>,
    question: &Question,
    args: &CapacityArgs,
    cli: &Cli,
) -> Result<Outcome, Error> {
    let Loaded { inventory, way, mut problems, .. } = loaded;
    let mut phases: Vec<PhaseCapacity> = Vec::new();
    let mut before: Option<(&AtPhase, Plan)> = None;
    for at in &way {
        // A group that a phase does not have yet is no reason to say nothing about the others.
        if only.is_some_and(|name| at.config.node_group(name).is_none()) {
            continue;
        }
        let Answer { plan, capacity, findings } =
            answer(&inventory, &at.config, std::mem::take(&mut problems), only, question)?;
        let moved = before
            .as_ref()
            .map(|(at_before, plan_before)| moves(&inventory, point(at_before, plan_before), point(at, &plan)));
        phases.push(PhaseCapacity { phase: at.name.clone(), moved, plan: plan.clone(), capacity, findings });
        before = Some((at, plan));
    }
    let cluster = &inventory.cluster.name;
    if let Some(file) = &args.html {
        let sheets: Vec<Sheet<'_>> = phases.iter().map(PhaseCapacity::sheet).collect();
        html_file::write(file, &report::html::page("Capacity", cluster, &inventory.region, &sheets))?;
    }
    let failed = phases.iter().any(|phase| has_errors(&phase.findings));
    let status = if failed { ExitStatus::Findings } else { ExitStatus::Done };
    let (stdout, stderr) = match args.output {
        Format::Json => (Data::Bytes(report::json::phases(cluster, &phases)?.into()), String::new()),
        Format::Human => (
            Data::Text(report::phases::text(cluster, &inventory.region, &phases)),
            report::phases::findings(&phases, cli.quiet),
        ),
    };
    Ok(Outcome { stdout, stderr: stderr + &wrote_page(args, cli), status })
}

fn point<'a>(at: &'a AtPhase, plan: &'a Plan) -> Point<'a> {
    Point { phase: at.name.as_deref(), config: &at.config, plan }
}

fn answer(
    inventory: &Inventory,
    config: &Config,
    mut problems: Vec<Problem>,
    only: Option<&str>,
    question: &Question,
) -> Result<Answer, Error> {
    let planned = plan(inventory, config);
    problems.extend(planned.problems);
    let plan = match only {
        Some(name) => planned.plan.limited_to(name).ok_or_else(|| no_such_group(name, config))?,
        None => planned.plan,
    };
    let capacity = capacity(inventory, config, &plan, question);
    let rendered = Rendered::default();
    let facts = Facts { inventory, config, plan: &plan, rendered: &rendered, capacity: &capacity };
    let findings = capacity_findings(&facts, &problems);
    Ok(Answer { plan, capacity, findings })
}

fn question(args: &CapacityArgs, loaded: &Loaded) -> Result<Question, Error> {
    let config = &loaded.config;
    let known = |name: &str| match args.phases {
        true => loaded.way.iter().any(|at| at.config.node_group(name).is_some()),
        false => config.node_group(name).is_some(),
    };
    let mut growth = Growth::default();
    for of in &args.growth {
        match &of.node_group {
            Some(name) if !known(name) => return Err(no_such_group(name, config)),
            Some(name) => *growth.groups.entry(name.clone()).or_default() += of.nodes,
            None => growth.all = Some(growth.all.unwrap_or_default() + of.nodes),
        }
    }
    Ok(Question { growth, add: args.add, unmanaged_interfaces: args.unmanaged_interfaces, simulate: true })
}

fn no_such_group(name: &str, config: &Config) -> Error {
    Error::NoSuchNodeGroup {
        name: name.into(),
        known: config.node_groups.iter().map(|group| group.name.clone()).collect(),
    }
}
