//! Facts of the live cluster → [`Report`]: every node's standing, what is wrong, and what nobody can tell.

mod select;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::check::live::{CannotTell, LiveFacts, Standing, cannot_tell};
use crate::check::{Facts, live_findings};
use crate::finding::{Finding, Problem, has_errors};

pub use select::{Selection, unknown_rules};

/// What `verify` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Name of the cluster.
    pub cluster: String,
    /// Region of the cluster.
    pub region: String,
    /// When the cluster was read, RFC 3339 in UTC.
    pub collected_at: String,
    /// How the nodes stand, per group and zone.
    pub groups: Vec<GroupReport>,
    /// Each node, by name.
    pub nodes: Vec<NodeReport>,
    /// Nodes without aws-node, by what they are; they have no custom networking.
    pub left_out: BTreeMap<&'static str, u64>,
    /// What is wrong, the worst first.
    pub findings: Vec<Finding>,
    /// What cannot be read or proved, with the command that tells. Never counted as passed.
    pub cannot_tell: Vec<CannotTell>,
}

/// How the nodes of one group stand in one zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupReport {
    /// Node group or NodePool; `None` for nodes of neither.
    pub group: Option<String>,
    /// Zone name, as the nodes' label has it.
    pub zone: Option<String>,
    /// How many nodes stand how.
    pub standing: BTreeMap<Standing, usize>,
    /// Pods in the right pod subnet.
    pub pods_right: usize,
    /// Pods elsewhere.
    pub pods_elsewhere: usize,
}

/// One node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeReport {
    /// Name.
    pub name: String,
    /// Node group or NodePool.
    pub group: Option<String>,
    /// Zone name.
    pub zone: Option<String>,
    /// EC2 instance.
    pub instance_id: Option<String>,
    /// How it stands.
    pub standing: Standing,
    /// Why.
    pub because: String,
    /// The ENIConfig that the CNI uses for its next interface.
    pub eni_config: String,
    /// The one that the plan gives it.
    pub planned: Option<String>,
    /// Pods in the right pod subnet.
    pub pods_right: usize,
    /// Pods elsewhere.
    pub pods_elsewhere: usize,
}

/// Judges the cluster. `stated_by_plan` is what planning has stated.
pub fn verify(facts: Facts<'_>, stated_by_plan: &[Problem], selection: &Selection) -> Report {
    let live = LiveFacts::new(facts);
    let findings = selection.findings(live_findings(&live, stated_by_plan));
    let nodes: Vec<NodeReport> = live.nodes.iter().map(report_node).filter(|node| selection.takes(node)).collect();
    Report {
        cluster: facts.inventory.cluster.name.clone(),
        region: facts.inventory.region.clone(),
        collected_at: facts.inventory.collected_at.clone(),
        groups: groups(&nodes),
        nodes,
        left_out: live.left_out.clone(),
        findings,
        cannot_tell: cannot_tell(&live),
    }
}

fn report_node(judged: &crate::check::live::JudgedNode<'_>) -> NodeReport {
    let node = judged.node;
    let group = node.node_group().map(str::to_owned);
    NodeReport {
        name: node.name.clone(),
        group: group.or_else(|| node.labels.get("karpenter.sh/nodepool").cloned()),
        zone: node.zone().map(str::to_owned),
        instance_id: node.instance_id.clone(),
        standing: judged.standing,
        because: judged.because.clone(),
        eni_config: judged.resolution.eni_config.clone(),
        planned: judged.wanted.clone(),
        pods_right: judged.pods.right,
        pods_elsewhere: judged.pods.elsewhere.len(),
    }
}

fn groups(nodes: &[NodeReport]) -> Vec<GroupReport> {
    let mut groups: BTreeMap<(&Option<String>, &Option<String>), GroupReport> = BTreeMap::new();
    for node in nodes {
        let group = groups.entry((&node.group, &node.zone)).or_insert_with(|| GroupReport {
            group: node.group.clone(),
            zone: node.zone.clone(),
            standing: BTreeMap::new(),
            pods_right: 0,
            pods_elsewhere: 0,
        });
        *group.standing.entry(node.standing).or_default() += 1;
        group.pods_right += node.pods_right;
        group.pods_elsewhere += node.pods_elsewhere;
    }
    groups.into_values().collect()
}

impl Report {
    /// How many nodes stand how.
    pub fn standing(&self) -> BTreeMap<Standing, usize> {
        let mut standing = BTreeMap::new();
        for node in &self.nodes {
            *standing.entry(node.standing).or_default() += 1;
        }
        standing
    }

    /// Whether every node stands right and nothing is an error.
    pub fn is_right(&self) -> bool {
        self.nodes.iter().all(|node| node.standing == Standing::Right) && !has_errors(&self.findings)
    }
}
