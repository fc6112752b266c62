//! What matters is on the second page, or the third.

use serde_json::{Value, json};

use crate::bench::{Bench, fixture, fixture_config};
use crate::reader::{Outcome, Reading};

fn calls_of(bench: &Bench, action: &str) -> usize {
    bench.calls().iter().filter(|call| call["action"] == action).count()
}

fn read(bench: &Bench, name: &str, seed: &Value) -> Outcome {
    Reading::of_seed(bench, seed).with("config", fixture_config(name)).run()
}

/// The same, whatever the page size, but for the time of reading.
fn without_time(outcome: &Outcome) -> Value {
    let mut inventory = outcome.value().clone();
    inventory["collected_at"] = Value::Null;
    inventory
}

/// Reads the fixture in one page and in pages of one, and wants the same of both.
fn one_by_one(name: &str, settings: &Value, action: &str) {
    let seed = fixture(name);
    let bench = Bench::with(&seed);
    let whole = without_time(&read(&bench, name, &seed));
    bench.settings(settings);
    bench.forget_calls();
    let paged = without_time(&read(&bench, name, &seed));
    let pages = calls_of(&bench, action);
    assert!(pages > 1, "{action} came in {pages} page: nothing was shown");
    assert_eq!(paged, whole, "{action} in {pages} pages");
}

#[test]
fn node_groups_on_page_two() {
    one_by_one("two-sets", &json!({"page_sizes": {"ListNodegroups": 1}}), "ListNodegroups");
}

#[test]
fn subnets_on_page_two() {
    one_by_one("three-zones", &json!({"page_sizes": {"DescribeSubnets": 1}}), "DescribeSubnets");
}

#[test]
fn security_groups_on_page_two() {
    one_by_one("three-zones", &json!({"page_sizes": {"DescribeSecurityGroups": 1}}), "DescribeSecurityGroups");
}

#[test]
fn route_tables_on_page_two() {
    one_by_one("three-zones", &json!({"page_sizes": {"DescribeRouteTables": 1}}), "DescribeRouteTables");
}

#[test]
fn launch_templates_on_page_two() {
    one_by_one("three-zones", &json!({"page_sizes": {"DescribeLaunchTemplates": 1}}), "DescribeLaunchTemplates");
}

#[test]
fn eni_configs_on_page_two() {
    one_by_one("three-zones", &json!({"kube_page_size": 1}), "list eniconfigs");
}

#[test]
fn nodes_on_page_two() {
    one_by_one("three-zones", &json!({"kube_page_size": 1}), "list nodes");
}

#[test]
fn every_list_in_pages_of_one() {
    let page = json!({"page_size": 1, "kube_page_size": 1});
    one_by_one("enterprise", &page, "DescribeLaunchTemplateVersions");
    one_by_one("mixed", &page, "DescribeSubnets");
}

#[test]
fn twelve_subnets_a_page_over_three_pages() {
    let mut seed = fixture("three-zones");
    let subnets = seed["subnets"].as_array_mut().unwrap();
    for number in subnets.len()..30 {
        let mut subnet = subnets[0].clone();
        subnet["subnet_id"] = format!("subnet-{number:017x}").into();
        subnet["cidr_block"] = format!("100.64.{}.0/24", 192 + number).into();
        subnets.push(subnet);
    }
    let bench = Bench::with(&seed);
    bench.settings(&json!({"page_sizes": {"DescribeSubnets": 12}}));
    bench.forget_calls();
    let inventory = read(&bench, "three-zones", &seed).inventory();
    assert_eq!(inventory.subnets.len(), 30);
    assert_eq!(calls_of(&bench, "DescribeSubnets"), 3);
    assert_eq!(inventory.gaps, []);
}

