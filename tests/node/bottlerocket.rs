//! Bottlerocket's settings, read back with a TOML parser.

use eniplan::plan::NodeGroupPlan;
use eniplan::render::bottlerocket::settings;
use toml::{Table, Value};

use crate::plans::{self, LABEL_KEY};

fn kubernetes(group: &NodeGroupPlan) -> Value {
    let text = settings(group).expect("the plan renders");
    let table: Table = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    for line in text.lines() {
        assert!(line.starts_with('#') || line.starts_with("settings.kubernetes."), "EKS takes flat keys: {line}");
    }
    table["settings"]["kubernetes"].clone()
}

fn toml(text: &str) -> Value {
    Value::Table(text.parse().expect("TOML"))
}

#[test]
fn without_an_image_there_is_one_label_and_an_integer_max_pods() {
    let settings = kubernetes(&plans::with_max_pods(29, plans::one_eni_config()));
    assert_eq!(settings, toml("max-pods = 29\nnode-labels = { \"k8s.amazonaws.com/eniConfig\" = \"pod-a-1\" }"));
    assert_eq!(kubernetes(&plans::only_max_pods(plans::article())), toml("max-pods = 29"));
}

#[test]
fn with_an_image_there_is_everything_that_a_node_needs_to_join() {
    let settings = kubernetes(&plans::with_image(plans::with_max_pods(29, plans::one_eni_config())));
    assert_eq!(
        settings,
        toml(
            r#"
            cluster-name = "demo"
            api-server = "https://0123456789ABCDEF0123456789ABCDEF.gr7.ap-southeast-1.eks.amazonaws.com"
            cluster-certificate = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="
            cluster-dns-ip = "10.100.0.10"
            max-pods = 29
            [node-labels]
            "eks.amazonaws.com/nodegroup" = "rocket"
            "k8s.amazonaws.com/eniConfig" = "pod-a-1"
            team = "a"
            [node-taints]
            dedicated = ["web:NoSchedule"]
            spot = [":PreferNoSchedule"]
            "#
        )
    );
}

#[test]
fn a_group_with_two_eni_configs_is_refused_with_both_names() {
    for group in [plans::article(), plans::hashed()] {
        let error = settings(&group).expect_err("one label cannot be two").to_string();
        assert!(error.contains("one static label cannot name both"), "{error}");
    }
}

#[test]
fn what_is_no_label_is_refused() {
    for (key, value) in [("a b", "c"), ("team", "a\"b"), ("team", "a b"), ("", "")] {
        let mut group = plans::one_eni_config();
        group.labels.insert(key.into(), value.into());
        assert!(settings(&group).is_err(), "{key}={value}");
    }
    let mut group = plans::one_eni_config();
    group.label_key = Some(format!("{LABEL_KEY} x"));
    assert!(settings(&group).is_err());
    let mut group = plans::with_image(plans::one_eni_config());
    group.taints[0].effect = "Never".into();
    assert!(settings(&group).is_err());
}
