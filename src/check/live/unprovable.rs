//! What cannot be read or proved, and how to find out. Never counted as passed.

use schemars::JsonSchema;
use serde::Serialize;

use super::LiveFacts;
use crate::render::shell_line;
use crate::resolve::behaviours::{APPLIES_EXCLUSION_TAGS, DESCRIBES_SECURITY_GROUPS};
use crate::resolve::is_zone_label;

/// One thing that nobody can tell from what was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct CannotTell {
    /// Number of the row in [`super::matrix::CHECKS`].
    pub check: u8,
    /// What is not known.
    pub what: String,
    /// Why.
    pub because: String,
    /// The command that tells.
    pub command: String,
}

/// A command line; names come from the cluster, so that they are quoted where a shell would read more into them.
fn words(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    shell_line(&words).unwrap_or_default()
}

/// Everything that is open.
pub fn cannot_tell(live: &LiveFacts<'_>) -> Vec<CannotTell> {
    let mut open = Vec::new();
    let inventory = live.facts.inventory;
    let cluster = &inventory.cluster.name;
    let mut tell = |check, what: String, because: &str, command: String| {
        open.push(CannotTell { check, what, because: because.into(), command });
    };
    if inventory.observed.is_none() {
        tell(
            12,
            "where interfaces and pods are".into(),
            "the inventory was made for planning",
            words(&["eniplan", "inventory", "--for", "verify", "--cluster", cluster]),
        );
    }
    for gap in &inventory.gaps {
        let resource = gap.resource.as_ref().map(|resource| format!(" of {resource}")).unwrap_or_default();
        let command = gap
            .missing_file_command()
            .map_or_else(|| words(&["eniplan", "iam-policy", "--for", "verify", "--cluster", cluster]), str::to_owned);
        tell(0, format!("what {}{resource} would say", gap.action), &gap.message, command);
    }
    if let Some(version) = live.settings.as_ref().and_then(|settings| settings.version)
        && APPLIES_EXCLUSION_TAGS.of(version)
        && live.settings().flag_or("ENABLE_SUBNET_DISCOVERY", true)
    {
        tell(
            17,
            format!(
                "whether the role of aws-node may call ec2:DescribeSubnets, without which CNI {version} gives pods addresses that lead nowhere"
            ),
            "the permissions of other roles are not read",
            permission(live, "ec2:DescribeSubnets"),
        );
    }
    if let Some(settings) = &live.settings
        && settings.version.is_some_and(|version| DESCRIBES_SECURITY_GROUPS.of(version))
        && !settings.custom_networking()
    {
        tell(
            3,
            "whether the role of aws-node may call ec2:DescribeSecurityGroups, without which this release does not start"
                .into(),
            "the permissions of other roles are not read",
            permission(live, "ec2:DescribeSecurityGroups"),
        );
    }
    if !young_blocks(live).is_empty() {
        tell(
            20,
            format!("whether {} joined the VPC more than five hours ago, before which the control plane does not reach pods there", young_blocks(live).join(", ")),
            "EC2 does not say when a CIDR block was associated",
            "aws cloudtrail lookup-events --lookup-attributes AttributeKey=EventName,AttributeValue=AssociateVpcCidrBlock".into(),
        );
    }
    if prefixes(live) {
        tell(
            15,
            "how many whole /28 blocks the pod subnets have left".into(),
            "EC2 counts free addresses, not free blocks",
            "eniplan capacity".into(),
        );
    }
    let branch: usize = live.nodes.iter().map(|node| node.pods.branch).sum();
    if branch > 0 {
        tell(
            18,
            format!("in which subnet {branch} pods with branch interfaces are"),
            "the VPC resource controller chooses it, and branch interfaces are attached to no instance",
            "kubectl get pods -A -o jsonpath='{range .items[*]}{.metadata.name} {.metadata.annotations.vpc\\.amazonaws\\.com/pod-eni}{\"\\n\"}{end}'".into(),
        );
    }
    if !is_zone_label(&live.facts.plan.label.node_label_key)
        && live.facts.plan.node_groups.iter().any(|group| group.label_key.is_some())
    {
        tell(
            26,
            format!("whether a Cluster Autoscaler has `--balancing-ignore-label={}`", live.facts.plan.label.node_label_key),
            "flags of other controllers are not read",
            "kubectl -n kube-system get deployment cluster-autoscaler -o jsonpath='{.spec.template.spec.containers[*].command}'".into(),
        );
    }
    if live.nodes.iter().any(|node| node.node.labels.contains_key("karpenter.sh/nodepool"))
        || !inventory.observed().node_pools.is_empty()
    {
        tell(
            26,
            "whether Karpenter has RESERVED_ENIS=1, so that it counts no pods for the primary interface".into(),
            "settings of other controllers are not read",
            "kubectl -n kube-system get deployment karpenter -o jsonpath='{.spec.template.spec.containers[*].env}'"
                .into(),
        );
    }
    open.sort();
    open.dedup();
    open
}

/// The command that tells whether aws-node's role may call something.
fn permission(live: &LiveFacts<'_>, action: &str) -> String {
    let role = live.facts.inventory.add_on.as_ref().and_then(|add_on| add_on.service_account_role_arn.as_deref());
    let arn = role.unwrap_or("ROLE_OF_AWS_NODE");
    words(&["aws", "iam", "simulate-principal-policy", "--policy-source-arn", arn, "--action-names", action])
}

/// Secondary CIDR blocks with pod subnets. The first block of a VPC is as old as the VPC.
fn young_blocks(live: &LiveFacts<'_>) -> Vec<String> {
    let Some(vpc) = &live.facts.inventory.vpc else { return Vec::new() };
    let with_nodes = |block: &ipnet::Ipv4Net| {
        live.nodes.iter().filter_map(|node| node.node_subnet).any(|subnet| block.contains(&subnet.cidr_block))
    };
    let with_pods =
        |block: &ipnet::Ipv4Net| live.facts.plan.eni_configs.iter().any(|planned| block.contains(&planned.cidr));
    vpc.cidr_block_associations
        .iter()
        .map(|association| association.cidr_block)
        .filter(|block| with_pods(block) && !with_nodes(block))
        .map(|block| block.to_string())
        .collect()
}

fn prefixes(live: &LiveFacts<'_>) -> bool {
    live.settings.as_ref().is_some_and(|settings| settings.prefix_delegation() && settings.custom_networking())
}
