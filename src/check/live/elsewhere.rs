//! Nodes that name the right ENIConfig and yet have interfaces, pods or groups that are not of it, and nodes that take
//! more pods than they have addresses for.

use super::judge::Elsewhere;
use super::{JudgedNode, LiveFacts, Standing, count, node_evidence};
use crate::finding::{Evidence, Problem, Subject};
use crate::inventory::{NetworkInterface, Pod};
use crate::max_pods::node_arithmetic;

const REPLACE: &str = "drain and terminate the nodes one by one, since interfaces that exist never move; `eniplan apply --roll` replaces nodes only where it moves their group to another version";

/// Pods that are listed as evidence for one node; more say nothing new.
const PODS_AS_EVIDENCE: usize = 3;

/// Nodes whose interfaces or pods are elsewhere in that way, by group, with what shows it.
fn found(live: &LiveFacts<'_>, which: Elsewhere) -> Vec<(Subject, String, Vec<Evidence>)> {
    let is_so = |node: &JudgedNode<'_>| (node.elsewhere == Some(which)).then_some(());
    let groups = live.by_group(is_so).into_iter();
    groups
        .map(|((subject, ()), nodes)| {
            (subject, count(nodes.len()), nodes.iter().flat_map(|node| evidence(node, which)).collect())
        })
        .collect()
}

fn evidence(node: &JudgedNode<'_>, which: Elsewhere) -> Vec<Evidence> {
    let wanted = node.pod_subnet.map(|subnet| subnet.subnet_id.as_str());
    let interface = |interface: &&NetworkInterface, field: &str, value: String| {
        let object = Subject::NetworkInterface(interface.network_interface_id.clone());
        Evidence::new(object, field, format!("{value} (node {})", node.node.name))
    };
    let pods = || {
        node.pods.elsewhere.iter().take(PODS_AS_EVIDENCE).map(|pod: &&Pod| {
            let ip = pod.ip.map(|ip| ip.to_string()).unwrap_or_default();
            Evidence::new(
                Subject::Pod(format!("{}/{}", pod.namespace, pod.name)),
                "status.podIP",
                format!("{ip} (node {})", node.node.name),
            )
        })
    };
    match which {
        Elsewhere::FromBefore | Elsewhere::OtherSubnet => {
            let others = node.serving.iter().filter(|interface| Some(interface.subnet_id.as_str()) != wanted);
            let found: Vec<Evidence> =
                others.map(|other| interface(other, "SubnetId", other.subnet_id.clone())).collect();
            if !found.is_empty() {
                return found;
            }
            node.node
                .created_at
                .iter()
                .map(|at| node_evidence(node, "metadata.creationTimestamp", at.clone()))
                .chain(pods())
                .collect()
        }
        Elsewhere::Primary => node
            .primary
            .iter()
            .map(|primary| {
                let held = primary.secondary_private_ip_addresses as usize + primary.ipv4_prefixes.len();
                interface(primary, "PrivateIpAddresses and Ipv4Prefixes", format!("{held} besides its own"))
            })
            .collect(),
        Elsewhere::OtherGroups => {
            node.serving.iter().map(|serving| interface(serving, "Groups", serving.groups.join(", "))).collect()
        }
        Elsewhere::Pods => pods().collect(),
    }
}

pub(super) fn from_before(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for (subject, nodes, evidence) in found(live, Elsewhere::FromBefore) {
        let message =
            format!("{nodes} older than custom networking: all interfaces, and so all pods, are in the node subnet");
        problems.push(Problem::new("node-older-than-custom-networking", subject, message, REPLACE).shown_by(evidence));
    }
}

pub(super) fn other_subnet(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for (subject, nodes, evidence) in found(live, Elsewhere::OtherSubnet) {
        let message = format!(
            "{nodes} with interfaces in another subnet than that of the right ENIConfig: the label came late or was changed, the ENIConfig was edited, or custom networking was off for a while"
        );
        problems.push(Problem::new("interface-in-other-subnet", subject, message, REPLACE).shown_by(evidence));
    }
}

