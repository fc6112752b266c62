//! Each change in a sentence, with what goes with it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::user_data::user_data_texts;
use super::{Action, Described, unified};
use crate::diff::{Change, TemplateRef, VersionRef};
use crate::inventory::{Inventory, LaunchTemplate};
use crate::launch_template::{Base64Bytes, LaunchTemplateData};

/// Tags by which one sees who else writes a launch template. Source: CloudFormation user guide, "Resource tags"; eksctl
/// `pkg/apis/eksctl.io/v1alpha5`, `ClusterNameTag`.
const OWNER_TAGS: [(&str, &str); 2] =
    [("aws:cloudformation:stack-name", "CloudFormation stack"), ("alpha.eksctl.io/cluster-name", "eksctl, cluster")];

/// Describes a change. The inventory is what it is compared with.
pub(super) fn change(change: &Change, inventory: &Inventory) -> Described {
    let mut described = Described {
        action: Action::Change,
        subject: change.subject(),
        sentence: String::new(),
        remarks: Vec::new(),
        texts: Vec::new(),
    };
    fill(&mut described, change, inventory);
    described
}

fn fill(to: &mut Described, change: &Change, inventory: &Inventory) {
    match change {
        Change::ApplyEniConfig { name, manifest, before, take_over } => {
            to.sentence = format!("ENIConfig {name}");
            if before.is_none() {
                to.action = Action::Add;
            }
            taken_over(to, take_over);
            let now = inventory.eni_config(name).map(|object| manifest_of(object, manifest)).unwrap_or_default();
            to.texts.extend(unified(&now, &yaml(manifest), "in the cluster", "planned"));
        }
        Change::CreateLaunchTemplate { node_group, request, client_token: _ } => {
            to.action = Action::Add;
            to.sentence = format!("launch template {} for node group {node_group}", request.launch_template_name);
            to.texts.extend(data_text(&request.launch_template_data));
            to.texts.extend(user_data_texts(None, request.launch_template_data.user_data.as_ref(), "version 1"));
        }
        Change::CreateLaunchTemplateVersion { node_group, request, before: _, client_token: _ } => {
            let template = inventory.launch_template(&request.launch_template_id);
            let source = request.source_version.as_deref();
            to.sentence = format!(
                "launch template {}: a new version{} for node group {node_group}",
                name_of(template, &request.launch_template_id),
                source.map(|number| format!(" from version {number}")).unwrap_or_default()
            );
            let from = template.zip(source.and_then(|number| number.parse().ok()));
            let now = from.and_then(|(template, number)| template.version(number));
            let now = now.and_then(|version| version.launch_template_data.user_data.as_ref());
            new_version(to, template, source, &request.launch_template_data, now);
            if let Some(template) = template {
                warnings(to, template, inventory);
            }
        }
        Change::LabelNode { name, key, value, before } => {
            let now = before.as_ref().map(|value| format!(" (now {value})")).unwrap_or_default();
            to.sentence = format!("node {name} gets label {key}={value}{now}, the ENIConfig that it uses today");
        }
        Change::SetDaemonSetEnv { env, before, take_over, moves } => {
            let changed: BTreeMap<&String, &String> =
                env.iter().filter(|(name, value)| before.get(*name).and_then(Option::as_ref) != Some(*value)).collect();
            to.sentence = format!("CNI settings on the DaemonSet aws-node: {}", settings(&changed, inventory));
            taken_over(to, take_over);
            switched(to, moves);
        }
        Change::UpdateAddOn {
            addon_version,
            service_account_role_arn: _,
            pod_identity_associations: _,
            configuration_values,
            env,
            before,
            overwrite,
            resets,
            moves,
        } => {
            to.sentence = format!("CNI settings of the add-on vpc-cni: {}", settings(&env.iter().collect(), inventory));
            to.remarks.push(format!("the add-on stays at {addon_version}"));
            if *overwrite {
                to.remarks.push("settings that others have made are overwritten".into());
                to.remarks.extend(resets.iter().map(|reset| format!("goes back to the add-on's value: {reset}")));
            }
            let now = before.configuration_values.as_deref().unwrap_or_default();
            to.texts.extend(unified(&pretty(now), &pretty(configuration_values), "values now", "values planned"));
            switched(to, moves);
        }
        Change::CreateAddOn { configuration_values } => {
            to.action = Action::Add;
            to.sentence = "add-on vpc-cni, with the ENIConfigs in its values".into();
            to.texts.extend(unified("", &pretty(configuration_values), "none", "values planned"));
        }
        Change::SetDefaultVersion { launch_template_id, to: target, before } => {
            let template = inventory.launch_template(launch_template_id);
            to.sentence = format!(
                "launch template {}: default version from {} to {}",
                name_of(template, launch_template_id),
                before.default_version_number,
                version(target)
            );
            to.remarks.extend(template.and_then(|template| followers(template, inventory)));
        }
        Change::UpdateNodeGroup {
            name,
            launch_template_id: _,
            to: target,
            release_version,
            nodes,
            expected: _,
            before,
        } => {
            let from = before.launch_template_version.as_deref().unwrap_or("?");
            to.sentence =
                format!("node group {name} moves from version {from} to {}, {}", version(target), replaced(*nodes));
            to.remarks.push(match release_version {
                Some(release) => format!("AMI release stays {release}"),
                None if names_image(inventory, name) => "the launch template names the image".into(),
                None => "AMI release becomes EKS's newest".into(),
            });
        }
        Change::CreateNodeGroup { name, request, template, expected: _ } => {
            to.action = Action::Add;
            to.sentence = format!("node group {name}{}", template.as_ref().map(with_template).unwrap_or_default());
            to.texts.extend(unified("", &yaml(request), "none", "planned"));
        }
        Change::DeleteEniConfig { name, before } => {
            to.action = Action::Delete;
            to.sentence = format!("ENIConfig {name}, which nothing names any more");
            to.remarks.extend(before.subnet.as_ref().map(|subnet| format!("its subnet is {subnet}")));
        }
        Change::DeleteLaunchTemplateVersions { launch_template_id, versions, before: _ } => {
            to.action = Action::Delete;
            let numbers: Vec<String> = versions.iter().map(ToString::to_string).collect();
            to.sentence = format!(
                "launch template {}: {} of eniplan's that {} not in use: {}",
                name_of(inventory.launch_template(launch_template_id), launch_template_id),
                if versions.len() == 1 { "a version" } else { "versions" },
                if versions.len() == 1 { "is" } else { "are" },
                numbers.join(", ")
            );
        }
    }
}

