//! Rules about the cluster as a whole, and about what could not be read.

use super::Facts;
use crate::finding::{Problem, Subject};
use crate::inventory::{Gap, GapSource, OBSERVED};

fn subject(facts: &Facts<'_>) -> Subject {
    Subject::Cluster(facts.inventory.cluster.name.clone())
}

pub(super) fn ipv6_cluster(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if facts.inventory.cluster.ip_family.as_deref() == Some("ipv6") {
        problems.push(Problem::new(
            "ipv6-cluster",
            subject(facts),
            "its IP family is IPv6, and the VPC CNI refuses custom networking there",
            "IPv6 pods need no pod subnets of their own; plan an IPv4 cluster instead",
        ));
    }
}

pub(super) fn auto_mode_only(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let inventory = facts.inventory;
    if inventory.cluster.auto_mode
        && inventory.aws_node.is_none()
        && inventory.gaps_in(GapSource::AwsNode).next().is_none()
    {
        problems.push(Problem::new(
            "auto-mode-only",
            subject(facts),
            "it runs in EKS Auto Mode without aws-node; ENIConfigs have no effect on its nodes",
            "set podSubnetSelectorTerms and podSecurityGroupSelectorTerms in the NodeClass instead",
        ));
    }
}

pub(super) fn auto_mode_beside(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if facts.inventory.cluster.auto_mode && facts.inventory.aws_node.is_some() {
        problems.push(Problem::new(
            "auto-mode-beside",
            subject(facts),
            "EKS Auto Mode is on beside the node groups; its nodes run no aws-node and are left out",
            "set podSubnetSelectorTerms in the NodeClass for nodes of Auto Mode",
        ));
    }
}

pub(super) fn outpost_cluster(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let cluster = &facts.inventory.cluster;
    if cluster.outpost_config.is_none() {
        return;
    }
    let managed: Vec<&str> =
        facts.plan.node_groups.iter().filter(|group| group.managed).map(|group| group.name.as_str()).collect();
    if !managed.is_empty() {
        problems.push(Problem::new(
            "outpost-cluster",
            subject(facts),
            format!("a local cluster on Outposts has no managed node groups, but the plan has {}", managed.join(", ")),
            "set `managed: false` on them and describe them",
        ));
    } else if cluster.id.is_none() {
        problems.push(Problem::new(
            "outpost-cluster",
            subject(facts),
            "a local cluster on Outposts needs its id in the user data, and the inventory has none",
            "read the inventory again; the id is `cluster.id` of `aws eks describe-cluster`",
        ));
    }
}

pub(super) fn cluster_not_ready(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let cluster = &facts.inventory.cluster;
    let service_cidr = cluster.service_ipv4_cidr.is_none() && cluster.ip_family.as_deref() != Some("ipv6");
    let missing: Vec<&str> = [
        (cluster.endpoint.is_none(), "endpoint"),
        (cluster.certificate_authority.is_none(), "certificate authority"),
        (service_cidr, "service CIDR"),
    ]
    .into_iter()
    .filter_map(|(is_missing, name)| is_missing.then_some(name))
    .collect();
    if !missing.is_empty() {
        problems.push(Problem::new(
            "cluster-not-ready",
            subject(facts),
            format!(
                "EKS gives no {} for it (status {})",
                missing.join(", no "),
                cluster.status.as_deref().unwrap_or("unknown")
            ),
            format!("wait for `aws eks wait cluster-active --name {}`, then read the inventory again", cluster.name),
        ));
    }
}

pub(super) fn cluster_not_active(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if let Some(status) = facts.inventory.cluster.status.as_deref().filter(|status| *status != "ACTIVE") {
        problems.push(Problem::new(
            "cluster-not-active",
            subject(facts),
            format!("its status is {status}; EKS takes no other change meanwhile, and what was read may be changing"),
            "wait until it is ACTIVE before you apply",
        ));
    }
}

