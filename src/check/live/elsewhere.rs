//! Nodes that name the right ENIConfig and yet have interfaces, pods or groups that are not of it, and nodes that take
//! more pods than they have addresses for.

use super::judge::Elsewhere;
use super::{JudgedNode, LiveFacts, count, node_evidence};
use crate::finding::{Evidence, Problem, Subject};
use crate::inventory::{NetworkInterface, Pod};
use crate::max_pods::node_arithmetic;

const REPLACE: &str =
    "replace the nodes: `eniplan apply --roll`, or cordon, drain and terminate them; interfaces that exist never move";

/// Pods that are listed as evidence for one node; more say nothing new.
const PODS_AS_EVIDENCE: usize = 3;

fn with(
    live: &LiveFacts<'_>,
    which: Elsewhere,
    rule: &'static str,
    what: &str,
    help: &str,
    problems: &mut Vec<Problem>,
) {
    let is_so = |node: &JudgedNode<'_>| (node.elsewhere == Some(which)).then_some(());
    for ((subject, ()), nodes) in live.by_group(is_so) {
        let evidence = nodes.iter().flat_map(|node| evidence(node, which)).collect::<Vec<_>>();
        problems.push(Problem::new(rule, subject, format!("{} {what}", count(nodes.len())), help).shown_by(evidence));
    }
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
    let what = "are older than custom networking: all their interfaces, and so their pods, are in the node subnet";
    with(live, Elsewhere::FromBefore, "node-older-than-custom-networking", what, REPLACE, problems);
}

pub(super) fn other_subnet(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let what = "name the right ENIConfig now, but have interfaces in another subnet: their label came late or was changed, the ENIConfig was edited, or custom networking was off for a while";
    with(live, Elsewhere::OtherSubnet, "interface-in-other-subnet", what, REPLACE, problems);
}

pub(super) fn primary_serves(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let what = "hold addresses for pods on their primary interface, and the CNI still hands them out: such pods are in the node subnet";
    with(live, Elsewhere::Primary, "primary-interface-serves-pods", what, REPLACE, problems);
}

pub(super) fn other_groups(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let what = "have interfaces with other security groups than their ENIConfig names: groups are given when an interface is made";
    with(live, Elsewhere::OtherGroups, "interface-with-other-groups", what, REPLACE, problems);
}

pub(super) fn pods_elsewhere(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let what = "run pods whose addresses are outside the pod subnet, and no interface that was read explains it";
    let help = "look at `/v1/enis` on the node (127.0.0.1:61679), and replace the node";
    with(live, Elsewhere::Pods, "pod-outside-pod-subnet", what, help, problems);
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
                format!("{} of type {of_type} take {reported} pods and have addresses for {formula}: the last {} fail with \"failed to assign an IP address\"", count(nodes.len()), reported - formula),
                "let the plan write max pods (`maxPods: auto`) and replace the nodes; without an image id EKS computes it for groups made after custom networking was turned on",
            )
            .shown_by(nodes.iter().map(|node| node_evidence(node, "status.capacity.pods", reported.to_string()))),
        );
    }
}
