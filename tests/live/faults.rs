//! Each question denied in turn, and each source cut, slow and answering garbage in turn.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use eniplan::inventory::Inventory;
use serde_json::{Value, json};

use crate::bench::{Bench, fixture, fixture_config};
use crate::reader::{Outcome, Reading};

const FIXTURE: &str = "three-zones";

/// How long a reading of the bench may take, whatever happens: many times what it takes when all goes well.
const LIMIT: Duration = Duration::from_secs(30);

/// The one question without whose answer there is nothing to plan.
const CLUSTER: &str = "DescribeCluster";

fn reading(bench: &Bench, seed: &Value) -> Reading {
    Reading::of_seed(bench, seed).with("config", fixture_config(FIXTURE))
}

/// Every question that is asked, as service and action.
fn questions(bench: &Bench, seed: &Value) -> BTreeSet<(String, String)> {
    bench.forget_calls();
    reading(bench, seed).run();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    bench.calls().iter().map(|call| (text(&call["service"]), text(&call["action"]))).collect()
}

/// What is said when one question fails: the error, or the gaps and what of the inventory is not as it would be.
fn said(outcome: &Outcome, whole: &Inventory) -> String {
    let mut page = String::new();
    let Some(value) = &outcome.inventory else { return format!("  {}\n", outcome.error().replace('\n', "\n  ")) };
    let inventory = outcome.inventory();
    assert_eq!(inventory, Inventory::from_json(&value.to_string(), "the answer").unwrap());
    assert!(!inventory.gaps.is_empty(), "nothing is missing");
    for gap in &inventory.gaps {
        let resource = gap.resource.as_deref().unwrap_or("-");
        let code = gap.code.as_deref().unwrap_or("-");
        writeln!(page, "  gap: {} of {resource}: {code}: {}", gap.action, gap.message).unwrap();
    }
    let without = |inventory: &Inventory| {
        let mut value = serde_json::to_value(inventory).unwrap();
        value["collected_at"] = Value::Null;
        value["gaps"] = Value::Null;
        value
    };
    let (value, whole) = (without(&inventory), without(whole));
    let different: Vec<&String> =
        value.as_object().unwrap().iter().filter(|(name, part)| whole[*name] != **part).map(|(name, _)| name).collect();
    writeln!(page, "  differs: {}", different.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")).unwrap();
    page
}

/// Lets one question after the other fail in that way, and holds every reading to the time.
fn in_turn(fault: &Value) -> String {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    let questions = questions(&bench, &seed);
    each(&bench, &questions, fault, || reading(&bench, &seed))
}

/// Lets each of the questions fail in that way, and tells what a reading then says.
pub(crate) fn each(
    bench: &Bench,
    questions: &BTreeSet<(String, String)>,
    fault: &Value,
    reading: impl Fn() -> Reading,
) -> String {
    let whole = reading().run().inventory();
    let mut page = String::new();
    for (service, action) in questions {
        let mut rule = json!({"service": service, "action": action});
        rule.as_object_mut().unwrap().extend(fault.as_object().unwrap().clone());
        bench.faults(&json!([rule]));
        let outcome = reading().run();
        assert!(outcome.took < LIMIT, "{service} {action} took {:?}: {:#?}", outcome.took, outcome.calls);
        assert_eq!(outcome.inventory.is_none(), action == CLUSTER, "{service} {action}: {:?}", outcome.error);
        writeln!(page, "{service} {action}\n{}", said(&outcome, &whole)).unwrap();
        bench.faults(&json!([]));
        bench.control("POST", "release", &Value::Null);
    }
    without_ports(bench, &page)
}

fn without_ports(bench: &Bench, page: &str) -> String {
    page.replace(&format!("127.0.0.1:{}", bench.ports["kube_port"]), "[server]")
        .replace(&format!("127.0.0.1:{}", bench.ports["aws_port"]), "[aws]")
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

/// Benches that are asked side by side, or the test would only wait.
const SIDE_BY_SIDE: usize = 6;

/// Lets each of the questions go unanswered, and tells what a reading that waits for some seconds then says.
pub(crate) fn each_silent(
    seed: &Value,
    questions: &BTreeSet<(String, String)>,
    reading: impl Fn(&Bench) -> Reading + Sync,
) -> String {
    let questions: Vec<_> = questions.iter().cloned().collect();
    let reading = &reading;
    let parts = questions.chunks(questions.len().div_ceil(SIDE_BY_SIDE));
    let parts: Vec<_> = parts.map(|part| (part, Bench::with(seed))).collect();
    std::thread::scope(|scope| {
        let parts: Vec<_> = parts
            .into_iter()
            .map(|(part, bench)| {
                scope.spawn(move || {
                    let impatient = || reading(&bench).with("call", 8.0).with("kubernetes", 8.0);
                    each(&bench, &part.iter().cloned().collect(), &json!({"kind": "withhold_before"}), impatient)
                })
            })
            .collect();
        parts.into_iter().map(|part| part.join().unwrap()).collect()
    })
}

#[test]
fn each_source_silent() {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    insta::assert_snapshot!(each_silent(&seed, &questions(&bench, &seed), |bench| reading(bench, &seed)));
}

/// Slow, but within the time.
#[test]
fn all_sources_slow() {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    let whole = reading(&bench, &seed).run().inventory();
    bench.faults(&json!([{"kind": "delay", "seconds": 1.0}]));
    let outcome = reading(&bench, &seed).run();
    assert!(outcome.took > Duration::from_secs(4) && outcome.took < LIMIT, "{:?}", outcome.took);
    assert!(Inventory { collected_at: whole.collected_at.clone(), ..outcome.inventory() } == whole);
}

#[test]
fn each_source_answering_garbage() {
    insta::assert_snapshot!(in_turn(&json!({"kind": "garbage"})));
}

/// A proxy's login page, with status 200: well-formed XML, and no list that is empty.
#[test]
fn each_source_answering_a_login_page() {
    let page = "<html><head><title>Log in</title></head><body><p>Who are you?</p></body></html>";
    insta::assert_snapshot!(in_turn(
        &json!({"kind": "answer", "status": 200, "body": page, "content_type": "text/html"})
    ));
}

#[test]
fn each_source_answering_a_server_error() {
    insta::assert_snapshot!(in_turn(&json!({"kind": "error", "status": 503})));
}

/// Short throttling is waited out, and nobody hears of it but who asks for every call.
#[test]
fn two_throttled_attempts_are_waited_out() {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    let whole = reading(&bench, &seed).run().inventory();
    bench.faults(&json!([
        {"service": "ec2", "action": "DescribeSubnets", "kind": "throttle", "times": 2},
        {"service": "eks", "action": "DescribeCluster", "kind": "throttle", "times": 2},
    ]));
    let outcome = reading(&bench, &seed).run();
    let inventory = Inventory { collected_at: whole.collected_at.clone(), ..outcome.inventory() };
    assert_eq!(inventory.gaps, []);
    assert!(inventory == whole);
    assert!(outcome.took < Duration::from_secs(5), "{:?}: {:#?}", outcome.took, outcome.calls);
    let refused = outcome.calls.iter().filter(|call| !call.contains(": 200 in ")).count();
    assert_eq!(refused, 4, "{:#?}", outcome.calls);
}

/// The limiter of the throttled action holds nothing else back, and its own pauses have an end.
#[test]
fn one_action_throttled_without_end_is_given_up() {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    bench.faults(&json!([{"service": "ec2", "action": "DescribeSubnets", "kind": "throttle"}]));
    let outcome = reading(&bench, &seed).with("call", 60.0).run();
    assert!(outcome.took < LIMIT, "{:?}: {:#?}", outcome.took, outcome.calls);
    let inventory = outcome.inventory();
    assert_eq!(inventory.gaps.len(), 1);
    assert_eq!(inventory.gaps[0].code.as_deref(), Some("RequestLimitExceeded"));
    let attempts = outcome.calls.iter().filter(|call| call.contains("DescribeSubnets")).count();
    assert_eq!(attempts, 6);
}

/// With the user's own number of attempts, which are the SDK's standard ones.
#[test]
fn throttling_without_end_is_given_up() {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    bench.faults(&json!([{"service": "ec2", "action": "DescribeSubnets", "kind": "throttle"}]));
    let outcome = reading(&bench, &seed).environment("AWS_MAX_ATTEMPTS", "2").run();
    assert!(outcome.took < LIMIT, "{:?}", outcome.took);
    let inventory = outcome.inventory();
    assert_eq!(inventory.gaps.len(), 1);
    assert_eq!(inventory.gaps[0].action, "ec2:DescribeSubnets");
    assert_eq!(inventory.gaps[0].code.as_deref(), Some("RequestLimitExceeded"));

    bench.faults(&json!([{"service": "eks", "action": "DescribeCluster", "kind": "throttle"}]));
    bench.forget_calls();
    let outcome = reading(&bench, &seed).environment("AWS_MAX_ATTEMPTS", "2").run();
    assert!(outcome.took < LIMIT, "{:?}", outcome.took);
    assert_eq!(bench.calls().iter().filter(|call| call["action"] == CLUSTER).count(), 2);
    insta::assert_snapshot!(outcome.error());
}
