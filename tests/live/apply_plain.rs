//! Applies that nothing disturbs.

use serde_json::{Value, json};

use crate::apply::World;
use crate::bench::fixtures;

/// Clusters that the product refuses.
const REFUSED: [&str; 4] = ["auto-mode", "creating", "ipv6", "partial"];

#[test]
fn a_second_apply_changes_nothing() {
    for name in fixtures() {
        let world = World::of(&name);
        if REFUSED.contains(&name.as_str()) {
            world.apply(&["--roll"]).ended(4);
            assert_eq!(world.changing_calls(), Vec::<String>::new(), "{name}");
            continue;
        }
        world.apply(&["--roll"]).ended(0);
        world.bench.forget_calls();
        world.apply(&["--roll"]).ended(0);
        assert_eq!(world.changing_calls(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn nobody_to_ask_and_no_yes_is_a_refusal() {
    let world = World::of("quickstart");
    world.run(&["apply", "--roll"]).ended(1).says("standard input is no terminal").says("pass --yes");
    assert_eq!(world.changing_calls(), Vec::<String>::new());
}

#[test]
fn adopting_sends_the_user_data_and_nothing_else() {
    let world = World::of("two-sets");
    world.apply(&["--roll"]).ended(0);
    let versions: Vec<Value> =
        world.mutating().into_iter().filter(|call| call["action"] == "CreateLaunchTemplateVersion").collect();
    assert_eq!(versions.len(), 3);
    for call in versions {
        let sent: Vec<&String> = call["params"]["LaunchTemplateData"].as_object().unwrap().keys().collect();
        assert!(sent == ["UserData"] || sent == ["BlockDeviceMappings", "UserData"], "{sent:?}");
        assert_eq!(call["params"]["SourceVersion"], "1");
        assert!(call["params"]["VersionDescription"].as_str().unwrap().starts_with("eniplan "));
    }
}

#[test]
fn a_group_moves_forth_and_back_again() {
    let world = World::of("two-sets");
    world.apply(&["--roll", "--node-group", "apps"]).ended(0);
    let calls = world.changing_calls();
    assert_eq!(calls.iter().filter(|call| *call == "eks UpdateNodegroupVersion").count(), 1, "{calls:?}");
    world.apply(&["--rollback", "--node-group", "apps"]).ended(0).says("moves from version 2 to 1");
    world.bench.forget_calls();
    world.apply(&["--roll", "--node-group", "apps"]).ended(0);
    // The version that was made first is used again.
    assert!(!world.changing_calls().contains(&"ec2 CreateLaunchTemplateVersion".to_owned()));
    world.apply(&["--rollback", "--node-group", "apps"]).ended(0).says("moves from version 2 to 1");
}

#[test]
fn a_saved_diff_is_applied_once() {
    let world = World::of("quickstart");
    world.run(&["diff", "--roll", "--out", "change.json"]).ended(3);
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(world.path("change.json")).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(world.changing_calls(), Vec::<String>::new());
    world.apply(&["--diff", "change.json"]).ended(0);
    world.bench.forget_calls();
    world.apply(&["--diff", "change.json"]).ended(1).says("no longer as the saved diff found it").says("there already");
    assert_eq!(world.changing_calls(), Vec::<String>::new());
}

#[test]
fn a_dry_run_changes_nothing_and_says_what_is_not_proved() {
    let world = World::of("quickstart");
    let before = world.end_state();
    world
        .apply(&["--roll", "--dry-run"])
        .ended(3)
        .says("dry run accepted")
        .says("not proved: EKS has no dry run")
        .says(" not proved, 0 failed, 0 not started");
    assert!(world.mutating().iter().all(|call| call["dry_run"] == true));
    assert_eq!(world.end_state(), before);
}

#[test]
fn an_interrupt_finishes_the_call_in_flight_and_gives_the_lock_back() {
    let world = World::of("quickstart");
    world.bench.faults(&json!([{ "mutating": true, "ordinal": 2, "kind": "withhold_before" }]));
    let run = world.start_apply(&["--roll"]);
    world.bench.control("GET", "held?at_least=1&timeout=30", &Value::Null);
    assert!(std::process::Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    // The program must have taken the signal before the call goes on.
    while std::fs::read_to_string(format!("/proc/{}/status", run.id()))
        .unwrap()
        .lines()
        .any(|line| line.starts_with("ShdPnd:") && !line.ends_with("0000000000000000"))
    {
        std::thread::yield_now();
    }
    world.bench.control("POST", "release", &Value::Null);
    let output = run.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    let calls = world.changing_calls();
    assert_eq!(calls, ["kube create leases", "kube patch eniconfigs", "kube delete leases"], "{said}");
    world.bench.faults(&json!([]));
    world.apply(&["--roll"]).ended(0);
}

#[test]
fn a_failed_update_is_shown_in_eks_own_words_and_stops_the_run() {
    let world = World::of("two-sets");
    world.bench.settings(&json!({ "update_errors": { "jobs": [
        { "errorCode": "NodeCreationFailure", "errorMessage": "Couldn't proceed with upgrade process", "resourceIds": ["i-1"] }
    ] } }));
    world
        .apply(&["--roll"])
        .ended(1)
        .says("NodeCreationFailure: Couldn't proceed with upgrade process (i-1)")
        .says("4 done, 1 failed, 1 not started");
    world.bench.settings(&json!({ "update_errors": {} }));
    world.bench.forget_calls();
    world.apply(&["--roll"]).ended(0);
    let calls = world.changing_calls();
    assert_eq!(calls.iter().filter(|call| *call == "eks UpdateNodegroupVersion").count(), 2, "{calls:?}");
}

#[test]
fn credentials_that_expire_on_the_way_say_what_goes_on() {
    let world = World::of("quickstart");
    world.bench.settings(&json!({ "polls": 2 }));
    world.bench.faults(&json!([{ "service": "eks", "action": "DescribeUpdate", "kind": "expired" }]));
    world
        .apply(&["--roll"])
        .ended(1)
        .says("the AWS credentials expired during eks:DescribeUpdate")
        .says("the update of node group batch goes on at AWS")
        .says("4 done, 1 failed");
    world.bench.faults(&json!([]));
    world.bench.forget_calls();
    world.apply(&["--roll"]).ended(0);
    assert!(!world.changing_calls().contains(&"eks UpdateNodegroupVersion".to_owned()));
}

#[test]
fn an_encoded_refusal_is_explained_and_not_printed() {
    let world = World::of("quickstart");
    world.bench.faults(&json!([{
        "service": "eks", "action": "UpdateNodegroupVersion", "kind": "deny",
        "message": "You are not authorized to launch instances with this launch template. Encoded authorization failure message: Zm9vYmFy",
    }]));
    let run = world
        .apply(&["--roll"])
        .ended(1)
        .says("ec2:RunInstances")
        .says("iam:PassRole")
        .says("decode-authorization-message");
    assert!(!run.stderr.contains("Zm9vYmFy"));
}

#[test]
fn a_value_that_does_not_arrive_stops_the_run() {
    let world = World::of("off-with-nodes");
    world.bench.settings(&json!({ "addon_env_lost": ["ENI_CONFIG_LABEL_DEF"] }));
    world
        .apply(&["--roll"])
        .ended(1)
        .says("aws-node does not have ENI_CONFIG_LABEL_DEF=topology.kubernetes.io/zone")
        .says("--take-over");
    world.bench.settings(&json!({ "addon_env_lost": [] }));
    world.apply(&["--roll", "--take-over"]).ended(0);
}
