//! `verify --watch`: a table that is painted anew on a terminal, a line for each change elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::super::apply::say;
use super::super::style::{ADDED, CHANGED, REMOVED, of, printable, styled};
use super::text::{absent, groups, headline};
use super::words;
use crate::check::live::Standing;
use crate::error::Error;
use crate::finding::{Finding, Severity, Subject};
use crate::verify::{NodeReport, Report};

/// Nodes and findings that are named at the first look; what is beyond is counted.
const NAMED_AT_FIRST: usize = 20;

/// Shows one report after the other.
pub struct Watching {
    bar: Option<ProgressBar>,
    quiet: bool,
    before: Option<Report>,
}

impl Watching {
    /// Without a terminal there is no table.
    pub fn new(terminal: bool, quiet: bool) -> Self {
        let bar = (terminal && !quiet).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { bar, quiet, before: None }
    }

    /// Shows what was found; `left` is the time until the watch gives up.
    pub fn show(&mut self, report: &Report, left: Duration) {
        match &self.bar {
            Some(bar) => {
                let left = format!("until all are right, or {} s have passed", left.as_secs());
                let table = format!("{}\n{}{}\n  {left}", headline(report), groups(report), absent(report));
                bar.set_message(printable(&table));
            }
            None if !self.quiet => {
                let lines = changes(self.before.as_ref(), report);
                let clock = clock(&report.collected_at);
                lines.iter().for_each(|line| say(&format!("{clock}  {line}\n")));
            }
            None => {}
        }
        self.before = Some(report.clone());
    }

    /// A look that did not succeed, after one that did.
    pub fn failed(&self, error: &Error) {
        let line = format!("{} {error}; looking again\n", styled(of(Severity::Warning), "warning:"));
        match &self.bar {
            Some(bar) => bar.suspend(|| say(&line)),
            None => say(&line),
        }
    }

    /// Takes the table away.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `08:30:15` of `2026-09-14T08:30:15Z`.
fn clock(time: &str) -> &str {
    time.split_once('T').map_or(time, |(_, clock)| clock.get(..8).unwrap_or(clock))
}

/// What is another than at the look before, a line each: nodes that came, went, or stand otherwise, nodes that are awaited,
/// errors that came or went. At the first look, everything that is not right.
pub fn changes(before: Option<&Report>, now: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let known: BTreeMap<&str, &NodeReport> =
        before.into_iter().flat_map(|report| &report.nodes).map(|node| (node.name.as_str(), node)).collect();
    for node in &now.nodes {
        match known.get(node.name.as_str()) {
            Some(known) if known.standing == node.standing => {}
            Some(known) => lines.push(format!("{} (was {})", stands(node), words(known.standing))),
            None if before.is_some() => lines.push(format!("{} (new)", stands(node))),
            None if node.standing != Standing::Right => lines.push(stands(node)),
            None => {}
        }
    }
    let named: BTreeSet<&str> = now.nodes.iter().map(|node| node.name.as_str()).collect();
    lines.extend(known.keys().filter(|name| !named.contains(**name)).map(|name| format!("node {name} is gone")));
    lines.extend(errors(before, now));
    if before.is_none() {
        let more = lines.len().saturating_sub(NAMED_AT_FIRST);
        lines.truncate(NAMED_AT_FIRST);
        lines.extend((more > 0).then(|| format!("and {more} more")));
    }
    let was_absent = before.map(|report| &report.absent);
    if was_absent.map_or(!now.absent.is_empty(), |was| *was != now.absent) {
        lines.push(match absent(now).trim() {
            "" => "all nodes that EKS wants have registered".into(),
            text => text.to_owned(),
        });
    }
    if !lines.is_empty() || before.is_none() {
        lines.push(headline(now));
    }
    lines
}

fn stands(node: &NodeReport) -> String {
    let style = match node.standing {
        Standing::Right => ADDED,
        Standing::Wrong => REMOVED,
        Standing::Outdated | Standing::NeedsReplacement | Standing::CannotTell => CHANGED,
    };
    format!("node {} {}: {}", node.name, styled(style, words(node.standing)), node.because)
}

fn errors(before: Option<&Report>, now: &Report) -> Vec<String> {
    let of_report = |report: &'_ Report| -> BTreeMap<(String, Subject), Finding> {
        let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
        errors.map(|error| ((error.rule.clone(), error.subject.clone()), error.clone())).collect()
    };
    let (was, is) = (before.map(of_report).unwrap_or_default(), of_report(now));
    let head = |rule: &str| styled(of(Severity::Error), &format!("error[{rule}]:"));
    let came = is
        .iter()
        .filter(|(key, _)| !was.contains_key(*key))
        .map(|((rule, subject), error)| format!("{} {subject}: {}", head(rule), error.message));
    let went = was
        .keys()
        .filter(|key| !is.contains_key(*key))
        .map(|(rule, subject)| format!("no longer {} {subject}", head(rule).trim_end_matches(':')));
    came.chain(went).collect()
}
