//! Rules about the ENIConfigs of the plan, those in the cluster, and their security groups.

use super::Facts;
use crate::finding::{Problem, Subject};
use crate::inventory::{GapSource, SecurityGroup, SecurityGroupRule};
use crate::plan::{EniConfigPlan, NO_MATCH};
use crate::resolve::DEFAULT_ENI_CONFIG;

/// Security groups that one interface may have by default, and at most. Source: VPC user guide, "Amazon VPC quotas".
const GROUPS_BY_DEFAULT: usize = 5;
const GROUPS_AT_MOST: usize = 16;

fn subject(eni_config: &EniConfigPlan) -> Subject {
    Subject::EniConfig(eni_config.name.clone())
}

fn groups_were_read(facts: &Facts<'_>) -> bool {
    facts.inventory.gaps_in(GapSource::SecurityGroups).next().is_none()
}

pub(super) fn security_group_unknown(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if !groups_were_read(facts) {
        return;
    }
    for eni_config in &facts.plan.eni_configs {
        for group in eni_config.security_groups.iter().filter(|group| facts.inventory.security_group(group).is_none()) {
            problems.push(Problem::new(
                "security-group-unknown",
                subject(eni_config),
                format!("its security group {group} does not exist in this account and Region"),
                "correct the id; `aws ec2 describe-security-groups` lists what there is",
            ));
        }
    }
}

pub(super) fn security_group_of_other_vpc(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let Some(vpc) = facts.inventory.cluster.vpc_id.as_deref() else { return };
    for eni_config in &facts.plan.eni_configs {
        for group in eni_config.security_groups.iter().filter_map(|id| facts.inventory.security_group(id)) {
            if let Some(other) = group.vpc_id.as_deref().filter(|other| *other != vpc) {
                problems.push(Problem::new(
                    "security-group-of-other-vpc",
                    subject(eni_config),
                    format!(
                        "its security group {} belongs to {other}, the cluster to {vpc}; EC2 refuses every interface",
                        group.group_id
                    ),
                    "name a security group of the cluster's VPC",
                ));
            }
        }
    }
}

pub(super) fn security_groups_empty(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for eni_config in facts.plan.eni_configs.iter().filter(|eni_config| eni_config.security_groups.is_empty()) {
        problems.push(Problem::new(
            "security-groups-empty",
            subject(eni_config),
            "it names no security groups, so that its pods get those of their node's primary interface",
            "name the groups if pods are to have others than nodes",
        ));
    }
}

pub(super) fn too_many_security_groups(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for eni_config in &facts.plan.eni_configs {
        let count = eni_config.security_groups.len();
        if count > GROUPS_BY_DEFAULT {
            problems.push(Problem::new(
                "too-many-security-groups",
                subject(eni_config),
                format!("it names {count} security groups; an interface takes {GROUPS_BY_DEFAULT} by default and {GROUPS_AT_MOST} at most"),
                "name fewer, or have the quota L-2AFB9258 raised",
            ));
        }
    }
}

/// Pods need DNS, the API server's webhooks and kubelet's probes; the cluster security group admits all of them.
pub(super) fn cluster_security_group_missing(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let Some(cluster_group) = facts.inventory.cluster.cluster_security_group_id.as_deref() else { return };
    for eni_config in &facts.plan.eni_configs {
        let groups = &eni_config.security_groups;
        if groups.is_empty() || groups.iter().any(|group| group == cluster_group) {
            continue;
        }
        let known: Vec<&SecurityGroup> = groups.iter().filter_map(|id| facts.inventory.security_group(id)).collect();
        let closed: Vec<&str> = [
            ("kubelet's probes from the nodes", Port::AnyTcp),
            ("DNS over UDP", Port::Udp(53)),
            ("DNS over TCP", Port::Tcp(53)),
        ]
        .into_iter()
        .filter(|(_, port)| !known.iter().any(|group| admits(group, cluster_group, *port)))
        .map(|(what, _)| what)
        .collect();
        let names = groups.join(", ");
        let message = if known.len() < groups.len() {
            format!("its groups {names} do not include the cluster security group {cluster_group}")
        } else if closed.is_empty() {
            format!(
                "its groups {names} do not include the cluster security group {cluster_group}; their rules admit DNS and probes, but webhooks depend on their ports"
            )
        } else {
            format!(
                "its groups {names} do not include the cluster security group {cluster_group}, and no rule admits from it: {}",
                closed.join(", ")
            )
        };
        problems.push(Problem::new(
            "cluster-security-group-missing",
            subject(eni_config),
            message,
            format!("add {cluster_group}, or rules that admit it for DNS (53 TCP and UDP), webhooks and probes; eniplan adds no group by itself"),
        ));
    }
}

