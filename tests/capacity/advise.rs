//! `eniplan advise` over every fixture: as people see it, what it chooses, and that what it emits is what tools take.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::command::{Run, eniplan, fixture};

fn advise(folder: &Path, further: &[&str]) -> Run {
    eniplan(folder, &[&["advise", "--inventory", "inventory.json"], further].concat())
}

fn json(run: &Run) -> Value {
    serde_json::from_str::<Value>(&run.stdout).unwrap()["advice"].clone()
}

#[test]
fn advice_for_every_fixture() {
    insta::glob!("../../fixtures", "*/inventory.json", |path| {
        let run = advise(path.parent().unwrap(), &[]);
        let mut page = String::new();
        writeln!(page, "==> eniplan advise: exit {}\n{}", run.code, run.stdout).unwrap();
        writeln!(page, "==> standard error\n{}", run.stderr).unwrap();
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(page);
        });
    });
}

#[test]
fn the_choice_of_every_kind_of_cluster() {
    for (name, choice, needs_apply) in [
        // One pod subnet a zone, nothing in place: discovery does it.
        ("small", "subnet-discovery", false),
        ("discovery", "subnet-discovery", false),
        // One pod subnet a zone, ENIConfigs named by zone already there.
        ("smallest", "zone-named-eni-configs", false),
        // Groups with pod subnets of their own.
        ("quickstart", "boot-time-mapping", true),
        ("off-with-nodes", "boot-time-mapping", true),
        ("two-sets", "boot-time-mapping", true),
        ("auto-mode", "auto-mode", false),
    ] {
        let advice = json(&advise(&fixture(name), &["-o", "json"]));
        assert_eq!(advice["choice"], choice, "{name}: {advice:#}");
        assert_eq!(advice["needs_apply"], needs_apply, "{name}");
    }
}

#[test]
fn no_mechanism_fits_an_ipv6_cluster() {
    let run = advise(&fixture("ipv6"), &["-o", "json"]);
    assert_eq!(json(&run)["choice"], Value::Null);
    assert_eq!(run.code, 0);
}

#[test]
fn what_could_not_be_read_is_an_error() {
    let run = advise(&fixture("partial"), &[]);
    assert_eq!(run.code, 4);
    assert!(run.stderr.contains("error[read-failed]"), "{}", run.stderr);
}

#[test]
fn discovery_in_use_is_recognised_and_left_alone() {
    let advice = json(&advise(&fixture("discovery"), &["-o", "json"]));
    assert_eq!(advice["in_use"]["mechanism"], "subnet-discovery");
    assert_eq!(advice["steps"], serde_json::json!([]));
    let plan = eniplan(&fixture("discovery"), &["plan", "--inventory", "inventory.json", "-f", "eniplan.yaml"]);
    assert!(plan.stderr.contains("warning[subnet-discovery-in-use]"), "{}", plan.stderr);
}

#[test]
fn every_mechanism_that_is_ruled_out_says_why() {
    for name in ["quickstart", "hash", "mixed", "enterprise", "auto-mode", "ipv6", "small"] {
        let advice = json(&advise(&fixture(name), &["-o", "json"]));
        for judgement in advice["mechanisms"].as_array().unwrap() {
            assert!(!judgement["reasons"].as_array().unwrap().is_empty(), "{name}: {judgement}");
            assert!(!judgement["costs"].as_array().unwrap().is_empty(), "{name}: {judgement}");
        }
    }
}

#[test]
fn what_is_ruled_out_cannot_be_asked_for() {
    let run = advise(&fixture("quickstart"), &["--mechanism", "static-labels"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("batch needs 3 different ENIConfigs"), "{}", run.stderr);
}

#[test]
fn another_mechanism_that_fits_can_be_asked_for() {
    let advice = json(&advise(&fixture("small"), &["--mechanism", "zone-named-eni-configs", "-o", "json"]));
    let manifests = advice["steps"][0]["text"].as_str().unwrap();
    for document in manifests.split("---\n") {
        assert!(document.contains("kind: ENIConfig") && document.contains("name: \"cn-northwest-1"), "{document}");
    }
    assert_eq!(advice["steps"][1]["command"][0], "kubectl");
    assert!(advice["steps"][2]["text"].as_str().unwrap().contains("topology.kubernetes.io/zone"));
}

#[test]
fn without_a_file_it_says_what_it_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(fixture("discovery").join("inventory.json")).unwrap();
    std::fs::write(folder.path().join("inventory.json"), text).unwrap();
    let advice = json(&advise(folder.path(), &["-o", "json"]));
    assert!(advice["wanted"][0].as_str().unwrap().starts_with("nothing says that node groups need"), "{advice:#}");
    assert_eq!(advice["choice"], "subnet-discovery");
}
