//! The rules of `eniplan verify`: what the live cluster makes of the plan.

mod causes;
mod elsewhere;
mod eni_configs;
mod interfaces;
mod judge;
pub mod matrix;
mod names;
pub mod parts;
mod routes;
mod second_reader;
mod settings;
mod spread;
mod table;
mod templates;
mod unprovable;

use std::collections::BTreeMap;

use super::Facts;
use crate::finding::{Evidence, Subject};
use crate::inventory::{CniSettings, Node};

pub(super) use causes::without_effects;
pub use judge::{Given, JudgedNode, Pods, SOURCE_TEMPLATE_LABEL, SOURCE_VERSION_LABEL, Standing};
pub(super) use table::LIVE_RULES;
pub use unprovable::{CannotTell, cannot_tell};

/// What the live rules look at.
#[derive(Debug)]
pub struct LiveFacts<'a> {
    /// What is, what is wanted, what was decided.
    pub facts: Facts<'a>,
    /// The CNI's settings in force; `None` where they were not read.
    pub settings: Option<CniSettings>,
    /// Nodes that run aws-node, by name.
    pub nodes: Vec<JudgedNode<'a>>,
    /// Nodes that do not, by what they are.
    pub left_out: BTreeMap<&'static str, u64>,
}

impl<'a> LiveFacts<'a> {
    /// Judges every node.
    pub fn new(facts: Facts<'a>) -> Self {
        let settings = facts.inventory.cni_settings();
        let judge = judge::Judge::new(facts, settings.clone());
        let mut left_out = BTreeMap::new();
        let mut nodes = Vec::new();
        for node in &facts.inventory.nodes {
            match without_aws_node(node) {
                Some(kind) => *left_out.entry(kind).or_default() += 1,
                None => nodes.push(judge.judge(node)),
            }
        }
        Self { facts, settings, nodes, left_out }
    }

    fn settings(&self) -> CniSettings {
        self.settings.clone().unwrap_or_default()
    }

    /// Nodes for which something holds, by their group and by what it is.
    fn by_group<K: Ord>(
        &self,
        of: impl Fn(&JudgedNode<'a>) -> Option<K>,
    ) -> BTreeMap<(Subject, K), Vec<&JudgedNode<'a>>> {
        let mut groups: BTreeMap<(Subject, K), Vec<&JudgedNode<'a>>> = BTreeMap::new();
        for node in &self.nodes {
            if let Some(key) = of(node) {
                groups.entry((belongs_to(&self.facts, node.node), key)).or_default().push(node);
            }
        }
        groups
    }
}

/// What a node is on which aws-node does not run.
fn without_aws_node(node: &Node) -> Option<&'static str> {
    if node.runs_aws_node() {
        return None;
    }
    Some(match node.labels.get("eks.amazonaws.com/compute-type").map(String::as_str) {
        Some("fargate") => "Fargate",
        Some("hybrid") => "hybrid",
        Some("auto") => "EKS Auto Mode",
        _ => "Windows",
    })
}

/// What people call the nodes together: their node group, NodePool, or the cluster.
fn belongs_to(facts: &Facts<'_>, node: &Node) -> Subject {
    match (node.node_group(), node.labels.get("karpenter.sh/nodepool")) {
        (Some(group), _) => Subject::NodeGroup(group.to_owned()),
        (None, Some(pool)) => Subject::NodePool(pool.clone()),
        (None, None) => Subject::Cluster(facts.inventory.cluster.name.clone()),
    }
}

fn node_evidence(node: &JudgedNode<'_>, field: impl Into<String>, value: impl Into<String>) -> Evidence {
    Evidence::new(Subject::Node(node.node.name.clone()), field, value)
}

/// `1 node` or `7 nodes`.
fn count(nodes: usize) -> String {
    if nodes == 1 { "1 node".into() } else { format!("{nodes} nodes") }
}
