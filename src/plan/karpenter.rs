//! What Karpenter's nodes need: one table for each pool, over the node subnets that Karpenter may launch in.
//!
//! Karpenter completes user data itself and knows no node groups of EKS, so that a pool stands in for the group.

use std::collections::{BTreeMap, BTreeSet};

use super::label::stays_on_its_zone;
use super::{Assignment, Bootstrap, Candidate, DropIn, EniConfigPlan, MaxPodsPlan, NodeGroupPlan, Plan};
use crate::config::{AmiFamily, OnNoMatch, Strategy};
use crate::inventory::{CniSettings, Inventory, Subnet};

/// Tag by which a NodeClass usually selects its subnets. Source: Karpenter, "Getting Started", the template of the cluster.
const DISCOVERY_TAG: &str = "karpenter.sh/discovery";

/// Label of Karpenter's nodes. Source: Karpenter, "NodePools".
const NODE_POOL_LABEL: &str = "karpenter.sh/nodepool";

/// What Karpenter is to be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KarpenterPlan {
    /// Tables by name of the pool, or of the node group that the plan is limited to. Empty where nodes need no label.
    pub groups: BTreeMap<String, NodeGroupPlan>,
    /// Label that its nodes get; `None` where they find the ENIConfig of their zone.
    pub label_key: Option<String>,
    /// Interfaces that carry no pods: the primary one, and the trunk of security groups for pods.
    pub reserved_enis: u32,
    /// Whether address slots hold prefixes, which Karpenter's own computation does not know.
    pub prefix_delegation: bool,
}

/// Plans the tables. `node_group` is the one that the plan is limited to, whose own table is then used.
pub fn karpenter(inventory: &Inventory, plan: &Plan, node_group: Option<&str>) -> KarpenterPlan {
    let settings = settings_after(inventory, plan);
    let mut groups = BTreeMap::new();
    if let Some(group) = node_group.and_then(|name| plan.node_groups.iter().find(|group| group.name == name)) {
        let table = stand_in(&group.name, group.label_key.clone(), group.strategy, group.assignments.clone());
        groups.insert(group.name.clone(), table);
    } else {
        let node_subnets = node_subnets(inventory, plan);
        let pools: BTreeSet<&String> = plan.eni_configs.iter().flat_map(|eni_config| &eni_config.pools).collect();
        for pool in pools {
            let of_pool: Vec<&EniConfigPlan> =
                plan.eni_configs.iter().filter(|eni_config| eni_config.pools.contains(pool)).collect();
            let table: Vec<Assignment> =
                node_subnets.iter().filter_map(|subnet| row(inventory, subnet, &of_pool)).collect();
            let several = table.iter().any(|row| row.candidates.len() > 1);
            let strategy = if several { Strategy::Hash } else { Strategy::Pinned };
            let label_key = label_key(plan, &table);
            groups.insert(pool.clone(), stand_in(pool, label_key, strategy, table));
        }
    }
    groups.retain(|_, group| group.label_key.is_some() && !group.assignments.is_empty());
    KarpenterPlan {
        label_key: groups.values().find_map(|group| group.label_key.clone()),
        groups,
        reserved_enis: 1 + u32::from(settings.pod_eni()),
        prefix_delegation: settings.prefix_delegation(),
    }
}

fn settings_after(inventory: &Inventory, plan: &Plan) -> CniSettings {
    let mut settings = inventory.cni_settings().unwrap_or_default();
    settings.env.extend(plan.cni.env.clone());
    settings
}

fn label_key(plan: &Plan, table: &[Assignment]) -> Option<String> {
    use crate::config::LabelDesign;
    match plan.label.design {
        LabelDesign::Zone => None,
        LabelDesign::Override if stays_on_its_zone(table) => None,
        LabelDesign::Own | LabelDesign::Override => Some(plan.label.node_label_key.clone()),
    }
}

/// Node subnets of the plan's AL2023 groups, those that Karpenter selects by the usual tag, and those in which its nodes
/// live.
fn node_subnets<'a>(inventory: &'a Inventory, plan: &Plan) -> Vec<&'a Subnet> {
    let of_groups: BTreeSet<&str> = plan
        .node_groups
        .iter()
        .filter(|group| group.family == AmiFamily::Al2023)
        .flat_map(|group| &group.assignments)
        .map(|row| row.subnet_id.as_str())
        .collect();
    let addresses: Vec<_> = inventory
        .nodes
        .iter()
        .filter(|node| node.labels.contains_key(NODE_POOL_LABEL))
        .filter_map(|node| node.internal_ip)
        .collect();
    let pod_subnets: BTreeSet<&str> = plan.eni_configs.iter().map(|eni_config| eni_config.subnet_id.as_str()).collect();
    let is_node_subnet = |subnet: &&Subnet| {
        let id = subnet.subnet_id.as_str();
        let by_karpenter = subnet.tags.contains_key(DISCOVERY_TAG) && !pod_subnets.contains(id);
        of_groups.contains(id) || by_karpenter || addresses.iter().any(|address| subnet.cidr_block.contains(address))
    };
    let mut subnets: Vec<&Subnet> = inventory.subnets.iter().filter(is_node_subnet).collect();
    subnets.sort_by_key(|subnet| subnet.cidr_block);
    subnets
}

/// The row of one node subnet; `None` where the pool has no pod subnet in its zone. The instance type is not known
/// beforehand, so that several candidates share by size.
fn row(inventory: &Inventory, node_subnet: &Subnet, of_pool: &[&EniConfigPlan]) -> Option<Assignment> {
    let mut bound = 0u64;
    let candidates: Vec<Candidate> = of_pool
        .iter()
        .filter_map(|eni_config| {
            let pod_subnet = inventory.subnet(&eni_config.subnet_id)?;
            let serves = pod_subnet.availability_zone_id == node_subnet.availability_zone_id
                && pod_subnet.outpost_arn == node_subnet.outpost_arn;
            if !serves {
                return None;
            }
            let weight = pod_subnet.usable_addresses();
            bound = bound.saturating_add(weight);
            Some(Candidate { eni_config: eni_config.name.clone(), weight, bound })
        })
        .collect();
    (bound > 0).then(|| Assignment {
        cidr: node_subnet.cidr_block,
        subnet_id: node_subnet.subnet_id.clone(),
        availability_zone: node_subnet.availability_zone.clone(),
        availability_zone_id: node_subnet.availability_zone_id.clone(),
        candidates,
    })
}

/// A group that EKS completes as Karpenter does: the user data says the label and nothing else.
fn stand_in(name: &str, label_key: Option<String>, strategy: Strategy, assignments: Vec<Assignment>) -> NodeGroupPlan {
    NodeGroupPlan {
        name: format!("{name} (Karpenter)"),
        managed: false,
        exists: false,
        family: AmiFamily::Al2023,
        bootstrap: Bootstrap::Eks,
        // The image is Karpenter's choice, launch by launch.
        drop_in: DropIn::DecideAtBoot,
        label_key,
        strategy,
        on_no_match: OnNoMatch::Fail,
        assignments,
        // Karpenter computes max pods for each type; ours would be one number for all.
        max_pods: MaxPodsPlan { written: None, formula: None },
        labels: BTreeMap::new(),
        taints: Vec::new(),
        launch_template: None,
        create: None,
    }
}
