//! Facts of the live cluster → [`Report`]: every node's standing, what is wrong, and what nobody can tell.

mod close_up;
mod next;
mod select;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::capacity::{Capacity, Question, capacity};
use crate::check::live::matrix::CHECKS;
use crate::check::live::{CannotTell, JudgedNode, LiveFacts, Standing, cannot_tell};
use crate::check::{Facts, graded, live_findings};
use crate::config::Config;
use crate::error::Error;
use crate::finding::{Finding, Problem, Severity, has_errors};
use crate::inventory::{GapSource, Inventory};
use crate::plan::{NodeGroupPlan, Plan, Planned, plan};
use crate::render::{Rendered, render};

pub use close_up::{CloseUp, FromTemplate, InterfaceAt, PodAt, PodPlace, Role, close_up};
pub use next::Step;
pub use select::{Selection, unknown_rules};

/// What `verify` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report {
    /// Name of the cluster.
    pub cluster: String,
    /// Region of the cluster.
    pub region: String,
    /// When the cluster was read, RFC 3339 in UTC.
    pub collected_at: String,
    /// Whether pods and interfaces were read; otherwise nothing is known but what nodes are called and labelled.
    pub evidence_read: bool,
    /// Parts of the inventory that were not read, or not whole. No check that reads from them counts as passed.
    pub unread: BTreeSet<GapSource>,
    /// How the nodes stand, per group and zone.
    pub groups: Vec<GroupReport>,
    /// Each node, by name.
    pub nodes: Vec<NodeReport>,
    /// Nodes that EKS wants and that have not registered, by node group.
    pub absent: BTreeMap<String, u64>,
    /// Nodes without aws-node, by what they are; they have no custom networking.
    pub left_out: BTreeMap<&'static str, u64>,
    /// What is wrong: the worst first, and of what is as bad causes before what follows from them.
    pub findings: Vec<Finding>,
    /// Findings of rules that were not asked for, by severity.
    pub not_shown: BTreeMap<Severity, usize>,
    /// What cannot be read or proved, with the command that tells. Never counted as passed.
    pub cannot_tell: Vec<CannotTell>,
}

/// How the nodes of one group stand in one zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NodeReport {
    /// Name.
    pub name: String,
    /// Node group or NodePool.
    pub group: Option<String>,
    /// Zone name.
    pub zone: Option<String>,
    /// Whether EKS replaces it: it is of a managed node group.
    pub managed: bool,
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

/// What the cluster is measured by: the plan, made as if the CNI's settings were as planned already, since a setting that
/// was lost must not change what is wanted.
#[derive(Debug)]
pub struct Measure {
    /// The plan.
    pub plan: Plan,
    /// What it renders to.
    pub rendered: Rendered,
    /// What its pod subnets hold.
    pub capacity: Capacity,
    /// What planning has stated.
    pub problems: Vec<Problem>,
}

impl Measure {
    /// Plans. `problems` is what stood in the way of the wishes.
    ///
    /// # Errors
    /// Those of [`render`]; defects of the program.
    pub fn new(inventory: &Inventory, config: &Config, mut problems: Vec<Problem>) -> Result<Self, Error> {
        let env = plan(inventory, config).plan.cni.env;
        let mut settled = inventory.clone();
        if let Some(aws_node) = &mut settled.aws_node {
            aws_node.env.extend(env);
        }
        let Planned { plan, problems: stated } = plan(&settled, config);
        problems.extend(stated);
        let is_complete = !has_errors(&graded(problems.clone()));
        let rendered = if is_complete { render(&plan, &settled)? } else { Rendered::default() };
        let capacity = capacity(&settled, config, &plan, &Question::default());
        Ok(Self { plan, rendered, capacity, problems })
    }

    /// The cluster beside the plan.
    pub fn facts<'a>(&'a self, inventory: &'a Inventory, config: &'a Config) -> Facts<'a> {
        Facts { inventory, config, plan: &self.plan, rendered: &self.rendered, capacity: &self.capacity }
    }
}

