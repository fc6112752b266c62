//! Launch templates that node groups use, that eniplan.yaml names, and that eniplan has made for the cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::map_template;
use super::reading::{Reading, VALUES_PER_FILTER, existing, filter, in_chunks, mapped};
use crate::inventory::{
    AlsoRead, GapSource, LaunchTemplate, LaunchTemplateSpecification, LaunchTemplateVersion, Node, NodeGroup,
};
use crate::live::failure::Failure;

const LIST: &str = "ec2:DescribeLaunchTemplates";
const LIST_VERSIONS: &str = "ec2:DescribeLaunchTemplateVersions";

/// Source: Amazon EC2 API reference, "Error codes".
const VERSION_NOT_FOUND: &str = "InvalidLaunchTemplateId.VersionNotFound";

/// Labels with which EKS says what a node was launched from.
/// Source: EKS user guide, "Customize managed nodes with launch templates".
const SOURCE_TEMPLATE: &str = "eks.amazonaws.com/sourceLaunchTemplateId";
const SOURCE_VERSION: &str = "eks.amazonaws.com/sourceLaunchTemplateVersion";

/// Versions to read of each template, by its id.
type Wanted = BTreeMap<String, BTreeSet<String>>;

/// Reads the templates and of each the versions in use, the default and the latest. Versions are asked for by number:
/// a template can have thousands. Where groups share a template all are read: what a run that stopped has left is not
/// the latest one for each of them.
pub(in crate::live) async fn read_launch_templates(
    reading: &Reading,
    cluster: &str,
    node_groups: &[NodeGroup],
    also: &AlsoRead,
) -> Vec<LaunchTemplate> {
    let mut wanted = Wanted::new();
    let mut shared = BTreeSet::new();
    // Ours may be there without being in use: made for a group that is not managed, or left by a run that stopped.
    let mut names: BTreeSet<String> = [format!("eniplan-{cluster}-*")].into();
    let mut ids_without_name = BTreeSet::new();
    for template in node_groups.iter().filter_map(|group| group.launch_template.as_ref()) {
        let Some(id) = &template.id else { continue };
        if wanted.contains_key(id) {
            shared.insert(id.clone());
        }
        wanted.entry(id.clone()).or_default().extend(template.version.clone());
        match &template.name {
            Some(name) => names.insert(name.clone()),
            None => ids_without_name.insert(id.clone()),
        };
    }
    for (id, version) in &also.launch_templates {
        let known = wanted.contains_key(id);
        wanted.entry(id.clone()).or_default().insert(version.clone());
        if !known {
            ids_without_name.insert(id.clone());
        }
    }
    let (by_name, by_id, mut versions) = tokio::join!(
        in_chunks(&names, VALUES_PER_FILTER, async |names| describe_by_name(reading, names).await),
        existing(ids_without_name.into_iter().collect(), async |ids: &[String]| describe_by_id(reading, ids).await),
        read_versions(reading, &wanted, |id| also.all_versions || shared.contains(id)),
    );

    let (mut found, mut failures) = by_name;
    match by_id {
        Ok(more) => found.extend(more),
        Err(failure) => failures.push(failure),
    }
    let mut templates: BTreeMap<String, LaunchTemplate> =
        found.into_iter().map(|template| (template.launch_template_id.clone(), template)).collect();
    let unused: Wanted =
        templates.keys().filter(|id| !wanted.contains_key(*id)).map(|id| (id.clone(), BTreeSet::new())).collect();
    versions.extend(read_versions(reading, &unused, |_| also.all_versions).await);
    for (id, answer) in versions {
        match answer {
            Ok(found) => {
                if let Some(template) = templates.get_mut(&id) {
                    template.versions = found;
                }
            }
            Err(failure) => failures.push(failure),
        }
    }
    reading.settle(GapSource::LaunchTemplates, templates.len(), failures);
    templates.into_values().collect()
}

/// Adds the versions that live nodes were launched from, as far as they are of their group's own template and not among
/// those that were read already; so that each node can be compared with what it was given.
pub(in crate::live) async fn read_versions_of_nodes(
    reading: &Reading,
    node_groups: &[NodeGroup],
    nodes: &[Node],
    templates: &mut [LaunchTemplate],
) {
    let own: BTreeMap<&str, &LaunchTemplateSpecification> =
        node_groups.iter().filter_map(|group| Some((group.name.as_str(), group.launch_template.as_ref()?))).collect();
    let mut wanted = Wanted::new();
    for node in nodes {
        let Some(own) = node.node_group().and_then(|group| own.get(group)) else { continue };
        let label = |key: &str| node.labels.get(key);
        let (Some(id), Some(version)) = (&own.id, label(SOURCE_VERSION)) else { continue };
        let of_own = label(SOURCE_TEMPLATE).is_none_or(|of| of == id);
        let was_asked_for = own.version.as_ref() == Some(version);
        let read = templates.iter().find(|template| template.launch_template_id == *id);
        let Some((read, number)) = read.zip(version.parse::<i64>().ok()) else { continue };
        if of_own && !was_asked_for && read.version(number).is_none() {
            wanted.entry(id.clone()).or_default().insert(version.clone());
        }
    }
    if wanted.is_empty() {
        return;
    }
    let answers = futures_util::future::join_all(
        wanted.iter().map(async |(id, numbers)| (id, those_that_exist(reading, id, numbers).await)),
    )
    .await;
    let mut count = 0;
    let mut failures = Vec::new();
    for (id, answer) in answers {
        match answer {
            Ok(found) => {
                count += found.len();
                if let Some(template) = templates.iter_mut().find(|template| template.launch_template_id == *id) {
                    template.versions.extend(found);
                }
            }
            Err(failure) => failures.push(failure),
        }
    }
    reading.settle(GapSource::LaunchTemplates, count, failures);
}

