//! Much of everything: versions of a template, templates, subnets.

use serde_json::{Value, json};

use crate::apply::World;
use crate::bench::{fixture, fixture_config};

/// `apps` is on version 3 of 250, all by eniplan; 117 more templates of the cluster; 33 more subnets in its VPC.
fn large() -> Value {
    let mut inventory = fixture("two-sets");
    let templates = inventory["launch_templates"].as_array_mut().unwrap();
    let of_apps = templates.iter_mut().find(|template| template["launch_template_name"] == "retail-apps").unwrap();
    let data = of_apps["versions"][0]["launch_template_data"].clone();
    of_apps["versions"] = (1..=250)
        .map(|number| {
            let description = (number > 1).then(|| format!("eniplan apps {number:012}"));
            json!({ "version_number": number, "version_description": description, "launch_template_data": data })
        })
        .collect();
    of_apps["latest_version_number"] = 250.into();
    for number in 0..117 {
        let version = json!({ "version_number": 1, "version_description": null, "launch_template_data": data });
        templates.push(json!({
            "launch_template_id": format!("lt-{number:017x}"), "launch_template_name": format!("eniplan-retail-old-{number}"),
            "default_version_number": 1, "latest_version_number": 1, "tags": {}, "versions": [version],
        }));
    }
    for group in inventory["node_groups"].as_array_mut().unwrap() {
        if group["name"] == "apps" {
            group["launch_template"]["version"] = "3".into();
        }
    }
    let subnets = inventory["subnets"].as_array_mut().unwrap();
    for number in 0..33 {
        let mut subnet = subnets[0].clone();
        subnet["subnet_id"] = format!("subnet-{number:017x}").into();
        subnet["cidr_block"] = format!("10.250.{number}.0/24").into();
        subnet["tags"] = json!({ "Name": format!("spare-{number}") });
        subnets.push(subnet);
    }
    inventory
}

fn pages(world: &World, action: &str) -> usize {
    world.bench.calls().iter().filter(|call| call["action"] == action).count()
}

#[test]
fn what_is_wanted_is_found_among_much_else() {
    let world = World::with(&large(), &fixture_config("two-sets"));
    world.bench.settings(&json!({ "page_sizes": { "DescribeSubnets": 16, "DescribeLaunchTemplates": 50 } }));
    world.bench.forget_calls();
    world.run(&["plan"]).ended(0);
    assert_eq!(pages(&world, "DescribeSubnets"), 3);
    assert_eq!(pages(&world, "DescribeLaunchTemplates"), 3);
    world.bench.forget_calls();
    world.apply(&["--roll"]).ended(0);
    let made: Vec<Value> =
        world.mutating().into_iter().filter(|call| call["action"] == "CreateLaunchTemplateVersion").collect();
    assert_eq!(made.len(), 3);
    let id = |group: &str| {
        let groups = large()["node_groups"].clone();
        let group = groups.as_array().unwrap().iter().find(|known| known["name"] == group).unwrap().clone();
        group["launch_template"]["id"].clone()
    };
    let of_apps = made.iter().find(|call| call["params"]["LaunchTemplateId"] == id("apps")).unwrap();
    assert_eq!(of_apps["params"]["SourceVersion"], "3");
    let groups = world.end_state()["node_groups"].clone();
    assert_eq!(groups.as_array().unwrap().iter().find(|group| group["name"] == "apps").unwrap()["version"], "251");
    world.bench.forget_calls();
    world.apply(&["--roll"]).ended(0);
    assert_eq!(world.changing_calls(), Vec::<String>::new());

    // EKS remembers no update to version 3, so that any of the older ones may be the one that the group came from.
    world.apply(&["--prune-versions", "1"]).ended(0).says("its versions older than 251 stay");
    assert_eq!(world.changing_calls(), Vec::<String>::new());
    world.wish(&fixture_config("two-sets").replace("name: apps, ", "name: apps, maxPods: 12, "));
    world.apply(&["--roll"]).ended(0);

    // In use is 252, the group came from 251, 1 is not eniplan's, and the newest spare one is kept.
    world.apply(&["--prune-versions", "1"]).ended(0);
    let deletions: Vec<Value> =
        world.mutating().into_iter().filter(|call| call["action"] == "DeleteLaunchTemplateVersions").collect();
    let deleted: Vec<usize> =
        deletions.iter().map(|call| call["params"]["Versions"].as_array().unwrap().len()).collect();
    assert_eq!(deleted, [200, 48]);
    let left = world.end_state()["launch_templates"]["retail-apps"]["versions"].clone();
    let left: Vec<i64> =
        left.as_array().unwrap().iter().map(|version| version["version_number"].as_i64().unwrap()).collect();
    assert_eq!(left, [1, 250, 251, 252]);
    world.bench.forget_calls();
    world.apply(&["--prune-versions", "1"]).ended(0);
    assert_eq!(world.changing_calls(), Vec::<String>::new());
}