fn new_version(
    to: &mut Described,
    template: Option<&LaunchTemplate>,
    source: Option<&str>,
    data: &LaunchTemplateData,
    now: Option<&Base64Bytes>,
) {
    match source {
        Some(_) => {
            to.remarks.push("everything but the user data stays as it is in that version".into());
            if !data.block_device_mappings.is_empty() {
                to.remarks
                    .push("its disks are sent along unchanged, since EC2 leaves out those made from snapshots".into());
            }
            if now.is_some() && now == data.user_data.as_ref() {
                to.remarks.push(
                    "it says the same: the group's move to it replaces its nodes, and changes nothing else".into(),
                );
            }
            to.texts.extend(user_data_texts(now, data.user_data.as_ref(), "the new version"));
        }
        None => {
            let latest = template.and_then(|template| template.version(template.latest_version_number));
            let latest = latest.map(|version| &version.launch_template_data);
            to.texts.extend(unified(
                &latest.map(plain_data).unwrap_or_default(),
                &plain_data(data),
                "the latest version",
                "the new version",
            ));
            let now = latest.and_then(|data| data.user_data.as_ref());
            to.texts.extend(user_data_texts(now, data.user_data.as_ref(), "the new version"));
        }
    }
}

fn warnings(to: &mut Described, template: &LaunchTemplate, inventory: &Inventory) {
    let ours = template.tags.contains_key(crate::plan::CLUSTER_TAG);
    if !ours {
        let owner = OWNER_TAGS
            .iter()
            .find_map(|(tag, who)| template.tags.get(*tag).map(|name| format!("{who} {name}")))
            .unwrap_or_else(|| "whoever made it (Terraform leaves no tag)".into());
        to.remarks.push(format!("the template is not eniplan's: {owner} may set another version again"));
    }
    to.remarks.extend(followers(template, inventory));
}

