//! Pools → the ENIConfigs that they stand for: which subnets, which names, which security groups.

use std::collections::BTreeMap;

use super::notes::{Notes, list};
use super::{EniConfigPlan, MANAGED_BY_LABEL, NO_MATCH};
use crate::config::{Config, PoolConfig, PoolNames};
use crate::finding::Subject;
use crate::inventory::{CniSettings, EniConfig, GapSource, Inventory, Node, Subnet};
use crate::resolve::resolve;

/// Longest label value. Source: Kubernetes, "Labels and Selectors", syntax of values.
const LONGEST_LABEL_VALUE: usize = 63;

/// ENIConfigs by name, and the names that each pool stands for.
#[derive(Debug, Default)]
pub(super) struct EniConfigs {
    pub(super) by_name: BTreeMap<String, EniConfigPlan>,
    pub(super) of_pool: BTreeMap<String, Vec<String>>,
}

impl EniConfigs {
    /// The ENIConfig of that name; one that is only in the cluster is taken into the plan as it is.
    pub(super) fn find_or_take(
        &mut self,
        name: &str,
        inventory: &Inventory,
        notes: &mut Notes,
    ) -> Option<&EniConfigPlan> {
        if !self.by_name.contains_key(name) {
            let existing = inventory.eni_config(name)?;
            let subnet_id = existing.subnet.as_deref().unwrap_or_default();
            let Some(subnet) = inventory.subnet(subnet_id) else {
                notes.problem(
                    "eniconfig-subnet-unknown",
                    Subject::EniConfig(name.into()),
                    format!("its subnet `{subnet_id}` is not in the VPC of the cluster"),
                    "point the ENIConfig to a subnet of the cluster's VPC, or use another ENIConfig",
                );
                return None;
            };
            let plan = EniConfigPlan {
                name: name.into(),
                subnet_id: subnet.subnet_id.clone(),
                cidr: subnet.cidr_block,
                availability_zone: subnet.availability_zone.clone(),
                availability_zone_id: subnet.availability_zone_id.clone(),
                security_groups: existing.security_groups.clone(),
                pools: Vec::new(),
                exists: true,
                ours: is_ours(existing),
            };
            self.by_name.insert(name.into(), plan);
        }
        self.by_name.get(name)
    }
}

/// The ENIConfigs of all pools of the file.
pub(super) fn eni_configs(inventory: &Inventory, config: &Config, notes: &mut Notes) -> EniConfigs {
    let mut eni_configs = EniConfigs::default();
    for (pool_name, pool) in &config.pools {
        let subnets = subnets_of(inventory, pool_name, pool, notes);
        if pool.names == Some(PoolNames::Zone) && !one_subnet_a_zone(pool_name, &subnets, notes) {
            continue;
        }
        for (subnet, given_name) in subnets {
            let existing = existing_for(inventory, subnet, pool, given_name);
            let Some(name) = name_for(pool_name, pool, subnet, given_name, existing, notes) else { continue };
            let existing = inventory.eni_config(&name);
            let security_groups = security_groups_for(inventory, config, pool, existing);
            add(&mut eni_configs, pool_name, subnet, name, security_groups, existing, notes);
        }
    }
    for planned in eni_configs.by_name.values() {
        let clashes = notes.problems.iter().any(|problem| problem.subject == Subject::EniConfig(planned.name.clone()));
        if !clashes {
            compare_with_existing(inventory, planned, notes);
        }
    }
    eni_configs
}

