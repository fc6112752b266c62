//! What each planned group needs: how many nodes at which stage, and what one of them takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_addresses::{NodeShape, Taken, WarmTargets};
use crate::config::Config;
use crate::inventory::{CniSettings, Inventory};
use crate::max_pods::{HOST_NETWORK_PODS, node_arithmetic};
use crate::plan::{NodeGroupPlan, Plan};

/// Nodes that EKS may add for each zone while it updates a managed group.
/// Source: EKS user guide, "Understand each phase of node updates", scale up phase.
const SURGE_PER_ZONE: u64 = 2;

/// A planned group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupNeed {
    /// Name.
    pub name: String,
    /// Sizes; `None` when neither the file nor EKS tells them.
    pub sizes: Option<Sizes>,
    /// What a node takes; `None` when the inventory does not know the group's types.
    pub node: Option<NodeNeed>,
}

/// Numbers of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sizes {
    /// Fewest.
    pub min: u64,
    /// Wanted.
    pub desired: u64,
    /// Most.
    pub max: u64,
    /// Further nodes while EKS updates the group: `max(2 × zones, maxUnavailable)`; none where EKS does not manage it.
    pub surge: u64,
}

/// What a node of the group's hungriest type takes from its pod subnet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeNeed {
    /// The type; the one of the group that takes most.
    pub instance_type: String,
    /// Max pods that it is planned with.
    pub max_pods: u32,
    /// Pods of a full node that have an address of the pod subnet; the others use the node's.
    pub pods: u32,
    /// Right after start.
    pub at_start: Taken,
    /// Without pods.
    pub idle: Taken,
    /// Full.
    pub peak: Taken,
    /// Whether some types of the group take prefixes and others cannot.
    pub mixes_modes: bool,
}

impl GroupNeed {
    /// What a full node takes, where it is known.
    pub fn peak(&self) -> Option<Taken> {
        self.node.as_ref().map(|node| node.peak)
    }
}

/// The needs of all planned groups, by name.
pub(super) fn group_needs(inventory: &Inventory, config: &Config, plan: &Plan, unmanaged: u32) -> Vec<GroupNeed> {
    let settings = settings_after(inventory, plan);
    plan.node_groups
        .iter()
        .map(|group| GroupNeed {
            name: group.name.clone(),
            sizes: sizes(inventory, config, group),
            node: node(inventory, config, group, &settings, unmanaged),
        })
        .collect()
}

/// The CNI's settings as the plan wants them.
pub(super) fn settings_after(inventory: &Inventory, plan: &Plan) -> CniSettings {
    let mut settings = inventory.cni_settings().unwrap_or_default();
    settings.env.extend(plan.cni.env.clone());
    settings
}

/// The name under which EKS and the file know the group; a successor is known by the group that it replaces.
fn known_as(group: &NodeGroupPlan) -> &str {
    group.create.as_ref().and_then(|create| create.replaces.as_deref()).unwrap_or(&group.name)
}

/// What the file says goes before what EKS has: it is what is wanted.
pub(super) fn sizes(inventory: &Inventory, config: &Config, group: &NodeGroupPlan) -> Option<Sizes> {
    let known = inventory.node_group(known_as(group));
    let wanted = config.node_group(known_as(group)).and_then(|group| group.described.scaling);
    let (min, max, desired) = match (wanted, known.and_then(|known| known.scaling_config)) {
        (Some(wanted), _) => (wanted.min, wanted.max, wanted.desired),
        (None, Some(scaling)) => (scaling.min_size, scaling.max_size, scaling.desired_size),
        (None, None) => return None,
    };
    let max_unavailable = known.and_then(|known| known.max_unavailable).and_then(|most| u64::try_from(most).ok());
    let surge = if group.managed { (SURGE_PER_ZONE * zones(group)).max(max_unavailable.unwrap_or(1)) } else { 0 };
    Some(Sizes { min: min.into(), desired: desired.into(), max: max.into(), surge })
}

fn zones(group: &NodeGroupPlan) -> u64 {
    let mut zones: Vec<&str> = group.assignments.iter().map(|row| row.availability_zone_id.as_str()).collect();
    zones.sort_unstable();
    zones.dedup();
    zones.len() as u64
}

fn node(
    inventory: &Inventory,
    config: &Config,
    group: &NodeGroupPlan,
    settings: &CniSettings,
    unmanaged: u32,
) -> Option<NodeNeed> {
    let targets = WarmTargets::of(settings);
    let max_pods = group.max_pods.written.or(group.max_pods.formula);
    let mut hungriest: Option<NodeNeed> = None;
    for name in instance_types(inventory, config, group) {
        let arithmetic = node_arithmetic(inventory.instance_type(&name)?, settings)?;
        let shape = NodeShape::new(arithmetic, max_pods, unmanaged, settings.pod_eni());
        let need = NodeNeed {
            instance_type: name,
            max_pods: shape.max_pods,
            pods: shape.max_pods.saturating_sub(HOST_NETWORK_PODS).min(shape.most_pods()),
            at_start: shape.at_start(targets),
            idle: shape.idle(targets),
            peak: shape.peak(targets),
            mixes_modes: hungriest
                .as_ref()
                .is_some_and(|other| other.mixes_modes || (other.peak.prefixes > 0) != shape.prefixes),
        };
        let mixes_modes = need.mixes_modes;
        if hungriest.as_ref().is_none_or(|other| need.peak.addresses() > other.peak.addresses()) {
            hungriest = Some(need);
        }
        hungriest.iter_mut().for_each(|need| need.mixes_modes = mixes_modes);
    }
    hungriest.filter(|need| need.peak.addresses() > 0)
}

/// The group's types: EKS's, else the template's one, else those of the file.
fn instance_types(inventory: &Inventory, config: &Config, group: &NodeGroupPlan) -> Vec<String> {
    if let Some(create) = &group.create {
        return create.instance_types.clone();
    }
    let described = config.node_group(known_as(group)).map(|group| &group.described);
    let known = inventory.node_group(known_as(group));
    let template = known
        .and_then(|known| known.launch_template.as_ref())
        .map(|template| (template.id.as_deref(), template.version.as_deref()))
        .or_else(|| {
            let template = described?.launch_template.as_ref()?;
            Some((Some(template.id.as_str()), Some(template.version.as_str())))
        });
    let of_template = template.and_then(|(id, version)| {
        let template = inventory.launch_template(id?)?;
        template.version(template.resolve_version(version)?)?.launch_template_data.instance_type.clone()
    });
    let of_eks = known.map(|known| known.instance_types.clone()).filter(|types| !types.is_empty());
    let of_file = described.map(|described| described.instance_types.clone()).filter(|types| !types.is_empty());
    let mut types = of_eks.or(of_file).unwrap_or_else(|| of_template.into_iter().collect());
    types.sort();
    types.dedup();
    types
}
