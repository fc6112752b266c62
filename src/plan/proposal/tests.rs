//! One change to a cluster that works, and what is proposed for it.

use serde_json::{Value, json};

use super::{NewSubnets, Proposal, propose};
use crate::config::{LabelDesign, PoolNames, Strategy};
use crate::inventory::Inventory;
use crate::plan::plan;

fn fixture(name: &str) -> Value {
    let text = match name {
        "quickstart" => include_str!("../../../fixtures/quickstart/inventory.json"),
        "three-zones" => include_str!("../../../fixtures/three-zones/inventory.json"),
        "off-with-nodes" => include_str!("../../../fixtures/off-with-nodes/inventory.json"),
        "public-and-private" => include_str!("../../../fixtures/public-and-private/inventory.json"),
        other => panic!("no fixture {other}"),
    };
    serde_json::from_str(text).unwrap()
}

fn inventory(value: &Value) -> Inventory {
    Inventory::from_json(&value.to_string(), "inventory.json").unwrap()
}

/// The fixture after `change`, proposed; the proposal plans without a problem unless pod subnets are missing.
fn proposed(name: &str, change: impl FnOnce(&mut Value)) -> Proposal {
    let mut value = fixture(name);
    change(&mut value);
    propose(&inventory(&value))
}

fn new_subnets(name: &str, change: impl FnOnce(&mut Value)) -> NewSubnets {
    proposed(name, change).new_subnets.expect("pod subnets are missing")
}

fn cidrs(new: &NewSubnets) -> Vec<String> {
    new.subnets.iter().map(|subnet| subnet.cidr.to_string()).collect()
}

/// Leaves the node subnets.
fn without_pod_subnets(value: &mut Value) {
    value["eni_configs"] = json!([]);
    value["subnets"].as_array_mut().unwrap().retain(|subnet| {
        let name = subnet["tags"]["Name"].as_str().unwrap();
        !name.starts_with("pod")
    });
}

fn associate(value: &mut Value, block: &str, state: &str) {
    let associations = value["vpc"]["cidr_block_associations"].as_array_mut().unwrap();
    associations.push(json!({ "cidr_block": block, "state": state }));
}

#[test]
fn without_any_pod_subnet_a_block_is_associated_and_cut() {
    let proposal = proposed("quickstart", without_pod_subnets);
    let new = proposal.new_subnets.unwrap();
    assert_eq!(new.associate, Some("100.64.0.0/16".parse().unwrap()));
    assert_eq!(cidrs(&new), ["100.64.0.0/18", "100.64.64.0/18", "100.64.128.0/18"]);
    let zones: Vec<&str> = new.subnets.iter().map(|subnet| subnet.availability_zone_id.as_str()).collect();
    assert_eq!(zones, ["apse1-az2", "apse1-az1", "apse1-az3"]);
    assert_eq!(proposal.config.pools["default"].subnet_tags["eniplan.dev/pool"], "default");
}

#[test]
fn a_block_without_nodes_is_used_before_another_is_associated() {
    let new = new_subnets("quickstart", |value| {
        without_pod_subnets(value);
        associate(value, "100.64.0.0/16", "associated");
        let mut elsewhere = value["subnets"][0].clone();
        elsewhere["subnet_id"] = json!("subnet-0000000000000aaaa");
        elsewhere["cidr_block"] = json!("100.64.0.0/24");
        elsewhere["map_public_ip_on_launch"] = json!(true);
        value["subnets"].as_array_mut().unwrap().push(elsewhere);
    });
    assert_eq!(new.associate, None);
    assert_eq!(cidrs(&new), ["100.64.64.0/18", "100.64.128.0/18", "100.64.192.0/18"]);
}

#[test]
fn a_block_that_is_being_associated_is_waited_for() {
    let new = new_subnets("quickstart", |value| {
        without_pod_subnets(value);
        associate(value, "100.64.0.0/20", "associating");
    });
    assert_eq!(cidrs(&new), ["100.64.0.0/22", "100.64.4.0/22", "100.64.8.0/22"]);
    assert!(new.notes[0].contains("wait until 100.64.0.0/20 is associated"), "{:?}", new.notes);
}

