//! The names of the files, what makes each of them, and what a missing one leaves unknown.

use crate::inventory::GapSource;

/// A file that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// Its name without `.json`.
    pub(super) stem: &'static str,
    /// Where there may be several, what its command writes behind the stem; any name that begins with it is read.
    pub(super) many: Option<&'static str>,
    pub(super) holds: Holds,
    /// What makes it, without the file. Words in capitals stand for what the reader fills in.
    pub(super) command: &'static str,
    /// What is unknown without it, and the action that is named for it.
    pub(super) source: GapSource,
    pub(super) action: &'static str,
}

/// How its content is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// An answer of AWS with this field.
    Answer(&'static str),
    /// Objects of this kind, alone or in a list.
    Objects(&'static str),
}

macro_rules! known {
    ($($name:ident: $stem:literal $many:tt $holds:expr, $source:ident, $action:literal, $command:literal;)*) => {
        $(pub(super) const $name: Known = Known {
            stem: $stem, many: $many, holds: $holds, command: $command, source: GapSource::$source, action: $action,
        };)*
        /// All files, in the order in which they are best made.
        pub(super) const ALL: &[Known] = &[$($name),*];
    };
}

use Holds::{Answer, Objects};

known! {
    CLUSTER: "describe-cluster" (None) Answer("cluster"), NodeGroups, "eks:DescribeCluster",
        "aws eks describe-cluster --name CLUSTER --output json";
    NODE_GROUPS: "list-nodegroups" (None) Answer("nodegroups"), NodeGroups, "eks:ListNodegroups",
        "aws eks list-nodegroups --cluster-name CLUSTER --output json";
    NODE_GROUP: "describe-nodegroup" (Some("-NODEGROUP")) Answer("nodegroup"), NodeGroups, "eks:DescribeNodegroup",
        "aws eks describe-nodegroup --cluster-name CLUSTER --nodegroup-name NODEGROUP --output json";
    ADD_ONS: "list-addons" (None) Answer("addons"), AddOn, "eks:ListAddons",
        "aws eks list-addons --cluster-name CLUSTER --output json";
    ADD_ON: "describe-addon" (None) Answer("addon"), AddOn, "eks:DescribeAddon",
        "aws eks describe-addon --cluster-name CLUSTER --addon-name vpc-cni --output json";
    VPCS: "describe-vpcs" (None) Answer("Vpcs"), Vpc, "ec2:DescribeVpcs",
        "aws ec2 describe-vpcs --output json";
    SUBNETS: "describe-subnets" (None) Answer("Subnets"), Subnets, "ec2:DescribeSubnets",
        "aws ec2 describe-subnets --output json";
    SECURITY_GROUPS: "describe-security-groups" (None) Answer("SecurityGroups"), SecurityGroups,
        "ec2:DescribeSecurityGroups", "aws ec2 describe-security-groups --output json";
    ROUTE_TABLES: "describe-route-tables" (None) Answer("RouteTables"), RouteTables, "ec2:DescribeRouteTables",
        "aws ec2 describe-route-tables --output json";
    LAUNCH_TEMPLATES: "describe-launch-templates" (None) Answer("LaunchTemplates"), LaunchTemplates,
        "ec2:DescribeLaunchTemplates", "aws ec2 describe-launch-templates --output json";
    LAUNCH_TEMPLATE_VERSIONS: "describe-launch-template-versions" (Some("-TEMPLATE")) Answer("LaunchTemplateVersions"),
        LaunchTemplates, "ec2:DescribeLaunchTemplateVersions",
        "aws ec2 describe-launch-template-versions --launch-template-id TEMPLATE --output json";
    IMAGES: "describe-images" (None) Answer("Images"), Images, "ec2:DescribeImages",
        "aws ec2 describe-images --filters Name=image-id,Values=IMAGES --output json";
    INSTANCE_TYPES: "describe-instance-types" (None) Answer("InstanceTypes"), InstanceTypes,
        "ec2:DescribeInstanceTypes",
        "aws ec2 describe-instance-types --filters Name=instance-type,Values=TYPES --output json";
    NETWORK_INTERFACES: "describe-network-interfaces" (Some("")) Answer("NetworkInterfaces"), NetworkInterfaces,
        "ec2:DescribeNetworkInterfaces",
        "aws ec2 describe-network-interfaces --filters Name=vpc-id,Values=VPC --output json";
    API_GROUPS: "api-groups" (None) Objects("APIGroupList"), EniConfigCrd, "get apis",
        "kubectl get --raw /apis";
    ENI_CONFIG_CRD: "eniconfig-crd" (None) Objects("CustomResourceDefinition"), EniConfigCrd,
        "get customresourcedefinitions",
        "kubectl get crds --field-selector metadata.name=eniconfigs.crd.k8s.amazonaws.com --output json";
    ENI_CONFIGS: "eniconfigs" (None) Objects("ENIConfig"), EniConfigs, "list eniconfigs",
        "kubectl get eniconfigs --show-managed-fields --output json";
    AWS_NODE: "aws-node" (None) Objects("DaemonSet"), AwsNode, "get daemonsets",
        "kubectl get daemonsets --namespace kube-system --field-selector metadata.name=aws-node --show-managed-fields --output json";
    NODES: "nodes" (None) Objects("Node"), Nodes, "list nodes", "kubectl get nodes --output json";
    PODS: "pods" (None) Objects("Pod"), Pods, "list pods", "kubectl get pods --all-namespaces --output json";
    CNI_NODES: "cninodes" (None) Objects("CNINode"), CniNodes, "list cninodes", "kubectl get cninodes --output json";
    SECURITY_GROUP_POLICIES: "securitygrouppolicies" (None) Objects("SecurityGroupPolicy"), SecurityGroupPolicies,
        "list securitygrouppolicies", "kubectl get securitygrouppolicies --all-namespaces --output json";
    NODE_POOLS: "nodepools" (None) Objects("NodePool"), NodePools, "list nodepools",
        "kubectl get nodepools.karpenter.sh --output json";
    EC2_NODE_CLASSES: "ec2nodeclasses" (None) Objects("EC2NodeClass"), Ec2NodeClasses, "list ec2nodeclasses",
        "kubectl get ec2nodeclasses.karpenter.k8s.aws --output json";
}

impl Known {
    /// Its name, as its command gives it.
    pub(super) fn name(&self) -> String {
        format!("{}{}.json", self.stem, self.many.unwrap_or_default())
    }

    fn is_named(&self, stem: &str) -> bool {
        stem == self.stem || (self.many.is_some() && stem.starts_with(self.stem))
    }
}

/// What a name means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Known(Known),
    /// Not a file of ours, and not made to look like one.
    Foreign,
    /// A name that nothing is read from, and the one that was probably meant.
    Unknown(String),
}

