//! `spec.nodeGroups`: which node group draws from which pools, and how.

use std::collections::BTreeMap;

use super::aws_names::node_group_name;
use super::described::{DESCRIBED_KEYS, described};
use super::fault::{Fault, Mark, nearest, one_of, shown};
use super::kubernetes_names::{check_eni_config_name, eni_config_name};
use super::read::{Fields, boolean, filled_list, found, key, list, mapping, text, texts, whole, word};
use super::tree::{Entry, Node, ScalarKind, Value};
use super::{LabelConfig, MapRow, MaxPods, NodeGroupConfig, OnNoMatch, PoolConfig, Strategy, Weights};
use crate::net::{CidrError, parse_ipv4_cidr};

/// The pool of a group that names none.
const DEFAULT_POOL: &str = "default";

/// Most pods that any instance type has addresses for: 15 interfaces of 50 addresses, `15 × (50 − 1) + 2`.
/// Source: amazon-vpc-cni-k8s `misc/eni-max-pods.txt`.
pub(super) const MAX_PODS_LIMIT: u32 = 737;

/// Largest weight. Bounds are sums of weights; with this they stay far below what a shell's arithmetic holds.
pub(super) const WEIGHT_LIMIT: u32 = 1_000_000;

pub(super) const PLANNED_KEYS: &[&str] =
    &["name", "pools", "map", "strategy", "weights", "maxPods", "onNoMatch", "adopt", "successor"];
pub(super) const MAP_ROW_KEYS: &[&str] = &["cidr", "eniConfigs"];

pub(super) const STRATEGIES: &[(&str, Strategy)] = &[("pinned", Strategy::Pinned), ("hash", Strategy::Hash)];
pub(super) const ON_NO_MATCH: &[(&str, OnNoMatch)] = &[("fail", OnNoMatch::Fail), ("zone", OnNoMatch::Zone)];
pub(super) const MAX_PODS_WORDS: &[&str] = &["auto", "eks"];
pub(super) const WEIGHT_WORDS: &[&str] = &["capacity", "usable", "free"];

/// A node group with the place of its name, for errors that show two places.
pub(super) struct ParsedNodeGroup {
    pub(super) config: NodeGroupConfig,
    pub(super) mark: Mark,
    successor_mark: Option<Mark>,
}

pub(super) fn node_groups(
    node: &Node,
    pools: &BTreeMap<String, PoolConfig>,
    label: Option<&LabelConfig>,
) -> Result<Vec<ParsedNodeGroup>, Fault> {
    let mut groups: Vec<ParsedNodeGroup> = Vec::new();
    for item in list(node, "node groups")? {
        let group = node_group(item, pools, label)?;
        if let Some(earlier) = groups.iter().find(|earlier| earlier.config.name == group.config.name) {
            return Err(Fault::new(
                group.mark,
                format!("node group `{}` is already planned on line {}", group.config.name, earlier.mark.line),
                "keep one of the two",
            ));
        }
        groups.push(group);
    }
    check_successors(&groups)?;
    Ok(groups)
}

fn node_group(
    item: &Node,
    pools: &BTreeMap<String, PoolConfig>,
    label: Option<&LabelConfig>,
) -> Result<ParsedNodeGroup, Fault> {
    let known = [PLANNED_KEYS, DESCRIBED_KEYS].concat();
    let fields = Fields::new(item, item.mark, "a node group", &known)?;
    let name_entry = fields.require("name", "name: NAME-OF-THE-NODE-GROUP")?;
    let name = node_group_name(&name_entry.value)?;
    let fields = fields.called(format!("node group `{name}`"));

    let strategy = fields.value("strategy", |node| word(node, "a strategy", STRATEGIES))?.unwrap_or_default();
    let map = fields.value("map", map)?.unwrap_or_default();
    let config = NodeGroupConfig {
        pools: group_pools(&fields, name_entry.value.mark, &name, pools)?,
        strategy,
        weights: fields.entry("weights", |entry| weights(entry, strategy, &map))?.unwrap_or(Weights::Capacity),
        map,
        max_pods: fields.value("maxPods", max_pods)?.unwrap_or(MaxPods::Auto),
        on_no_match: fields
            .value("onNoMatch", |node| word(node, "a value of `onNoMatch`", ON_NO_MATCH))?
            .unwrap_or_default(),
        adopt: fields.value("adopt", |node| boolean(node, "adopt"))?.unwrap_or_default(),
        successor: fields.value("successor", node_group_name)?,
        described: described(&fields, &name, label)?,
        name,
    };
    let successor_mark = fields.get("successor").map(|entry| entry.value.mark);
    if let (Some(mark), Some(false)) = (successor_mark, config.described.managed) {
        return Err(Fault::new(
            mark,
            format!("node group `{}` is not managed, so that no successor is needed", config.name),
            "remove `successor`: the template of an Auto Scaling group can be changed",
        ));
    }
    Ok(ParsedNodeGroup { config, mark: name_entry.value.mark, successor_mark })
}

