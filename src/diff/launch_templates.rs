//! Launch templates: new ones, and new versions where the user data differs by meaning.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::replacement::{Replacement, may_change, template_in_use};
use super::{Change, Facts, Found, LaunchTemplateBefore, TemplateRef, VersionRef};
use crate::finding::{Problem, Subject};
use crate::inventory::{LaunchTemplate, LaunchTemplateVersion};
use crate::launch_template::LaunchTemplateData;
use crate::plan::is_ours;
use crate::render::{CreateLaunchTemplate, CreateLaunchTemplateVersion, LaunchTemplateRequest, same_version_again};
use crate::user_data;

/// The version that each node group is to use, by the group's name.
pub(super) type Versions = BTreeMap<String, TemplateRef>;

/// Digits of a client token. Source: EC2 API reference, "Ensuring idempotency": at most 64 ASCII characters.
const CLIENT_TOKEN_DIGITS: usize = 64;

pub(super) fn changes(
    facts: &Facts<'_>,
    wanted: bool,
    replacements: &BTreeMap<String, Replacement<'_>>,
    found: &mut Found,
) -> Versions {
    let mut versions = Versions::new();
    for (name, group) in &facts.rendered.node_groups {
        let again = wanted && replacements.contains_key(name);
        let target = match &group.launch_template {
            None => untouched(facts, name, again, found),
            Some(LaunchTemplateRequest::Create(request)) => create(facts, name, request, wanted, found),
            Some(LaunchTemplateRequest::CreateVersion(request)) => {
                create_version(facts, name, request, (wanted, again), found)
            }
        };
        if let Some(target) = target {
            versions.insert(name.clone(), target);
        }
    }
    versions
}

fn create(
    facts: &Facts<'_>,
    group: &str,
    request: &CreateLaunchTemplate,
    wanted: bool,
    found: &mut Found,
) -> Option<TemplateRef> {
    let name = &request.launch_template_name;
    let there = facts.inventory.launch_templates.iter().find(|template| template.launch_template_name == *name);
    let Some(template) = there else {
        if !wanted {
            return None;
        }
        let client_token = hashed(&[name, &request.version_description, &json(&request.launch_template_data)]);
        found.changes.push(Change::CreateLaunchTemplate {
            node_group: group.into(),
            request: request.clone(),
            client_token,
        });
        return Some(TemplateRef { id: None, version: VersionRef::CreatedBy(group.into()) });
    };
    if !is_ours(&template.tags, &facts.plan.cluster, group) {
        found.problems.push(Problem::new(
            "launch-template-name-taken",
            Subject::LaunchTemplate(template.launch_template_id.clone()),
            format!("node group {group} is to get a launch template called {name}, and one of that name exists without eniplan's tags"),
            "delete or rename it, or describe the group with `launchTemplate` and `adopt: true` if it is the one to use",
        ));
        return None;
    }
    if let Some(same) =
        newest(template).find(|version| is_same(&version.launch_template_data, &request.launch_template_data))
    {
        return Some(TemplateRef {
            id: Some(template.launch_template_id.clone()),
            version: VersionRef::Number(same.version_number),
        });
    }
    // All fields are ours, so that all of them are sent and none is taken from a version that is there.
    let request = CreateLaunchTemplateVersion {
        launch_template_id: template.launch_template_id.clone(),
        source_version: None,
        version_description: request.version_description.clone(),
        launch_template_data: request.launch_template_data.clone(),
    };
    new_version(group, template, request, wanted, found)
}

fn create_version(
    facts: &Facts<'_>,
    group: &str,
    request: &CreateLaunchTemplateVersion,
    (wanted, again): (bool, bool),
    found: &mut Found,
) -> Option<TemplateRef> {
    let template = facts.inventory.launch_template(&request.launch_template_id)?;
    let in_use = request
        .source_version
        .as_ref()
        .and_then(|number| number.parse().ok())
        .and_then(|number| template.version(number))?;
    let id = Some(template.launch_template_id.clone());
    if same_user_data(&in_use.launch_template_data, &request.launch_template_data) {
        return the_same_again(group, template, in_use.version_number, again, found)
            .or(Some(TemplateRef { id, version: VersionRef::Number(in_use.version_number) }));
    }
    // Made by a run that did not get as far as the node group.
    let made_already = newest(template).find(|version| {
        version.version_number != in_use.version_number
            && version.version_description.as_deref() == Some(request.version_description.as_str())
            && same_user_data(&version.launch_template_data, &request.launch_template_data)
            && same_but_for_user_data(&version.launch_template_data, &in_use.launch_template_data)
    });
    if let Some(version) = made_already {
        return Some(TemplateRef { id, version: VersionRef::Number(version.version_number) });
    }
    new_version(group, template, request.clone(), wanted, found)
}

