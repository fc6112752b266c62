//! What changes from one phase to the next, and what stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::needs::{Sizes, sizes};
use crate::config::{Config, OnNoMatch, Strategy};
use crate::inventory::Inventory;
use crate::plan::{Assignment, LaunchTemplatePlan, NodeGroupPlan, Plan};

/// The move from one phase to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Move {
    /// The phase before; `None` is the spec without any phase.
    pub from: Option<String>,
    /// The phase.
    pub to: String,
    /// ENIConfigs that the phase adds.
    pub eni_configs_added: Vec<String>,
    /// ENIConfigs that it no longer needs. They stay in the cluster.
    pub eni_configs_unused: Vec<String>,
    /// CNI settings that change: name → before and after.
    pub cni_settings: BTreeMap<String, (Option<String>, Option<String>)>,
    /// Every planned group, by name.
    pub node_groups: Vec<GroupMove>,
}

/// What the move does to one group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupMove {
    /// Name.
    pub name: String,
    /// What happens to it.
    pub change: GroupChange,
    /// What differs, in words.
    pub differs: Vec<String>,
    /// Name of the launch template that gets a version, or is made.
    pub launch_template: Option<String>,
    /// Nodes that are replaced.
    pub nodes_replaced: Vec<String>,
    /// Nodes that stay as they are.
    pub nodes_untouched: usize,
}

/// What happens to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroupChange {
    /// It is planned for the first time.
    New,
    /// Its nodes get other user data: a template version, and the nodes are replaced.
    Replaced,
    /// Only its sizes change.
    Resized,
    /// Nothing changes.
    Untouched,
    /// It is no longer planned.
    Dropped,
}

/// A plan with the wishes that it came from.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// Name of the phase; `None` is the spec without any phase.
    pub phase: Option<&'a str>,
    /// What is wanted.
    pub config: &'a Config,
    /// What was decided.
    pub plan: &'a Plan,
}

/// The move from one point to the next. `to` is a phase.
pub fn moves(inventory: &Inventory, from: Point<'_>, to: Point<'_>) -> Move {
    let names = |plan: &Plan| -> BTreeSet<String> {
        plan.eni_configs.iter().map(|eni_config| eni_config.name.clone()).collect()
    };
    let (before, after) = (names(from.plan), names(to.plan));
    let groups: BTreeSet<&str> =
        [from.plan, to.plan].into_iter().flat_map(|plan| &plan.node_groups).map(|group| group.name.as_str()).collect();
    Move {
        from: from.phase.map(str::to_owned),
        to: to.phase.unwrap_or_default().into(),
        eni_configs_added: after.difference(&before).cloned().collect(),
        eni_configs_unused: before.difference(&after).cloned().collect(),
        cni_settings: cni_settings(from.plan, to.plan),
        node_groups: groups.into_iter().filter_map(|name| group_move(inventory, from, to, name)).collect(),
    }
}

fn cni_settings(from: &Plan, to: &Plan) -> BTreeMap<String, (Option<String>, Option<String>)> {
    let names: BTreeSet<&String> = from.cni.env.keys().chain(to.cni.env.keys()).collect();
    names
        .into_iter()
        .map(|name| (name.clone(), (from.cni.env.get(name).cloned(), to.cni.env.get(name).cloned())))
        .filter(|(_, (before, after))| before != after)
        .collect()
}

fn group_move(inventory: &Inventory, from: Point<'_>, to: Point<'_>, name: &str) -> Option<GroupMove> {
    let find = |plan: &'_ Plan| plan.node_groups.iter().position(|group| group.name == name);
    let before = find(from.plan).and_then(|index| from.plan.node_groups.get(index));
    let after = find(to.plan).and_then(|index| to.plan.node_groups.get(index));
    let nodes: Vec<String> = inventory.nodes_of(name).map(|node| node.name.clone()).collect();
    let (change, differs) = match (before, after) {
        (None, None) => return None,
        (None, Some(after)) => (GroupChange::New, rows(&[], &after.assignments)),
        (Some(_), None) => (GroupChange::Dropped, Vec::new()),
        (Some(before), Some(after)) => {
            let user_data = differences(before, after);
            let sizes = resized(sizes(inventory, from.config, before), sizes(inventory, to.config, after));
            let change = match (user_data.is_empty(), sizes.is_empty()) {
                (false, _) => GroupChange::Replaced,
                (true, false) => GroupChange::Resized,
                (true, true) => GroupChange::Untouched,
            };
            (change, [user_data, sizes].concat())
        }
    };
    let touched = matches!(change, GroupChange::New | GroupChange::Replaced);
    let launch_template =
        after.filter(|_| touched).and_then(|group| group.launch_template.as_ref()).map(|template| match template {
            LaunchTemplatePlan::Create { name, .. } => format!("{name} (new)"),
            LaunchTemplatePlan::NewVersion { name, .. } => format!("{name} (new version)"),
        });
    let (nodes_replaced, nodes_untouched) = if touched { (nodes, 0) } else { (Vec::new(), nodes.len()) };
    Some(GroupMove { name: name.into(), change, differs, launch_template, nodes_replaced, nodes_untouched })
}

/// What of a node's user data differs.
fn differences(before: &NodeGroupPlan, after: &NodeGroupPlan) -> Vec<String> {
    let mut differs = rows(&before.assignments, &after.assignments);
    let or_none = |text: Option<&str>| text.unwrap_or("none").to_owned();
    let mut differ = |what: &str, before: String, after: String| {
        if before != after {
            differs.push(format!("{what}: {before} → {after}"));
        }
    };
    differ("label", or_none(before.label_key.as_deref()), or_none(after.label_key.as_deref()));
    let max_pods = |group: &NodeGroupPlan| group.max_pods.written.map_or("left to EKS".into(), |max| max.to_string());
    differ("max pods", max_pods(before), max_pods(after));
    let strategy = |group: &NodeGroupPlan| match group.strategy {
        Strategy::Pinned => "pinned".to_owned(),
        Strategy::Hash => "hash".to_owned(),
    };
    differ("strategy", strategy(before), strategy(after));
    let on_no_match = |group: &NodeGroupPlan| match group.on_no_match {
        OnNoMatch::Fail => "fail".to_owned(),
        OnNoMatch::Zone => "zone".to_owned(),
    };
    differ("onNoMatch", on_no_match(before), on_no_match(after));
    differs
}

fn rows(before: &[Assignment], after: &[Assignment]) -> Vec<String> {
    let candidates = |row: &Assignment| {
        let named = row.candidates.iter().map(|candidate| match row.candidates.len() {
            1 => candidate.eni_config.clone(),
            _ => format!("{} ({})", candidate.eni_config, candidate.weight),
        });
        named.collect::<Vec<_>>().join(", ")
    };
    after
        .iter()
        .filter_map(|row| {
            let now = candidates(row);
            match before.iter().find(|other| other.subnet_id == row.subnet_id).map(candidates) {
                Some(then) if then == now => None,
                Some(then) => Some(format!("{}: {then} → {now}", row.cidr)),
                None => Some(format!("{}: {now}", row.cidr)),
            }
        })
        .collect()
}

fn resized(before: Option<Sizes>, after: Option<Sizes>) -> Vec<String> {
    let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
    [("min", before.min, after.min), ("desired", before.desired, after.desired), ("max", before.max, after.max)]
        .into_iter()
        .filter(|(_, before, after)| before != after)
        .map(|(what, before, after)| format!("{what} {before} → {after}"))
        .collect()
}