/// Judges the cluster by the wishes. `problems` is what stood in the way of the wishes.
///
/// # Errors
/// Those of [`Measure::new`].
pub fn verify(
    inventory: &Inventory,
    config: &Config,
    problems: Vec<Problem>,
    selection: &Selection,
) -> Result<Report, Error> {
    let measure = Measure::new(inventory, config, problems)?;
    let live = LiveFacts::new(measure.facts(inventory, config));
    let all = live_findings(&live, &measure.problems);
    let not_shown = selection.not_shown(&all);
    let mut findings = selection.findings(all);
    findings.sort_by_key(|finding| (finding.severity, first_check(&finding.rule)));
    let nodes: Vec<NodeReport> = live.nodes.iter().map(report_node).filter(|node| selection.takes(node)).collect();
    Ok(Report {
        cluster: inventory.cluster.name.clone(),
        region: inventory.region.clone(),
        collected_at: inventory.collected_at.clone(),
        evidence_read: evidence_read(inventory),
        unread: inventory.unread(),
        groups: groups(&nodes),
        absent: absent(inventory, &measure.plan, &nodes, selection),
        nodes,
        left_out: live.left_out.clone(),
        findings,
        not_shown,
        cannot_tell: selection.cannot_tell(cannot_tell(&live, &selection.source)),
    })
}

/// Without a gap, pods and interfaces are all there.
fn evidence_read(inventory: &Inventory) -> bool {
    let sources = [GapSource::Pods, GapSource::NetworkInterfaces];
    inventory.observed.is_some() && sources.iter().all(|source| inventory.gaps_in(*source).next().is_none())
}

/// Checks go from the CNI's settings over names and ENIConfigs to interfaces and pods, as causes go to what follows; only
/// the pending change of a setting is the last of them and the first of causes. Rules of no check keep everything from
/// being told.
fn first_check(rule: &str) -> u8 {
    let last = CHECKS.last().map_or(0, |check| check.number);
    let number = CHECKS.iter().find(|check| check.rules.contains(&rule)).map_or(0, |check| check.number);
    if number == last { 1 } else { number }
}

/// What is wrong with the nodes of a group that were launched from a version, each in a sentence.
///
/// # Errors
/// Those of [`Measure::new`].
pub fn new_nodes(
    inventory: &Inventory,
    config: &Config,
    problems: Vec<Problem>,
    node_group: &str,
    version: Option<i64>,
) -> Result<Vec<String>, Error> {
    let measure = Measure::new(inventory, config, problems)?;
    let live = LiveFacts::new(measure.facts(inventory, config));
    let is_new = |judged: &&JudgedNode<'_>| {
        judged.node.node_group() == Some(node_group) && version.is_none_or(|version| judged.version() == Some(version))
    };
    let wrong = live.nodes.iter().filter(is_new).filter(|judged| judged.standing != Standing::Right);
    Ok(wrong.map(|judged| format!("node {}: {}", judged.node.name, judged.because)).collect())
}

fn report_node(judged: &JudgedNode<'_>) -> NodeReport {
    let node = judged.node;
    let group = node.node_group().map(str::to_owned);
    NodeReport {
        name: node.name.clone(),
        group: group.or_else(|| node.labels.get("karpenter.sh/nodepool").cloned()),
        zone: node.zone().map(str::to_owned),
        managed: node.node_group().is_some(),
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

/// A launch that fails leaves no node to judge, and a new one registers late.
fn absent(inventory: &Inventory, plan: &Plan, nodes: &[NodeReport], selection: &Selection) -> BTreeMap<String, u64> {
    let missing = |group: &&NodeGroupPlan| {
        let there = nodes.iter().filter(|node| node.managed && node.group.as_ref() == Some(&group.name)).count() as u64;
        let wanted = match inventory.node_group(&group.name) {
            Some(known) => known.scaling_config.map_or(0, |scaling| u64::from(scaling.desired_size)),
            // A group that is named and yet to be made is not right for want of nodes that could be wrong.
            None => u64::from(group.managed && selection.node_groups.contains(&group.name)),
        };
        let absent = wanted.saturating_sub(there);
        (absent > 0).then(|| (group.name.clone(), absent))
    };
    let asked = |group: &&NodeGroupPlan| selection.takes_group(&group.name);
    // Nodes that were not read are not nodes that are missing.
    if inventory.gaps.iter().any(|gap| matches!(gap.source, GapSource::Nodes | GapSource::NodeGroups)) {
        return BTreeMap::new();
    }
    plan.node_groups.iter().filter(asked).filter_map(|group| missing(&group)).collect()
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

    /// Whether every node is there and stands right, as far as pods and interfaces prove it, and nothing is an error.
    pub fn is_right(&self) -> bool {
        self.evidence_read
            && !self.unread.contains(&GapSource::Nodes)
            && self.absent.is_empty()
            && self.nodes.iter().all(|node| node.standing == Standing::Right)
            && !has_errors(&self.findings)
    }
}
