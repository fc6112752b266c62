#![allow(clippy::disallowed_methods, reason = "the collection of broken files is read from disk")]

use std::collections::BTreeMap;

use super::*;
use crate::error::{Error, Position};

mod mutated;
mod phases;
mod schema;

/// The example of the manual, with real ids.
const EXAMPLE: &str = r#"apiVersion: eniplan.dev/v1alpha1
kind: PodNetworkPlan
metadata: {name: demo, region: ap-southeast-1}     # the EKS cluster
spec:
  securityGroups: [sg-0a08c1f20ba2d31fa]           # default: the cluster security group
  cni: {env: {ENABLE_PREFIX_DELEGATION: "true"}}
  pools:
    default: {names: zone, subnets: [{id: subnet-0aaaaaaaaaaaaaaaa}, {id: subnet-0bbbbbbbbbbbbbbbb}, {id: subnet-0cccccccccccccccc}]}
    batch:   {names: subnet, subnetTags: {team: batch}, securityGroups: [sg-0b17d2031cb3e420b]}
  nodeGroups:
    - {name: web,   pools: [default]}
    - {name: batch, pools: [batch], strategy: hash, weights: capacity, maxPods: auto, onNoMatch: fail, adopt: true}
    - name: exact
      map: [{cidr: 172.31.16.0/20, eniConfigs: [pod-1a-subnet-3]}]
  ignore: [legacy-windows]
"#;

/// Everything that can be said about a group that EKS does not know.
const DESCRIBED: &str = r#"apiVersion: "eniplan.dev/v1alpha1"
kind: PodNetworkPlan
metadata:
  name: demo
spec:
  label: {design: own, key: example.com/pod-subnet}
  pools:
    default:
      subnets:
        - {id: subnet-0aaaaaaaaaaaaaaaa, name: pod-a}
        - {id: subnet-0bbbbbbbb, name: us-west-2-lax-1a}
  nodeGroups:
    - name: new
      strategy: hash
      weights: {pod-a: 3, us-west-2-lax-1a: 0}
      maxPods: 58
      onNoMatch: zone
      managed: false
      amiFamily: AL2023
      imageId: resolve:ssm:/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id
      launchTemplate: {id: lt-0a08c1f20ba2d31fa, version: 7}
      subnets: [subnet-0cccccccccccccccc]
      instanceTypes: [m6i.large, u7i-12tb.224xlarge, m7i.metal-24xl]
      nodeRole: arn:aws-us-gov:iam::123456789012:role/service/demo-node
      scaling: {min: 0, max: 3, desired: 3}
      labels: {tier: "1", node.kubernetes.io/pool: batch, empty: ""}
      taints:
        - {key: dedicated, value: batch, effect: NoSchedule}
        - {key: dedicated, effect: NoExecute}
    - {name: old, successor: old-2, maxPods: eks}
"#;

fn explain(error: &Error) -> String {
    let Error::Config { snippet, .. } = error else { panic!("{error}") };
    format!("error: {error}\n{snippet}\nhelp: {}", error.help())
}

#[track_caller]
fn read(text: &str) -> Config {
    Config::from_yaml(text, "eniplan.yaml").unwrap_or_else(|error| panic!("{}", explain(&error)))
}

fn in_spec(lines: &str) -> String {
    format!("apiVersion: eniplan.dev/v1alpha1\nkind: PodNetworkPlan\nmetadata: {{name: demo}}\nspec:\n{lines}")
}

#[track_caller]
fn read_spec(lines: &str) -> Config {
    read(&in_spec(lines))
}

