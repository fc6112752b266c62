//! Inventory → a first `eniplan.yaml`, with the reason of every choice; for `eniplan init`.
//!
//! Nothing is chosen silently: what the cluster does not say is decided by a fixed rule, and the file says so.

mod address_space;
mod groups;
mod names;
mod pools;
#[cfg(test)]
mod tests;
mod unused;

use std::collections::{BTreeMap, BTreeSet};

use self::address_space::{Missing, new_subnets};
use self::groups::Group;
use self::pools::{Pool, Pools};
use super::from_tags::{DEFAULT_POOL, POOL_TAG};
use super::{Decision, plan};
use crate::config::{Config, LabelConfig, LabelDesign, PoolConfig, PoolNames};
use crate::finding::{Problem, Subject};
use crate::inventory::{CniSettings, DEFAULT_ENI_CONFIG_KEY, Inventory, Node, Subnet};
use crate::resolve::is_zone_label;

pub use address_space::{NewSubnet, NewSubnets};

/// Tag of subnet discovery. Source: amazon-vpc-cni-k8s `pkg/awsutils/awsutils.go`, `subnetDiscoveryTagKey`.
const DISCOVERY_TAG: &str = "kubernetes.io/role/cni";

/// A first `eniplan.yaml`.
#[derive(Debug)]
pub struct Proposal {
    /// What it says.
    pub config: Config,
    /// Why it says so.
    pub reasons: Reasons,
    /// Pools of unused subnets that no group draws from; shown as comments.
    pub further_pools: BTreeMap<String, PoolConfig>,
    /// Subnets of the pools by id: `100.64.0.0/20, eu-west-1a`.
    pub places: BTreeMap<String, String>,
    /// Pod subnets that have to be made before the plan is complete.
    pub new_subnets: Option<NewSubnets>,
    /// Nodes that the file does not plan yet.
    pub other_nodes: Vec<OtherNodes>,
    /// In a cluster without node groups and nodes: what groups that are to be made can be described with.
    pub first_groups: Option<FirstGroups>,
}

/// What is known of node groups that do not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstGroups {
    /// Pools, one for each group that is proposed.
    pub pools: Vec<String>,
    /// Node subnets: those that EKS was given, without public ones where there are others.
    pub subnets: Vec<String>,
}

/// Why the file says what it says: comments, a line each.
#[derive(Debug, Default)]
pub struct Reasons {
    /// Of the file as a whole.
    pub file: Vec<String>,
    /// Of the label design that the plan will choose.
    pub label: Option<String>,
    /// Of the security groups.
    pub security_groups: Vec<String>,
    /// Of each pool.
    pub pools: BTreeMap<String, Vec<String>>,
    /// Of ENIConfigs and subnets that are in no pool.
    pub left_out: Vec<String>,
    /// Of each planned group.
    pub node_groups: BTreeMap<String, Vec<String>>,
    /// Of each ignored group.
    pub ignore: BTreeMap<String, String>,
}

/// Nodes of no managed node group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherNodes {
    /// Whether Karpenter made them.
    pub karpenter: bool,
    /// How many.
    pub count: usize,
    /// Their node subnets.
    pub subnets: Vec<String>,
    /// Their instance types.
    pub instance_types: Vec<String>,
}

/// Proposes a file for the cluster.
pub fn propose(inventory: &Inventory) -> Proposal {
    let mut pools = pools::pools(inventory, nodes_will_look_for_their_zone(inventory));
    let mut groups = groups::groups(inventory, &pools);
    let lacking = missing(inventory, &pools, &groups);
    if pools::fill(&mut pools, &lacking) {
        groups = groups::groups(inventory, &pools);
    }
    let mut config = Config {
        cluster: inventory.cluster.name.clone(),
        region: Some(inventory.region.clone()),
        security_groups: None,
        label: label_that_nodes_carry(inventory),
        cni_env: BTreeMap::new(),
        pools: pools.by_name.iter().map(|(name, pool)| (name.clone(), pool.to_config(name, inventory))).collect(),
        node_groups: Vec::new(),
        ignore: Vec::new(),
        phases: Vec::new(),
        current_phase: None,
    };
    if config.pools.is_empty() {
        config.pools.insert(DEFAULT_POOL.into(), pool_to_be_made(inventory));
    }
    let mut reasons = Reasons { file: switch(inventory), left_out: pools.left_out.clone(), ..Reasons::default() };
    security_groups(inventory, &pools, &mut config, &mut reasons);
    let decisions = repaired(inventory, &pools, &mut groups, &mut config);
    reasons.label = label(inventory, &config, &decisions);
    reasons.pools = pools.by_name.iter().map(|(name, pool)| (name.clone(), pool.why.clone())).collect();
    reasons.pools.extend(pools.further.iter().map(|(name, pool)| (name.clone(), pool.why.clone())));
    for group in &groups {
        let name = group.config.name.clone();
        if let Some(reason) = &group.ignored {
            reasons.ignore.insert(name, reason.clone());
        } else {
            reasons.node_groups.insert(name, group.why.clone());
        }
    }
    let further_pools = pools.further.iter().map(|(name, pool)| (name.clone(), pool.to_config(name, inventory)));
    Proposal {
        further_pools: further_pools.collect(),
        places: places(&pools),
        new_subnets: new_subnets(inventory, &missing(inventory, &pools, &groups)),
        other_nodes: other_nodes(inventory),
        first_groups: first_groups(inventory, &config),
        config,
        reasons,
    }
}