/// The pools that a group draws from; none where it has an explicit map.
fn group_pools(
    fields: &Fields<'_>,
    name_mark: Mark,
    name: &str,
    pools: &BTreeMap<String, PoolConfig>,
) -> Result<Vec<String>, Fault> {
    let known = || pools.keys().map(String::as_str);
    let (entry, map) = match (fields.get("pools"), fields.get("map")) {
        (None, Some(_)) => return Ok(Vec::new()),
        (None, None) if pools.contains_key(DEFAULT_POOL) => return Ok(vec![DEFAULT_POOL.into()]),
        (None, None) => {
            let help = match known().next() {
                Some(first) => format!("add `pools: [{first}]`, or name a pool `{DEFAULT_POOL}`"),
                None => format!("add a pool `{DEFAULT_POOL}` under spec.pools, or give the group a `map`"),
            };
            return Err(Fault::new(
                name_mark,
                format!("node group `{name}` names neither `pools` nor a `map`, and there is no pool `{DEFAULT_POOL}`"),
                help,
            ));
        }
        (Some(entry), map) => (entry, map),
    };
    if let Some(map) = map {
        return Err(Fault::new(
            entry.key.mark.max(map.key.mark),
            format!("node group `{name}` has both `pools` and a `map`"),
            "keep `pools` to let the plan assign, or `map` to say it yourself",
        ));
    }
    filled_list(&entry.value, "pools")?;
    texts(&entry.value, "pools", |item| {
        let pool = text(item, "the name of a pool")?;
        if pools.contains_key(pool) {
            return Ok(pool.into());
        }
        let help = match nearest(pool, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if pools.is_empty() => {
                format!("add it under spec.pools: `{}: {{subnets: [{{id: subnet-…}}]}}`", shown(pool))
            }
            None => format!("write {}, or add the pool under spec.pools", one_of(known())),
        };
        Err(Fault::new(item.mark, format!("there is no pool `{}`", shown(pool)), help))
    })
}

fn map(node: &Node) -> Result<Vec<MapRow>, Fault> {
    if let Value::Mapping(_) = &node.value {
        return Err(Fault::new(
            node.mark,
            "expected a list of rows for `map`, found a mapping",
            "write each row as `- {cidr: 10.0.16.0/20, eniConfigs: [NAME]}`",
        ));
    }
    let mut rows: Vec<(MapRow, Mark)> = Vec::new();
    for item in filled_list(node, "rows")? {
        let fields = Fields::new(item, item.mark, "a row of the map", MAP_ROW_KEYS)?;
        let cidr_entry = fields.require("cidr", "cidr: 10.0.16.0/20")?;
        let eni_configs = &fields.require("eniConfigs", "eniConfigs: [NAME]")?.value;
        let cidr = cidr(&cidr_entry.value)?;
        if let Some((_, earlier)) = rows.iter().find(|(row, _)| row.cidr == cidr) {
            return Err(Fault::new(
                cidr_entry.value.mark,
                format!("the map has a row for {cidr} already, on line {}", earlier.line),
                "join the two rows",
            ));
        }
        filled_list(eni_configs, "ENIConfigs")?;
        let row = MapRow {
            cidr,
            eni_configs: texts(eni_configs, "ENIConfigs", |item| eni_config_name(item).map(str::to_owned))?,
        };
        rows.push((row, cidr_entry.value.mark));
    }
    Ok(rows.into_iter().map(|(row, _)| row).collect())
}

fn cidr(node: &Node) -> Result<ipnet::Ipv4Net, Fault> {
    let what = "the CIDR of a node subnet";
    let cidr = text(node, what)?;
    parse_ipv4_cidr(cidr).map_err(|error| {
        let help = match &error {
            CidrError::HostBits { canonical, .. } => format!("write `{canonical}`"),
            CidrError::Ipv6(_) => "write the IPv4 CIDR of the node subnet".into(),
            CidrError::PrefixLength(_) => "write a prefix length from 16 to 28, as subnets have".into(),
            CidrError::Malformed(_) => match parse_ipv4_cidr(&cidr.split_whitespace().collect::<String>()) {
                Ok(meant) if cidr.contains(char::is_whitespace) => format!("write `{meant}`"),
                _ => "write an address, a slash and a prefix length".into(),
            },
        };
        Fault::new(node.mark, shown(&error.to_string()), help)
    })
}

