//! A script that looks at boot which nodeadm it has.

use eniplan::plan::{NO_MATCH, NodeGroupPlan};
use eniplan::render::boot_script::al2023_shell_part;
use serde_json::json;

use crate::boot::node_config;
use crate::imds::{Imds, answers};
use crate::machine::Machine;
use crate::plans::{self, LABEL_KEY};

const UNIT: &str = "etc/systemd/system/kubelet.service.d/zz-eniplan.conf";

fn script(group: &NodeGroupPlan) -> String {
    al2023_shell_part(&plans::decides_at_boot(group.clone())).expect("the plan renders")
}

fn imds(name: &str, cidr: &str) -> Imds {
    Imds::serve(name, &answers(cidr, "i-0123456789abcdef0"), &json!([]))
}

/// kubelet's arguments in a unit, after the reset of the image's own.
pub(crate) fn kubelet_arguments(unit: &str) -> Vec<&str> {
    let mut lines = unit.lines();
    assert_eq!((lines.next(), lines.next()), (Some("[Service]"), Some("ExecStart=")));
    let command = lines.next().expect("a command");
    assert_eq!(lines.next(), None);
    command.strip_prefix("ExecStart=/usr/bin/kubelet $NODEADM_KUBELET_ARGS ").expect("kubelet").split(' ').collect()
}

#[test]
fn an_image_that_reads_the_folder_gets_a_node_config_and_no_unit() {
    let imds = imds("reads", "172.31.16.0/20");
    let machine = Machine::new(&imds.url).current_image();
    let run = machine.run(&script(&plans::article()));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(machine.drop_in(), Some(node_config("pod-1a-subnet-3", None)));
    assert_eq!(machine.kubelet_unit(), None);
    assert_eq!(machine.log(), ["systemctl cat nodeadm-run.service"]);
}

#[test]
fn an_older_image_gets_a_unit_and_systemd_reads_it_after_each_writing() {
    let imds = imds("older", "172.31.16.0/20");
    let machine = Machine::new(&imds.url).old_image();
    let run = machine.run(&script(&plans::with_max_pods(29, plans::article())));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let unit = machine.kubelet_unit().expect("left");
    assert_eq!(kubelet_arguments(&unit), [&format!("--node-labels={LABEL_KEY}=pod-1a-subnet-3"), "--max-pods=29"]);
    assert_eq!(machine.drop_in(), None);
    assert_eq!(
        machine.log(),
        ["systemctl cat nodeadm-run.service", "systemctl daemon-reload", "systemctl daemon-reload"]
    );
}

#[test]
fn an_older_image_without_an_answer_keeps_the_fail_label() {
    let imds = imds("older-fail", "10.99.0.0/24");
    let machine = Machine::new(&imds.url).old_image();
    let run = machine.run(&script(&plans::article()));
    assert_eq!(run.code, Some(1));
    let unit = machine.kubelet_unit().expect("left");
    assert_eq!(kubelet_arguments(&unit), [format!("--node-labels={LABEL_KEY}={NO_MATCH}")]);
}

#[test]
fn an_older_image_gets_max_pods_alone_where_there_is_no_label() {
    let imds = imds("older-max-pods", "172.31.16.0/20");
    let machine = Machine::new(&imds.url).old_image();
    let run = machine.run(&script(&plans::only_max_pods(plans::article())));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(kubelet_arguments(&machine.kubelet_unit().expect("left")), ["--max-pods=29"]);
    assert_eq!(imds.paths(), [""; 0]);
}

#[test]
fn an_image_without_systemctl_is_taken_for_an_older_one_and_the_failed_reload_is_an_error() {
    let imds = imds("no-systemctl", "172.31.16.0/20");
    let machine = Machine::new(&imds.url);
    machine.install("systemctl", "#!/bin/bash\nexit 1\n");
    let run = machine.run(&script(&plans::article()));
    assert_eq!(run.code, Some(1));
    assert!(machine.kubelet_unit().expect("left").contains(NO_MATCH));
    assert_eq!(imds.paths(), [""; 0]);
}

#[test]
fn a_unit_from_before_nodeadm_was_updated_is_removed() {
    for (group, log) in [(plans::article(), 2), (plans::only_max_pods(plans::article()), 2)] {
        let imds = imds("forgets", "172.31.16.0/20");
        let machine = Machine::new(&imds.url).current_image();
        machine.write(UNIT, "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --node-labels=a=b\n");
        let run = machine.run(&script(&group));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert_eq!(machine.kubelet_unit(), None);
        assert_eq!(machine.log().len(), log, "{:?}", machine.log());
        assert!(machine.drop_in().is_some());
    }
}
