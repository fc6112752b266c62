//! Files that hold more than the cluster: everything of the account, single objects, several files of one kind.

use serde_json::{Value, json};

use crate::broken::{Files, read, whole};

fn parsed(files: &Files, name: &str) -> Value {
    serde_json::from_slice(&files[name]).unwrap()
}

/// Adds objects to the list of a file, before those that are there.
fn add(files: &mut Files, name: &str, list: &str, objects: impl IntoIterator<Item = Value>) {
    let mut value = parsed(files, name);
    let found = value[list].as_array_mut().unwrap();
    for object in objects {
        found.insert(0, object);
    }
    files.insert(name.into(), value.to_string().into_bytes());
}

/// The first object of a list with other values.
fn like_the_first(files: &Files, name: &str, list: &str, values: Value) -> Value {
    let mut object = parsed(files, name)[list][0].clone();
    object.as_object_mut().unwrap().extend(values.as_object().unwrap().clone());
    object
}

#[test]
fn objects_of_other_clusters_do_no_harm() {
    let files = whole();
    let mut more = files.clone();
    for (name, list, values) in [
        ("describe-vpcs.json", "Vpcs", json!({"VpcId": "vpc-0000"})),
        ("describe-subnets.json", "Subnets", json!({"VpcId": "vpc-0000", "SubnetId": "subnet-0000"})),
        ("describe-subnets.json", "Subnets", json!({"SubnetId": "subnet-6666", "CidrBlock": "", "Ipv6Native": true})),
        ("describe-security-groups.json", "SecurityGroups", json!({"GroupId": "sg-0000"})),
        ("describe-route-tables.json", "RouteTables", json!({"VpcId": "vpc-0000", "RouteTableId": "rtb-0000"})),
        (
            "describe-launch-templates.json",
            "LaunchTemplates",
            json!({"LaunchTemplateId": "lt-0000", "LaunchTemplateName": "eniplan-other-web"}),
        ),
        ("describe-instance-types.json", "InstanceTypes", json!({"InstanceType": "t2.nano"})),
        ("describe-images.json", "Images", json!({"ImageId": "ami-0000"})),
        (
            "describe-network-interfaces.json",
            "NetworkInterfaces",
            json!({"NetworkInterfaceId": "eni-0000", "Attachment": {"InstanceId": "i-0000", "DeviceIndex": 1}}),
        ),
        (
            "describe-network-interfaces.json",
            "NetworkInterfaces",
            json!({"NetworkInterfaceId": "eni-1111", "Attachment": null, "Status": "available", "VpcId": "vpc-0000",
                "Description": "aws-K8S-i-0000"}),
        ),
        (
            "describe-network-interfaces.json",
            "NetworkInterfaces",
            json!({"NetworkInterfaceId": "eni-2222", "Attachment": null, "Status": "available", "Description": "mine"}),
        ),
    ] {
        let object = like_the_first(&files, name, list, values);
        add(&mut more, name, list, [object]);
    }
    let daemon_set = json!({"kind": "DaemonSet", "metadata": {"name": "kube-proxy"}, "spec": {"template": {"spec": {
        "containers": [{"name": "kube-proxy", "image": "kube-proxy:1"}]}}}});
    add(&mut more, "aws-node.json", "items", [daemon_set]);
    let crd = json!({"kind": "CustomResourceDefinition", "metadata": {"name": "nodepools.karpenter.sh"},
        "spec": {"versions": [{"schema": {}}]}});
    add(&mut more, "eniconfig-crd.json", "items", [crd]);
    assert_eq!(read(&more).unwrap(), read(&files).unwrap());
}

#[test]
fn objects_may_stand_alone_and_lists_in_several_files() {
    let files = whole();
    let mut other = files.clone();
    for name in ["aws-node.json", "eniconfig-crd.json"] {
        let object = parsed(&files, name)["items"][0].clone();
        other.insert(name.into(), object.to_string().into_bytes());
    }
    // As the API gives a list: its kind above, and none at its items.
    let mut nodes = parsed(&files, "nodes.json");
    nodes["kind"] = "NodeList".into();
    for node in nodes["items"].as_array_mut().unwrap() {
        node.as_object_mut().unwrap().remove("kind");
    }
    other.insert("nodes.json".into(), nodes.to_string().into_bytes());
    let name = "describe-network-interfaces.json";
    let mut interfaces = parsed(&files, name);
    let found = interfaces["NetworkInterfaces"].as_array_mut().unwrap();
    let last = json!({"NetworkInterfaces": [found.pop().unwrap(), found[0]]});
    other.insert("describe-network-interfaces-more.json".into(), last.to_string().into_bytes());
    other.insert(name.into(), interfaces.to_string().into_bytes());
    assert_eq!(read(&other).unwrap(), read(&files).unwrap());
}

#[test]
fn an_id_that_no_file_has_is_a_gap_where_it_must_exist() {
    let files = whole();
    let without = |name: &str, list: &str, key: &str, id: &str| {
        let mut value = parsed(&files, name);
        value[list].as_array_mut().unwrap().retain(|object| object[key] != id);
        let mut fewer = files.clone();
        fewer.insert(name.into(), value.to_string().into_bytes());
        let gaps = read(&fewer).unwrap().gaps;
        gaps.iter().map(|gap| gap.message.clone()).collect::<Vec<_>>().join("\n")
    };
    let said = [
        without("describe-instance-types.json", "InstanceTypes", "InstanceType", "m5.xlarge"),
        without("describe-images.json", "Images", "ImageId", "ami-0c553e14811e26b60"),
        without("describe-vpcs.json", "Vpcs", "VpcId", "vpc-003ad977de3e0e007"),
    ];
    insta::assert_snapshot!(said.join("\n"));
}