/// Rules of all groups of an interface add up; where one group is not known, nothing can be said.
pub(super) fn security_groups_let_no_dns_out(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for eni_config in facts.plan.eni_configs.iter().filter(|eni_config| !eni_config.security_groups.is_empty()) {
        let known: Option<Vec<&SecurityGroup>> =
            eni_config.security_groups.iter().map(|id| facts.inventory.security_group(id)).collect();
        let Some(known) = known else { continue };
        let lets_out =
            |group: &&SecurityGroup| group.ip_permissions_egress.iter().any(|rule| passes(rule, Port::Udp(53)));
        if !known.iter().any(lets_out) {
            problems.push(Problem::new(
                "security-groups-let-no-dns-out",
                subject(eni_config),
                format!(
                    "no rule of its groups {} lets UDP port 53 out, so that its pods resolve no name",
                    eni_config.security_groups.join(", ")
                ),
                "add an egress rule for DNS (53 TCP and UDP) to the addresses of the CoreDNS pods, or to everywhere",
            ));
        }
    }
}

#[derive(Clone, Copy)]
enum Port {
    AnyTcp,
    Tcp(i64),
    Udp(i64),
}

fn admits(group: &SecurityGroup, from: &str, port: Port) -> bool {
    let reaches = |rule: &SecurityGroupRule| {
        rule.user_id_group_pairs.iter().any(|pair| pair == from)
            || !rule.ip_ranges.is_empty()
            || !rule.prefix_list_ids.is_empty()
    };
    group.ip_permissions.iter().filter(|rule| reaches(rule)).any(|rule| passes(rule, port))
}

/// Whether a rule is for this protocol and port, whoever is at the other end.
fn passes(rule: &SecurityGroupRule, port: Port) -> bool {
    let covers = |number: i64| {
        rule.from_port.is_none_or(|first| first <= number) && rule.to_port.is_none_or(|last| number <= last)
    };
    match (port, rule.ip_protocol.as_str()) {
        (_, "-1") | (Port::AnyTcp, "tcp" | "6") => true,
        (Port::Tcp(number), "tcp" | "6") | (Port::Udp(number), "udp" | "17") => covers(number),
        _ => false,
    }
}

pub(super) fn eniconfig_named_default(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let planned = facts.plan.eni_configs.iter().any(|eni_config| eni_config.name == DEFAULT_ENI_CONFIG);
    if planned || facts.inventory.eni_config(DEFAULT_ENI_CONFIG).is_some() {
        problems.push(Problem::new(
            "eniconfig-named-default",
            Subject::EniConfig(DEFAULT_ENI_CONFIG.into()),
            "an ENIConfig of this name serves every node that names none: a forgotten label then puts pods silently into its subnet instead of keeping the node NotReady",
            "use another name, and delete the object once no node resolves to it",
        ));
    }
}

pub(super) fn eniconfig_named_no_match(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if facts.inventory.eni_config(NO_MATCH).is_some() {
        problems.push(Problem::new(
            "eniconfig-named-no-match",
            Subject::EniConfig(NO_MATCH.into()),
            "an ENIConfig of this name is in the cluster; nodes that found no row for their subnet would use it instead of failing",
            format!("delete it: `kubectl delete eniconfig {NO_MATCH}`"),
        ));
    }
}

pub(super) fn eniconfig_owned_by_helm(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for planned in &facts.plan.eni_configs {
        let Some(existing) = facts.inventory.eni_config(&planned.name) else { continue };
        let differs = existing.subnet.as_deref() != Some(planned.subnet_id.as_str())
            || existing.security_groups != planned.security_groups;
        if existing.owned_by_helm() && differs {
            problems.push(Problem::new(
                "eniconfig-owned-by-helm",
                subject(planned),
                "a Helm release owns it, and the next upgrade would revert what eniplan changes",
                "change it in the release's values, under `eniConfig.subnets`",
            ));
        }
    }
}

pub(super) fn eniconfig_malformed(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for eni_config in facts
        .inventory
        .eni_configs
        .iter()
        .filter(|eni_config| eni_config.subnet.as_deref().unwrap_or_default().is_empty())
    {
        problems.push(Problem::new(
            "eniconfig-malformed",
            Subject::EniConfig(eni_config.name.clone()),
            "the object in the cluster names no subnet; such an object can hang aws-node on every node",
            "correct or delete it",
        ));
    }
}
