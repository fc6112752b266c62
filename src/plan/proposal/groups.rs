//! Which pool each managed node group draws from, and what the group needs to be planned at all.

use std::collections::{BTreeMap, BTreeSet};

use super::names;
use super::pools::{Pool, Pools, place};
use super::unused::subnet_of;
use crate::config::{Config, MapRow, NodeGroupConfig, Strategy, Weights};
use crate::finding::{Problem, Subject};
use crate::inventory::{CniSettings, Inventory, Node, NodeGroup, Subnet};
use crate::plan::from_tags::{DEFAULT_POOL, POOL_TAG};
use crate::resolve::resolve;

/// A group of the file with the reasons for what it says.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) config: NodeGroupConfig,
    pub(super) why: Vec<String>,
    /// The reason to leave it alone, where it is not planned.
    pub(super) ignored: Option<String>,
}

/// Draws every managed group from a pool.
pub(super) fn groups(inventory: &Inventory, pools: &Pools<'_>) -> Vec<Group> {
    inventory.node_groups.iter().map(|group| one(inventory, group, pools)).collect()
}

fn one(inventory: &Inventory, group: &NodeGroup, pools: &Pools<'_>) -> Group {
    let mut config = NodeGroupConfig { name: group.name.clone(), ..NodeGroupConfig::default() };
    if group.ami_type.as_deref().is_some_and(|ami_type| ami_type.starts_with("WINDOWS_")) {
        let ignored = Some("the VPC CNI has no custom networking on Windows".into());
        return Group { config, why: Vec::new(), ignored };
    }
    let subnets: Vec<&Subnet> = group.subnets.iter().filter_map(|id| inventory.subnet(id)).collect();
    let mut why = Vec::new();
    match choose(inventory, group, &subnets, pools) {
        Choice::Pool(name, reason) => {
            why.extend(reason);
            config.pools.push(name);
            add_pools_for_other_zones(&mut config, &subnets, pools, &mut why);
            spread(&mut config, &subnets, pools, &mut why);
        }
        Choice::Map(map, reason) => {
            config.map = map;
            why.push(reason);
        }
    }
    Group { config, why, ignored: None }
}

enum Choice {
    /// A pool, with the reason where there was a choice.
    Pool(String, Option<String>),
    /// One row for each node subnet.
    Map(Vec<MapRow>, String),
}

fn choose(inventory: &Inventory, group: &NodeGroup, subnets: &[&Subnet], pools: &Pools<'_>) -> Choice {
    let known = &pools.by_name;
    if let Some(tag) = group.tags.get(POOL_TAG).filter(|tag| known.contains_key(*tag)) {
        return Choice::Pool(tag.clone(), Some(format!("by its tag {POOL_TAG}={tag}")));
    }
    if let Some(choice) = by_nodes(inventory, group, subnets, known) {
        return choice;
    }
    if known.len() < 2 {
        let name = known.keys().next().map_or(DEFAULT_POOL, String::as_str);
        return Choice::Pool(name.into(), None);
    }
    let covers = |pool: &Pool<'_>| subnets.iter().all(|subnet| pool.serves(subnet).next().is_some());
    let alike = |name: &str| {
        name == group.name || names::words(name).iter().any(|word| names::words(&group.name) == [word.as_str()])
    };
    if let Some(name) = known.keys().find(|name| alike(name)) {
        return Choice::Pool(name.clone(), Some("the pool is called like the group".into()));
    }
    let covering = || known.iter().filter(|(_, pool)| covers(pool)).map(|(name, _)| name);
    let first = || covering().next().or_else(|| known.keys().next());
    let name = known.keys().find(|name| *name == DEFAULT_POOL).or_else(first).map_or(DEFAULT_POOL, String::as_str);
    let others: Vec<&str> = known.keys().map(String::as_str).filter(|other| *other != name).collect();
    let reason =
        format!("nothing in the cluster says which pool it is to use; it could be {} as well", others.join(", "));
    Choice::Pool(name.into(), Some(reason))
}

