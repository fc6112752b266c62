//! Rules about the state of the node groups of the plan, and about what a new group still lacks.

use super::Facts;
use crate::finding::{Problem, Subject};
use crate::plan::{LaunchTemplatePlan, NodeGroupPlan};

fn subject(group: &NodeGroupPlan) -> Subject {
    Subject::NodeGroup(group.name.clone())
}

pub(super) fn node_group_busy(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for group in &facts.plan.node_groups {
        let status = facts.inventory.node_group(&group.name).and_then(|known| known.status.as_deref());
        if let Some(status) = status.filter(|status| !matches!(*status, "ACTIVE" | "DEGRADED")) {
            problems.push(Problem::new(
                "node-group-busy",
                subject(group),
                format!("its status is {status}; EKS takes no other update meanwhile"),
                if status == "DELETING" {
                    "take the group out of eniplan.yaml; it is being deleted"
                } else {
                    "wait until it is ACTIVE: `aws eks wait nodegroup-active`"
                },
            ));
        }
    }
}

pub(super) fn node_group_unhealthy(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for group in &facts.plan.node_groups {
        let Some(known) = facts.inventory.node_group(&group.name) else { continue };
        if known.status.as_deref() == Some("DEGRADED") || !known.health_issues.is_empty() {
            let issues = if known.health_issues.is_empty() {
                "no issue is named".to_owned()
            } else {
                known.health_issues.join("; ")
            };
            problems.push(Problem::new(
                "node-group-unhealthy",
                subject(group),
                format!("EKS reports it as {}: {issues}", known.status.as_deref().unwrap_or("unknown")),
                "settle these issues first; an update of an unhealthy group can fail half-way",
            ));
        }
    }
}

pub(super) fn new_group_incomplete(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for group in &facts.plan.node_groups {
        let Some(create) = &group.create else { continue };
        let missing: Vec<&str> = [
            (create.node_role.is_none(), "nodeRole"),
            (create.scaling.is_none(), "scaling"),
            (create.instance_types.is_empty(), "instanceTypes"),
        ]
        .into_iter()
        .filter_map(|(is_missing, name)| is_missing.then_some(name))
        .collect();
        if !missing.is_empty() {
            problems.push(Problem::new(
                "new-group-incomplete",
                subject(group),
                format!("EKS does not have it yet, and eniplan.yaml does not say its {}", missing.join(", ")),
                "describe the group fully, or fill the gaps of create-nodegroup.json before you use it",
            ));
        }
    }
}

pub(super) fn self_managed_without_image(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for group in facts.plan.node_groups.iter().filter(|group| !group.managed) {
        let without_image = match &group.launch_template {
            Some(LaunchTemplatePlan::Create { image_id, .. }) => image_id.is_none(),
            Some(LaunchTemplatePlan::NewVersion { id, source_version, .. }) => facts
                .inventory
                .launch_template(id)
                .and_then(|template| template.version(*source_version))
                .is_some_and(|version| version.launch_template_data.image_id.is_none()),
            None => false,
        };
        if without_image {
            problems.push(Problem::new(
                "self-managed-without-image",
                subject(group),
                "it is not managed, so that nobody but its launch template can name the image, and none is named",
                "set `imageId` on the group, for example resolve:ssm:/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id",
            ));
        }
    }
}

pub(super) fn self_managed_incomplete(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for group in facts.plan.node_groups.iter().filter(|group| !group.managed) {
        if matches!(group.launch_template, Some(LaunchTemplatePlan::Create { .. })) {
            problems.push(Problem::new(
                "self-managed-template-incomplete",
                subject(group),
                "its new launch template names no instance profile, which only you know; an instance without the node role cannot join",
                "add IamInstanceProfile to launch-template-data.json before you create the template, or name an existing `launchTemplate` with `adopt: true`",
            ));
        }
    }
}

pub(super) fn not_carried_over(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for group in &facts.plan.node_groups {
        let Some(replaced) =
            group.create.as_ref().and_then(|create| facts.inventory.node_group(create.replaces.as_deref()?))
        else {
            continue;
        };
        let sources =
            replaced.remote_access.as_ref().map(|access| access.source_security_groups.join(", ")).unwrap_or_default();
        if !sources.is_empty() {
            problems.push(Problem::new(
                "not-carried-over",
                subject(group),
                format!("{} lets {sources} open SSH; with a launch template EKS does not make that rule, and eniplan does not either", replaced.name),
                "add a rule for port 22 to the cluster security group if SSH is still wanted",
            ));
        }
    }
}

pub(super) fn no_node_groups(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if facts.config.node_groups.is_empty() && !facts.inventory.cluster.auto_mode {
        problems.push(Problem::new(
            "no-node-groups",
            Subject::Cluster(facts.inventory.cluster.name.clone()),
            "eniplan.yaml plans no node group; only ENIConfigs and CNI settings are written",
            "name the groups under spec.nodeGroups; `eniplan init` proposes them",
        ));
    }
}
