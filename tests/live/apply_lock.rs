//! The Lease that keeps two applies apart.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use eniplan::config::Config;
use eniplan::diff::{DiffOptions, diff};
use eniplan::inventory::AlsoRead;
use eniplan::live::{ApplyOptions, CollectOptions, Timing, apply};
use eniplan::plan::plan;
use eniplan::render::render;
use serde_json::{Value, json};

use crate::apply::{Run, World};

const REQUEST: &str = "ENIPLAN_TEST_APPLY";
const RENEW: Duration = Duration::from_millis(5);

/// Starts an apply that renews its lock often, in a process of its own.
fn start(world: &World, cluster: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let environment = world.command(&[]);
    let environment = environment.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command
        .args(["--exact", "apply_lock::applies_what_its_parent_asks_for", "--nocapture"])
        .env_clear()
        .envs(environment)
        .env(REQUEST, json!({ "cluster": cluster, "config": world.path("eniplan.yaml") }).to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The other half of [`start`]; without a request there is nothing to apply.
#[test]
fn applies_what_its_parent_asks_for() {
    let Ok(request) = std::env::var(REQUEST) else { return };
    let request: Value = serde_json::from_str(&request).unwrap();
    let text = std::fs::read_to_string(request["config"].as_str().unwrap()).unwrap();
    let config = Config::from_yaml(&text, "eniplan.yaml").unwrap();
    let options = ApplyOptions {
        collect: CollectOptions {
            also: AlsoRead::named_in(&config),
            timing: Timing { first_pause: Duration::from_millis(1), ..Timing::default() },
            ..CollectOptions::new(request["cluster"].as_str().unwrap())
        },
        poll: Duration::from_millis(1),
        longest_wait: Duration::from_secs(60),
        renew_lock: RENEW,
        dry_run: false,
    };
    let decide = |inventory: &_| {
        let planned = plan(inventory, &config).plan;
        let rendered = render(&planned, inventory)?;
        let wanted = DiffOptions { roll: true, ..DiffOptions::default() };
        Ok(diff(inventory, &config, &planned, &rendered, &wanted).diff)
    };
    let applied = apply(&options, decide, &|_, _, _| Ok(Vec::new()), |_| {}).unwrap();
    println!("done: {}", applied.done.len());
    println!("failed: {:?}", applied.failed.map(|failed| failed.error.to_string()));
    println!("stopped: {:?}", applied.stopped.map(|error| error.to_string()));
}

fn lease(world: &World) -> Value {
    world.objects("leases.coordination.k8s.io").into_iter().next().unwrap_or_default()
}

fn put_lease(world: &World, holder: &str, renewed: &str, transitions: u32) {
    world.bench.control(
        "POST",
        "objects",
        &json!([{
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": { "name": "eniplan", "namespace": "kube-system" },
            "spec": {
                "holderIdentity": holder, "leaseDurationSeconds": 30, "acquireTime": renewed, "renewTime": renewed,
                "leaseTransitions": transitions,
            },
        }]),
    );
}

/// An apply whose first change after the lock is held.
fn held_at_its_first_change(world: &World) -> Child {
    let rule = json!([{ "action": "patch eniconfigs", "ordinal": 1, "kind": "withhold_before" }]);
    world.bench.faults(&rule);
    let run = start(world, "eksworkshop-eksctl");
    world.bench.control("GET", "held?at_least=1&timeout=60", &Value::Null);
    run
}

/// Waits until so many more of these calls are made.
fn wait_for(world: &World, action: &str, more: usize) {
    let count = || world.bench.calls().iter().filter(|call| call["action"] == action).count();
    let wanted = count() + more;
    while count() < wanted {
        std::thread::yield_now();
    }
}

#[test]
fn a_second_run_is_refused_and_names_the_holder() {
    let world = World::of("quickstart");
    world.bench.faults(&json!([{ "mutating": true, "ordinal": 2, "kind": "withhold_before" }]));
    let first = world.start_apply(&["--roll"]);
    world.bench.control("GET", "held?at_least=1&timeout=30", &Value::Null);
    world.apply(&["--roll"]).ended(1).says("another apply is under way").says(&format!("process {}", first.id()));
    world.bench.control("POST", "release", &Value::Null);
    let first = first.wait_with_output().unwrap();
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
}

#[test]
fn the_lock_is_renewed_while_a_long_change_runs() {
    let world = World::of("quickstart");
    let run = held_at_its_first_change(&world);
    let first = lease(&world);
    wait_for(&world, "update leases", 5);
    let later = lease(&world);
    let spec = |lease: &Value, field: &str| lease["spec"][field].as_str().unwrap().to_owned();
    assert!(spec(&later, "renewTime") > spec(&first, "renewTime"), "{first:#} {later:#}");
    for field in ["holderIdentity", "acquireTime"] {
        assert_eq!(spec(&later, field), spec(&first, field));
    }
    assert_eq!(later["spec"]["leaseTransitions"], first["spec"]["leaseTransitions"]);
    assert_eq!(later["spec"]["leaseDurationSeconds"], 30);
    world.bench.control("POST", "release", &Value::Null);
    let ended = Run::from(run.wait_with_output().unwrap()).ended(0);
    assert!(ended.stdout.contains("failed: None\nstopped: None"), "{ended:#?}");
    assert_eq!(lease(&world), Value::Null);
}

#[test]
fn a_run_whose_lock_is_taken_stops_before_its_next_change() {
    let world = World::of("quickstart");
    let run = held_at_its_first_change(&world);
    put_lease(&world, "somebody else", "2999-01-01T00:00:00.000000Z", 7);
    wait_for(&world, "get leases", 3);
    world.bench.control("POST", "release", &Value::Null);
    let ended = Run::from(run.wait_with_output().unwrap()).ended(0);
    assert!(ended.stdout.contains("done: 1\n"), "{ended:#?}");
    assert!(ended.stdout.contains("was lost to somebody else"), "{ended:#?}");
    // What is not ours any more is not given up either.
    assert_eq!(lease(&world)["spec"]["holderIdentity"], "somebody else");
}

#[test]
fn a_lock_that_has_run_out_is_taken_over_and_one_that_has_not_is_respected() {
    let world = World::of("quickstart");
    put_lease(&world, "somebody else", "2999-01-01T00:00:00.000000Z", 7);
    world.apply(&["--roll"]).ended(1).says("somebody else holds the Lease eniplan in kube-system since 2999-01-01");
    assert_eq!(world.changing_calls(), Vec::<String>::new());
    put_lease(&world, "somebody else", "2020-01-01T00:00:00.000000Z", 7);
    world.apply(&["--roll"]).ended(0);
    let taken = world.mutating().into_iter().find(|call| call["action"] == "update leases").unwrap();
    let spec = &taken["params"]["body"]["spec"];
    assert_eq!(spec["leaseTransitions"], 8);
    assert!(spec["holderIdentity"].as_str().unwrap().contains("process "), "{spec:#}");
    assert_eq!(spec["acquireTime"], spec["renewTime"]);
    assert_eq!(lease(&world), Value::Null);
}
