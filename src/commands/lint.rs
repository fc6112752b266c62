//! `eniplan lint`: whether a user-data file will work, before a node boots with it.

#![allow(clippy::disallowed_methods)]

use std::io::Read as _;
use std::path::Path;

use super::{Data, Outcome};
use crate::check::graded;
use crate::check::lint::{Context, lint};
use crate::cli::{Cli, Family, LintArgs, LintFormat};
use crate::config::AmiFamily;
use crate::error::{Error, ExitStatus};
use crate::finding::has_errors;
use crate::report;

/// The name under which standard input is reported.
const STANDARD_INPUT: &str = "(standard input)";

pub(super) fn run(args: &LintArgs, cli: &Cli) -> Result<Outcome, Error> {
    let bytes = read(&args.file)?;
    let file = if args.file == Path::new("-") { STANDARD_INPUT.to_owned() } else { args.file.display().to_string() };
    let context = Context {
        file: &file,
        family: args.family.map(|family| match family {
            Family::Al2023 => AmiFamily::Al2023,
            Family::Al2 => AmiFamily::Al2,
            Family::Bottlerocket => AmiFamily::Bottlerocket,
        }),
        has_image: args.image_id.is_some(),
        kubernetes_minor: args
            .kubernetes_version
            .as_deref()
            .and_then(|version| version.split('.').nth(1)?.parse().ok()),
    };
    let linted = lint(&bytes, &context);
    let findings = graded(linted.problems);
    let status = if has_errors(&findings) { ExitStatus::Findings } else { ExitStatus::Done };
    let prediction = linted.prediction.as_ref();
    let stdout = match args.output {
        LintFormat::Human => Data::Text(report::lint::text(&file, linted.family, &findings, prediction, cli.quiet)),
        LintFormat::Json => Data::Bytes(report::lint::json(&file, linted.family, &findings, prediction)?.into()),
        LintFormat::Sarif => Data::Bytes(report::sarif::document(&findings)?.into()),
    };
    Ok(Outcome { stdout, stderr: String::new(), status })
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let read_error = |source| Error::ReadFile { path: path.into(), source };
    if path != Path::new("-") {
        return std::fs::read(path).map_err(read_error);
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(read_error)?;
    Ok(bytes)
}
