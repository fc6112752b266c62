//! `eniplan apply`: makes the cluster as the plan says.

use super::Outcome;
use crate::cli::{ApplyArgs, Cli};
use crate::error::Error;

#[cfg(not(feature = "live"))]
pub(super) fn run(args: &ApplyArgs, _: &Cli) -> Result<Outcome, Error> {
    let cluster = args.source.cluster.clone().unwrap_or_else(|| "of eniplan.yaml".into());
    Err(Error::BuiltWithoutLive { cluster })
}

#[cfg(feature = "live")]
pub(super) fn run(args: &ApplyArgs, cli: &Cli) -> Result<Outcome, Error> {
    live::run(args, cli)
}

#[cfg(feature = "live")]
mod live {
    #![allow(clippy::disallowed_methods)]

    use std::io::{BufRead as _, IsTerminal as _};
    use std::path::Path;
    use std::time::{Duration, Instant};

    use super::super::diff::{Compared, compare};
    use super::super::load::{self, Loaded};
    use super::super::{Data, Outcome};
    use crate::cli::{ApplyArgs, Cli, Format};
    use crate::diff::{Applied, Diff, rollback, stale};
    use crate::error::{ChangeError, Error, ExitStatus};
    use crate::finding::{Finding, has_errors};
    use crate::inventory::Inventory;
    use crate::live::{self, ApplyOptions, Progress};
    use crate::report;
    use crate::verify::new_nodes;

    /// Longest wait for one change: an update of a large node group with patient disruption budgets takes hours.
    const LONGEST_WAIT: Duration = Duration::from_secs(12 * 60 * 60);

    /// Three renewals before the lock runs out.
    const RENEW_LOCK: Duration = Duration::from_secs(10);

    pub(super) fn run(args: &ApplyArgs, cli: &Cli) -> Result<Outcome, Error> {
        let extent = load::Extent { all_versions: needs_all_versions(args), ..load::Extent::default() };
        let loaded = load::load_with(&args.source, extent, cli)?;
        let options = options(args, &loaded);
        let node_group = args.source.node_group.as_deref();
        let mut findings = Vec::new();
        let diff = match (&args.diff, args.rollback) {
            (Some(path), _) => saved(path, &loaded.inventory)?,
            (None, true) => back(&loaded, node_group)?,
            (None, false) => {
                let compared = compare(&loaded, &args.change, node_group)?;
                findings = compared.findings;
                compared.diff
            }
        };
        let mut text = report::findings::text(&findings, cli.quiet);
        let errors = has_errors(&findings);
        if !errors || !diff.is_empty() {
            text.push_str(&report::diff::text(&diff, &loaded.inventory));
        }
        if errors {
            return refused(args, &findings, &text);
        }
        if diff.changes.is_empty() {
            return nothing(args, &diff, &loaded.inventory, text);
        }
        report::apply::say(&text);
        if args.dry_run {
            let applied = live::apply(&options, |_| Ok(diff.clone()), &|_, _, _| Ok(Vec::new()), |_| {})?;
            if let Some(failed) = &applied.failed {
                report::apply::say(&report::error::text(&failed.error));
            }
            let status = if applied.failed.is_some() { ExitStatus::CouldNot } else { ExitStatus::Differences };
            return outcome(args, &diff, &loaded.inventory, &applied, status);
        }
        if !args.yes {
            confirm(&loaded.inventory.cluster.name)?;
        }
        let began = Instant::now();
        let mut shown = report::apply::Progress::new(&diff, &loaded.inventory, std::io::stderr().is_terminal());
        let applied = live::apply(
            &options,
            |inventory| again(args, &loaded, inventory, &diff),
            &|inventory, group, version| new_nodes(inventory, &loaded.config, loaded.problems.clone(), group, version),
            |progress| {
                if let Progress::Change(event) = progress {
                    shown.show(&event, began.elapsed().as_secs());
                }
            },
        );
        shown.end();
        let applied = applied?;
        let error = applied.failed.as_ref().map(|failed| &failed.error).or(applied.stopped.as_ref());
        let status = match error {
            Some(error) => {
                report::apply::say(&report::error::text(error));
                if args.diff.is_some() {
                    report::apply::say(
                        "a saved diff is applied once: make a new one with `eniplan diff --out FILE`, which leaves out what is done\n",
                    );
                }
                error.exit_status()
            }
            None if diff.has_gated() => ExitStatus::Differences,
            None => ExitStatus::Done,
        };
        outcome(args, &diff, &loaded.inventory, &applied, status)
    }

