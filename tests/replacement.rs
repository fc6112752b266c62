//! Nodes that have to be replaced although nothing in their launch templates changes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods, missing_docs)]

use std::path::PathBuf;

use eniplan::config::Config;
use eniplan::diff::{Change, Diff, DiffOptions, VersionRef, diff};
use eniplan::inventory::{Inventory, LaunchTemplateVersion};
use eniplan::launch_template::Base64Bytes;
use eniplan::plan::plan;
use eniplan::render::render;

const SOURCE_VERSION_LABEL: &str = "eks.amazonaws.com/sourceLaunchTemplateVersion";

fn fixture(name: &str) -> (Inventory, String) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    let text = std::fs::read_to_string(folder.join("inventory.json")).unwrap();
    let config = std::fs::read_to_string(folder.join("eniplan.yaml")).unwrap();
    (Inventory::from_json(&text, "inventory.json").unwrap(), config)
}

fn differences(inventory: &Inventory, config: &str, roll: bool) -> Diff {
    let config = Config::from_yaml(config, "eniplan.yaml").unwrap();
    let planned = plan(inventory, &config).plan;
    let rendered = render(&planned, inventory).unwrap();
    diff(inventory, &config, &planned, &rendered, &DiffOptions { roll, ..DiffOptions::default() }).diff
}

/// The world after the launch-template versions of a diff are made, and after its groups use them where `moved`.
fn with_versions(inventory: &Inventory, diff: &Diff, moved: bool) -> Inventory {
    let mut after = inventory.clone();
    for change in &diff.changes {
        let Change::CreateLaunchTemplateVersion { node_group, request, .. } = change else { continue };
        let template = after
            .launch_templates
            .iter_mut()
            .find(|template| template.launch_template_id == request.launch_template_id)
            .unwrap();
        let source = request.source_version.as_ref().unwrap().parse().unwrap();
        let mut data = template.version(source).unwrap().launch_template_data.clone();
        data.user_data.clone_from(&request.launch_template_data.user_data);
        template.latest_version_number += 1;
        template.versions.push(LaunchTemplateVersion {
            version_number: template.latest_version_number,
            version_description: Some(request.version_description.clone()),
            launch_template_data: data,
        });
        let number = template.latest_version_number.to_string();
        if moved {
            let group = after.node_groups.iter_mut().find(|group| group.name == *node_group).unwrap();
            group.launch_template.as_mut().unwrap().version = Some(number.clone());
            for node in after.nodes.iter_mut().filter(|node| node.node_group() == Some(node_group)) {
                node.labels.insert(SOURCE_VERSION_LABEL.into(), number.clone());
            }
        }
    }
    after
}

/// What a diff does to the groups: which get a new version, and which move to which.
fn done(diff: &Diff) -> (Vec<&str>, Vec<(&str, &VersionRef)>) {
    let made = diff.changes.iter().filter_map(|change| match change {
        Change::CreateLaunchTemplateVersion { node_group, .. } => Some(node_group.as_str()),
        _ => None,
    });
    let moved = diff.changes.iter().filter_map(|change| match change {
        Change::UpdateNodeGroup { name, to, .. } => Some((name.as_str(), to)),
        _ => None,
    });
    (made.collect(), moved.collect())
}

fn switched(inventory: &Inventory) -> Inventory {
    let mut after = inventory.clone();
    let env = &mut after.aws_node.as_mut().unwrap().env;
    env.insert("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG".into(), "true".into());
    env.insert("ENI_CONFIG_LABEL_DEF".into(), "topology.kubernetes.io/zone".into());
    after
}

/// Custom networking is off, and the launch templates say already what the plan wants of them.
fn prepared() -> (Inventory, String) {
    let (inventory, config) = fixture("off-with-nodes");
    // As long as max pods are written, they are the same before and after the switch.
    let config = config.replace("pools: [default], adopt: true", "pools: [default], adopt: true, maxPods: 20");
    let config = config.replace("pools: [batch], adopt: true", "pools: [batch], adopt: true, maxPods: 44");
    let prepared = with_versions(&inventory, &differences(&inventory, &config, false), true);
    (prepared, config)
}

#[test]
fn the_switch_brings_versions_that_say_the_same() {
    let (inventory, config) = prepared();
    let diff = differences(&inventory, &config, true);
    let made = |name: &str| VersionRef::CreatedBy(name.into());
    assert_eq!(done(&diff), (vec!["api", "batch"], vec![("api", &made("api")), ("batch", &made("batch"))]));
    for change in &diff.changes {
        let Change::CreateLaunchTemplateVersion { node_group, request, .. } = change else { continue };
        let group = inventory.node_group(node_group).unwrap();
        let template = inventory.launch_template(&request.launch_template_id).unwrap();
        let in_use = template.version(template.latest_version_number).unwrap();
        assert_eq!(request.source_version, group.launch_template.as_ref().unwrap().version);
        assert_eq!(request.launch_template_data.user_data, in_use.launch_template_data.user_data);
        assert_ne!(Some(&request.version_description), in_use.version_description.as_ref());
    }
}

