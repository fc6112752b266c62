//! AL2 nodes: the wrapper around `bootstrap.sh`, and the one call of it.

use std::process::Command;

use eniplan::plan::{NO_MATCH, NodeGroupPlan};
use eniplan::render::boot_script::al2_shell_part;
use serde_json::json;

use crate::imds::{Imds, answers};
use crate::machine::{Machine, Run};
use crate::plans::{self, LABEL_KEY};
use crate::steps::{cost, kill_at_every_step};
use crate::tools;

const INSTANCE_ID: &str = "i-0123456789abcdef0";

/// A `bootstrap.sh` that notes each of its arguments on a line, and fails where it is told to.
const BOOTSTRAP: &str =
    "#!/bin/bash\n# The image's own.\nprintf '%s\\n' call \"$@\" >>\"$MACHINE/log\"\nexit \"${EXIT:-0}\"\n";

/// An AL2 image.
pub(crate) fn with_bootstrap(machine: Machine) -> Machine {
    machine.write_program("etc/eks/bootstrap.sh", BOOTSTRAP);
    machine
}

fn machine(imds: &str) -> Machine {
    with_bootstrap(Machine::new(imds))
}

fn boot(name: &str, group: &NodeGroupPlan, cidr: &str) -> (Machine, Imds, Run) {
    let imds = Imds::serve(name, &answers(cidr, INSTANCE_ID), &json!([]));
    let machine = machine(&imds.url);
    let run = machine.run(&al2_shell_part(group).expect("the plan renders"));
    (machine, imds, run)
}

/// Calls `bootstrap.sh` as EKS's part does, and returns what the image's own was given.
pub(crate) fn eks_calls(machine: &Machine, arguments: &[&str]) -> Vec<String> {
    let before = machine.log().len();
    let mut call = Command::new(machine.root().join("etc/eks/bootstrap.sh"));
    call.args(arguments);
    let run = machine.finish(call);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    machine.log().split_off(before)
}

/// The one value of `--kubelet-extra-args`, and the other arguments.
pub(crate) fn extra_args(arguments: &[String]) -> (String, Vec<&str>) {
    let at: Vec<usize> = (0..arguments.len()).filter(|at| arguments[*at].starts_with("--kubelet-extra-args")).collect();
    let [at] = at.as_slice() else { panic!("not one --kubelet-extra-args: {arguments:?}") };
    assert_eq!(arguments[*at], "--kubelet-extra-args");
    let others = arguments[..*at].iter().chain(&arguments[at + 2..]).map(String::as_str).collect();
    (arguments[at + 1].clone(), others)
}

#[test]
fn whatever_shape_the_call_has_there_is_one_kubelet_extra_args_that_holds_all() {
    let (machine, _, run) = boot("al2-shapes", &plans::article(), "172.31.16.0/20");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(machine.log(), [""; 0], "the script calls nothing");
    let ours = format!("--node-labels={LABEL_KEY}=pod-1a-subnet-3");
    let theirs = "--node-labels=role=web,team=a --register-with-taints=dedicated=web:NoSchedule --v=3";
    let equals = format!("--kubelet-extra-args={theirs}");
    for (arguments, extra) in [
        (vec!["demo"], ours.clone()),
        (vec!["demo", "--b64-cluster-ca", "LS0t"], ours.clone()),
        (vec!["demo", "--kubelet-extra-args", "--v=3", "--b64-cluster-ca", "LS0t"], format!("--v=3 {ours}")),
        (vec!["demo", "--kubelet-extra-args", theirs], format!("{theirs} {ours}")),
        (vec![&equals, "demo"], format!("{theirs} {ours}")),
        (vec!["--kubelet-extra-args", "", "demo"], ours.clone()),
        (
            vec!["demo", "--kubelet-extra-args", "--eviction-hard=memory.available<5%"],
            format!("--eviction-hard=memory.available<5% {ours}"),
        ),
        (vec!["demo", "--kubelet-extra-args"], ours.clone()),
        // The image's own takes the last one.
        (vec!["demo", "--kubelet-extra-args", "--v=3", "--kubelet-extra-args", "--v=4"], format!("--v=4 {ours}")),
        (vec!["demo", "--pause-container-account", "a b  'c'", "--kubelet-extra-args", "*"], format!("* {ours}")),
    ] {
        let given = eks_calls(&machine, &arguments);
        let (found, others) = extra_args(&given);
        assert_eq!(found, extra, "{arguments:?}");
        let expected = {
            let mut kept = vec!["call"];
            let mut rest = arguments.iter();
            while let Some(argument) = rest.next() {
                match *argument {
                    "--kubelet-extra-args" => drop(rest.next()),
                    argument if argument.starts_with("--kubelet-extra-args=") => {}
                    argument => kept.push(argument),
                }
            }
            kept
        };
        assert_eq!(others, expected, "{arguments:?}");
    }
}