/// The pool that the group's nodes use now. Where they use several, one for each node subnet, it is a map.
fn by_nodes(
    inventory: &Inventory,
    group: &NodeGroup,
    subnets: &[&Subnet],
    pools: &BTreeMap<String, Pool<'_>>,
) -> Option<Choice> {
    let settings = inventory.cni_settings().filter(CniSettings::custom_networking)?;
    let pool_of = |eni_config: &str| {
        let holds =
            |pool: &Pool<'_>| pool.members.iter().any(|member| member.existing.is_some() && member.name == eni_config);
        pools.iter().find(|(_, pool)| holds(pool))
    };
    let uses: Vec<(&Node, String, (&String, &Pool<'_>))> = inventory
        .nodes_of(&group.name)
        .filter_map(|node| {
            let eni_config = resolve(node, &settings).eni_config;
            let pool = pool_of(&eni_config)?;
            Some((node, eni_config, pool))
        })
        .collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, _, (pool, _)) in &uses {
        *counts.entry(pool.as_str()).or_default() += 1;
    }
    if counts.len() > 1
        && let Some(map) = map_of_nodes(inventory, subnets, &uses)
    {
        return Some(Choice::Map(
            map,
            "what its nodes use now, which depends on the node subnet and not on the zone alone".into(),
        ));
    }
    let most = counts.iter().max_by_key(|(name, count)| (**count, std::cmp::Reverse(**name)))?.0.to_owned();
    let reason = if counts.len() == 1 {
        (pools.len() > 1).then(|| match uses.len() {
            1 => "its node uses it now".to_owned(),
            count => format!("its {count} nodes use it now"),
        })
    } else {
        let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
        Some(format!("most of its nodes use it now (nodes by pool: {})", counts.join(", ")))
    };
    Some(Choice::Pool(most.into(), reason))
}

fn map_of_nodes(
    inventory: &Inventory,
    subnets: &[&Subnet],
    uses: &[(&Node, String, (&String, &Pool<'_>))],
) -> Option<Vec<MapRow>> {
    let mut by_subnet: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (node, eni_config, (_, pool)) in uses {
        let subnet = subnet_of(inventory, node.internal_ip?)?;
        // What a label or annotation by hand has put elsewhere gives no interface, and is no example to follow.
        if !pool.serves(subnet).any(|member| member.name == *eni_config) {
            return None;
        }
        by_subnet.entry(&subnet.subnet_id).or_default().insert(eni_config);
    }
    let row = |subnet: &&Subnet| {
        let names = by_subnet.get(subnet.subnet_id.as_str()).filter(|names| names.len() == 1)?;
        Some(MapRow { cidr: subnet.cidr_block, eni_configs: names.iter().map(|name| (*name).to_owned()).collect() })
    };
    let mut rows = subnets.iter().map(row).collect::<Option<Vec<_>>>()?;
    rows.sort_by_key(|row| row.cidr);
    Some(rows)
}

/// Zones that the first pool does not serve come from other pools, where those serve no zone twice.
fn add_pools_for_other_zones(
    config: &mut NodeGroupConfig,
    subnets: &[&Subnet],
    pools: &Pools<'_>,
    why: &mut Vec<String>,
) {
    for (name, pool) in &pools.by_name {
        let served = |subnet: &&Subnet| {
            config
                .pools
                .iter()
                .filter_map(|name| pools.by_name.get(name))
                .any(|pool| pool.serves(subnet).next().is_some())
        };
        let (covered, open): (Vec<&Subnet>, Vec<&Subnet>) = subnets.iter().partition(|subnet| served(subnet));
        let helps = |subnets: &[&Subnet]| subnets.iter().any(|subnet| pool.serves(subnet).next().is_some());
        if !config.pools.contains(name) && helps(&open) && !helps(&covered) {
            why.push(format!("pool {name} as well, for the zones that {} does not serve", config.pools.join(", ")));
            config.pools.push(name.clone());
        }
    }
}

/// Several candidates in a zone: nodes spread over them, and the file says so.
fn spread(config: &mut NodeGroupConfig, subnets: &[&Subnet], pools: &Pools<'_>, why: &mut Vec<String>) {
    let members = |subnet: &Subnet| -> Vec<&str> {
        let own = config.pools.iter().filter_map(|name| pools.by_name.get(name));
        own.flat_map(|pool| &pool.members)
            .filter(|member| place(member.subnet) == place(subnet))
            .map(|member| member.name.as_str())
            .collect()
    };
    let Some((zone, names)) =
        subnets.iter().map(|subnet| (&subnet.availability_zone, members(subnet))).find(|(_, names)| names.len() > 1)
    else {
        return;
    };
    why.push(format!("hash: {} are in {zone}; for a fixed choice put them into pools of their own", names.join(", ")));
    config.strategy = Strategy::Hash;
}

/// Whether the repair of a problem is another pool, or none.
pub(super) fn changes_pool(problem: &Problem) -> bool {
    matches!(problem.rule, "bottlerocket-needs-one-eniconfig" | "ami-family-refused" | "label-set-on-group")
}

/// Changes a group so that a problem of its plan goes away. False where nothing can be done about it here.
pub(super) fn repair(group: &mut Group, problem: &Problem, inventory: &Inventory, pools: &Pools<'_>) -> bool {
    let config = &mut group.config;
    match problem.rule {
        "launch-template-not-adopted" if !config.adopt => {
            config.adopt = true;
            let template = inventory.node_group(&config.name).and_then(|known| known.launch_template.as_ref());
            let name =
                template.and_then(|template| template.name.as_deref().or(template.id.as_deref())).unwrap_or_default();
            group.why.push(format!("adopt: its launch template {name} is not eniplan's"));
        }
        "needs-new-group" if config.successor.is_none() => {
            let successor = free_name(&config.name, inventory);
            group.why.push(format!(
                "successor: its nodes need user data, and a group without a launch template of its own can never take one; \
                 {successor} is to replace it"
            ));
            config.successor = Some(successor);
        }
        "bottlerocket-needs-one-eniconfig" => return bottlerocket(group, inventory, pools),
        "ami-family-refused" | "label-set-on-group" => {
            group.ignored = Some(format!("{}; {}", problem.message, problem.help));
        }
        "candidate-without-capacity" | "weight-undecidable" if config.weights == Weights::Capacity => {
            group.why.push(format!("weights by size: {}", problem.message));
            config.weights = Weights::Usable;
        }
        _ => return false,
    }
    true
}

/// Settings of Bottlerocket are fixed text: all nodes get one ENIConfig, or stay on the one of their zone.
fn bottlerocket(group: &mut Group, inventory: &Inventory, pools: &Pools<'_>) -> bool {
    let by_zone = pools.by_name.iter().find(|(name, pool)| pool.by_zone && group.config.pools != [(*name).clone()]);
    if let Some((name, _)) = by_zone {
        group.why = vec![format!(
            "its Bottlerocket settings are fixed text and can name one ENIConfig only; from {name} its nodes use the one of their zone"
        )];
        group.config.pools = vec![name.clone()];
        group.config.map.clear();
        group.config.strategy = Strategy::Pinned;
        return true;
    }
    let zones: BTreeSet<&str> = inventory
        .node_group(&group.config.name)
        .into_iter()
        .flat_map(|known| &known.subnets)
        .filter_map(|id| Some(inventory.subnet(id)?.availability_zone.as_str()))
        .collect();
    let zones: Vec<&str> = zones.into_iter().collect();
    group.ignored = Some(format!(
        "its Bottlerocket settings are fixed text and can name one ENIConfig only, but it spans {}: make one group a zone and plan those",
        zones.join(", ")
    ));
    true
}

/// `NAME-2`, or the next number that no group has.
fn free_name(name: &str, inventory: &Inventory) -> String {
    /// Source: EKS API reference, `CreateNodegroup`, `nodegroupName`.
    const LONGEST: usize = 63;
    let numbered = |number: usize| {
        let suffix = format!("-{number}");
        let kept: String = name.chars().take(LONGEST - suffix.len()).collect();
        kept + &suffix
    };
    (2..).map(numbered).find(|name| inventory.node_group(name).is_none()).unwrap_or_default()
}

/// The groups as the file has them.
pub(super) fn into_config(groups: &[Group], config: &mut Config) {
    config.node_groups =
        groups.iter().filter(|group| group.ignored.is_none()).map(|group| group.config.clone()).collect();
    config.ignore =
        groups.iter().filter(|group| group.ignored.is_some()).map(|group| group.config.name.clone()).collect();
}

/// The group that a problem is about.
pub(super) fn about<'g>(groups: &'g mut [Group], problem: &Problem) -> Option<&'g mut Group> {
    let Subject::NodeGroup(name) = &problem.subject else { return None };
    groups.iter_mut().find(|group| group.config.name == *name && group.ignored.is_none())
}
