//! Which pools the cluster has, or could have: from tags, from its ENIConfigs, else from subnets that nobody uses.

use std::collections::{BTreeMap, BTreeSet};

use super::address_space::Missing;
use super::names;
use super::unused::{Unused, unused};
use crate::config::{PoolConfig, PoolNames, PoolSubnet};
use crate::inventory::{EniConfig, Inventory, Subnet};
use crate::plan::NO_MATCH;
use crate::plan::from_tags::{DEFAULT_POOL, POOL_TAG};
use crate::plan::pools::name_fault;
use crate::resolve::DEFAULT_ENI_CONFIG;

/// A pool that the file proposes.
#[derive(Debug, Clone)]
pub(super) struct Pool<'a> {
    pub(super) members: Vec<Member<'a>>,
    /// Whether its ENIConfigs are called like their zones.
    pub(super) by_zone: bool,
    /// Why it is there, a line each.
    pub(super) why: Vec<String>,
}

/// A pod subnet with the name of its ENIConfig.
#[derive(Debug, Clone)]
pub(super) struct Member<'a> {
    pub(super) subnet: &'a Subnet,
    pub(super) name: String,
    pub(super) existing: Option<&'a EniConfig>,
}

/// All pools by name.
#[derive(Debug, Default)]
pub(super) struct Pools<'a> {
    pub(super) by_name: BTreeMap<String, Pool<'a>>,
    /// Pools of subnets that nobody uses, where the cluster has pools already; shown, not used.
    pub(super) further: BTreeMap<String, Pool<'a>>,
    /// ENIConfigs and subnets that are in no pool, with the reason.
    pub(super) left_out: Vec<String>,
}

/// Zone id and Outpost: an interface attaches only there.
pub(super) fn place(subnet: &Subnet) -> (&str, Option<&str>) {
    (&subnet.availability_zone_id, subnet.outpost_arn.as_deref())
}

impl Pool<'_> {
    /// Its subnets where nodes of `node_subnet` can have interfaces.
    pub(super) fn serves(&self, node_subnet: &Subnet) -> impl Iterator<Item = &Member<'_>> {
        self.members.iter().filter(move |member| place(member.subnet) == place(node_subnet))
    }

    /// The pool as the file has it: selected by tag where the tag selects just these, else by id.
    pub(super) fn to_config(&self, name: &str, inventory: &Inventory) -> PoolConfig {
        let all = |rule: fn(&Member<'_>) -> bool| self.members.iter().all(rule);
        let names = if self.by_zone {
            Some(PoolNames::Zone)
        } else if all(|member| member.subnet.name() == Some(member.name.as_str())) {
            Some(PoolNames::Subnet)
        } else {
            None
        };
        let ids = |subnets: &mut dyn Iterator<Item = &Subnet>| -> BTreeSet<String> {
            subnets.map(|subnet| subnet.subnet_id.clone()).collect()
        };
        let tagged = ids(&mut inventory.subnets.iter().filter(|subnet| pool_tag(subnet) == Some(name)));
        let own = ids(&mut self.members.iter().map(|member| member.subnet));
        if names.is_some() && tagged == own {
            let subnet_tags = BTreeMap::from([(POOL_TAG.to_owned(), name.to_owned())]);
            return PoolConfig { names, subnet_tags, ..PoolConfig::default() };
        }
        let subnet = |member: &Member<'_>| PoolSubnet {
            id: member.subnet.subnet_id.clone(),
            name: names.is_none().then(|| member.name.clone()),
        };
        PoolConfig { names, subnets: self.members.iter().map(subnet).collect(), ..PoolConfig::default() }
    }
}