#[test]
fn of_a_hundred_and_twenty_templates_only_ours_and_those_in_use_are_read() {
    let mut seed = fixture("three-zones");
    let in_use = seed["launch_templates"].as_array().unwrap().len();
    let templates = seed["launch_templates"].as_array_mut().unwrap();
    let mut ours = templates[0].clone();
    ours["launch_template_id"] = "lt-fffffffffffffffff".into();
    ours["launch_template_name"] = "eniplan-prod-platform-stand-alone".into();
    for number in templates.len()..119 {
        let mut other = templates[0].clone();
        other["launch_template_id"] = format!("lt-{number:017x}").into();
        other["launch_template_name"] = format!("somebody-elses-{number}").into();
        templates.push(other);
    }
    templates.push(ours);
    let bench = Bench::with(&seed);
    bench.forget_calls();
    let inventory = read(&bench, "three-zones", &seed).inventory();
    assert_eq!(inventory.launch_templates.len(), in_use + 1);
    let ours = inventory.launch_template("lt-fffffffffffffffff").expect("the template that no group uses yet");
    assert!(!ours.versions.is_empty());
    assert_eq!(calls_of(&bench, "DescribeLaunchTemplates"), 1);
    assert_eq!(calls_of(&bench, "DescribeLaunchTemplateVersions"), in_use + 1);
}

#[test]
fn of_two_hundred_and_fifty_versions_the_one_in_use_is_asked_for_by_number() {
    let mut seed = fixture("three-zones");
    let id = seed["node_groups"][0]["launch_template"]["id"].as_str().unwrap().to_owned();
    seed["node_groups"][0]["launch_template"]["version"] = "3".into();
    let templates = seed["launch_templates"].as_array_mut().unwrap();
    let template = templates.iter_mut().find(|template| template["launch_template_id"] == id.as_str()).unwrap();
    template["default_version_number"] = 120.into();
    template["latest_version_number"] = 250.into();
    let mut version = template["versions"][0].clone();
    template["versions"] = [3, 120, 250]
        .map(|number| {
            version["version_number"] = number.into();
            version["version_description"] = format!("number {number}").into();
            version.clone()
        })
        .to_vec()
        .into();
    let bench = Bench::with(&seed);
    bench.forget_calls();
    let inventory = read(&bench, "three-zones", &seed).inventory();
    let template = inventory.launch_template(&id).unwrap();
    let numbers: Vec<i64> = template.versions.iter().map(|version| version.version_number).collect();
    assert_eq!(numbers, [3, 120, 250]);
    assert_eq!(template.version(3).unwrap().version_description.as_deref(), Some("number 3"));
    let calls = bench.calls();
    let asked: Vec<&Value> = calls
        .iter()
        .filter(|call| call["action"] == "DescribeLaunchTemplateVersions" && call["params"]["LaunchTemplateId"] == *id)
        .map(|call| &call["params"]["Versions"])
        .collect();
    assert_eq!(asked, [&json!(["$Default", "$Latest", "3"])]);
}

#[test]
fn a_version_that_is_gone_is_left_out_and_no_gap() {
    let mut seed = fixture("three-zones");
    seed["node_groups"][0]["launch_template"]["version"] = "77".into();
    let bench = Bench::with(&seed);
    let inventory = read(&bench, "three-zones", &seed).inventory();
    assert_eq!(inventory.gaps, []);
    let id = seed["node_groups"][0]["launch_template"]["id"].as_str().unwrap();
    let template = inventory.launch_template(id).unwrap();
    assert!(template.version(77).is_none());
    assert!(template.version(template.latest_version_number).is_some());
}

/// A page token can get too old between two pages; the list is begun anew.
#[test]
fn a_list_that_expires_between_pages_is_read_from_its_beginning() {
    let seed = fixture("three-zones");
    let bench = Bench::with(&seed);
    bench.settings(&json!({"kube_page_size": 2}));
    let expired = json!({"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410,
        "message": "The provided continue parameter is too old"});
    bench.faults(&json!([{"service": "kube", "action": "list nodes", "ordinal": 2, "kind": "answer", "status": 410,
        "body": expired.to_string(), "content_type": "application/json"}]));
    bench.forget_calls();
    let inventory = read(&bench, "three-zones", &seed).inventory();
    assert_eq!(inventory.nodes.len(), 6);
    assert_eq!(inventory.gaps, []);
    assert_eq!(calls_of(&bench, "list nodes"), 5);
}