/// What the file leads to in a cluster whose pods live elsewhere today.
fn switch(inventory: &Inventory) -> Vec<String> {
    let Some(settings) = inventory.cni_settings() else { return Vec::new() };
    if settings.custom_networking() {
        return Vec::new();
    }
    let mut lines = vec![
        "Custom networking is off in this cluster, and the plan turns it on: the next interface of every node follows."
            .to_owned(),
    ];
    if inventory.subnets.iter().any(|subnet| subnet.tags.contains_key(DISCOVERY_TAG)) {
        lines.push(format!(
            "Subnets are tagged {DISCOVERY_TAG}: the CNI chooses pod subnets by that tag now, and would no longer.              `eniplan advise` says whether that is enough for what you need."
        ));
    }
    lines
}

/// With custom networking off and nodes there, the plan names ENIConfigs by zone so that these nodes find one. With
/// the zone label in force and no ENIConfig yet, nodes look for such names already.
fn nodes_will_look_for_their_zone(inventory: &Inventory) -> bool {
    match inventory.cni_settings().filter(CniSettings::custom_networking) {
        Some(settings) => is_zone_label(settings.label_key()) && inventory.eni_configs.is_empty(),
        None => inventory.nodes.iter().any(Node::runs_aws_node) && label_that_nodes_carry(inventory).is_none(),
    }
}

/// Custom networking is off, but every node carries a label that names an ENIConfig already: then that label decides.
fn label_that_nodes_carry(inventory: &Inventory) -> Option<LabelConfig> {
    if inventory.cni_settings().is_some_and(|settings| settings.custom_networking()) {
        return None;
    }
    let mut nodes = inventory.nodes.iter().filter(|node| node.runs_aws_node()).peekable();
    nodes.peek()?;
    let names_one = |node: &Node| {
        let name = node.labels.get(DEFAULT_ENI_CONFIG_KEY);
        name.is_some_and(|name| inventory.eni_config(name).is_some())
    };
    nodes.all(names_one).then_some(LabelConfig { design: LabelDesign::Own, key: None })
}

/// Nothing is there to draw from: the pool of subnets that will be tagged for it.
fn pool_to_be_made(inventory: &Inventory) -> PoolConfig {
    let names = if nodes_will_look_for_their_zone(inventory) { PoolNames::Zone } else { PoolNames::Subnet };
    let subnet_tags = BTreeMap::from([(POOL_TAG.to_owned(), DEFAULT_POOL.to_owned())]);
    PoolConfig { names: Some(names), subnet_tags, ..PoolConfig::default() }
}

/// Plans the file and mends what the plan cannot do, until nothing more can be mended here.
fn repaired(inventory: &Inventory, pools: &Pools<'_>, groups: &mut [Group], config: &mut Config) -> Vec<Decision> {
    loop {
        groups::into_config(groups, config);
        let planned = plan(inventory, config);
        // Another pool, or none, makes the other problems of a group void.
        let (first, rest): (Vec<_>, Vec<_>) =
            planned.problems.iter().partition(|problem| groups::changes_pool(problem));
        let mut mend = |problems: Vec<&Problem>| {
            problems.into_iter().fold(false, |mended, problem| {
                let group = groups::about(groups, problem);
                mended | group.is_some_and(|group| groups::repair(group, problem, inventory, pools))
            })
        };
        let mended = mend(first) || mend(rest);
        // Every repair changes a group once and for good, so that this ends.
        if !mended {
            return planned.plan.decisions;
        }
    }
}

fn label(inventory: &Inventory, config: &Config, decisions: &[Decision]) -> Option<String> {
    if config.label.is_some() {
        return Some("every node carries a label that names an ENIConfig already".into());
    }
    let cluster = Subject::Cluster(inventory.cluster.name.clone());
    let decision =
        decisions.iter().find(|decision| decision.subject == cluster && decision.choice.starts_with("label design"))?;
    Some(format!("Not set here, the plan decides: {}, because {}.", decision.choice, decision.because))
}

/// New ENIConfigs get the groups that those of the cluster have; the plan leaves those of the cluster as they are.
fn security_groups(inventory: &Inventory, pools: &Pools<'_>, config: &mut Config, reasons: &mut Reasons) {
    let of = |pool: &Pool<'_>| -> Option<Vec<String>> {
        let mut lists =
            pool.members.iter().filter_map(|member| member.existing).map(|existing| &existing.security_groups);
        let first = lists.next()?;
        lists.all(|other| other == first).then(|| first.clone())
    };
    let mut lists: BTreeSet<Vec<String>> = pools.by_name.values().filter_map(of).collect();
    let by_default: Vec<String> = inventory.cluster.cluster_security_group_id.iter().cloned().collect();
    if lists.len() == 1
        && let Some(only) = lists.pop_first()
    {
        if only != by_default {
            reasons.security_groups.push("those that all ENIConfigs of the cluster have".into());
            config.security_groups = Some(only);
        }
        return;
    }
    for (name, pool) in &pools.by_name {
        let is_new = pool.members.iter().any(|member| member.existing.is_none());
        if let Some(groups) = of(pool).filter(|_| is_new)
            && let Some(pool_config) = config.pools.get_mut(name)
        {
            pool_config.security_groups = Some(groups);
        }
    }
}