fn weights(entry: &Entry, strategy: Strategy, map: &[MapRow]) -> Result<Weights, Fault> {
    if strategy != Strategy::Hash {
        return Err(Fault::new(
            entry.key.mark,
            "`weights` means nothing without `strategy: hash`",
            "add `strategy: hash`, or remove `weights`",
        ));
    }
    let node = &entry.value;
    match &node.value {
        Value::Mapping(_) => weight_numbers(entry, map).map(Weights::Numbers),
        Value::Scalar(scalar) => match scalar.text.as_str() {
            "capacity" => Ok(Weights::Capacity),
            "usable" => Ok(Weights::Usable),
            "free" => Ok(Weights::Free),
            other => {
                let help = match nearest(other, WEIGHT_WORDS.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "write {}, or a mapping of ENIConfig names to numbers",
                        one_of(WEIGHT_WORDS.iter().copied())
                    ),
                };
                Err(Fault::new(node.mark, format!("expected weights, found {}", found(node)), help))
            }
        },
        Value::List(_) => Err(Fault::new(
            node.mark,
            format!("expected weights, found {}", found(node)),
            "write a mapping of ENIConfig names to numbers: `{pod-a: 2, pod-b: 1}`",
        )),
    }
}

fn weight_numbers(entry: &Entry, map: &[MapRow]) -> Result<BTreeMap<String, u32>, Fault> {
    let mapped: Vec<&str> = map.iter().flat_map(|row| &row.eni_configs).map(String::as_str).collect();
    let mut numbers = BTreeMap::new();
    for weight in mapping(&entry.value, entry.key.mark, "weights")? {
        let name = key(weight, "weights")?;
        check_eni_config_name(&weight.key, name)?;
        if !map.is_empty() && !mapped.contains(&name) {
            let help = match nearest(name, mapped.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "remove it, or add the ENIConfig to a row".into(),
            };
            return Err(Fault::new(weight.key.mark, format!("no row of the map has an ENIConfig `{name}`"), help));
        }
        let limit = format!("write a weight from 0 (no new nodes) to {WEIGHT_LIMIT}");
        numbers.insert(name.into(), whole(&weight.value, "a weight", 0..=WEIGHT_LIMIT, &limit)?);
    }
    if numbers.is_empty() {
        return Err(Fault::new(
            entry.key.mark,
            "`weights` names no ENIConfig",
            "name each ENIConfig of the group, or remove `weights`",
        ));
    }
    if numbers.values().all(|weight| *weight == 0) {
        return Err(Fault::new(
            entry.key.mark,
            "every weight is zero, so that no node could pick an ENIConfig",
            "give at least one of them a number above zero",
        ));
    }
    if let Some(missing) = mapped.iter().find(|name| !numbers.contains_key(**name)) {
        return Err(Fault::new(
            entry.key.mark,
            format!("`weights` says nothing about ENIConfig `{missing}` of the map"),
            format!("add `{missing}: 1`"),
        ));
    }
    Ok(numbers)
}

fn max_pods(node: &Node) -> Result<MaxPods, Fault> {
    let words = one_of(MAX_PODS_WORDS.iter().copied());
    let limit = format!(
        "write {words}, or a number from 1 to {MAX_PODS_LIMIT}, the most that any instance type has addresses for"
    );
    match &node.value {
        Value::Scalar(scalar) if scalar.text == "auto" => Ok(MaxPods::Auto),
        Value::Scalar(scalar) if scalar.text == "eks" => Ok(MaxPods::Eks),
        Value::Scalar(scalar) if scalar.kind == ScalarKind::Text && scalar.text.parse::<u32>().is_err() => {
            Err(Fault::new(node.mark, format!("expected max pods, found {}", found(node)), limit))
        }
        _ => whole(node, "max pods", 1..=MAX_PODS_LIMIT, &limit).map(MaxPods::Number),
    }
}

fn check_successors(groups: &[ParsedNodeGroup]) -> Result<(), Fault> {
    for (index, group) in groups.iter().enumerate() {
        let (Some(successor), Some(mark)) = (&group.config.successor, group.successor_mark) else { continue };
        let wrong = |message: String| Err(Fault::new(mark, message, "choose a name that no node group has yet"));
        if *successor == group.config.name {
            return wrong(format!("node group `{successor}` cannot succeed itself"));
        }
        if let Some(other) = groups.iter().find(|other| other.config.name == *successor) {
            return wrong(format!("`{successor}` is already a node group, on line {}", other.mark.line));
        }
        let earlier = groups.iter().take(index).find(|other| other.config.successor.as_ref() == Some(successor));
        if let Some(other) = earlier {
            return wrong(format!("`{successor}` already succeeds node group `{}`", other.config.name));
        }
    }
    Ok(())
}
