//! `eniplan verify`: whether every node and pod is where the plan wants it.

use super::load::{self, Loaded};
use super::plan::work_out;
use super::{Data, Outcome};
use crate::check::RULES;
use crate::check::live::matrix::is_checked;
use crate::cli::{Cli, LeastSevere, VerifyArgs, VerifyFormat};
use crate::error::{Error, ExitStatus};
use crate::finding::{Severity, has_errors};
use crate::report;
use crate::verify::{Report, Selection, unknown_rules, verify};

pub(super) fn run(args: &VerifyArgs, cli: &Cli) -> Result<Outcome, Error> {
    let selection = selection(args)?;
    let report = look(args, &selection, cli)?;
    let status = if has_errors(&report.findings) { ExitStatus::Findings } else { ExitStatus::Done };
    Ok(Outcome { stdout: data(args, &selection, &report, cli)?, stderr: String::new(), status })
}

/// Reads the cluster, or the file, and judges it.
fn look(args: &VerifyArgs, selection: &Selection, cli: &Cli) -> Result<Report, Error> {
    let Loaded { inventory, config, problems, way: _, point: _ } = load::load(&args.source, cli)?;
    // Nodes of all groups are judged by the whole plan; the selection limits what is said.
    let worked = work_out(&inventory, &config, problems, None)?;
    if let Some(name) = &args.source.node_group {
        let planned = worked.plan.node_groups.iter().map(|group| &group.name);
        let pools = inventory.nodes.iter().filter_map(|node| node.labels.get("karpenter.sh/nodepool"));
        let known: std::collections::BTreeSet<&String> =
            planned.chain(inventory.node_groups.iter().map(|group| &group.name)).chain(pools).collect();
        if !known.contains(name) {
            return Err(Error::NoSuchNodeGroup { name: name.clone(), known: known.into_iter().cloned().collect() });
        }
    }
    Ok(verify(worked.facts(&inventory, &config), &worked.problems, selection))
}

fn selection(args: &VerifyArgs) -> Result<Selection, Error> {
    if let Some(name) = unknown_rules(args.only.iter().chain(&args.skip)).first() {
        let known = RULES.iter().map(|rule| rule.id).filter(|id| is_checked(id)).map(str::to_owned).collect();
        return Err(Error::NoSuchRule { name: (*name).into(), known });
    }
    Ok(Selection {
        only: args.only.clone(),
        skip: args.skip.clone(),
        least: Some(match args.severity {
            LeastSevere::Error => Severity::Error,
            LeastSevere::Warning => Severity::Warning,
            LeastSevere::Note => Severity::Note,
        }),
        node_groups: args.source.node_group.iter().cloned().collect(),
    })
}

fn data(args: &VerifyArgs, selection: &Selection, report: &Report, cli: &Cli) -> Result<Data, Error> {
    Ok(match args.output {
        VerifyFormat::Human => Data::Text(report::verify::text(report, cli.quiet, cli.verbose)),
        VerifyFormat::Json => Data::Bytes(report::verify::json(report)?.into()),
        VerifyFormat::Sarif => Data::Bytes(report::sarif::document(&report.findings)?.into()),
        VerifyFormat::Junit => Data::Bytes(report::verify::junit(report, selection).into()),
        VerifyFormat::Openmetrics => Data::Bytes(report::verify::open_metrics(report).into()),
    })
}
