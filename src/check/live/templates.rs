//! The launch templates that nodes come from: whether the version in use gives what the plan wants.

use std::collections::BTreeSet;

use super::names::nodes_of_group;
use super::{LiveFacts, count, node_evidence};
use crate::config::{AmiFamily, MaxPods};
use crate::finding::{Evidence, Problem, Subject};
use crate::inventory::{GapSource, LaunchTemplate, LaunchTemplateVersion, NodeGroup};
use crate::plan::{Bootstrap, NodeGroupPlan};
use crate::user_data::{self, BootRow, BootTable, boot_table};

/// How the version in use of a group stands to the plan.
enum Stands {
    /// It gives what the plan wants.
    Right,
    /// A later version does, and the group does not use it yet.
    NotRolledOut { in_use: i64, right: i64 },
    /// No version that was read does.
    NotMade { in_use: i64 },
}

fn stands(live: &LiveFacts<'_>, group: &NodeGroupPlan) -> Option<(Subject, Stands)> {
    let found = live.facts.inventory.node_group(&group.name)?;
    let (template, in_use) = in_use(live, found)?;
    let planned = live.facts.rendered.node_groups.get(&group.name)?.user_data.as_ref()?;
    let wanted = boot_table(&user_data::read(&planned.bytes).ok()?)?;
    let gives = |version: &LaunchTemplateVersion| {
        let bytes = version.launch_template_data.user_data.as_ref().map(|bytes| bytes.0.as_slice());
        let document = user_data::read(bytes.unwrap_or_default());
        let table = document.ok().and_then(|document| boot_table(&document));
        table.is_some_and(|table| gives_as(&table, &wanted) && sets_max_pods_as(live, group, &table))
    };
    let subject = Subject::NodeGroup(group.name.clone());
    if template.version(in_use).is_some_and(gives) {
        return Some((subject, Stands::Right));
    }
    let right = template.versions.iter().rev().find(|version| gives(version)).map(|version| version.version_number);
    Some((subject, right.map_or(Stands::NotMade { in_use }, |right| Stands::NotRolledOut { in_use, right })))
}

/// Whether a table gives nodes what another one does: the same key and candidates for each of its rows. Bounds are left
/// out, since weights follow the free addresses of the day; `eniplan diff` shows every difference.
fn gives_as(table: &BootTable, wanted: &BootTable) -> bool {
    let names = |row: &BootRow| row.names.iter().cloned().collect::<BTreeSet<String>>();
    table.label_key == wanted.label_key
        && table.fixed == wanted.fixed
        && wanted.rows.iter().all(|(cidr, row)| table.rows.get(cidr).is_some_and(|found| names(found) == names(row)))
}

/// Whether the version sets max pods as the plan does. A number that the plan would write only because nodes report too
/// many is no fault of the template: that the nodes do is a finding of its own.
fn sets_max_pods_as(live: &LiveFacts<'_>, group: &NodeGroupPlan, table: &BootTable) -> bool {
    let wished = live.facts.config.node_groups.iter().find(|wished| wished.name == group.name);
    let is_number = wished.is_some_and(|wished| matches!(wished.max_pods, MaxPods::Number(_)));
    let is_by_report = table.max_pods.is_none() && !is_number && group.bootstrap == Bootstrap::Eks;
    is_by_report || table.max_pods == group.max_pods.written
}

fn in_use<'a>(live: &LiveFacts<'a>, group: &NodeGroup) -> Option<(&'a LaunchTemplate, i64)> {
    let used = group.launch_template.as_ref()?;
    let template = live.facts.inventory.launch_template(used.id.as_deref()?)?;
    let number = template.resolve_version(used.version.as_deref())?;
    template.version(number).map(|_| (template, number))
}

/// Groups whose template is the cause; their nodes are not told again.
pub(super) fn groups_told(live: &LiveFacts<'_>) -> BTreeSet<String> {
    let is_told = |group: &&NodeGroupPlan| {
        matches!(stands(live, group), Some((_, Stands::NotMade { .. } | Stands::NotRolledOut { .. })))
    };
    live.facts.plan.node_groups.iter().filter(is_told).map(|group| group.name.clone()).collect()
}

pub(super) fn not_as_planned(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for group in &live.facts.plan.node_groups {
        if let Some((subject, Stands::NotMade { in_use })) = stands(live, group) {
            problems.push(
                Problem::new(
                    "launch-template-not-as-planned",
                    subject.clone(),
                    format!("version {in_use} of its launch template, which it uses, does not give its nodes what the plan wants, and no version that was read does"),
                    "run `eniplan diff` to see the difference, and `eniplan apply --roll`",
                )
                .shown_by([Evidence::new(subject, "launchTemplate.version", in_use.to_string())]),
            );
        }
    }
}

pub(super) fn not_rolled_out(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for group in &live.facts.plan.node_groups {
        if let Some((subject, Stands::NotRolledOut { in_use, right })) = stands(live, group) {
            problems.push(
                Problem::new(
                    "launch-template-not-rolled-out",
                    subject.clone(),
                    format!(
                        "version {right} of its launch template gives what the plan wants, and it uses version {in_use}"
                    ),
                    "run `eniplan apply --roll`",
                )
                .shown_by([Evidence::new(subject, "launchTemplate.version", in_use.to_string())]),
            );
        }
    }
}

/// Groups of the plan that EKS does not have yet: nothing of them can be right.
pub(super) fn missing_group(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    if live.facts.inventory.gaps_in(GapSource::NodeGroups).next().is_some() {
        return;
    }
    for group in live.facts.plan.node_groups.iter().filter(|group| group.managed) {
        if live.facts.inventory.node_group(&group.name).is_some() {
            continue;
        }
        let subject = Subject::NodeGroup(group.name.clone());
        problems.push(
            Problem::new(
                "planned-group-missing",
                subject.clone(),
                "the plan has it and EKS has not",
                "run `eniplan apply --roll`, which creates groups that are fully described; `eniplan diff --roll` says what is lacking",
            )
            .shown_by([Evidence::new(subject, "nodegroupName", "not found")]),
        );
    }
}

/// What the nodes run, against what the user data is written for.
pub(super) fn other_family(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for group in &live.facts.plan.node_groups {
        let starts = match group.family {
            AmiFamily::Al2023 => "Amazon Linux 2023",
            AmiFamily::Al2 => "Amazon Linux 2",
            AmiFamily::Bottlerocket => "Bottlerocket",
            // No plan is made for these.
            AmiFamily::Ubuntu | AmiFamily::Windows => continue,
        };
        let other: Vec<_> = nodes_of_group(live, &group.name)
            .into_iter()
            .filter(|node| node.node.os_image.as_deref().is_some_and(|image| !is_image_of(image, starts)))
            .collect();
        if other.is_empty() {
            continue;
        }
        problems.push(
            Problem::new(
                "node-image-of-other-family",
                Subject::NodeGroup(group.name.clone()),
                format!(
                    "on {} another system than {starts} runs, for which the group's user data is written: our part never ran there",
                    count(other.len())
                ),
                "say `amiFamily` for the group in eniplan.yaml, and roll its nodes",
            )
            .shown_by(other.iter().map(|node| {
                node_evidence(node, "status.nodeInfo.osImage", node.node.os_image.clone().unwrap_or_default())
            })),
        );
    }
}

/// `Amazon Linux 2` is the beginning of `Amazon Linux 2023`, too.
fn is_image_of(image: &str, family: &str) -> bool {
    image.strip_prefix(family).is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
}
