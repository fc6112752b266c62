//! The cluster's add-on and node groups, and what those are made from.

use std::collections::{BTreeMap, BTreeSet};

use super::document::Document;
use super::eks::{DescribeAddon, DescribeNodegroup, ListAddons, ListNodegroups};
use super::folder::Folder;
use super::instances::{DescribeImages, DescribeInstanceTypes};
use super::names;
use super::templates::{DescribeLaunchTemplateVersions, DescribeLaunchTemplates};
use crate::error::Error;
use crate::inventory::named::{AlsoRead, Named};
use crate::inventory::{AddOn, Cluster, Image, InstanceType, LaunchTemplate, LaunchTemplateVersion, Node, NodeGroup};

const VPC_CNI: &str = "vpc-cni";

/// The add-on; absent when the list of all names none, or, without that list, when nothing is known of it.
pub(super) fn add_on(folder: &mut Folder<'_>, cluster: &Cluster) -> Result<Option<AddOn>, Error> {
    let listed = folder.one(names::ADD_ONS).map(Document::answer::<ListAddons>).transpose()?;
    if let Some(document) = folder.one(names::ADD_ON) {
        let answer = document.answer::<DescribeAddon>()?.addon;
        is_of(document, answer.cluster_name.as_deref(), cluster)?;
        if let Some(name) = answer.addon_name.as_deref().filter(|name| *name != VPC_CNI) {
            return Err(document.wrong("\"addonName\"", format!("it is the add-on {name}, not {VPC_CNI}")));
        }
        return Ok(Some(answer.into()));
    }
    if listed.is_none_or(|list| list.addons.iter().any(|name| name == VPC_CNI)) {
        folder.gap_unless(names::ADD_ON, "there is no such add-on", names::ADD_ONS);
    }
    Ok(None)
}

/// The node groups, those of the list or, without one, those that have a file.
pub(super) fn node_groups(folder: &mut Folder<'_>, cluster: &Cluster, nodes: &[Node]) -> Result<Vec<NodeGroup>, Error> {
    let listed = folder.one(names::NODE_GROUPS).map(Document::answer::<ListNodegroups>).transpose()?;
    let mut found: BTreeMap<String, NodeGroup> = BTreeMap::new();
    for document in folder.all(names::NODE_GROUP) {
        let answer = document.answer::<DescribeNodegroup>()?.nodegroup;
        is_of(document, answer.cluster_name.as_deref(), cluster)?;
        let group = NodeGroup::from(answer);
        let name = group.name.clone();
        if listed.as_ref().is_some_and(|list| !list.nodegroups.contains(&name)) {
            let message = format!("it is the node group {name}, which list-nodegroups.json does not have");
            return Err(document.wrong("\"nodegroupName\"", message));
        }
        if found.insert(name.clone(), group).is_some() {
            return Err(document.wrong("\"nodegroupName\"", format!("another file is the node group {name}, too")));
        }
    }
    let mut wanted: BTreeSet<String> = nodes.iter().filter_map(Node::node_group).map(str::to_owned).collect();
    match listed {
        // Nodes outlive their group for a while.
        Some(list) => wanted = list.nodegroups.into_iter().collect(),
        None if found.is_empty() && wanted.is_empty() => folder.gap(names::NODE_GROUPS),
        None => {}
    }
    for name in wanted.into_iter().filter(|name| !found.contains_key(name)) {
        folder.fill_in("NODEGROUP", &name);
        let reason = format!("the folder has no file of the node group {name}");
        folder.gap_because(names::NODE_GROUP, reason);
    }
    Ok(found.into_values().collect())
}

fn is_of(document: &Document<'_>, name: Option<&str>, cluster: &Cluster) -> Result<(), Error> {
    match name.filter(|name| *name != cluster.name) {
        Some(other) => {
            let message = format!("it is of the cluster {other}, and describe-cluster.json of {}", cluster.name);
            Err(document.wrong("\"clusterName\"", message))
        }
        None => Ok(()),
    }
}

/// Versions of a launch template that are wanted beside the default and the latest, by the template's id.
type Wanted = BTreeMap<String, BTreeSet<String>>;

