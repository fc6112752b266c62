//! Node groups: which template version they are to use, and groups that do not exist yet.

use std::collections::BTreeMap;

use serde_json::Value;

use super::launch_templates::Versions;
use super::new_nodes::{expected, not_as_expected};
use super::replacement::{Replacement, is_from, template_in_use};
use super::{Awaiting, Change, Facts, Found, LaunchTemplateBefore, NodeGroupBefore, TemplateRef, VersionRef};
use crate::finding::{Problem, Subject};
use crate::inventory::{CniSettings, Node, NodeGroup};
use crate::plan::{Bootstrap, NodeGroupPlan};

pub(super) fn changes(
    facts: &Facts<'_>,
    versions: &Versions,
    replacements: &BTreeMap<String, Replacement<'_>>,
    found: &mut Found,
) {
    if facts.options.set_default {
        for target in versions.values() {
            set_default(facts, target, found);
        }
    }
    let unproved = unproved(facts, versions);
    for group in &facts.plan.node_groups {
        match (&group.create, facts.inventory.node_group(&group.name)) {
            (_, Some(known)) => match versions.get(&group.name).filter(|target| !uses(facts, known, target)) {
                Some(_) if facts.options.roll && !unproved.is_empty() => hold_back(known, &unproved, found),
                Some(target) => update(facts, group, known, target, found),
                None => replace_by_hand(known, replacements.get(&group.name), found),
            },
            (Some(_), None) => create(facts, group, versions.get(&group.name), found),
            (None, None) => {}
        }
    }
}

fn set_default(facts: &Facts<'_>, target: &TemplateRef, found: &mut Found) {
    // The first version of a new template is its default already.
    let Some(template) = target.id.as_deref().and_then(|id| facts.inventory.launch_template(id)) else { return };
    if target.version == VersionRef::Number(template.default_version_number) {
        return;
    }
    found.changes.push(Change::SetDefaultVersion {
        launch_template_id: template.launch_template_id.clone(),
        to: target.version.clone(),
        before: LaunchTemplateBefore::of(template),
    });
}

/// The version that a group uses, as a number.
fn version_in_use(facts: &Facts<'_>, known: &NodeGroup) -> Option<i64> {
    template_in_use(facts, known).map(|(_, number)| number)
}

fn uses(facts: &Facts<'_>, known: &NodeGroup, target: &TemplateRef) -> bool {
    matches!(target.version, VersionRef::Number(number) if version_in_use(facts, known) == Some(number))
}

/// Nodes that were launched from the version that their group is to use, and are not as planned, each in a sentence. An
/// earlier run has stopped at them.
fn unproved(facts: &Facts<'_>, versions: &Versions) -> Vec<String> {
    let Some(settings) = facts.inventory.cni_settings().filter(CniSettings::custom_networking) else {
        return Vec::new();
    };
    if facts.plan.cni.switch {
        return Vec::new();
    }
    let existing = facts.inventory.eni_configs.iter().map(|eni_config| eni_config.name.clone());
    let planned = facts.plan.eni_configs.iter().map(|eni_config| eni_config.name.clone());
    let eni_configs = existing.chain(planned).collect();
    let mut wrong = Vec::new();
    for group in &facts.plan.node_groups {
        let Some(known) = facts.inventory.node_group(&group.name) else { continue };
        let Some((_, in_use)) = template_in_use(facts, known) else { continue };
        if versions.get(&group.name).is_none_or(|target| !uses(facts, known, target)) {
            continue;
        }
        let nodes: Vec<Node> =
            facts.inventory.nodes_of(&group.name).filter(|node| is_from(node, in_use)).cloned().collect();
        wrong.extend(not_as_expected(&nodes, &settings, &eni_configs, &expected(group)));
    }
    wrong
}

fn hold_back(known: &NodeGroup, unproved: &[String], found: &mut Found) {
    found.awaiting.push(Awaiting {
        subject: Subject::NodeGroup(known.name.clone()),
        what: format!("is not moved, since nodes of a group that was moved before it are not as planned: {}", unproved.join("; ")),
        how: "remove the cause and let these nodes be replaced, or `apply --rollback` their group; --node-group moves this group alone".into(),
        gated: true,
    });
}

