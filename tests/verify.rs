//! `verify` on a cluster that is as it should be, and on the same cluster with a few fields changed.
//!
//! `tests/verify/patches` holds a file for each change: at most five fields, and the one error or warning that must
//! follow. A new case is a new file.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::expect_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use eniplan::check::live::Standing;
use eniplan::check::live::matrix::CHECKS;
use eniplan::check::{RULES, When};
use eniplan::config::Config;
use eniplan::finding::Severity;
use eniplan::inventory::Inventory;
use eniplan::verify::{Report, Selection, verify};
use serde::Deserialize;
use serde_json::Value;

/// A change of the healthy cluster.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Patch {
    /// Numbers of the checks that it is about.
    checks: Vec<u8>,
    /// `severity[rule] subject` of the one error or warning.
    expect: String,
    /// Folder of the healthy cluster that is changed.
    #[serde(default = "healthy")]
    base: String,
    /// Other findings that cannot but follow, in the same spelling.
    #[serde(default)]
    also: Vec<String>,
    /// What the message must say.
    #[serde(default)]
    says: Vec<String>,
    /// How many nodes stand otherwise than right, by their standing.
    #[serde(default)]
    standing: BTreeMap<String, usize>,
    /// The fields.
    fields: Vec<Field>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Field {
    /// Steps into the inventory: names of fields, and ids or names of the members of lists. `+` adds a member.
    path: Vec<String>,
    /// The value; null removes the field.
    value: Value,
}

fn healthy() -> String {
    "healthy".into()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify")
}

fn inventory_of(base: &str) -> Value {
    let own = folder().join(base).join("inventory.json");
    let path = if own.exists() { own } else { folder().join("healthy/inventory.json") };
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn report(base: &str, inventory: &Value) -> Report {
    let config = std::fs::read_to_string(folder().join(base).join("eniplan.yaml")).unwrap();
    let inventory = Inventory::from_json(&inventory.to_string(), "inventory.json").unwrap();
    let config = Config::from_yaml(&config, "eniplan.yaml").unwrap();
    verify(&inventory, &config, Vec::new(), &Selection::default()).unwrap()
}

/// `severity[rule] subject: message` of errors and warnings.
fn errors_and_warnings(report: &Report) -> Vec<String> {
    let matters = report.findings.iter().filter(|finding| finding.severity != Severity::Note);
    matters
        .map(|finding| {
            format!("{}[{}] {}: {}", finding.severity.word(), finding.rule, finding.subject, finding.message)
        })
        .collect()
}

fn set(value: &mut Value, path: &[String], new: &Value) {
    let (step, rest) = path.split_first().expect("a path has a step");
    if let Value::Array(list) = value {
        if step == "+" {
            list.push(new.clone());
            return;
        }
        let names = [
            "name",
            "subnet_id",
            "group_id",
            "launch_template_id",
            "network_interface_id",
            "route_table_id",
            "instance_type",
            "version_number",
            "cidr_block",
            "destination",
        ];
        let is_named = |member: &Value| {
            names.iter().any(|name| match &member[*name] {
                Value::String(text) => text == step,
                Value::Number(number) => number.to_string().as_str() == step.as_str(),
                _ => false,
            })
        };
        let position = list.iter().position(is_named).unwrap_or_else(|| panic!("nothing is called {step}"));
        if rest.is_empty() && new.is_null() {
            list.remove(position);
        } else if rest.is_empty() {
            list[position] = new.clone();
        } else {
            set(&mut list[position], rest, new);
        }
        return;
    }
    let fields = value.as_object_mut().unwrap_or_else(|| panic!("{step} is in no object"));
    if !rest.is_empty() {
        set(fields.entry(step.clone()).or_insert(Value::Null), rest, new);
    } else if new.is_null() {
        fields.remove(step).unwrap_or_else(|| panic!("{step} is not there"));
    } else {
        fields.insert(step.clone(), new.clone());
    }
}

fn patches() -> Vec<(String, Patch)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder().join("patches")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            (name.clone(), serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")))
        })
        .collect()
}

fn word(standing: Standing) -> String {
    serde_json::to_value(standing).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn a_healthy_cluster_gives_no_finding() {
    for base in ["healthy", "branch-interfaces"] {
        let report = report(base, &inventory_of(base));
        assert_eq!(
            report.findings.iter().filter(|finding| finding.severity != Severity::Note).collect::<Vec<_>>(),
            Vec::<&eniplan::finding::Finding>::new(),
            "{base}"
        );
        assert!(report.is_right());
        assert_eq!(report.standing(), [(Standing::Right, 12)].into());
        assert_eq!(report.left_out, [("Fargate", 1)].into());
    }
}

#[test]
fn each_patch_gives_its_one_error_or_warning() {
    let mut wrong = Vec::new();
    for (name, patch) in patches() {
        assert!((1..=5).contains(&patch.fields.len()), "{name} changes {} fields", patch.fields.len());
        let mut inventory = inventory_of(&patch.base);
        for field in &patch.fields {
            set(&mut inventory, &field.path, &field.value);
        }
        let report = report(&patch.base, &inventory);
        let mut found = errors_and_warnings(&report);
        found.retain(|found| !patch.also.iter().any(|also| found.starts_with(&format!("{also}: "))));
        let expected = format!("{}: ", patch.expect);
        let is_it = |found: &String| {
            found.starts_with(&expected) && patch.says.iter().all(|words| found.contains(words.as_str()))
        };
        if found.len() != 1 || !found.iter().all(is_it) {
            let found = found.join("\n    ");
            wrong.push(format!("{name}: expected {} saying {:?}, found\n    {found}", patch.expect, patch.says));
        }
        let standing: BTreeMap<String, usize> = report
            .standing()
            .into_iter()
            .filter(|(standing, _)| *standing != Standing::Right)
            .map(|(standing, count)| (word(standing), count))
            .collect();
        if standing != patch.standing {
            wrong.push(format!("{name}: nodes stand {standing:?}, not {:?}", patch.standing));
        }
        let shown = report.findings.iter().filter(|finding| finding.severity != Severity::Note);
        wrong.extend(
            shown
                .filter(|finding| finding.evidence.is_empty() && is_live(&finding.rule))
                .map(|finding| format!("{name}: {} shows no evidence", finding.rule)),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn is_live(rule: &str) -> bool {
    RULES.iter().any(|found| found.id == rule && found.when == When::Live)
}

#[test]
fn every_check_and_every_live_rule_has_a_patch() {
    let patches = patches();
    let checks: BTreeSet<u8> = patches.iter().flat_map(|(_, patch)| patch.checks.clone()).collect();
    assert_eq!(checks, CHECKS.iter().map(|check| check.number).collect());
    let live = RULES.iter().filter(|rule| rule.when == When::Live && rule.severity != Severity::Note);
    let without: Vec<&str> = live
        .map(|rule| rule.id)
        .filter(|id| !patches.iter().any(|(_, patch)| patch.expect.contains(&format!("[{id}]"))))
        .collect();
    assert_eq!(without, Vec::<&str>::new());
}

#[test]
fn the_matrix_names_rules_that_exist_and_all_live_rules() {
    let named: BTreeSet<&str> = CHECKS.iter().flat_map(|check| check.rules.iter().copied()).collect();
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    let live: BTreeSet<&str> = RULES.iter().filter(|rule| rule.when == When::Live).map(|rule| rule.id).collect();
    assert_eq!(named.difference(&all).collect::<Vec<_>>(), Vec::<&&str>::new());
    assert_eq!(live.difference(&named).collect::<Vec<_>>(), Vec::<&&str>::new());
}
