//! `eniplan init` on every fixture: what it writes, and that its plan stands.

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn eniplan(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_eniplan")).args(arguments).current_dir(folder).env_clear().output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// A folder of its own with a fixture's inventory alone.
fn workspace(fixture: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture.join("inventory.json"), folder.path().join("inventory.json")).unwrap();
    folder
}

const INIT: [&str; 3] = ["init", "--inventory", "inventory.json"];

#[test]
fn the_proposal_for_every_fixture() {
    insta::glob!("../fixtures", "*/inventory.json", |path| {
        let folder = workspace(path.parent().unwrap());
        let output = eniplan(folder.path(), &INIT);
        let file = std::fs::read_to_string(folder.path().join("eniplan.yaml")).unwrap();
        let mut page = String::new();
        write!(page, "{file}\n==> exit {}\n{}", output.status.code().unwrap(), text(&output.stdout)).unwrap();
        write!(page, "\n==> standard error\n{}", text(&output.stderr)).unwrap();
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(page);
        });
    });
}

/// Wherever the fixture's own file plans without an error, the proposed one does, and nothing has to be made first.
#[test]
fn the_proposal_plans_wherever_the_fixtures_own_file_does() {
    let mut planned = 0;
    for entry in std::fs::read_dir(fixture("")).unwrap() {
        let path = entry.unwrap().path();
        let own = eniplan(&path, &["plan", "--inventory", "inventory.json", "--config", "eniplan.yaml"]);
        let folder = workspace(&path);
        let init = eniplan(folder.path(), &INIT);
        let plan = eniplan(folder.path(), &["plan", "--inventory", "inventory.json", "--config", "eniplan.yaml"]);
        assert_eq!(init.status.code(), plan.status.code(), "{}", path.display());
        if own.status.code() != Some(0) {
            continue;
        }
        planned += 1;
        assert_eq!(plan.status.code(), Some(0), "{}: {}", path.display(), text(&plan.stderr));
        assert!(!text(&init.stderr).contains("missing"), "{}: {}", path.display(), text(&init.stderr));
    }
    assert!(planned >= 18, "only {planned} fixtures plan");
}

/// Variations of fixtures that must not stop anybody do not stop the proposal either.
#[test]
fn the_proposal_plans_for_every_healthy_variation() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut planned = 0;
    for entry in std::fs::read_dir(root.join("tests/broken/inventory")).unwrap() {
        let case = entry.unwrap().path();
        let name = case.file_name().unwrap().to_str().unwrap();
        if !name.starts_with("healthy-") {
            continue;
        }
        let base = std::fs::read_to_string(case.join("base")).unwrap_or_else(|_| "quickstart".into());
        let patch: json_patch::Patch =
            serde_json::from_slice(&std::fs::read(case.join("patch.json")).unwrap()).unwrap();
        let path = fixture(base.trim()).join("inventory.json");
        let mut inventory: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        json_patch::patch(&mut inventory, &patch).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("inventory.json"), inventory.to_string()).unwrap();
        let output = eniplan(folder.path(), &INIT);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output.stderr));
        planned += 1;
    }
    assert!(planned > 20, "only {planned} variations");
}

#[test]
fn a_file_is_for_its_owner_alone_and_never_overwritten() {
    let folder = workspace(&fixture("quickstart"));
    assert_eq!(eniplan(folder.path(), &INIT).status.code(), Some(0));
    let path = folder.path().join("eniplan.yaml");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(&path, "mine").unwrap();
    let again = eniplan(folder.path(), &INIT);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("eniplan.yaml is already there"), "{}", text(&again.stderr));
    assert_eq!(std::fs::read_to_string(path).unwrap(), "mine");
}

#[test]
fn editors_are_told_of_a_schema_that_lies_beside_the_file() {
    let folder = workspace(&fixture("quickstart"));
    std::fs::write(folder.path().join("eniplan.schema.json"), "{}").unwrap();
    assert_eq!(eniplan(folder.path(), &INIT).status.code(), Some(0));
    let file = std::fs::read_to_string(folder.path().join("eniplan.yaml")).unwrap();
    assert_eq!(file.lines().next(), Some("# yaml-language-server: $schema=eniplan.schema.json"));
}

#[test]
fn standard_output_gets_the_file_and_nothing_else() {
    let folder = workspace(&fixture("hash"));
    let to_stdout = eniplan(folder.path(), &[&INIT[..], &["--output-file", "-"]].concat());
    assert!(!folder.path().join("eniplan.yaml").exists());
    eniplan(folder.path(), &INIT);
    assert_eq!(text(&to_stdout.stdout), std::fs::read_to_string(folder.path().join("eniplan.yaml")).unwrap());
}

/// The commands are shell text that says what the JSON says.
#[test]
fn commands_for_missing_pod_subnets_are_shell_text() {
    let folder = workspace(&fixture("smallest"));
    let path = folder.path().join("inventory.json");
    let mut inventory: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    inventory["eni_configs"] = serde_json::json!([]);
    inventory["subnets"]
        .as_array_mut()
        .unwrap()
        .retain(|subnet| !subnet["tags"]["Name"].as_str().unwrap().starts_with("demo-pods"));
    std::fs::write(&path, inventory.to_string()).unwrap();
    let output = eniplan(folder.path(), &[&INIT[..], &["-o", "json"]].concat());
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let commands: Vec<&str> =
        result["commands"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    // A stand-in prints the arguments as the shell has read them.
    let script = format!("aws() {{ printf '%s|' \"$@\"; printf '\\n'; }}\n{}\n", commands.join("\n"));
    let run = Command::new("bash").args(["-u", "-c", &script]).env_clear().output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    insta::assert_snapshot!(format!("{}\n==> as the shell reads it\n{}", commands.join("\n"), text(&run.stdout)));
}

/// Groups that do not exist yet are comments, which plan as soon as they are uncommented and filled in.
#[test]
fn groups_to_be_made_are_uncommented_and_filled_in() {
    let folder = workspace(&fixture("new-cluster"));
    let init = eniplan(folder.path(), &INIT);
    assert!(text(&init.stdout).contains("describe the node groups that are to be made"), "{}", text(&init.stdout));
    let path = folder.path().join("eniplan.yaml");
    let proposed = std::fs::read_to_string(&path).unwrap();
    let (before, groups) = proposed.split_once("  # nodeGroups:\n").unwrap();
    let mut names = ["web", "batch"].into_iter();
    let mut filled = format!("{before}  nodeGroups:\n");
    for line in groups.lines() {
        let line = line.strip_prefix("  # ").unwrap();
        let line = if line.contains("NAME") { line.replace("NAME", names.next().unwrap()) } else { line.to_owned() };
        let line = line.replace("TYPE", "m6i.large");
        let line = line.replace("ARN-OF-THE-NODE-ROLE", "arn:aws:iam::111122223333:role/greenfield-node");
        writeln!(filled, "  {line}").unwrap();
    }
    assert_eq!(names.next(), None);
    std::fs::write(&path, &filled).unwrap();
    let plan = eniplan(folder.path(), &["plan", "--inventory", "inventory.json", "--config", "eniplan.yaml"]);
    assert_eq!(plan.status.code(), Some(0), "{filled}{}", text(&plan.stderr));
    assert!(text(&plan.stdout).contains("pods-green-c"), "{}", text(&plan.stdout));
}
