//! Inventories with one fault each, and files that are no inventory: what the program says about them.
//!
//! `inventory/NAME/patch.json` is an RFC 6902 patch of at most five operations over the inventory of the fixture that
//! `base` names (without it: the quickstart). `eniplan.yaml`, where there, stands in for the fixture's. Names that
//! begin with `healthy-` are variations that must not stop anybody.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{eniplan, files_under, fixture, generate, name_of};

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/broken")
}

fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// A folder of its own with the patched inventory and its `eniplan.yaml`.
fn workspace(case: &Path) -> tempfile::TempDir {
    let base = std::fs::read_to_string(case.join("base")).unwrap_or_else(|_| "quickstart".into());
    let fixture = fixture(base.trim());
    let patch: json_patch::Patch = serde_json::from_slice(&std::fs::read(case.join("patch.json")).unwrap()).unwrap();
    assert!(patch.0.len() <= 5, "{} changes too much", case.display());
    let mut inventory: Value = serde_json::from_slice(&std::fs::read(fixture.join("inventory.json")).unwrap()).unwrap();
    json_patch::patch(&mut inventory, &patch).unwrap_or_else(|error| panic!("{}: {error}", case.display()));
    let own = case.join("eniplan.yaml");
    let config = if own.exists() { own } else { fixture.join("eniplan.yaml") };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("inventory.json"), serde_json::to_string_pretty(&inventory).unwrap()).unwrap();
    std::fs::copy(config, folder.path().join("eniplan.yaml")).unwrap();
    folder
}

/// Each message, and variety: a corpus in which one rule answers for everything would show little.
#[test]
fn what_is_said_about_every_broken_inventory() {
    let mut cases_by_rule: BTreeMap<String, Vec<String>> = BTreeMap::new();
    insta::glob!("inventory/*/patch.json", |path| {
        let case = path.parent().unwrap();
        let folder = workspace(case);
        let run = generate(folder.path());
        let written = files_under(&folder.path().join("out"));
        if name_of(case).starts_with("healthy-") {
            assert_eq!(run.code, 0, "{}: {}", case.display(), run.stderr);
        } else {
            assert_eq!(run.code, 4, "{}: {}", case.display(), run.stderr);
            assert!(written.is_empty(), "{} wrote {:?}", case.display(), written.keys());
            assert_eq!(files_under(folder.path()).len(), 2, "{} left files behind", case.display());
            for rule in error_rules(&run.stderr) {
                cases_by_rule.entry(rule).or_default().push(name_of(case).to_owned());
            }
        }
        let mut page = String::new();
        writeln!(page, "exit {}\n{}", run.code, run.stderr).unwrap();
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(page);
        });
    });
    let broken: BTreeSet<&String> = cases_by_rule.values().flatten().collect();
    assert!(broken.len() >= 45, "only {} broken inventories", broken.len());
    let too_many: Vec<_> = cases_by_rule.iter().filter(|(_, cases)| cases.len() > 3).collect();
    assert!(too_many.is_empty(), "{too_many:#?}");
}

/// Rules of severity error in what was said, each once.
fn error_rules(stderr: &str) -> BTreeSet<String> {
    let rules = stderr.lines().filter_map(|line| line.strip_prefix("error[")?.split(']').next());
    rules.map(str::to_owned).collect()
}

/// `gaps/NAME` is like `inventory/NAME`: one part of the inventory is missing because its read was denied.
#[test]
fn what_is_said_about_every_read_that_was_denied() {
    let mut page = String::new();
    for case in sorted_entries(&here().join("gaps")) {
        let folder = workspace(&case);
        let run = generate(folder.path());
        assert_eq!(folder.path().join("out").exists(), run.code == 0, "{}", case.display());
        writeln!(page, "==> {}: exit {}\n{}", name_of(&case), run.code, run.stderr).unwrap();
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(page);
    });
}

#[test]
fn what_is_said_about_files_that_are_no_inventory() {
    let mut page = String::new();
    for file in sorted_entries(&here().join("inventory-files")) {
        let folder = tempfile::tempdir().unwrap();
        let name = name_of(&file);
        std::fs::copy(&file, folder.path().join(name)).unwrap();
        std::fs::copy(fixture("quickstart").join("eniplan.yaml"), folder.path().join("eniplan.yaml")).unwrap();
        let arguments = ["generate", "--inventory", name, "--config", "eniplan.yaml", "--out-dir", "out"];
        let run = eniplan(folder.path(), &arguments);
        assert_eq!(run.code, 1, "{name}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{name}");
        assert_eq!(files_under(folder.path()).len(), 2, "{name} left files behind");
        writeln!(page, "==> {name}\n{}", run.stderr).unwrap();
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(page);
    });
}
