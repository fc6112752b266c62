//! `eniplan init`: a first `eniplan.yaml` from what the cluster has.

#![allow(clippy::disallowed_methods)]

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::plan::{Decided, decide};
use super::{Data, Outcome, load, write_error};
use crate::cli::{Cli, Format, InitArgs, SourceArgs};
use crate::error::{Error, ExitStatus};
use crate::finding::has_errors;
use crate::plan::proposal::propose;
use crate::render::proposed_config::{new_subnet_commands, proposed_config};
use crate::report;
use crate::report::init::Proposed;

/// Standard output instead of a file.
const STANDARD_OUTPUT: &str = "-";

pub(super) fn run(args: &InitArgs, cli: &Cli) -> Result<Outcome, Error> {
    let file = (args.output_file != Path::new(STANDARD_OUTPUT)).then_some(args.output_file.as_path());
    // Said before the cluster is read, which takes a while.
    if let Some(file) = file.filter(|file| file.exists()) {
        return Err(already_there(file));
    }
    let inventory = load::load_inventory(&args.source(), None, load::Extent::default(), cli)?;
    let proposal = propose(&inventory);
    let text = file.and_then(schema_line).unwrap_or_default() + &proposed_config(&proposal)?;
    let Decided { findings, .. } = decide(&inventory, &proposal.config, Vec::new(), None)?;
    let commands = proposal.new_subnets.as_ref().map(new_subnet_commands).transpose()?;
    if let Some(file) = file {
        write_new(file, text.as_bytes())?;
    }
    let proposed = Proposed {
        file,
        text: &text,
        config: &proposal.config,
        new_subnets: proposal.new_subnets.as_ref(),
        commands: commands.as_deref(),
        to_describe: proposal.first_groups.is_some(),
        findings: &findings,
        source: &source_flags(args),
    };
    let status = if has_errors(&findings) { ExitStatus::Findings } else { ExitStatus::Done };
    let stdout = match (args.output, file) {
        (Format::Json, _) => Data::Bytes(report::init::json(&proposed)?.into()),
        (Format::Human, None) => Data::Bytes(text.clone().into()),
        (Format::Human, Some(file)) => Data::Text(report::init::text(file, &proposed, cli.quiet)?),
    };
    Ok(Outcome { stdout, stderr: report::init::notes(&proposed, cli.quiet), status })
}

/// The flags that say where the cluster is; the file says of which Region it is.
fn source_flags(args: &InitArgs) -> Vec<String> {
    let flags = SourceArgs { region: None, ..args.source() }.flags();
    [flags.files, flags.place].concat()
}

/// The line by which editors find the schema, where it lies beside the file.
fn schema_line(file: &Path) -> Option<String> {
    const SCHEMA: &str = "eniplan.schema.json";
    let is_there = file.with_file_name(SCHEMA).exists();
    is_there.then(|| format!("# yaml-language-server: $schema={SCHEMA}\n"))
}

fn already_there(path: &Path) -> Error {
    Error::AlreadyExists {
        path: path.into(),
        help: "edit it, move it away, or name another file with --output-file".into(),
    }
}

/// A file that was not there, for its owner alone.
fn write_new(path: &Path, text: &[u8]) -> Result<(), Error> {
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = match opened {
        Err(source) if source.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(already_there(path));
        }
        opened => opened.map_err(write_error(path))?,
    };
    file.write_all(text).and_then(|()| file.sync_all()).map_err(|source| {
        // Half a file would be taken for what is wanted.
        let _ = std::fs::remove_file(path);
        write_error(path)(source)
    })
}
