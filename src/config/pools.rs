//! `spec.pools`: named sets of pod subnets.

use std::collections::BTreeMap;

use super::aws_names::{pool_name, security_groups, subnet_id, tag_key, tag_value};
use super::fault::{Fault, Mark};
use super::kubernetes_names::eni_config_name;
use super::read::{Fields, any_text, filled_list, key, mapping, word};
use super::tree::{Entry, Node, Value};
use super::{PoolConfig, PoolNames, PoolSubnet};

pub(super) const POOL_KEYS: &[&str] = &["names", "subnets", "subnetTags", "securityGroups"];
pub(super) const POOL_SUBNET_KEYS: &[&str] = &["id", "name"];
pub(super) const POOL_NAMES: &[(&str, PoolNames)] = &[("zone", PoolNames::Zone), ("subnet", PoolNames::Subnet)];

/// An ENIConfig that a pool names, and where it does.
struct Named<'t> {
    name: &'t str,
    subnet: String,
    security_groups: Option<Vec<String>>,
    pool: &'t str,
    mark: Mark,
}

pub(super) fn pools(entry: &Entry) -> Result<BTreeMap<String, PoolConfig>, Fault> {
    let place = "spec.pools";
    let mut pools = BTreeMap::new();
    let mut named = Vec::new();
    for entry in mapping(&entry.value, entry.key.mark, place)? {
        let name = key(entry, place)?;
        pool_name(&entry.key, name)?;
        pools.insert(name.into(), pool(entry, name, &mut named)?);
    }
    Ok(pools)
}

fn pool<'t>(entry: &'t Entry, name: &'t str, named: &mut Vec<Named<'t>>) -> Result<PoolConfig, Fault> {
    let place = format!("pool `{name}`");
    let fields = Fields::new(&entry.value, entry.key.mark, &place, POOL_KEYS)?;
    let names = fields.value("names", |node| word(node, "a value of `names`", POOL_NAMES))?;
    match (fields.get("subnets"), fields.get("subnetTags")) {
        (None, None) => {
            return Err(Fault::new(
                entry.key.mark,
                format!("{place} says neither `subnets` nor `subnetTags`"),
                "add `subnets: [{id: subnet-…}]`, or `subnetTags: {KEY: VALUE}` to select them by tag",
            ));
        }
        (Some(subnets), Some(tags)) => {
            return Err(Fault::new(
                subnets.key.mark.max(tags.key.mark),
                format!("{place} says both `subnets` and `subnetTags`"),
                "keep one of the two; two pools can be given to one node group",
            ));
        }
        (Some(_), None) | (None, Some(_)) => {}
    }
    let security_groups = fields.value("securityGroups", security_groups)?;
    let subnet_tags = fields.entry("subnetTags", |entry| subnet_tags(entry, &place))?;
    let mut subnets: Vec<PoolSubnet> = Vec::new();
    for item in fields.value("subnets", |node| filled_list(node, "subnets"))?.unwrap_or_default() {
        let subnet = pool_subnet(item, name)?;
        if subnets.iter().any(|other| other.id == subnet.id) {
            let message = format!("`{}` is in pool `{name}` twice", subnet.id);
            return Err(Fault::new(subnet.id_mark, message, "keep one of the two"));
        }
        if let Some((eni_config, mark)) = subnet.name {
            if names.is_some() {
                return Err(Fault::new(
                    mark,
                    format!("pool `{name}` names its ENIConfigs by `names`, and this subnet has a `name` of its own"),
                    "remove `names` from the pool, or `name` from its subnets",
                ));
            }
            let security_groups = security_groups.clone();
            check_name(
                named,
                Named { name: eni_config, subnet: subnet.id.clone(), security_groups, pool: name, mark },
            )?;
        }
        subnets.push(PoolSubnet { id: subnet.id, name: subnet.name.map(|(name, _)| name.into()) });
    }
    Ok(PoolConfig { names, subnets, subnet_tags: subnet_tags.unwrap_or_default(), security_groups })
}

/// A name stands for one subnet with one list of security groups, wherever in the file.
fn check_name<'t>(named: &mut Vec<Named<'t>>, new: Named<'t>) -> Result<(), Fault> {
    let Some(other) = named.iter().find(|other| other.name == new.name) else {
        named.push(new);
        return Ok(());
    };
    if other.subnet != new.subnet {
        return Err(Fault::new(
            new.mark,
            format!(
                "ENIConfig `{}` is already the name of `{}` in pool `{}` on line {}",
                new.name, other.subnet, other.pool, other.mark.line
            ),
            "give every subnet a name of its own",
        ));
    }
    if other.security_groups != new.security_groups {
        return Err(Fault::new(
            new.mark,
            format!(
                "ENIConfig `{}` is in pool `{}` on line {} too, with other security groups",
                new.name, other.pool, other.mark.line
            ),
            "give both pools the same `securityGroups`, or the subnet a second name here",
        ));
    }
    Ok(())
}

/// A subnet of a pool with the places of its parts.
struct ParsedSubnet<'t> {
    id: String,
    id_mark: Mark,
    name: Option<(&'t str, Mark)>,
}

fn pool_subnet<'t>(item: &'t Node, pool: &str) -> Result<ParsedSubnet<'t>, Fault> {
    if let Value::Scalar(scalar) = &item.value
        && scalar.text.starts_with("subnet-")
    {
        let id = subnet_id(item)?;
        return Err(Fault::new(
            item.mark,
            format!("expected a mapping with the `id` of a subnet, found `{id}` alone"),
            format!("write `{{id: {id}}}`"),
        ));
    }
    let fields = Fields::new(item, item.mark, format!("a subnet of pool `{pool}`"), POOL_SUBNET_KEYS)?;
    let id = fields.require("id", "id: subnet-…")?;
    let name = fields.value("name", |node| Ok((eni_config_name(node)?, node.mark)))?;
    Ok(ParsedSubnet { id: subnet_id(&id.value)?, id_mark: id.value.mark, name })
}

fn subnet_tags(entry: &Entry, place: &str) -> Result<BTreeMap<String, String>, Fault> {
    let place = format!("subnetTags of {place}");
    let mut tags = BTreeMap::new();
    for tag in mapping(&entry.value, entry.key.mark, &place)? {
        let name = key(tag, &place)?;
        tag_key(&tag.key, name)?;
        let value = any_text(&tag.value, "the value of a tag")?;
        tag_value(&tag.value, value)?;
        tags.insert(name.into(), value.into());
    }
    if tags.is_empty() {
        return Err(Fault::new(
            entry.key.mark,
            format!("{place} is empty, which would select every subnet"),
            "name at least one tag",
        ));
    }
    Ok(tags)
}
