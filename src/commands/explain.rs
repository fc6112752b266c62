//! `eniplan explain`: why a node uses its ENIConfig, or which one a new node would use.

use super::plan::{Decided, decide};
use super::{Data, Outcome, load};
use crate::check::lint::predict;
use crate::check::live::LiveFacts;
use crate::cli::{Cli, ExplainArgs, Format};
use crate::config::AmiFamily;
use crate::error::{Error, ExitStatus};
use crate::finding::has_errors;
use crate::inventory::{Inventory, Node};
use crate::plan::explanation::{Explained, explain};
use crate::plan::{NodeGroupPlan, Plan};
use crate::render::Rendered;
use crate::report::lint::predicted;
use crate::user_data::nodeadm::Prediction;
use crate::verify::{Measure, close_up};
use crate::{report, user_data};

pub(super) fn run(args: &ExplainArgs, cli: &Cli) -> Result<Outcome, Error> {
    let extent = load::Extent { verification: args.node.is_some(), ..load::Extent::default() };
    let loaded = load::load_with(&args.source, extent, cli)?;
    let problems = loaded.problems.clone();
    let Decided { plan, rendered, findings, .. } = decide(&loaded.inventory, &loaded.config, loaded.problems, None)?;
    let explained = explained(args, &loaded.inventory, &plan)?;
    let explanation = explain(&loaded.inventory, &plan, explained);
    let prediction = explanation.node_group.as_deref().and_then(|name| prediction(&plan, &rendered, name));
    let near = match &explanation.node {
        Some(name) => {
            let measure = Measure::new(&loaded.inventory, &loaded.config, problems)?;
            close_up(&LiveFacts::new(measure.facts(&loaded.inventory, &loaded.config)), name)
        }
        None => None,
    };
    let near = near.as_ref();
    let status = if has_errors(&findings) { ExitStatus::Findings } else { ExitStatus::Done };
    let (stdout, stderr) = match args.output {
        Format::Json => {
            let json = report::json::explanation(&explanation, near, prediction.as_ref(), &findings)?;
            (Data::Bytes(json.into()), String::new())
        }
        // What else the plan says is for `eniplan plan`; its errors make this explanation doubtful.
        Format::Human => {
            // A node that is there has booted already.
            let shown = prediction.as_ref().filter(|_| explanation.node.is_none() || cli.verbose);
            let predicted = shown.map(|prediction| format!("\n{}", predicted(prediction)));
            let text = report::explain::text(&explanation, near, cli.verbose) + &predicted.unwrap_or_default();
            (Data::Text(text), report::findings::text(&findings, !cli.verbose))
        }
    };
    Ok(Outcome { stdout, stderr, status })
}

/// What nodeadm makes of the user data that the plan gives a group of AL2023.
fn prediction(plan: &Plan, rendered: &Rendered, node_group: &str) -> Option<Prediction> {
    plan.node_groups.iter().find(|group| group.name == node_group && group.family == AmiFamily::Al2023)?;
    let planned = rendered.node_groups.get(node_group)?.user_data.as_ref()?;
    predict(&user_data::read(&planned.bytes).ok()?)
}

fn explained<'a>(args: &'a ExplainArgs, inventory: &'a Inventory, plan: &'a Plan) -> Result<Explained<'a>, Error> {
    let named = args.source.node_group.as_deref().map(|name| group(plan, name)).transpose()?;
    if let Some(name) = &args.node {
        let is_named = |node: &&Node| node.name == *name || node.instance_id.as_deref() == Some(name.as_str());
        let Some(node) = inventory.nodes.iter().find(is_named) else {
            return Err(Error::NoSuchNode {
                name: name.clone(),
                known: inventory.nodes.iter().map(|node| node.name.clone()).collect(),
            });
        };
        let own = node.node_group().and_then(|name| {
            let replaces = |group: &NodeGroupPlan| {
                group.create.as_ref().and_then(|create| create.replaces.as_deref()) == Some(name)
            };
            plan.node_groups.iter().find(|group| group.name == name || replaces(group))
        });
        return Ok(Explained::Node(node, named.or(own)));
    }
    match (named, args.subnet_cidr) {
        (Some(group), Some(subnet)) => {
            Ok(Explained::WouldBe { group, subnet, instance_id: args.instance_id.as_deref() })
        }
        // clap asks for both; a caller of the library may not.
        _ => Err(Error::NoSuchNode { name: String::new(), known: Vec::new() }),
    }
}

fn group<'a>(plan: &'a Plan, name: &str) -> Result<&'a NodeGroupPlan, Error> {
    plan.node_groups.iter().find(|group| group.name == name).ok_or_else(|| Error::NoSuchNodeGroup {
        name: name.into(),
        known: plan.node_groups.iter().map(|group| group.name.clone()).collect(),
    })
}