/// Finds the pools.
///
/// `by_zone` asks for a pool `default` with zone names: nodes that are there when custom networking is switched on
/// look for the ENIConfig of their zone.
pub(super) fn pools(inventory: &Inventory, by_zone: bool) -> Pools<'_> {
    let mut pools = Pools::default();
    from_tags_and_eni_configs(inventory, &mut pools);
    let taken: BTreeSet<&str> =
        pools.by_name.values().flat_map(|pool| &pool.members).map(|member| member.subnet.subnet_id.as_str()).collect();
    let Unused { mut apart, mut beside_nodes } = unused(inventory);
    apart.retain(|subnet| !taken.contains(subnet.subnet_id.as_str()));
    beside_nodes.retain(|subnet| !taken.contains(subnet.subnet_id.as_str()));
    let (candidates, why) = if apart.is_empty() {
        (
            beside_nodes,
            "no node group uses these subnets; make sure that nothing else does, as they share a CIDR block with nodes",
        )
    } else {
        pools.left_out.extend(beside_nodes.iter().map(|subnet| {
            format!("{} is used by no node group either, but shares a CIDR block with nodes", described(subnet))
        }));
        (apart, "no node group uses these subnets, and no node lives in their CIDR block")
    };
    let new = split(candidates.into_iter().map(|subnet| (subnet, None)).collect(), inventory, why);
    if pools.by_name.is_empty() {
        pools.by_name = new
    } else {
        pools.further = new
    }
    if let Some(only) = only_pool(&pools.by_name) {
        rename(&mut pools.by_name, &only, DEFAULT_POOL);
    }
    if by_zone {
        name_one_by_zone(&mut pools.by_name);
    }
    unique_names(&mut pools);
    pools
}

/// Fills places that a pool lacks with subnets that nobody uses. True where there were some.
pub(super) fn fill(pools: &mut Pools<'_>, missing: &[Missing<'_>]) -> bool {
    let mut filled = false;
    for Missing { pool: name, node_subnet } in missing {
        let Some(pool) = pools.by_name.get_mut(name) else { continue };
        let found = pools.further.iter_mut().find_map(|(from, further)| {
            let at = further.members.iter().position(|member| place(member.subnet) == place(node_subnet))?;
            Some((from, further.members.remove(at)))
        });
        let Some((from, mut member)) = found else { continue };
        pool.why.push(format!(
            "{} is taken from {from}, of which nobody uses it: the pool had no subnet in its zone",
            described(member.subnet)
        ));
        if pool.by_zone {
            member.name.clone_from(&member.subnet.availability_zone);
        }
        pool.members.push(member);
        filled = true;
    }
    pools.further.retain(|_, pool| !pool.members.is_empty());
    filled
}

/// `subnet-… (100.64.0.0/20, eu-west-1a)`.
fn described(subnet: &Subnet) -> String {
    format!("{} ({}, {})", subnet.subnet_id, subnet.cidr_block, subnet.availability_zone)
}

fn only_pool(pools: &BTreeMap<String, Pool<'_>>) -> Option<String> {
    let mut names = pools.keys();
    names.next().filter(|_| names.next().is_none()).cloned()
}

fn rename<'a>(pools: &mut BTreeMap<String, Pool<'a>>, from: &str, to: &str) {
    // A name that a tag gave is the user's own.
    let tagged = |pool: &Pool<'a>| pool.members.iter().any(|member| member.subnet.tags.contains_key(POOL_TAG));
    if from == to || pools.contains_key(to) || pools.get(from).is_none_or(tagged) {
        return;
    }
    if let Some(pool) = pools.remove(from) {
        pools.insert(to.to_owned(), pool);
    }
}

fn from_tags_and_eni_configs<'a>(inventory: &'a Inventory, pools: &mut Pools<'a>) {
    let mut by_tag: BTreeMap<String, Vec<(&Subnet, Option<&EniConfig>)>> = BTreeMap::new();
    let mut by_zone = Vec::new();
    let mut others = Vec::new();
    for eni_config in &inventory.eni_configs {
        let subnet = match usable(inventory, eni_config) {
            Ok(subnet) => subnet,
            Err(reason) => {
                pools.left_out.push(format!("ENIConfig {}: {reason}", eni_config.name));
                continue;
            }
        };
        match pool_tag(subnet) {
            Some(pool) => {
                let members: &mut Vec<_> = by_tag.entry(pool.to_owned()).or_default();
                match members.iter().find(|(member, _)| member.subnet_id == subnet.subnet_id) {
                    None => members.push((subnet, Some(eni_config))),
                    Some(_) => pools.left_out.push(format!(
                        "ENIConfig {}: pool {pool} has its subnet {} under another name",
                        eni_config.name, subnet.subnet_id
                    )),
                }
            }
            None if eni_config.name == subnet.availability_zone => by_zone.push((subnet, Some(eni_config))),
            None => others.push((subnet, Some(eni_config))),
        }
    }
    for subnet in &inventory.subnets {
        let Some(pool) = pool_tag(subnet) else { continue };
        let members = by_tag.entry(pool.to_owned()).or_default();
        if members.iter().all(|(member, _)| member.subnet_id != subnet.subnet_id) {
            members.push((subnet, None));
        }
    }
    for (name, members) in by_tag {
        let why = format!("subnets tagged {POOL_TAG}={name}");
        let pool = pool(members, inventory, &name, &why);
        pools.by_name.insert(name, pool);
    }
    if !by_zone.is_empty() {
        let why = "the ENIConfigs that are named by zone";
        match pools.by_name.get_mut(DEFAULT_POOL) {
            Some(default) => {
                let mut members: Vec<_> =
                    default.members.iter().map(|member| (member.subnet, member.existing)).collect();
                members.extend(by_zone);
                *default = pool(members, inventory, "pods", &format!("{}, and {why}", default.why.join(", ")));
            }
            None => {
                pools.by_name.insert(DEFAULT_POOL.into(), pool(by_zone, inventory, "pods", why));
            }
        }
    }
    for (name, pool) in split(others, inventory, "ENIConfigs that the cluster has, together by their names") {
        insert(&mut pools.by_name, name, pool);
    }
}

