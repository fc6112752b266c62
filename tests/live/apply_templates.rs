//! Launch templates through apply: what is sent, from which version, and what is left alone.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::apply::World;
use crate::bench::{fixture, fixture_config};

/// The calls of an action, whole.
fn calls(world: &World, action: &str) -> Vec<Value> {
    world.mutating().into_iter().filter(|call| call["action"] == action).collect()
}

fn only_apps() -> String {
    let config = fixture_config("two-sets");
    let ignored = config.replace("    - {name: jobs, pools: [set-2], adopt: true}\n", "");
    ignored.replace("    - {name: search, pools: [set-2], adopt: true}\n", "  ignore: [jobs, search]\n")
}

/// The template of `apps`.
fn template(inventory: &mut Value) -> &mut Value {
    let templates = inventory["launch_templates"].as_array_mut().unwrap();
    templates.iter_mut().find(|template| template["launch_template_name"] == "retail-apps").unwrap()
}

const FOREIGN: &str = "MIME-Version: 1.0\r
Content-Type: multipart/mixed; boundary=\"==MINE==\"\r
\r
--==MINE==\r
Content-Type: text/cloud-config; charset=\"us-ascii\"\r
\r
#cloud-config\r
timezone: Asia/Singapore\r
--==MINE==\r
Content-Type: text/x-shellscript; charset=\"us-ascii\"\r
\r
#!/bin/bash\r
echo mine\r
--==MINE==--\r
";

/// A template as people make them: interfaces, snapshots, tags for what is launched, and user data of their own.
#[test]
fn a_hand_made_template_gets_user_data_and_its_disks_and_nothing_else() {
    let mut inventory = fixture("two-sets");
    let group = inventory["cluster"]["cluster_security_group_id"].clone();
    let disks = json!([
        { "DeviceName": "/dev/xvda", "Ebs": { "VolumeSize": 80, "VolumeType": "gp3", "Encrypted": true, "Iops": 4000, "Throughput": 250 } },
        { "DeviceName": "/dev/xvdb", "Ebs": { "SnapshotId": "snap-0123456789abcdef0", "VolumeSize": 200, "VolumeType": "gp3", "DeleteOnTermination": true } },
    ]);
    let tags = json!([
        { "ResourceType": "instance", "Tags": [{ "Key": "owner", "Value": "retail" }] },
        { "ResourceType": "volume", "Tags": [{ "Key": "owner", "Value": "retail" }] },
    ]);
    let interfaces = json!([{ "DeviceIndex": 0, "Groups": [group], "DeleteOnTermination": true }]);
    let template = template(&mut inventory);
    let id = template["launch_template_id"].as_str().unwrap().to_owned();
    let in_use = json!({
        "NetworkInterfaces": interfaces, "BlockDeviceMappings": disks, "TagSpecifications": tags,
        "MetadataOptions": { "HttpTokens": "required", "HttpPutResponseHopLimit": 2 }, "KeyName": "retail",
        "UserData": STANDARD.encode(FOREIGN),
    });
    let versions: Vec<Value> = (1..=7)
        .map(|number| {
            let data = if number == 4 { in_use.clone() } else { json!({ "KeyName": "another" }) };
            json!({ "version_number": number, "version_description": null, "launch_template_data": data })
        })
        .collect();
    template["versions"] = versions.into();
    template["default_version_number"] = 1.into();
    template["latest_version_number"] = 7.into();
    for group in inventory["node_groups"].as_array_mut().unwrap() {
        if group["name"] == "apps" {
            group["launch_template"]["version"] = "4".into();
        }
    }
    let world = World::with(&inventory, &only_apps());
    world.apply(&["--roll"]).ended(0).says("whoever made it (Terraform leaves no tag) may set another version again");

    let made = calls(&world, "CreateLaunchTemplateVersion");
    assert_eq!(made.len(), 1);
    let parameters = &made[0]["params"];
    assert_eq!(parameters["LaunchTemplateId"], id);
    assert_eq!(parameters["SourceVersion"], "4");
    let mut sent: Vec<&String> = parameters.as_object().unwrap().keys().collect();
    sent.sort();
    assert_eq!(sent, ["ClientToken", "LaunchTemplateData", "LaunchTemplateId", "SourceVersion", "VersionDescription"]);
    let data = &parameters["LaunchTemplateData"];
    let mut fields: Vec<&String> = data.as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(fields, ["BlockDeviceMappings", "UserData"]);
    assert_eq!(data["BlockDeviceMappings"], disks);
    // Foreign bodies stay, byte by byte but for the line ends of shell parts.
    let user_data = String::from_utf8(STANDARD.decode(data["UserData"].as_str().unwrap()).unwrap()).unwrap();
    assert!(user_data.contains("#cloud-config\r\ntimezone: Asia/Singapore\n"), "{user_data:?}");
    assert!(user_data.contains("#!/bin/bash\necho mine\n") || user_data.contains("#!/bin/bash\r\necho mine\r\n"));
    assert!(user_data.contains("eniplan.dev/part"));

    let state = world.bench.control("GET", "state", &Value::Null);
    let left = &state["regions"]["us-east-1"]["launch_templates"][&id];
    let eighth = &left["versions"]["8"]["LaunchTemplateData"];
    for field in ["NetworkInterfaces", "TagSpecifications", "KeyName", "BlockDeviceMappings"] {
        let was = &left["versions"]["4"]["LaunchTemplateData"][field];
        assert!(!was.is_null() && eighth[field] == *was, "{field}: {was} {}", eighth[field]);
    }
    // Only asked for does the default change; the template itself gets no tag, and EKS's child of it is not touched.
    assert_eq!(world.end_state()["launch_templates"]["retail-apps"]["default"], 1);
    assert!(calls(&world, "CreateTags").is_empty() && calls(&world, "ModifyLaunchTemplate").is_empty());
    let named: Vec<Value> = world.mutating().iter().map(|call| call["params"]["LaunchTemplateId"].clone()).collect();
    assert!(named.iter().all(|named| named.is_null() || *named == id), "{named:?}");
}