fn subnets_of<'a>(
    inventory: &'a Inventory,
    pool_name: &str,
    pool: &'a PoolConfig,
    notes: &mut Notes,
) -> Vec<(&'a Subnet, Option<&'a str>)> {
    let subject = || Subject::Pool(pool_name.into());
    if !pool.subnet_tags.is_empty() {
        let tagged: Vec<_> = inventory
            .subnets
            .iter()
            .filter(|subnet| pool.subnet_tags.iter().all(|(key, value)| subnet.tags.get(key) == Some(value)))
            .map(|subnet| (subnet, None))
            .collect();
        if tagged.is_empty() && inventory.gaps_in(GapSource::Subnets).next().is_none() {
            let wanted = list(pool.subnet_tags.iter().map(|(key, value)| format!("{key}={value}")));
            let shared = inventory.subnets.iter().any(|subnet| {
                subnet.owner_id.is_some() && inventory.account_id.is_some() && subnet.owner_id != inventory.account_id
            });
            let (message, help) = if shared {
                (
                    format!(
                        "no subnet carries the tags {wanted}; the VPC is shared, and tags that its owner set cannot be seen from this account"
                    ),
                    format!("name the subnets by id under spec.pools.{pool_name}.subnets"),
                )
            } else {
                (
                    format!("no subnet of the VPC carries the tags {wanted}"),
                    "tag the pod subnets, correct subnetTags, or name the subnets by id".to_owned(),
                )
            };
            notes.problem("pool-without-subnets", subject(), message, help);
        }
        return tagged;
    }
    let mut subnets = Vec::new();
    for wanted in &pool.subnets {
        match inventory.subnet(&wanted.id) {
            Some(subnet) => subnets.push((subnet, wanted.name.as_deref())),
            None if inventory.gaps_in(GapSource::Subnets).next().is_some() => {}
            None => notes.problem(
                "pool-subnet-unknown",
                subject(),
                format!("subnet {} is not in the VPC of the cluster", wanted.id),
                format!("correct the id under spec.pools.{pool_name}.subnets; `aws ec2 describe-subnets --filters Name=vpc-id,Values={}` lists what there is",
                    inventory.cluster.vpc_id.as_deref().unwrap_or("VPC")),
            ),
        }
    }
    subnets
}

/// With zone names, two subnets of one zone would need one name.
fn one_subnet_a_zone(pool_name: &str, subnets: &[(&Subnet, Option<&str>)], notes: &mut Notes) -> bool {
    let mut by_zone: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (subnet, _) in subnets {
        by_zone.entry(&subnet.availability_zone).or_default().push(&subnet.subnet_id);
    }
    by_zone.retain(|_, ids| ids.len() > 1);
    for (zone, ids) in &by_zone {
        notes.problem(
            "several-subnets-for-a-zone-name",
            Subject::Pool(pool_name.into()),
            format!("it names its ENIConfigs by zone, but has {} subnets in {zone}: {}", ids.len(), list(ids)),
            "leave one subnet a zone in this pool and put the others into a pool with `names: subnet`",
        );
    }
    by_zone.is_empty()
}

/// The ENIConfig that the cluster already has for a subnet, where it is clear which one is meant.
fn existing_for<'a>(
    inventory: &'a Inventory,
    subnet: &Subnet,
    pool: &PoolConfig,
    given_name: Option<&str>,
) -> Option<&'a EniConfig> {
    if given_name.is_some() || pool.names == Some(PoolNames::Zone) {
        return None;
    }
    let mut of_subnet = inventory
        .eni_configs
        .iter()
        .filter(|eni_config| eni_config.subnet.as_deref() == Some(subnet.subnet_id.as_str()));
    if let Some(called_like_subnet) =
        of_subnet.clone().find(|eni_config| Some(eni_config.name.as_str()) == subnet.name())
    {
        return Some(called_like_subnet);
    }
    let first = of_subnet.next()?;
    of_subnet.next().is_none().then_some(first)
}