#[test]
fn max_pods_come_with_one_use_max_pods_false() {
    let (machine, _, _) = boot("al2-max-pods", &plans::with_max_pods(29, plans::article()), "172.31.16.0/20");
    for arguments in [
        vec!["demo"],
        vec!["demo", "--use-max-pods", "true", "--kubelet-extra-args", "--max-pods=35"],
        vec!["demo", "--use-max-pods", "false"],
        vec!["demo", "--use-max-pods=true"],
    ] {
        let given = eks_calls(&machine, &arguments);
        let (extra, others) = extra_args(&given);
        assert!(extra.ends_with(" --max-pods=29"), "{extra}");
        assert_eq!(others, ["call", "demo", "--use-max-pods", "false"], "{arguments:?}");
    }
    let (machine, imds, run) = boot("al2-only", &plans::only_max_pods(plans::article()), "172.31.16.0/20");
    assert_eq!((run.code, imds.paths().len()), (Some(0), 0), "{}", run.stderr);
    assert_eq!(
        eks_calls(&machine, &["demo"]),
        ["call", "demo", "--use-max-pods", "false", "--kubelet-extra-args", "--max-pods=29"]
    );
}

#[test]
fn what_bootstrap_says_is_what_its_caller_hears() {
    let (machine, _, _) = boot("al2-status", &plans::article(), "172.31.16.0/20");
    let mut call = Command::new("/bin/bash");
    call.arg("-c").arg("EXIT=3 \"$ENIPLAN_ROOT/etc/eks/bootstrap.sh\" demo");
    assert_eq!(machine.finish(call).code, Some(3));
}

#[test]
fn without_a_row_the_wrapper_hands_on_the_fail_label_or_the_zone() {
    for (group, code, value) in [(plans::article(), 1, NO_MATCH), (plans::zone(plans::article()), 0, "ap-southeast-1a")]
    {
        let (machine, _, run) = boot("al2-no-row", &group, "10.99.0.0/24");
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        let given = eks_calls(&machine, &["demo"]);
        assert_eq!(extra_args(&given).0, format!("--node-labels={LABEL_KEY}={value}"));
    }
}

#[test]
fn a_second_run_wraps_the_images_own_and_not_the_wrapper() {
    let script = al2_shell_part(&plans::article()).expect("the plan renders");
    let imds = Imds::serve("al2-again", &answers("172.31.16.0/20", INSTANCE_ID), &json!([]));
    let machine = machine(&imds.url);
    for bootstrap in [BOOTSTRAP.to_owned(), BOOTSTRAP.replace("call", "newer")] {
        machine.write_program("etc/eks/bootstrap.sh", &bootstrap);
        for _ in 0..2 {
            assert_eq!(machine.run(&script).code, Some(0));
            assert_eq!(machine.read("etc/eks/bootstrap.sh.before-eniplan"), Some(bootstrap.clone()));
        }
        assert_eq!(eks_calls(&machine, &["demo"]).len(), 4, "one call of one argument, and ours");
    }
}

#[test]
fn an_image_without_bootstrap_is_an_error_before_the_first_request() {
    let imds = Imds::serve("al2-none", &answers("172.31.16.0/20", INSTANCE_ID), &json!([]));
    let machine = Machine::new(&imds.url);
    let run = machine.run(&al2_shell_part(&plans::article()).expect("the plan renders"));
    assert_eq!((run.code, imds.paths().len()), (Some(1), 0));
}

#[test]
fn a_match_costs_at_most_twelve_processes_and_four_requests() {
    for (name, group, processes, requests) in
        [("al2-cost", plans::hashed(), 11, 4), ("al2-cost-image", plans::with_image(plans::hashed()), 7, 4)]
    {
        let script = al2_shell_part(&group).expect("the plan renders");
        assert_eq!(cost(name, &script, "10.0.16.0/20", with_bootstrap), (processes, requests), "{name}");
    }
}