/// By id and number; the AMI release stays unless the newest is asked for.
#[test]
fn a_group_is_moved_by_id_and_number_and_keeps_its_release() {
    for (flags, release) in [(&["--roll"][..], Some("1.33.5-20260124")), (&["--roll", "--ami", "latest"], None)] {
        let world = World::with(&fixture("two-sets"), &only_apps());
        world.bench.settings(&json!({ "latest_release": "20260301" }));
        world.apply(flags).ended(0);
        let moved = calls(&world, "UpdateNodegroupVersion");
        assert_eq!(moved.len(), 1);
        let parameters = &moved[0]["params"];
        assert_eq!(parameters["releaseVersion"].as_str(), release, "{parameters:#}");
        assert!(parameters["version"].is_null(), "{parameters:#}");
        let sent = parameters["launchTemplate"].as_object().unwrap();
        let names: BTreeSet<&str> = sent.keys().map(String::as_str).collect();
        assert_eq!(names, ["id", "version"].into(), "{parameters:#}");
        assert_eq!(sent["version"], "2");
        let groups = world.end_state()["node_groups"].clone();
        let apps = groups.as_array().unwrap().iter().find(|group| group["name"] == "apps").unwrap();
        let expected = release.unwrap_or("1.33.0-20260301");
        assert_eq!(apps["release"].as_str().unwrap().rsplit('-').next(), expected.rsplit('-').next());
    }
}

