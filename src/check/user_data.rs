//! Rules about user data: what is in the version in use, and how large the new one is.

use super::Facts;
use crate::finding::{Problem, Subject};
use crate::plan::LaunchTemplatePlan;
use crate::render::UserData;
use crate::user_data::size::{Size, Verdict};
use crate::user_data::{self, ReadError};

/// A group, and the user data of the version that it uses, read.
type InUse<'a> = (&'a str, Result<user_data::Document, ReadError>);

fn in_use<'a>(facts: &Facts<'a>) -> Vec<InUse<'a>> {
    facts
        .plan
        .node_groups
        .iter()
        .filter_map(|group| {
            let LaunchTemplatePlan::NewVersion { id, source_version, .. } = group.launch_template.as_ref()? else {
                return None;
            };
            let version = facts.inventory.launch_template(id)?.version(*source_version)?;
            let bytes = version.launch_template_data.user_data.as_ref()?;
            Some((group.name.as_str(), user_data::read(&bytes.0)))
        })
        .collect()
}

pub(super) fn unreadable(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for (group, document) in in_use(facts) {
        if let Err(error) = document {
            problems.push(Problem::new(
                "user-data-unreadable",
                Subject::NodeGroup(group.into()),
                format!("the user data of its launch-template version cannot be read: {error}"),
                error.help(),
            ));
        }
    }
}

pub(super) fn cannot_be_merged(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for (name, group) in &facts.rendered.node_groups {
        for problem in &group.problems {
            problems.push(Problem::new(
                "user-data-cannot-be-merged",
                Subject::NodeGroup(name.clone()),
                format!("its part cannot go into the user data in use: {problem}"),
                problem.help.clone(),
            ));
        }
    }
}

pub(super) fn merged(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for (name, group) in &facts.rendered.node_groups {
        for note in &group.notes {
            problems.push(Problem::new(
                "user-data-merged",
                Subject::NodeGroup(name.clone()),
                format!("in the user data in use, {note}"),
                "read the result in user-data.mime or user-data.toml before you roll it out",
            ));
        }
    }
}

pub(super) fn redacted(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if !facts.inventory.redacted {
        return;
    }
    for (group, document) in in_use(facts) {
        if document.is_ok_and(|document| document.foreign_parts().next().is_some()) {
            problems.push(Problem::new(
                "inventory-redacted",
                Subject::NodeGroup(group.into()),
                "the inventory is redacted, so that foreign parts of its user data are not in it; the result would lose them",
                "read the inventory again without --redact",
            ));
        }
    }
}

pub(super) fn too_large(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    sizes(facts, Verdict::TooLarge, problems, |group, size| {
        Problem::new(
            "user-data-too-large",
            Subject::NodeGroup(group.into()),
            format!("its user data has {} bytes, and at most {} fit\n{}", size.total, size.limit, table(size)),
            "shorten the largest part, or let it fetch what it needs; splitting the group shortens the table",
        )
    });
}

pub(super) fn near_limit(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    sizes(facts, Verdict::Warn, problems, |group, size| {
        Problem::new(
            "user-data-near-limit",
            Subject::NodeGroup(group.into()),
            format!("its user data has {} of the {} bytes that fit\n{}", size.total, size.limit, table(size)),
            "shorten the largest part before it grows further",
        )
    });
}

fn sizes(facts: &Facts<'_>, verdict: Verdict, problems: &mut Vec<Problem>, problem: impl Fn(&str, &Size) -> Problem) {
    for (name, group) in &facts.rendered.node_groups {
        if let Some(UserData { size, .. }) =
            group.user_data.as_ref().filter(|user_data| user_data.size.verdict == verdict)
        {
            problems.push(problem(name, size));
        }
    }
}

/// One line a part, the bytes first.
fn table(size: &Size) -> String {
    let row = |part: &user_data::size::PartSize| {
        let number = part.number.map_or_else(String::new, |number| format!("part {number}, "));
        let ours = part.ours.as_ref().map_or_else(String::new, |name| format!(" (eniplan's {name})"));
        format!("{:>8}  {number}{}{ours}", part.bytes, part.content_type)
    };
    size.parts.iter().map(row).collect::<Vec<_>>().join("\n")
}
