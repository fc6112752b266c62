//! The walk-through of docs/apply.md, and the permissions that it takes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::apply::{Run, World};
use crate::apply_faults::key_change;
use crate::bench::{fixture, fixture_config, source};

/// What the page has its reader do, in order.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Run(String),
    Edit(String),
}

/// The commands and the edits of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for block in page.split("```").skip(1).step_by(2) {
        let (language, text) = block.split_once('\n').unwrap();
        match language {
            "sh" => steps.extend(text.lines().map(|line| Step::Run(line.to_owned()))),
            "diff" => steps.push(Step::Edit(text.to_owned())),
            _ => {}
        }
    }
    steps
}

/// Makes an edit: the lines that it shows must be there, once.
fn edit(world: &World, diff: &str) {
    let side = |without: char| -> String {
        diff.lines().filter(|line| !line.starts_with(without)).map(|line| format!("{}\n", &line[1..])).collect()
    };
    let (old, new) = (side('+'), side('-'));
    let file = std::fs::read_to_string(world.path("eniplan.yaml")).unwrap();
    assert_eq!(file.matches(&old).count(), 1, "{old}\nis not once in\n{file}");
    world.wish(&file.replace(&old, &new));
}

/// A command of the page: how it ends, what it says, and which changes it makes.
type Expected = (&'static str, i32, &'static str, &'static [&'static str]);

const WALK: [Expected; 12] = [
    ("eniplan init --cluster greenfield", 0, "wrote eniplan.yaml: 2 pools, 0 node groups", &[]),
    ("eniplan plan", 0, "us-east-2a", &[]),
    ("eniplan diff --roll", 3, "+ node group blue on the launch template that this run makes", &[]),
    ("eniplan diff --out change.json", 3, "change.json is written", &[]),
    ("eniplan apply --diff change.json --yes", 0, "add-on vpc-cni", &["eks CreateAddon", "ec2 CreateLaunchTemplate"]),
    ("eniplan apply --node-group blue --yes --roll", 0, "1 done, 0 failed", &["eks CreateNodegroup"]),
    ("eniplan apply --yes --roll", 0, "+ node group green", &["eks CreateNodegroup"]),
    ("eniplan apply --yes --roll", 0, "", &[]),
    (
        "eniplan apply --yes --roll",
        0,
        "node group blue moves from version 1 to",
        &["ec2 CreateLaunchTemplateVersion", "eks UpdateNodegroupVersion"],
    ),
    (
        "eniplan apply --rollback --node-group blue --yes",
        0,
        "node group blue moves from version 2 to 1",
        &["eks UpdateNodegroupVersion"],
    ),
    ("eniplan iam-policy --for apply --cluster greenfield", 0, "eks:CreateNodegroup", &[]),
    ("eniplan iam-policy --for apply --rbac", 0, "eniconfigs", &[]),
];

fn run(world: &World, command: &str) -> Run {
    let mut arguments: Vec<&str> = command.split(' ').skip(1).collect();
    if arguments[0] == "apply" {
        arguments.extend(["--poll-interval", "0.001"]);
    }
    world.run(&arguments)
}

#[test]
fn the_walk_through_is_true() {
    let page = std::fs::read_to_string(source("docs/apply.md")).unwrap();
    let world = World::without_a_file(&fixture("new-cluster"));
    let mut expected = WALK.into_iter();
    for step in steps(&page) {
        let command = match step {
            Step::Edit(diff) => {
                edit(&world, &diff);
                continue;
            }
            Step::Run(command) => command,
        };
        let (shown, code, says, changes) = expected.next().unwrap();
        assert_eq!(command, shown);
        world.bench.forget_calls();
        run(&world, &command).ended(code).says(says);
        let calls = world.changing_calls();
        for change in changes {
            assert!(calls.iter().any(|call| call == change), "{command}: no {change} among {calls:#?}");
        }
        assert_eq!(calls.is_empty(), changes.is_empty(), "{command}: {calls:#?}");
        if command == "eniplan apply --yes --roll" {
            every_pod_interface_is_where_the_label_says(&world);
        }
    }
    assert_eq!(expected.next(), None);
}

/// The same groups on a cluster that runs `aws-node` of the stock manifest, by one command.
#[test]
fn one_command_makes_it_all_where_aws_node_is_there_already() {
    let page = std::fs::read_to_string(source("docs/apply.md")).unwrap();
    let mut inventory = fixture("new-cluster");
    let other = fixture("small");
    for part in ["aws_node", "eni_config_crd"] {
        inventory[part] = other[part].clone();
    }
    let world = World::without_a_file(&inventory);
    for step in steps(&page).into_iter().take(3) {
        match step {
            Step::Edit(diff) => edit(&world, &diff),
            Step::Run(command) => _ = run(&world, &command).ended(0),
        }
    }
    world.bench.forget_calls();
    world.apply(&["--roll"]).ended(0);
    let calls = world.changing_calls();
    let first = |wanted: &str| calls.iter().position(|call| call == wanted).unwrap();
    let order = ["kube patch eniconfigs", "ec2 CreateLaunchTemplate", "kube patch daemonsets", "eks CreateNodegroup"];
    assert!(order.windows(2).all(|pair| first(pair[0]) < first(pair[1])), "{calls:#?}");
    every_pod_interface_is_where_the_label_says(&world);
}

/// The end of the walk: two nodes a zone, one of each group, on the ENIConfig of its zone and of its subnet.
fn every_pod_interface_is_where_the_label_says(world: &World) {
    let nodes = world.nodes_by_eni_config();
    let zones = ["us-east-2a", "us-east-2b", "us-east-2c"];
    let subnets = ["pods-green-a", "pods-green-b", "pods-green-c"];
    assert_eq!(nodes.keys().map(String::as_str).collect::<BTreeSet<_>>(), zones.into_iter().chain(subnets).collect());
    assert!(nodes.values().all(|nodes| nodes.len() == 1), "{nodes:#?}");
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
