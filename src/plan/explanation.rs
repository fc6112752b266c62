//! Why a node uses its ENIConfig: where the CNI looks, what it finds, what the plan would give instead.

use std::collections::BTreeMap;

use ipnet::Ipv4Net;
use serde::Serialize;

use super::{Assignment, NO_MATCH, NodeGroupPlan, Plan};
use crate::choose::choose;
use crate::config::OnNoMatch;
use crate::inventory::{CniSettings, InstanceType, Inventory, Node};
use crate::max_pods::{NodeArithmetic, node_arithmetic};
use crate::resolve::{Look, Rule, ZONE_LABEL, looks};

/// The node that is explained.
#[derive(Debug, Clone, Copy)]
pub enum Explained<'a> {
    /// One of the inventory, and the group of the plan that it belongs to, where that is known.
    Node(&'a Node, Option<&'a NodeGroupPlan>),
    /// One that the group could launch in a node subnet.
    WouldBe {
        /// The group.
        group: &'a NodeGroupPlan,
        /// CIDR of the node subnet, as the node would be told.
        subnet: Ipv4Net,
        /// Instance id, which decides under the strategy `hash`.
        instance_id: Option<&'a str>,
    },
}

/// Everything that decides about one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Name of the node; `None` for one that does not exist.
    pub node: Option<String>,
    /// Instance id.
    pub instance_id: Option<String>,
    /// Instance type.
    pub instance_type: Option<String>,
    /// Node group of the plan.
    pub node_group: Option<String>,
    /// Why the CNI is not asked, where it is not: other nodes than those of aws-node.
    pub without_aws_node: bool,
    /// Node subnet.
    pub node_subnet: Option<Place>,
    /// The choice now; `None` for a node that does not exist.
    pub now: Option<Choice>,
    /// The choice once the settings of the plan are in force and the node is as it is; `None` where it is the same.
    pub under_planned_settings: Option<Choice>,
    /// What the group's table gives to a node in that subnet; `None` without a group.
    pub table: Option<TableRow>,
    /// The choice of a node that the plan has launched; `None` where the table leaves it open or there is no group.
    pub planned: Option<Choice>,
    /// Max pods.
    pub max_pods: MaxPods,
}

/// A subnet and its zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Subnet id.
    pub subnet_id: String,
    /// CIDR.
    pub cidr: Ipv4Net,
    /// Zone name.
    pub availability_zone: String,
    /// Zone id.
    pub availability_zone_id: String,
}

/// Where the CNI looks, in its order, and what follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Whether custom networking is on; where it is off, nobody looks and pods live in the node subnet.
    pub custom_networking: bool,
    /// All places in order; the first where something is found decides.
    pub looks: Vec<LookAt>,
    /// Index of the place that decides.
    pub decided_by: usize,
    /// The ENIConfig.
    pub eni_config: EniConfigFacts,
}

/// One place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LookAt {
    /// `label`, `annotation` or `default`.
    pub kind: &'static str,
    /// Key of label or annotation.
    pub key: Option<String>,
    /// What is there; an empty value counts as found.
    pub found: Option<String>,
}

/// What is known of an ENIConfig by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EniConfigFacts {
    /// Name.
    pub name: String,
    /// Whether the cluster has it.
    pub in_cluster: bool,
    /// Whether the plan has it.
    pub in_plan: bool,
    /// Pod subnet, where it is known.
    pub pod_subnet: Option<Place>,
    /// Security groups; empty means those of the node's primary interface.
    pub security_groups: Vec<String>,
    /// Whether its subnet is in the node's zone, where both are known; an interface attaches only there.
    pub same_zone: Option<bool>,
}

/// The row of a group's table for a node subnet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableRow {
    /// CIDR that was looked up.
    pub cidr: Ipv4Net,
    /// Label that the node gets; `None` where it stays on the ENIConfig of its zone.
    pub label_key: Option<String>,
    /// Candidates with their weights; empty where the table has no row.
    pub candidates: Vec<Share>,
    /// The one that the node picks; `None` where its instance id is needed and not given.
    pub pick: Option<String>,
    /// Rows that the table has, where it has none for this CIDR.
    pub known: Vec<Ipv4Net>,
}

/// A candidate and its share of the nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Share {
    /// ENIConfig.
    pub eni_config: String,
    /// Weight.
    pub weight: u64,
    /// Sum of all weights of the row.
    pub of: u64,
}

/// Max pods of the node: as it is, as the formula has it, as the plan writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MaxPods {
    /// What kubelet reports.
    pub reported: Option<u32>,
    /// What the formula gives for its type under the settings of the plan.
    pub formula: Option<u32>,
    /// What the formula multiplies, where the instance type is known.
    pub arithmetic: Option<Arithmetic>,
    /// What the plan writes; `None` leaves it to EKS.
    pub written: Option<u32>,
}

