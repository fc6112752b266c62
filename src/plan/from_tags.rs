//! Wishes without a file: each managed group draws from the pool that its tag names, pools are tagged subnets.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Config, NodeGroupConfig, PoolConfig, PoolSubnet};
use crate::finding::{Problem, Subject};
use crate::inventory::{Inventory, NodeGroup};

/// Tag of subnets and of node groups that names a pool.
pub const POOL_TAG: &str = "eniplan.dev/pool";

/// The pool of groups that name none.
pub(super) const DEFAULT_POOL: &str = "default";

/// Derives the wishes from tags and from the ENIConfigs that are there. Windows groups are left out.
pub fn config_from_tags(inventory: &Inventory) -> (Config, Vec<Problem>) {
    let pools = pools(inventory);
    let mut problems = Vec::new();
    let mut node_groups = Vec::new();
    for group in inventory.node_groups.iter().filter(|group| !is_windows(group)) {
        let pool = group.tags.get(POOL_TAG).map_or(DEFAULT_POOL, String::as_str);
        if !pools.contains_key(pool) {
            let known: Vec<&str> = pools.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            problems.push(Problem::new(
                "no-pool-for-group",
                Subject::NodeGroup(group.name.clone()),
                format!("there is no eniplan.yaml, and no subnet is tagged {POOL_TAG}={pool} and no ENIConfig is there to draw from; pools found: {known}"),
                "run `eniplan init` to write an eniplan.yaml, or tag subnets and node group",
            ));
            continue;
        }
        node_groups.push(NodeGroupConfig {
            name: group.name.clone(),
            pools: vec![pool.into()],
            ..NodeGroupConfig::default()
        });
    }
    let config = Config {
        cluster: inventory.cluster.name.clone(),
        region: None,
        security_groups: None,
        label: None,
        cni_env: BTreeMap::new(),
        pools,
        ignore: inventory
            .node_groups
            .iter()
            .filter(|group| node_groups.iter().all(|planned| planned.name != group.name))
            .map(|group| group.name.clone())
            .collect(),
        node_groups,
        phases: Vec::new(),
        current_phase: None,
    };
    (config, problems)
}

fn is_windows(group: &NodeGroup) -> bool {
    group.ami_type.as_deref().is_some_and(|ami_type| ami_type.starts_with("WINDOWS_"))
}

/// Tagged subnets by pool. Where none is tagged for the default pool, the ENIConfigs of the cluster are that pool.
fn pools(inventory: &Inventory) -> BTreeMap<String, PoolConfig> {
    let mut pools: BTreeMap<String, PoolConfig> = BTreeMap::new();
    for subnet in &inventory.subnets {
        if let Some(pool) = subnet.tags.get(POOL_TAG) {
            let subnets = &mut pools.entry(pool.clone()).or_default().subnets;
            subnets.push(PoolSubnet { id: subnet.subnet_id.clone(), name: None });
        }
    }
    if pools.contains_key(DEFAULT_POOL) {
        return pools;
    }
    let mut seen = BTreeSet::new();
    let existing: Vec<PoolSubnet> = inventory
        .eni_configs
        .iter()
        .filter_map(|eni_config| {
            Some(PoolSubnet { id: eni_config.subnet.clone()?, name: Some(eni_config.name.clone()) })
        })
        .filter(|subnet| seen.insert(subnet.id.clone()))
        .collect();
    if !existing.is_empty() {
        pools.insert(DEFAULT_POOL.into(), PoolConfig { subnets: existing, ..PoolConfig::default() });
    }
    pools
}
