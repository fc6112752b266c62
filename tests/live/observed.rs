//! A cluster with everything that `verify` looks at.

use serde_json::{Value, json};

use crate::bench::fixture;

/// A cluster with two of everything: three-zones, its first nodes on an older version of their template.
pub(crate) fn seed() -> Value {
    let mut seed = fixture("three-zones");
    let node = |at: usize, field: &str| seed["nodes"][at][field].clone();
    let (first, second) = (node(0, "name"), node(1, "name"));
    let observed = json!({
        "pods": [
            {"namespace": "kube-system", "name": "aws-node-x7k2p", "node": first, "ip": node(0, "internal_ip"),
                "host_network": true, "phase": "Running"},
            {"namespace": "shop", "name": "checkout-6d4b75cb6d-2lq8z", "node": first, "ip": "100.64.1.7",
                "phase": "Running"},
            {"namespace": "shop", "name": "checkout-6d4b75cb6d-9wxkd", "node": second, "phase": "Pending"},
            {"namespace": "shop", "name": "ledger-0", "node": second, "ip": "100.64.33.9", "phase": "Running",
                "branch_interface": true},
            {"namespace": "shop", "name": "report-28912345-abcde", "node": second, "ip": "100.64.33.12",
                "phase": "Succeeded"},
            {"namespace": "shop", "name": "waiting", "phase": "Pending"},
        ],
        "network_interfaces": [
            {"network_interface_id": "eni-00000000000000001", "interface_type": "interface", "status": "in-use",
                "description": null, "subnet_id": seed["subnets"][0]["subnet_id"],
                "groups": [seed["cluster"]["cluster_security_group_id"]],
                "attachment": {"instance_id": node(0, "instance_id"), "device_index": 0},
                "private_ip_address": node(0, "internal_ip"), "tags": {"team": "shop-platform"}},
            {"network_interface_id": "eni-00000000000000002", "interface_type": "interface", "status": "in-use",
                "description": format!("aws-K8S-{}", node(0, "instance_id").as_str().unwrap()),
                "subnet_id": seed["eni_configs"][0]["subnet"], "groups": seed["eni_configs"][0]["security_groups"],
                "attachment": {"instance_id": node(0, "instance_id"), "device_index": 1},
                "private_ip_address": "100.64.1.5", "secondary_private_ip_addresses": 14,
                "tags": {"node.k8s.amazonaws.com/instance_id": node(0, "instance_id")}},
            {"network_interface_id": "eni-00000000000000003", "interface_type": "trunk", "status": "in-use",
                "description": "aws-k8s-trunk-eni", "subnet_id": seed["eni_configs"][1]["subnet"],
                "groups": seed["eni_configs"][1]["security_groups"],
                "attachment": {"instance_id": node(1, "instance_id"), "device_index": 2, "network_card_index": 1},
                "private_ip_address": "100.64.33.4", "ipv4_prefixes": ["100.64.33.16/28", "100.64.33.32/28"]},
            {"network_interface_id": "eni-00000000000000004", "interface_type": "interface", "status": "available",
                "description": "aws-K8S-i-0aaaaaaaaaaaaaaa1", "subnet_id": seed["eni_configs"][1]["subnet"],
                "private_ip_address": "100.64.33.6"},
        ],
        "cni_nodes": [
            {"name": first, "features": {"CustomNetworking": "pods-us-west-2b", "SecurityGroupsForPods": ""}},
            {"name": second},
        ],
        "security_group_policies": [
            {"namespace": "shop", "name": "ledger", "group_ids": ["sg-0c14e290c48cdbb97"]},
            {"namespace": "shop", "name": "till"},
        ],
        "node_pools": [
            {"name": "batch-spot", "labels": {"team": "batch"}, "zones": ["us-west-2a", "us-west-2b"],
                "node_class": "batch-nodes"},
            {"name": "bare"},
        ],
        "ec2_node_classes": [
            {"name": "bare"},
            {"name": "batch-nodes", "user_data": "#!/bin/sh\necho hush\n", "max_pods": 58},
        ],
    });
    seed["observed"] = observed;
    seed
}
