//! Security groups for pods: the VPC resource controller chooses the ENIConfig of trunk and branch interfaces by itself.
//!
//! It reads the node label `vpc.amazonaws.com/eniConfig`, else the feature `CustomNetworking` of the node's CNINode, which
//! aws-node writes only when it starts. Source: amazon-vpc-resource-controller-k8s `pkg/node/manager/manager.go`,
//! `pkg/config/type.go`; amazon-vpc-cni-k8s `pkg/ipamd/ipamd.go`.

use super::{JudgedNode, LiveFacts, Standing, count, node_evidence};
use crate::finding::{Evidence, Problem, Subject};
use crate::inventory::CniNode;
use crate::resolve::DEFAULT_ENI_CONFIG;

/// The label that old CNIs wrote and nothing updates now.
const CONTROLLER_LABEL: &str = "vpc.amazonaws.com/eniConfig";

/// The feature of a CNINode that names an ENIConfig. Source: amazon-vpc-resource-controller-k8s
/// `apis/vpcresources/v1alpha1/cninode_types.go`.
const CUSTOM_NETWORKING: &str = "CustomNetworking";

fn is_on(live: &LiveFacts<'_>) -> bool {
    live.settings.as_ref().is_some_and(|settings| settings.pod_eni() && settings.custom_networking())
}

fn cni_node<'a>(live: &LiveFacts<'a>, node: &JudgedNode<'_>) -> Option<&'a CniNode> {
    live.facts.inventory.observed().cni_nodes.iter().find(|found| found.name == node.node.name)
}

pub(super) fn feature_differs(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    if !is_on(live) {
        return;
    }
    let differs = |node: &JudgedNode<'_>| {
        let feature = cni_node(live, node)?.features.get(CUSTOM_NETWORKING)?;
        let is_stale = *feature != node.resolution.eni_config && node.resolution.eni_config != DEFAULT_ENI_CONFIG;
        (is_stale && node.standing != Standing::Wrong).then_some(())
    };
    for ((subject, ()), nodes) in live.by_group(differs) {
        let evidence = nodes.iter().map(|node| {
            let feature = cni_node(live, node).and_then(|found| found.features.get(CUSTOM_NETWORKING));
            node_evidence(node, "CNINode spec.features CustomNetworking", feature.cloned().unwrap_or_default())
        });
        problems.push(
            Problem::new(
                "cninode-names-other-eniconfig",
                subject,
                format!("on {} the CNINode names another ENIConfig than the label: pods with security groups of their own get branch interfaces there", count(nodes.len())),
                "restart aws-node on these nodes, which writes the feature anew; the trunk they have stays, so replace the nodes if they have one",
            )
            .shown_by(evidence),
        );
    }
}

pub(super) fn stale_label(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    if !is_on(live) {
        return;
    }
    let stale = |node: &JudgedNode<'_>| {
        let label = node.node.labels.get(CONTROLLER_LABEL)?;
        (*label != node.resolution.eni_config).then_some(())
    };
    for ((subject, ()), nodes) in live.by_group(stale) {
        problems.push(
            Problem::new(
                "controller-label-stale",
                subject,
                format!(
                    "on {} the label {CONTROLLER_LABEL} of an old CNI still names another ENIConfig: branch interfaces follow it",
                    count(nodes.len())
                ),
                format!("remove it with `kubectl label node NAME {CONTROLLER_LABEL}-`"),
            )
            .shown_by(nodes.iter().map(|node| {
                let value = node.node.labels.get(CONTROLLER_LABEL).cloned().unwrap_or_default();
                node_evidence(node, format!("label {CONTROLLER_LABEL}"), value)
            })),
        );
    }
}

pub(super) fn trunk_elsewhere(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let elsewhere = |node: &JudgedNode<'_>| {
        let wanted = node.pod_subnet?;
        node.trunk.filter(|trunk| trunk.subnet_id != wanted.subnet_id).map(|_| ())
    };
    for ((subject, ()), nodes) in live.by_group(elsewhere) {
        problems.push(
            Problem::new(
                "trunk-in-other-subnet",
                subject,
                format!(
                    "on {} the trunk interface is in another subnet than the pods; nothing repairs a trunk",
                    count(nodes.len())
                ),
                "replace the nodes",
            )
            .shown_by(nodes.iter().filter_map(|node| {
                node.trunk.map(|trunk| {
                    let object = Subject::NetworkInterface(trunk.network_interface_id.clone());
                    Evidence::new(object, "SubnetId", format!("{} (node {})", trunk.subnet_id, node.node.name))
                })
            })),
        );
    }
}

/// aws-node does not hand the name `default` over.
pub(super) fn default_hidden(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    if !is_on(live) {
        return;
    }
    let uses_default = |node: &JudgedNode<'_>| {
        let there = live.facts.inventory.eni_config(DEFAULT_ENI_CONFIG).is_some();
        (there && node.resolution.eni_config == DEFAULT_ENI_CONFIG).then_some(())
    };
    for ((subject, ()), nodes) in live.by_group(uses_default) {
        problems.push(
            Problem::new(
                "default-hidden-from-controller",
                subject,
                format!("on {} the ENIConfig is `{DEFAULT_ENI_CONFIG}`, a name that aws-node does not hand over: trunk and branch interfaces are in the node subnet", count(nodes.len())),
                "give the nodes an ENIConfig of another name",
            )
            .shown_by(nodes.iter().map(|node| node_evidence(node, "ENIConfig", DEFAULT_ENI_CONFIG))),
        );
    }
}

pub(super) fn policies_replace_groups(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let policies = &live.facts.inventory.observed().security_group_policies;
    if policies.is_empty() || !is_on(live) {
        return;
    }
    problems.push(
        Problem::new(
            "security-group-policy-replaces-groups",
            Subject::Cni("SecurityGroupPolicy".into()),
            format!("the groups of {} SecurityGroupPolicies take the place of those of the ENIConfig, for the pods that they select", policies.len()),
            "nothing to do, if that is meant",
        )
        .shown_by(policies.iter().map(|policy| {
            let object = Subject::Cni(format!("SecurityGroupPolicy {}/{}", policy.namespace, policy.name));
            Evidence::new(object, "spec.securityGroups.groupIds", policy.group_ids.join(", "))
        })),
    );
}