/// Who takes a new version without being told to.
fn followers(template: &LaunchTemplate, inventory: &Inventory) -> Option<String> {
    let names: Vec<String> = inventory
        .node_groups
        .iter()
        .filter_map(|group| {
            let used = group.launch_template.as_ref()?;
            let follows = used.version.as_deref().filter(|version| version.starts_with('$'))?;
            (used.id.as_deref() == Some(template.launch_template_id.as_str()))
                .then(|| format!("node group {} ({follows})", group.name))
        })
        .collect();
    (!names.is_empty()).then(|| format!("it is followed by {}", names.join(", ")))
}

fn taken_over(to: &mut Described, owners: &[String]) {
    if !owners.is_empty() {
        to.remarks.push(format!("taken over from {}", owners.join(", ")));
    }
}

fn switched(to: &mut Described, moves: &[String]) {
    if moves.is_empty() {
        return;
    }
    to.remarks.push(
        "from now on, for interfaces that are made new; nodes keep those that they have until they are replaced:"
            .into(),
    );
    to.remarks.extend(moves.iter().map(|moved| format!("  {moved}")));
}

/// `NAME: old → new (held by kubectl-set)`.
fn settings(env: &BTreeMap<&String, &String>, inventory: &Inventory) -> String {
    let aws_node = inventory.aws_node.as_ref();
    env.iter()
        .map(|(name, value)| {
            let now = aws_node.and_then(|aws_node| aws_node.env.get(*name)).map_or("unset", String::as_str);
            let owners: BTreeSet<&str> = aws_node
                .iter()
                .flat_map(|aws_node| &aws_node.managers)
                .filter(|row| row.fields.contains(name))
                .map(|row| row.manager.as_str())
                .collect();
            let owners: Vec<&str> = owners.into_iter().collect();
            let owners = if owners.is_empty() { String::new() } else { format!(" (held by {})", owners.join(", ")) };
            format!("{name}: {now} → {value}{owners}")
        })
        .collect::<Vec<_>>()
        .join(", ")
}

fn name_of(template: Option<&LaunchTemplate>, id: &str) -> String {
    template.map_or_else(|| id.to_owned(), |template| format!("{} ({id})", template.launch_template_name))
}

fn version(version: &VersionRef) -> String {
    match version {
        VersionRef::Number(number) => number.to_string(),
        VersionRef::CreatedBy(group) => format!("the version that this run makes for {group}"),
    }
}

fn with_template(template: &TemplateRef) -> String {
    match (&template.id, &template.version) {
        (Some(id), version) => format!(" on launch template {id}, version {}", self::version(version)),
        (None, _) => " on the launch template that this run makes".into(),
    }
}

fn replaced(nodes: u32) -> String {
    match nodes {
        0 => "no nodes to replace".into(),
        1 => "1 node replaced".into(),
        more => format!("{more} nodes replaced"),
    }
}

fn names_image(inventory: &Inventory, group: &str) -> bool {
    inventory.node_group(group).is_some_and(|group| group.ami_type.as_deref() == Some("CUSTOM"))
}

fn yaml(value: &impl serde::Serialize) -> String {
    serde_saphyr::to_string(value).unwrap_or_default()
}

/// JSON or YAML text as YAML, so that two spellings of the same are the same.
fn pretty(text: &str) -> String {
    match serde_saphyr::from_str::<Value>(text) {
        Ok(Value::Null) => String::new(),
        Ok(value) => yaml(&value),
        Err(_) => text.to_owned(),
    }
}

/// The object that is there, in the shape of the manifest.
fn manifest_of(object: &crate::inventory::EniConfig, manifest: &Value) -> String {
    let mut now = manifest.clone();
    if let Some(spec) = now.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("subnet".into(), object.subnet.clone().map_or(Value::Null, Value::String));
        spec.remove("securityGroups");
        if !object.security_groups.is_empty() {
            spec.insert("securityGroups".into(), object.security_groups.clone().into());
        }
    }
    yaml(&now)
}

fn plain_data(data: &LaunchTemplateData) -> String {
    yaml(&LaunchTemplateData { user_data: None, ..data.clone() })
}

fn data_text(data: &LaunchTemplateData) -> Option<String> {
    unified("", &plain_data(data), "none", "version 1")
}
