//! The CNI's settings through apply: what is sent to the add-on, and what to the DaemonSet.

use serde_json::{Value, json};

use crate::apply::World;
use crate::apply_faults::key_change;
use crate::bench::{fixture, fixture_config};

fn one(world: &World, action: &str) -> Value {
    let mut calls: Vec<Value> = world.mutating().into_iter().filter(|call| call["action"] == action).collect();
    assert_eq!(calls.len(), 1, "{action}");
    calls.remove(0)
}

/// The add-on with values, a role and an association of its own.
fn with_values() -> Value {
    let mut inventory = fixture("off-with-nodes");
    let association = "arn:aws:eks:us-west-2:111122223333:podidentityassociation/growing/a-0123456789abcdef0";
    inventory["add_on"]["pod_identity_associations"] = json!([association]);
    inventory["add_on"]["configuration_values"] =
        json!({ "env": { "WARM_IP_TARGET": "4" }, "tolerations": [] }).to_string().into();
    inventory
}

#[test]
fn the_add_on_is_sent_back_as_it_was_read_with_merged_values() {
    let world = World::with(&with_values(), &fixture_config("off-with-nodes"));
    world.apply(&["--only", "eniconfigs,cni"]).ended(0).says("the add-on stays at v1.20.4-eksbuild.1");
    let call = one(&world, "UpdateAddon");
    let sent = &call["params"];
    assert_eq!(sent["addonVersion"], "v1.20.4-eksbuild.1");
    assert_eq!(sent["serviceAccountRoleArn"], "arn:aws:iam::111122223333:role/growing-vpc-cni");
    assert_eq!(sent["resolveConflicts"], "PRESERVE");
    assert_eq!(sent["podIdentityAssociations"].as_array().unwrap().len(), 1);
    let values: Value = serde_json::from_str(sent["configurationValues"].as_str().unwrap()).unwrap();
    assert_eq!(
        values,
        json!({
            "env": {
                "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "ENI_CONFIG_LABEL_DEF": "topology.kubernetes.io/zone",
                "WARM_IP_TARGET": "4",
            },
            "tolerations": [],
        })
    );
}

#[test]
fn taking_over_lists_what_goes_back_to_the_add_ons_values() {
    let mut inventory = fixture("off-with-nodes");
    let aws_node = &mut inventory["aws_node"];
    aws_node["env"]["WARM_ENI_TARGET"] = "3".into();
    let fields = json!(["WARM_ENI_TARGET"]);
    let by_hand = json!({ "manager": "kubectl-set", "operation": "Update", "fields": fields });
    let managers = aws_node["managers"].as_array_mut().unwrap();
    for manager in managers.iter_mut() {
        manager["fields"].as_array_mut().unwrap().retain(|field| field != "WARM_ENI_TARGET");
    }
    managers.push(by_hand);
    let world = World::with(&inventory, &fixture_config("off-with-nodes"));
    let run = world.apply(&["--only", "eniconfigs,cni", "--take-over"]).ended(0);
    run.says("goes back to the add-on's value: WARM_ENI_TARGET=3 (set by kubectl-set)");
    assert_eq!(one(&world, "UpdateAddon")["params"]["resolveConflicts"], "OVERWRITE");
}

#[test]
fn a_daemon_set_gets_exactly_the_entries_that_change() {
    let (inventory, config) = key_change();
    let world = World::with(&inventory, &config);
    world.apply(&["--label-nodes", "--roll", "--only", "launch-templates,cni,node-groups"]).ended(0);
    let call = one(&world, "patch daemonsets");
    let path = call["params"]["query"].to_string();
    assert!(path.contains("eniplan") && path.contains("force"), "{:#}", call["params"]);
    let body = &call["params"]["body"];
    let metadata = body["metadata"].as_object().unwrap();
    assert!(metadata.contains_key("uid") && metadata.contains_key("resourceVersion"), "{body:#}");
    let spec = json!({ "template": { "spec": { "containers": [{ "name": "aws-node", "env": [
        { "name": "ENI_CONFIG_LABEL_DEF", "value": "pods.example.com/eniConfig" },
    ] }] } } });
    assert_eq!(body["spec"], spec);
    // Labels come before the key counts, and groups after.
    let calls = world.changing_calls();
    let places = |wanted: &str| {
        calls.iter().enumerate().filter(|(_, call)| *call == wanted).map(|(at, _)| at).collect::<Vec<_>>()
    };
    let switch = places("kube patch daemonsets")[0];
    assert!(places("kube patch nodes").iter().all(|label| *label < switch));
    assert!(places("eks UpdateNodegroupVersion").iter().all(|group| *group > switch));
}