pub(super) fn region_differs(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let Some(wanted) = facts.config.region.as_deref() else { return };
    if wanted != facts.inventory.region {
        problems.push(Problem::new(
            "region-differs",
            subject(facts),
            format!("eniplan.yaml is for {wanted}, the inventory was read in {}", facts.inventory.region),
            "pass the inventory of the right cluster, or correct metadata.region",
        ));
    }
}

/// Names of AWS's that go into paths and into commands that people copy. An inventory is a file, and anybody can write one.
pub(super) fn name_malformed(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let inventory = facts.inventory;
    let clusters = [("cluster", &inventory.cluster.name), ("Region", &inventory.region)];
    let vpc = inventory.cluster.vpc_id.iter().map(|id| ("VPC", id));
    let groups = inventory.node_groups.iter().map(|group| ("node group", &group.name));
    let templates = inventory.launch_templates.iter().map(|template| ("launch template", &template.launch_template_id));
    let subnets = inventory.subnets.iter().map(|subnet| ("subnet", &subnet.subnet_id));
    for (what, name) in clusters.into_iter().chain(vpc).chain(groups).chain(templates).chain(subnets) {
        if !is_aws_name(name) {
            problems.push(Problem::new(
                "name-malformed",
                subject(facts),
                format!(
                    "{} cannot be the name or id of a {what}: AWS gives letters, digits, `-` and `_`",
                    name.escape_debug()
                ),
                "do not use this inventory; read one from the cluster yourself",
            ));
        }
    }
}

/// Source: EKS API reference, `CreateCluster.name`, `CreateNodegroup.nodegroupName`; EC2 user guide, "Resource IDs".
fn is_aws_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

pub(super) fn read_failed(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for gap in &facts.inventory.gaps {
        // Routes feed warnings only, and are stated by `routes-unread`; what only `verify` looks at concerns no plan.
        if gap.source == GapSource::RouteTables
            || OBSERVED.contains(&gap.source)
            || asked_an_endpoint_that_is_missing(facts, gap)
            || replaced_by_add_on(facts, gap)
        {
            continue;
        }
        problems.push(gap_problem("read-failed", gap));
    }
}

/// Without an endpoint there is no API server to ask; `cluster-not-ready` says so once.
fn asked_an_endpoint_that_is_missing(facts: &Facts<'_>, gap: &Gap) -> bool {
    let of_kubernetes =
        matches!(gap.source, GapSource::EniConfigCrd | GapSource::EniConfigs | GapSource::AwsNode | GapSource::Nodes);
    of_kubernetes && facts.inventory.cluster.endpoint.is_none()
}

/// The add-on's values stand in for the DaemonSet.
fn replaced_by_add_on(facts: &Facts<'_>, gap: &Gap) -> bool {
    gap.source == GapSource::AwsNode && facts.inventory.cni_settings().is_some()
}

pub(super) fn aws_node_unread(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for gap in facts.inventory.gaps_in(GapSource::AwsNode).filter(|gap| replaced_by_add_on(facts, gap)) {
        problems.push(gap_problem("aws-node-unread", gap));
    }
}

pub(super) fn routes_unread(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for gap in facts.inventory.gaps_in(GapSource::RouteTables) {
        problems.push(gap_problem("routes-unread", gap));
    }
}

pub(super) fn gap_problem(rule: &'static str, gap: &Gap) -> Problem {
    if gap.missing_file_command().is_some() {
        let help = format!("{}, then run again", gap.remedy());
        return Problem::new(rule, Subject::Read(gap.action.clone()), gap.message.clone(), help);
    }
    let of = gap.asked_of().map_or_else(String::new, |resource| format!(" of {resource}"));
    let code = gap.code.as_ref().map_or_else(String::new, |code| format!(" with {code}"));
    let caller = gap.caller.as_deref().unwrap_or("the caller");
    Problem::new(
        rule,
        Subject::Read(gap.action.clone()),
        format!("it did not succeed{}{code}: {}", of.replacen(" of ", " for ", 1), gap.message),
        format!("allow {caller} to `{}`{of}, then read the cluster again", gap.action),
    )
}