pub(super) fn primary_serves(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for (subject, nodes, evidence) in found(live, Elsewhere::Primary) {
        let message = format!(
            "{nodes} with addresses for pods on the primary interface, which the CNI still hands out: such pods are in the node subnet"
        );
        problems.push(Problem::new("primary-interface-serves-pods", subject, message, REPLACE).shown_by(evidence));
    }
}

pub(super) fn other_groups(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for (subject, nodes, evidence) in found(live, Elsewhere::OtherGroups) {
        let message = format!(
            "{nodes} with interfaces of other security groups than the ENIConfig names: groups are given when an interface is made"
        );
        problems.push(Problem::new("interface-with-other-groups", subject, message, REPLACE).shown_by(evidence));
    }
}

pub(super) fn pods_elsewhere(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for (subject, nodes, evidence) in found(live, Elsewhere::Pods) {
        let message = format!(
            "{nodes} with pods whose addresses are outside the pod subnet, which no interface that was read explains"
        );
        problems.push(
            Problem::new(
                "pod-outside-pod-subnet",
                subject,
                message,
                "look at `/v1/enis` on the node (127.0.0.1:61679), and replace the node",
            )
            .shown_by(evidence),
        );
    }
}

/// The CNI attaches the first pod interface before it lets a node become Ready.
/// Source: amazon-vpc-cni-k8s `pkg/ipamd/ipamd.go`, `nodeInit`.
pub(super) fn no_pod_interface(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let waits = |node: &JudgedNode<'_>| {
        let has_none = node.primary.is_some() && node.serving.is_empty() && !node.node.ready;
        (has_none
            && node.standing == Standing::Wrong
            && live.facts.inventory.eni_config(&node.resolution.eni_config).is_some())
        .then(|| node.resolution.eni_config.clone())
    };
    for ((subject, name), nodes) in live.by_group(waits) {
        problems.push(
            Problem::new(
                "node-without-pod-interface",
                subject,
                format!("on {} the CNI has made no interface for pods, although ENIConfig `{name}` is there: the nodes are not Ready", count(nodes.len())),
                "look at /var/log/aws-routed-eni/ipamd.log on a node: the subnet may be full, a security group unknown, or a permission missing",
            )
            .shown_by(nodes.iter().map(|node| node_evidence(node, "condition Ready", "not True"))),
        );
    }
}

/// Kubelet takes as many pods as it was told, and those without an address stay in ContainerCreating.
pub(super) fn too_many_pods(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let settings = live.settings();
    if !settings.custom_networking() {
        return;
    }
    let above = |node: &JudgedNode<'_>| {
        let of_type = live.facts.inventory.instance_type(node.node.instance_type()?)?;
        let formula = node_arithmetic(of_type, &settings)?.max_pods;
        let reported = node.node.max_pods?;
        // Karpenter's nodes have a rule of their own, whose remedy is Karpenter's.
        let is_karpenters = node.node.labels.contains_key("karpenter.sh/nodepool");
        (reported > formula && formula > 0 && !is_karpenters)
            .then(|| (of_type.instance_type.clone(), reported, formula))
    };
    for ((subject, (of_type, reported, formula)), nodes) in live.by_group(above) {
        problems.push(
            Problem::new(
                "node-takes-too-many-pods",
                subject,
                format!("on {} of type {of_type} kubelet takes {reported} pods, and there are addresses for {formula}: the last {} fail with \"failed to assign an IP address\"", count(nodes.len()), reported - formula),
                "let the plan write max pods (`maxPods: auto`) and replace the nodes; without an image id EKS computes it for groups made after custom networking was turned on",
            )
            .shown_by(nodes.iter().map(|node| node_evidence(node, "status.capacity.pods", reported.to_string()))),
        );
    }
}
