//! The permissions that each command needs, and no more, as an IAM policy and as a Kubernetes role.
//!
//! What can be scoped by resource or tag, and by which condition keys, is in the service authorization reference,
//! "Actions, resources, and condition keys for Amazon EC2", "… for Amazon Elastic Kubernetes Service". EC2's describe
//! calls know no resources.

use serde_json::{Value, json};

use crate::error::Error;
use crate::plan::CLUSTER_TAG;
use crate::report::json::pretty;

/// The command that is to be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// Everything that only reads.
    Inventory,
    /// `apply`.
    Apply,
    /// `verify`.
    Verify,
}

/// Reads of EC2. They take no resource.
const READ_EC2: [&str; 8] = [
    "ec2:DescribeImages",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeLaunchTemplateVersions",
    "ec2:DescribeLaunchTemplates",
    "ec2:DescribeRouteTables",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
];

/// Further reads of `verify`: which interfaces a node has, and where.
const READ_EC2_FOR_VERIFY: [&str; 1] = ["ec2:DescribeNetworkInterfaces"];

/// Reads of EKS, each of cluster, node group or add-on.
const READ_EKS: [&str; 4] = ["eks:DescribeAddon", "eks:DescribeCluster", "eks:DescribeNodegroup", "eks:ListNodegroups"];

/// Actions of `apply` on EKS.
const CHANGE_EKS: [&str; 7] = [
    "eks:CreateAddon",
    "eks:CreateNodegroup",
    "eks:DescribePodIdentityAssociation",
    "eks:DescribeUpdate",
    "eks:ListUpdates",
    "eks:UpdateAddon",
    "eks:UpdateNodegroupVersion",
];

/// What no call of ours names and AWS checks all the same, with where that is said.
const IMPLIED: [(&str, &str); 3] = [
    // EKS launches a test of the template with the caller's rights.
    ("ec2:RunInstances", "EKS user guide, \"Customize managed nodes with launch templates\", on permissions"),
    // TagSpecifications of the template are checked against the caller.
    (
        "ec2:CreateTags",
        "EKS user guide, \"Customize managed nodes with launch templates\", on tagging; EC2 API reference, CreateLaunchTemplate",
    ),
    // The node role is handed on to EKS.
    (
        "iam:PassRole",
        "EKS user guide, \"Amazon EKS node IAM role\"; service authorization reference, eks:CreateNodegroup, dependent actions",
    ),
];

/// The IAM policy as JSON.
///
/// # Errors
/// [`Error::Serialise`]; a defect of the program.
pub fn iam(verb: For, cluster: Option<&str>) -> Result<String, Error> {
    let name = cluster.unwrap_or("*");
    let of_cluster = [
        format!("arn:*:eks:*:*:cluster/{name}"),
        format!("arn:*:eks:*:*:nodegroup/{name}/*/*"),
        format!("arn:*:eks:*:*:addon/{name}/*/*"),
        format!("arn:*:eks:*:*:podidentityassociation/{name}/*"),
    ];
    let read_resources: Vec<&String> = of_cluster.iter().take(3).collect();
    let mut read: Vec<&str> = READ_EC2.to_vec();
    // Between two node groups `apply` verifies the new nodes.
    if verb != For::Inventory {
        read.extend(READ_EC2_FOR_VERIFY);
        read.sort_unstable();
    }
    let mut statements = vec![
        json!({ "Sid": "ReadNetwork", "Effect": "Allow", "Action": read, "Resource": "*" }),
        json!({ "Sid": "ReadCluster", "Effect": "Allow", "Action": READ_EKS, "Resource": read_resources }),
    ];
    if verb == For::Apply {
        statements.extend(changes(name, &of_cluster));
    }
    pretty("the policy", &json!({ "Version": "2012-10-17", "Statement": statements }))
}