#[test]
fn linters_have_nothing_to_say_of_the_wrapper() {
    for (name, group) in plans::al2_wrapped() {
        let cidr = group.assignments[0].cidr.to_string();
        let (machine, _, run) = boot(&format!("al2-lint-{name}"), &group, &cidr);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let wrapper = machine.root().join("etc/eks/bootstrap.sh");
        let output = tools::shellcheck().args(["--norc", "--severity=style"]).arg(wrapper).output().expect("it starts");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn killed_at_any_step_there_is_a_whole_bootstrap_with_the_fail_label_or_the_right_one() {
    let script = al2_shell_part(&plans::article()).expect("the plan renders");
    let imds = Imds::serve("al2-killed", &answers("172.31.16.0/20", INSTANCE_ID), &json!([]));
    let (mut original, mut closed, mut done) = (0, 0, 0);
    kill_at_every_step(
        || machine(&imds.url),
        &script,
        |step, machine| {
            let given = eks_calls(machine, &["demo"]);
            match given.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
                ["call", "demo"] => original += 1,
                ["call", "demo", "--kubelet-extra-args", flag] if flag.ends_with(&format!("={NO_MATCH}")) => {
                    closed += 1
                }
                ["call", "demo", "--kubelet-extra-args", flag] if flag.ends_with("=pod-1a-subnet-3") => done += 1,
                other => panic!("killed at {step}, the script left {other:?}"),
            }
        },
    );
    assert!(original > 20 && closed > 30 && done > 5, "{original} originals, {closed} closed, {done} done");
}

#[test]
fn with_an_image_bootstrap_is_called_once_with_everything() {
    let group = plans::with_image(plans::with_max_pods(29, plans::article()));
    for (cidr, code, value) in [("172.31.16.0/20", 0, "pod-1a-subnet-3"), ("10.99.0.0/24", 1, NO_MATCH)] {
        let (machine, _, run) = boot("al2-call", &group, cidr);
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert_eq!(
            machine.log(),
            [
                "call",
                "demo",
                "--apiserver-endpoint",
                "https://0123456789ABCDEF0123456789ABCDEF.gr7.ap-southeast-1.eks.amazonaws.com",
                "--b64-cluster-ca",
                "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==",
                "--dns-cluster-ip",
                "10.100.0.10",
                "--use-max-pods",
                "false",
                "--kubelet-extra-args",
                &format!(
                    "--node-labels=eks.amazonaws.com/nodegroup=ngNameXXX,team=a,{LABEL_KEY}={value} \
                     --register-with-taints=dedicated=web:NoSchedule,spot:PreferNoSchedule --max-pods=29"
                ),
            ]
        );
    }
}

#[test]
fn with_an_image_and_no_answer_the_node_still_joins_under_the_fail_label() {
    let machine = machine("http://127.0.0.1:1");
    let run = machine.run(&al2_shell_part(&plans::with_image(plans::article())).expect("the plan renders"));
    assert_eq!(run.code, Some(1));
    assert!(extra_args(&machine.log()).0.contains(&format!("{LABEL_KEY}={NO_MATCH} ")));
}

#[test]
fn with_an_image_and_no_label_nothing_is_asked() {
    let (machine, imds, run) =
        boot("al2-call-zone", &plans::with_image(plans::only_max_pods(plans::article())), "10.0.0.0/20");
    assert_eq!((run.code, imds.paths().len()), (Some(0), 0), "{}", run.stderr);
    assert!(!machine.log().join(" ").contains(LABEL_KEY));
    let mut group = plans::with_image(plans::only_max_pods(plans::article()));
    group.labels.clear();
    group.taints.clear();
    let (machine, _, _) = boot("al2-call-bare", &group, "10.0.0.0/20");
    assert_eq!(extra_args(&machine.log()).0.trim(), "--max-pods=29");
}

#[test]
fn with_an_image_a_failed_bootstrap_is_the_scripts_failure() {
    let imds = Imds::serve("al2-call-fails", &answers("172.31.16.0/20", INSTANCE_ID), &json!([]));
    let machine = machine(&imds.url);
    machine.write_program("etc/eks/bootstrap.sh", "#!/bin/bash\nexit 7\n");
    let run = machine.run(&al2_shell_part(&plans::with_image(plans::article())).expect("the plan renders"));
    assert_eq!(run.code, Some(7));
}

#[test]
fn a_local_cluster_on_outposts_is_named_by_its_id() {
    let mut group = plans::with_image(plans::article());
    if let eniplan::plan::Bootstrap::UserData(access) = &mut group.bootstrap {
        access.outpost_cluster_id = Some("0123abcd".into());
    }
    let (machine, _, _) = boot("al2-outpost", &group, "172.31.16.0/20");
    assert!(
        machine.log().join(" ").contains(" --enable-local-outpost true --cluster-id 0123abcd "),
        "{:?}",
        machine.log()
    );
}