/// A group whose launch template the plan leaves alone; only its nodes may have to be replaced.
fn untouched(facts: &Facts<'_>, group: &str, again: bool, found: &mut Found) -> Option<TemplateRef> {
    let (template, in_use) = template_in_use(facts, facts.inventory.node_group(group)?)?;
    may_change(facts, template, group).then(|| the_same_again(group, template, in_use, again, found)).flatten()
}

/// The version that says the same as the one in use, so that a group's nodes are replaced by moving to it: one that an
/// earlier run made for that and did not move to, or a new one where `again` asks for it.
fn the_same_again(
    group: &str,
    template: &LaunchTemplate,
    in_use: i64,
    again: bool,
    found: &mut Found,
) -> Option<TemplateRef> {
    let request = same_version_again(group, template, in_use)?;
    let made_already = newest(template).find(|version| {
        version.version_number > in_use
            && version.version_description.as_deref() == Some(request.version_description.as_str())
    });
    if let Some(version) = made_already {
        let id = Some(template.launch_template_id.clone());
        return Some(TemplateRef { id, version: VersionRef::Number(version.version_number) });
    }
    new_version(group, template, request, again, found)
}

fn new_version(
    group: &str,
    template: &LaunchTemplate,
    request: CreateLaunchTemplateVersion,
    wanted: bool,
    found: &mut Found,
) -> Option<TemplateRef> {
    if !wanted {
        return None;
    }
    let before = LaunchTemplateBefore::of(template);
    let client_token = client_token(&before, &request);
    found.changes.push(Change::CreateLaunchTemplateVersion { node_group: group.into(), request, before, client_token });
    Some(TemplateRef { id: Some(template.launch_template_id.clone()), version: VersionRef::CreatedBy(group.into()) })
}

fn newest(template: &LaunchTemplate) -> impl Iterator<Item = &LaunchTemplateVersion> {
    template.versions.iter().rev()
}

fn is_same(there: &LaunchTemplateData, wanted: &LaunchTemplateData) -> bool {
    same_user_data(there, wanted) && says_the_same(&without_user_data(there), &without_user_data(wanted))
}

fn same_but_for_user_data(there: &LaunchTemplateData, wanted: &LaunchTemplateData) -> bool {
    without_user_data(there) == without_user_data(wanted)
}

fn without_user_data(data: &LaunchTemplateData) -> Value {
    let data = LaunchTemplateData { user_data: None, ..data.clone() };
    serde_json::to_value(data).unwrap_or_default()
}

/// Whether a version has the fields that are wanted and no other. EC2 shows more inside a field than was sent, such as
/// the `State` of metadata options.
fn says_the_same(there: &Value, wanted: &Value) -> bool {
    let names = |value: &Value| value.as_object().map(|fields| fields.keys().cloned().collect::<BTreeSet<_>>());
    names(there) == names(wanted) && contains(there, wanted)
}

fn contains(there: &Value, wanted: &Value) -> bool {
    match (there, wanted) {
        (Value::Object(there), Value::Object(wanted)) => {
            wanted.iter().all(|(name, wanted)| there.get(name).is_some_and(|there| contains(there, wanted)))
        }
        (Value::Array(there), Value::Array(wanted)) => {
            there.len() == wanted.len() && there.iter().zip(wanted).all(|(there, wanted)| contains(there, wanted))
        }
        _ => there == wanted,
    }
}

/// By meaning: boundary, transfer encoding and compression do not count.
fn same_user_data(there: &LaunchTemplateData, wanted: &LaunchTemplateData) -> bool {
    let bytes = |data: &LaunchTemplateData| data.user_data.as_ref().map(|bytes| bytes.0.clone()).unwrap_or_default();
    let (there, wanted) = (bytes(there), bytes(wanted));
    if there == wanted {
        return true;
    }
    match (user_data::read(&there), user_data::read(&wanted)) {
        (Ok(there), Ok(wanted)) => user_data::compare::equivalent(&there, &wanted),
        _ => false,
    }
}

/// A retried request makes one version; the same content over another state of the template makes a new one.
fn client_token(before: &LaunchTemplateBefore, request: &CreateLaunchTemplateVersion) -> String {
    hashed(&[
        &before.id,
        &before.latest_version_number.to_string(),
        request.source_version.as_deref().unwrap_or_default(),
        &request.version_description,
        &json(&request.launch_template_data),
    ])
}

fn json(data: &LaunchTemplateData) -> String {
    serde_json::to_string(data).unwrap_or_default()
}

fn hashed(pieces: &[&str]) -> String {
    let mut hash = Sha256::new();
    for piece in pieces {
        hash.update(piece.len().to_be_bytes());
        hash.update(piece);
    }
    let token: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    token.chars().take(CLIENT_TOKEN_DIGITS).collect()
}