fn changes(name: &str, of_cluster: &[String]) -> Vec<Value> {
    let template = "arn:*:ec2:*:*:launch-template/*";
    let tagged = json!({ "StringLike": { format!("aws:RequestTag/{CLUSTER_TAG}"): name } });
    let [run, tag, pass] = IMPLIED.map(|(action, _)| action);
    vec![
        json!({ "Sid": "ChangeCluster", "Effect": "Allow", "Action": CHANGE_EKS, "Resource": of_cluster }),
        json!({
            "Sid": "MakeLaunchTemplates", "Effect": "Allow", "Action": ["ec2:CreateLaunchTemplate"],
            "Resource": template, "Condition": tagged,
        }),
        // Adopted templates carry no tag of ours. To allow only ours, add a condition on
        // aws:ResourceTag/eniplan.dev/cluster.
        json!({
            "Sid": "ChangeLaunchTemplates", "Effect": "Allow",
            "Action": ["ec2:CreateLaunchTemplateVersion", "ec2:DeleteLaunchTemplateVersions", "ec2:ModifyLaunchTemplate"],
            "Resource": template,
        }),
        json!({
            "Sid": "TagLaunchTemplates", "Effect": "Allow", "Action": [tag], "Resource": template,
            "Condition": { "StringEquals": { "ec2:CreateAction": "CreateLaunchTemplate" } },
        }),
        json!({
            "Sid": "LetEksLaunch", "Effect": "Allow", "Action": [run, tag], "Resource": "*",
            "Condition": { "ForAnyValue:StringEquals": { "aws:CalledVia": "eks.amazonaws.com" } },
        }),
        json!({
            "Sid": "HandTheNodeRoleToEks", "Effect": "Allow", "Action": [pass], "Resource": "arn:*:iam::*:role/*",
            "Condition": { "StringEquals": { "iam:PassedToService": ["eks.amazonaws.com", "ec2.amazonaws.com"] } },
        }),
    ]
}

/// The Kubernetes role as YAML.
///
/// # Errors
/// [`Error::Serialise`]; a defect of the program.
pub fn role(verb: For) -> Result<String, Error> {
    let rule = |group: &str, resource: &str, verbs: &[&str]| json!({ "apiGroups": [group], "resources": [resource], "verbs": verbs });
    let named = |group: &str, resource: &str, name: &str, verbs: &[&str]| json!({ "apiGroups": [group], "resources": [resource], "resourceNames": [name], "verbs": verbs });
    let name = match verb {
        For::Inventory => "eniplan-inventory",
        For::Apply => "eniplan-apply",
        For::Verify => "eniplan-verify",
    };
    let definition = "eniconfigs.crd.k8s.amazonaws.com";
    let mut rules = vec![
        named("apiextensions.k8s.io", "customresourcedefinitions", definition, &["get"]),
        rule(
            "crd.k8s.amazonaws.com",
            "eniconfigs",
            if verb == For::Apply { &["get", "list", "create", "patch", "delete"] } else { &["list"] },
        ),
        rule("", "nodes", if verb == For::Apply { &["get", "list", "patch"] } else { &["list"] }),
    ];
    if verb != For::Inventory {
        rules.push(rule("", "pods", &["list"]));
        rules.push(rule("vpcresources.k8s.aws", "cninodes", &["list"]));
        rules.push(rule("vpcresources.k8s.aws", "securitygrouppolicies", &["list"]));
        rules.push(rule("karpenter.sh", "nodepools", &["list"]));
        rules.push(rule("karpenter.k8s.aws", "ec2nodeclasses", &["list"]));
    }
    let mut in_kube_system =
        vec![named("apps", "daemonsets", "aws-node", if verb == For::Apply { &["get", "patch"] } else { &["get"] })];
    if verb == For::Apply {
        // A name cannot be told before the object is there.
        in_kube_system.push(rule("coordination.k8s.io", "leases", &["create"]));
        in_kube_system.push(named("coordination.k8s.io", "leases", "eniplan", &["get", "update", "delete"]));
    }
    let group = "rbac.authorization.k8s.io";
    let api_version = format!("{group}/v1");
    let subjects = json!([{ "apiGroup": group, "kind": "Group", "name": "eniplan" }]);
    let documents = [
        json!({ "apiVersion": api_version, "kind": "ClusterRole", "metadata": { "name": name }, "rules": rules }),
        json!({
            "apiVersion": api_version, "kind": "ClusterRoleBinding", "metadata": { "name": name },
            "roleRef": { "apiGroup": group, "kind": "ClusterRole", "name": name }, "subjects": subjects,
        }),
        json!({
            "apiVersion": api_version, "kind": "Role", "metadata": { "name": name, "namespace": "kube-system" },
            "rules": in_kube_system,
        }),
        json!({
            "apiVersion": api_version, "kind": "RoleBinding", "metadata": { "name": name, "namespace": "kube-system" },
            "roleRef": { "apiGroup": group, "kind": "Role", "name": name }, "subjects": subjects,
        }),
    ];
    let mut text =
        String::from("# Map the caller's IAM role to the Kubernetes group eniplan by an EKS access entry.\n");
    for document in &documents {
        let yaml = serde_saphyr::to_string(document)
            .map_err(|source| Error::Serialise { what: "the role".into(), source: source.into() })?;
        text.push_str("---\n");
        text.push_str(&yaml);
    }
    Ok(text)
}