    /// Old versions are deleted, or returned to.
    fn needs_all_versions(args: &ApplyArgs) -> bool {
        args.change.prune_versions.is_some() || args.rollback
    }

    fn options(args: &ApplyArgs, loaded: &Loaded) -> ApplyOptions {
        let mut collect = load::collect_options(&args.source, Some(&loaded.config), &loaded.inventory.cluster.name);
        collect.also.all_versions = needs_all_versions(args);
        collect.timing.first_pause = collect.timing.first_pause.min(args.poll_interval);
        ApplyOptions {
            collect,
            poll: args.poll_interval,
            longest_wait: LONGEST_WAIT,
            renew_lock: RENEW_LOCK,
            dry_run: args.dry_run,
        }
    }

    fn saved(path: &Path, inventory: &Inventory) -> Result<Diff, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::ReadFile { path: path.into(), source })?;
        let diff: Diff = serde_json::from_str(&text).map_err(|source| Error::NotADiff { path: path.into(), source })?;
        match stale(&diff, inventory) {
            moved if moved.is_empty() => Ok(diff),
            moved => Err(ChangeError::Moved(moved).into()),
        }
    }

    fn back(loaded: &Loaded, node_group: Option<&str>) -> Result<Diff, Error> {
        let former = loaded.former.clone().unwrap_or_default();
        rollback(&loaded.inventory, &former, node_group)
            .map_err(|node_group| ChangeError::NoFormerVersion { node_group }.into())
    }

    /// The diff under the lock. It must be the one that was confirmed.
    fn again(args: &ApplyArgs, loaded: &Loaded, inventory: &Inventory, confirmed: &Diff) -> Result<Diff, Error> {
        if args.diff.is_some() || args.rollback {
            return match stale(confirmed, inventory) {
                moved if moved.is_empty() => Ok(confirmed.clone()),
                moved => Err(ChangeError::Moved(moved).into()),
            };
        }
        let now = Loaded {
            inventory: inventory.clone(),
            config: loaded.config.clone(),
            way: loaded.way.clone(),
            point: loaded.point,
            problems: loaded.problems.clone(),
            former: loaded.former.clone(),
        };
        let Compared { diff, findings } = compare(&now, &args.change, args.source.node_group.as_deref())?;
        if has_errors(&findings) || diff.changes != confirmed.changes {
            return Err(ChangeError::ChangedMeanwhile.into());
        }
        Ok(diff)
    }

    fn confirm(cluster: &str) -> Result<(), Error> {
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            return Err(ChangeError::NobodyToAsk.into());
        }
        report::apply::say(&format!("\nApply these changes to cluster {cluster}? Only `yes` is taken for yes: "));
        let mut answer = String::new();
        let read = stdin.lock().read_line(&mut answer);
        read.map_err(|source| Error::ReadFile { path: "standard input".into(), source })?;
        if answer.trim() == "yes" { Ok(()) } else { Err(ChangeError::NotConfirmed.into()) }
    }

    fn refused(args: &ApplyArgs, findings: &[Finding], text: &str) -> Result<Outcome, Error> {
        let stdout = match args.output {
            Format::Json => Data::Bytes(report::json::findings(findings)?.into()),
            Format::Human => Data::Text(String::new()),
        };
        let stderr = format!("{text}{}", report::generate::nothing_written(findings));
        Ok(Outcome { stdout, stderr, status: ExitStatus::Findings })
    }

    fn nothing(args: &ApplyArgs, diff: &Diff, inventory: &Inventory, text: String) -> Result<Outcome, Error> {
        let status = match (args.dry_run, diff.is_empty(), diff.has_gated()) {
            (_, _, true) | (true, false, _) => ExitStatus::Differences,
            _ => ExitStatus::Done,
        };
        let stdout = match args.output {
            Format::Json => Data::Bytes(report::json::applied(diff, inventory, &Applied::default())?.into()),
            Format::Human => Data::Text(String::new()),
        };
        Ok(Outcome { stdout, stderr: text, status })
    }

    fn outcome(
        args: &ApplyArgs,
        diff: &Diff,
        inventory: &Inventory,
        applied: &Applied,
        status: ExitStatus,
    ) -> Result<Outcome, Error> {
        let stdout = match args.output {
            Format::Json => Data::Bytes(report::json::applied(diff, inventory, applied)?.into()),
            Format::Human => Data::Text(report::apply::summary(diff, inventory, applied)),
        };
        Ok(Outcome { stdout, stderr: String::new(), status })
    }
}
