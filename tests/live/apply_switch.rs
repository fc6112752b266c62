//! Custom networking is off on a cluster with twelve nodes in three groups, one of them without a launch template.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::apply::World;
use crate::bench::{fixture, fixture_config};

fn node_names() -> Vec<String> {
    let inventory = fixture("off-with-nodes");
    let nodes = inventory["nodes"].as_array().unwrap();
    nodes.iter().map(|node| node["name"].as_str().unwrap().to_owned()).collect()
}

/// A label of its own, which no node carries yet.
fn own_label() -> String {
    fixture_config("off-with-nodes").replace("spec:\n", "spec:\n  label: {design: own}\n")
}

fn is_on(world: &World) -> bool {
    world.end_state()["env"]["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"] == "true"
}

/// Does what a command of a message says.
fn follow(world: &World, command: &str, code: i32) {
    let words: Vec<&str> = command.split(' ').collect();
    match words.as_slice() {
        ["eniplan", "apply", flags @ ..] => {
            world.apply(flags).ended(code);
        }
        // The bench evicts nobody: the nodes go with their group.
        ["kubectl", "drain", "-l", group, ..] => assert_eq!(*group, "eks.amazonaws.com/nodegroup=web"),
        ["aws", "eks", "delete-nodegroup", "--cluster-name", cluster, "--nodegroup-name", group] => {
            world.aws("eks", "delete_nodegroup", &json!({ "clusterName": cluster, "nodegroupName": group }));
        }
        _ => panic!("{command}"),
    }
}

#[test]
fn the_switch_is_refused_by_name_and_done_right_by_the_steps_of_the_message() {
    let world = World::with(&fixture("off-with-nodes"), &own_label());
    let mut refused = world.apply(&[]).ended(3);
    assert!(!world.changing_calls().contains(&"eks UpdateAddon".to_owned()));
    assert!(!is_on(&world));
    let names = node_names();
    assert_eq!(names.len(), 12);
    for name in &names {
        refused = refused.says(&format!("node {name} (looks for `default`)"));
    }
    refused = refused.says("new nodes of group web (its launch template sets no label k8s.amazonaws.com/eniConfig)");

    let lines = refused.stderr.lines().map(str::trim);
    let steps = lines.skip_while(|line| !line.starts_with("or give every node its label"));
    let steps: Vec<&str> = steps.take_while(|line| !line.starts_with("or replace the nodes")).collect();
    let commands: Vec<&str> = steps
        .into_iter()
        .filter(|line| ["eniplan ", "kubectl ", "aws "].iter().any(|program| line.starts_with(program)))
        .collect();
    assert_eq!(commands.len(), 4, "{}", refused.stderr);
    for command in &commands[..3] {
        follow(&world, command, 0);
    }
    assert!(!is_on(&world));
    world.bench.forget_calls();
    follow(&world, commands[3], 0);
    assert!(is_on(&world));
    versions_say_the_same(&world, &["api", "batch", "web-2"]);

    let nodes = world.nodes_by_eni_config();
    assert_eq!(nodes.values().map(Vec::len).sum::<usize>(), 12);
    let expected = ["growing-pods-batch-a", "growing-pods-batch-b", "us-west-2a", "us-west-2b"];
    assert_eq!(nodes.keys().map(String::as_str).collect::<BTreeSet<_>>(), expected.into());
    world.bench.forget_calls();
    world.apply(&["--roll"]).ended(0);
    assert_eq!(world.changing_calls(), Vec::<String>::new());
}

/// Versions were made for these groups and no other; each says what its source says.
fn versions_say_the_same(world: &World, groups: &[&str]) {
    let calls = world.mutating();
    let made: Vec<&Value> = calls.iter().filter(|call| call["action"] == "CreateLaunchTemplateVersion").collect();
    let state = world.bench.control("GET", "state", &Value::Null);
    let mut found = BTreeSet::new();
    for call in made {
        let parameters = &call["params"];
        let description = parameters["VersionDescription"].as_str().unwrap();
        found.insert(description.split(' ').nth(1).unwrap().to_owned());
        let id = parameters["LaunchTemplateId"].as_str().unwrap();
        let source = &state["regions"]["us-west-2"]["launch_templates"][id]["versions"]
            [parameters["SourceVersion"].as_str().unwrap()];
        let sent = &parameters["LaunchTemplateData"];
        assert_eq!(sent["UserData"], source["LaunchTemplateData"]["UserData"], "{source:#}");
        assert_eq!(sent.as_object().unwrap().len(), 1, "{sent:#}");
    }
    assert_eq!(found, groups.iter().map(|&name| name.to_owned()).collect());
}

#[test]
fn without_a_label_of_its_own_nobody_is_stranded() {
    let world = World::with(&fixture("off-with-nodes"), &own_label());
    world.apply(&[]).ended(3).says("leave spec.label out of eniplan.yaml");
    world.wish(&fixture_config("off-with-nodes"));
    world
        .apply(&["--roll"])
        .ended(0)
        .says("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG: false → true")
        .says("then `aws eks delete-nodegroup --cluster-name growing --nodegroup-name web`");
    follow(&world, "aws eks delete-nodegroup --cluster-name growing --nodegroup-name web", 0);
    assert_eq!(world.nodes_by_eni_config().values().map(Vec::len).sum::<usize>(), 12);
}

#[test]
fn stranded_nodes_can_be_accepted_and_are_replaced() {
    let world = World::with(&fixture("off-with-nodes"), &own_label());
    world.apply(&["--accept-moves", "--roll"]).ended(0);
    assert!(is_on(&world));
    follow(&world, "aws eks delete-nodegroup --cluster-name growing --nodegroup-name web", 0);
    assert_eq!(world.nodes_by_eni_config().values().map(Vec::len).sum::<usize>(), 12);
}

/// The program is killed after the switch and before the groups move to the versions that replace their nodes.
#[test]
fn nodes_are_replaced_by_the_next_run_when_the_first_got_as_far_as_the_switch() {
    let world = World::of("off-with-nodes");
    world.apply(&["--only", "eniconfigs,launch-templates,node-groups", "--roll"]).ended(0);
    world.bench.faults(&json!([{ "action": "UpdateAddon", "kind": "withhold_after" }]));
    let mut run = world.start_apply(&["--roll"]);
    world.bench.control("GET", "held?at_least=1&timeout=60", &Value::Null);
    run.kill().unwrap();
    run.wait().unwrap();
    world.bench.faults(&json!([]));
    world.let_the_lock_run_out();
    assert!(is_on(&world));
    world.bench.forget_calls();
    world.apply(&["--roll"]).ended(0);
    let calls = world.changing_calls();
    assert!(!calls.contains(&"ec2 CreateLaunchTemplateVersion".to_owned()), "{calls:?}");
    assert_eq!(calls.iter().filter(|call| *call == "eks UpdateNodegroupVersion").count(), 3, "{calls:?}");
    follow(&world, "aws eks delete-nodegroup --cluster-name growing --nodegroup-name web", 0);
    assert_eq!(world.nodes_by_eni_config().values().map(Vec::len).sum::<usize>(), 12);
}
