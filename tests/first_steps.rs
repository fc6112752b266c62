//! What somebody meets who tries the program for the first time: help that can be copied, files that are named, and
//! errors that lead on.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::CommandFactory as _;
use eniplan::cli::Cli;
use serde_json::{Value, json};

struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn eniplan(folder: &Path, arguments: &[&str]) -> Run {
    let run = Command::new(env!("CARGO_BIN_EXE_eniplan"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: run.status.code(), stdout: text(run.stdout), stderr: text(run.stderr) }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// A folder with the fixture's inventory, changed, and no eniplan.yaml.
fn inventory_alone(name: &str, change: impl FnOnce(&mut Value)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(fixture(name).join("inventory.json")).unwrap();
    let mut inventory: Value = serde_json::from_str(&text).unwrap();
    change(&mut inventory);
    std::fs::write(folder.path().join("inventory.json"), inventory.to_string()).unwrap();
    folder
}

fn with_config(name: &str, change: impl FnOnce(&mut Value)) -> tempfile::TempDir {
    let folder = inventory_alone(name, change);
    std::fs::copy(fixture(name).join("eniplan.yaml"), folder.path().join("eniplan.yaml")).unwrap();
    folder
}

const INVENTORY: [&str; 2] = ["--inventory", "inventory.json"];

#[test]
fn no_line_of_an_example_is_broken_at_80_columns() {
    for width in [80, 100] {
        let mut command = Cli::command();
        command.build();
        for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
            let (name, source) = (verb.get_name(), verb.get_after_help().unwrap().to_string());
            let help = verb.clone().term_width(width).render_help().to_string();
            for line in source.lines().filter(|line| line.starts_with("  ")) {
                assert!(line.len() <= 76, "{name}: {line}");
                assert!(help.lines().any(|shown| shown == line), "{name} at {width}: {line}\n{help}");
            }
            assert!(help.lines().all(|line| line.chars().count() <= width), "{name} at {width}\n{help}");
        }
    }
}

/// A line that is broken in the source and by the terminal leaves a ragged remainder.
#[test]
fn prose_after_the_help_is_broken_by_the_terminal_alone() {
    let command = Cli::command();
    for verb in command.get_subcommands() {
        let text = verb.get_after_help().unwrap().to_string();
        for line in text.lines().filter(|line| !line.starts_with("  ") && line.len() > 100) {
            assert!(line.ends_with(['.', ':']), "{}: {line}", verb.get_name());
        }
    }
}

/// What the shell makes of an example is a command of the program.
#[test]
fn examples_parse() {
    let mut seen = 0;
    for verb in Cli::command().get_subcommands() {
        let text = verb.get_after_help().unwrap().to_string().replace("\\\n", " ");
        for line in text.lines().map(str::trim).filter(|line| line.starts_with("eniplan ")) {
            let words = line.split(['|', '>']).next().unwrap().split_whitespace();
            Cli::command().try_get_matches_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn without_a_file_it_is_said_that_tags_decide() {
    let folder = inventory_alone("smallest", |_| {});
    for verb in ["plan", "generate", "diff", "verify", "capacity", "advise"] {
        let run = eniplan(folder.path(), &[&[verb], &INVENTORY[..]].concat());
        let said = run.stderr.matches("no eniplan.yaml in this folder: pools come from tags").count();
        assert_eq!(said, 1, "{verb}: {}", run.stderr);
        let quiet = eniplan(folder.path(), &[&[verb, "--quiet"], &INVENTORY[..]].concat());
        assert!(!quiet.stderr.contains("no eniplan.yaml"), "{verb}: {}", quiet.stderr);
    }
    let with = eniplan(&fixture("smallest"), &[&["plan"], &INVENTORY[..]].concat());
    assert!(!with.stderr.contains("no eniplan.yaml"), "{}", with.stderr);
}

#[test]
fn the_region_of_the_flag_must_be_that_of_the_file() {
    for verb in ["plan", "capacity", "advise", "verify"] {
        let run = |region| eniplan(&fixture("quickstart"), &[&[verb, "--region", region], &INVENTORY[..]].concat());
        let other = run("us-east-1");
        let all = other.stdout.clone() + &other.stderr;
        assert_eq!(other.code, Some(4), "{verb}: {all}");
        assert!(all.contains("error[region-differs]"), "{verb}: {all}");
        let same = run("ap-southeast-1");
        assert!(!(same.stdout + &same.stderr).contains("region-differs"), "{verb}");
    }
}

#[test]
fn what_was_not_read_is_not_called_new_and_is_told_before_what_follows() {
    let folder = with_config("quickstart", |inventory| {
        inventory["eni_configs"] = json!([]);
        inventory["gaps"] = json!([{
            "source": "eni_configs", "action": "list eniconfigs", "code": "403", "message": "forbidden",
        }]);
    });
    let run = eniplan(folder.path(), &[&["plan"], &INVENTORY[..]].concat());
    let unread = run.stdout.lines().filter(|line| line.ends_with("  not read")).count();
    assert!(unread > 0, "{}{}", run.stdout, run.stderr);
    assert!(!run.stdout.lines().any(|line| line.ends_with("  new")), "{}", run.stdout);
    assert!(run.stderr.starts_with("error[read-failed]"), "{}", run.stderr);
}

#[test]
fn files_that_are_written_are_named() {
    let folder = with_config("quickstart", |_| {});
    for (arguments, file, mode) in [
        (&["inventory", "--out", "copy.json"][..], "copy.json", 0o600),
        (&["plan", "--html", "plan.html"], "plan.html", 0o644),
        (&["capacity", "--html", "capacity.html"], "capacity.html", 0o644),
        (&["capacity", "--phases", "--html", "phases.html"], "phases.html", 0o644),
    ] {
        let run = eniplan(folder.path(), &[arguments, &INVENTORY[..]].concat());
        assert!(run.stderr.ends_with(&format!("wrote {file}\n")), "{arguments:?}: {}", run.stderr);
        let quiet = eniplan(folder.path(), &[arguments, &INVENTORY[..], &["--quiet"]].concat());
        assert!(!quiet.stderr.contains("wrote"), "{arguments:?}: {}", quiet.stderr);
        let permissions = std::fs::metadata(folder.path().join(file)).unwrap().permissions();
        // Less where the umask takes more.
        assert_eq!(permissions.mode() & 0o777 & !mode, 0, "{file}");
        assert_eq!(permissions.mode() & 0o600, 0o600, "{file}");
    }
}

/// A page is readable for others, so that nothing of it may be a secret of the nodes.
#[test]
fn a_page_holds_no_user_data() {
    let secret = "SECRET-OF-THE-NODES";
    let folder = with_config("quickstart", |_| {});
    let text = std::fs::read_to_string(folder.path().join("inventory.json")).unwrap();
    let mut inventory: Value = serde_json::from_str(&text).unwrap();
    let mut planted = 0;
    for template in inventory["launch_templates"].as_array_mut().unwrap() {
        for version in template["versions"].as_array_mut().unwrap() {
            version["data"]["UserData"] = json!(secret);
            planted += 1;
        }
    }
    assert!(planted > 0);
    std::fs::write(folder.path().join("inventory.json"), inventory.to_string()).unwrap();
    eniplan(folder.path(), &[&["plan", "--html", "plan.html"], &INVENTORY[..]].concat());
    let page = std::fs::read_to_string(folder.path().join("plan.html")).unwrap();
    assert!(!page.contains(secret) && !page.contains("MIME-Version"), "{page}");
}

#[test]
fn only_names_that_are_alike_are_offered() {
    let help = |rule| eniplan(&fixture("quickstart"), &[&["verify", "--only", rule], &INVENTORY[..]].concat()).stderr;
    let slip = help("pod-subnet-ful");
    assert!(slip.contains("help: did you mean pod-subnet-full? docs/checks.md lists all"), "{slip}");
    let other = help("something-else-altogether");
    assert!(other.contains("help: docs/checks.md lists all"), "{other}");
}

#[test]
fn a_node_is_found_by_its_instance_id() {
    let text = std::fs::read_to_string(fixture("quickstart").join("inventory.json")).unwrap();
    let inventory: Value = serde_json::from_str(&text).unwrap();
    let node = &inventory["nodes"][0];
    let explain = |name: &Value| {
        let run = eniplan(&fixture("quickstart"), &[&["explain", name.as_str().unwrap()], &INVENTORY[..]].concat());
        run.stdout + &run.stderr
    };
    let by_name = explain(&node["name"]);
    assert!(by_name.contains(node["name"].as_str().unwrap()), "{by_name}");
    assert_eq!(explain(&node["instance_id"]), by_name);
}

#[test]
fn an_explanation_without_a_node_says_both_ways_to_name_one() {
    let run = eniplan(&fixture("quickstart"), &[&["explain"], &INVENTORY[..]].concat());
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("explain [OPTIONS] <NODE>"), "{}", run.stderr);
    assert!(run.stderr.contains("--node-group <NAME> --subnet-cidr <CIDR>"), "{}", run.stderr);
}

#[test]
fn a_folder_in_place_of_an_inventory_leads_to_the_file_in_it() {
    let folder = inventory_alone("quickstart", |_| {});
    let run = eniplan(folder.path(), &["plan", "--inventory", "."]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("help: pass --inventory ./inventory.json, or pass --from-dir ."), "{}", run.stderr);
}

#[test]
fn commands_to_copy_name_their_region() {
    for name in ["quickstart", "self-managed", "new-cluster", "enterprise"] {
        let folder = with_config(name, |_| {});
        let run = eniplan(folder.path(), &[&["generate"], &INVENTORY[..]].concat());
        assert_eq!(run.code, Some(0), "{name}: {}", run.stderr);
        let commands: Vec<&str> = run.stdout.lines().filter(|line| line.contains(". aws ")).collect();
        assert!(!commands.is_empty(), "{name}: {}", run.stdout);
        assert!(commands.iter().all(|line| line.contains(" --region ")), "{name}: {commands:#?}");
    }
}

#[test]
fn it_is_said_what_becomes_of_the_files_for_karpenter() {
    let folder = with_config("karpenter-nodes", |_| {});
    let run = eniplan(folder.path(), &[&["generate", "--for", "karpenter"], &INVENTORY[..]].concat());
    assert!(run.stdout.contains("either put eniplan-out/karpenter/POOL/ec2nodeclass-user-data.mime"), "{}", run.stdout);
    assert!(run.stdout.contains("or make NodePools like those of eniplan-out/karpenter/nodepools/"), "{}", run.stdout);
    assert!(run.stdout.contains("merge eniplan-out/karpenter/helm-values.yaml"), "{}", run.stdout);
}

#[test]
fn a_file_that_no_reader_takes_gets_no_prediction() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "remember the milk\n").unwrap();
    let run = eniplan(folder.path(), &["lint", "notes.txt"]);
    assert!(run.stdout.contains("user-data-format-unknown"), "{}", run.stdout);
    assert!(!run.stdout.contains("What nodeadm will make of it"), "{}", run.stdout);
}

#[test]
fn one_node_is_spoken_of_as_one() {
    let folder = with_config("quickstart", |inventory| {
        let nodes = inventory["nodes"].as_array_mut().unwrap();
        let is_batch = |node: &Value| node["labels"]["eks.amazonaws.com/nodegroup"] == "batch";
        let first = nodes.iter().position(is_batch).unwrap();
        let name = nodes[first]["name"].clone();
        nodes.retain(|node| !is_batch(node) || node["name"] == name);
    });
    let run = eniplan(folder.path(), &[&["plan"], &INVENTORY[..]].concat());
    assert!(run.stderr.contains(" does not carry the planned label and keeps its pod addresses"), "{}", run.stderr);
}

#[test]
fn advice_without_wishes_comes_with_ids() {
    let folder = inventory_alone("new-cluster", |_| {});
    let run = eniplan(folder.path(), &[&["advise", "--mechanism", "subnet-discovery"], &INVENTORY[..]].concat());
    assert!(run.stdout.contains("aws ec2 create-tags --resources subnet-"), "{}{}", run.stdout, run.stderr);
}

#[test]
fn advice_on_static_labels_says_where_no_label_is_needed() {
    let advise = |name| {
        let arguments = ["advise", "--mechanism", "static-labels", "--inventory", "inventory.json"];
        eniplan(&fixture(name), &arguments).stdout
    };
    assert!(advise("smallest").contains("no node group needs a label"), "{}", advise("smallest"));
}

#[test]
fn what_is_ruled_out_is_not_a_thing_to_print() {
    let arguments = ["advise", "--mechanism", "subnet-discovery", "--inventory", "inventory.json"];
    let run = eniplan(&fixture("three-zones"), &arguments);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.contains("error: subnet discovery of the VPC CNI cannot do what is wanted here"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("`eniplan advise` without --mechanism says which one fits"), "{}", run.stderr);
}
