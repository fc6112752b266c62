//! `eniplan explain`: what it says of nodes, and that it says what the CNI and the boot script do.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods, missing_docs)]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use eniplan::config::Config;
use eniplan::inventory::Inventory;
use eniplan::plan::explanation::{Explained, explain};
use eniplan::plan::plan;
use eniplan::resolve::resolve;
use serde_json::{Value, json};

fn fixtures() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

fn read(folder: &std::path::Path) -> (Inventory, Config) {
    let text = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let inventory = Inventory::from_json(&text("inventory.json"), "inventory.json").unwrap();
    (inventory, Config::from_yaml(&text("eniplan.yaml"), "eniplan.yaml").unwrap())
}

fn page(fixture: &str, arguments: &[&str]) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture);
    let output = Command::new(env!("CARGO_BIN_EXE_eniplan"))
        .args(["explain", "--inventory", "inventory.json", "--config", "eniplan.yaml"])
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .output()
        .unwrap();
    let mut page = String::new();
    writeln!(page, "exit {}", output.status.code().unwrap()).unwrap();
    page.push_str(std::str::from_utf8(&output.stdout).unwrap());
    page.push_str(std::str::from_utf8(&output.stderr).unwrap());
    page
}

#[test]
fn nodes_of_the_cluster() {
    let label_key_of_the_zone = ["ip-172-31-25-222.ap-southeast-1.compute.internal"];
    insta::assert_snapshot!("zone-key", page("quickstart", &label_key_of_the_zone));
    insta::assert_snapshot!("switched-off", page("off-with-nodes", &["ip-10-0-18-45.us-west-2.compute.internal"]));
    insta::assert_snapshot!("hash", page("hash", &["ip-10-0-30-92.eu-west-1.compute.internal"]));
    insta::assert_snapshot!("windows", page("mixed", &["ip-10-0-7-12.ec2.internal"]));
    insta::assert_snapshot!("self-managed", page("mixed", &["ip-10-0-2-57.ec2.internal", "--node-group", "legacy"]));
    insta::assert_snapshot!("no-group", page("mixed", &["ip-10-0-2-57.ec2.internal"]));
    insta::assert_snapshot!("unknown", page("mixed", &["ip-10-0-2-75.ec2.internal"]));
}

#[test]
fn nodes_that_could_be() {
    let of = |group: &'static str, cidr: &'static str| ["--node-group", group, "--subnet-cidr", cidr];
    insta::assert_snapshot!("one-candidate", page("quickstart", &of("batch", "172.31.16.0/20")));
    insta::assert_snapshot!("stays-on-its-zone", page("quickstart", &of("web", "172.31.0.0/20")));
    insta::assert_snapshot!("shares", page("hash", &of("spot", "10.0.0.0/20")));
    let with_id = [&of("spot", "10.0.0.0/20")[..], &["--instance-id", "i-0123456789abcdef0"]].concat();
    insta::assert_snapshot!("picked", page("hash", &with_id));
    insta::assert_snapshot!("no-row", page("hash", &of("spot", "10.0.0.0/21")));
    insta::assert_snapshot!("not-a-cidr", page("hash", &of("spot", "10.0.0.1/20")));
    insta::assert_snapshot!("prefixes", page("prefix-delegation", &of("nitro", "10.0.0.0/20")));
    insta::assert_snapshot!("json", page("hash", &[&with_id[..], &["-o", "json"]].concat()));
}

