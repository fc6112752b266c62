//! What the wishes ask of a mechanism.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{AmiFamily, Config};
use crate::inventory::{CniSettings, Inventory, Node, Subnet};
use crate::plan::{NodeGroupPlan, Plan};
use crate::resolve::resolve;

/// What the wishes ask for.
#[derive(Debug)]
pub(super) struct Needs<'a> {
    /// Pod subnets, by id; those of the plan, or, where there is none, those tagged for discovery.
    pub(super) pod_subnets: BTreeMap<&'a str, &'a Subnet>,
    /// Node subnets of planned groups, by id.
    pub(super) node_subnets: BTreeSet<&'a str>,
    /// Zones in which planned groups, or node subnets of one group, use different pod subnets, with who uses what.
    pub(super) own_subnets: Vec<String>,
    /// Groups whose nodes choose among several pod subnets in a zone.
    pub(super) several: Vec<&'a str>,
    /// Security groups of pods that are not those of the nodes.
    pub(super) pod_security_groups: BTreeSet<&'a str>,
    /// Groups whose nodes in different zones need different labels.
    pub(super) in_several_zones: Vec<(&'a str, usize)>,
    /// Whether anything says what is wanted.
    pub(super) known: bool,
    groups: usize,
    zones: usize,
}

/// Tag of subnet discovery. Source: amazon-vpc-cni-k8s `pkg/awsutils/awsutils.go`, `subnetDiscoveryTagKey`.
pub(super) const DISCOVERY_TAG: &str = "kubernetes.io/role/cni";

/// Subnets that discovery may pick: tagged, and not with the value that excludes.
/// Source: amazon-vpc-cni-k8s v1.23.1 `pkg/awsutils/awsutils.go`, `isSubnetValidForENICreation`.
pub(super) fn discovered_subnets(inventory: &Inventory) -> impl Iterator<Item = &Subnet> {
    inventory.subnets.iter().filter(|subnet| subnet.tags.get(DISCOVERY_TAG).is_some_and(|value| value != "0"))
}

pub(super) fn needs<'a>(inventory: &'a Inventory, config: &'a Config, plan: &'a Plan) -> Needs<'a> {
    let of_plan: BTreeMap<&str, &Subnet> = plan
        .eni_configs
        .iter()
        .filter_map(|eni_config| inventory.subnet(&eni_config.subnet_id))
        .map(|subnet| (subnet.subnet_id.as_str(), subnet))
        .collect();
    let known = !of_plan.is_empty();
    let pod_subnets = if known {
        of_plan
    } else {
        discovered_subnets(inventory).map(|subnet| (subnet.subnet_id.as_str(), subnet)).collect()
    };
    let cluster_group = inventory.cluster.cluster_security_group_id.as_deref();
    let rows = || plan.node_groups.iter().flat_map(|group| group.assignments.iter().map(move |row| (group, row)));
    let zones: BTreeSet<&str> = rows().map(|(_, row)| row.availability_zone_id.as_str()).collect();
    Needs {
        pod_subnets,
        node_subnets: rows().map(|(_, row)| row.subnet_id.as_str()).collect(),
        own_subnets: own_subnets(inventory, plan),
        several: plan
            .node_groups
            .iter()
            .filter(|group| group.assignments.iter().any(|row| row.candidates.len() > 1))
            .map(|group| group.name.as_str())
            .collect(),
        pod_security_groups: plan
            .eni_configs
            .iter()
            .flat_map(|eni_config| &eni_config.security_groups)
            .map(String::as_str)
            .filter(|group| Some(*group) != cluster_group)
            .collect(),
        in_several_zones: plan.node_groups.iter().filter_map(in_several_zones).collect(),
        known,
        groups: plan.node_groups.len().max(config.node_groups.len()),
        zones: zones.len(),
    }
}