/// The templates that node groups use, that eniplan.yaml names, and that eniplan has made for the cluster.
pub(super) fn launch_templates(
    folder: &mut Folder<'_>,
    cluster: &str,
    node_groups: &[NodeGroup],
    nodes: &[Node],
    also: &AlsoRead,
) -> Result<Vec<LaunchTemplate>, Error> {
    let mut wanted = Wanted::new();
    for template in node_groups.iter().filter_map(|group| group.launch_template.as_ref()) {
        let Some(id) = &template.id else { continue };
        wanted.entry(id.clone()).or_default().extend(template.version.clone());
    }
    for (id, version) in &also.launch_templates {
        wanted.entry(id.clone()).or_default().insert(version.clone());
    }
    let Some(document) = folder.one(names::LAUNCH_TEMPLATES) else {
        folder.gap(names::LAUNCH_TEMPLATES);
        return Ok(Vec::new());
    };
    let ours = format!("eniplan-{cluster}-");
    let mut templates: Vec<LaunchTemplate> = document
        .answer::<DescribeLaunchTemplates>()?
        .launch_templates
        .into_iter()
        .map(LaunchTemplate::from)
        .filter(|template| {
            wanted.contains_key(&template.launch_template_id) || template.launch_template_name.starts_with(&ours)
        })
        .collect();
    let mut versions: BTreeMap<String, BTreeMap<i64, LaunchTemplateVersion>> = BTreeMap::new();
    for document in folder.all(names::LAUNCH_TEMPLATE_VERSIONS) {
        for answer in document.answer::<DescribeLaunchTemplateVersions>()?.launch_template_versions {
            let of_template = versions.entry(answer.launch_template_id.clone()).or_default();
            let version = LaunchTemplateVersion::from(answer);
            of_template.insert(version.version_number, version);
        }
    }
    for template in &mut templates {
        let id = &template.launch_template_id;
        let mut found = versions.remove(id).unwrap_or_default();
        let asked = wanted.get(id).into_iter().flatten().map(String::as_str);
        let in_use: BTreeSet<i64> = asked
            .chain(["$Default", "$Latest"])
            .filter_map(|version| template.resolve_version(Some(version)))
            .collect();
        let missing: Vec<String> =
            in_use.iter().filter(|number| !found.contains_key(number)).map(i64::to_string).collect();
        if !missing.is_empty() {
            folder.fill_in("TEMPLATE", id);
            let which = if missing.len() == 1 { "version" } else { "versions" };
            let reason = format!("no file has {which} {} of {id}", missing.join(", "));
            folder.gap_because(names::LAUNCH_TEMPLATE_VERSIONS, reason);
        }
        if !also.all_versions {
            let launched = if also.verification { launched_from(id, nodes) } else { BTreeSet::new() };
            found.retain(|number, _| in_use.contains(number) || launched.contains(number));
        }
        template.versions = found.into_values().collect();
    }
    Ok(templates)
}

/// The versions that live nodes were launched from.
/// Source: EKS user guide, "Customize managed nodes with launch templates", for the labels.
fn launched_from(template_id: &str, nodes: &[Node]) -> BTreeSet<i64> {
    let of_template =
        |node: &&Node| node.labels.get("eks.amazonaws.com/sourceLaunchTemplateId").is_some_and(|id| id == template_id);
    nodes
        .iter()
        .filter(of_template)
        .filter_map(|node| node.labels.get("eks.amazonaws.com/sourceLaunchTemplateVersion")?.parse().ok())
        .collect()
}

/// The images that are named. One that the file does not have may be gone, and is missed only where it is in use.
pub(super) fn images(
    folder: &mut Folder<'_>,
    named: &Named,
    node_groups: &[NodeGroup],
    launch_templates: &[LaunchTemplate],
    also: &AlsoRead,
) -> Result<Vec<Image>, Error> {
    if named.images.is_empty() {
        return Ok(Vec::new());
    }
    folder.fill_in("IMAGES", joined(&named.images));
    let Some(document) = folder.one(names::IMAGES) else {
        folder.gap(names::IMAGES);
        return Ok(Vec::new());
    };
    let answers = document.answer::<DescribeImages>()?.images.into_iter().map(Image::from);
    let found: Vec<Image> = answers.filter(|image| named.images.contains(&image.image_id)).collect();
    let in_use = node_groups.iter().filter_map(|group| {
        let of_group = group.launch_template.as_ref()?;
        let template = launch_templates.iter().find(|one| Some(&one.launch_template_id) == of_group.id.as_ref())?;
        let version = template.version(template.resolve_version(of_group.version.as_deref())?)?;
        version.launch_template_data.image_id.as_ref()
    });
    let missing: BTreeSet<String> = in_use
        .chain(&also.images)
        .filter(|id| named.images.contains(*id) && !found.iter().any(|image| image.image_id == **id))
        .cloned()
        .collect();
    if !missing.is_empty() {
        folder.gap_because(names::IMAGES, format!("describe-images.json does not have {}", joined(&missing)));
    }
    Ok(found)
}

/// The instance types that are named.
pub(super) fn instance_types(folder: &mut Folder<'_>, named: &Named) -> Result<Vec<InstanceType>, Error> {
    if named.instance_types.is_empty() {
        return Ok(Vec::new());
    }
    folder.fill_in("TYPES", joined(&named.instance_types));
    let Some(document) = folder.one(names::INSTANCE_TYPES) else {
        folder.gap(names::INSTANCE_TYPES);
        return Ok(Vec::new());
    };
    let answers = document.answer::<DescribeInstanceTypes>()?.instance_types.into_iter().map(InstanceType::from);
    let found: Vec<InstanceType> =
        answers.filter(|answer| named.instance_types.contains(&answer.instance_type)).collect();
    let mut missing = named.instance_types.clone();
    for instance_type in &found {
        missing.remove(&instance_type.instance_type);
    }
    if !missing.is_empty() {
        let reason = format!("describe-instance-types.json does not have {}", joined(&missing));
        folder.gap_because(names::INSTANCE_TYPES, reason);
    }
    Ok(found)
}

fn joined(ids: &BTreeSet<String>) -> String {
    ids.iter().map(String::as_str).collect::<Vec<_>>().join(",")
}
