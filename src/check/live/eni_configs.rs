//! The ENIConfig objects that are there, against the plan and against EC2.

use std::collections::BTreeSet;

use super::{LiveFacts, count};
use crate::finding::{Evidence, Problem, Subject};
use crate::inventory::{EniConfig, GapSource, Subnet};
use crate::plan::{CniOwner, EniConfigPlan};

fn subject(name: &str) -> Subject {
    Subject::EniConfig(name.to_owned())
}

fn were_read(live: &LiveFacts<'_>, source: GapSource) -> bool {
    live.facts.inventory.gaps_in(source).next().is_none()
}

pub(super) fn missing(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    if !were_read(live, GapSource::EniConfigs) {
        return;
    }
    for planned in &live.facts.plan.eni_configs {
        if live.facts.inventory.eni_config(&planned.name).is_some() {
            continue;
        }
        let waiting = users(live, &planned.name);
        let effect = if waiting == 0 {
            "new nodes that need it would not become Ready".to_owned()
        } else {
            format!(
                "it is what {} would use, and new ones do not become Ready, old ones get no further interface",
                count(waiting)
            )
        };
        let help = if live.facts.plan.cni.owner == CniOwner::Absent {
            "run `eniplan apply`: it makes the add-on with the ENIConfigs in its values"
        } else {
            "run `eniplan apply --only eniconfigs`"
        };
        problems.push(
            Problem::new(
                "eniconfig-missing",
                subject(&planned.name),
                format!("the plan has it and the cluster has not: {effect}"),
                help,
            )
            .shown_by([Evidence::new(subject(&planned.name), "metadata.name", "not found")]),
        );
    }
}

fn users(live: &LiveFacts<'_>, name: &str) -> usize {
    live.nodes.iter().filter(|node| node.resolution.eni_config == name).count()
}

/// Objects with what the plan says of them.
fn planned<'a>(live: &LiveFacts<'a>) -> impl Iterator<Item = (&'a EniConfigPlan, &'a EniConfig)> {
    let inventory = live.facts.inventory;
    let planned = &live.facts.plan.eni_configs;
    planned.iter().filter_map(|planned| Some((planned, inventory.eni_config(&planned.name)?)))
}

/// Whether the live object names another subnet than the plan.
fn differs(planned: &EniConfigPlan, object: &EniConfig) -> bool {
    object.subnet.as_ref().is_some_and(|subnet| *subnet != planned.subnet_id)
}

pub(super) fn subnet_differs(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for (planned, object) in planned(live).filter(|(planned, object)| differs(planned, object)) {
        let now = object.subnet.as_deref().unwrap_or_default();
        let place = live.facts.inventory.subnet(now);
        let zone = match place {
            Some(place) if place.availability_zone_id != planned.availability_zone_id => format!(
                " in zone {} ({}), where no interface of a node in {} can be attached",
                place.availability_zone, place.availability_zone_id, planned.availability_zone
            ),
            Some(_) => String::new(),
            None => ", which is not in the VPC".into(),
        };
        problems.push(
            Problem::new(
                "eniconfig-subnet-differs",
                subject(&planned.name),
                format!(
                    "it names {now}{zone}, and the plan wants {}: the next interfaces of {} go there, and those that exist stay",
                    planned.subnet_id,
                    count(users(live, &planned.name))
                ),
                "put spec.subnet back with `eniplan apply --only eniconfigs --replace-in-use`, and replace nodes that have got interfaces there; to move pods, use a new name instead",
            )
            .shown_by([Evidence::new(subject(&planned.name), "spec.subnet", now)]),
        );
    }
}

pub(super) fn groups_differ(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for (planned, object) in planned(live) {
        let now: BTreeSet<&String> = object.security_groups.iter().collect();
        if now == planned.security_groups.iter().collect() {
            continue;
        }
        let shown = |groups: &[String]| if groups.is_empty() { "none".into() } else { groups.join(", ") };
        problems.push(
            Problem::new(
                "eniconfig-groups-differ",
                subject(&planned.name),
                format!("its security groups are {}, and the plan wants {}", shown(&object.security_groups), shown(&planned.security_groups)),
                "run `eniplan apply --only eniconfigs`; interfaces that exist keep their groups until their nodes are replaced",
            )
            .shown_by([Evidence::new(subject(&planned.name), "spec.securityGroups", shown(&object.security_groups))]),
        );
    }
}

/// Objects that a node uses and that the plan does not speak of: nobody else looks at them.
fn used_unplanned<'a>(live: &LiveFacts<'a>) -> Vec<&'a EniConfig> {
    let is_planned = |name: &str| live.facts.plan.eni_configs.iter().any(|planned| planned.name == name);
    let used = |object: &&EniConfig| users(live, &object.name) > 0 && !is_planned(&object.name);
    live.facts.inventory.eni_configs.iter().filter(used).collect()
}

pub(super) fn subnet_gone(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    if !were_read(live, GapSource::Subnets) {
        return;
    }
    let gone = |subnet: &str| match live.facts.inventory.subnet(subnet) {
        None => Some("does not exist".to_owned()),
        Some(Subnet { vpc_id: Some(vpc), .. }) if Some(vpc) != live.facts.inventory.cluster.vpc_id.as_ref() => {
            Some(format!("is in {vpc}, not in the cluster's VPC"))
        }
        Some(_) => None,
    };
    for object in used_unplanned(live) {
        let (subnet, why) = match object.subnet.as_deref() {
            None => ("", "is not named".to_owned()),
            Some(subnet) => match gone(subnet) {
                Some(why) => (subnet, why),
                None => continue,
            },
        };
        problems.push(
            Problem::new(
                "eniconfig-subnet-gone",
                subject(&object.name),
                format!("its subnet {subnet} {why}: no further interface for {}", count(users(live, &object.name))),
                "correct spec.subnet, or give the nodes another ENIConfig",
            )
            .shown_by([Evidence::new(subject(&object.name), "spec.subnet", subnet)]),
        );
    }
}

/// Longest value of a label. Source: Kubernetes, "Labels and Selectors", syntax and character set.
const LONGEST_LABEL_VALUE: usize = 63;

/// A label value is shorter than the name of an object may be.
pub(super) fn name_no_label(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    for object in live.facts.inventory.eni_configs.iter().filter(|object| object.name.len() > LONGEST_LABEL_VALUE) {
        problems.push(
            Problem::new(
                "eniconfig-name-no-label",
                subject(&object.name),
                "its name cannot be the value of a label: kubelet refuses to start with it, and no node can name it so",
                "use an object with a shorter name: 63 characters at most, of lower-case letters, digits, `-` and `.`",
            )
            .shown_by([Evidence::new(subject(&object.name), "metadata.name", object.name.clone())]),
        );
    }
}
