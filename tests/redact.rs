//! Redacted inventories of every fixture: nothing that names anybody, and the same plan.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use eniplan::capacity::{Question, capacity};
use eniplan::check::{Facts, findings, graded};
use eniplan::config::Config;
use eniplan::finding::has_errors;
use eniplan::inventory::redact::{digest, pseudonyms, redacted};
use eniplan::inventory::{Inventory, Pseudonyms};
use eniplan::plan::plan;
use eniplan::render::{Rendered, render};
use eniplan::user_data;
use serde_json::Value;

fn fixtures() -> Vec<(String, Inventory, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let read = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    folders
        .into_iter()
        .filter(|folder| folder.join("inventory.json").is_file())
        .map(|folder| {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            let inventory = Inventory::from_json(&read(folder.join("inventory.json")), &name).unwrap();
            (name, inventory, read(folder.join("eniplan.yaml")))
        })
        .collect()
}

fn redact(inventory: &Inventory) -> (Inventory, Pseudonyms) {
    let pseudonyms = pseudonyms(inventory);
    let shown = redacted(inventory, &pseudonyms, |bytes| {
        user_data::redact::redacted(bytes, digest, |text| pseudonyms.text(text))
    });
    (shown.unwrap(), pseudonyms)
}

/// Ids and the names that people gave, as far as they hold anything but the words of the field.
fn telling(inventory: &Inventory, pseudonyms: &Pseudonyms) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    names.insert(inventory.cluster.name.clone());
    names.extend(inventory.account_id.clone());
    names.extend(inventory.cluster.endpoint.clone());
    names.extend(inventory.cluster.certificate_authority.clone());
    names.extend(inventory.vpc.iter().map(|vpc| vpc.vpc_id.clone()));
    names.extend(inventory.subnets.iter().map(|subnet| subnet.subnet_id.clone()));
    names.extend(inventory.subnets.iter().filter_map(|subnet| subnet.name().map(str::to_owned)));
    names.extend(inventory.security_groups.iter().map(|group| group.group_id.clone()));
    names.extend(inventory.security_groups.iter().filter_map(|group| group.group_name.clone()));
    names.extend(inventory.node_groups.iter().map(|group| group.name.clone()));
    names.extend(inventory.node_groups.iter().filter_map(|group| group.node_role.clone()));
    names.extend(inventory.launch_templates.iter().map(|template| template.launch_template_id.clone()));
    names.extend(inventory.launch_templates.iter().map(|template| template.launch_template_name.clone()));
    names.extend(inventory.eni_configs.iter().map(|eni_config| eni_config.name.clone()));
    names.extend(inventory.nodes.iter().filter_map(|node| node.instance_id.clone()));
    names.retain(|name| pseudonyms.text(name) != *name && name.len() > 3);
    names
}

/// Every text in a value, and the keys that users choose.
fn texts(value: &Value, field: &str, found: &mut String) {
    match value {
        // An API's word, and by chance a group's name.
        Value::String(_) if field == "hypervisor" => {}
        Value::String(text) => found.push_str(&format!("{text}\n")),
        Value::Array(items) => items.iter().for_each(|item| texts(item, field, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if matches!(field, "labels" | "tags" | "annotations" | "env") {
                    found.push_str(&format!("{name}\n"));
                }
                texts(value, name, found);
            }
        }
        _ => {}
    }
}

#[test]
fn no_name_and_no_id_is_left() {
    for (name, inventory, _) in fixtures() {
        let (shown, pseudonyms) = redact(&inventory);
        let names = telling(&inventory, &pseudonyms);
        assert!(names.len() > 10, "{name}: {names:?}");
        let mut text = String::new();
        texts(&serde_json::to_value(&shown).unwrap(), "", &mut text);
        for user_data in shown.launch_templates.iter().flat_map(|template| &template.versions) {
            let bytes = user_data.launch_template_data.user_data.as_ref().map(|bytes| bytes.0.clone());
            text.push_str(&String::from_utf8_lossy(&bytes.unwrap_or_default()));
        }
        let words: BTreeSet<&str> = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).collect();
        for name_or_id in names {
            assert!(!words.contains(name_or_id.as_str()), "{name}: {name_or_id} is left");
        }
    }
}

/// The findings and the ENIConfigs of every node subnet, by rule and number.
fn decided(inventory: &Inventory, config: &Config) -> (Vec<String>, Vec<usize>) {
    let planned = plan(inventory, config);
    let stopped = has_errors(&graded(planned.problems.clone()));
    let rendered = if stopped { Rendered::default() } else { render(&planned.plan, inventory).unwrap() };
    let capacity = capacity(inventory, config, &planned.plan, &Question::default());
    let facts = Facts { inventory, config, plan: &planned.plan, rendered: &rendered, capacity: &capacity };
    let mut rules: Vec<String> =
        findings(&facts, &planned.problems).iter().map(|finding| finding.rule.to_string()).collect();
    rules.retain(|rule| rule != "inventory-redacted");
    rules.sort();
    let mut groups: Vec<usize> = planned.plan.node_groups.iter().map(|group| group.assignments.len()).collect();
    groups.sort_unstable();
    (rules, groups)
}

#[test]
fn a_redacted_cluster_is_planned_as_the_real_one() {
    for (name, inventory, yaml) in fixtures() {
        let (shown, pseudonyms) = redact(&inventory);
        let config = Config::from_yaml(&yaml, "eniplan.yaml").unwrap();
        let renamed: String = yaml
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'))
            .map(|line| pseudonyms.text(line) + "\n")
            .collect();
        let renamed =
            Config::from_yaml(&renamed, "eniplan.yaml").unwrap_or_else(|error| panic!("{name}: {error}\n{renamed}"));
        assert_eq!(decided(&shown, &renamed), decided(&inventory, &config), "{name}");
    }
}

