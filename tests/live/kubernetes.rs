//! The ways to an API server, and what is said when they lead nowhere. The AWS half is read in any case.

use std::path::Path;

use serde_json::{Value, json};

use crate::bench::{Bench, fixture};
use crate::reader::{Outcome, Reading};

const FIXTURE: &str = "three-zones";

/// The messages of all gaps, each once; the AWS half must be whole.
fn kubernetes_gaps(outcome: &Outcome) -> String {
    let inventory = outcome.inventory();
    assert_eq!(inventory.subnets.len(), 9);
    assert_eq!(inventory.node_groups.len(), 2);
    let mut lines: Vec<String> = inventory
        .gaps
        .iter()
        .map(|gap| {
            let code = gap.code.as_deref().unwrap_or("-");
            let caller = gap.caller.as_deref().unwrap_or("-");
            format!("{}: {code}: {} (asked by {caller})", gap.action, gap.message)
        })
        .collect();
    lines.sort();
    lines.join("\n")
}

fn without_port(bench: &Bench, text: &str) -> String {
    text.replace(&format!("127.0.0.1:{}", bench.ports["kube_port"]), "[server]")
}

#[test]
fn an_unknown_identity_is_told_how_to_become_known() {
    let mut seed = fixture(FIXTURE);
    let bench = Bench::start();
    for mode in ["API", "CONFIG_MAP", "API_AND_CONFIG_MAP"] {
        seed["cluster"]["authentication_mode"] = mode.into();
        bench.seed(&json!({"inventory": seed}));
        bench.faults(&json!([{"service": "kube", "action": "list nodes", "kind": "expired"}]));
        let outcome = Reading::of_seed(&bench, &seed).run();
        insta::assert_snapshot!(format!("unknown_identity_{}", mode.to_lowercase()), kubernetes_gaps(&outcome));
    }
}

#[test]
fn a_cluster_without_the_definition_has_no_eni_configs_and_no_gap() {
    let mut seed = fixture(FIXTURE);
    seed["eni_config_crd"] = Value::Null;
    seed["eni_configs"] = json!([]);
    let bench = Bench::with(&seed);
    let inventory = Reading::of_seed(&bench, &seed).run().inventory();
    assert_eq!(inventory.gaps, []);
    assert_eq!(inventory.eni_config_crd, None);
    assert_eq!(inventory.eni_configs, []);
    assert_eq!(inventory.nodes.len(), 6);
}

#[test]
fn a_page_that_is_not_the_api_servers_is_no_missing_definition() {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    bench.faults(&json!([{"service": "kube", "kind": "answer", "status": 404, "body": "<h1>Not Found</h1>\n",
        "content_type": "text/html"}]));
    insta::assert_snapshot!(kubernetes_gaps(&Reading::of_seed(&bench, &seed).run()));
}

#[test]
fn a_server_with_another_certificate_authority_is_not_trusted() {
    let mut seed = fixture(FIXTURE);
    let bench = Bench::start();
    bench.settings(&json!({"endpoint": "seeded"}));
    seed["cluster"]["endpoint"] = bench.ports["kube_endpoint"].clone();
    bench.seed(&json!({"inventory": seed}));
    let outcome = Reading::of_seed(&bench, &seed).run();
    insta::assert_snapshot!(without_port(&bench, &kubernetes_gaps(&outcome)));
    // The token must not have gone to a server that is not the cluster's.
    assert!(!bench.calls().iter().any(|call| call["service"] == "kube"));
}

#[test]
fn a_certificate_authority_that_holds_no_certificate_is_said_to_be_so() {
    let mut seed = fixture(FIXTURE);
    let bench = Bench::start();
    bench.settings(&json!({"endpoint": "seeded"}));
    seed["cluster"]["certificate_authority"] = "bm90IGEgY2VydGlmaWNhdGU=".into();
    bench.seed(&json!({"inventory": seed}));
    insta::assert_snapshot!(kubernetes_gaps(&Reading::of_seed(&bench, &seed).run()));
}

#[test]
fn a_private_endpoint_is_a_hint() {
    let mut seed = fixture(FIXTURE);
    let bench = Bench::start();
    bench.settings(&json!({"endpoint": "seeded"}));
    seed["cluster"]["endpoint"] = "https://127.0.0.1:1".into();
    bench.seed(&json!({"inventory": seed}));
    insta::assert_snapshot!("refused", kubernetes_gaps(&Reading::of_seed(&bench, &seed).run()));
    seed["cluster"]["endpoint_public_access"] = false.into();
    bench.seed(&json!({"inventory": seed}));
    insta::assert_snapshot!("refused_private", kubernetes_gaps(&Reading::of_seed(&bench, &seed).run()));
    bench.settings(&json!({"endpoint": "local"}));
    bench.seed(&json!({"inventory": seed}));
    bench.faults(&json!([{"service": "kube", "kind": "withhold_before"}]));
    let outcome = Reading::of_seed(&bench, &seed).with("kubernetes", 2.0).run();
    insta::assert_snapshot!("silent_private", without_port(&bench, &kubernetes_gaps(&outcome)));
}

