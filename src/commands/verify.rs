//! `eniplan verify`: whether every node and pod is where the plan wants it.

#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::time::Instant;

use super::load::{self, Extent, Loaded};
use super::{Data, Outcome};
use crate::check::RULES;
use crate::check::live::matrix::is_checked;
use crate::cli::{Cli, LeastSevere, VerifyArgs, VerifyFormat};
use crate::config::Config;
use crate::error::{AccessError, Error, ExitStatus};
use crate::finding::{Severity, has_errors};
use crate::inventory::Inventory;
use crate::report;
use crate::verify::{Report, Selection, unknown_rules, verify};

pub(super) fn run(args: &VerifyArgs, cli: &Cli) -> Result<Outcome, Error> {
    let selection = selection(args)?;
    let report = if args.watch { watch(args, &selection, cli)? } else { look(args, &selection, false, cli)? };
    let unfinished = args.watch && !report.is_right();
    let status = if unfinished || has_errors(&report.findings) { ExitStatus::Findings } else { ExitStatus::Done };
    Ok(Outcome { stdout: data(args, &selection, &report, cli)?, stderr: String::new(), status })
}

/// Looks until everything is right or the time is over; the last report is the result.
fn watch(args: &VerifyArgs, selection: &Selection, cli: &Cli) -> Result<Report, Error> {
    let mut watching = report::verify::Watching::new(std::io::stderr().is_terminal(), cli.quiet);
    let report = watch_with(&mut watching, args, selection, cli);
    watching.end();
    report
}

fn watch_with(
    watching: &mut report::verify::Watching,
    args: &VerifyArgs,
    selection: &Selection,
    cli: &Cli,
) -> Result<Report, Error> {
    let began = Instant::now();
    let mut last = look(args, selection, false, cli)?;
    loop {
        let left = args.timeout.saturating_sub(began.elapsed());
        watching.show(&last, left);
        if last.is_right() || left.is_zero() {
            return Ok(last);
        }
        load::pause(args.poll_interval.min(left))?;
        match look(args, selection, true, cli) {
            Ok(report) => last = report,
            // A look that worked before may fail once; the next one tells.
            Err(Error::Access(error)) if !matches!(error, AccessError::Interrupted) => {
                watching.failed(&Error::Access(error));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Reads the cluster, or the file, and judges it.
fn look(args: &VerifyArgs, selection: &Selection, silent: bool, cli: &Cli) -> Result<Report, Error> {
    let extent = Extent { verification: true, silent, ..Extent::default() };
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
    let selection = Selection {
        only: args.only.clone(),
        skip: args.skip.clone(),
        least: Some(match args.severity {
            LeastSevere::Error => Severity::Error,
            LeastSevere::Warning => Severity::Warning,
            LeastSevere::Note => Severity::Note,
        }),
        node_groups: args.source.node_group.iter().cloned().collect(),
        source: args.source.flags(),
    };
    if selection.takes_nothing() {
        return Err(Error::NoRuleLeft { only: selection.only.join(",") });
    }
    Ok(selection)
}

fn data(args: &VerifyArgs, selection: &Selection, report: &Report, cli: &Cli) -> Result<Data, Error> {
    Ok(match args.output {
        VerifyFormat::Human => Data::Text(report::verify::text(report, selection, cli.quiet, cli.verbose)),
        VerifyFormat::Json => Data::Bytes(report::verify::json(report, selection)?.into()),
        VerifyFormat::Sarif => Data::Bytes(report::sarif::document(&report.findings)?.into()),
        VerifyFormat::Junit => Data::Bytes(report::verify::junit(report, selection).into()),
        VerifyFormat::Openmetrics => Data::Bytes(report::verify::open_metrics(report).into()),
    })
}
