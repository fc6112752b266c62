//! `eniplan verify`: whether every node and pod is where the plan wants it.

use std::collections::BTreeSet;

use super::load::{self, Loaded};
use super::{Data, Outcome};
use crate::check::RULES;
use crate::check::live::matrix::is_checked;
use crate::cli::{Cli, LeastSevere, VerifyArgs, VerifyFormat};
use crate::config::Config;
use crate::error::{Error, ExitStatus};
use crate::finding::{Severity, has_errors};
use crate::inventory::Inventory;
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
    let extent = load::Extent { verification: true, ..load::Extent::default() };
    let Loaded { inventory, config, problems, .. } = load::load_with(&args.source, extent, cli)?;
    if let Some(name) = &args.source.node_group {
        is_known(name, &inventory, &config)?;
    }
    verify(&inventory, &config, problems, selection)
}

/// Nodes are of a group of EKS or of Karpenter; groups that are to be created have none yet.
fn is_known(group: &str, inventory: &Inventory, config: &Config) -> Result<(), Error> {
    let wanted = config.node_groups.iter().map(|group| &group.name);
    let there = inventory.node_groups.iter().map(|group| &group.name);
    let pools = inventory.nodes.iter().filter_map(|node| node.labels.get("karpenter.sh/nodepool"));
    let known: BTreeSet<&String> = wanted.chain(there).chain(pools).collect();
    if known.iter().any(|name| *name == group) {
        return Ok(());
    }
    Err(Error::NoSuchNodeGroup { name: group.into(), known: known.into_iter().cloned().collect() })
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
