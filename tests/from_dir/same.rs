//! A folder says the same as the cluster does.

use std::path::Path;
use std::process::Command;

use eniplan::inventory::{GapSource, Inventory};

use crate::bench::{fixture, fixtures, source};
use crate::dump::{Dump, Shell, eniplan};
use crate::observed;

/// Runs the commands that the program asks for until it asks for nothing new.
pub(crate) fn follow(shell: &Shell, dump: &Dump, config: &Path, purpose: &str) -> Inventory {
    let mut known = Vec::new();
    shell.run(dump, &format!("aws eks describe-cluster --name {} --output json > describe-cluster.json", dump.cluster));
    loop {
        let inventory = inventory(dump, config, purpose);
        let commands = inventory.gaps.iter().flat_map(|gap| gap.message.split('`').skip(1).step_by(2));
        let new: Vec<String> = commands.map(str::to_owned).filter(|command| !known.contains(command)).collect();
        if new.is_empty() {
            return inventory;
        }
        for command in new {
            shell.run(dump, &command);
            known.push(command);
        }
    }
}

fn inventory(dump: &Dump, config: &Path, purpose: &str) -> Inventory {
    let config = config.to_str().unwrap();
    let source = ["--from-dir", dump.text(), "--config", config];
    let output = eniplan(dump.path(), &[["inventory", "--for", purpose].as_slice(), &source].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Inventory::from_json(std::str::from_utf8(&output.stdout).unwrap(), "the folder").unwrap()
}

/// The inventory without the time of reading, as text.
fn lines(mut inventory: Inventory) -> Vec<String> {
    inventory.collected_at = String::new();
    inventory.to_json().unwrap().lines().map(str::to_owned).collect()
}

/// Compares line by line, so that the difference is the message.
fn assert_same(read: Inventory, expected: Inventory, what: &str) {
    let (read, expected) = (lines(read), lines(expected));
    for (number, (read, expected)) in read.iter().zip(&expected).enumerate() {
        assert_eq!(read, expected, "{what}, line {}", number + 1);
    }
    assert_eq!(read.len(), expected.len(), "{what}");
}

/// The folder's inventory, and what reading the cluster gives.
fn assert_read(mut read: Inventory, mut expected: Inventory, name: &str) {
    let denied = expected.gaps.iter().any(|gap| gap.code.is_some());
    if denied {
        // The command failed, and the file it left is empty; why, it has said to nobody but the caller.
        let sources = |inventory: &Inventory| inventory.gaps.iter().map(|gap| gap.source).collect::<Vec<_>>();
        assert_eq!(sources(&read), sources(&expected), "{name}");
        read.gaps.clear();
        expected.gaps.clear();
    }
    assert_same(read, expected, name);
}

/// What `generate` writes from the folder, and from an inventory file.
fn assert_generated(dump: &Dump, config: &Path, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(config, folder.path().join("eniplan.yaml")).unwrap();
    let run = |arguments: &[&str]| eniplan(folder.path(), arguments);
    assert!(run(&["inventory", "--from-dir", dump.text(), "--out", "inventory.json"]).status.success());
    let from_file = run(&["generate", "--inventory", "inventory.json", "--out-dir", "from-file"]);
    let from_folder = run(&["generate", "--from-dir", dump.text(), "--out-dir", "from-folder"]);
    assert_eq!(from_file.status, from_folder.status, "{name}: {}", String::from_utf8_lossy(&from_folder.stderr));
    if from_file.status.success() {
        let difference = Command::new("diff")
            .args(["--recursive", "from-file", "from-folder"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(difference.status.success(), "{name}: {}", String::from_utf8_lossy(&difference.stdout));
        assert!(folder.path().join("from-folder/plan.json").is_file(), "{name}");
    }
}

#[test]
fn the_commands_that_gaps_name_lead_to_the_inventory_of_the_cluster_and_to_the_same_files() {
    let shell = Shell::start();
    let mut closed = 0;
    for name in fixtures() {
        let (dump, expected) = shell.seed(&fixture(&name));
        let config = source("fixtures").join(&name).join("eniplan.yaml");
        let read = follow(&shell, &dump, &config, "plan");
        closed += usize::from(read.gaps.is_empty());
        assert_read(read, Inventory::from_json(&expected.to_string(), "the seed").unwrap(), &name);
        assert_generated(&dump, &config, &name);
    }
    assert!(closed > 20, "{closed}");
}

/// The shell blocks of the page, as they stand.
fn documented_commands() -> String {
    let page = std::fs::read_to_string(source("docs/verify.md")).unwrap();
    let (_, section) = page.split_once("## From files").unwrap();
    let blocks = section.split("```sh\n").skip(1).map(|block| block.split_once("```").unwrap().0);
    blocks.filter(|block| block.starts_with("aws") || block.starts_with("vpc")).collect()
}

#[test]
fn the_commands_of_the_page_make_the_folder() {
    let shell = Shell::start();
    for name in ["enterprise", "new-cluster"] {
        let (dump, expected) = shell.seed(&fixture(name));
        let config = source("fixtures").join(name).join("eniplan.yaml");
        let said = shell.run(&dump, &documented_commands());
        let is_absence = |line: &str| line.contains("ResourceNotFoundException") || line.contains("resource type");
        assert!(said.lines().all(is_absence), "{said}");
        let left = inventory(&dump, &config, "plan").gaps;
        let by_id = [GapSource::Images, GapSource::InstanceTypes];
        assert!(left.iter().all(|gap| by_id.contains(&gap.source)), "{name}: {left:?}");
        let mut read = follow(&shell, &dump, &config, "plan");
        assert_eq!(read.gaps, [], "{name}");
        assert!(read.observed.take().is_some());
        assert_same(read, Inventory::from_json(&expected.to_string(), "the seed").unwrap(), name);
    }
}

#[test]
fn what_verify_looks_at_is_in_the_folder_too() {
    let shell = Shell::start();
    let seeds = ["healthy", "branch-interfaces"].map(|name| {
        let folder = source("tests/verify").join(name);
        let text = std::fs::read_to_string(folder.join("inventory.json")).unwrap();
        (name, serde_json::from_str(&text).unwrap(), folder.join("eniplan.yaml"))
    });
    let more = ("three-zones", observed::seed(), source("fixtures/three-zones/eniplan.yaml"));
    for (name, seed, config) in seeds.into_iter().chain([more]) {
        let (dump, expected) = shell.seed(&seed);
        let read = follow(&shell, &dump, &config, "verify");
        assert_eq!(read.gaps, [], "{name}");
        let mut expected = Inventory::from_json(&expected.to_string(), "the seed").unwrap();
        for interface in expected.observed.iter_mut().flat_map(|observed| &mut observed.network_interfaces) {
            // EC2 gives an empty text, and neither reader keeps it.
            interface.description = interface.description.take().filter(|text| !text.is_empty());
        }
        assert!(expected.observed.as_ref().is_some_and(|observed| observed.pods.len() > 4), "{name}");
        // One of the files is enough for the others to be looked for.
        assert_eq!(inventory(&dump, &config, "plan").observed, read.observed, "{name}");
        let node = read.nodes.iter().find(|node| node.node_group().is_some()).unwrap().name.clone();
        assert_same(read, expected, name);
        assert_verified(&dump, &config, &node, name);
    }
}

/// What `verify` and `explain` say of the folder, and of an inventory file.
fn assert_verified(dump: &Dump, config: &Path, node: &str, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(config, folder.path().join("eniplan.yaml")).unwrap();
    let said = |arguments: &[&str]| {
        let output = eniplan(folder.path(), arguments);
        let text = String::from_utf8(output.stdout).unwrap() + std::str::from_utf8(&output.stderr).unwrap();
        (output.status.code(), text)
    };
    let made = said(&["inventory", "--for", "verify", "--from-dir", dump.text(), "--out", "inventory.json"]);
    assert_eq!(made.0, Some(0), "{name}: {}", made.1);
    for verb in [["verify"].as_slice(), &["verify", "--output", "json"], &["explain", node]] {
        let from_file = said(&[verb, &["--inventory", "inventory.json"]].concat());
        assert!(from_file.1.lines().count() > 10, "{name}: {}", from_file.1);
        assert_eq!(said(&[verb, &["--from-dir", dump.text()]].concat()), from_file, "{name}: {verb:?}");
    }
}
