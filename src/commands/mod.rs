//! One file a verb: load what it works from, call the pure functions in order, hand the result to `report`.

mod advise;
mod apply;
mod capacity;
mod diff;
mod explain;
mod generate;
mod html_file;
mod iam_policy;
mod init;
mod inventory;
mod lint;
mod load;
mod man;
mod out_dir;
mod plan;
mod schema;
mod verify;

use std::path::{Path, PathBuf};

use clap::CommandFactory as _;

use crate::cli::{Cli, Command};
use crate::error::{Error, ExitStatus};

/// What a command leaves: text for the two streams, and how the process ends.
#[derive(Debug)]
pub struct Outcome {
    /// Data.
    pub stdout: Data,
    /// Everything else, with colour.
    pub stderr: String,
    /// How the process ends.
    pub status: ExitStatus,
}

/// What goes to standard output.
#[derive(Debug)]
pub enum Data {
    /// Text for people, with colour.
    Text(String),
    /// Bytes that must arrive as they are.
    Bytes(Vec<u8>),
}

impl Outcome {
    fn bytes(stdout: impl Into<Vec<u8>>) -> Self {
        Self { stdout: Data::Bytes(stdout.into()), stderr: String::new(), status: ExitStatus::Done }
    }
}

/// Runs one command.
///
/// # Errors
/// [`Error`] says why it could not be done.
pub fn run(cli: &Cli) -> Result<Outcome, Error> {
    match &cli.command {
        Command::Init(args) => init::run(args, cli),
        Command::Inventory(args) => inventory::run(args, cli),
        Command::Plan(args) => plan::run(args, cli),
        Command::Generate(args) => generate::run(args, cli),
        Command::Explain(args) => explain::run(args, cli),
        Command::Advise(args) => advise::run(args, cli),
        Command::Capacity(args) => capacity::run(args, cli),
        Command::Diff(args) => diff::run(args, cli),
        Command::Apply(args) => apply::run(args, cli),
        Command::Verify(args) => verify::run(args, cli),
        Command::IamPolicy(args) => iam_policy::run(args),
        Command::Lint(args) => lint::run(args, cli),
        Command::Schema(args) => schema::run(args.what),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "eniplan", &mut script);
            Ok(Outcome::bytes(script))
        }
        Command::Man(args) => man::run(args.command.as_deref()),
    }
}

/// Says that a file was written.
fn wrote(path: &Path, quiet: bool) -> String {
    if quiet { String::new() } else { format!("wrote {}\n", path.display()) }
}

fn write_error(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.into();
    |source| Error::WriteFile { path, source }
}