#[test]
fn a_block_is_chosen_beside_those_that_are_taken() {
    let new = new_subnets("quickstart", |value| {
        without_pod_subnets(value);
        associate(value, "100.64.0.0/16", "disassociating");
        for block in ["172.30.0.0/16", "172.29.0.0/16", "172.28.0.0/16"] {
            associate(value, block, "failed");
        }
        value["route_tables"][0]["routes"].as_array_mut().unwrap().extend([
            json!({ "destination": "100.65.128.0/17", "target": "tgw-01", "state": "active" }),
            json!({ "destination": "100.64.0.0/10", "target": "tgw-01", "state": "active" }),
        ]);
    });
    assert_eq!(new.associate, Some("100.66.0.0/16".parse().unwrap()));
    assert!(new.notes.iter().any(|note| note.contains("sends 100.64.0.0/10 elsewhere")), "{:?}", new.notes);
    assert!(!new.notes.iter().any(|note| note.contains("L-83CA0A9D")), "{:?}", new.notes);
}

#[test]
fn the_quota_of_blocks_is_named() {
    let new = new_subnets("quickstart", |value| {
        without_pod_subnets(value);
        for block in ["172.30.0.0/24", "172.29.0.0/24", "172.28.0.0/24", "172.27.0.0/24"] {
            associate(value, block, "associated");
        }
    });
    assert_eq!(new.associate, None);
    assert_eq!(cidrs(&new), ["172.27.0.0/24", "172.28.0.0/24", "172.29.0.0/24"]);
    let new = new_subnets("quickstart", |value| {
        without_pod_subnets(value);
        for block in ["172.30.0.0/28", "172.29.0.0/28", "172.28.0.0/28", "172.27.0.0/28"] {
            associate(value, block, "associated");
        }
    });
    assert_eq!(new.associate, Some("100.64.0.0/16".parse().unwrap()));
    assert!(new.notes.iter().any(|note| note.contains("L-83CA0A9D")), "{:?}", new.notes);
}

#[test]
fn one_missing_zone_is_asked_for_alone() {
    let proposal = proposed("three-zones", |value| {
        value["subnets"].as_array_mut().unwrap().retain(|subnet| subnet["tags"]["Name"] != "pods-us-west-2c");
    });
    let new = proposal.new_subnets.unwrap();
    assert_eq!(new.associate, None);
    assert_eq!(new.subnets.len(), 1);
    assert_eq!((new.subnets[0].availability_zone.as_str(), new.subnets[0].pool.as_str()), ("us-west-2c", "default"));
    assert_eq!(new.subnets[0].cidr.to_string(), "100.64.128.0/18");
    assert!(
        proposal.reasons.left_out.iter().any(|reason| reason.contains("pods-us-west-2c")),
        "{:?}",
        proposal.reasons
    );
}

#[test]
fn a_shared_vpc_is_changed_by_its_owner() {
    let new = new_subnets("quickstart", |value| {
        without_pod_subnets(value);
        value["vpc"]["owner_id"] = json!("999988887777");
    });
    assert!(new.notes.iter().any(|note| note.contains("999988887777")), "{:?}", new.notes);
}

#[test]
fn an_outpost_needs_a_pod_subnet_of_its_own() {
    let outpost = "arn:aws:outposts:ap-southeast-1:111122223333:outpost/op-0123456789abcdef0";
    let new = new_subnets("quickstart", |value| {
        let subnets = value["subnets"].as_array_mut().unwrap();
        let node_subnet = subnets.iter_mut().find(|subnet| subnet["tags"]["Name"] == "node-1a-subnet-1").unwrap();
        node_subnet["outpost_arn"] = json!(outpost);
    });
    let places: Vec<_> =
        new.subnets.iter().map(|subnet| (subnet.pool.as_str(), subnet.outpost_arn.as_deref())).collect();
    assert_eq!(places, [("batch", Some(outpost)), ("default", Some(outpost))]);
}