/// What the formula multiplies: interfaces × slots × addresses, and two pods of the host network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Arithmetic {
    /// Interfaces that can carry pods.
    pub pod_interfaces: u32,
    /// Address slots of each.
    pub slots_per_interface: u32,
    /// Whether a slot holds a prefix of sixteen addresses.
    pub prefixes: bool,
}

/// Explains one node.
pub fn explain(inventory: &Inventory, plan: &Plan, explained: Explained<'_>) -> Explanation {
    let now = inventory.cni_settings().unwrap_or_default();
    let after = settings_after(&now, plan);
    match explained {
        Explained::Node(node, group) => node_there(inventory, plan, node, group, &now, &after),
        Explained::WouldBe { group, subnet, instance_id } => {
            let node_subnet = place_by_cidr(inventory, subnet);
            let table = table_row(group, subnet, instance_id);
            let of_type = only_type(inventory, group);
            Explanation {
                node: None,
                instance_id: instance_id.map(str::to_owned),
                instance_type: of_type.map(|instance_type| instance_type.instance_type.clone()),
                node_group: Some(group.name.clone()),
                without_aws_node: false,
                now: None,
                under_planned_settings: None,
                planned: planned(inventory, plan, group, &table, node_subnet.as_ref(), &after),
                max_pods: max_pods(None, of_type, Some(group), &after),
                table: Some(table),
                node_subnet,
            }
        }
    }
}

fn node_there(
    inventory: &Inventory,
    plan: &Plan,
    node: &Node,
    group: Option<&NodeGroupPlan>,
    now: &CniSettings,
    after: &CniSettings,
) -> Explanation {
    let node_subnet = node.internal_ip.and_then(|address| {
        let subnet = inventory.subnets.iter().find(|subnet| subnet.cidr_block.contains(&address))?;
        place_by_cidr(inventory, subnet.cidr_block)
    });
    let choice = |settings: &CniSettings| {
        choice(inventory, plan, &node.labels, &node.annotations, settings, node_subnet.as_ref())
    };
    let current = choice(now);
    let later = choice(after);
    let table =
        group.zip(node_subnet.as_ref()).map(|(group, place)| table_row(group, place.cidr, node.instance_id.as_deref()));
    let planned = group
        .zip(table.as_ref())
        .and_then(|(group, table)| planned(inventory, plan, group, table, node_subnet.as_ref(), after));
    let of_type = node.instance_type().and_then(|name| inventory.instance_type(name));
    let without_aws_node = !node.runs_aws_node();
    Explanation {
        node: Some(node.name.clone()),
        instance_id: node.instance_id.clone(),
        instance_type: node.instance_type().map(str::to_owned),
        node_group: group.map(|group| group.name.clone()),
        without_aws_node,
        under_planned_settings: (later != current && !without_aws_node).then_some(later),
        now: (!without_aws_node).then_some(current),
        table,
        planned,
        max_pods: max_pods(node.max_pods, of_type, group, after),
        node_subnet,
    }
}

fn settings_after(now: &CniSettings, plan: &Plan) -> CniSettings {
    let mut after = now.clone();
    after.env.extend(plan.cni.env.clone());
    after
}

fn place_by_cidr(inventory: &Inventory, cidr: Ipv4Net) -> Option<Place> {
    let subnet = inventory.subnets.iter().find(|subnet| subnet.cidr_block == cidr)?;
    Some(Place {
        subnet_id: subnet.subnet_id.clone(),
        cidr,
        availability_zone: subnet.availability_zone.clone(),
        availability_zone_id: subnet.availability_zone_id.clone(),
    })
}

fn choice(
    inventory: &Inventory,
    plan: &Plan,
    labels: &BTreeMap<String, String>,
    annotations: &BTreeMap<String, String>,
    settings: &CniSettings,
    node_subnet: Option<&Place>,
) -> Choice {
    let looks = looks(labels, annotations, settings);
    let decided_by = looks.iter().position(|look| look.found.is_some()).unwrap_or_default();
    let name = looks.get(decided_by).and_then(|look| look.found.clone()).unwrap_or_default();
    Choice {
        custom_networking: settings.custom_networking(),
        looks: looks.into_iter().map(look_at).collect(),
        decided_by,
        eni_config: eni_config(inventory, plan, name, node_subnet),
    }
}

fn look_at(look: Look) -> LookAt {
    let (kind, key) = match look.rule {
        Rule::ExternalLabel => ("label", Some(crate::resolve::EXTERNAL_ENI_CONFIG_LABEL.to_owned())),
        Rule::Annotation(key) => ("annotation", Some(key)),
        Rule::Label(key) => ("label", Some(key)),
        Rule::Default => ("default", None),
    };
    LookAt { kind, key, found: look.found }
}