#[track_caller]
fn refuse(text: &str) -> (Position, String, String) {
    match Config::from_yaml(text, "eniplan.yaml") {
        Err(Error::Config { position, message, help, .. }) => (position, message, help),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_example_says_what_it_says() {
    insta::assert_debug_snapshot!(read(EXAMPLE));
}

#[test]
fn a_group_can_be_described_whole() {
    insta::assert_debug_snapshot!(read(DESCRIBED));
}

#[test]
fn broken_files_say_where_why_and_what_to_write() {
    insta::glob!("../../tests/broken/config", "*.yaml", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        let error = Config::from_yaml(&text, &name).expect_err("the file is broken");
        insta::assert_snapshot!(explain(&error));
    });
}

/// What kind of fault a message and its help are about: their words without what differs from place to place.
fn kind_of(message: &str, help: &str) -> String {
    let unquoted = |text: &str| text.split('`').step_by(2).collect::<Vec<_>>().join("…");
    let words = unquoted(message);
    for same_everywhere in [" has no …", "unknown key", " given twice", "in this list twice"] {
        if words.contains(same_everywhere) {
            return same_everywhere.into();
        }
    }
    if words.starts_with("the list of ") {
        return "empty list".into();
    }
    match words.strip_prefix("expected ").and_then(|rest| rest.rsplit_once(", found ")) {
        Some((_, found)) => format!("found {found}; {}", unquoted(help)),
        None => words,
    }
}

/// The files of `tests/broken/config` cover much, instead of the same again and again.
#[test]
fn no_fault_is_in_the_collection_more_than_three_times() {
    let mut files_by_kind: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in std::fs::read_dir("tests/broken/config").unwrap() {
        let path = entry.unwrap().path();
        let error = Config::from_yaml(&std::fs::read_to_string(&path).unwrap(), "").unwrap_err();
        let Error::Config { message, help, .. } = error else { panic!("{error}") };
        assert!(!help.ends_with('.') && !message.ends_with('.'), "{message}; {help}");
        files_by_kind.entry(kind_of(&message, &help)).or_default().push(path.display().to_string());
    }
    let too_often: Vec<_> = files_by_kind.iter().filter(|(_, files)| files.len() > 3).collect();
    assert!(too_often.is_empty(), "{too_often:#?}");
    assert!(files_by_kind.len() >= 45, "{} kinds", files_by_kind.len());
}

#[test]
fn an_unknown_version_is_named_before_the_keys_it_may_have() {
    let (position, message, _) = refuse("extra: 1\napiVersion: eniplan.dev/v2\nkind: PodNetworkPlan\n");
    assert_eq!(
        (position.line, message.as_str()),
        (2, "apiVersion `eniplan.dev/v2` is not one that this eniplan reads")
    );
}

#[test]
fn a_missing_key_is_asked_for_where_it_belongs() {
    let group = |lines: &str| {
        in_spec(&format!(
            "  pools: {{default: {{subnetTags: {{a: b}}}}}}\n  nodeGroups:\n    - name: web\n      {lines}\n"
        ))
    };
    for (text, line, column, expected) in [
        ("kind: PodNetworkPlan\n".into(), 1, 1, "the file has no `apiVersion`; add `apiVersion: eniplan.dev/v1alpha1`"),
        ("apiVersion: eniplan.dev/v1alpha1\n".into(), 1, 1, "the file has no `kind`; add `kind: PodNetworkPlan`"),
        (
            EXAMPLE.replace("metadata:", "#"),
            1,
            1,
            "the file has no `metadata`; add `metadata: {name: NAME-OF-THE-CLUSTER}`",
        ),
        (in_spec("  label: {key: a}\n"), 5, 3, "spec.label has no `design`; add `design: own`"),
        (
            in_spec("  nodeGroups:\n    - pools: [a]\n"),
            6,
            7,
            "a node group has no `name`; add `name: NAME-OF-THE-NODE-GROUP`",
        ),
        (
            in_spec("  nodeGroups: [{name: a, map: [{cidr: 10.0.0.0/20}]}]\n"),
            5,
            32,
            "a row of the map has no `eniConfigs`; add `eniConfigs: [NAME]`",
        ),
        (
            in_spec("  nodeGroups: [{name: a, map: [{eniConfigs: [a]}]}]\n"),
            5,
            32,
            "a row of the map has no `cidr`; add `cidr: 10.0.16.0/20`",
        ),
        (group("launchTemplate: {version: 3}"), 8, 7, "launchTemplate of node group `web` has no `id`; add `id: lt-…`"),
        (group("scaling: {min: 1, max: 3}"), 8, 7, "scaling of node group `web` has no `desired`; add `desired: 3`"),
        (group("taints: [{effect: NoSchedule}]"), 8, 16, "a taint of node group `web` has no `key`; add `key: NAME`"),
        (group("taints: [{key: a}]"), 8, 16, "a taint of node group `web` has no `effect`; add `effect: NoSchedule`"),
    ] {
        let (position, message, help) = refuse(&text);
        assert_eq!((position, format!("{message}; {help}").as_str()), (Position { line, column }, expected));
    }
}

#[test]
fn a_wrong_word_is_answered_with_the_right_one() {
    let group = |text: &str| {
        in_spec(&format!("  pools: {{default: {{subnetTags: {{a: b}}}}}}\n  nodeGroups: [{{name: web, {text}}}]\n"))
    };
    for (text, expected) in [
        (in_spec("  pools: {a: {names: zones, subnetTags: {a: b}}}\n"), "did you mean `zone`?"),
        (in_spec("  pools: {a: {names: pool, subnetTags: {a: b}}}\n"), "write `zone` or `subnet`"),
        (in_spec("  pools: {a: {subnet_tags: {a: b}}}\n"), "did you mean `subnetTags`?"),
        (in_spec("  pools: {a: {subnet: [{id: subnet-0aaaaaaaaaaaaaaaa}]}}\n"), "did you mean `subnets`?"),
        (group("strategy: hashed, weights: capacity"), "did you mean `hash`?"),
        (group("strategy: hash, weights: capactiy"), "did you mean `capacity`?"),
        (
            group("strategy: hash, weights: size"),
            "write `capacity`, `usable` or `free`, or a mapping of ENIConfig names to numbers",
        ),
        (group("strategy: hash, weights: {}"), "name each ENIConfig of the group, or remove `weights`"),
        (group("onNoMatch: failed"), "did you mean `fail`?"),
        (group("managed: no"), "write `managed: false`"),
        (group("managed: 0"), "write `managed: false`"),
        (group("adopt: On"), "write `adopt: true`"),
        (group("adopt: 'false'"), "write `adopt: false`, without quotes"),
        (group("adopt: [true]"), "write `adopt: true` or `adopt: false`"),
        (group("pools: []"), "name at least one, or remove the key"),
        (group("pools: default, maxpod: 5"), "did you mean `maxPods`?"),
        (group("maxPods: 1e2"), "write a whole number in decimal digits"),
        (group("maxPods: 058"), "write a whole number in decimal digits"),
        (group("instanceTypes: \"m6i.large, m5.large\""), "write `[first, second]`"),
        (group("successor: [web-2]"), "write `web-2` without brackets"),
        (group("launchTemplate: {id: lt-0a08c1f20ba2d31fa, version: $default}"), "did you mean `$Default`?"),
        (
            group("nodeRole: arn:aws:sts::123456789012:assumed-role/demo/i-1"),
            "write the ARN of the role itself, not of a session: `arn:aws:iam::ACCOUNT:role/NAME`",
        ),
        (in_spec("  pools: {a: {subnets: [{id: subnet-0aaaaaaaaaaaaaaaa, name: Pod_1A.}]}}\n"), "write `pod-1a`"),
    ] {
        assert_eq!(refuse(&text).2, expected, "{text}");
    }
}

#[test]
fn what_may_be_left_out_may_be_left_out() {
    let config = read_spec("  {}\n");
    assert_eq!((config.region, config.security_groups, config.label), (None, None, None));
    assert!(config.pools.is_empty() && config.node_groups.is_empty() && config.ignore.is_empty());

    let config = read_spec("  pools: {default: {subnetTags: {pods: \"yes\"}}}\n  nodeGroups: [{name: web}]\n");
    assert_eq!(
        config.node_groups,
        [NodeGroupConfig { name: "web".into(), pools: vec!["default".into()], ..Default::default() }]
    );
    assert_eq!(config.pools["default"].names, None);
}

#[test]
fn an_empty_list_of_security_groups_is_not_a_missing_one() {
    assert_eq!(read_spec("  securityGroups: []\n").security_groups, Some(Vec::new()));
}

/// YAML 1.1 readers take these for booleans and for a number of base sixty.
#[test]
fn names_that_yaml_1_1_would_change_stay_texts() {
    let config = read_spec(
        "  pools:\n    no: {subnets: [{id: subnet-0aaaaaaaaaaaaaaaa, name: off}]}\n    12:30: {subnetTags: {on: yes}}\n  \
         nodeGroups:\n    - {name: on, pools: [no, 12:30]}\n    - {name: y, map: [{cidr: 10.0.0.0/20, eniConfigs: [no]}]}\n  \
         ignore: [n]\n",
    );
    assert_eq!(config.pools.keys().collect::<Vec<_>>(), ["12:30", "no"]);
    assert_eq!(config.pools["no"].subnets[0].name.as_deref(), Some("off"));
    assert_eq!(config.pools["12:30"].subnet_tags, BTreeMap::from([("on".into(), "yes".into())]));
    assert_eq!(config.node_groups[0].name, "on");
    assert_eq!(config.node_groups[0].pools, ["no", "12:30"]);
    assert_eq!(config.node_groups[1].map[0].eni_configs, ["no"]);
    assert_eq!(config.ignore, ["n"]);
}

#[test]
fn anchors_stand_for_what_they_name() {
    let config = read_spec(
        "  securityGroups: &groups [sg-0a08c1f20ba2d31fa]\n  pools:\n    default: {subnetTags: {team: a}, securityGroups: *groups}\n",
    );
    assert_eq!(config.pools["default"].security_groups, config.security_groups);
}

#[test]
fn a_fault_behind_an_alias_is_shown_where_the_alias_is_used() {
    let text = in_spec("  securityGroups: &groups []\n  pools:\n    default: {subnets: *groups}\n");
    assert_eq!(
        refuse(&text),
        (
            Position { line: 7, column: 24 },
            "the list of subnets is empty".into(),
            "name at least one, or remove the key".into()
        )
    );
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
    let windows = format!("\u{feff}{}", EXAMPLE.replace('\n', "\r\n"));
    assert_eq!(read(&windows), read(EXAMPLE));
    let (position, ..) = refuse(&windows.replace("kind:", "knd:"));
    assert_eq!(position, Position { line: 2, column: 1 });
}

#[test]
fn a_lone_carriage_return_ends_a_line_as_it_does_in_yaml() {
    let error = Config::from_yaml("apiVersion: eniplan.dev/v1alpha1\rkind: PodNetwork\r", "eniplan.yaml").unwrap_err();
    assert!(explain(&error).contains("eniplan.yaml:2:7:"), "{error}");
    assert!(explain(&error).contains("\n2 | kind: PodNetwork\n  |       ^^^^^^^^^^\n"), "{}", explain(&error));
}

#[test]
fn columns_count_characters() {
    let (position, message, _) = refuse(&in_spec("  pools: {größe: {nmaes: zone}}\n"));
    assert_eq!((position, message.as_str()), (Position { line: 5, column: 19 }, "unknown key `nmaes` in pool `größe`"));
}

#[test]
fn every_design_takes_its_own_key_only() {
    let label = |text: &str| {
        Config::from_yaml(&in_spec(&format!("  label: {text}\n")), "").ok().and_then(|config| config.label)
    };
    let with = |design, key: Option<&str>| Some(LabelConfig { design, key: key.map(str::to_owned) });
    assert_eq!(label("{design: own}"), with(LabelDesign::Own, None));
    assert_eq!(label("{design: own, key: example.com/eni}"), with(LabelDesign::Own, Some("example.com/eni")));
    assert_eq!(
        label("{design: own, key: k8s.amazonaws.com/eniConfig}"),
        with(LabelDesign::Own, Some("k8s.amazonaws.com/eniConfig"))
    );
    assert_eq!(
        label("{design: override, key: vpc.amazonaws.com/externalEniConfig}"),
        with(LabelDesign::Override, None)
    );
    assert_eq!(label("{design: zone, key: topology.kubernetes.io/zone}"), with(LabelDesign::Zone, None));
    for refused in [
        "{design: own, key: vpc.amazonaws.com/externalEniConfig}",
        "{design: own, key: topology.kubernetes.io/zone}",
        "{design: own, key: node.kubernetes.io/eni}",
        "{design: own, key: scheduling.k8s.io/eni}",
        "{design: override, key: k8s.amazonaws.com/eniConfig}",
        "{design: zone, key: failure-domain.beta.kubernetes.io/zone}",
    ] {
        assert_eq!(label(refused), None, "{refused}");
    }
}

#[test]
fn cni_values_are_what_go_reads() {
    let env = |name: &str, value: &str| {
        Config::from_yaml(&in_spec(&format!("  cni: {{env: {{{name}: \"{value}\"}}}}\n")), "").is_ok()
    };
    for value in ["true", "false", "True", "FALSE", "t", "F", "1", "0"] {
        assert!(env("ENABLE_PREFIX_DELEGATION", value), "{value}");
    }
    for value in ["yes", "on", "tRUE", "", "2", " true"] {
        assert!(!env("ENABLE_SUBNET_DISCOVERY", value), "{value}");
    }
    for name in ["WARM_ENI_TARGET", "WARM_IP_TARGET", "WARM_PREFIX_TARGET", "MINIMUM_IP_TARGET"] {
        assert!(env(name, "0") && env(name, "16"));
        assert!(!env(name, "-1") && !env(name, "1.5") && !env(name, "") && !env(name, "99999999999"));
    }
}

#[test]
fn a_cluster_can_be_found_by_name() {
    let config = read(EXAMPLE);
    assert_eq!(config.node_group("batch").map(|group| group.strategy), Some(Strategy::Hash));
    assert_eq!(config.node_group("legacy-windows"), None);
}