/// By zone: pod subnets that differ from group to group, or from node subnet to node subnet. Nodes of no planned group
/// count with what they use now.
fn own_subnets(inventory: &Inventory, plan: &Plan) -> Vec<String> {
    let mut by_zone: BTreeMap<&str, BTreeMap<BTreeSet<&str>, BTreeSet<&str>>> = BTreeMap::new();
    for (zone, user, eni_config) in outside_nodes(inventory, plan) {
        by_zone.entry(zone).or_default().entry([eni_config].into()).or_default().insert(user);
    }
    for group in &plan.node_groups {
        for row in &group.assignments {
            let eni_configs = row.candidates.iter().map(|candidate| candidate.eni_config.as_str()).collect();
            let users = by_zone.entry(&row.availability_zone).or_default().entry(eni_configs).or_default();
            users.insert(&group.name);
        }
    }
    let joined = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
    by_zone
        .iter()
        .filter(|(_, users)| users.len() > 1)
        .map(|(zone, users)| {
            let who: Vec<String> = users
                .iter()
                .map(|(eni_configs, groups)| format!("{} → {}", joined(groups), joined(eni_configs)))
                .collect();
            format!("{zone}: {}", who.join("; "))
        })
        .collect()
}

/// Zone, NodePool or node group, and ENIConfig of the nodes that no planned group has.
fn outside_nodes<'a>(inventory: &'a Inventory, plan: &'a Plan) -> Vec<(&'a str, &'a str, &'a str)> {
    let Some(settings) = inventory.cni_settings().filter(CniSettings::custom_networking) else { return Vec::new() };
    let planned = |name: &str| {
        plan.node_groups.iter().any(|group| {
            group.name == name || group.create.as_ref().is_some_and(|create| create.replaces.as_deref() == Some(name))
        })
    };
    let outside = |node: &&Node| node.runs_aws_node() && node.node_group().is_none_or(|name| !planned(name));
    inventory
        .nodes
        .iter()
        .filter(outside)
        .filter_map(|node| {
            let user = node.labels.get("karpenter.sh/nodepool").map(String::as_str).or_else(|| node.node_group())?;
            let eni_config = inventory.eni_config(&resolve(node, &settings).eni_config)?;
            Some((node.zone()?, user, eni_config.name.as_str()))
        })
        .collect()
}

/// A group that needs labels, and whose rows do not all name one and the same ENIConfig; with how many groups a split
/// would make.
fn in_several_zones(group: &NodeGroupPlan) -> Option<(&str, usize)> {
    group.label_key.as_ref()?;
    let targets: BTreeSet<Vec<&str>> = group
        .assignments
        .iter()
        .map(|row| row.candidates.iter().map(|candidate| candidate.eni_config.as_str()).collect())
        .collect();
    (targets.len() > 1).then_some((&group.name, targets.len()))
}

impl Needs<'_> {
    /// An example of a zone in which not all nodes use the same pod subnets; `None` where there is no such zone.
    pub(super) fn who_uses_what(&self) -> Option<String> {
        let (first, rest) = self.own_subnets.split_first()?;
        Some(match rest.len() {
            0 => first.clone(),
            1 => format!("{first}; and so in one more zone"),
            more => format!("{first}; and so in {more} more zones"),
        })
    }

    /// What is wanted, for people.
    pub(super) fn sentences(&self) -> Vec<String> {
        if !self.known {
            return vec![
                "nothing says that node groups need pod subnets of their own: there is no eniplan.yaml, no subnet tagged \
                 eniplan.dev/pool and no ENIConfig"
                    .into(),
            ];
        }
        let mut sentences = vec![format!(
            "{} node group{} in {} zone{}, {} pod subnet{}",
            self.groups,
            plural(self.groups),
            self.zones,
            plural(self.zones),
            self.pod_subnets.len(),
            plural(self.pod_subnets.len())
        )];
        match self.who_uses_what() {
            None => sentences.push("every node of a zone may use the same pod subnets".into()),
            Some(example) => sentences.push(format!("nodes of one zone use different pod subnets ({example})")),
        }
        if !self.several.is_empty() {
            sentences.push(format!("nodes of {} spread over several pod subnets in a zone", self.several.join(", ")));
        }
        if !self.pod_security_groups.is_empty() {
            let groups: Vec<&str> = self.pod_security_groups.iter().copied().collect();
            sentences.push(format!("pods have security groups that nodes do not have ({})", groups.join(", ")));
        }
        sentences
    }
}

pub(super) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Families whose nodes can find their ENIConfig at boot.
pub(super) fn maps_at_boot(family: AmiFamily) -> bool {
    matches!(family, AmiFamily::Al2023 | AmiFamily::Al2)
}