/// Where the template names the image, a release would be refused.
#[test]
fn a_group_with_an_image_of_its_own_is_moved_without_a_release() {
    let world = World::of("mixed");
    world.apply(&["--roll", "--node-group", "hardened"]).ended(0).says("the launch template names the image");
    let moved = calls(&world, "UpdateNodegroupVersion");
    assert_eq!(moved.len(), 1);
    let sent: BTreeSet<&str> = moved[0]["params"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(sent, ["clientRequestToken", "clusterName", "launchTemplate", "nodegroupName"].into());
}

#[test]
fn from_one_content_to_another_and_back_each_is_a_version_of_its_own() {
    let world = World::with(&fixture("two-sets"), &only_apps());
    let wish = |max_pods: u32| only_apps().replace("name: apps, ", &format!("name: apps, maxPods: {max_pods}, "));
    let (first, second) = (wish(11), wish(12));
    let mut tokens = Vec::new();
    for (wish, number) in [(&first, 2), (&second, 3), (&first, 4)] {
        world.wish(wish);
        world.bench.forget_calls();
        world.apply(&["--roll"]).ended(0).says(&format!("uses version {number}"));
        let made = calls(&world, "CreateLaunchTemplateVersion");
        assert_eq!(made.len(), 1, "{number}");
        tokens.push((made[0]["params"]["ClientToken"].clone(), made[0]["params"]["LaunchTemplateData"].clone()));
        world.bench.forget_calls();
        world.apply(&["--roll"]).ended(0);
        assert_eq!(world.changing_calls(), Vec::<String>::new());
    }
    // The same content again, and yet no answer that EC2 remembers.
    let text = |data: &Value| String::from_utf8(STANDARD.decode(data["UserData"].as_str().unwrap()).unwrap()).unwrap();
    assert_eq!(text(&tokens[0].1), text(&tokens[2].1));
    assert_ne!(tokens[0].0, tokens[2].0);
}

/// A run stops at the second group; both groups use one template.
#[test]
fn versions_of_a_stopped_run_are_used_where_groups_share_a_template() {
    let mut inventory = fixture("two-sets");
    let shared = inventory["node_groups"][0]["launch_template"].clone();
    for group in inventory["node_groups"].as_array_mut().unwrap() {
        group["launch_template"] = shared.clone();
    }
    let world = World::with(&inventory, &fixture_config("two-sets"));
    world.bench.faults(&json!([{ "action": "UpdateNodegroupVersion", "ordinal": 1, "kind": "deny" }]));
    world.apply(&["--roll"]).ended(1).says("3 done, 1 failed, 2 not started");
    world.bench.faults(&json!([]));
    world.bench.forget_calls();
    world.apply(&["--roll"]).ended(0);
    assert!(calls(&world, "CreateLaunchTemplateVersion").is_empty());
    assert_eq!(calls(&world, "UpdateNodegroupVersion").len(), 3);
}

#[test]
fn a_version_that_a_group_came_from_outlives_pruning() {
    let world = World::with(&fixture("two-sets"), &only_apps());
    let wish = |max_pods: u32| only_apps().replace("name: apps, ", &format!("name: apps, maxPods: {max_pods}, "));
    for max_pods in [11, 12, 13] {
        world.wish(&wish(max_pods));
        world.apply(&["--roll"]).ended(0);
    }
    world.apply(&["--rollback", "--node-group", "apps"]).ended(0).says("moves from version 4 to 3");
    world.wish(&wish(14));
    world.apply(&["--roll"]).ended(0).says("uses version 5");
    world.bench.forget_calls();
    world.apply(&["--prune-versions", "0"]).ended(0);
    let deleted = calls(&world, "DeleteLaunchTemplateVersions");
    assert_eq!(deleted.len(), 1);
    assert_eq!(deleted[0]["params"]["Versions"], json!(["2", "4"]), "{deleted:#?}");
    world.apply(&["--rollback", "--node-group", "apps"]).ended(0).says("moves from version 5 to 3");
}

/// Everything that EKS forbids in a template is said at once, and nothing is sent.
#[test]
fn all_forbidden_fields_are_said_before_anything_is_sent() {
    let mut inventory = fixture("two-sets");
    let subnet = inventory["subnets"][0]["subnet_id"].clone();
    let template = template(&mut inventory);
    let data = &mut template["versions"][0]["launch_template_data"];
    data["IamInstanceProfile"] = json!({ "Name": "retail" });
    data["InstanceInitiatedShutdownBehavior"] = json!("stop");
    data["NetworkInterfaces"] = json!([{ "DeviceIndex": 0, "SubnetId": subnet }, { "DeviceIndex": 1 }]);
    let world = World::with(&inventory, &fixture_config("two-sets"));
    world
        .apply(&["--roll"])
        .ended(4)
        .says("IamInstanceProfile")
        .says("InstanceInitiatedShutdownBehavior")
        .says("SubnetId")
        .says("NetworkInterfaces");
    assert_eq!(world.changing_calls(), Vec::<String>::new());
}

/// Version 2 is made, and an update of `apps` to a version is under way.
fn while_updated_to(version: &str) -> World {
    let world = World::with(&fixture("two-sets"), &only_apps());
    world.apply(&["--only", "eniconfigs,launch-templates"]).ended(0);
    world.bench.settings(&json!({ "polls": 20 }));
    let id = fixture("two-sets")["node_groups"][0]["launch_template"]["id"].clone();
    let template = json!({ "id": id, "version": version });
    let update = json!({ "clusterName": "retail", "nodegroupName": "apps", "launchTemplate": template });
    world.aws("eks", "update_nodegroup_version", &update);
    world.bench.forget_calls();
    world
}

#[test]
fn a_running_update_to_our_version_is_waited_for() {
    let world = while_updated_to("2");
    world.apply(&["--roll"]).ended(0).says("there already");
    assert!(calls(&world, "UpdateNodegroupVersion").is_empty());
    assert_eq!(world.end_state()["node_groups"][0]["version"], "2");
}

#[test]
fn any_other_running_update_stops_the_run() {
    let world = while_updated_to("1");
    let run = world.apply(&["--roll"]).ended(1);
    run.says("node group apps is being updated by someone else: VersionUpdate to version 1");
    assert!(calls(&world, "UpdateNodegroupVersion").is_empty());
}