/// Below this likeness two names have nothing to do with each other.
const ALIKE: f64 = 0.6;

/// What the file of that name is to hold.
pub(super) fn meaning(name: &str) -> Meaning {
    // Finder, editors and shells leave hidden files behind.
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    if stem.is_empty() {
        return Meaning::Foreign;
    }
    let known = || ALL.iter().filter(|known| known.is_named(stem));
    if extension == "json"
        && let Some(known) = known().max_by_key(|known| known.stem.len())
    {
        return Meaning::Known(*known);
    }
    let folded = stem.to_lowercase();
    let likeness = |known: &Known| match folded.strip_prefix(known.stem) {
        Some(_) => 1.0,
        None => strsim::normalized_damerau_levenshtein(&folded, known.stem),
    };
    let nearest = ALL.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match nearest {
        Some(nearest) if likeness(nearest) >= ALIKE => Meaning::Unknown(nearest.name()),
        _ => Meaning::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_what_they_say() {
        for (name, expected) in [
            ("describe-cluster.json", CLUSTER),
            ("describe-nodegroup.json", NODE_GROUP),
            ("describe-nodegroup-web.json", NODE_GROUP),
            ("describe-nodegroup_web 2.json", NODE_GROUP),
            ("describe-launch-templates.json", LAUNCH_TEMPLATES),
            ("describe-launch-template-versions-lt-1.json", LAUNCH_TEMPLATE_VERSIONS),
            ("nodes.json", NODES),
        ] {
            assert_eq!(meaning(name), Meaning::Known(expected), "{name}");
        }
    }

    #[test]
    fn names_that_are_nearly_right_are_pointed_out_and_others_left_alone() {
        for (name, expected) in [
            ("describe-subnet.json", Some("describe-subnets.json")),
            ("Nodes.json", Some("nodes.json")),
            ("nodes.yaml", Some("nodes.json")),
            ("nodes.json.txt", Some("nodes.json")),
            ("describe-nodegroup-web.txt", Some("describe-nodegroup-NODEGROUP.json")),
            ("eniconfig.json", Some("eniconfigs.json")),
            ("pods-kube-system.json", Some("pods.json")),
            ("inventory.json", None),
            ("eniplan.yaml", None),
            ("README.md", None),
            (".DS_Store", None),
            ("", None),
        ] {
            let expected = expected.map_or(Meaning::Foreign, |name| Meaning::Unknown(name.into()));
            assert_eq!(meaning(name), expected, "{name}");
        }
    }
}
