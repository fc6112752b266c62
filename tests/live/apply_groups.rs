//! Node groups through apply: one after the other, each proved before the next.

use serde_json::{Value, json};

use crate::apply::World;
use crate::bench::{fixture, fixture_config};

fn updated(world: &World) -> Vec<String> {
    let calls = world.mutating().into_iter().filter(|call| call["action"] == "UpdateNodegroupVersion");
    calls.map(|call| call["params"]["nodegroupName"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_group_whose_new_nodes_are_not_as_planned_is_the_last() {
    let world = World::of("two-sets");
    let wrong = json!({ "apps": { "*": { "k8s.amazonaws.com/eniConfig": "retail-set-2-a" } } });
    world.bench.settings(&json!({ "node_labels": wrong }));
    world
        .apply(&["--roll"])
        .ended(1)
        .says("new nodes of apps are not as planned")
        .says("uses ENIConfig `retail-set-2-a`, not retail-set-1-b")
        .says("aws ec2 get-console-output")
        .says("node group jobs moves from version 1 to the version that this run makes for jobs, 3 nodes replaced: not started");
    assert_eq!(updated(&world), ["apps"]);
    // Nor does another run go past them.
    world.bench.forget_calls();
    world
        .apply(&["--roll"])
        .ended(3)
        .says("node group jobs: is not moved, since nodes of a group that was moved before it are not as planned")
        .says("uses ENIConfig `retail-set-2-a`, not retail-set-1-b");
    assert_eq!(updated(&world), Vec::<String>::new());
    // The cause is removed, and the nodes are replaced.
    world.bench.settings(&json!({ "node_labels": {} }));
    world.apply(&["--rollback", "--node-group", "apps"]).ended(0);
    world.bench.forget_calls();
    world.apply(&["--roll"]).ended(0);
    assert_eq!(updated(&world), ["apps", "jobs", "search"]);
}

#[test]
fn new_nodes_that_look_for_an_eni_config_that_is_nowhere_stop_the_run() {
    let world = World::of("two-sets");
    let lost = json!({ "apps": { "*": { "k8s.amazonaws.com/eniConfig": "eniplan-no-match" } } });
    world.bench.settings(&json!({ "node_labels": lost }));
    world
        .apply(&["--roll"])
        .ended(1)
        .says("looks for ENIConfig `eniplan-no-match`, which does not exist")
        .says("3 done, 1 failed, 2 not started");
}

#[test]
fn a_refusal_stops_before_the_next_group_and_the_next_run_does_the_rest() {
    let world = World::of("two-sets");
    world.bench.faults(&json!([{ "action": "UpdateNodegroupVersion", "ordinal": 2, "kind": "deny" }]));
    world
        .apply(&["--roll"])
        .ended(1)
        .says("eks:UpdateNodegroupVersion of node group jobs was refused (AccessDeniedException)")
        .says("eniplan iam-policy --for apply")
        .says("4 done, 1 failed, 1 not started");
    assert_eq!(updated(&world), ["apps", "jobs"]);
    world.bench.faults(&json!([]));
    world.bench.forget_calls();
    world.apply(&["--roll"]).ended(0).says("2 done, 0 failed, 0 not started");
    assert_eq!(updated(&world), ["jobs", "search"]);
}

#[test]
fn throttling_that_ends_is_waited_out_and_throttling_that_does_not_is_given_up() {
    let world = World::of("two-sets");
    let throttle =
        |times: u32| json!([{ "action": "CreateLaunchTemplateVersion", "times": times, "kind": "throttle" }]);
    world.bench.faults(&throttle(1_000));
    world.apply(&["--node-group", "apps"]).ended(1).says("AWS is throttling this account");
    let sent = world.mutating().iter().filter(|call| call["action"] == "CreateLaunchTemplateVersion").count();
    assert!((2..=6).contains(&sent), "{sent} attempts");
    world.bench.faults(&throttle(2));
    world.apply(&["--node-group", "apps"]).ended(0);
    let latest = world.end_state()["launch_templates"]["retail-apps"]["latest"].clone();
    assert_eq!(latest, 2);
}

#[test]
fn credentials_that_expire_before_a_group_moves_end_with_what_was_done() {
    let world = World::of("two-sets");
    world.bench.faults(&json!([{ "action": "UpdateNodegroupVersion", "ordinal": 2, "kind": "expired" }]));
    world
        .apply(&["--roll"])
        .ended(1)
        .says("the AWS credentials expired during eks:UpdateNodegroupVersion of node group jobs")
        .says("log in again, then run the same command again")
        .says("4 done, 1 failed, 1 not started");
    world.bench.faults(&json!([]));
    world.bench.forget_calls();
    world.apply(&["--roll"]).ended(0);
    assert_eq!(updated(&world), ["jobs", "search"]);
}

/// A group that is described fully is made; of another the command is printed that makes it.
#[test]
fn a_group_that_is_not_described_fully_is_made_by_a_command() {
    let wish = fixture_config("new-cluster");
    let wish = wish.replacen("      nodeRole: arn:aws:iam::111122223333:role/greenfield-node\n", "", 1);
    let world = World::with(&fixture("new-cluster"), &wish);
    world
        .apply(&["--roll"])
        .ended(0)
        .says("aws eks create-nodegroup --cli-input-json file://node-groups/blue/create-nodegroup.json");
    let made: Vec<Value> = world.mutating().into_iter().filter(|call| call["action"] == "CreateNodegroup").collect();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0]["params"]["nodegroupName"], "green");
}

/// What a launch template of eniplan's own is like.
#[test]
fn a_template_of_our_own_is_named_tagged_and_safe() {
    let world = World::of("new-cluster");
    world.apply(&["--node-group", "blue"]).ended(0);
    let made: Vec<Value> =
        world.mutating().into_iter().filter(|call| call["action"] == "CreateLaunchTemplate").collect();
    assert_eq!(made.len(), 1);
    let parameters = &made[0]["params"];
    assert_eq!(parameters["LaunchTemplateName"], "eniplan-greenfield-blue");
    let description = parameters["VersionDescription"].as_str().unwrap();
    let words: Vec<&str> = description.split(' ').collect();
    assert!(matches!(words.as_slice(), ["eniplan", "blue", hash] if hash.len() == 12), "{description}");
    let tags = json!([{ "ResourceType": "launch-template", "Tags": [
        { "Key": "eniplan.dev/cluster", "Value": "greenfield" }, { "Key": "eniplan.dev/node-group", "Value": "blue" },
    ] }]);
    assert_eq!(parameters["TagSpecifications"], tags);
    let data = &parameters["LaunchTemplateData"];
    let fields: std::collections::BTreeSet<&str> = data.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["MetadataOptions", "UserData"].into());
    assert_eq!(data["MetadataOptions"]["HttpTokens"], "required");
    assert_eq!(data["MetadataOptions"]["HttpPutResponseHopLimit"], 2);
}