fn name_for(
    pool_name: &str,
    pool: &PoolConfig,
    subnet: &Subnet,
    given_name: Option<&str>,
    existing: Option<&EniConfig>,
    notes: &mut Notes,
) -> Option<String> {
    let (name, origin) = match (given_name, pool.names, existing) {
        (Some(name), _, _) => (name.to_owned(), "eniplan.yaml".to_owned()),
        (None, Some(PoolNames::Zone), _) => (subnet.availability_zone.clone(), "the zone".to_owned()),
        (None, _, Some(existing)) => {
            notes.decision(
                Subject::EniConfig(existing.name.clone()),
                format!("keeps its name for {}", subnet.subnet_id),
                "an ENIConfig for this subnet is already in the cluster",
            );
            return Some(existing.name.clone());
        }
        (None, Some(PoolNames::Subnet) | None, None) => match subnet.name() {
            Some(name) => (name.to_owned(), format!("the Name tag of {}", subnet.subnet_id)),
            None => {
                notes.problem(
                    "pod-subnet-without-name",
                    Subject::Subnet(subnet.subnet_id.clone()),
                    format!(
                        "pool {pool_name} names its ENIConfigs by the subnets' Name tags, and this subnet has none"
                    ),
                    format!(
                        "tag it, or write `{{id: {}, name: …}}` under spec.pools.{pool_name}.subnets",
                        subnet.subnet_id
                    ),
                );
                return None;
            }
        },
    };
    match name_fault(&name) {
        None => Some(name),
        Some(fault) => {
            notes.problem(
                "eniconfig-name-illegal",
                Subject::Pool(pool_name.into()),
                format!("`{name}`, from {origin}, cannot name an ENIConfig: {fault}"),
                format!(
                    "give the subnet a name of its own: `{{id: {}, name: …}}` under spec.pools.{pool_name}.subnets, in lower case, \
                     at most {LONGEST_LABEL_VALUE} letters, digits, `-` and `.`",
                    subnet.subnet_id
                ),
            );
            None
        }
    }
}

/// Why a name cannot be both an object name and a label value. `None` when it can.
///
/// Source: Kubernetes, "Object Names and IDs" (DNS-1123 subdomain) and "Labels and Selectors" (63 characters).
pub(crate) fn name_fault(name: &str) -> Option<String> {
    if name == NO_MATCH {
        return Some("that value marks nodes that found no ENIConfig, and must name none".into());
    }
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let legal_object_name = !name.is_empty()
        && name.split('.').all(|label| {
            label.starts_with(is_alphanumeric)
                && label.ends_with(is_alphanumeric)
                && label.chars().all(|c| is_alphanumeric(c) || c == '-')
        });
    if !legal_object_name {
        return Some(
            "an object name is lower-case letters, digits, `-` and `.`, with a letter or digit at both ends".into(),
        );
    }
    (name.len() > LONGEST_LABEL_VALUE).then(|| {
        format!(
            "a label value has at most {LONGEST_LABEL_VALUE} characters, and this has {}; no node could name it",
            name.len()
        )
    })
}

/// Whether an ENIConfig in the cluster carries our mark.
fn is_ours(existing: &EniConfig) -> bool {
    let (key, value) = MANAGED_BY_LABEL;
    existing.labels.get(key).is_some_and(|label| label == value)
}

fn security_groups_for(
    inventory: &Inventory,
    config: &Config,
    pool: &PoolConfig,
    existing: Option<&EniConfig>,
) -> Vec<String> {
    if let Some(groups) = &pool.security_groups {
        return groups.clone();
    }
    if let Some(existing) = existing {
        return existing.security_groups.clone();
    }
    if let Some(groups) = &config.security_groups {
        return groups.clone();
    }
    inventory.cluster.cluster_security_group_id.iter().cloned().collect()
}

/// An object of the planned name that differs: interfaces that exist keep what they were made with.
fn nodes_use(count: usize) -> String {
    if count == 1 { "1 node uses".into() } else { format!("{count} nodes use") }
}