/// A kubeconfig with one context, `work`, that holds a bearer token.
fn kubeconfig(folder: &Path, server: &str, authority: Option<&str>) -> String {
    let verification = authority.map_or_else(
        || "insecure-skip-tls-verify: true".to_owned(),
        |authority| format!("certificate-authority-data: {authority}"),
    );
    let path = folder.join("kubeconfig");
    let text = format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster:\n    server: {server}\n    {verification}\n\
         users:\n- name: u\n  user: {{token: a-token-of-the-kubeconfig}}\n\
         contexts:\n- name: work\n  context: {{cluster: c, user: u}}\n"
    );
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_kubeconfig_context_is_used_when_it_leads_to_the_cluster() {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    bench.control("PUT", "plain-tokens", &json!(["a-token-of-the-kubeconfig"]));
    let folder = tempfile::tempdir().unwrap();
    let authority = bench.ports["certificate_authority"].as_str().unwrap();
    let path = kubeconfig(folder.path(), bench.ports["kube_endpoint"].as_str().unwrap(), Some(authority));
    let reading = || Reading::of_seed(&bench, &seed).environment("KUBECONFIG", &path);
    let inventory = reading().with("kube_context", "work").run().inventory();
    assert_eq!(inventory.gaps, []);
    assert_eq!(inventory.nodes.len(), 6);

    bench.control("PUT", "plain-tokens", &json!([]));
    let outcome = reading().with("kube_context", "work").run();
    insta::assert_snapshot!("context_with_an_old_token", kubernetes_gaps(&outcome));
    insta::assert_snapshot!("unknown_context", reading().with("kube_context", "play").run().error());
}

#[test]
fn a_kubeconfig_context_that_leads_elsewhere_stops_everything() {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    let folder = tempfile::tempdir().unwrap();
    let server = bench.ports["kube_endpoint"].as_str().unwrap();
    let authority = bench.ports["certificate_authority"].as_str().unwrap();
    let others = seed["cluster"]["certificate_authority"].as_str().unwrap();
    for (name, server, authority) in [
        ("another_server", "https://127.0.0.1:1", Some(authority)),
        ("another_authority", server, Some(others)),
        ("no_verification", server, None),
    ] {
        let path = kubeconfig(folder.path(), server, authority);
        bench.forget_calls();
        let outcome =
            Reading::of_seed(&bench, &seed).environment("KUBECONFIG", &path).with("kube_context", "work").run();
        insta::assert_snapshot!(format!("context_with_{name}"), without_port(&bench, outcome.error()));
        assert!(!bench.calls().iter().any(|call| call["service"] == "kube"), "{name}");
    }
}

/// Whatever `AWS_ENDPOINT_URL` says, the token is for the region's own STS, and nothing is sent to it.
#[test]
fn the_token_is_made_for_the_clusters_region() {
    for region in ["us-gov-west-1", "cn-north-1"] {
        let mut seed = fixture(FIXTURE);
        seed["region"] = region.into();
        let bench = Bench::with(&seed);
        let inventory = Reading::of_seed(&bench, &seed).run().inventory();
        assert_eq!(inventory.gaps, [], "{region}: {}", bench.control("GET", "refused-tokens", &Value::Null));
        assert!(!bench.calls().iter().any(|call| call["service"] == "sts"));
    }
}

/// One of the nodes a page, each page late: reading them takes longer than a token is good for.
fn slow_pages(bench: &Bench, seed: &Value, renew_after: f64) -> (Outcome, usize) {
    bench.settings(&json!({"kube_page_size": 1, "token_seconds": 3}));
    bench.faults(&json!([{"service": "kube", "action": "list nodes", "kind": "delay", "seconds": 0.8}]));
    bench.forget_calls();
    let outcome = Reading::of_seed(bench, seed).with("token", renew_after).run();
    let refused = bench.calls().iter().filter(|call| call["status"] == 401).count();
    (outcome, refused)
}

#[test]
fn a_token_is_renewed_before_it_is_too_old() {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    let (outcome, refused) = slow_pages(&bench, &seed, 1.0);
    assert_eq!(refused, 0, "{:#?}", outcome.calls);
    assert_eq!(outcome.inventory().nodes.len(), 6);
    assert_eq!(outcome.inventory().gaps, []);
}

#[test]
fn a_token_that_was_good_and_is_refused_is_made_anew() {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    let (outcome, refused) = slow_pages(&bench, &seed, 600.0);
    assert!(refused > 0, "{:#?}", outcome.calls);
    assert_eq!(outcome.inventory().nodes.len(), 6);
    assert_eq!(outcome.inventory().gaps, []);
}

#[test]
fn a_token_is_made_anew_once_and_not_where_none_was_ever_taken() {
    let seed = fixture(FIXTURE);
    let bench = Bench::with(&seed);
    bench.settings(&json!({"kube_page_size": 2}));
    let asked = |from: u64| {
        bench.faults(&json!([{"service": "kube", "action": "list nodes", "kind": "expired", "from": from}]));
        bench.forget_calls();
        let inventory = Reading::of_seed(&bench, &seed).run().inventory();
        assert_eq!(inventory.gaps.len(), 1);
        assert_eq!(inventory.gaps[0].code.as_deref(), Some("401"));
        bench.calls().iter().filter(|call| call["action"] == "list nodes").count()
    };
    assert_eq!(asked(2), 3);
    bench.faults(&json!([{"service": "kube", "kind": "expired"}]));
    bench.forget_calls();
    assert_eq!(Reading::of_seed(&bench, &seed).run().inventory().gaps.len(), 4);
    assert_eq!(bench.calls().iter().filter(|call| call["service"] == "kube").count(), 4);
}
