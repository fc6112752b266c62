//! One change to a cluster whose plan has nothing to say about its pod subnets, and the rule that sees it.

use serde_json::{Value, json};

use super::{Facts, findings};
use crate::capacity::{Question, capacity};
use crate::config::Config;
use crate::finding::Severity;
use crate::inventory::Inventory;
use crate::plan::plan;
use crate::render::render;

/// The pod subnet that `batch` uses in the first zone.
const POD_SUBNET: &str = "pod-1a-subnet-3";
const GROUP: &str = "sg-0a08c1f20ba2d31fa";

/// `severity[rule] subject: message` of every finding.
fn found(inventory: &Value, config: &str) -> Vec<String> {
    let inventory = Inventory::from_json(&inventory.to_string(), "inventory.json").unwrap();
    let config = Config::from_yaml(config, "eniplan.yaml").unwrap();
    let planned = plan(&inventory, &config);
    let rendered = render(&planned.plan, &inventory).unwrap();
    let capacity = capacity(&inventory, &config, &planned.plan, &Question::default());
    let facts =
        Facts { inventory: &inventory, config: &config, plan: &planned.plan, rendered: &rendered, capacity: &capacity };
    findings(&facts, &planned.problems)
        .into_iter()
        .map(|finding| {
            format!("{}[{}] {}: {}", finding.severity.word(), finding.rule, finding.subject, finding.message)
        })
        .collect()
}

fn quickstart() -> Value {
    serde_json::from_str(include_str!("../../fixtures/quickstart/inventory.json")).unwrap()
}

const CONFIG: &str = include_str!("../../fixtures/quickstart/eniplan.yaml");

fn subnet<'a>(inventory: &'a mut Value, name: &str) -> &'a mut Value {
    let subnets = inventory["subnets"].as_array_mut().unwrap();
    subnets.iter_mut().find(|subnet| subnet["tags"]["Name"] == name).unwrap()
}

/// The change makes the rule speak about the subject, in these words, and the unchanged cluster does not.
fn sees(severity: Severity, rule: &str, words: &[&str], change: impl FnOnce(&mut Value)) {
    sees_with(CONFIG, severity, rule, words, change);
}

fn sees_with(config: &str, severity: Severity, rule: &str, words: &[&str], change: impl FnOnce(&mut Value)) {
    let start = format!("{}[{rule}]", severity.word());
    let mut inventory = quickstart();
    let before = found(&inventory, CONFIG);
    assert!(!before.iter().any(|finding| finding.contains(&format!("[{rule}]"))), "{before:#?}");
    change(&mut inventory);
    let after = found(&inventory, config);
    let hit =
        after.iter().any(|finding| finding.starts_with(&start) && words.iter().all(|word| finding.contains(word)));
    assert!(hit, "{start} {words:?} is not in {after:#?}");
}

#[test]
fn a_block_that_is_not_associated() {
    let rule = "pod-subnet-cidr-unassociated";
    sees(Severity::Error, rule, &["172.31.128.0/20", "state: missing"], |inventory| {
        inventory["vpc"]["cidr_block_associations"] = json!([{ "cidr_block": "172.31.0.0/17", "state": "associated" }]);
    });
    sees(Severity::Error, rule, &["state: associating"], |inventory| {
        inventory["vpc"]["cidr_block_associations"][0]["state"] = json!("associating");
    });
}

#[test]
fn a_pod_subnet_that_is_not_there_yet() {
    sees(Severity::Warning, "pod-subnet-not-available", &["pending"], |inventory| {
        subnet(inventory, POD_SUBNET)["state"] = json!("pending");
    });
}

#[test]
fn tags_by_which_others_choose_subnets() {
    for (tag, words) in [
        ("kubernetes.io/role/elb", "load balancer controller puts public"),
        ("kubernetes.io/role/internal-elb", "load balancer controller puts internal"),
        ("karpenter.sh/discovery", "Karpenter launches nodes"),
    ] {
        sees(Severity::Warning, "pod-subnet-with-discovery-tag", &[tag, words], |inventory| {
            subnet(inventory, POD_SUBNET)["tags"][tag] = json!("1");
        });
    }
}

#[test]
fn the_tag_of_subnet_discovery() {
    const TAG: &str = "kubernetes.io/role/cni";
    let tagged = |value: &'static str, image: &'static str| {
        move |inventory: &mut Value| {
            subnet(inventory, POD_SUBNET)["tags"][TAG] = json!(value);
            inventory["aws_node"]["image"] = json!(format!("amazon-k8s-cni:{image}"));
        }
    };
    sees(Severity::Error, "pod-subnet-excluded", &["gives no pod an address"], tagged("0", "v1.23.1"));
    sees(Severity::Warning, "pod-subnet-with-cni-tag", &["=0"], tagged("0", "v1.21.0"));
    sees(Severity::Warning, "pod-subnet-with-cni-tag", &["=1"], tagged("1", "v1.23.1"));
}

#[test]
fn pods_without_a_way_out() {
    let external_snat =
        |inventory: &mut Value| inventory["aws_node"]["env"]["AWS_VPC_K8S_CNI_EXTERNALSNAT"] = json!("true");
    sees(Severity::Warning, "pod-subnet-without-route", &["no route to the internet"], |inventory| {
        external_snat(inventory);
        for table in inventory["route_tables"].as_array_mut().unwrap() {
            table["routes"].as_array_mut().unwrap().retain(|route| route["target"] == "local");
        }
    });
    sees(Severity::Warning, "pod-subnet-without-route", &["internet gateway", "no public address"], |inventory| {
        external_snat(inventory);
        for table in inventory["route_tables"].as_array_mut().unwrap() {
            table["subnet_ids"] = json!([]);
        }
    });
}