/// A page about a node of the live cluster of `tests/verify`, after something has happened to it.
fn page_of_live(happened: impl FnOnce(&mut Value), arguments: &[&str]) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/verify/healthy");
    let text = std::fs::read_to_string(folder.join("inventory.json")).unwrap();
    let mut inventory: Value = serde_json::from_str(&text).unwrap();
    happened(&mut inventory);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), inventory.to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_eniplan"))
        .args(["explain", "--config", "eniplan.yaml", "--inventory"])
        .arg(file.path())
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    format!("exit {}\n{}{}", output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const JOBS: &str = "ip-10-128-36-59.ec2.internal";
const SEARCH: &str = "ip-10-128-5-92.ec2.internal";

/// The interfaces and pods of a node are shown with what is right and wrong about them.
#[test]
fn nodes_of_a_live_cluster() {
    insta::assert_snapshot!("live-right", page_of_live(|_| {}, &[SEARCH]));
    let late = |inventory: &mut Value| {
        let observed = &mut inventory["observed"];
        let node_subnet = "subnet-0f56cb91abdde1ab3";
        let interfaces = observed["network_interfaces"].as_array_mut().unwrap();
        let of_node = interfaces.iter_mut().filter(|one| one["attachment"]["instance_id"] == "i-015782242aed1b60a");
        for interface in of_node {
            match interface["attachment"]["device_index"].as_u64().unwrap() {
                0 => interface["ipv4_prefixes"] = json!(["10.128.40.16/28"]),
                1 => interface["subnet_id"] = node_subnet.into(),
                _ => interface["interface_type"] = "trunk".into(),
            }
        }
        let pods = observed["pods"].as_array_mut().unwrap();
        let pod = |name: String, ip: Option<String>, branch: bool| json!({"namespace": "etl", "name": name, "node": JOBS, "ip": ip, "phase": "Running", "branch_interface": branch});
        pods.extend((0..21).map(|n| pod(format!("late-{n:02}"), Some(format!("10.128.40.{}", 20 + n)), false)));
        pods.push(pod("with-groups".into(), Some("100.64.64.90".into()), true));
        pods.push(pod("waiting".into(), None, false));
    };
    insta::assert_snapshot!("live-needs-replacement", page_of_live(late, &[JOBS]));
    let all = page_of_live(late, &[JOBS, "-v"]);
    assert!(
        all.contains("etl/late-20") && all.contains("etl/waiting") && !all.contains("more, which -v shows"),
        "{all}"
    );
    let behind = |inventory: &mut Value| {
        let versions = inventory["launch_templates"].as_array_mut().unwrap();
        for template in versions {
            for version in template["versions"].as_array_mut().unwrap() {
                version["launch_template_data"]["UserData"] = Value::Null;
            }
        }
        inventory.as_object_mut().unwrap().remove("observed");
    };
    insta::assert_snapshot!("live-not-read", page_of_live(behind, &[JOBS]));
    insta::assert_snapshot!("live-json", page_of_live(|_| {}, &[SEARCH, "-o", "json"]));
}

/// What the CNI finds on a node that the plan has labelled is what the group's table gives.
#[test]
fn the_cni_finds_what_the_table_gives() {
    let mut rows = 0;
    for folder in fixtures() {
        let (inventory, config) = read(&folder);
        let plan = plan(&inventory, &config).plan;
        for group in &plan.node_groups {
            for row in &group.assignments {
                let explained =
                    Explained::WouldBe { group, subnet: row.cidr, instance_id: Some("i-0123456789abcdef0") };
                let explanation = explain(&inventory, &plan, explained);
                let pick = explanation.table.unwrap().pick.unwrap();
                let facts = explanation.planned.unwrap().eni_config;
                assert_eq!(facts.name, pick, "{} {} {}", folder.display(), group.name, row.cidr);
                assert_eq!(facts.same_zone, Some(true), "{} {} {}", folder.display(), group.name, row.cidr);
                rows += 1;
            }
        }
    }
    assert!(rows > 60, "only {rows} rows");
}

#[test]
fn nodes_that_are_there_are_explained_as_the_cni_resolves_them() {
    let mut nodes = 0;
    for folder in fixtures() {
        let (inventory, config) = read(&folder);
        let plan = plan(&inventory, &config).plan;
        let Some(settings) = inventory.cni_settings() else { continue };
        for node in inventory.nodes.iter().filter(|node| node.runs_aws_node()) {
            let now = explain(&inventory, &plan, Explained::Node(node, None)).now.unwrap();
            assert_eq!(now.eni_config.name, resolve(node, &settings).eni_config, "{}", node.name);
            nodes += 1;
        }
    }
    assert!(nodes > 80, "only {nodes} nodes");
}
