//! A folder says the same as the cluster does.

use std::path::Path;
use std::process::Command;

use eniplan::inventory::Inventory;

use crate::bench::{fixture, fixtures, source};
use crate::dump::{Dump, Shell, eniplan};

/// Runs the commands that the program asks for until it asks for nothing new.
pub(crate) fn follow(shell: &mut Shell, dump: &Dump, config: &Path) -> Inventory {
    let mut known = Vec::new();
    shell.run(dump, &format!("aws eks describe-cluster --name {} --output json > describe-cluster.json", dump.cluster));
    loop {
        let inventory = inventory(dump, config);
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

fn inventory(dump: &Dump, config: &Path) -> Inventory {
    let config = config.to_str().unwrap();
    let output = eniplan(dump.path(), &["inventory", "--from-dir", dump.text(), "--config", config]);
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
    let mut shell = Shell::start();
    let mut closed = 0;
    for name in fixtures() {
        let (dump, expected) = shell.seed(&fixture(&name));
        let config = source("fixtures").join(&name).join("eniplan.yaml");
        let read = follow(&mut shell, &dump, &config);
        closed += usize::from(read.gaps.is_empty());
        assert_read(read, Inventory::from_json(&expected.to_string(), "the seed").unwrap(), &name);
        assert_generated(&dump, &config, &name);
    }
    assert!(closed > 20, "{closed}");
}