fn first_groups(inventory: &Inventory, config: &Config) -> Option<FirstGroups> {
    if inventory.cluster.auto_mode || !inventory.node_groups.is_empty() || !inventory.nodes.is_empty() {
        return None;
    }
    let in_pools = |id: &str| config.pools.values().flat_map(|pool| &pool.subnets).any(|subnet| subnet.id == id);
    let of_cluster = inventory.cluster.subnet_ids.iter().filter(|id| !in_pools(id));
    let (public, private): (Vec<&String>, Vec<&String>) =
        of_cluster.partition(|id| inventory.subnet(id).is_some_and(|subnet| subnet.map_public_ip_on_launch));
    let subnets = if private.is_empty() { public } else { private };
    Some(FirstGroups { pools: config.pools.keys().cloned().collect(), subnets: subnets.into_iter().cloned().collect() })
}

fn places(pools: &Pools<'_>) -> BTreeMap<String, String> {
    let members = pools.by_name.values().chain(pools.further.values()).flat_map(|pool| &pool.members);
    members
        .map(|member| {
            let subnet = member.subnet;
            (subnet.subnet_id.clone(), format!("{}, {}", subnet.cidr_block, subnet.availability_zone))
        })
        .collect()
}

/// Zones of node subnets in which the pools of their groups have no pod subnet. Without groups: the zones of the
/// cluster. Where nodes will look for their zone: those of all nodes as well.
fn missing<'a>(inventory: &'a Inventory, pools: &Pools<'_>, groups: &[Group]) -> Vec<Missing<'a>> {
    let mut wanted = Vec::new();
    for group in groups.iter().filter(|group| group.ignored.is_none() && group.config.map.is_empty()) {
        let subnets = inventory.node_group(&group.config.name).into_iter().flat_map(|known| &known.subnets);
        for node_subnet in subnets.filter_map(|id| inventory.subnet(id)) {
            let mut own = group.config.pools.iter();
            let served = own.clone().filter_map(|name| pools.by_name.get(name)).any(|pool| serves(pool, node_subnet));
            if let Some(pool) = own.next().filter(|_| !served) {
                wanted.push(Missing { pool: pool.clone(), node_subnet });
            }
        }
    }
    let all_nodes = if nodes_will_look_for_their_zone(inventory) {
        let addresses = inventory.nodes.iter().filter(|node| node.runs_aws_node()).filter_map(|node| node.internal_ip);
        addresses.filter_map(|address| unused::subnet_of(inventory, address)).collect()
    } else if groups.is_empty() && inventory.nodes.is_empty() {
        inventory.cluster.subnet_ids.iter().filter_map(|id| inventory.subnet(id)).collect()
    } else {
        Vec::new()
    };
    let default = pools.by_name.get(DEFAULT_POOL);
    let no_pool = pools.by_name.is_empty();
    for node_subnet in all_nodes {
        if no_pool || default.is_some_and(|pool| !serves(pool, node_subnet)) {
            wanted.push(Missing { pool: DEFAULT_POOL.into(), node_subnet });
        }
    }
    wanted.sort_by(|a, b| a.key().cmp(&b.key()));
    wanted.dedup_by(|a, b| a.key() == b.key());
    wanted
}

fn serves(pool: &Pool<'_>, node_subnet: &Subnet) -> bool {
    pool.serves(node_subnet).next().is_some()
}

fn other_nodes(inventory: &Inventory) -> Vec<OtherNodes> {
    let is_other = |node: &&Node| {
        node.runs_aws_node() && node.node_group().is_none_or(|group| inventory.node_group(group).is_none())
    };
    let mut found = Vec::new();
    for karpenter in [false, true] {
        let nodes: Vec<&Node> = inventory
            .nodes
            .iter()
            .filter(is_other)
            .filter(|node| node.labels.contains_key("karpenter.sh/nodepool") == karpenter)
            .collect();
        if nodes.is_empty() {
            continue;
        }
        let subnets: BTreeSet<String> = nodes
            .iter()
            .filter_map(|node| Some(unused::subnet_of(inventory, node.internal_ip?)?.subnet_id.clone()))
            .collect();
        let types: BTreeSet<String> = nodes.iter().filter_map(|node| node.instance_type()).map(str::to_owned).collect();
        found.push(OtherNodes {
            karpenter,
            count: nodes.len(),
            subnets: subnets.into_iter().collect(),
            instance_types: types.into_iter().collect(),
        });
    }
    found
}
