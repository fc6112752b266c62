//! Max pods of a group: what the formula gives, and whether the user data has to say it.

use super::group_facts::GroupFacts;
use super::notes::{Notes, list};
use super::{Bootstrap, MaxPodsPlan};
use crate::config::{AmiFamily, MaxPods};
use crate::finding::Subject;
use crate::inventory::{CniSettings, GapSource, Inventory};
use crate::max_pods::node_arithmetic;

/// What the line holds that says max pods, in our scripts and in Bottlerocket's settings.
const MAX_PODS: [&str; 2] = ["max_pods=", "max-pods = "];

#[cfg(test)]
mod tests;

/// Decides max pods. `settings` are the CNI's as the plan wants them.
pub(super) fn max_pods(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    bootstrap: &Bootstrap,
    settings: &CniSettings,
    notes: &mut Notes,
) -> MaxPodsPlan {
    let formula = formula(inventory, group, settings, notes);
    let written = match group.config.max_pods {
        MaxPods::Eks => {
            notes.decision(group.subject(), "max pods is left to EKS and the AMI", "maxPods is `eks`");
            if matches!(bootstrap, Bootstrap::UserData(_)) {
                notes.problem(
                    "max-pods-left-to-image",
                    group.subject(),
                    format!(
                        "maxPods is `eks`, but EKS sets nothing here; the image's own default counts the primary interface, and is above {}",
                        formula.map_or_else(|| "what nodes have addresses for".to_owned(), |formula| format!("the {formula} pods that nodes have addresses for"))
                    ),
                    "set maxPods to `auto`, or leave it out",
                );
            }
            None
        }
        MaxPods::Number(number) => {
            if let Some(formula) = formula.filter(|formula| number > *formula) {
                notes.problem(
                    "max-pods-above-formula",
                    group.subject(),
                    format!("maxPods {number} is more than the {formula} pods that the smallest of {} can give addresses to", list(&group.instance_types)),
                    format!("set maxPods to {formula} or less, or to `auto`"),
                );
            }
            notes.decision(group.subject(), format!("max pods {number}"), "eniplan.yaml says so");
            Some(number)
        }
        MaxPods::Auto => automatic(inventory, group, bootstrap, formula, notes),
    };
    MaxPodsPlan { written, formula }
}

fn automatic(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    bootstrap: &Bootstrap,
    formula: Option<u32>,
    notes: &mut Notes,
) -> Option<u32> {
    if inventory.cni_settings().is_none()
        && matches!(bootstrap, Bootstrap::Eks)
        && let Some(gap) = inventory.gaps_in(GapSource::AwsNode).next()
    {
        notes.problem(
            "max-pods-undecidable",
            group.subject(),
            format!(
                "whether EKS computes max pods for custom networking cannot be told: `{}` did not succeed",
                gap.action
            ),
            format!("{}, or set `maxPods` to `eks` or to a number", gap.remedy()),
        );
        return None;
    }
    let because = if matches!(bootstrap, Bootstrap::UserData(_)) {
        "EKS merges nothing here, and the AMI's own default does not know custom networking".to_owned()
    } else if !inventory.cni_settings().is_some_and(|settings| settings.custom_networking()) {
        "custom networking is off in the inventory, so EKS computed, or will compute, a value for nodes without it"
            .to_owned()
    } else if let Some((node, reported)) = first_node_above(inventory, group, formula) {
        format!("node {node} reports {reported} pods, more than the formula allows")
    } else if group.ours_in_use_has(inventory, &MAX_PODS) {
        // Its nodes report what it sets; without it they would report too many again.
        "the launch-template version in use sets it, and so it stays".to_owned()
    } else {
        let why = match group.instance_types.len() {
            0 | 1 => "EKS computes it for the group from the CNI's settings",
            _ => "EKS computes it for the group: the smallest over its instance types",
        };
        notes.decision(group.subject(), "max pods is left to EKS", why);
        return None;
    };
    let Some(formula) = formula else {
        if !notes
            .problems
            .iter()
            .any(|problem| problem.subject == group.subject() && problem.rule == "max-pods-undecidable")
        {
            undecidable(inventory, group, notes);
        }
        return None;
    };
    notes.decision(group.subject(), format!("max pods {formula}"), because);
    Some(formula)
}

fn undecidable(inventory: &Inventory, group: &GroupFacts<'_>, notes: &mut Notes) {
    let is_unknown = |name: &&String| {
        inventory.instance_type(name).is_none_or(|instance_type| instance_type.default_card_interfaces().is_none())
    };
    let unknown: Vec<&String> = group.instance_types.iter().filter(is_unknown).collect();
    let message = if group.instance_types.is_empty() {
        "the user data must say max pods, and no instance type of the group is known".to_owned()
    } else {
        format!(
            "the user data must say max pods, and the inventory does not say how many interfaces {} has",
            list(unknown)
        )
    };
    let help = match inventory.gaps_in(GapSource::InstanceTypes).next() {
        Some(gap) => format!("{} and read the inventory again, or set `maxPods` to a number", gap.remedy()),
        None => "name `instanceTypes` that EC2 knows, or set `maxPods` to a number".to_owned(),
    };
    notes.problem("max-pods-undecidable", group.subject(), message, help);
}

/// The smallest value over the group's instance types; `None` when one of them is not known.
fn formula(inventory: &Inventory, group: &GroupFacts<'_>, settings: &CniSettings, notes: &mut Notes) -> Option<u32> {
    let mut smallest = None;
    let mut complete = !group.instance_types.is_empty();
    for name in &group.instance_types {
        let Some(arithmetic) =
            inventory.instance_type(name).and_then(|instance_type| node_arithmetic(instance_type, settings))
        else {
            complete = false;
            continue;
        };
        if arithmetic.max_pods == 0 {
            let cause = if settings.max_eni().is_some() || settings.pod_eni() {
                "MAX_ENI and the trunk of security groups for pods leave none"
            } else {
                "its only interface is the primary one"
            };
            notes.problem(
                "instance-type-without-pod-interface",
                Subject::InstanceType(name.clone()),
                format!(
                    "node group {} uses it, and under custom networking it has no interface for pods: {cause}",
                    group.name
                ),
                "use a type with more interfaces on its default network card, or change that setting",
            );
            complete = false;
            continue;
        }
        smallest = Some(smallest.map_or(arithmetic.max_pods, |smallest: u32| smallest.min(arithmetic.max_pods)));
    }
    if settings.pod_eni() && complete && group.family != AmiFamily::Windows {
        notes.decision(
            group.subject(),
            "one more interface is reserved",
            "ENABLE_POD_ENI is on; an estimate, as types that cannot have a trunk keep it",
        );
    }
    if complete { smallest } else { None }
}

fn first_node_above<'a>(
    inventory: &'a Inventory,
    group: &GroupFacts<'a>,
    formula: Option<u32>,
) -> Option<(&'a str, u32)> {
    let formula = formula?;
    inventory
        .nodes_of(group.name)
        .filter_map(|node| Some((node.name.as_str(), node.max_pods?)))
        .find(|(_, reported)| *reported > formula)
}