fn compare_with_existing(inventory: &Inventory, planned: &EniConfigPlan, notes: &mut Notes) {
    let name = &planned.name;
    let Some(existing) = inventory.eni_config(name) else { return };
    let users = users(inventory, name);
    let subject = || Subject::EniConfig(name.clone());
    if let Some(subnet) = existing.subnet.as_deref().filter(|id| *id != planned.subnet_id) {
        let help = "give the subnet another ENIConfig name and let the node groups move to it with a new launch-template version";
        if users.is_empty() {
            let message =
                format!("it exists with subnet {subnet}, the plan wants {}; no node uses it", planned.subnet_id);
            notes.problem("eniconfig-subnet-changes", subject(), message, help);
        } else {
            let message = format!(
                "it exists with subnet {subnet}, the plan wants {}, and {} it ({}); edited in place, their old interfaces would stay in the old subnet",
                planned.subnet_id,
                nodes_use(users.len()),
                list(&users)
            );
            let help = format!("{help}; `apply --replace-in-use` edits it all the same");
            notes.problem("eniconfig-in-use-elsewhere", subject(), message, help);
        }
    }
    if existing.security_groups != planned.security_groups && !users.is_empty() {
        notes.problem(
            "eniconfig-groups-change",
            subject(),
            format!(
                "its groups change from [{}] to [{}], and {} it ({}); their interfaces keep the old groups",
                existing.security_groups.join(", "),
                planned.security_groups.join(", "),
                nodes_use(users.len()),
                list(&users)
            ),
            "replace these nodes after the change, or give the pool another ENIConfig name",
        );
    }
}

/// Nodes that resolve to an ENIConfig today.
fn users<'a>(inventory: &'a Inventory, name: &str) -> Vec<&'a str> {
    let Some(settings) = inventory.cni_settings().filter(CniSettings::custom_networking) else { return Vec::new() };
    let uses = |node: &&Node| node.runs_aws_node() && resolve(node, &settings).eni_config == name;
    inventory.nodes.iter().filter(uses).map(|node| node.name.as_str()).collect()
}

fn add(
    eni_configs: &mut EniConfigs,
    pool_name: &str,
    subnet: &Subnet,
    name: String,
    security_groups: Vec<String>,
    existing: Option<&EniConfig>,
    notes: &mut Notes,
) {
    if let Some(other) = eni_configs.by_name.get_mut(&name) {
        if other.subnet_id != subnet.subnet_id || other.security_groups != security_groups {
            notes.problem(
                "eniconfig-name-clash",
                Subject::EniConfig(name.clone()),
                format!(
                    "pool {pool_name} wants it for {} with groups [{}], pool {} for {} with groups [{}]",
                    subnet.subnet_id,
                    security_groups.join(", "),
                    list(&other.pools),
                    other.subnet_id,
                    other.security_groups.join(", ")
                ),
                "give one of the two subnets a name of its own under spec.pools",
            );
            return;
        }
        other.pools.push(pool_name.into());
    } else {
        let plan = EniConfigPlan {
            name: name.clone(),
            subnet_id: subnet.subnet_id.clone(),
            cidr: subnet.cidr_block,
            availability_zone: subnet.availability_zone.clone(),
            availability_zone_id: subnet.availability_zone_id.clone(),
            security_groups,
            pools: vec![pool_name.into()],
            exists: existing.is_some(),
            ours: existing.is_none_or(is_ours),
        };
        eni_configs.by_name.insert(name.clone(), plan);
    }
    eni_configs.of_pool.entry(pool_name.into()).or_default().push(name);
}

#[cfg(test)]
mod tests {
    use super::name_fault;

    #[test]
    fn names_must_be_object_names_and_label_values() {
        for name in ["pod-1a", "us-west-2-lax-1a", "subnet-08316a2d3e8be4f1c", "a", "a.b-c.d", &"x".repeat(63)] {
            assert_eq!(name_fault(name), None, "{name}");
        }
        for name in [
            "Pod-1A",
            "pod_1a",
            "-pod",
            "pod-",
            "prod/pod-a",
            "",
            "a..b",
            ".a",
            "pod 1a",
            "pöd",
            "eniplan-no-match",
            &"x".repeat(64),
            "a-.b",
        ] {
            assert!(name_fault(name).is_some(), "{name}");
        }
    }
}
