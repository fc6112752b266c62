//! `eniplan capacity`: what pod subnets hold, what groups need, and when the one no longer suffices for the other.

use super::load::{self, Loaded};
use super::{Data, Outcome};
use crate::capacity::growth::Growth;
use crate::capacity::moves::{Point, moves};
use crate::capacity::{Capacity, Question, capacity};
use crate::check::{Facts, capacity_findings};
use crate::cli::{CapacityArgs, Cli, Format};
use crate::config::Config;
use crate::error::{Error, ExitStatus};
use crate::finding::{Finding, Problem, has_errors};
use crate::inventory::Inventory;
use crate::plan::{Plan, plan};
use crate::render::Rendered;
use crate::report;
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
        return phases(loaded, only, &question, args.output, cli);
    }
    let Answer { plan, capacity, findings } =
        answer(&loaded.inventory, &loaded.config, loaded.problems, only, &question)?;
    let status = if has_errors(&findings) { ExitStatus::Findings } else { ExitStatus::Done };
    let (stdout, stderr) = match args.output {
        Format::Json => {
            (Data::Bytes(report::json::capacity(&plan.cluster, &capacity, &findings)?.into()), String::new())
        }
        Format::Human => {
            (Data::Text(report::capacity::text(&plan, &capacity)), report::findings::text(&findings, cli.quiet))
        }
    };
    Ok(Outcome { stdout, stderr, status })
}

/// Every phase, one after the other.
fn phases(
    loaded: Loaded,
    only: Option<&str>,
    question: &Question,
    output: Format,
    cli: &Cli,
) -> Result<Outcome, Error> {
    let Loaded { inventory, way, .. } = loaded;
    let mut phases: Vec<PhaseCapacity> = Vec::new();
    let mut before: Option<Answer> = None;
    for (index, at) in way.iter().enumerate() {
        let answer = answer(&inventory, &at.config, Vec::new(), only, question)?;
        let point =
            |index: usize, plan| way.get(index).map(|at| Point { phase: at.name.as_deref(), config: &at.config, plan });
        let moved = before
            .as_ref()
            .and_then(|before| Some(moves(&inventory, point(index - 1, &before.plan)?, point(index, &answer.plan)?)));
        phases.push(PhaseCapacity {
            phase: at.name.clone(),
            moved,
            capacity: answer.capacity.clone(),
            findings: answer.findings.clone(),
        });
        before = Some(answer);
    }
    let failed = phases.iter().any(|phase| has_errors(&phase.findings));
    let status = if failed { ExitStatus::Findings } else { ExitStatus::Done };
    let cluster = &inventory.cluster.name;
    let (stdout, stderr) = match output {
        Format::Json => (Data::Bytes(report::json::phases(cluster, &phases)?.into()), String::new()),
        Format::Human => (
            Data::Text(report::phases::text(cluster, &inventory.region, &phases)),
            report::phases::findings(&phases, cli.quiet),
        ),
    };
    Ok(Outcome { stdout, stderr, status })
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
