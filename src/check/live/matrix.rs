//! What `verify` checks, row by row: from what, and by which rules.

/// One check.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Number, by which reports refer to it.
    pub number: u8,
    /// What must hold.
    pub holds: &'static str,
    /// What it is read from.
    pub from: &'static [Source],
    /// Rules that say when it does not.
    pub rules: &'static [&'static str],
    /// What of it cannot be told from what is read; empty when all of it can.
    pub open: &'static str,
}

/// Where facts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The Kubernetes API.
    Kubernetes,
    /// EC2.
    Ec2,
    /// EKS.
    Eks,
    /// eniplan.yaml and the plan.
    Plan,
}

impl Source {
    /// The word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Kubernetes => "Kubernetes",
            Self::Ec2 => "EC2",
            Self::Eks => "EKS",
            Self::Plan => "plan",
        }
    }
}

use Source::{Ec2, Eks, Kubernetes, Plan};

const fn check(
    number: u8,
    holds: &'static str,
    from: &'static [Source],
    rules: &'static [&'static str],
    open: &'static str,
) -> Check {
    Check { number, holds, from, rules, open }
}

/// All checks. Rules that planning states or looks at count here, too, where they are about what is and not about what
/// is to be written.
#[rustfmt::skip]
pub const CHECKS: &[Check] = &[
    check(1, "Custom networking is on", &[Kubernetes], &["custom-networking-off", "cni-absent", "subnet-discovery-in-use"], ""),
    check(2, "The CNI's settings are the plan's, and whoever owns them keeps them", &[Kubernetes, Eks],
        &["cni-setting-differs", "add-on-values-lack-setting", "add-on-unwell", "cni-owned-by-helm", "aws-node-unread"], ""),
    check(3, "The CNI's release has no trap for this plan", &[Kubernetes],
        &["cni-relabels", "cni-needs-groups", "no-match-fails-open", "cni-version-unknown", "cni-too-old-for-override", "cni-takes-default-group", "cni-labels-for-controller"], ""),
    check(4, "Every node names the ENIConfig that it should", &[Kubernetes, Plan],
        &["node-uses-other-eniconfig", "node-found-no-row", "planned-node-on-default", "node-falls-back-to-default", "annotation-decides", "label-ignored"], ""),
    check(5, "Every ENIConfig that a node names is there", &[Kubernetes],
        &["node-looks-for-missing-eniconfig", "eniconfig-missing", "eniconfig-named-no-match", "node-not-ready"], ""),
    check(6, "The ENIConfigs are well formed and as planned", &[Kubernetes, Plan],
        &["eniconfig-crd-missing", "eniconfig-crd-without-schema", "eniconfig-malformed", "eniconfig-name-no-label",
          "eniconfig-subnet-differs", "eniconfig-groups-differ", "eniconfig-named-default", "eniconfig-owned-by-helm"], ""),
    check(7, "Every zone of every group has an ENIConfig", &[Eks, Ec2, Plan],
        &["zone-without-pod-subnet", "node-in-unplanned-subnet", "node-group-unplanned"], ""),
    check(8, "ENIConfigs name subnets of the VPC, in the zones of their nodes", &[Ec2, Kubernetes],
        &["node-eniconfig-in-other-zone", "eniconfig-in-other-zone", "eniconfig-subnet-unknown", "eniconfig-subnet-gone", "pod-subnet-not-available"], ""),
    check(9, "Nothing but pods takes addresses of pod subnets", &[Ec2],
        &["pod-subnet-is-node-subnet", "pod-subnet-with-discovery-tag"], ""),
    check(10, "Security groups exist, fit an interface, and let the cluster work", &[Ec2, Kubernetes],
        &["security-group-unknown", "security-group-of-other-vpc", "too-many-security-groups", "security-groups-empty",
          "security-groups-let-no-dns-out", "cluster-security-group-missing"], "rules that name prefix lists"),
    check(11, "No node is older than custom networking", &[Kubernetes, Ec2], &["node-older-than-custom-networking"], ""),
    check(12, "All interfaces and pods of a node are in its pod subnet, with its groups", &[Ec2, Kubernetes],
        &["interface-in-other-subnet", "interface-with-other-groups", "pod-outside-pod-subnet", "node-without-pod-interface", "evidence-unread"], "pods on the host network and finished pods have no address to judge"),
    check(13, "No primary interface gives pods addresses", &[Ec2], &["primary-interface-serves-pods"], ""),
    check(14, "No node takes more pods than it has addresses for", &[Kubernetes, Ec2],
        &["node-takes-too-many-pods", "no-interface-for-pods", "karpenter-counts-all-interfaces"], ""),
    check(15, "The pod subnets hold what the groups may grow to", &[Ec2, Eks],
        &["pod-subnet-full", "pod-subnet-small-for-maximum"], "whole /28 blocks"),
    check(16, "Warm targets neither starve pods nor waste addresses", &[Kubernetes],
        &["prefixes-without-warm-target", "minimum-without-warm-target", "warm-interface-on-large-type", "cni-setting-unreadable"], ""),
    check(17, "Subnet discovery does not get in the way", &[Ec2, Kubernetes],
        &["pod-subnet-excluded", "pod-subnet-with-cni-tag"], "permissions of aws-node's role"),
    check(18, "Branch interfaces follow the same ENIConfig", &[Kubernetes, Ec2],
        &["cninode-names-other-eniconfig", "controller-label-stale", "trunk-in-other-subnet", "default-hidden-from-controller",
          "security-group-policy-replaces-groups"], "subnets of branch interfaces"),
    check(19, "Pods have a way out, and replies a way back", &[Ec2, Kubernetes],
        &["pod-subnet-without-route", "node-subnet-without-route", "node-port-support-off", "routes-unread"], ""),
    check(20, "The pod subnets' CIDR blocks belong to the VPC", &[Ec2], &["pod-subnet-cidr-unassociated"], "since when"),
    check(21, "What has no custom networking is left out by name", &[Kubernetes, Eks],
        &["ipv6-cluster", "auto-mode-only"], ""),
    check(22, "Groups use a launch-template version that gives what the plan wants, and their nodes come from it", &[Ec2, Eks, Plan],
        &["launch-template-not-as-planned", "launch-template-not-rolled-out", "nodes-outdated", "planned-group-missing", "group-to-be-replaced"], ""),
    check(23, "The nodes' images run what the user data holds", &[Kubernetes, Ec2],
        &["node-image-of-other-family", "ami-release-old", "ami-family-unknown"], ""),
    check(24, "Nodes spread over pod subnets as the weights say", &[Kubernetes, Ec2, Plan], &["eniconfig-shares-uneven"], ""),
    check(25, "No interface is left behind", &[Ec2], &["interface-left-behind"], ""),
    check(26, "Autoscalers know of the label and of the interface without pods", &[Kubernetes],
        &["node-pool-without-label"], "flags and environment of their controllers"),
    check(27, "No change of settings is pending that would move nodes", &[Kubernetes, Plan], &["eniconfig-key-differs"], ""),
];

/// Rules that `verify` looks at although they check nothing of the cluster: without them no check says anything.
pub const CONDITIONS: [&str; 3] = ["read-failed", "region-differs", "name-malformed"];

/// Whether `verify` looks at a rule.
pub fn is_checked(rule: &str) -> bool {
    CONDITIONS.contains(&rule) || CHECKS.iter().any(|check| check.rules.contains(&rule))
}
