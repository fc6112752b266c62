//! `verify` on a cluster that lives: what changes by hand, comes late or is lost is named by its cause, first.

use serde_json::{Value, json};

use crate::apply::{Run, World};
use crate::bench::source;

const NODE: &str = "ip-10-128-3-41.ec2.internal";
const KEY: &str = "k8s.amazonaws.com/eniConfig";

fn file(name: &str) -> String {
    std::fs::read_to_string(source("tests/verify/healthy").join(name)).unwrap()
}

fn healthy() -> World {
    World::with(&serde_json::from_str(&file("inventory.json")).unwrap(), &file("eniplan.yaml"))
}

fn patch(world: &World, kind: &str, name: &str, patch: &Value) {
    world.bench.control("POST", "patch", &patch_of(kind, name, patch));
}

fn patch_of(kind: &str, name: &str, patch: &Value) -> Value {
    let namespace = if kind == "daemonsets.apps" { "kube-system" } else { "" };
    json!([{ "kind": kind, "namespace": namespace, "name": name, "patch": patch }])
}

/// `severity[rule] subject: message` of the findings, in the order of the report.
fn findings(run: &Run) -> Vec<String> {
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| {
            let text = |pointer: &str| finding.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
            format!("{}[{}] {}: {}", text("/severity"), text("/rule"), text("/subject/name"), text("/message"))
        })
        .collect()
}

fn verified(world: &World) -> Vec<String> {
    let run = world.run(&["verify", "-o", "json"]);
    assert!(matches!(run.code, Some(0 | 4)), "{run:#?}");
    findings(&run)
}

fn first_says(world: &World, words: &[&str]) {
    let found = verified(world);
    let first = found.first().unwrap_or_else(|| panic!("nothing is said, but should be: {words:?}"));
    assert!(words.iter().all(|word| first.contains(word)), "{words:?} is not first in {found:#?}");
}

#[test]
fn a_healthy_cluster_is_right() {
    let world = healthy();
    world.run(&["verify"]).ended(0).says("Right: 12 nodes: all right; 24 pods in their pod subnets");
    assert_eq!(world.mutating(), Vec::<Value>::new());
}

#[test]
fn an_annotation_by_hand() {
    let world = healthy();
    patch(&world, "nodes", NODE, &json!({"metadata": {"annotations": {KEY: "retail-set-2-a"}}}));
    first_says(&world, &["error[node-uses-other-eniconfig] apps", "annotation"]);
    world.run(&["verify"]).ended(4).says(NODE);
}

#[test]
fn an_eni_config_that_was_edited_in_place() {
    let world = healthy();
    let edit = json!({"spec": {"subnet": "subnet-01aeb2db57cb017d8"}});
    patch(&world, "eniconfigs.crd.k8s.amazonaws.com", "retail-set-1-a", &edit);
    first_says(&world, &["error[eniconfig-subnet-differs] retail-set-1-a", "subnet-01aeb2db57cb017d8"]);
}

#[test]
fn a_pod_subnet_in_another_zone() {
    let world = healthy();
    let edit = json!({"spec": {"subnet": "subnet-0e762cae3f53feda8"}});
    patch(&world, "eniconfigs.crd.k8s.amazonaws.com", "retail-set-1-a", &edit);
    first_says(&world, &["error[eniconfig-subnet-differs] retail-set-1-a", "in zone us-east-1b (use1-az6)"]);
}

#[test]
fn an_update_of_the_add_on_that_drops_the_settings() {
    let world = healthy();
    let region = "us-east-1";
    let update = json!({
        "clusterName": "retail", "addonName": "vpc-cni", "resolveConflicts": "OVERWRITE", "configurationValues": "{}",
    });
    world.aws("eks", "update_addon", &update);
    for _ in 0..5 {
        world.aws("eks", "describe_addon", &json!({"clusterName": "retail", "addonName": "vpc-cni"}));
    }
    first_says(&world, &["error[custom-networking-off] aws-node", "custom networking is off"]);
    world.run(&["verify", "--region", region]).ended(4).says("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG");
}

#[test]
fn a_label_that_comes_late_is_waited_for() {
    let world = healthy();
    patch(&world, "nodes", NODE, &json!({"metadata": {"labels": {KEY: null}}}));
    first_says(&world, &["error[node-looks-for-missing-eniconfig] apps", "`default`"]);
    let label = patch_of("nodes", NODE, &json!({"metadata": {"labels": {KEY: "retail-set-1-a"}}}));
    let later = json!([{"action": "list nodes", "count": 3, "do": [["POST", "patch", label]]}]);
    world.bench.control("PUT", "later", &later);
    let run = world.run(&["verify", "--watch", "--poll-interval", "0.01", "--timeout", "60"]).ended(0);
    assert!(run.stderr.contains(NODE) || run.stderr.contains("apps"), "{run:#?}");
    assert!(run.stdout.contains("12 nodes: all right"), "{run:#?}");
}

#[test]
fn a_node_that_registers_late_is_waited_for() {
    let world = healthy();
    let nodes = world.objects("nodes");
    let late = nodes.iter().find(|node| node["metadata"]["name"] == NODE).unwrap();
    patch(&world, "nodes", NODE, &Value::Null);
    let run = world.run(&["verify"]);
    assert!(run.stdout.contains("registered"), "{run:#?}");
    let later = json!([{"action": "list nodes", "count": 3, "do": [["POST", "objects", [late]]]}]);
    world.bench.control("PUT", "later", &later);
    let run = world.run(&["verify", "--watch", "--poll-interval", "0.01", "--timeout", "60"]).ended(0);
    assert!(run.stdout.contains("12 nodes: all right"), "{run:#?}");
}

#[test]
fn a_watch_ends_at_its_deadline_with_the_last_report() {
    let world = healthy();
    patch(&world, "nodes", NODE, &json!({"metadata": {"labels": {KEY: "retail-set-2-a"}}}));
    let run = world.run(&["verify", "--watch", "--poll-interval", "0.01", "--timeout", "1"]).ended(4);
    assert!(run.stdout.contains("node-uses-other-eniconfig"), "{run:#?}");
}

#[test]
fn pods_that_may_not_be_listed_are_no_proof() {
    let world = healthy();
    world.bench.faults(&json!([{"service": "kube", "action": "list pods", "kind": "deny"}]));
    first_says(&world, &["error[evidence-unread] list pods"]);
    world.run(&["verify"]).ended(4).says("Cannot tell");
}

#[test]
fn explain_shows_a_node_of_the_live_cluster() {
    let world = healthy();
    world.run(&["explain", NODE]).ended(0).says("retail-set-1-a").says("eni-").says("default/apps-");
}
