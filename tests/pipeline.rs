//! Every fixture through the built program: what it prints, what it writes, and that neither depends on chance.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods, missing_docs)]

mod broken;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use eniplan::inventory::Inventory;
use serde_json::Value;

/// Fixtures of clusters that the product refuses; all others are healthy.
const REFUSED: [&str; 4] = ["auto-mode", "creating", "ipv6", "partial"];

/// How the program ended and what it said.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs the program inside `folder` with nothing of the caller's environment.
fn eniplan(folder: &Path, arguments: &[&str]) -> Run {
    let output =
        Command::new(env!("CARGO_BIN_EXE_eniplan")).args(arguments).current_dir(folder).env_clear().output().unwrap();
    Run {
        code: output.status.code().unwrap_or_else(|| panic!("{arguments:?} in {} was killed", folder.display())),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn fixture_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(fixture("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

fn name_of(folder: &Path) -> &str {
    folder.file_name().unwrap().to_str().unwrap()
}

/// A folder of its own with copies of a fixture's two files.
fn workspace(fixture: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["inventory.json", "eniplan.yaml"] {
        std::fs::copy(fixture.join(file), folder.path().join(file)).unwrap();
    }
    folder
}

const INPUT: [&str; 4] = ["--inventory", "inventory.json", "--config", "eniplan.yaml"];

fn generate(folder: &Path) -> Run {
    eniplan(folder, &[&["generate"], &INPUT[..], &["--out-dir", "out"]].concat())
}

/// Every file under `folder`, by its path inside.
fn files_under(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let inside = path.strip_prefix(folder).unwrap().display().to_string();
                files.insert(inside, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn fixtures_are_in_the_form_that_inventories_are_written_in() {
    for folder in fixture_folders() {
        let path = folder.join("inventory.json");
        let text = std::fs::read_to_string(&path).unwrap();
        let inventory =
            Inventory::from_json(&text, &path.display().to_string()).unwrap_or_else(|error| panic!("{error}"));
        assert!(inventory.to_json().unwrap() == text, "{} is not as `eniplan inventory` writes it", path.display());
        let saved_on_windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert!(
            Inventory::from_json(&saved_on_windows, "saved on Windows").unwrap() == inventory,
            "{}",
            path.display()
        );
    }
}

/// What people see and get, one page a fixture: healthy ones are done, the others refused with nothing written.
/// Long base64 is named instead of repeated.
#[test]
fn plan_and_files_of_every_fixture() {
    insta::glob!("../fixtures", "*/inventory.json", |path| {
        let fixture = path.parent().unwrap();
        let folder = workspace(fixture);
        let planned = eniplan(folder.path(), &[&["plan"], &INPUT[..]].concat());
        let generated = generate(folder.path());
        let files = files_under(&folder.path().join("out"));
        let refused = REFUSED.contains(&name_of(fixture));
        let expected = if refused { 4 } else { 0 };
        assert_eq!((planned.code, generated.code), (expected, expected), "{}", name_of(fixture));
        assert_eq!(files.is_empty(), refused, "{}", name_of(fixture));

        let mut page = String::new();
        write_run(&mut page, "eniplan plan", &planned);
        write_run(&mut page, "eniplan generate", &generated);
        for (name, bytes) in &files {
            writeln!(page, "==> {name}\n{}", String::from_utf8_lossy(bytes)).unwrap();
        }
        for (name, bytes) in &files {
            if name.contains("/user-data.") {
                let text = base64::engine::general_purpose::STANDARD.encode(bytes);
                page = page.replace(&text, &format!("<base64 of {name}>"));
            }
        }
        let inventory: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        if let Some(authority) = inventory["cluster"]["certificate_authority"].as_str() {
            page = page.replace(authority, "<certificate authority>");
        }
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(page);
        });
    });
}

fn write_run(page: &mut String, title: &str, run: &Run) {
    writeln!(page, "==> {title}: exit {}\n{}", run.code, run.stdout).unwrap();
    writeln!(page, "==> {title}: standard error\n{}", run.stderr).unwrap();
}

#[test]
fn ten_runs_give_the_same_bytes() {
    for name in ["quickstart", "enterprise", "hash", "mixed"] {
        let fixture = fixture(name);
        let first = workspace(&fixture);
        let run = generate(first.path());
        let files = files_under(&first.path().join("out"));
        for _ in 1..10 {
            let again = workspace(&fixture);
            assert_eq!(generate(again.path()), run, "{}", name_of(&fixture));
            assert!(files_under(&again.path().join("out")) == files, "{}", name_of(&fixture));
        }
    }
}

/// APIs page their lists in any order; nothing may be joined by position.
#[test]
fn the_order_of_lists_in_the_inventory_does_not_matter() {
    for fixture in fixture_folders() {
        let first = workspace(&fixture);
        let run = generate(first.path());
        let files = files_under(&first.path().join("out"));
        let text = std::fs::read_to_string(fixture.join("inventory.json")).unwrap();
        for seed in 1..=3 {
            let mut inventory: Value = serde_json::from_str(&text).unwrap();
            shuffle_lists(&mut inventory, &mut Permutation(seed));
            let shuffled = serde_json::to_string_pretty(&inventory).unwrap();
            let folder = workspace(&fixture);
            std::fs::write(folder.path().join("inventory.json"), &shuffled).unwrap();
            assert_eq!(generate(folder.path()), run, "{} with seed {seed}", name_of(&fixture));
            assert!(files_under(&folder.path().join("out")) == files, "{} with seed {seed}", name_of(&fixture));
        }
    }
}

/// Lists whose order the user or AWS gave a meaning; the others come in any order.
const ORDERED: [&str; 3] = ["instance_types", "launch_template_data", "security_groups"];

fn shuffle_lists(value: &mut Value, permutation: &mut Permutation) {
    match value {
        Value::Array(items) => {
            permutation.shuffle(items);
            items.iter_mut().for_each(|item| shuffle_lists(item, permutation));
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let ordered = ORDERED.contains(&name.as_str()) && !field[0].is_object();
                if !ordered {
                    shuffle_lists(field, permutation);
                }
            }
        }
        _ => {}
    }
}

/// A sequence that depends on its seed alone. Source: Knuth's MMIX generator (constants of the 64-bit congruence).
struct Permutation(u64);

impl Permutation {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn shuffle(&mut self, items: &mut [Value]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// The first article's map, node subnet → ENIConfig, comes out of its cluster without a value copied by hand.
#[test]
fn the_quickstart_gives_the_map_of_the_article() {
    for fixture in ["quickstart", "explicit-map"] {
        let folder = workspace(&self::fixture(fixture));
        assert_eq!(generate(folder.path()).code, 0);
        let plan: Value = serde_json::from_slice(&std::fs::read(folder.path().join("out/plan.json")).unwrap()).unwrap();
        let groups = plan["plan"]["node_groups"].as_array().unwrap();
        let batch = groups.iter().find(|group| group["name"] == "batch").unwrap();
        let map: BTreeMap<&str, &str> = batch["assignments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                assert_eq!(row["candidates"].as_array().unwrap().len(), 1);
                (row["cidr"].as_str().unwrap(), row["candidates"][0]["eni_config"].as_str().unwrap())
            })
            .collect();
        let article = [
            ("172.31.16.0/20", "pod-1a-subnet-3"),
            ("172.31.32.0/20", "pod-1b-subnet-3"),
            ("172.31.0.0/20", "pod-1c-subnet-3"),
        ];
        assert_eq!(map, article.into(), "{fixture}");
    }
}
