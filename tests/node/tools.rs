//! The tools that `tests/setup` gets.
#![allow(clippy::disallowed_methods)]

use std::path::PathBuf;
use std::process::Command;

/// The folder of the tools: `$ENIPLAN_TOOLS`, else beside the build.
fn folder() -> PathBuf {
    let folder = std::env::var_os("ENIPLAN_TOOLS")
        .map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("eniplan-tools"), PathBuf::from);
    assert!(folder.join("complete").is_file(), "no tools in {}: run tests/setup", folder.display());
    folder
}

/// A file of this repository.
pub(crate) fn source(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub(crate) fn python() -> Command {
    Command::new(folder().join("python/bin/python"))
}

pub(crate) fn shellcheck() -> Command {
    Command::new(folder().join("python/bin/shellcheck"))
}

/// Python with the unpacked cloud-init on its path.
pub(crate) fn cloud_init() -> Command {
    let mut command = python();
    command.env("PYTHONPATH", folder().join("cloud-init/usr/lib/python3/dist-packages"));
    command
}