/// Where no version can be made that says the same, nothing but the user replaces the nodes.
fn replace_by_hand(known: &NodeGroup, replacement: Option<&Replacement<'_>>, found: &mut Found) {
    let Some(Replacement { nodes, why }) = replacement else { return };
    let commands = nodes.iter().map(|node| {
        let instance = node.instance_id.as_deref().unwrap_or("INSTANCE");
        format!(
            "kubectl drain {} --ignore-daemonsets --delete-emptydir-data && aws ec2 terminate-instances --instance-ids {instance}",
            node.name
        )
    });
    let first = "one after the other, when the run is over; the group launches new nodes:".to_owned();
    found.await_user(
        Subject::NodeGroup(known.name.clone()),
        format!(
            "{} of its nodes {why} until they are replaced, and no launch-template version of eniplan's replaces them",
            nodes.len()
        ),
        std::iter::once(first).chain(commands).collect::<Vec<_>>().join("\n"),
    );
}

fn update(facts: &Facts<'_>, group: &NodeGroupPlan, known: &NodeGroup, target: &TemplateRef, found: &mut Found) {
    let Some(used) = &known.launch_template else { return };
    let in_use = version_in_use(facts, known);
    let nodes = node_count(facts, known);
    let to = match &target.version {
        VersionRef::Number(number) => format!("version {number}"),
        VersionRef::CreatedBy(_) => "the new version".to_owned(),
    };
    let subject = Subject::NodeGroup(known.name.clone());
    if !facts.options.roll {
        found.await_user(
            subject,
            format!(
                "stays on launch-template version {}, its {nodes} nodes are not replaced by {to}",
                in_use.map_or("?".into(), |number| number.to_string())
            ),
            "--roll updates the node groups, one at a time",
        );
        return;
    }
    if let Some(status) =
        known.status.as_deref().filter(|status| !matches!(*status, "ACTIVE" | "DEGRADED" | "UPDATING"))
    {
        found.problems.push(Problem::new(
            "node-group-cannot-be-updated",
            subject,
            format!("its status is {status}"),
            "wait until it is ACTIVE, then run again",
        ));
        return;
    }
    let Some(launch_template_id) = target.id.clone().or_else(|| used.id.clone()) else { return };
    let names_image = group.bootstrap != Bootstrap::Eks;
    let release_version = known.release_version.clone().filter(|_| !names_image && !facts.options.latest_ami);
    found.changes.push(Change::UpdateNodeGroup {
        name: known.name.clone(),
        launch_template_id,
        to: target.version.clone(),
        release_version,
        nodes,
        expected: expected(group),
        before: NodeGroupBefore::of(known),
    });
}

fn node_count(facts: &Facts<'_>, known: &NodeGroup) -> u32 {
    let live = facts.inventory.nodes_of(&known.name).count();
    let desired = known.scaling_config.map_or(0, |scaling| scaling.desired_size);
    u32::try_from(live).unwrap_or(u32::MAX).max(desired)
}

fn create(facts: &Facts<'_>, group: &NodeGroupPlan, target: Option<&TemplateRef>, found: &mut Found) {
    let subject = Subject::NodeGroup(group.name.clone());
    let Some(text) =
        facts.rendered.node_groups.get(&group.name).and_then(|rendered| rendered.create_node_group.as_ref())
    else {
        return;
    };
    let Ok(mut request) = serde_json::from_str::<Value>(text) else { return };
    let complete = group.create.as_ref().is_some_and(|create| {
        create.node_role.is_some()
            && create.scaling.is_some()
            && !create.instance_types.is_empty()
            && !create.subnets.is_empty()
    });
    if !complete {
        found.await_user(
            subject,
            "does not exist, and eniplan.yaml does not describe it fully",
            format!("fill in node-groups/{0}/create-nodegroup.json of `eniplan generate`, then `aws eks create-nodegroup --cli-input-json file://node-groups/{0}/create-nodegroup.json`", group.name),
        );
        return;
    }
    if !facts.options.roll {
        found.await_user(subject, "does not exist yet", "--roll creates it");
        return;
    }
    if group.launch_template.is_some() && target.is_none() {
        found.await_user(
            subject,
            "does not exist yet, and neither does its launch template",
            "apply the stage launch-templates too",
        );
        return;
    }
    // The reference replaces what stands for it in the file.
    if let Some(fields) = request.as_object_mut() {
        fields.remove("launchTemplate");
    }
    found.changes.push(Change::CreateNodeGroup {
        name: group.name.clone(),
        request,
        template: target.cloned(),
        expected: expected(group),
    });
}
