//! What each mechanism can do for these needs, and what it costs.

use super::in_use::{FIRST_CNI_WITH_DISCOVERY, discovers};
use super::needs::{Needs, maps_at_boot, plural};
use super::{InUse, Judgement, Mechanism, Verdict};
use crate::inventory::{CniSettings, Inventory};
use crate::max_pods::node_arithmetic;
use crate::plan::Plan;

/// What speaks for a mechanism, what rules it out, what it costs.
#[derive(Default)]
struct Points {
    fits: Vec<String>,
    rules_out: Vec<String>,
    costs: Vec<String>,
}

pub(super) fn judge(
    mechanism: Mechanism,
    inventory: &Inventory,
    plan: &Plan,
    needs: &Needs<'_>,
    in_use: Option<&InUse>,
) -> Judgement {
    let mut points = match mechanism {
        Mechanism::SubnetDiscovery => discovery(inventory, needs),
        Mechanism::ZoneNamedEniConfigs => zone_named(inventory, needs),
        Mechanism::StaticLabels => static_labels(inventory, plan, needs),
        Mechanism::BootTimeMapping => boot_time(inventory, plan, needs),
        Mechanism::AutoMode => auto_mode(inventory, plan, needs),
    };
    if mechanism != Mechanism::AutoMode {
        no_aws_node(inventory, &mut points.rules_out);
    }
    let is_in_use = in_use.is_some_and(|in_use| in_use.mechanism == mechanism);
    let verdict = match (points.rules_out.is_empty(), is_in_use) {
        (false, _) => Verdict::RuledOut,
        (true, true) => Verdict::InUse,
        (true, false) => Verdict::Fits,
    };
    let reasons = if points.rules_out.is_empty() { points.fits } else { points.rules_out };
    Judgement { mechanism, verdict, reasons, costs: points.costs }
}

fn no_aws_node(inventory: &Inventory, rules_out: &mut Vec<String>) {
    if inventory.cluster.auto_mode && inventory.aws_node.is_none() {
        rules_out.push("the cluster runs EKS Auto Mode, whose nodes have no aws-node".into());
    }
}

fn no_custom_networking(inventory: &Inventory, rules_out: &mut Vec<String>) {
    if inventory.cluster.ip_family.as_deref() == Some("ipv6") {
        rules_out.push("the cluster is an IPv6 cluster, for which the VPC CNI refuses custom networking".into());
    }
}

fn settings(inventory: &Inventory) -> CniSettings {
    inventory.cni_settings().unwrap_or_default()
}

fn discovery(inventory: &Inventory, needs: &Needs<'_>) -> Points {
    let settings = settings(inventory);
    let mut points = Points::default();
    if let Some(example) = needs.who_uses_what() {
        points.rules_out.push(format!("it takes any tagged subnet of the zone for any node, but in {example}"));
    }
    if !needs.pod_security_groups.is_empty() {
        let groups: Vec<&str> = needs.pod_security_groups.iter().copied().collect();
        points.rules_out.push(format!(
            "its interfaces carry the node's security groups, but pods are to have {}",
            groups.join(", ")
        ));
    }
    if inventory.cluster.ip_family.as_deref() == Some("ipv6") {
        points.rules_out.push("pods of an IPv6 cluster take addresses from their node's primary interface only".into());
    }
    if let Some(version) = settings.version.filter(|version| *version < FIRST_CNI_WITH_DISCOVERY) {
        points.rules_out.push(format!("CNI {version} does not have it; {FIRST_CNI_WITH_DISCOVERY} and later do"));
    }
    points
        .fits
        .push("every node of a zone may use the same pod subnets, and pods have the nodes' security groups".into());
    points.fits.push("when one subnet is full the next interface goes to another, on the same node".into());
    points.fits.push("no interface of a node is lost, no node is labelled, no launch template changes".into());
    points.costs.push(
        "which subnet a pod is in cannot be told before it runs; the node subnet is used too, unless it is tagged \
         kubernetes.io/role/cni=0 (CNI v1.22 and later)"
            .into(),
    );
    points.costs.push("the CNI's role needs ec2:DescribeSubnets".into());
    if settings.custom_networking() {
        points.costs.push(
            "custom networking must be turned off: the restart of aws-node then puts the node's security groups on all pod \
             interfaces, and interfaces that exist stay where they are until their node is replaced"
                .into(),
        );
    } else if !discovers(&settings) {
        points.costs.push("ENABLE_SUBNET_DISCOVERY must be turned on".into());
    }
    points
}

fn zone_named(inventory: &Inventory, needs: &Needs<'_>) -> Points {
    let mut points = Points::default();
    no_custom_networking(inventory, &mut points.rules_out);
    if let Some(example) = needs.who_uses_what() {
        points.rules_out.push(format!("a node gets only the ENIConfig named by its zone, but in {example}"));
    }
    if !needs.several.is_empty() {
        points.rules_out.push(format!(
            "one ENIConfig a zone has one subnet, but nodes of {} spread over several",
            needs.several.join(", ")
        ));
    }
    points.fits.push("one pod subnet a zone is enough, so that the zone label, which every node has, decides".into());
    points.fits.push("no node is labelled and no launch template changes".into());
    points.costs.push(lost_interface(inventory));
    points.costs.push("a full pod subnet stops its nodes: there is no second choice".into());
    replaced_nodes(inventory, &mut points.costs);
    points
}