#[test]
fn bottlerocket_over_several_zones_stays_on_the_zone_or_is_left_alone() {
    let bottlerocket = |value: &mut Value| {
        for group in value["node_groups"].as_array_mut().unwrap() {
            group["ami_type"] = json!("BOTTLEROCKET_x86_64");
        }
    };
    let proposal = proposed("quickstart", bottlerocket);
    let batch = proposal.config.node_group("batch").unwrap();
    assert_eq!(batch.pools, ["default"]);
    assert!(!batch.adopt);
    let proposal = proposed("three-zones", bottlerocket);
    assert_eq!(proposal.config.ignore, ["general", "pinned"]);
    assert!(
        proposal.reasons.ignore["general"].contains("us-west-2a, us-west-2b, us-west-2c"),
        "{:?}",
        proposal.reasons
    );
}

#[test]
fn a_group_that_sets_the_label_itself_is_left_alone() {
    let proposal = proposed("three-zones", |value| {
        value["node_groups"][0]["labels"]["k8s.amazonaws.com/eniConfig"] = json!("pods-us-west-2a");
    });
    assert_eq!(proposal.config.ignore, ["general"]);
    assert!(proposal.reasons.ignore["general"].contains("k8s.amazonaws.com/eniConfig=pods-us-west-2a"));
}

#[test]
fn a_family_that_cannot_be_planned_is_left_alone() {
    let proposal = proposed("three-zones", |value| {
        value["images"][0]["name"] =
            json!("ubuntu-eks/k8s_1.33/images/hvm-ssd-gp3/ubuntu-noble-24.04-amd64-server-20260101");
    });
    assert_eq!(proposal.config.ignore, ["pinned"]);
}

#[test]
fn nodes_that_differ_by_node_subnet_make_a_map() {
    let proposal = proposed("public-and-private", |_| {});
    let proxies = proposal.config.node_group("proxies").unwrap();
    let rows: Vec<String> =
        proxies.map.iter().map(|row| format!("{} {}", row.cidr, row.eni_configs.join(" "))).collect();
    assert_eq!(
        rows,
        [
            "10.0.0.0/20 pods-private-a",
            "10.0.16.0/20 pods-private-b",
            "10.0.32.0/20 pods-private-c",
            "10.0.96.0/20 pods-public-a",
            "10.0.112.0/20 pods-public-b",
            "10.0.128.0/20 pods-public-c",
        ]
    );
}

#[test]
fn subnets_without_names_are_told_apart_by_their_order() {
    let proposal = proposed("off-with-nodes", |value| {
        for subnet in value["subnets"].as_array_mut().unwrap() {
            if subnet["cidr_block"].as_str().unwrap().starts_with("100.64.") {
                subnet["tags"] = json!({});
            }
        }
    });
    let pools = &proposal.config.pools;
    assert_eq!(pools.keys().collect::<Vec<_>>(), ["default", "pods-2"]);
    assert_eq!(pools["default"].names, Some(PoolNames::Zone));
    let names: Vec<_> = pools["pods-2"].subnets.iter().map(|subnet| subnet.name.as_deref()).collect();
    assert_eq!(names, [Some("pods-2-us-west-2a"), Some("pods-2-us-west-2b")]);
    assert!(proposal.reasons.pools["pods-2"][0].contains("only their CIDRs tell them apart"));
}

#[test]
fn two_eni_configs_of_one_subnet_are_never_in_one_pool() {
    let proposal = proposed("three-zones", |value| {
        let mut second = value["eni_configs"][0].clone();
        second["name"] = json!("pods-restricted-us-west-2a");
        second["security_groups"] = json!(["sg-0b3849682331b0ed8"]);
        value["eni_configs"].as_array_mut().unwrap().push(second);
    });
    assert_eq!(proposal.config.pools.keys().collect::<Vec<_>>(), ["pods", "pods-restricted"]);
    assert!(proposal.config.node_groups.iter().all(|group| group.strategy == Strategy::Pinned));
}

