//! Phases: what they add, and what is said where they cannot.

use super::*;

const START: &str = "  pools:
    default: {names: zone, subnets: [{id: subnet-00000001}]}
    tagged: {names: subnet, subnetTags: {team: batch}}
  nodeGroups:
    - {name: web}
    - {name: batch, maxPods: 20}
";

fn with_phases(phases: &str) -> String {
    in_spec(&format!("{START}{phases}"))
}

#[test]
fn each_phase_adds_to_those_before_it() {
    let config = read(&with_phases(
        "
  phases:
    - name: two
      pools:
        default: {subnets: [{id: subnet-00000002}]}
        second: {names: subnet, subnets: [{id: subnet-00000003}]}
      nodeGroups:
        - {name: batch, pools: [second], scaling: {min: 1, desired: 2, max: 3}}
    - name: three
      nodeGroups:
        - {name: jobs, pools: [second], strategy: hash}
",
    ));
    let way = config.way();
    let names: Vec<Option<&str>> = way.iter().map(|at| at.name.as_deref()).collect();
    assert_eq!(names, [None, Some("two"), Some("three")]);

    let start = &way[0].config;
    assert_eq!((start.pools.len(), start.node_groups.len()), (2, 2));
    let two = &way[1].config;
    assert_eq!(two.pools["default"].subnets.len(), 2);
    assert_eq!(two.pools["default"].names, Some(PoolNames::Zone));
    let batch = two.node_group("batch").unwrap();
    assert_eq!((batch.pools.as_slice(), batch.max_pods), (&["second".to_owned()][..], MaxPods::Number(20)));
    assert_eq!(batch.described.scaling, Some(DescribedScaling { min: 1, max: 3, desired: 2 }));
    assert_eq!(two.node_group("web"), start.node_group("web"));
    let three = &way[2].config;
    assert_eq!(three.pools, two.pools);
    assert_eq!(three.node_group("jobs").unwrap().strategy, Strategy::Hash);
    assert_eq!(three.node_groups.len(), 3);
    assert_eq!(config.current_phase, None);
}

#[test]
fn faults_in_phases_are_shown_where_they_are() {
    for (phases, line, message, help) in [
        (
            "
  phases:
    - {name: two, pools: {default: {names: subnet}}}
",
            13,
            "pool `default` is there already; a phase adds `subnets` to it and cannot set its `names`",
            "add the subnets only, or a pool of another name",
        ),
        (
            "
  phases:
    - {name: two, pools: {tagged: {subnets: [{id: subnet-00000002}]}}}
",
            13,
            "pool `tagged` selects its subnets by tag, so that a phase cannot add some by id",
            "tag the further subnets when the phase comes, or add a pool of another name",
        ),
        (
            "
  phases:
    - {name: two}
    - {name: two}
",
            14,
            "there is a phase `two` already, on line 13",
            "give every phase a name of its own",
        ),
        (
            "
  phases:
    - {name: two, nodeGroups: [{name: batch, pool: [second]}]}
",
            13,
            "unknown key `pool` in a node group",
            "did you mean `pools`?",
        ),
        (
            "
  phases:
    - {name: two, pools: {default: {subnets: [{id: subnet-00000001}]}}}
",
            13,
            "`subnet-00000001` is in pool `default` twice",
            "keep one of the two",
        ),
        (
            "
  phases:
    - {name: two}
  currentPhase: tow
",
            14,
            "there is no phase `tow`",
            "did you mean `two`?",
        ),
        (
            "
  currentPhase: two
",
            12,
            "there is no phase `two`",
            "add it under spec.phases, or remove `currentPhase`",
        ),
        (
            "
  phases:
    - {name: phase 2}
",
            13,
            "`phase 2` cannot name a phase",
            "write at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit first",
        ),
        (
            "
  phases:
    - {name: two, ignore: [web]}
",
            13,
            "unknown key `ignore` in a phase",
            "known keys here: name, pools, nodeGroups",
        ),
    ] {
        let (position, found, advice) = refuse(&with_phases(phases));
        assert_eq!((position.line, found.as_str(), advice.as_str()), (line, message, help), "{phases}");
    }
}