#[test]
fn groups_that_admit_no_probe_and_no_dns() {
    let own_group = |inventory: &mut Value, inbound: Value, outbound: Value| {
        let vpc_id = inventory["cluster"]["vpc_id"].clone();
        inventory["security_groups"].as_array_mut().unwrap().push(json!({
            "group_id": "sg-00000000000000001", "vpc_id": vpc_id,
            "ip_permissions": inbound, "ip_permissions_egress": outbound,
        }));
    };
    let config = CONFIG.replace("names: subnet", "names: subnet\n      securityGroups: [sg-00000000000000001]");
    let everything = json!([{ "ip_protocol": "-1", "ip_ranges": ["0.0.0.0/0"] }]);
    let rule = "cluster-security-group-missing";
    let closed = ["kubelet's probes from the nodes", "DNS over UDP", "DNS over TCP"];
    sees_with(&config, Severity::Warning, rule, &closed, |inventory| {
        own_group(inventory, json!([]), everything.clone())
    });
    let probes_only =
        json!([{ "ip_protocol": "tcp", "from_port": 8080, "to_port": 8081, "user_id_group_pairs": [GROUP] }]);
    sees_with(&config, Severity::Warning, rule, &["no rule admits from it: DNS over UDP, DNS over TCP"], |inventory| {
        own_group(inventory, probes_only, everything.clone());
    });
    let web_only = json!([{ "ip_protocol": "tcp", "from_port": 443, "to_port": 443, "ip_ranges": ["0.0.0.0/0"] }]);
    sees_with(&config, Severity::Warning, "security-groups-let-no-dns-out", &["sg-00000000000000001"], |inventory| {
        own_group(inventory, everything, web_only);
    });
}

#[test]
fn groups_that_do_not_fit_an_interface() {
    let config =
        |groups: &str| CONFIG.replace("names: subnet", &format!("names: subnet\n      securityGroups: [{groups}]"));
    sees_with(
        &config("sg-00000000000000009"),
        Severity::Error,
        "security-group-unknown",
        &["sg-00000000000000009"],
        |_| {},
    );
    sees_with(
        &config("sg-00000000000000002"),
        Severity::Error,
        "security-group-of-other-vpc",
        &["vpc-0other"],
        |inventory| {
            let groups = inventory["security_groups"].as_array_mut().unwrap();
            groups.push(json!({ "group_id": "sg-00000000000000002", "vpc_id": "vpc-0other" }));
        },
    );
    let six: Vec<String> = (1..=6).map(|number| format!("sg-0000000000000001{number}")).collect();
    sees_with(&config(&six.join(", ")), Severity::Warning, "too-many-security-groups", &["names 6"], |_| {});
}

#[test]
fn instance_types_that_have_no_interface_for_pods() {
    let rule = "instance-type-without-pod-interface";
    sees(Severity::Error, rule, &["m5.large", "its only interface is the primary one"], |inventory| {
        inventory["instance_types"][0]["network_cards"][0]["maximum_network_interfaces"] = json!(1);
    });
    sees(Severity::Error, rule, &["MAX_ENI"], |inventory| {
        inventory["aws_node"]["env"]["MAX_ENI"] = json!("1");
    });
    sees(Severity::Error, rule, &["the trunk of security groups for pods"], |inventory| {
        inventory["aws_node"]["env"]["ENABLE_POD_ENI"] = json!("true");
        inventory["instance_types"][0]["network_cards"][0]["maximum_network_interfaces"] = json!(2);
    });
}

#[test]
fn a_zone_or_outpost_without_a_pod_subnet() {
    let rule = "zone-without-pod-subnet";
    let of_batch = &["node group batch", "ap-southeast-1a (apse1-az2)", "ap-southeast-1b (apse1-az1)"];
    sees(Severity::Error, rule, of_batch, |inventory| {
        inventory["subnets"].as_array_mut().unwrap().retain(|subnet| subnet["tags"]["Name"] != POD_SUBNET);
    });
    const OUTPOST: &str = "arn:aws:outposts:ap-southeast-1:111122223333:outpost/op-0123456789abcdef0";
    let on_outpost = &["ap-southeast-1a (apse1-az2) on arn:aws:outposts", "pool batch"];
    sees(Severity::Error, "pod-subnet-on-other-outpost", on_outpost, |inventory| {
        subnet(inventory, "node-1a-subnet-1")["outpost_arn"] = json!(OUTPOST);
    });
    // A Local Zone is a zone of its own, whatever its name begins with.
    sees(Severity::Error, rule, &["ap-southeast-1-bkk-1a (apse1-bkk1-az1)"], |inventory| {
        let node_subnet = subnet(inventory, "node-1a-subnet-1");
        node_subnet["availability_zone"] = json!("ap-southeast-1-bkk-1a");
        node_subnet["availability_zone_id"] = json!("apse1-bkk1-az1");
    });
}

#[test]
fn a_local_cluster_on_outposts_has_no_managed_groups() {
    sees(Severity::Error, "outpost-cluster", &["no managed node groups", "batch, web"], |inventory| {
        inventory["cluster"]["outpost_config"] = json!({ "outpost_arns": ["arn:aws:outposts:::outpost/op-01"] });
    });
}

#[test]
fn nodes_of_karpenter_that_count_the_primary_interface() {
    let rule = "karpenter-counts-all-interfaces";
    sees(Severity::Warning, rule, &["29 pods"], |inventory| {
        let node = &mut inventory["nodes"][0];
        node["labels"]["karpenter.sh/nodepool"] = json!("general");
        node["max_pods"] = json!(29);
    });
}

#[test]
fn a_definition_that_is_not_installed() {
    sees(Severity::Error, "eniconfig-crd-missing", &["although aws-node is installed"], |inventory| {
        inventory["eni_config_crd"] = Value::Null;
    });
}