fn pool_tag(subnet: &Subnet) -> Option<&str> {
    subnet.tags.get(POOL_TAG).map(|pool| pool.trim()).filter(|pool| !pool.is_empty())
}

/// Under the name, or, where that is taken, under the name with a number.
fn insert<'a>(pools: &mut BTreeMap<String, Pool<'a>>, name: String, pool: Pool<'a>) {
    let numbered = |number: usize| if number == 1 { name.clone() } else { format!("{name}-{number}") };
    // One of more names than there are pools is free.
    let free = (1..=pools.len() + 1).map(numbered).find(|name| !pools.contains_key(name));
    pools.insert(free.unwrap_or(name), pool);
}

/// The subnet of an ENIConfig that a node can name, or why no node should.
fn usable<'a>(inventory: &'a Inventory, eni_config: &EniConfig) -> Result<&'a Subnet, String> {
    let name = eni_config.name.as_str();
    if name == NO_MATCH || name == DEFAULT_ENI_CONFIG {
        return Err("it would serve nodes that name no ENIConfig".into());
    }
    if let Some(fault) = name_fault(name) {
        return Err(fault);
    }
    let id = eni_config.subnet.as_deref().unwrap_or_default();
    let subnet = inventory.subnet(id).ok_or_else(|| format!("its subnet `{id}` is not in the VPC of the cluster"))?;
    let is_zone = inventory.subnets.iter().any(|other| other.availability_zone == name);
    if is_zone && subnet.availability_zone != name {
        return Err(format!("it is called like a zone, but its subnet is in {}", subnet.availability_zone));
    }
    Ok(subnet)
}

/// Several pools from subnets that only their names tell apart, each with at most one subnet a zone.
fn split<'a>(
    members: Vec<(&'a Subnet, Option<&'a EniConfig>)>,
    inventory: &Inventory,
    why: &str,
) -> BTreeMap<String, Pool<'a>> {
    let stem_of = |(subnet, existing): &(&Subnet, Option<&EniConfig>)| {
        let name = existing.map(|existing| existing.name.as_str()).or_else(|| subnet.name()).unwrap_or_default();
        names::stem(name, &subnet.availability_zone, &subnet.availability_zone_id)
    };
    let cluster = &inventory.cluster.name;
    let mut pools = BTreeMap::new();
    for (stem, members) in grouped(members, |member| names::without_numbers(&stem_of(member))) {
        if one_a_zone(&members) {
            let name = names::pool_name(&stem, cluster);
            let pool = pool(members, inventory, &name, why);
            insert(&mut pools, name, pool);
            continue;
        }
        for (stem, members) in grouped(members, stem_of) {
            let name = names::pool_name(&stem, cluster);
            if one_a_zone(&members) {
                let pool = pool(members, inventory, &name, why);
                insert(&mut pools, name, pool);
                continue;
            }
            let why =
                format!("{why}; only their CIDRs tell them apart: each zone's first, second … subnet make one pool");
            for (rank, members) in ranked(members) {
                let name = format!("{name}-{rank}");
                let pool = pool(members, inventory, &name, &why);
                insert(&mut pools, name, pool);
            }
        }
    }
    pools
}

fn grouped<K: Ord, T>(items: Vec<T>, key: impl Fn(&T) -> K) -> BTreeMap<K, Vec<T>> {
    let mut groups: BTreeMap<K, Vec<T>> = BTreeMap::new();
    for item in items {
        groups.entry(key(&item)).or_default().push(item);
    }
    groups
}