async fn describe_by_name(reading: &Reading, names: Vec<String>) -> Result<Vec<LaunchTemplate>, Failure> {
    let clients = &reading.clients;
    let resource = names.join(", ");
    let filter = filter("launch-template-name", names);
    let pages = clients.ec2.describe_launch_templates().filters(filter).into_paginator().items().send();
    let raw = clients.ask(LIST, Some(&resource), pages.collect::<Result<Vec<_>, _>>()).await?;
    mapped(LIST, Some(&resource), raw, map_template::launch_template)
}

async fn describe_by_id(reading: &Reading, ids: &[String]) -> Result<Vec<LaunchTemplate>, Failure> {
    let clients = &reading.clients;
    let resource = ids.join(", ");
    let pages = clients
        .ec2
        .describe_launch_templates()
        .set_launch_template_ids(Some(ids.to_vec()))
        .into_paginator()
        .items()
        .send();
    let raw = clients.ask(LIST, Some(&resource), pages.collect::<Result<Vec<_>, _>>()).await?;
    mapped(LIST, Some(&resource), raw, map_template::launch_template)
}

async fn read_versions(
    reading: &Reading,
    wanted: &Wanted,
    all: impl Fn(&str) -> bool,
) -> Vec<(String, Result<Vec<LaunchTemplateVersion>, Failure>)> {
    futures_util::future::join_all(
        wanted.iter().map(async |(id, numbers)| (id.clone(), versions_of(reading, id, numbers, all(id)).await)),
    )
    .await
}

async fn versions_of(
    reading: &Reading,
    id: &str,
    numbers: &BTreeSet<String>,
    all: bool,
) -> Result<Vec<LaunchTemplateVersion>, Failure> {
    let mut asked = numbers.clone();
    if all {
        // Named by nothing, all are given.
        asked.clear();
    } else {
        asked.extend(["$Default".to_owned(), "$Latest".to_owned()]);
    }
    those_that_exist(reading, id, &asked).await
}

async fn those_that_exist(
    reading: &Reading,
    id: &str,
    asked: &BTreeSet<String>,
) -> Result<Vec<LaunchTemplateVersion>, Failure> {
    match describe_versions(reading, id, asked).await {
        // The template is gone; whoever needs it finds that it is not in the inventory.
        Err(failure) if failure.code.as_deref() == Some("InvalidLaunchTemplateId.NotFound") => Ok(Vec::new()),
        // One of the numbers is gone, and EC2 answers nothing at all then.
        Err(failure) if failure.code.as_deref() == Some(VERSION_NOT_FOUND) && asked.len() > 1 => {
            one_by_one(reading, id, asked).await
        }
        Err(failure) if failure.code.as_deref() == Some(VERSION_NOT_FOUND) => Ok(Vec::new()),
        answer => answer,
    }
}

/// Asks for each version alone and leaves out those that do not exist.
async fn one_by_one(
    reading: &Reading,
    id: &str,
    versions: &BTreeSet<String>,
) -> Result<Vec<LaunchTemplateVersion>, Failure> {
    let requests = versions.iter().map(async |version| describe_versions(reading, id, &[version.clone()].into()).await);
    let mut found = Vec::new();
    for answer in futures_util::future::join_all(requests).await {
        match answer {
            Ok(versions) => found.extend(versions),
            Err(failure) if failure.code.as_deref() == Some(VERSION_NOT_FOUND) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(distinct(found))
}

async fn describe_versions(
    reading: &Reading,
    id: &str,
    versions: &BTreeSet<String>,
) -> Result<Vec<LaunchTemplateVersion>, Failure> {
    let clients = &reading.clients;
    let pages = clients
        .ec2
        .describe_launch_template_versions()
        .launch_template_id(id)
        .set_versions((!versions.is_empty()).then(|| versions.iter().cloned().collect()))
        .into_paginator()
        .items()
        .send();
    let raw = clients.ask(LIST_VERSIONS, Some(id), pages.collect::<Result<Vec<_>, _>>()).await?;
    Ok(distinct(mapped(LIST_VERSIONS, Some(id), raw, map_template::launch_template_version)?))
}

/// `$Default`, `$Latest` and a number may be one and the same version.
fn distinct(mut versions: Vec<LaunchTemplateVersion>) -> Vec<LaunchTemplateVersion> {
    versions.sort_by_key(|version| version.version_number);
    versions.dedup_by_key(|version| version.version_number);
    versions
}
