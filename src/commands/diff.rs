//! `eniplan diff`: what differs between the plan and the cluster.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use super::load::Loaded;
use super::plan::{Decided, IN_USE_ELSEWHERE, decide};
use super::{Data, Outcome, load, write_error};
use crate::check::graded;
use crate::cli::{Ami, ChangeArgs, Cli, DiffArgs, Format, OnlyStage};
use crate::diff::{Change, Diff, DiffOptions, Differences, Stage, diff};
use crate::error::{Error, ExitStatus};
use crate::finding::{Finding, Subject, has_errors};
use crate::report;

/// What differs, and what is wrong.
pub(super) struct Compared {
    pub(super) diff: Diff,
    pub(super) findings: Vec<Finding>,
}

/// Plans, renders and compares.
pub(super) fn compare(loaded: &Loaded, change: &ChangeArgs, node_group: Option<&str>) -> Result<Compared, Error> {
    let Loaded { inventory, config, problems, way: _, point: _, former } = loaded;
    let Decided { plan, rendered, mut findings, .. } = decide(inventory, config, problems.clone(), node_group)?;
    if change.replace_in_use {
        findings.retain(|finding| finding.rule != IN_USE_ELSEWHERE);
    }
    let Differences { diff, problems } = diff(inventory, config, &plan, &rendered, &options(change, former.as_ref()));
    // Asked for: these nodes get the label, or are replaced by nodes that have it.
    let is_labelled = |name: &String| {
        diff.changes.iter().any(|change| matches!(change, Change::LabelNode { name: labelled, .. } if labelled == name))
    };
    let accepted = change.accept_moves && change.roll;
    // Held back, or not asked for: then the label does not decide yet, and who lacks it is told with the switch.
    let is_switch = |change: &Change| matches!(change, Change::SetDaemonSetEnv { .. } | Change::UpdateAddOn { .. });
    let not_switched = plan.cni.switch && !diff.changes.iter().any(is_switch);
    findings.retain(|finding| match &finding.subject {
        Subject::Node(name) if finding.rule == "node-without-label" => !accepted && !not_switched && !is_labelled(name),
        _ => true,
    });
    findings.extend(graded(problems));
    findings.sort();
    Ok(Compared { diff, findings })
}

fn options(change: &ChangeArgs, former: Option<&BTreeMap<String, Vec<i64>>>) -> DiffOptions {
    let ChangeArgs {
        only,
        set_default,
        roll,
        ami,
        replace_in_use,
        take_over,
        label_nodes,
        accept_moves,
        prune,
        prune_versions,
    } = change;
    let stage = |stage: &OnlyStage| match stage {
        OnlyStage::Eniconfigs => Stage::Eniconfigs,
        OnlyStage::LaunchTemplates => Stage::LaunchTemplates,
        OnlyStage::Cni => Stage::Cni,
        OnlyStage::NodeGroups => Stage::NodeGroups,
    };
    DiffOptions {
        only: if only.is_empty() { Stage::ALL.into() } else { only.iter().map(stage).collect() },
        set_default: *set_default,
        roll: *roll,
        latest_ami: *ami == Ami::Latest,
        replace_in_use: *replace_in_use,
        take_over: *take_over,
        label_nodes: *label_nodes,
        accept_moves: *accept_moves,
        prune: *prune,
        prune_versions: *prune_versions,
        former: former.cloned(),
    }
}

pub(super) fn run(args: &DiffArgs, cli: &Cli) -> Result<Outcome, Error> {
    let extent = load::Extent { all_versions: args.change.prune_versions.is_some(), ..load::Extent::default() };
    let loaded = load::load_with(&args.source, extent, cli)?;
    let Compared { diff, findings } = compare(&loaded, &args.change, args.source.node_group.as_deref())?;
    let errors = has_errors(&findings);
    let mut stderr = report::findings::text(&findings, cli.quiet);
    if let Some(path) = &args.out {
        if errors {
            stderr.push_str(&format!("{} is not written: there are errors\n", path.display()));
        } else {
            save(path, &diff)?;
            stderr
                .push_str(&format!("{} is written; it holds user data as it is, foreign parts too\n", path.display()));
        }
    }
    let stdout = match args.output {
        Format::Json => Data::Bytes(report::json::diff(&diff, &loaded.inventory, &findings)?.into()),
        // Where errors kept the plan from being rendered, nothing is known of differences.
        Format::Human if errors && diff.is_empty() => Data::Text(String::new()),
        Format::Human => Data::Text(report::diff::text(&diff, &loaded.inventory)),
    };
    let status = match (errors, diff.is_empty()) {
        (true, _) => ExitStatus::Findings,
        (false, false) => ExitStatus::Differences,
        (false, true) => ExitStatus::Done,
    };
    Ok(Outcome { stdout, stderr, status })
}

/// Writes a diff that can be applied: whole, so that only its owner may read it.
#[allow(clippy::disallowed_methods)]
fn save(path: &Path, diff: &Diff) -> Result<(), Error> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let text = report::json::pretty("the diff", diff)?;
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .map_err(write_error(path))?;
    // A file that was there keeps its mode otherwise.
    file.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(write_error(path))?;
    file.write_all(text.as_bytes()).map_err(write_error(path))
}
