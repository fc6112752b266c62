//! Rules about pod subnets before anything runs in them: association, routes, tags, overlap with node subnets.

use super::Facts;
use super::cni::settings_after;
use crate::finding::{Problem, Subject};
use crate::inventory::{GapSource, RouteTable, Subnet};

fn pod_subnets<'a>(facts: &Facts<'a>) -> Vec<&'a Subnet> {
    let mut subnets: Vec<&Subnet> =
        facts.plan.eni_configs.iter().filter_map(|eni_config| facts.inventory.subnet(&eni_config.subnet_id)).collect();
    subnets.sort_by_key(|subnet| &subnet.subnet_id);
    subnets.dedup_by_key(|subnet| &subnet.subnet_id);
    subnets
}

fn subject(subnet: &Subnet) -> Subject {
    Subject::Subnet(subnet.subnet_id.clone())
}

pub(super) fn pod_subnet_cidr_unassociated(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let Some(vpc) = &facts.inventory.vpc else { return };
    for subnet in pod_subnets(facts) {
        let association =
            vpc.cidr_block_associations.iter().find(|association| association.cidr_block.contains(&subnet.cidr_block));
        let state = association.map_or("missing", |association| association.state.as_str());
        if state == "associated" {
            continue;
        }
        problems.push(Problem::new(
            "pod-subnet-cidr-unassociated",
            subject(subnet),
            format!(
                "its CIDR {} lies in no associated CIDR block of {} (state: {state}); EC2 makes no interface there",
                subnet.cidr_block, vpc.vpc_id
            ),
            "wait until the block is associated, or associate it: `aws ec2 associate-vpc-cidr-block`",
        ));
    }
}

pub(super) fn pod_subnet_not_available(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for subnet in pod_subnets(facts) {
        if let Some(state) = subnet.state.as_deref().filter(|state| *state != "available") {
            problems.push(Problem::new(
                "pod-subnet-not-available",
                subject(subnet),
                format!("its state is {state}"),
                "wait until it is available, then read the inventory again",
            ));
        }
    }
}

pub(super) fn pod_subnet_full(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for subnet in pod_subnets(facts).into_iter().filter(|subnet| subnet.available_ip_address_count == Some(0)) {
        problems.push(Problem::new(
            "pod-subnet-full",
            subject(subnet),
            format!("none of its {} addresses was free when the inventory was read; nodes of its ENIConfig get no further pod", subnet.usable_addresses()),
            "add a pod subnet to the pool, and see `eniplan capacity`",
        ));
    }
}

pub(super) fn pod_subnet_is_node_subnet(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for subnet in pod_subnets(facts) {
        let by_plan = facts
            .plan
            .node_groups
            .iter()
            .filter(|group| group.assignments.iter().any(|row| row.subnet_id == subnet.subnet_id))
            .map(|group| &group.name);
        let by_eks = facts
            .inventory
            .node_groups
            .iter()
            .filter(|group| group.subnets.contains(&subnet.subnet_id))
            .map(|group| &group.name);
        let mut groups: Vec<&str> = by_plan.chain(by_eks).map(String::as_str).collect();
        groups.sort_unstable();
        groups.dedup();
        if !groups.is_empty() {
            problems.push(Problem::new(
                "pod-subnet-is-node-subnet",
                subject(subnet),
                format!("it is a pod subnet of the plan and a node subnet of {}; nodes and pods take each other's addresses", groups.join(", ")),
                "give pods subnets of their own, or take it out of the node groups",
            ));
        }
    }
}

/// Tags by which other controllers choose subnets.
/// Source: AWS Load Balancer Controller, "Subnet auto-discovery"; Karpenter, "NodeClasses", `subnetSelectorTerms` example.
const TAGS_OF_OTHERS: [(&str, &str); 3] = [
    ("kubernetes.io/role/elb", "the load balancer controller puts public load balancers there"),
    ("kubernetes.io/role/internal-elb", "the load balancer controller puts internal load balancers there"),
    ("karpenter.sh/discovery", "Karpenter launches nodes there"),
];

pub(super) fn pod_subnet_with_discovery_tag(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for subnet in pod_subnets(facts) {
        for (tag, effect) in TAGS_OF_OTHERS {
            if subnet.tags.contains_key(tag) {
                problems.push(Problem::new(
                    "pod-subnet-with-discovery-tag",
                    subject(subnet),
                    format!("it is tagged {tag}: {effect}, in addresses that pods are to have"),
                    format!("remove the tag {tag} from pod subnets"),
                ));
            }
        }
    }
}

/// With pods leaving by their own address the pod subnet's routes count, else those of the node subnets.
pub(super) fn no_route_out(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let inventory = facts.inventory;
    if inventory.route_tables.is_empty() || inventory.gaps_in(GapSource::RouteTables).next().is_some() {
        return;
    }
    if !settings_after(facts).flag("AWS_VPC_K8S_CNI_EXTERNALSNAT") {
        return;
    }
    for subnet in pod_subnets(facts) {
        let Some(table) = route_table(&inventory.route_tables, &subnet.subnet_id) else { continue };
        let default = table.routes.iter().find(|route| route.destination == "0.0.0.0/0");
        let (message, help) = match default {
            Some(route) if route.state.as_deref() == Some("blackhole") => (
                format!(
                    "its route table {} sends the internet to {}, which no longer exists",
                    table.route_table_id, route.target
                ),
                "route 0.0.0.0/0 of the pod subnet to a NAT gateway or transit gateway that exists",
            ),
            Some(route) if !route.target.starts_with("igw-") => continue,
            Some(_) => (
                format!(
                    "its route table {} sends the internet to an internet gateway, but pod interfaces have no public address",
                    table.route_table_id
                ),
                "route 0.0.0.0/0 of the pod subnet to a NAT gateway or transit gateway",
            ),
            None => (
                format!(
                    "its route table {} has no route to the internet, and AWS_VPC_K8S_CNI_EXTERNALSNAT is on, so that pods leave by it",
                    table.route_table_id
                ),
                "route 0.0.0.0/0 of the pod subnet to a NAT gateway or transit gateway, if pods are to reach the internet",
            ),
        };
        problems.push(Problem::new("pod-subnet-without-route", subject(subnet), message, help));
    }
}

fn route_table<'a>(tables: &'a [RouteTable], subnet_id: &str) -> Option<&'a RouteTable> {
    tables
        .iter()
        .find(|table| table.subnet_ids.iter().any(|id| id == subnet_id))
        .or_else(|| tables.iter().find(|table| table.main))
}
