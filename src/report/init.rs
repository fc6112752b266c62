//! What `init` proposes, and what is missing before the plan is complete.

use std::path::Path;

use serde_json::json;

use super::findings;
use super::json::pretty;
use super::style::{BOLD, of, styled};
use crate::config::Config;
use crate::error::Error;
use crate::finding::{Finding, Severity, has_errors};
use crate::plan::proposal::NewSubnets;
use crate::render::shell_line;

/// A proposal as it is reported.
#[derive(Debug, Clone, Copy)]
pub struct Proposed<'a> {
    /// The file that was written; `None` where the text goes to standard output.
    pub file: Option<&'a Path>,
    /// Its text.
    pub text: &'a str,
    /// What it says.
    pub config: &'a Config,
    /// Pod subnets that have to be made.
    pub new_subnets: Option<&'a NewSubnets>,
    /// The commands that make them.
    pub commands: Option<&'a str>,
    /// Whether the node groups are yet to be described.
    pub to_describe: bool,
    /// What the plan of the file has to say.
    pub findings: &'a [Finding],
    /// The flags by which the cluster was found, to be given again.
    pub source: &'a [String],
}

/// What was written, and what to do next.
///
/// # Errors
/// As [`shell_line`].
pub fn text(file: &Path, proposed: &Proposed<'_>, quiet: bool) -> Result<String, Error> {
    let Config { pools, node_groups, ignore, .. } = proposed.config;
    let mut text = format!(
        "{} {}: {}, {}, {} ignored\n",
        styled(BOLD, "wrote"),
        file.display(),
        plural(pools.len(), "pool"),
        plural(node_groups.len(), "node group"),
        ignore.len()
    );
    if !quiet {
        let mut words: Vec<String> = ["eniplan", "plan", "--config"].map(str::to_owned).into();
        words.push(file.display().to_string());
        words.extend(proposed.source.iter().cloned());
        let first = if proposed.to_describe { "describe the node groups that are to be made" } else { "read it" };
        text.push_str(&format!("\nNext: {first}, then look at the plan:\n  {}\n", shell_line(&words)?));
    }
    Ok(text)
}

fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Missing pod subnets, and findings of severity error; the others are for `eniplan plan`.
pub fn notes(proposed: &Proposed<'_>, quiet: bool) -> String {
    let mut text = findings::text(proposed.findings, true);
    if let (Some(new), Some(commands)) = (proposed.new_subnets, proposed.commands) {
        let zones: Vec<&str> = new.subnets.iter().map(|subnet| subnet.availability_zone.as_str()).collect();
        let head = styled(of(Severity::Warning), "warning:");
        text.push_str(&format!("{head} pod subnets are missing in {}; these commands make them:\n", zones.join(", ")));
        text.push_str(commands);
    }
    if has_errors(proposed.findings) {
        let head = styled(of(Severity::Note), "help:");
        text.push_str(&format!("{head} the file is a proposal, and its plan has the errors above; correct them or the file, then run `eniplan plan`\n"));
    } else if !quiet && !proposed.findings.is_empty() {
        let count = findings::count(proposed.findings);
        text.push_str(&format!("The plan of this file has {count}; `eniplan plan` shows them.\n"));
    }
    text
}

/// `eniplan init -o json`.
///
/// # Errors
/// [`Error::Serialise`]; a defect of the program.
pub fn json(proposed: &Proposed<'_>) -> Result<String, Error> {
    pretty(
        "the proposal",
        &json!({
            "schema_version": super::json::SCHEMA_VERSION,
            "file": proposed.file,
            "text": proposed.text,
            "new_subnets": proposed.new_subnets,
            "commands": proposed.commands.map(|commands| commands.lines().collect::<Vec<_>>()),
            "findings": proposed.findings,
        }),
    )
}
