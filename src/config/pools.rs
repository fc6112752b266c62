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

/// A pool's subnet that has a name of its own, where it stands.
struct Named<'t> {
    pool: &'t str,
    subnet: PoolSubnet,
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
    let names =
        fields.get("names").map(|entry| word(&entry.value, "how ENIConfigs are named", POOL_NAMES)).transpose()?;
    match (fields.get("subnets"), fields.get("subnetTags")) {
        (None, None) => {
            return Err(Fault::new(
                entry.key.mark,
                format!("{place} says neither `subnets` nor `subnetTags`"),
                "add `subnets: [{id: subnet-…}]`, or `subnetTags: {KEY: VALUE}` to select them by tag",
            ));
        }
        (Some(subnets), Some(tags)) => {
            let second = if subnets.key.mark.line < tags.key.mark.line { tags } else { subnets };
            return Err(Fault::new(
                second.key.mark,
                format!("{place} says both `subnets` and `subnetTags`"),
                "keep one of the two; two pools can be given to one node group",
            ));
        }
        (Some(_), None) | (None, Some(_)) => {}
    }
    let subnets = fields.get("subnets").map(|entry| subnets(entry, name, names, named)).transpose()?;
    let subnet_tags = fields.get("subnetTags").map(|entry| subnet_tags(entry, &place)).transpose()?;
    let security_groups = fields.get("securityGroups").map(|entry| security_groups(&entry.value)).transpose()?;
    Ok(PoolConfig {
        names,
        subnets: subnets.unwrap_or_default(),
        subnet_tags: subnet_tags.unwrap_or_default(),
        security_groups,
    })
}

fn subnets<'t>(
    entry: &'t Entry,
    pool: &'t str,
    names: Option<PoolNames>,
    named: &mut Vec<Named<'t>>,
) -> Result<Vec<PoolSubnet>, Fault> {
    let mut subnets: Vec<PoolSubnet> = Vec::new();
    for item in filled_list(&entry.value, "subnets")? {
        let (subnet, id_mark, name_mark) = pool_subnet(item, pool)?;
        if subnets.iter().any(|other| other.id == subnet.id) {
            return Err(Fault::new(
                id_mark,
                format!("`{}` is in pool `{pool}` twice", subnet.id),
                "keep one of the two",
            ));
        }
        if let Some(mark) = name_mark {
            if names.is_some() {
                return Err(Fault::new(
                    mark,
                    format!("pool `{pool}` names its ENIConfigs by `names`, and this subnet has a `name` of its own"),
                    "remove `names` from the pool, or `name` from its subnets",
                ));
            }
            unique_name(named, Named { pool, subnet: subnet.clone(), mark })?;
        }
        subnets.push(subnet);
    }
    Ok(subnets)
}

/// A name stands for one subnet, wherever in the file.
fn unique_name<'t>(named: &mut Vec<Named<'t>>, new: Named<'t>) -> Result<(), Fault> {
    let clash = named.iter().find(|other| other.subnet.name == new.subnet.name && other.subnet.id != new.subnet.id);
    if let Some(other) = clash {
        return Err(Fault::new(
            new.mark,
            format!(
                "ENIConfig `{}` is already the name of `{}` in pool `{}` on line {}",
                new.subnet.name.unwrap_or_default(),
                other.subnet.id,
                other.pool,
                other.mark.line
            ),
            "give every subnet a name of its own",
        ));
    }
    named.push(new);
    Ok(())
}

/// The subnet, where its id stands and where its name stands.
fn pool_subnet(item: &Node, pool: &str) -> Result<(PoolSubnet, Mark, Option<Mark>), Fault> {
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
    let name = fields.get("name");
    let subnet =
        PoolSubnet { id: subnet_id(&id.value)?, name: name.map(|entry| eni_config_name(&entry.value)).transpose()? };
    Ok((subnet, id.value.mark, name.map(|entry| entry.value.mark)))
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
