//! Whole AL2023 shell parts, run.

use eniplan::plan::{NO_MATCH, NodeGroupPlan};
use eniplan::render::boot_script::al2023_shell_part;
use serde_json::{Value, json};

use crate::imds::{Imds, answers, subnet_path};
use crate::machine::{Machine, Run};
use crate::plans::{self, LABEL_KEY};

fn script(group: &NodeGroupPlan) -> String {
    al2023_shell_part(group).expect("the plan renders")
}

/// What nodeadm is to read.
pub(crate) fn node_config(name: &str, max_pods: Option<u32>) -> Value {
    let mut kubelet = json!({"flags": [format!("--node-labels={LABEL_KEY}={name}")]});
    if let Some(pods) = max_pods {
        kubelet["config"] = json!({"maxPods": pods});
    }
    json!({"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"kubelet": kubelet}})
}

/// An id as EC2 gives them, the same for the same number.
pub(crate) fn instance_id(number: u64) -> String {
    format!("i-{:017x}", u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 3 | u128::from(number & 7))
}

fn boot(name: &str, group: &NodeGroupPlan, answers: &Value, faults: &Value) -> (Machine, Imds, Run) {
    let imds = Imds::serve(name, answers, faults);
    let machine = Machine::new(&imds.url).current_image();
    let run = machine.run(&script(group));
    (machine, imds, run)
}

#[test]
fn twenty_nodes_of_every_group_take_what_the_plan_says() {
    for (name, group) in plans::al2023() {
        for number in 0..20 {
            let row = &group.assignments[usize::try_from(number).expect("small") % group.assignments.len()];
            let id = instance_id(number);
            let asked = answers(&row.cidr.to_string(), &id);
            let (machine, imds, run) = boot(&format!("twenty-{name}-{number}"), &group, &asked, &json!([]));
            assert_eq!(run.code, Some(0), "{name}: {}", run.stderr);
            let bounds: Vec<u64> = row.candidates.iter().map(|candidate| candidate.bound).collect();
            let chosen = eniplan::choose::choose(&bounds, &id).expect("there are candidates");
            let expected = match &group.label_key {
                Some(_) => node_config(&row.candidates[chosen].eni_config, group.max_pods.written),
                None => json!({"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig",
                    "spec": {"kubelet": {"config": {"maxPods": 29}}}}),
            };
            assert_eq!(machine.drop_in(), Some(expected), "{name}: {id} in {}", row.cidr);
            assert!(imds.requests().len() <= 4, "{:?}", imds.requests());
            assert_eq!(machine.kubelet_unit(), None);
        }
    }
}

#[test]
fn the_first_articles_node_gets_its_articles_eni_config() {
    let asked = answers("172.31.16.0/20", "i-0123456789abcdef0");
    let (machine, imds, run) = boot("article", &plans::article(), &asked, &json!([]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(machine.drop_in(), Some(node_config("pod-1a-subnet-3", None)));
    assert_eq!(imds.paths(), ["api/token", "meta-data/mac", &format!("meta-data/{}", subnet_path())]);
    assert_eq!(run.stderr, "eniplan: node subnet 172.31.16.0/20: ENIConfig pod-1a-subnet-3\n");
    assert_eq!(run.stdout, "");
}

#[test]
fn without_a_label_the_metadata_service_is_not_asked() {
    let (machine, imds, run) = boot("only-max-pods", &plans::only_max_pods(plans::article()), &json!({}), &json!([]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(imds.paths(), [""; 0]);
    assert_eq!(machine.drop_in().expect("left")["spec"]["kubelet"], json!({"config": {"maxPods": 29}}));
}

#[test]
fn a_subnet_that_is_not_in_the_table_leaves_the_fail_label_and_says_why() {
    for cidr in ["10.99.0.0/24", "172.31.16.0/21", "172.31.16.0/2", "172.31.1.0/20"] {
        let asked = answers(cidr, "i-0123456789abcdef0");
        let (machine, _, run) = boot("no-row", &plans::with_max_pods(29, plans::article()), &asked, &json!([]));
        assert_eq!(run.code, Some(1));
        assert_eq!(machine.drop_in(), Some(node_config(NO_MATCH, Some(29))));
        assert_eq!(
            run.stderr,
            format!(
                "eniplan: no row for node subnet {cidr}; the table has 172.31.0.0/20, 172.31.16.0/20, 172.31.32.0/20\n\
                 eniplan: the label value stays eniplan-no-match\n"
            )
        );
    }
}

#[test]
fn with_on_no_match_zone_a_strange_subnet_falls_back_to_the_zone() {
    let asked = answers("10.99.0.0/24", "i-0123456789abcdef0");
    let (machine, _, run) = boot("zone", &plans::zone(plans::article()), &asked, &json!([]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(machine.drop_in(), Some(node_config("ap-southeast-1a", None)));
    assert!(
        run.stderr.ends_with("eniplan: falling back to the ENIConfig of the zone: ap-southeast-1a\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn with_on_no_match_zone_the_zone_is_asked_even_when_the_subnet_was_asked_in_vain() {
    let faults = json!([{"path": format!("meta-data/{}", subnet_path()), "first": -1, "status": 500}]);
    let asked = answers("172.31.16.0/20", "i-0123456789abcdef0");
    let (machine, imds, run) = boot("zone-late", &plans::zone(plans::article()), &asked, &faults);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(machine.drop_in(), Some(node_config("ap-southeast-1a", None)));
    assert_eq!(imds.requests().len(), 16);
}

#[test]
fn a_zone_that_is_none_never_becomes_a_label() {
    for zone in ["", " ", "ap-southeast-1a\nx: y", "a\"b", "-a", "<html>", &"a".repeat(64)] {
        let mut asked = answers("10.99.0.0/24", "i-0123456789abcdef0");
        asked["placement/availability-zone"] = json!(zone);
        let (machine, _, run) = boot("bad-zone", &plans::zone(plans::article()), &asked, &json!([]));
        assert_eq!(run.code, Some(1), "{zone:?}");
        assert_eq!(machine.drop_in(), Some(node_config(NO_MATCH, None)), "{zone:?}");
    }
}

#[test]
fn faults_that_pass_are_sat_out() {
    for fault in [
        json!({"first": 5, "status": 500}),
        json!({"first": 3, "status": 401}),
        json!({"first": 2, "status": 404}),
        json!({"first": 4, "empty": true}),
        json!({"first": 2, "body": "<html>sign in</html>"}),
        json!({"first": 2, "path": "meta-data/mac", "body": "not a mac"}),
    ] {
        let asked = answers("10.0.16.0/20", "i-0123456789abcdef0");
        let (machine, _, run) = boot("passing-fault", &plans::hashed(), &asked, &json!([fault]));
        assert_eq!(run.code, Some(0), "{fault}: {}", run.stderr);
        let chosen = eniplan::choose::choose(&[1, 4094], "i-0123456789abcdef0").expect("there are candidates");
        assert_eq!(machine.drop_in(), Some(node_config(["pod-b-1", "pod-b-2"][chosen], None)), "{fault}");
    }
}

#[test]
fn faults_that_stay_leave_the_fail_label_within_sixty_seconds() {
    for fault in [
        json!({"first": -1, "status": 503}),
        json!({"first": -1, "empty": true}),
        json!({"first": -1, "path": "api/token", "status": 403}),
        json!({"first": -1, "path": "meta-data/mac", "status": 404}),
        json!({"first": -1, "path": "meta-data/instance-id", "body": "i-0123; rm -rf /"}),
        json!({"first": -1, "path": format!("meta-data/{}", subnet_path()), "empty": true}),
    ] {
        for group in [plans::hashed(), plans::zone(plans::hashed())] {
            let asked = answers("10.0.16.0/20", "i-0123456789abcdef0");
            let faults = json!([fault, {"first": -1, "path": "meta-data/placement/availability-zone", "status": 404}]);
            let (machine, imds, run) = boot("staying-fault", &group, &asked, &faults);
            assert_eq!(run.code, Some(1), "{fault}");
            assert_eq!(machine.drop_in(), Some(node_config(NO_MATCH, None)), "{fault}");
            // 2 s is what curl is given, 1 s what `sleep` is.
            assert!(machine.log().iter().all(|line| line == "sleep 1"), "{:?}", machine.log());
            assert!(
                2 * imds.requests().len() + machine.log().len() <= 60,
                "{fault}: {} requests",
                imds.requests().len()
            );
            assert!(run.stderr.ends_with("eniplan: the label value stays eniplan-no-match\n"), "{}", run.stderr);
        }
    }
}

#[test]
fn a_slow_metadata_service_is_given_two_seconds_a_question() {
    let faults = json!([{"first": -1, "delay": 2}]);
    let imds = Imds::serve("slow", &answers("172.31.16.0/20", "i-0123456789abcdef0"), &faults);
    let machine = Machine::new(&imds.url).current_image();
    // The real program with a shorter patience, so that nobody waits for it here.
    machine.install(
        "curl",
        "#!/bin/bash\necho \"curl $*\" >>\"$MACHINE/log\"\nexec /usr/bin/curl \"$@\" --max-time 0.05\n",
    );
    let run = machine.run(&script(&plans::article()));
    assert_eq!(run.code, Some(1));
    assert_eq!(machine.drop_in(), Some(node_config(NO_MATCH, None)));
    let log = machine.log();
    assert_eq!(log.len(), 40, "20 questions and 20 rests: {log:?}");
    assert!(log.iter().all(|line| line == "sleep 1" || line.contains(" --max-time 2 ")), "{log:?}");
}

#[test]
fn an_unreachable_metadata_service_leaves_the_fail_label() {
    let machine = Machine::new("http://127.0.0.1:1").current_image();
    let run = machine.run(&script(&plans::article()));
    assert_eq!(run.code, Some(1));
    assert_eq!(machine.drop_in(), Some(node_config(NO_MATCH, None)));
    assert!(run.stderr.contains("eniplan: IMDS gave no token\n"), "{}", run.stderr);
}

#[test]
fn what_an_earlier_boot_left_is_replaced() {
    let earlier =
        "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {flags: [--node-labels=a=b]}}\n";
    for (cidr, expected) in [("172.31.32.0/20", "pod-1b-subnet-3"), ("10.99.0.0/24", NO_MATCH)] {
        let imds = Imds::serve("earlier", &answers(cidr, "i-0123456789abcdef0"), &json!([]));
        let machine = Machine::new(&imds.url).current_image();
        machine.write("etc/eks/nodeadm.d/zz-eniplan.yaml", earlier);
        machine.write("etc/eks/nodeadm.d/zz-eniplan.tmp", "half a fi");
        machine.run(&script(&plans::article()));
        assert_eq!(machine.drop_in(), Some(node_config(expected, None)));
    }
}

#[test]
fn a_folder_that_is_missing_is_made_and_the_file_is_for_all_to_read() {
    let imds = Imds::serve("no-folder", &answers("172.31.16.0/20", "i-0123456789abcdef0"), &json!([]));
    let machine = Machine::new(&imds.url);
    let run = machine.source(&script(&plans::article()), "main; stat -c %a \"$folder\"/* \"$folder\"");
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "644\n755\n"), "{}", run.stderr);
}

#[test]
fn a_root_that_cannot_be_written_ends_before_the_first_request() {
    let imds = Imds::serve("read-only", &answers("172.31.16.0/20", "i-0123456789abcdef0"), &json!([]));
    let machine = Machine::new(&imds.url);
    machine.write("etc/eks", "a file where a folder is to be");
    let run = machine.run(&script(&plans::article()));
    assert_eq!(run.code, Some(1));
    assert_eq!(imds.paths(), [""; 0]);
}