fn one_a_zone(members: &[(&Subnet, Option<&EniConfig>)]) -> bool {
    let mut places = BTreeSet::new();
    members.iter().all(|(subnet, _)| places.insert(place(subnet)))
}

/// The n-th subnet of every zone, by CIDR.
fn ranked<T>(mut members: Vec<(&Subnet, T)>) -> BTreeMap<usize, Vec<(&Subnet, T)>> {
    members.sort_by_key(|(subnet, _)| subnet.cidr_block);
    let mut seen: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
    let mut ranks: BTreeMap<usize, Vec<(&Subnet, T)>> = BTreeMap::new();
    for (subnet, rest) in members {
        let rank = seen.entry(place(subnet)).or_default();
        *rank += 1;
        ranks.entry(*rank).or_default().push((subnet, rest));
    }
    ranks
}

fn pool<'a>(
    mut members: Vec<(&'a Subnet, Option<&'a EniConfig>)>,
    inventory: &Inventory,
    stem: &str,
    why: &str,
) -> Pool<'a> {
    members.sort_by_key(|(subnet, _)| (subnet.availability_zone.as_str(), subnet.cidr_block));
    let by_zone = one_a_zone(&members)
        && members
            .iter()
            .any(|(subnet, existing)| existing.is_some_and(|found| found.name == subnet.availability_zone))
        && members.iter().all(|(subnet, existing)| existing.is_none_or(|found| found.name == subnet.availability_zone));
    let member = |(subnet, existing): (&'a Subnet, Option<&'a EniConfig>)| Member {
        subnet,
        name: match existing {
            Some(existing) => existing.name.clone(),
            None if by_zone => subnet.availability_zone.clone(),
            None => new_name(inventory, subnet, stem),
        },
        existing,
    };
    Pool { members: members.into_iter().map(member).collect(), by_zone, why: vec![why.to_owned()] }
}

/// The Name tag where it can name an ENIConfig and no other subnet has it, else stem and zone.
fn new_name(inventory: &Inventory, subnet: &Subnet, stem: &str) -> String {
    let is_free = |name: &str| {
        let others = inventory.subnets.iter().filter(|other| other.subnet_id != subnet.subnet_id);
        others.filter_map(|other| other.name()).all(|other| other != name)
            && inventory.eni_config(name).is_none_or(|found| found.subnet.as_deref() == Some(&subnet.subnet_id))
    };
    let stem: String = stem.to_lowercase().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let by_zone = format!("{}-{}", stem.trim_matches('-'), subnet.availability_zone);
    let usable = |name: &&str| name_fault(name).is_none() && is_free(name);
    let name = subnet.name().filter(usable).or(Some(by_zone.as_str()).filter(usable));
    name.unwrap_or(&subnet.subnet_id).to_owned()
}

/// Nodes that are there look for the ENIConfig of their zone: the widest pool, and of those the first, gets such names.
fn name_one_by_zone(pools: &mut BTreeMap<String, Pool<'_>>) {
    if pools.values().any(|pool| pool.by_zone) {
        return;
    }
    let chosen = pools
        .iter()
        .filter(|(_, pool)| one_a_zone(&pool.members.iter().map(|member| (member.subnet, None)).collect::<Vec<_>>()))
        .min_by_key(|(name, pool)| {
            let first = pool.members.iter().map(|member| member.subnet.cidr_block).min();
            (*name != DEFAULT_POOL, std::cmp::Reverse(pool.members.len()), first)
        })
        .map(|(name, _)| name.clone());
    let Some(chosen) = chosen else { return };
    if let Some(pool) = pools.get_mut(&chosen) {
        pool.by_zone = true;
        pool.why.push(
            "named by zone: nodes that are there look for the ENIConfig of their zone once custom networking is on"
                .into(),
        );
        for member in &mut pool.members {
            member.name.clone_from(&member.subnet.availability_zone);
        }
    }
    rename(pools, &chosen, DEFAULT_POOL);
}

/// Two subnets of the file never share a name; the later one is called by its id.
fn unique_names(pools: &mut Pools<'_>) {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for member in pools.by_name.values_mut().chain(pools.further.values_mut()).flat_map(|pool| &mut pool.members) {
        let id = &member.subnet.subnet_id;
        if seen.get(&member.name).is_some_and(|other| other != id) {
            member.name.clone_from(id);
        }
        seen.insert(member.name.clone(), id.clone());
    }
}
