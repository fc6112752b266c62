//! What is ours and nothing names any more; only when asked.

use std::collections::{BTreeMap, BTreeSet};

use super::gate::settings_after;
use super::launch_templates::Versions;
use super::{Change, EniConfigBefore, Facts, Found, LaunchTemplateBefore, Stage, VersionRef};
use crate::finding::Subject;
use crate::inventory::{GapSource, LaunchTemplate, NodeGroup};
use crate::plan::MANAGED_BY_LABEL;
use crate::resolve::resolve;

pub(super) fn changes(facts: &Facts<'_>, versions: &Versions, found: &mut Found) {
    if facts.options.prune && facts.options.only.contains(&Stage::Eniconfigs) {
        unused_eni_configs(facts, found);
    }
    if let Some(keep) = facts.options.prune_versions
        && facts.options.only.contains(&Stage::LaunchTemplates)
    {
        let Some(former) = &facts.options.former else {
            found.await_user(
                Subject::Cluster(facts.inventory.cluster.name.clone()),
                "which launch-template versions its node groups came from is not in an inventory file, so that none is deleted",
                "run it against the cluster, without --inventory",
            );
            return;
        };
        for template in &facts.inventory.launch_templates {
            old_versions(facts, template, keep, (versions, former), found);
        }
    }
}

/// Never one that a node, a group's template or the plan names.
fn unused_eni_configs(facts: &Facts<'_>, found: &mut Found) {
    let inventory = facts.inventory;
    let users = [GapSource::EniConfigs, GapSource::Nodes, GapSource::NodeGroups, GapSource::LaunchTemplates];
    if let Some(gap) = users.into_iter().find_map(|source| inventory.gaps_in(source).next()) {
        found.await_user(
            Subject::Read(gap.action.clone()),
            "what it would say may name an ENIConfig, so that none is deleted",
            format!("{}, then run again", gap.remedy()),
        );
        return;
    }
    let settings_now = inventory.cni_settings().unwrap_or_default();
    let settings_after = settings_after(facts);
    let by_nodes: BTreeSet<String> = inventory
        .nodes
        .iter()
        .flat_map(|node| [resolve(node, &settings_now).eni_config, resolve(node, &settings_after).eni_config])
        .collect();
    let in_templates: Vec<String> = inventory
        .launch_templates
        .iter()
        .flat_map(|template| &template.versions)
        .filter_map(|version| crate::user_data::read(&version.launch_template_data.user_data.as_ref()?.0).ok())
        .flat_map(|document| document.parts)
        .map(|part| String::from_utf8_lossy(&part.body).into_owned())
        .collect();
    let (key, value) = MANAGED_BY_LABEL;
    for eni_config in &inventory.eni_configs {
        let name = &eni_config.name;
        let ours = eni_config.labels.get(key).is_some_and(|label| label == value);
        let planned = facts.plan.eni_configs.iter().any(|planned| planned.name == *name);
        let by_pools =
            facts.config.pools.values().flat_map(|pool| &pool.subnets).any(|subnet| subnet.name.as_ref() == Some(name));
        let by_groups = inventory.node_groups.iter().any(|group| group.labels.values().any(|label| label == name));
        let by_templates = in_templates.iter().any(|text| text.contains(name.as_str()));
        if ours && !planned && !by_pools && !by_groups && !by_nodes.contains(name) && !by_templates {
            found.changes.push(Change::DeleteEniConfig { name: name.clone(), before: EniConfigBefore::of(eni_config) });
        }
    }
}

/// Only versions with our description; never one that is in use, the default, about to be used, or the one that a group
/// came from. Of the others the newest are kept.
fn old_versions(
    facts: &Facts<'_>,
    template: &LaunchTemplate,
    keep: usize,
    (versions, former): (&Versions, &BTreeMap<String, Vec<i64>>),
    found: &mut Found,
) {
    // Once this diff has moved a group, the version in use now is the one that it came from.
    let moves = |group: &NodeGroup| {
        found.changes.iter().any(|change| matches!(change, Change::UpdateNodeGroup { name, .. } if *name == group.name))
    };
    let groups: Vec<(&NodeGroup, i64, Option<i64>)> = groups_on(facts, template)
        .map(|(group, in_use)| {
            let came_from = former.get(&group.name).and_then(|versions| versions.first()).copied();
            (group, in_use, if moves(group) { Some(in_use) } else { came_from })
        })
        .collect();
    let needed = needed(template, versions, &groups);
    let mut spare: Vec<i64> = template
        .versions
        .iter()
        .filter(|version| version.version_description.as_deref().is_some_and(|text| text.starts_with("eniplan ")))
        .map(|version| version.version_number)
        .filter(|number| !needed.contains(number))
        .collect();
    spare.sort_unstable_by(|a, b| b.cmp(a));
    let mut old: Vec<i64> = spare.into_iter().skip(keep).rev().collect();
    // What a group was made with is in no update: it may be any version that is older than the one in use.
    for (group, in_use, came_from) in groups {
        if came_from.is_some() || old.iter().all(|number| *number > in_use) {
            continue;
        }
        old.retain(|number| *number > in_use);
        found.await_user(
            Subject::LaunchTemplate(template.launch_template_id.clone()),
            format!("its versions older than {in_use} stay: no update that EKS remembers says from which one node group {} came", group.name),
            "they can go after the next update of the group",
        );
    }
    if !old.is_empty() {
        found.changes.push(Change::DeleteLaunchTemplateVersions {
            launch_template_id: template.launch_template_id.clone(),
            versions: old,
            before: LaunchTemplateBefore::of(template),
        });
    }
}

fn needed(template: &LaunchTemplate, versions: &Versions, groups: &[(&NodeGroup, i64, Option<i64>)]) -> BTreeSet<i64> {
    let mut needed: BTreeSet<i64> = [template.default_version_number].into();
    for (_, in_use, came_from) in groups {
        needed.insert(*in_use);
        needed.extend(came_from);
    }
    let mut makes_a_version = false;
    for target in versions.values().filter(|target| target.id.as_ref() == Some(&template.launch_template_id)) {
        match target.version {
            VersionRef::Number(number) => _ = needed.insert(number),
            VersionRef::CreatedBy(_) => makes_a_version = true,
        }
    }
    // Whoever follows `$Latest` would be moved to an older one.
    if !makes_a_version {
        needed.insert(template.latest_version_number);
    }
    needed
}

/// The groups that use a template, with the number of the version that each uses.
fn groups_on<'a>(facts: &Facts<'a>, template: &'a LaunchTemplate) -> impl Iterator<Item = (&'a NodeGroup, i64)> {
    facts.inventory.node_groups.iter().filter_map(|group| {
        let used = group.launch_template.as_ref()?;
        let is_this = used.id.as_ref() == Some(&template.launch_template_id);
        is_this.then(|| template.resolve_version(used.version.as_deref())).flatten().map(|in_use| (group, in_use))
    })
}