fn static_labels(inventory: &Inventory, plan: &Plan, needs: &Needs<'_>) -> Points {
    let mut points = Points::default();
    no_custom_networking(inventory, &mut points.rules_out);
    for (group, count) in &needs.in_several_zones {
        points.rules_out.push(format!(
            "{group} needs {count} different ENIConfigs, and a label of the group is the same for all its nodes; it would \
             have to be split into {count} groups"
        ));
    }
    for group in &needs.several {
        if !needs.in_several_zones.iter().any(|(name, _)| name == group) {
            points.rules_out.push(format!("nodes of {group} choose among several ENIConfigs"));
        }
    }
    let unmanaged: Vec<&str> =
        plan.node_groups.iter().filter(|group| !group.managed).map(|group| group.name.as_str()).collect();
    if !unmanaged.is_empty() {
        points.rules_out.push(format!("EKS sets no labels for {}, which it does not manage", unmanaged.join(", ")));
    }
    points.fits.push("every node group comes down to one ENIConfig".into());
    points.fits.push("a label of the node group says which; no launch template changes, Bottlerocket included".into());
    points.costs.push(lost_interface(inventory));
    points.costs.push("one node group for each zone and pod subnet, to be scaled and updated one by one".into());
    replaced_nodes(inventory, &mut points.costs);
    points
}

fn boot_time(inventory: &Inventory, plan: &Plan, needs: &Needs<'_>) -> Points {
    let mut points = Points::default();
    no_custom_networking(inventory, &mut points.rules_out);
    let cannot: Vec<&str> = needs
        .in_several_zones
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| plan.node_groups.iter().any(|group| group.name == *name && !maps_at_boot(group.family)))
        .collect();
    if !cannot.is_empty() {
        points.rules_out.push(format!(
            "nodes of {} cannot look anything up at boot: the user data of Bottlerocket is fixed text; split by zone",
            cannot.join(", ")
        ));
    }
    if plan.node_groups.is_empty() && needs.known {
        points.rules_out.push("no node group is planned".into());
    }
    points.fits.push("every node finds the ENIConfig of its own node subnet before kubelet starts".into());
    points
        .fits
        .push("different pod subnets for different groups, several in a zone, and security groups of pods".into());
    points.costs.push(lost_interface(inventory));
    let labelled: Vec<&str> = plan
        .node_groups
        .iter()
        .filter(|group| group.launch_template.is_some())
        .map(|group| group.name.as_str())
        .collect();
    if !labelled.is_empty() {
        let is_labelled = |name: &str| labelled.contains(&name);
        let nodes = inventory.nodes.iter().filter(|node| node.node_group().is_some_and(is_labelled)).count();
        points.costs.push(format!(
            "a launch-template version for {}, and {nodes} node{} to be replaced once",
            labelled.join(", "),
            plural(nodes)
        ));
    }
    let replaced: Vec<&str> =
        plan.node_groups.iter().filter_map(|group| group.create.as_ref()?.replaces.as_deref()).collect();
    if !replaced.is_empty() {
        points
            .costs
            .push(format!("a new node group in place of {}, which can take no launch template", replaced.join(", ")));
    }
    points
}

fn auto_mode(inventory: &Inventory, plan: &Plan, needs: &Needs<'_>) -> Points {
    let mut points = Points::default();
    if !inventory.cluster.auto_mode {
        points.rules_out.push(format!(
            "the cluster does not run EKS Auto Mode; all nodes of {} would move to nodes that AWS runs",
            if plan.node_groups.is_empty() {
                "its node groups".to_owned()
            } else {
                plan.node_groups.iter().map(|group| group.name.as_str()).collect::<Vec<_>>().join(", ")
            }
        ));
    } else if inventory.aws_node.is_some() && !plan.node_groups.is_empty() {
        points.rules_out.push(format!(
            "it serves the nodes of Auto Mode only, and {} node group{} aws-node",
            plan.node_groups.len(),
            if plan.node_groups.len() == 1 { " runs" } else { "s run" }
        ));
    }
    points.fits.push("a NodeClass selects pod subnets and security groups of pods, by zone".into());
    if !needs.own_subnets.is_empty() {
        points.fits.push("one NodeClass and NodePool for each set of pod subnets".into());
    }
    points.costs.push("every zone of the NodeClass's node subnets must have a selected pod subnet".into());
    points.costs.push("a charge for each instance that Auto Mode runs".into());
    points
}

/// What custom networking takes from a node, with an example of the cluster.
fn lost_interface(inventory: &Inventory) -> String {
    let settings = settings(inventory);
    let example = inventory.instance_types.iter().find_map(|instance_type| {
        let with = node_arithmetic(instance_type, &settings)?;
        let interfaces = instance_type.default_card_interfaces()?;
        let without = interfaces * instance_type.ipv4_addresses_per_interface.saturating_sub(1) + 2;
        (!with.prefixes && with.max_pods > 0)
            .then(|| format!(" ({}: {} pods instead of {without})", instance_type.instance_type, with.max_pods))
    });
    format!("a node's primary interface carries no pods{}", example.unwrap_or_default())
}

fn replaced_nodes(inventory: &Inventory, costs: &mut Vec<String>) {
    let nodes = inventory.nodes.iter().filter(|node| node.runs_aws_node()).count();
    if nodes > 0 && !settings(inventory).custom_networking() {
        costs.push(format!("custom networking is off: {nodes} node{} to be replaced once", plural(nodes)));
    }
}
