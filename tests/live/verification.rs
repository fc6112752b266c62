//! What `inventory --for verify` reads on top.

use std::collections::BTreeSet;

use eniplan::inventory::{Inventory, Observed};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::commands::eniplan;
use crate::faults;
use crate::observed::seed;
use crate::reader::Reading;
use crate::seeds::normal;
use crate::seeds::pretty::assert_same;

/// The questions that are asked for `verify` alone.
const QUESTIONS: [(&str, &str); 6] = [
    ("ec2", "DescribeNetworkInterfaces"),
    ("kube", "list cninodes"),
    ("kube", "list ec2nodeclasses"),
    ("kube", "list nodepools"),
    ("kube", "list pods"),
    ("kube", "list securitygrouppolicies"),
];

fn reading(bench: &Bench, seed: &Value) -> Reading {
    Reading::of_seed(bench, seed).with("verification", true)
}

fn asked(bench: &Bench) -> BTreeSet<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    bench.calls().iter().map(|call| (text(&call["service"]), text(&call["action"]))).collect()
}

fn questions() -> BTreeSet<(String, String)> {
    QUESTIONS.iter().map(|(service, action)| ((*service).to_owned(), (*action).to_owned())).collect()
}

#[test]
fn all_of_it_is_read_back_as_it_was_seeded() {
    let seed = seed();
    let bench = Bench::start();
    let expected = bench.seed(&json!({"inventory": seed}));
    let outcome = reading(&bench, &seed).run();
    assert_same(&normal(outcome.value()), &normal(&expected), "three-zones with pods");
    let read = outcome.inventory().observed.unwrap();
    assert_eq!((read.pods.len(), read.network_interfaces.len()), (6, 4));
}

#[test]
fn for_planning_none_of_it_is_asked_for() {
    let seed = seed();
    let bench = Bench::with(&seed);
    bench.forget_calls();
    let inventory = Reading::of_seed(&bench, &seed).run().inventory();
    assert_eq!(inventory.observed, None);
    let planning = asked(&bench);
    assert!(planning.is_disjoint(&questions()), "{planning:?}");
    bench.forget_calls();
    reading(&bench, &seed).run();
    assert_eq!(asked(&bench).difference(&planning).cloned().collect::<BTreeSet<_>>(), questions());
}

#[test]
fn kinds_that_are_not_installed_are_empty_and_no_gaps() {
    let mut seed = seed();
    for part in ["cni_nodes", "security_group_policies", "node_pools", "ec2_node_classes"] {
        seed["observed"][part] = json!([]);
    }
    let bench = Bench::with(&seed);
    bench.forget_calls();
    let inventory = reading(&bench, &seed).run().inventory();
    assert_eq!(inventory.gaps, []);
    let observed = inventory.observed.unwrap();
    let Observed { pods, cni_nodes, security_group_policies, node_pools, ec2_node_classes, .. } = observed;
    assert_eq!(pods.len(), 6);
    assert_eq!(
        (cni_nodes.len(), security_group_policies.len(), node_pools.len(), ec2_node_classes.len()),
        (0, 0, 0, 0)
    );
    let missing = bench.calls().iter().filter(|call| call["status"] == 404).count();
    assert_eq!(missing, 4);
}

#[test]
fn every_list_in_pages_of_one() {
    let seed = seed();
    let bench = Bench::with(&seed);
    let whole = normal(reading(&bench, &seed).run().value());
    bench.settings(&json!({"page_sizes": {"DescribeNetworkInterfaces": 1}, "kube_page_size": 1}));
    bench.forget_calls();
    let paged = reading(&bench, &seed).run();
    let calls = bench.calls();
    for (_, action) in QUESTIONS {
        let pages = calls.iter().filter(|call| call["action"] == action).count();
        assert!(pages > 1, "{action} came in {pages} page: nothing was shown");
    }
    assert_same(&normal(paged.value()), &whole, "in pages of one");
}

