//! The console blocks of README and docs, run as they stand.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

#[cfg(feature = "live")]
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

/// Blocks that start with `eniplan` are run; set-up lines are run by `tests/run`, and other tools are not ours to run.
#[test]
fn console_blocks_show_what_the_program_prints() {
    let ignored = || trycmd::schema::Bin::Ignore;
    trycmd::TestCases::new()
        .env("NO_COLOR", "1")
        .register_bin("cargo", ignored())
        .register_bin("tests/run", ignored())
        .register_bin("kubectl", ignored())
        .register_bin("aws", ignored())
        .case("README.md")
        .case("docs/*.md");
}

/// The build without `live` says and writes the same, to the byte. `tests/run` builds it beside this one.
#[cfg(feature = "live")]
#[test]
fn both_builds_are_the_same_program() {
    let live = PathBuf::from(env!("CARGO_BIN_EXE_eniplan"));
    let offline = live.parent().unwrap().parent().unwrap().join("offline/debug/eniplan");
    assert!(offline.exists(), "{} is not there: run tests/run", offline.display());
    let output = |binary: &Path, arguments: &[&str]| {
        let output = Command::new(binary).args(arguments).env_clear().output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let same = |arguments: &[&str]| assert_eq!(output(&live, arguments), output(&offline, arguments), "{arguments:?}");
    for verb in [
        "init",
        "inventory",
        "plan",
        "generate",
        "explain",
        "advise",
        "capacity",
        "diff",
        "apply",
        "verify",
        "iam-policy",
        "lint",
        "schema",
        "completions",
        "man",
    ] {
        same(&[verb, "--help"]);
    }
    for what in ["config", "inventory", "plan", "report"] {
        same(&["schema", what]);
    }
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for fixture in std::fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path()) {
        let (inventory, config) = (fixture.join("inventory.json"), fixture.join("eniplan.yaml"));
        let source = ["--inventory", inventory.to_str().unwrap(), "--config", config.to_str().unwrap()];
        let written = |binary: &Path| {
            let folder = tempfile::tempdir().unwrap();
            let status = Command::new(binary)
                .arg("generate")
                .args(source)
                .args(["--out-dir", "out"])
                .current_dir(folder.path())
                .output();
            let output = status.unwrap();
            (output.status.code(), output.stdout, output.stderr, files_under(folder.path()))
        };
        assert!(written(&live) == written(&offline), "{} differs", fixture.display());
    }
}

#[cfg(feature = "live")]
fn files_under(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.extend(
                files_under(&path)
                    .into_iter()
                    .map(|(below, bytes)| (path.file_name().unwrap().into(), below, bytes))
                    .map(|(name, below, bytes): (PathBuf, PathBuf, Vec<u8>)| (name.join(below), bytes)),
            );
        } else {
            files.insert(path.file_name().unwrap().into(), std::fs::read(&path).unwrap());
        }
    }
    files
}
