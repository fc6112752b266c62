//! eniplan: parse, run, print, exit code.

use std::io::Write as _;
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use clap::Parser as _;
use eniplan::cli::{Cli, Color};
use eniplan::commands::{self, Data};
use eniplan::error::{Error, ExitStatus};
use eniplan::report;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.color {
        Color::Auto => {}
        Color::Always => ColorChoice::AlwaysAnsi.write_global(),
        Color::Never => ColorChoice::Never.write_global(),
    }
    let status = match commands::run(&cli) {
        Ok(outcome) => {
            print_error(&outcome.stderr);
            match print_data(&outcome.stdout) {
                Ok(()) => outcome.status,
                Err(error) => could_not(&error),
            }
        }
        Err(error) => could_not(&error),
    };
    ExitCode::from(status.code())
}

fn could_not(error: &Error) -> ExitStatus {
    print_error(&report::error::text(error));
    error.exit_status()
}

/// Nobody is left to be told when standard error cannot be written.
fn print_error(text: &str) {
    let _ = AutoStream::auto(std::io::stderr().lock()).write_all(report::printable(text).as_bytes());
}

/// A reader that has seen enough, such as `head`, is no error.
fn print_data(data: &Data) -> Result<(), Error> {
    let written = match data {
        Data::Text(text) => {
            let mut stdout = AutoStream::auto(std::io::stdout().lock());
            stdout.write_all(report::printable(text).as_bytes()).and_then(|()| stdout.flush())
        }
        Data::Bytes(bytes) => {
            let mut stdout = std::io::stdout().lock();
            stdout.write_all(bytes).and_then(|()| stdout.flush())
        }
    };
    match written {
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::WriteOutput { source }),
        _ => Ok(()),
    }
}