/// More instances than one filter takes.
#[test]
fn interfaces_of_many_nodes_are_asked_for_in_chunks() {
    let bench = Bench::start();
    let large = json!({"nodes": 401, "pods": 401, "interfaces": 802, "groups": 1, "cni_nodes": false});
    bench.control("POST", "seed-large", &large);
    bench.forget_calls();
    let inventory =
        Reading::of(&bench, "large").with("region", "eu-west-1").with("verification", true).run().inventory();
    assert_eq!(inventory.observed.unwrap().network_interfaces.len(), 802);
    let sizes: BTreeSet<usize> = bench
        .calls()
        .iter()
        .filter(|call| call["action"] == "DescribeNetworkInterfaces")
        .map(|call| call["params"]["Filters"][0]["Values"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [1, 200].into());
}

#[test]
fn each_question_denied() {
    insta::assert_snapshot!(in_turn(&json!({"kind": "deny"})));
}

#[test]
fn each_source_cut_before_it_answers() {
    insta::assert_snapshot!(in_turn(&json!({"kind": "cut_before"})));
}

#[test]
fn each_source_cut_in_the_middle_of_its_answer() {
    insta::assert_snapshot!(in_turn(&json!({"kind": "cut_middle"})));
}

#[test]
fn each_source_silent() {
    let seed = seed();
    insta::assert_snapshot!(faults::each_silent(&seed, &questions(), |bench| reading(bench, &seed)));
}

#[test]
fn each_source_answering_garbage() {
    insta::assert_snapshot!(in_turn(&json!({"kind": "garbage"})));
}

#[test]
fn each_source_answering_a_server_error() {
    insta::assert_snapshot!(in_turn(&json!({"kind": "error", "status": 503})));
}

fn in_turn(fault: &Value) -> String {
    let seed = seed();
    let bench = Bench::with(&seed);
    faults::each(&bench, &questions(), fault, || reading(&bench, &seed))
}

/// No way to the API server, and one that leads nowhere: nine gaps, and what EC2 says is there.
#[test]
fn without_an_api_server_the_aws_half_is_there() {
    let mut seed = seed();
    let authority = seed["cluster"]["certificate_authority"].clone();
    let bench = Bench::start();
    bench.settings(&json!({"endpoint": "seeded"}));
    seed["cluster"]["endpoint"] = "https://127.0.0.1:1".into();
    for authority in [authority, "bm90IGEgY2VydGlmaWNhdGU=".into()] {
        seed["cluster"]["certificate_authority"] = authority;
        bench.seed(&json!({"inventory": seed}));
        let inventory = reading(&bench, &seed).run().inventory();
        let actions: BTreeSet<&str> = inventory.gaps.iter().map(|gap| gap.action.as_str()).collect();
        assert_eq!(actions.len(), 9, "{actions:#?}");
        let observed = inventory.observed.as_ref().unwrap();
        assert_eq!(observed.pods, []);
        let left_behind: Vec<&str> =
            observed.network_interfaces.iter().map(|one| one.network_interface_id.as_str()).collect();
        assert_eq!(left_behind, ["eni-00000000000000004"]);
    }
}

#[test]
fn nodes_of_older_versions_bring_them_into_the_inventory() {
    let mut seed = seed();
    let own = seed["node_groups"][0]["launch_template"]["id"].as_str().unwrap().to_owned();
    seed["node_groups"][0]["launch_template"]["version"] = "250".into();
    let templates = seed["launch_templates"].as_array_mut().unwrap();
    let template = templates.iter_mut().find(|template| template["launch_template_id"] == *own).unwrap();
    template["default_version_number"] = 250.into();
    template["latest_version_number"] = 250.into();
    let mut version = template["versions"][0].clone();
    template["versions"] = [3, 7, 99, 250]
        .map(|number| {
            version["version_number"] = number.into();
            version.clone()
        })
        .to_vec()
        .into();
    // Version 300 was deleted; the node of 99 is of another template.
    for (at, version) in ["3", "3", "300", "7", "99", "250"].into_iter().enumerate() {
        let labels = &mut seed["nodes"][at]["labels"];
        labels["eks.amazonaws.com/sourceLaunchTemplateVersion"] = version.into();
        if version == "99" {
            labels["eks.amazonaws.com/sourceLaunchTemplateId"] = "lt-0aaaaaaaaaaaaaaa1".into();
        }
    }
    let bench = Bench::with(&seed);
    bench.forget_calls();
    let inventory = reading(&bench, &seed).run().inventory();
    assert_eq!(inventory.gaps, []);
    let versions = &inventory.launch_template(&own).unwrap().versions;
    let numbers: Vec<i64> = versions.iter().map(|version| version.version_number).collect();
    assert_eq!(numbers, [3, 7, 250]);
    bench.forget_calls();
    let planning = Reading::of_seed(&bench, &seed).run().inventory();
    assert_eq!(planning.launch_template(&own).unwrap().versions.len(), 1);
}

#[test]
fn the_policy_is_enough_and_not_more() {
    let seed = seed();
    let bench = Bench::with(&seed);
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = eniplan(&bench, folder.path(), arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let cluster = seed["cluster"]["name"].as_str().unwrap();
    let policy: Value = serde_json::from_str(&run(&["iam-policy", "--for", "verify", "--cluster", cluster])).unwrap();
    let role = run(&["iam-policy", "--for", "verify", "--rbac"]);
    let mut rules = Vec::new();
    for document in role.split("---\n").skip(1) {
        let document: Value = serde_saphyr::from_str(document).unwrap();
        for mut rule in document["rules"].as_array().cloned().unwrap_or_default() {
            if document["kind"] == "Role" {
                rule["namespace"] = document["metadata"]["namespace"].clone();
            }
            rules.push(rule);
        }
    }
    bench.settings(&json!({"policy": policy, "rbac": rules}));
    bench.forget_calls();
    let text = run(&["inventory", "--for", "verify", "--cluster", cluster, "--region", "us-west-2"]);
    assert_eq!(Inventory::from_json(&text, "standard output").unwrap().gaps, []);

    let actions = policy["Statement"].as_array().unwrap().iter().flat_map(|one| one["Action"].as_array().unwrap());
    let mut allowed: BTreeSet<String> = actions.map(|action| action.as_str().unwrap().to_owned()).collect();
    for rule in &rules {
        let words = |field: &str| rule[field].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
        for resource in words("resources") {
            allowed.extend(words("verbs").map(|verb| format!("kube:{verb} {resource}")));
        }
    }
    let used: BTreeSet<String> = asked(&bench).iter().map(|(service, action)| format!("{service}:{action}")).collect();
    assert_eq!(used, allowed);
}

#[test]
fn the_program_says_how_far_it_has_come() {
    let seed = seed();
    let bench = Bench::with(&seed);
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["inventory", "--for", "verify", "-c", "prod-platform", "-r", "us-west-2", "--out", "i.json"];
    let output = eniplan(&bench, folder.path(), &arguments);
    let mut lines: Vec<String> = String::from_utf8(output.stderr)
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("read "))
        .map(str::to_owned)
        .collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"));
}

/// 5,000 nodes, 100,000 pods, 20,000 interfaces.
#[test]
fn a_large_cluster_is_read_within_the_budget() {
    let bench = Bench::start();
    let size = bench.control("POST", "seed-large", &json!({}));
    let of = |what: &str| usize::try_from(size[what].as_u64().unwrap()).unwrap();
    let (nodes, pods, interfaces) = (of("nodes"), of("pods"), of("interfaces"));
    assert_eq!((nodes, pods, interfaces), (5_000, 100_000, 20_000));
    bench.forget_calls();
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["inventory", "--for", "verify", "-c", "large", "-r", "eu-west-1", "-q", "--out", "i.json"];
    let output = eniplan(&bench, folder.path(), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let calls = bench.calls();
    let budget = pods.div_ceil(500) + nodes.div_ceil(500) + 2 * nodes.div_ceil(200) + 20;
    assert!(calls.len() <= budget, "{} calls, the budget is {budget}", calls.len());
    let at_once = calls.iter().filter_map(|call| call["in_flight"].as_u64()).max().unwrap();
    assert!(at_once <= 20, "{at_once} at once");
    let text = std::fs::read_to_string(folder.path().join("i.json")).unwrap();
    let inventory = Inventory::from_json(&text, "i.json").unwrap();
    assert_eq!(inventory.gaps, []);
    let observed = inventory.observed.unwrap();
    assert_eq!((inventory.nodes.len(), observed.pods.len()), (nodes, pods));
    assert_eq!((observed.network_interfaces.len(), observed.cni_nodes.len()), (interfaces, nodes));
}
