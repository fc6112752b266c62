//! Rules about the launch templates that groups of the plan use: what EKS refuses, what would surprise.

use std::collections::BTreeMap;

use super::Facts;
use crate::finding::{Problem, Subject};
use crate::inventory::{LaunchTemplate, LaunchTemplateVersion};
use crate::launch_template::LaunchTemplateData;
use crate::plan::{LaunchTemplatePlan, NodeGroupPlan};

struct InUse<'a> {
    group: &'a NodeGroupPlan,
    template: &'a LaunchTemplate,
    version: &'a LaunchTemplateVersion,
}

impl InUse<'_> {
    fn data(&self) -> &LaunchTemplateData {
        &self.version.launch_template_data
    }

    fn subject(&self) -> Subject {
        Subject::LaunchTemplate(self.template.launch_template_id.clone())
    }

    fn place(&self) -> String {
        format!(
            "version {} of {}, used by node group {}",
            self.version.version_number, self.template.launch_template_name, self.group.name
        )
    }
}

fn in_use<'a>(facts: &Facts<'a>) -> Vec<InUse<'a>> {
    facts
        .plan
        .node_groups
        .iter()
        .filter_map(|group| {
            let LaunchTemplatePlan::NewVersion { id, source_version, .. } = group.launch_template.as_ref()? else {
                return None;
            };
            let template = facts.inventory.launch_template(id)?;
            Some(InUse { group, template, version: template.version(*source_version)? })
        })
        .collect()
}

/// Source: EKS user guide, "Customize managed nodes with launch templates", the table of settings that are not allowed.
pub(super) fn forbidden_field(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for used in in_use(facts).iter().filter(|used| used.group.managed) {
        let data = used.data();
        let subnets = data.network_interfaces.iter().filter(|interface| interface.subnet_id.is_some()).count();
        for (is_set, field, instead) in [
            (data.iam_instance_profile.is_some(), "IamInstanceProfile", "the node role of the node group"),
            (subnets > 0, "NetworkInterfaces[].SubnetId", "the subnets of the node group"),
            (
                data.network_interfaces.len() > 1,
                "more than one entry in NetworkInterfaces",
                "one entry; the VPC CNI makes the others",
            ),
            (data.instance_market_options.is_some(), "InstanceMarketOptions", "capacityType SPOT of the node group"),
            (data.hibernation_options.is_some(), "HibernationOptions", "nothing; managed nodes do not hibernate"),
            (
                data.instance_initiated_shutdown_behavior.is_some(),
                "InstanceInitiatedShutdownBehavior",
                "nothing; EKS terminates nodes itself",
            ),
        ] {
            if is_set {
                problems.push(Problem::new(
                    "launch-template-field-forbidden",
                    used.subject(),
                    format!("{} has {field}, which EKS refuses for managed node groups", used.place()),
                    format!("make a version without it; EKS takes {instead}"),
                ));
            }
        }
    }
}

pub(super) fn groups_at_two_levels(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for used in in_use(facts) {
        let data = used.data();
        if !data.security_group_ids.is_empty()
            && data.network_interfaces.iter().any(|interface| !interface.groups.is_empty())
        {
            problems.push(Problem::new(
                "launch-template-groups-twice",
                used.subject(),
                format!(
                    "{} names security groups both for the instance and for an interface; EC2 takes one of them",
                    used.place()
                ),
                "leave either SecurityGroupIds or NetworkInterfaces[].Groups",
            ));
        }
    }
}

pub(super) fn instance_type_twice(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for used in in_use(facts) {
        let of_group = facts
            .inventory
            .node_group(&used.group.name)
            .map(|group| group.instance_types.join(", "))
            .unwrap_or_default();
        if let Some(of_template) = used.data().instance_type.as_deref().filter(|_| !of_group.is_empty()) {
            problems.push(Problem::new(
                "instance-type-twice",
                Subject::NodeGroup(used.group.name.clone()),
                format!("its launch template says {of_template} and the node group {of_group}; EKS takes instance types from one place only"),
                "remove InstanceType from the template",
            ));
        }
    }
}

pub(super) fn without_cluster_security_group(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let Some(cluster_group) = facts.inventory.cluster.cluster_security_group_id.as_deref() else { return };
    for used in in_use(facts) {
        let data = used.data();
        let groups: Vec<&str> = data
            .security_group_ids
            .iter()
            .chain(data.network_interfaces.iter().flat_map(|interface| &interface.groups))
            .map(String::as_str)
            .collect();
        if !groups.is_empty() && !groups.contains(&cluster_group) {
            problems.push(Problem::new(
                "launch-template-without-cluster-group",
                used.subject(),
                format!(
                    "{} names {} and not the cluster security group {cluster_group}; EKS does not add it then",
                    used.place(),
                    groups.join(", ")
                ),
                "add the cluster security group, or make sure that the named groups admit the control plane",
            ));
        }
    }
}

pub(super) fn imds_disabled(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for used in in_use(facts) {
        let endpoint = used.data().metadata_options.as_ref().and_then(|options| options.http_endpoint.as_deref());
        if endpoint == Some("disabled") {
            problems.push(Problem::new(
                "imds-disabled",
                used.subject(),
                format!("{} turns the instance metadata service off; neither nodeadm nor our part can find out where the node is", used.place()),
                "set MetadataOptions.HttpEndpoint to enabled; HttpTokens may stay required",
            ));
        }
    }
}

pub(super) fn shared_between_groups(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for group in &facts.inventory.node_groups {
        if let Some(id) = group.launch_template.as_ref().and_then(|template| template.id.as_deref()) {
            groups.entry(id).or_default().push(&group.name);
        }
    }
    for used in in_use(facts) {
        let Some(sharing) = groups.get(used.template.launch_template_id.as_str()).filter(|names| names.len() > 1)
        else {
            continue;
        };
        problems.push(Problem::new(
            "launch-template-shared",
            used.subject(),
            format!("node groups {} share it; each of them will get a version of its own, and `$Latest` or the default serves one of them only", sharing.join(", ")),
            "name version numbers in each group, and give new groups templates of their own",
        ));
    }
}

pub(super) fn followed_by_alias(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for used in in_use(facts) {
        let version = facts
            .inventory
            .node_group(&used.group.name)
            .and_then(|group| group.launch_template.as_ref()?.version.as_deref());
        if let Some(alias) = version.filter(|version| version.starts_with('$')) {
            problems.push(Problem::new(
                "launch-template-followed-by-alias",
                used.subject(),
                format!("node group {} follows {alias} of {}; a new version reaches its next nodes without an update of the group", used.group.name, used.template.launch_template_name),
                "move the group to a version number before you add versions",
            ));
        }
    }
}
