//! ENIConfigs and the CNI's settings through apply: what is refused, what is kept, what is said.

use serde_json::{Value, json};

use crate::apply::World;
use crate::bench::{fixture, fixture_config};

const ENI_CONFIGS: &str = "eniconfigs.crd.k8s.amazonaws.com";

fn eni_config(world: &World, name: &str) -> Value {
    world.objects(ENI_CONFIGS).into_iter().find(|object| object["metadata"]["name"] == name).unwrap()
}

/// A cluster whose ENIConfig `retail-set-1-a` is in use, in another subnet than is wanted of it; with the two subnets.
fn in_another_subnet() -> (World, Value, Value) {
    let mut inventory = fixture("two-sets");
    let subnets = inventory["subnets"].as_array().unwrap().clone();
    let objects = inventory["eni_configs"].as_array_mut().unwrap();
    let object = objects.iter_mut().find(|object| object["name"] == "retail-set-1-a").unwrap();
    let wanted = object["subnet"].clone();
    let zone = subnets.iter().find(|subnet| subnet["subnet_id"] == wanted).unwrap()["availability_zone"].clone();
    let is_other = |subnet: &&Value| subnet["availability_zone"] == zone && subnet["tags"]["pod-set"].is_null();
    let other = subnets.iter().find(is_other).unwrap()["subnet_id"].clone();
    object["subnet"] = other.clone();
    object["managers"] =
        json!([{ "manager": "eniplan", "operation": "Apply", "fields": [".spec.subnet", ".spec.securityGroups"] }]);
    let named = |suffix: &str| {
        let name = format!("retail-set-1-{suffix}");
        let object = fixture("two-sets")["eni_configs"]
            .as_array()
            .unwrap()
            .iter()
            .find(|object| object["name"] == name)
            .unwrap()
            .clone();
        format!("{{id: {}, name: {name}}}", object["subnet"].as_str().unwrap())
    };
    let wish = fixture_config("two-sets").replace(
        "{names: subnet, subnetTags: {pod-set: \"1\"}}",
        &format!("{{subnets: [{}, {}, {}]}}", named("a"), named("b"), named("c")),
    );
    (World::with(&inventory, &wish), other, wanted)
}

#[test]
fn the_subnet_of_an_eni_config_in_use_is_changed_when_asked_only() {
    let (world, before, wanted) = in_another_subnet();
    let users = fixture("two-sets")["nodes"].as_array().unwrap().clone();
    let users = users.iter().filter(|node| node["labels"]["k8s.amazonaws.com/eniConfig"] == "retail-set-1-a");
    let mut refused = world.apply(&["--only", "eniconfigs"]).ended(4).says("eniconfig-in-use-elsewhere");
    for node in users {
        refused = refused.says(node["name"].as_str().unwrap());
    }
    refused.says("another ENIConfig name").says("--replace-in-use");
    assert_eq!(world.changing_calls(), Vec::<String>::new());
    assert_eq!(eni_config(&world, "retail-set-1-a")["spec"]["subnet"], before);
    world.apply(&["--only", "eniconfigs", "--replace-in-use"]).ended(0);
    assert_eq!(eni_config(&world, "retail-set-1-a")["spec"]["subnet"], wanted);
    // The server itself refuses a write over what nobody has read.
    let patch = world.mutating().into_iter().find(|call| call["action"] == "patch eniconfigs").unwrap();
    let sent = patch["params"]["body"]["metadata"].as_object().unwrap();
    assert!(sent.contains_key("uid") && sent.contains_key("resourceVersion"), "{patch:#}");
    let query = patch["params"]["query"].to_string();
    assert!(query.contains("eniplan") && !query.contains("force"), "{query}");
    world.bench.forget_calls();
    world.apply(&["--only", "eniconfigs"]).ended(0);
    assert_eq!(world.changing_calls(), Vec::<String>::new());
}

/// Other people's annotations, labels and fields of an ENIConfig stay when its subnet or groups change.
#[test]
fn what_is_not_ours_in_an_eni_config_stays() {
    let (world, _, wanted) = in_another_subnet();
    let patch = json!({
        "metadata": { "annotations": { "team": "retail" }, "labels": { "app.kubernetes.io/part-of": "retail" } },
        "spec": { "nobodyKnows": { "this": ["field"] } },
    });
    world.bench.control("POST", "patch", &json!([{ "kind": ENI_CONFIGS, "name": "retail-set-1-a", "patch": patch }]));
    world.apply(&["--only", "eniconfigs", "--replace-in-use"]).ended(0);
    let object = eni_config(&world, "retail-set-1-a");
    assert_eq!(object["spec"]["subnet"], wanted);
    assert_eq!(object["spec"]["nobodyKnows"], patch["spec"]["nobodyKnows"]);
    assert_eq!(object["metadata"]["annotations"]["team"], "retail");
    assert_eq!(object["metadata"]["labels"]["app.kubernetes.io/part-of"], "retail");
}

/// `aws-node` runs, and its ENIConfig definition is gone.
#[test]
fn without_the_definition_nothing_is_written() {
    let mut inventory = fixture("quickstart");
    inventory["eni_config_crd"] = Value::Null;
    inventory["eni_configs"] = json!([]);
    let world = World::with(&inventory, &fixture_config("quickstart"));
    let refused = world.apply(&["--roll"]).ended(4);
    let refused = refused.says("the cluster does not know the kind ENIConfig, although aws-node is installed");
    refused.says("install the CustomResourceDefinition first").says("nothing was written");
    assert_eq!(world.changing_calls(), Vec::<String>::new());
}

/// Someone sets the add-on's value on the DaemonSet back.
#[test]
fn a_setting_that_drifted_is_shown_and_taken_back_when_asked() {
    let world = World::of("off-with-nodes");
    world.apply(&["--roll"]).ended(0);
    let container = world.objects("daemonsets.apps")[0]["spec"]["template"]["spec"]["containers"].clone();
    let mut containers = container.as_array().unwrap().clone();
    let aws_node = containers.iter_mut().find(|container| container["name"] == "aws-node").unwrap();
    for entry in aws_node["env"].as_array_mut().unwrap() {
        if entry["name"] == "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG" {
            entry["value"] = "false".into();
        }
    }
    let patch = json!({ "spec": { "template": { "spec": { "containers": containers } } } });
    let aws_node =
        json!([{ "kind": "daemonsets.apps", "namespace": "kube-system", "name": "aws-node", "patch": patch }]);
    world.bench.control("POST", "patch", &aws_node);
    let drifted = world.run(&["diff"]).ended(3);
    drifted
        .says("the add-on sets AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG=true, but aws-node does not have it")
        .says("--take-over");
    world.apply(&["--take-over"]).ended(0);
    assert_eq!(world.end_state()["env"]["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"], "true");
}

/// An object that somebody changes between the diff and its turn.
#[test]
fn an_object_that_moved_meanwhile_stops_the_run() {
    let (world, _, _) = in_another_subnet();
    let patch = json!([{ "kind": ENI_CONFIGS, "name": "retail-set-1-a", "patch": { "spec": { "securityGroups": ["sg-0123456789abcdef0"] } } }]);
    let later = json!([{ "action": "get eniconfigs", "count": 1, "do": [["POST", "patch", patch]] }]);
    world.bench.control("PUT", "later", &later);
    world
        .apply(&["--only", "eniconfigs", "--replace-in-use"])
        .ended(1)
        .says("ENIConfig retail-set-1-a has changed: spec.securityGroups was");
    assert!(!world.changing_calls().contains(&"kube patch eniconfigs".to_owned()));
}
