//! Interfaces that nobody uses and that still take addresses of pod subnets.

use std::collections::BTreeMap;

use super::super::cluster::gap_problem;
use super::LiveFacts;
use crate::finding::{Evidence, Problem, Subject};
use crate::inventory::{GapSource, NetworkInterface};

/// Where pods and interfaces are decides errors; without them nothing is proved.
pub(super) fn unread(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for source in [GapSource::Pods, GapSource::NetworkInterfaces] {
        for gap in live.facts.inventory.gaps_in(source) {
            let code = gap.code.as_deref().unwrap_or("no answer");
            let evidence = Evidence::new(Subject::Read(gap.action.clone()), "code", code);
            problems.push(gap_problem("evidence-unread", gap).shown_by([evidence]));
        }
    }
}

/// How the CNI describes the interfaces that it makes. Source: amazon-vpc-cni-k8s `pkg/awsutils/awsutils.go`,
/// `eniDescriptionPrefix`.
const DESCRIPTION_OF_THE_CNI: &str = "aws-K8S-";

/// Tag with the cluster that the CNI made an interface for. Source: amazon-vpc-cni-k8s `pkg/awsutils/awsutils.go`,
/// `clusterNameTagKey`.
const CLUSTER_TAG: &str = "cluster.k8s.amazonaws.com/name";

/// The CNI detaches and deletes in two steps; a node that dies between them leaves the interface.
pub(super) fn left_behind(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let mut by_subnet: BTreeMap<&str, Vec<&NetworkInterface>> = BTreeMap::new();
    for interface in &live.facts.inventory.observed().network_interfaces {
        let owner = interface.tags.get(CLUSTER_TAG);
        if owner.is_some_and(|owner| *owner != live.facts.inventory.cluster.name) {
            continue;
        }
        let of_the_cni = interface.description.as_deref().is_some_and(|text| text.starts_with(DESCRIPTION_OF_THE_CNI));
        if of_the_cni && interface.attachment.is_none() && interface.status.as_deref() == Some("available") {
            by_subnet.entry(&interface.subnet_id).or_default().push(interface);
        }
    }
    for (subnet, interfaces) in by_subnet {
        let addresses: u64 = interfaces
            .iter()
            .map(|interface| {
                1 + u64::from(interface.secondary_private_ip_addresses) + 16 * interface.ipv4_prefixes.len() as u64
            })
            .sum();
        problems.push(
            Problem::new(
                "interface-left-behind",
                Subject::Subnet(subnet.to_owned()),
                format!(
                    "{} of the CNI are attached to nothing and hold {addresses} addresses",
                    interfaces_in_words(interfaces.len())
                ),
                "delete those whose node is gone: `aws ec2 delete-network-interface --network-interface-id ID`",
            )
            .shown_by(interfaces.iter().map(|interface| {
                let object = Subject::NetworkInterface(interface.network_interface_id.clone());
                Evidence::new(
                    object,
                    "Status",
                    format!("available, {}", interface.description.as_deref().unwrap_or_default()),
                )
            })),
        );
    }
}

fn interfaces_in_words(count: usize) -> String {
    if count == 1 { "1 interface".into() } else { format!("{count} interfaces") }
}
