//! How often AWS and Kubernetes are asked, and how many answers wait for one another.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::bench::{Bench, fixture, fixture_config, fixtures};
use crate::reader::Reading;

/// The calls of a journal with their number.
fn multiset(calls: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for call in calls {
        let name = format!("{} {}", call["service"].as_str().unwrap(), call["action"].as_str().unwrap());
        *counts.entry(name).or_default() += 1;
    }
    counts
}

#[test]
fn the_calls_for_every_fixture() {
    let bench = Bench::start();
    let mut page = String::new();
    for name in fixtures() {
        let seed = fixture(&name);
        bench.control("POST", "reset", &Value::Null);
        bench.seed(&json!({"inventory": seed}));
        bench.forget_calls();
        let outcome = Reading::of_seed(&bench, &seed).with("config", fixture_config(&name)).run();
        assert!(outcome.inventory.is_some(), "{name}: {:?}", outcome.error);
        let calls = multiset(&bench.calls());
        let of_kubernetes = |call: &str| call.starts_with("kube ");
        let kubernetes: usize = calls.iter().filter(|(call, _)| of_kubernetes(call)).map(|(_, count)| count).sum();
        let aws = calls.values().sum::<usize>() - kubernetes;
        writeln!(page, "{name}: {aws} AWS calls, {kubernetes} Kubernetes calls").unwrap();
        for (call, count) in &calls {
            writeln!(page, "  {count} {call}").unwrap();
        }

        let groups = seed["node_groups"].as_array().unwrap().len();
        // Beyond the budget of an ordinary group: who asked, when a read was denied; images, once, where a template
        // names one; templates that only eniplan.yaml names, by id; versions of a template that two groups share count
        // once.
        let images = calls.get("ec2 DescribeImages").copied().unwrap_or_default();
        assert!(images <= 1, "{name}: {images} calls for images");
        let more = usize::from(calls.contains_key("sts GetCallerIdentity"))
            + images
            + calls.get("ec2 DescribeLaunchTemplates").map_or(0, |count| (count - 1) * 2);
        let budget = 11 + 2 * groups.saturating_sub(1) + more;
        assert!(aws <= budget, "{name}: {aws} AWS calls, the budget is {budget}");
        assert!(kubernetes <= 4, "{name}: {kubernetes} Kubernetes calls");
    }
    insta::assert_snapshot!(page);
}

/// AWS and Kubernetes calls of a reading.
fn totals(bench: &Bench, seed: &Value) -> (usize, usize) {
    bench.seed(&json!({"inventory": seed}));
    bench.forget_calls();
    Reading::of_seed(bench, seed).run().value();
    let calls = bench.calls();
    let kubernetes = calls.iter().filter(|call| call["service"] == "kube").count();
    (calls.len() - kubernetes, kubernetes)
}

#[test]
fn one_group_takes_eleven_calls_and_a_further_one_two_and_an_image_one() {
    let bench = Bench::start();
    let mut seed = fixture("three-zones");
    let groups = seed["node_groups"].as_array().unwrap().clone();
    seed["node_groups"] = json!([groups[0]]);
    assert_eq!(totals(&bench, &seed), (11, 4));
    let own = &groups[0]["launch_template"]["id"];
    let image = seed["images"][0]["image_id"].clone();
    let templates = seed["launch_templates"].as_array_mut().unwrap();
    let template = templates.iter_mut().find(|template| template["launch_template_id"] == *own).unwrap();
    template["versions"][0]["launch_template_data"]["ImageId"] = image;
    assert_eq!(totals(&bench, &seed), (12, 4));
    // The other group's template names an image, too; all images are asked for at once.
    seed["node_groups"] = json!(groups);
    assert_eq!(totals(&bench, &seed), (14, 4));
}

/// The longest chain of requests of which each began after the one before had ended.
fn depth(times: &[(f64, f64)]) -> usize {
    let mut by_end: Vec<(f64, f64)> = times.to_vec();
    by_end.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut chain: Vec<usize> = Vec::new();
    for (index, (began, _)) in by_end.iter().enumerate() {
        let before = by_end[..index].iter().zip(&chain).filter(|((_, ended), _)| ended <= began);
        chain.push(before.map(|(_, length)| length + 1).max().unwrap_or(1));
    }
    chain.into_iter().max().unwrap_or(0)
}

#[test]
fn a_reading_is_four_round_trips_deep() {
    let seed = fixture("three-zones");
    let bench = Bench::with(&seed);
    // Long enough for the requests of one round to overlap on a busy machine.
    bench.faults(&json!([{"kind": "delay", "seconds": 0.15}]));
    let outcome = Reading::of_seed(&bench, &seed).run();
    assert!(outcome.inventory.is_some(), "{:?}", outcome.error);
    assert_eq!(depth(&outcome.times), 4, "{:#?}", outcome.calls);
}

#[test]
fn every_request_is_reported_with_its_id() {
    let seed = fixture("three-zones");
    let bench = Bench::with(&seed);
    bench.forget_calls();
    let outcome = Reading::of_seed(&bench, &seed).run();
    assert_eq!(outcome.calls.len(), bench.calls().len());
    let mut lines = outcome.calls.clone();
    for line in &mut lines {
        *line = line.split_once(" s  ").unwrap().1.to_owned();
    }
    lines.sort();
    insta::with_settings!({filters => [
        (r"in \d+ ms", "in [time] ms"),
        (r"request id [0-9a-f-]{36}", "request id [id]"),
    ]}, {
        insta::assert_snapshot!(lines.join("\n"));
    });
    let mut sources = outcome.sources.clone();
    sources.sort();
    insta::assert_snapshot!("a_line_for_every_part", sources.join("\n"));
}
