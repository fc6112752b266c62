//! The program itself over the bench.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use eniplan::inventory::Inventory;
use serde_json::{Value, json};

use crate::bench::{Bench, fixture, fixtures, source};

/// The program in a folder, with the environment that the bench wants.
pub(crate) fn eniplan(bench: &Bench, folder: &Path, arguments: &[&str]) -> Output {
    let environment: std::collections::BTreeMap<String, String> =
        serde_json::from_value(bench.ports["environment"].clone()).unwrap();
    Command::new(env!("CARGO_BIN_EXE_eniplan"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(environment)
        .env("AWS_CONFIG_FILE", "/nonexistent")
        .env("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// All files below a folder with their bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                let name = entry.strip_prefix(folder).unwrap().display().to_string();
                found.push((name, std::fs::read(&entry).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn generate_from_the_cluster_equals_inventory_and_generate_to_the_byte() {
    let bench = Bench::start();
    for name in fixtures() {
        let seed = fixture(&name);
        bench.control("POST", "reset", &Value::Null);
        bench.seed(&json!({"inventory": seed}));
        let cluster = seed["cluster"]["name"].as_str().unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(source("fixtures").join(&name).join("eniplan.yaml"), folder.path().join("eniplan.yaml")).unwrap();
        let run = |arguments: &[&str]| eniplan(&bench, folder.path(), arguments);
        let read = run(&["inventory", "--cluster", cluster, "--out", "inventory.json"]);
        assert!(read.status.success(), "{name}: {}", stderr(&read));
        let from_file = run(&["generate", "--inventory", "inventory.json", "--out-dir", "from-file"]);
        let from_cluster = run(&["generate", "--cluster", cluster, "--quiet", "--out-dir", "from-cluster"]);
        assert_eq!(from_file.status, from_cluster.status, "{name}: {}", stderr(&from_cluster));
        if from_file.status.success() {
            let from_file = files(&folder.path().join("from-file"));
            assert!(!from_file.is_empty());
            assert!(from_file == files(&folder.path().join("from-cluster")), "{name}");
        }
    }
}

#[test]
fn an_inventory_is_a_private_file_and_says_what_was_read() {
    let seed = fixture("partial");
    let bench = Bench::with(&seed);
    let folder = tempfile::tempdir().unwrap();
    let cluster = seed["cluster"]["name"].as_str().unwrap();
    let region = seed["region"].as_str().unwrap();
    let output = eniplan(&bench, folder.path(), &["inventory", "-c", cluster, "-r", region, "--out", "inventory.json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(output.stdout, b"");
    let path = folder.path().join("inventory.json");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let inventory = Inventory::from_json(&std::fs::read_to_string(&path).unwrap(), "inventory.json").unwrap();
    assert_eq!(inventory.gaps.len(), 1);
    let mut lines: Vec<&str> = std::str::from_utf8(&output.stderr).unwrap().lines().collect();
    // The parts come in the order of their answers.
    lines.sort_by_key(|line| !line.starts_with("read "));
    let read = lines.iter().filter(|line| line.starts_with("read ")).count();
    lines[..read].sort_unstable();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn an_inventory_on_standard_output_is_the_same() {
    let seed = fixture("three-zones");
    let bench = Bench::with(&seed);
    let folder = tempfile::tempdir().unwrap();
    let output = eniplan(&bench, folder.path(), &["inventory", "-c", "prod-platform", "-r", "us-west-2", "-q"]);
    assert!(output.status.success());
    let inventory = Inventory::from_json(std::str::from_utf8(&output.stdout).unwrap(), "standard output").unwrap();
    assert_eq!(inventory.nodes.len(), 6);
    assert_eq!(stderr(&output), "");
}

#[test]
fn verbose_shows_every_request() {
    let seed = fixture("three-zones");
    let bench = Bench::with(&seed);
    let folder = tempfile::tempdir().unwrap();
    bench.forget_calls();
    let output = eniplan(&bench, folder.path(), &["inventory", "-c", "prod-platform", "-r", "us-west-2", "-v"]);
    let calls = bench.calls();
    let text = stderr(&output);
    assert_eq!(text.lines().filter(|line| line.contains("request id")).count(), calls.len(), "{text}");
    for call in calls.iter().filter(|call| call["service"] != "kube") {
        assert!(text.contains(call["request_id"].as_str().unwrap()), "{call}: {text}");
    }
}

#[test]
fn what_cannot_be_read_ends_with_one_and_an_interrupt_with_130() {
    let seed = fixture("three-zones");
    let bench = Bench::with(&seed);
    let folder = tempfile::tempdir().unwrap();
    let output = eniplan(&bench, folder.path(), &["plan", "-c", "prod", "-r", "us-west-2"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(stderr(&output), @r"
    error: no EKS cluster `prod` in region us-west-2 (account 111122223333)
    help: clusters there: prod-platform; for another one pass --region or --profile
    ");
    bench.faults(&json!([{"action": "DescribeCluster", "kind": "withhold_before"}]));
    let environment: std::collections::BTreeMap<String, String> =
        serde_json::from_value(bench.ports["environment"].clone()).unwrap();
    let mut reader = Command::new(env!("CARGO_BIN_EXE_eniplan"))
        .args(["inventory", "-c", "prod-platform", "-r", "us-west-2", "--out", "inventory.json"])
        .current_dir(folder.path())
        .envs(environment)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    bench.control("GET", "held?at_least=1&timeout=20", &Value::Null);
    assert!(Command::new("kill").args(["-INT", &reader.id().to_string()]).status().unwrap().success());
    assert_eq!(reader.wait().unwrap().code(), Some(130));
    assert_eq!(files(folder.path()), []);
}

#[test]
fn the_longest_wait_for_an_answer_can_be_said() {
    let seed = fixture("three-zones");
    let bench = Bench::with(&seed);
    let folder = tempfile::tempdir().unwrap();
    bench.faults(&json!([{"service": "kube", "action": "list nodes", "kind": "withhold_before"}]));
    let arguments = ["inventory", "-c", "prod-platform", "-r", "us-west-2", "--read-timeout", "2", "--out", "i.json"];
    let output = eniplan(&bench, folder.path(), &arguments);
    assert!(output.status.success());
    assert!(stderr(&output).contains("within 2 seconds"), "{}", stderr(&output));
    let output = eniplan(&bench, folder.path(), &["plan", "--read-timeout", "0"]);
    assert_eq!(output.status.code(), Some(2));
}