#[test]
fn eni_configs_that_no_node_should_name_are_left_out_with_the_reason() {
    let proposal = proposed("three-zones", |value| {
        let eni_configs = value["eni_configs"].as_array_mut().unwrap();
        for (name, subnet) in [
            ("default", "subnet-0071ad4cd610a3cdc"),
            ("us-west-2b", "subnet-0071ad4cd610a3cdc"),
            ("elsewhere", "subnet-00000000000000000"),
        ] {
            eni_configs.push(json!({ "name": name, "subnet": subnet }));
        }
    });
    let reasons = proposal.reasons.left_out.join("\n");
    for part in [
        "ENIConfig default: it would serve",
        "ENIConfig us-west-2b: it is called like a zone",
        "ENIConfig elsewhere: its subnet",
    ] {
        assert!(reasons.contains(part), "{part}: {reasons}");
    }
}

#[test]
fn the_same_cluster_gives_the_same_proposal_in_any_order() {
    let mut value = fixture("public-and-private");
    let first = propose(&inventory(&value));
    for list in ["subnets", "node_groups", "eni_configs", "nodes", "route_tables"] {
        value[list].as_array_mut().unwrap().reverse();
    }
    let second = propose(&inventory(&value));
    assert_eq!(first.config, second.config);
    assert_eq!(plan(&inventory(&value), &first.config).problems, []);
}

#[test]
fn a_zone_that_a_pool_lacks_is_filled_from_what_nobody_uses() {
    let proposal = proposed("off-with-nodes", |value| {
        let eni_config = json!({ "name": "us-west-2a", "subnet": "subnet-08c3d9cf0c97dafd2" });
        value["eni_configs"].as_array_mut().unwrap().push(eni_config);
    });
    assert_eq!(proposal.new_subnets, None);
    let default = &proposal.config.pools["default"];
    assert_eq!(default.names, Some(PoolNames::Zone));
    let ids: Vec<&str> = default.subnets.iter().map(|subnet| subnet.id.as_str()).collect();
    assert_eq!(ids, ["subnet-08c3d9cf0c97dafd2", "subnet-0678c38d6ca525331"]);
    let why = &proposal.reasons.pools["default"][1];
    assert!(why.contains("subnet-0678c38d6ca525331") && why.contains("nobody uses"), "{why}");
}

#[test]
fn a_label_that_every_node_carries_already_decides() {
    let label = |value: &mut Value, last: &str| {
        value["aws_node"]["env"]["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"] = json!("false");
        let nodes = value["nodes"].as_array_mut().unwrap();
        nodes.last_mut().unwrap()["labels"]["k8s.amazonaws.com/eniConfig"] = json!(last);
    };
    let design = |last: &str| {
        let proposal = proposed("three-zones", |value| label(value, last));
        proposal.config.label.map(|label| label.design)
    };
    assert_eq!(design("pods-us-west-2a"), Some(LabelDesign::Own));
    assert_eq!(design("elsewhere"), None);
}

#[test]
fn an_annotation_that_leads_into_another_zone_is_no_example() {
    let proposal = proposed("public-and-private", |value| {
        let nodes = value["nodes"].as_array_mut().unwrap();
        let node = nodes.iter_mut().find(|node| node["internal_ip"] == "10.0.0.80").unwrap();
        node["annotations"]["k8s.amazonaws.com/eniConfig"] = json!("pods-private-b");
    });
    let proxies = proposal.config.node_group("proxies").unwrap();
    assert!(proxies.map.is_empty());
    assert_eq!(proxies.pools, ["pods-private"]);
    assert!(proposal.reasons.node_groups["proxies"][0].contains("most of its nodes"), "{:?}", proposal.reasons);
}
