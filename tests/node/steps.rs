//! What the script costs, and what it leaves when it is killed half way.

use std::fs;
use std::process::Command;

use eniplan::plan::{NO_MATCH, NodeGroupPlan};
use eniplan::render::boot_script::al2023_shell_part;
use serde_json::json;

use crate::boot::node_config;
use crate::images;
use crate::imds::{Imds, answers};
use crate::machine::{Machine, Run};
use crate::plans;

const INSTANCE_ID: &str = "i-0123456789abcdef0";

/// Runs a script under strace and returns its report too.
fn trace(machine: &Machine, script: &str, options: &[&str]) -> (Run, String) {
    let report = machine.path().join("trace");
    let mut strace = Command::new("strace");
    strace.args(["-qq", "-o"]).arg(&report).args(options).arg(machine.save(script));
    let run = machine.finish(strace);
    (run, fs::read_to_string(report).expect("strace wrote"))
}

/// Processes of a successful run, the script itself included, and its requests.
pub(crate) fn cost(name: &str, script: &str, cidr: &str, image: impl Fn(Machine) -> Machine) -> (usize, usize) {
    let imds = Imds::serve(name, &answers(cidr, INSTANCE_ID), &json!([]));
    let machine = image(Machine::new(&imds.url));
    let (run, report) = trace(&machine, script, &["-f", "-e", "trace=clone,clone3,fork,vfork"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let children = report
        .lines()
        .filter(|line| !line.contains("CLONE_THREAD") && !line.contains("<unfinished") && !line.contains(" = -1"))
        .filter(|line| line.contains("clone") || line.contains("fork"))
        .count();
    assert!(children > 0, "{report}");
    (children + 1, imds.requests().len())
}

type Image = fn(Machine) -> Machine;

fn al2023_cost(name: &str, group: &NodeGroupPlan, image: Image) -> (usize, usize) {
    let cidr = group.assignments.last().expect("a row").cidr.to_string();
    cost(name, &al2023_shell_part(group).expect("the plan renders"), &cidr, image)
}

#[test]
fn a_match_costs_at_most_twelve_processes_and_four_requests() {
    let hashed = plans::with_max_pods(29, plans::hashed());
    let (current, old): (Image, Image) = (Machine::current_image, Machine::old_image);
    for (name, group, image, processes, requests) in [
        ("cost-pinned", plans::article(), current, 6, 3),
        ("cost-hashed", hashed.clone(), current, 8, 4),
        ("cost-decide", plans::decides_at_boot(hashed.clone()), current, 9, 4),
        ("cost-old", plans::decides_at_boot(hashed), old, 12, 4),
        ("cost-max-pods", plans::only_max_pods(plans::article()), current, 2, 0),
    ] {
        assert_eq!(al2023_cost(name, &group, image), (processes, requests), "{name}");
    }
}

#[test]
fn forty_rows_cost_what_three_do() {
    let cost = |name, rows| al2023_cost(name, &plans::wide(rows), Machine::current_image);
    assert_eq!(cost("cost-3", 3), cost("cost-40", 40));
}

/// System calls that bash makes on its way; it is killed as it enters the n-th of each.
const CALLS: [&str; 9] = ["execve", "openat", "read", "write", "close", "dup2", "clone", "wait4", "exit_group"];

/// Runs the script again and again, killed one step later each time, and shows `look` what each run leaves. The last run
/// of each system call is not killed any more.
pub(crate) fn kill_at_every_step(machine: impl Fn() -> Machine, script: &str, mut look: impl FnMut(&str, &Machine)) {
    for call in CALLS {
        for step in 1.. {
            let machine = machine();
            let kill = format!("inject={call}:signal=KILL:when={step}");
            let (run, report) = trace(&machine, script, &["-e", &format!("trace={call}"), "-e", &kill]);
            look(&format!("{call} {step}"), &machine);
            if !report.contains("+++ killed by SIGKILL +++") {
                assert_eq!(run.code, Some(0), "{call} {step}: {}", run.stderr);
                break;
            }
        }
    }
}

#[test]
fn killed_at_any_step_the_script_leaves_the_fail_label_or_the_right_one() {
    let script = al2023_shell_part(&plans::with_max_pods(29, plans::hashed())).expect("the plan renders");
    let imds = Imds::serve("killed", &answers("10.0.32.0/20", INSTANCE_ID), &json!([]));
    let (failed, right) = (node_config(NO_MATCH, Some(29)), node_config("pod-c-1", Some(29)));
    let (mut absent, mut closed, mut done) = (0, 0, 0);
    kill_at_every_step(
        || Machine::new(&imds.url).current_image(),
        &script,
        |step, machine| match machine.drop_in() {
            None => absent += 1,
            Some(left) if left == failed => closed += 1,
            Some(left) if left == right => done += 1,
            other => panic!("killed at {step}, the script left {other:?}"),
        },
    );
    assert!(absent > 20 && closed > 30 && done >= CALLS.len(), "{absent} absent, {closed} closed, {done} done");
}

#[test]
fn killed_at_any_step_on_an_older_image_too() {
    let script = al2023_shell_part(&plans::decides_at_boot(plans::article())).expect("the plan renders");
    let imds = Imds::serve("killed-old", &answers("172.31.16.0/20", INSTANCE_ID), &json!([]));
    let (mut absent, mut closed, mut done) = (0, 0, 0);
    kill_at_every_step(
        || Machine::new(&imds.url).old_image(),
        &script,
        |step, machine| {
            let Some(unit) = machine.kubelet_unit() else {
                absent += 1;
                return;
            };
            match images::kubelet_arguments(&unit).as_slice() {
                [label] if label.ends_with(&format!("={NO_MATCH}")) => closed += 1,
                [label] if label.ends_with("=pod-1a-subnet-3") => done += 1,
                other => panic!("killed at {step}, the script left {other:?}"),
            }
        },
    );
    assert!(absent > 20 && closed > 30 && done >= CALLS.len(), "{absent} absent, {closed} closed, {done} done");
}
