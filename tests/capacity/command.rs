//! `eniplan capacity` over every fixture, as people see it, and that its JSON carries the same figures.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program inside `folder` with nothing of the caller's environment.
pub(crate) fn eniplan(folder: &Path, arguments: &[&str]) -> Run {
    let output =
        Command::new(env!("CARGO_BIN_EXE_eniplan")).args(arguments).current_dir(folder).env_clear().output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

const INPUT: [&str; 5] = ["capacity", "--inventory", "inventory.json", "--config", "eniplan.yaml"];

fn capacity(folder: &Path, further: &[&str]) -> Run {
    eniplan(folder, &[&INPUT[..], further].concat())
}

#[test]
fn capacity_of_every_fixture() {
    insta::glob!("../../fixtures", "*/inventory.json", |path| {
        let mut page = String::new();
        for further in [&[][..], &["--growth", "6", "--add", "/20"]] {
            let run = capacity(path.parent().unwrap(), further);
            writeln!(page, "==> eniplan capacity {}: exit {}\n{}", further.join(" "), run.code, run.stdout).unwrap();
            writeln!(page, "==> standard error\n{}", run.stderr).unwrap();
        }
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(page);
        });
    });
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

/// A copy of a fixture with one group's largest size changed.
fn with_largest_size(name: &str, max: u64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture(name).join("eniplan.yaml"), folder.path().join("eniplan.yaml")).unwrap();
    let text = std::fs::read_to_string(fixture(name).join("inventory.json")).unwrap();
    let mut inventory: Value = serde_json::from_str(&text).unwrap();
    inventory["node_groups"][0]["scaling_config"]["max_size"] = max.into();
    std::fs::write(folder.path().join("inventory.json"), inventory.to_string()).unwrap();
    folder
}

/// Two /27 pod subnets, t3.medium: a full node takes 12 of 27 addresses, so two fit and three do not.
#[test]
fn the_smallest_cluster_holds_two_full_nodes_in_each_zone() {
    let four = with_largest_size("smallest", 4);
    let run = capacity(four.path(), &["-o", "json"]);
    assert_eq!(run.code, 0);
    let subnet = &json(&run)["capacity"]["pod_subnets"][0];
    assert_eq!(subnet["usable_addresses"], 27);
    assert_eq!(subnet["at_max"]["nodes"]["my-nodegroup"], 2);
    assert_eq!((&subnet["at_max"]["taken"], &subnet["at_max"]["head_room"]), (&24.into(), &3.into()));

    let six = with_largest_size("smallest", 6);
    let run = capacity(six.path(), &["-o", "json"]);
    assert_eq!(run.code, 4);
    let rules: Vec<Value> =
        json(&run)["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].clone()).collect();
    assert!(rules.contains(&"capacity-maximum-does-not-fit".into()), "{rules:?}");
    assert_eq!(eniplan(six.path(), &["plan", "--inventory", "inventory.json", "-f", "eniplan.yaml"]).code, 0);
}

#[test]
fn growth_counts_days_and_names_who_fills_what() {
    let run = capacity(&fixture("quickstart"), &["--growth", "batch=3", "--growth", "web=6", "-o", "json"]);
    let capacity = &json(&run)["capacity"];
    // web: two a week and zone, 40 addresses; one node there, 20 of 4091 addresses: 4071 / 40 × 7 = 712.4.
    let first = &capacity["first_to_fill"];
    assert_eq!((&first["node_group"], &first["days"]), (&"web".into(), &712.into()));
    assert_eq!(first["node_group_fits"], 204 * 3);
    assert_eq!(first["eni_configs"][0], "ap-southeast-1a");
}

#[test]
fn growth_of_a_group_that_is_not_there_is_refused() {
    let run = capacity(&fixture("quickstart"), &["--growth", "bath=3"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("no node group `bath` in the plan"), "{}", run.stderr);
    assert_eq!(capacity(&fixture("quickstart"), &["--growth", "-1"]).code, 2);
    assert_eq!(capacity(&fixture("quickstart"), &["--add", "/29"]).code, 2);
}

/// A hash group fills up: the figures of chance are above those of the average, and overflow is said.
#[test]
fn chance_is_a_warning_where_it_overflows() {
    let folder = with_largest_size("hash", 750);
    let run = capacity(folder.path(), &["-o", "json"]);
    let answer = json(&run);
    let findings = answer["findings"].as_array().unwrap();
    let of = |rule: &str| findings.iter().filter(|finding| finding["rule"] == rule).count();
    assert!(of("capacity-skew-overflows") > 0, "{findings:#?}");
    assert_eq!(run.code, 0, "{findings:#?}");
    for subnet in answer["capacity"]["pod_subnets"].as_array().unwrap() {
        let by_chance = &subnet["by_chance"];
        assert!(
            by_chance["p95_taken"].as_u64() >= subnet["at_max"]["taken"].as_u64().map(|taken| taken - 60),
            "{subnet}"
        );
    }
}
