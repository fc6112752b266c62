//! Whatever happens to whichever call: the next run brings the cluster to where an undisturbed run brings it.

use serde_json::{Value, json};

use crate::apply::{Run, World};
use crate::bench::{fixture, fixture_config};

/// What can happen to a call. The last two kill the program while its answer is withheld.
const FAULTS: [&str; 7] = ["throttle", "error", "cut_before", "cut_after", "deny", "withhold_before", "withhold_after"];

/// Disturbs every changing call in every way, each in a world put back to its beginning.
fn converges(world: &World, flags: &[&str], expected_kinds: &[&str]) {
    world.bench.control("POST", "snapshot?name=start", &Value::Null);
    world.apply(flags).ended(0);
    let calls = world.changing_calls();
    for kind in expected_kinds {
        assert!(calls.iter().any(|call| call == kind), "no {kind} among {calls:#?}");
    }
    let expected = world.end_state();
    let mut cases = 0;
    for number in 1..=calls.len() {
        for fault in FAULTS {
            world.bench.control("POST", "restore?name=start", &Value::Null);
            let call = &calls[number - 1];
            let (service, action) = call.split_once(' ').unwrap();
            let ordinal = calls[..number].iter().filter(|other| *other == call).count();
            let rule = json!([{ "service": service, "action": action, "ordinal": ordinal, "kind": fault }]);
            world.bench.faults(&rule);
            let what = format!("{fault} of call {number}, {call}");
            if fault.starts_with("withhold") {
                let mut child = world.start_apply(flags);
                let held = world.bench.control("GET", "held?at_least=1&timeout=60", &Value::Null);
                child.kill().unwrap();
                let ended = Run::from(child.wait_with_output().unwrap());
                assert_eq!(held.as_array().map(Vec::len), Some(1), "{what}: {ended:#?}");
            } else {
                world.apply(flags);
            }
            world.bench.faults(&json!([]));
            world.let_the_lock_run_out();
            let again = world.apply(flags);
            assert_eq!(again.code, Some(0), "{what}: {again:#?}");
            let found = world.end_state();
            let lines = |value: &Value| serde_json::to_string_pretty(value).unwrap();
            assert!(found == expected, "{what}\n{}", difference(&lines(&expected), &lines(&found)));
            cases += 1;
        }
    }
    println!("{cases} cases: {} calls, {} faults", calls.len(), FAULTS.len());
    assert_eq!(cases, calls.len() * FAULTS.len());
}

fn difference(expected: &str, found: &str) -> String {
    let changed: Vec<String> = expected
        .lines()
        .zip(found.lines())
        .filter(|(expected, found)| expected != found)
        .take(20)
        .map(|(expected, found)| format!("- {expected}\n+ {found}"))
        .collect();
    changed.join("\n")
}

#[test]
fn an_add_on_a_successor_and_two_adopted_templates() {
    let world = World::with(&with_one_node_a_group(fixture("off-with-nodes")), &fixture_config("off-with-nodes"));
    converges(
        &world,
        &["--roll", "--set-default"],
        &[
            "kube patch eniconfigs",
            "ec2 CreateLaunchTemplate",
            "ec2 CreateLaunchTemplateVersion",
            "ec2 ModifyLaunchTemplate",
            "eks UpdateAddon",
            "eks UpdateNodegroupVersion",
            "eks CreateNodegroup",
        ],
    );
}

#[test]
fn a_cluster_without_a_cni() {
    let config = fixture_config("new-cluster").replace("desired: 3", "desired: 1").replace("min: 3", "min: 1");
    converges(&World::with(&fixture("new-cluster"), &config), &["--roll"], &["eks CreateAddon", "eks CreateNodegroup"]);
}

/// A switch of the label key on the DaemonSet itself, with labels for the nodes, an ENIConfig to change, one to delete
/// and versions to delete.
#[test]
fn a_daemon_set_labels_and_pruning() {
    let (inventory, config) = key_change();
    let world = World::with(&with_one_node_a_group(inventory), &fixture_config("hash"));
    // So that EKS remembers from which version the groups came.
    world.apply(&["--roll"]).ended(0);
    world.wish(&config);
    world.bench.forget_calls();
    converges(
        &world,
        &["--label-nodes", "--roll", "--prune", "--prune-versions", "1", "--take-over"],
        &[
            "kube patch nodes",
            "kube patch daemonsets",
            "kube delete eniconfigs",
            "ec2 DeleteLaunchTemplateVersions",
            "ec2 CreateLaunchTemplateVersion",
        ],
    );
}

/// Fewer nodes boot faster, and show the same.
fn with_one_node_a_group(mut inventory: Value) -> Value {
    for group in inventory["node_groups"].as_array_mut().unwrap() {
        group["scaling_config"] = json!({ "min_size": 0, "max_size": 2, "desired_size": 1 });
    }
    let mut seen = std::collections::BTreeSet::new();
    let nodes = inventory["nodes"].as_array_mut().unwrap();
    nodes.retain(|node| seen.insert(node["labels"]["eks.amazonaws.com/nodegroup"].to_string()));
    inventory
}

pub(crate) fn key_change() -> (Value, String) {
    let mut inventory = fixture("hash");
    let mut spare = inventory["eni_configs"][0].clone();
    spare["name"] = "spare".into();
    spare["labels"] = json!({ "app.kubernetes.io/managed-by": "eniplan" });
    spare["uid"] = "11111111-2222-4333-8444-555555555555".into();
    inventory["eni_configs"].as_array_mut().unwrap().push(spare);
    let template = &mut inventory["launch_templates"][0];
    let in_use = template["versions"].as_array().unwrap().last().unwrap().clone();
    let latest = template["latest_version_number"].as_i64().unwrap();
    for number in latest + 1..=latest + 4 {
        let mut version = in_use.clone();
        version["version_number"] = number.into();
        version["version_description"] = format!("eniplan old {number:012}").into();
        template["versions"].as_array_mut().unwrap().push(version);
    }
    template["latest_version_number"] = (latest + 4).into();
    let config = fixture_config("hash");
    (inventory, config.replace("spec:\n", "spec:\n  label: {design: own, key: pods.example.com/eniConfig}\n"))
}
