//! The walk-through of docs/apply.md, and the permissions that it takes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::apply::World;
use crate::apply_faults::key_change;
use crate::bench::{fixture, fixture_config, source};

/// The fenced blocks of a language, in order.
fn blocks(page: &str, language: &str) -> Vec<String> {
    page.split(&format!("```{language}\n")).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_walk_through_is_true() {
    let page = std::fs::read_to_string(source("docs/apply.md")).unwrap();
    let wishes = blocks(&page, "yaml").remove(0);
    let world = World::with(&fixture("new-cluster"), &wishes);
    let commands: Vec<String> =
        blocks(&page, "sh").iter().flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    assert!(commands.len() > 8);
    for (number, command) in commands.iter().enumerate() {
        let mut arguments: Vec<&str> = command.split(' ').skip(1).collect();
        if arguments[0] == "apply" {
            arguments.extend(["--poll-interval", "0.001"]);
        }
        if number == 7 {
            world.wish(&wishes.replace("    - name: blue\n", "    - name: blue\n      maxPods: 12\n"));
        }
        world.bench.forget_calls();
        let run = world.run(&arguments);
        let expected = if arguments[0] == "diff" { 3 } else { 0 };
        assert_eq!(run.code, Some(expected), "{command}: {run:#?}");
        match number {
            3 => assert!(run.stdout.contains("add-on vpc-cni"), "{run:#?}"),
            4 | 5 => assert!(world.changing_calls().contains(&"eks CreateNodegroup".to_owned()), "{command}"),
            6 => assert_eq!(world.changing_calls(), Vec::<String>::new(), "{command}"),
            7 => assert!(run.stdout.contains("node group blue moves from version 1 to"), "{run:#?}"),
            8 => assert!(run.stdout.contains("node group blue moves from version 2 to 1"), "{run:#?}"),
            _ => {}
        }
    }
    let nodes: Vec<Value> = serde_json::from_value(world.end_state()["nodes"].clone()).unwrap();
    assert!(nodes.iter().all(|node| node.as_str().unwrap().contains("eniConfig")), "{nodes:#?}");
}

/// Every AWS action of the policy and every verb of the role.
fn allowed(world: &World, cluster: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let policy = world.run(&["iam-policy", "--for", "apply", "--cluster", cluster]).ended(0);
    let policy: Value = serde_json::from_str(&policy.stdout).unwrap();
    let statements = policy["Statement"].as_array().unwrap();
    let aws = statements
        .iter()
        .flat_map(|statement| statement["Action"].as_array().unwrap().clone())
        .map(|action| action.as_str().unwrap().to_owned())
        .collect();
    let role = world.run(&["iam-policy", "--for", "apply", "--rbac"]).ended(0);
    let mut kubernetes = BTreeSet::new();
    for document in role.stdout.split("---\n").skip(1) {
        let document: Value = serde_saphyr::from_str(document).unwrap();
        for rule in document["rules"].as_array().into_iter().flatten() {
            for resource in rule["resources"].as_array().unwrap() {
                for verb in rule["verbs"].as_array().unwrap() {
                    kubernetes.insert(format!("kube:{} {}", verb.as_str().unwrap(), resource.as_str().unwrap()));
                }
            }
        }
    }
    (aws, kubernetes)
}

/// AWS checks these, and no call of ours names them.
const IMPLIED: [&str; 3] = ["ec2:CreateTags", "ec2:RunInstances", "iam:PassRole"];

#[test]
fn the_policy_is_enough_and_not_more() {
    let mut used = BTreeSet::new();
    let mut allowed_actions = BTreeSet::new();
    let walks: [(World, &[&[&str]]); 4] = [
        (World::of("mixed"), &[&["--roll"]]),
        (World::of("new-cluster"), &[&["--roll"]]),
        (
            World::with(&with_an_association(fixture("off-with-nodes")), &fixture_config("off-with-nodes")),
            &[&["--roll", "--set-default"], &["--rollback", "--node-group", "api"]],
        ),
        {
            let (inventory, config) = key_change();
            (World::with(&inventory, &config), &[&["--label-nodes", "--roll", "--prune", "--prune-versions", "1"]])
        },
    ];
    for (world, runs) in walks {
        let (aws, kubernetes) = allowed(&world, "*");
        let allow: Vec<String> = aws.iter().chain(&kubernetes).cloned().chain(["sts:*".to_owned()]).collect();
        world.bench.settings(&json!({ "allow": allow }));
        world.bench.forget_calls();
        for flags in runs {
            world.apply(flags).ended(0);
        }
        for call in world.bench.calls() {
            let (service, action) = (call["service"].as_str().unwrap(), call["action"].as_str().unwrap());
            used.insert(format!("{service}:{action}"));
        }
        allowed_actions.extend(aws);
        allowed_actions.extend(kubernetes);
    }
    let unused: Vec<&String> = allowed_actions
        .iter()
        .filter(|action| !used.contains(*action) && !IMPLIED.contains(&action.as_str()))
        .collect();
    // Server-side apply of an object that is not there is allowed by `create` beside `patch`; a Lease that has run out,
    // or is renewed, is updated.
    assert_eq!(unused, ["kube:create eniconfigs", "kube:update leases"]);
}

/// The add-on with a role of its own.
fn with_an_association(mut inventory: Value) -> Value {
    let association = "arn:aws:eks:us-west-2:111122223333:podidentityassociation/growing/a-0123456789abcdef0";
    inventory["add_on"]["pod_identity_associations"] = json!([association]);
    inventory
}