#[test]
fn a_run_that_got_as_far_as_the_switch_is_gone_on_with() {
    let (inventory, config) = prepared();
    let diff = differences(&inventory, &config, true);
    let stopped = switched(&with_versions(&inventory, &diff, false));
    let (three, two) = (VersionRef::Number(4), VersionRef::Number(3));
    assert_eq!(done(&differences(&stopped, &config, true)), (vec![], vec![("api", &three), ("batch", &two)]));
    // Without --roll it is not forgotten.
    let waiting = differences(&stopped, &config, false);
    assert!(waiting.awaiting.iter().any(|awaiting| awaiting.what.contains("by version 4")), "{:#?}", waiting.awaiting);
    let ended = switched(&with_versions(&inventory, &diff, true));
    assert_eq!(done(&differences(&ended, &config, true)), (vec![], vec![]));
}

#[test]
fn no_version_is_made_for_a_switch_that_waits() {
    let (mut inventory, config) = prepared();
    // In a zone of which no ENIConfig has the name.
    let mut lost = inventory.nodes[0].clone();
    lost.name = "lost".into();
    lost.labels.remove("eks.amazonaws.com/nodegroup");
    lost.labels.insert("topology.kubernetes.io/zone".into(), "us-west-2z".into());
    inventory.nodes.push(lost);
    let diff = differences(&inventory, &config, true);
    assert!(diff.has_gated());
    assert_eq!(done(&diff), (vec![], vec![]));
}

/// `api` stays on its zone, and nothing is to be written for it.
fn left_alone(adopt: bool, user_data: Option<&str>) -> Diff {
    let (mut inventory, config) = fixture("off-with-nodes");
    let keys = if adopt { "maxPods: eks, adopt: true" } else { "maxPods: eks" };
    let config =
        config.replace("name: api, pools: [default], adopt: true", &format!("name: api, pools: [default], {keys}"));
    let template =
        inventory.launch_templates.iter_mut().find(|template| template.launch_template_name == "growing-api");
    let in_use = template.unwrap().versions.last_mut().unwrap();
    in_use.launch_template_data.user_data = user_data.map(|text| Base64Bytes(text.into()));
    differences(&inventory, &config, true)
}

#[test]
fn a_template_that_the_plan_leaves_alone_gets_a_version_where_it_may() {
    let diff = left_alone(true, Some("#!/bin/bash\necho mine\n"));
    let (made, moved) = done(&diff);
    assert!(made.contains(&"api"));
    assert!(moved.iter().any(|(name, _)| *name == "api"));
    let sent = diff.changes.iter().find_map(|change| match change {
        Change::CreateLaunchTemplateVersion { node_group, request, .. } if node_group == "api" => Some(request),
        _ => None,
    });
    let sent = &sent.unwrap().launch_template_data;
    assert_eq!(sent.user_data.as_ref().unwrap().0, b"#!/bin/bash\necho mine\n");
}

#[test]
fn where_no_version_may_be_made_the_nodes_are_drained_by_commands() {
    for (adopt, user_data) in [(false, Some("#!/bin/bash\necho mine\n")), (true, None)] {
        let diff = left_alone(adopt, user_data);
        let (made, moved) = done(&diff);
        assert!(!made.contains(&"api") && moved.iter().all(|(name, _)| *name != "api"));
        let awaiting = diff.awaiting.iter().find(|awaiting| awaiting.how.contains("kubectl drain")).unwrap();
        assert!(awaiting.what.starts_with("4 of its nodes keep pod addresses of their own subnets"), "{awaiting:#?}");
        let commands: Vec<&str> = awaiting.how.lines().skip(1).collect();
        assert_eq!(commands.len(), 4);
        let (inventory, _) = fixture("off-with-nodes");
        for (command, node) in commands.iter().zip(inventory.nodes_of("api")) {
            let (name, instance) = (&node.name, node.instance_id.as_ref().unwrap());
            assert_eq!(
                *command,
                format!(
                    "kubectl drain {name} --ignore-daemonsets --delete-emptydir-data && aws ec2 terminate-instances --instance-ids {instance}"
                )
            );
        }
    }
}

#[test]
fn nodes_of_an_older_version_without_the_label_are_replaced_and_those_of_this_one_are_not() {
    let (inventory, config) = fixture("two-sets");
    let rolled = with_versions(&inventory, &differences(&inventory, &config, false), true);
    assert_eq!(done(&differences(&rolled, &config, true)), (vec![], vec![]));
    let left_behind = |version: &str| {
        let mut inventory = rolled.clone();
        let node = inventory.nodes.iter_mut().find(|node| node.node_group() == Some("apps")).unwrap();
        node.labels.remove("k8s.amazonaws.com/eniConfig");
        node.labels.insert(SOURCE_VERSION_LABEL.into(), version.into());
        inventory
    };
    assert_eq!(done(&differences(&left_behind("1"), &config, true)).0, ["apps"]);
    // What the version in use did not label, another of the same content will not label either.
    assert_eq!(done(&differences(&left_behind("2"), &config, true)), (vec![], vec![]));
    let mut updating = left_behind("1");
    updating.node_groups.iter_mut().find(|group| group.name == "apps").unwrap().status = Some("UPDATING".into());
    assert_eq!(done(&differences(&updating, &config, true)), (vec![], vec![]));
}