/// As the plan has it, else as the cluster has it.
fn eni_config(inventory: &Inventory, plan: &Plan, name: String, node_subnet: Option<&Place>) -> EniConfigFacts {
    let planned = plan.eni_configs.iter().find(|planned| planned.name == name);
    let existing = inventory.eni_config(&name);
    let subnet_id = planned.map(|planned| planned.subnet_id.as_str()).or_else(|| existing?.subnet.as_deref());
    let subnet = subnet_id.and_then(|id| inventory.subnet(id));
    let pod_subnet = subnet.and_then(|subnet| place_by_cidr(inventory, subnet.cidr_block));
    let same_zone =
        pod_subnet.as_ref().zip(node_subnet).map(|(pod, node)| pod.availability_zone_id == node.availability_zone_id);
    EniConfigFacts {
        in_cluster: existing.is_some(),
        in_plan: planned.is_some(),
        security_groups: planned
            .map(|planned| planned.security_groups.clone())
            .or_else(|| existing.map(|existing| existing.security_groups.clone()))
            .unwrap_or_default(),
        pod_subnet,
        same_zone,
        name,
    }
}

fn table_row(group: &NodeGroupPlan, cidr: Ipv4Net, instance_id: Option<&str>) -> TableRow {
    let row = group.assignments.iter().find(|row| row.cidr == cidr);
    let candidates = row.map_or(&[][..], |row| row.candidates.as_slice());
    let of = candidates.last().map_or(0, |candidate| candidate.bound);
    TableRow {
        cidr,
        label_key: group.label_key.clone(),
        candidates: candidates
            .iter()
            .map(|candidate| Share { eni_config: candidate.eni_config.clone(), weight: candidate.weight, of })
            .collect(),
        pick: row.and_then(|row| pick(row, instance_id)),
        known: if row.is_some() { Vec::new() } else { group.assignments.iter().map(|row| row.cidr).collect() },
    }
}

fn pick(row: &Assignment, instance_id: Option<&str>) -> Option<String> {
    if let [only] = row.candidates.as_slice() {
        return Some(only.eni_config.clone());
    }
    let bounds: Vec<u64> = row.candidates.iter().map(|candidate| candidate.bound).collect();
    let at = choose(&bounds, instance_id?)?;
    row.candidates.get(at).map(|candidate| candidate.eni_config.clone())
}

/// What the CNI finds on a node of the group as its user data has labelled it.
fn planned(
    inventory: &Inventory,
    plan: &Plan,
    group: &NodeGroupPlan,
    table: &TableRow,
    node_subnet: Option<&Place>,
    after: &CniSettings,
) -> Option<Choice> {
    let zone = node_subnet.map(|place| place.availability_zone.clone());
    let mut labels = BTreeMap::new();
    labels.extend(zone.clone().map(|zone| (ZONE_LABEL.to_owned(), zone)));
    if let Some(key) = &group.label_key {
        let value = match (&table.pick, group.on_no_match) {
            (Some(pick), _) => pick.clone(),
            (None, _) if !table.candidates.is_empty() => return None,
            (None, OnNoMatch::Zone) => zone?,
            (None, OnNoMatch::Fail) => NO_MATCH.into(),
        };
        labels.insert(key.clone(), value);
    }
    Some(choice(inventory, plan, &labels, &BTreeMap::new(), after, node_subnet))
}

/// The type of a group that has but one.
fn only_type<'a>(inventory: &'a Inventory, group: &NodeGroupPlan) -> Option<&'a InstanceType> {
    let known = inventory.node_group(&group.name).map(|known| known.instance_types.as_slice());
    let types = known.or_else(|| group.create.as_ref().map(|create| create.instance_types.as_slice()))?;
    match types {
        [only] => inventory.instance_type(only),
        _ => None,
    }
}

fn max_pods(
    reported: Option<u32>,
    of_type: Option<&InstanceType>,
    group: Option<&NodeGroupPlan>,
    settings: &CniSettings,
) -> MaxPods {
    let arithmetic = of_type.and_then(|instance_type| node_arithmetic(instance_type, settings));
    MaxPods {
        reported,
        formula: arithmetic
            .map(|arithmetic| arithmetic.max_pods)
            .or_else(|| group.and_then(|group| group.max_pods.formula)),
        arithmetic: arithmetic.map(|NodeArithmetic { pod_interfaces, slots_per_interface, prefixes, .. }| Arithmetic {
            pod_interfaces,
            slots_per_interface,
            prefixes,
        }),
        written: group.and_then(|group| group.max_pods.written),
    }
}