#[test]
fn redacting_twice_gives_the_same_bytes_and_keeps_the_shape() {
    for (name, inventory, _) in fixtures() {
        let (shown, _) = redact(&inventory);
        assert_eq!(redact(&inventory).0.to_json().unwrap(), shown.to_json().unwrap(), "{name}");
        let shape = |inventory: &Inventory| {
            let json = serde_json::to_value(inventory).unwrap();
            let ids = inventory.subnets.iter().map(|subnet| subnet.subnet_id.len()).collect::<Vec<_>>();
            (json.as_object().unwrap().keys().cloned().collect::<Vec<_>>(), ids, inventory.cluster.name.len())
        };
        assert_eq!(shape(&shown), shape(&inventory), "{name}");
        assert!(shown.subnets.iter().all(|subnet| subnet.subnet_id.starts_with("subnet-")));
        assert!(shown.redacted);
    }
}

/// The first fixture with what `verify` looks at, where everything has a name of its own.
fn with_pods() -> Inventory {
    let (_, inventory, _) = fixtures().into_iter().find(|(name, ..)| name == "three-zones").unwrap();
    let node = &inventory.nodes[0];
    let mut value = serde_json::to_value(&inventory).unwrap();
    value["observed"] = serde_json::json!({
        "pods": [
            {"namespace": "acme-shop", "name": "topology-updater-6d4b75cb6d-2lq8z", "node": node.name, "ip": "100.64.1.7",
                "phase": "Running"},
            {"namespace": "kube-system", "name": "zebra-0", "phase": "Pending", "branch_interface": true},
        ],
        "network_interfaces": [
            {"network_interface_id": "eni-0123456789abcdef0", "interface_type": "interface", "status": "in-use",
                "description": format!("aws-K8S-{}", node.instance_id.as_deref().unwrap()),
                "subnet_id": inventory.subnets[0].subnet_id, "groups": ["sg-0123456789abcdef1"],
                "attachment": {"instance_id": node.instance_id, "device_index": 1}, "private_ip_address": "100.64.1.5",
                "tags": {"node.k8s.amazonaws.com/no_manage": "true", "squad": "falcons"}},
            {"network_interface_id": "eni-0123456789abcdef2", "description": "balancer of lemonade",
                "subnet_id": inventory.subnets[0].subnet_id},
            {"network_interface_id": "eni-0123456789abcdef3", "description": "aws-k8s-trunk-eni",
                "subnet_id": inventory.subnets[0].subnet_id},
        ],
        "cni_nodes": [{"name": node.name, "features": {"CustomNetworking": inventory.eni_configs[0].name}}],
        "security_group_policies": [{"namespace": "acme-shop", "name": "vault", "group_ids": ["sg-0123456789abcdef1"]}],
        "node_pools": [{"name": "burst", "zones": ["us-west-2a"], "node_class": "thrifty",
            "labels": {"squad": "falcons", "topology.kubernetes.io/region": "us-west-2"}}],
        "ec2_node_classes": [{"name": "thrifty", "user_data": "#!/bin/sh\necho hush\n", "max_pods": 58}],
    });
    serde_json::from_value(value).unwrap()
}

#[test]
fn pods_and_interfaces_lose_their_names_and_keep_what_a_check_needs() {
    let inventory = with_pods();
    let (shown, pseudonyms) = redact(&inventory);
    let observed = shown.observed.clone().unwrap();
    let mut text = String::new();
    texts(&serde_json::to_value(&observed).unwrap(), "", &mut text);
    for name in [
        "acme",
        "shop",
        "updater",
        "6d4b75cb6d",
        "2lq8z",
        "zebra",
        "falcons",
        "squad",
        "lemonade",
        "balancer",
        "vault",
        "burst",
        "thrifty",
        "hush",
        "0123456789abcdef",
    ] {
        assert!(!text.contains(name), "{name} is left: {text}");
    }
    let node = &shown.nodes[0];
    assert_eq!(observed.pods.iter().filter(|pod| pod.node.as_ref() == Some(&node.name)).count(), 1);
    assert!(observed.pods.iter().any(|pod| pod.namespace == "kube-system" && pod.branch_interface));
    let [made, foreign, trunk] = observed.network_interfaces.as_slice() else { panic!("{observed:#?}") };
    let mut described: Vec<_> = [made, foreign, trunk].iter().map(|one| one.description.clone().unwrap()).collect();
    described.sort();
    assert_eq!(described[0], format!("aws-K8S-{}", node.instance_id.as_deref().unwrap()));
    assert_eq!(described[1], "aws-k8s-trunk-eni");
    let tagged = observed.network_interfaces.iter().find(|one| !one.tags.is_empty()).unwrap();
    assert_eq!(tagged.tags.get("node.k8s.amazonaws.com/no_manage").map(String::as_str), Some("true"));
    assert!(shown.eni_config(&observed.cni_nodes[0].features["CustomNetworking"]).is_some());
    assert!(shown.subnet(&tagged.subnet_id).is_some());
    assert_eq!(observed.node_pools[0].node_class.as_ref(), Some(&observed.ec2_node_classes[0].name));
    assert_eq!(observed.node_pools[0].zones, ["us-west-2a"]);
    assert!(observed.ec2_node_classes[0].user_data.as_ref().unwrap().starts_with("#!/bin/sh\n# redacted: "));
    // A pod's words change nothing of the rest.
    let mut without = inventory;
    without.observed = None;
    let (expected, _) = redact(&without);
    assert_eq!(Inventory { observed: None, ..shown }, expected);
    assert_eq!(pseudonyms.text("topology"), "topology");
}
