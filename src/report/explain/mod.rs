//! Why a node uses its ENIConfig, for people: one screen.

mod close_up;

use super::style::{BOLD, DIM, of, styled};
use super::table::table;
use crate::check::live::Standing;
use crate::finding::{Severity, on_one_line};
use crate::plan::explanation::{Arithmetic, Choice, EniConfigFacts, Explanation, LookAt, MaxPods, Place, TableRow};
use crate::verify::{CloseUp, FromTemplate};

/// The explanation as text, with what the live cluster says of the node. Verbose shows all its pods.
pub fn text(explanation: &Explanation, near: Option<&CloseUp>, verbose: bool) -> String {
    let mut text = head(explanation);
    text.push_str(&near.map(close_up::standing).unwrap_or_default());
    if explanation.without_aws_node {
        text.push_str(
            "  aws-node does not run on it (Windows, Fargate, hybrid or Auto Mode): no ENIConfig has an effect\n",
        );
        return text;
    }
    if let Some(now) = &explanation.now {
        text.push_str(&choice("Now", now));
    }
    text.push_str(&near.map(|near| close_up::sections(near, verbose)).unwrap_or_default());
    if let Some(later) = &explanation.under_planned_settings {
        text.push_str(&choice("Its next interface, with the CNI settings of the plan", later));
    }
    if let Some(row) = &explanation.table {
        let group = explanation.node_group.as_deref().unwrap_or_default();
        text.push_str(&format!("\n{}\n", styled(BOLD, &format!("The table of node group {group}"))));
        text.push_str(&table_row(row));
    }
    if let Some(planned) = &explanation.planned {
        let title =
            if explanation.now.is_some() { "A node that the plan launches there" } else { "What the CNI finds" };
        let same = explanation.now.as_ref() == Some(planned) && explanation.under_planned_settings.is_none();
        text.push_str(&if same {
            format!("\n{}  finds the same\n", styled(BOLD, title))
        } else {
            choice(title, planned)
        });
    }
    text.push_str(&max_pods(&explanation.max_pods, explanation.node_group.is_some()));
    text.push_str(&if_replaced(explanation, near));
    text
}

fn head(explanation: &Explanation) -> String {
    let Explanation { node, instance_id, instance_type, node_group, node_subnet, .. } = explanation;
    let what = node.as_deref().map_or_else(|| "A new node".to_owned(), |name| format!("Node {name}"));
    let mut facts: Vec<String> = instance_id.iter().chain(instance_type).cloned().collect();
    facts.push(match node_group {
        Some(group) => format!("node group {group}"),
        None => "no node group of the plan".into(),
    });
    let subnet = node_subnet.as_ref().map_or_else(|| "not in a subnet of the inventory".into(), place);
    format!("{}  {}\n  node subnet  {subnet}\n", styled(BOLD, &what), styled(DIM, &facts.join(", ")))
}

fn place(place: &Place) -> String {
    let Place { subnet_id, cidr, availability_zone, availability_zone_id } = place;
    format!("{subnet_id}, {cidr}, {availability_zone} ({availability_zone_id})")
}

fn choice(title: &str, choice: &Choice) -> String {
    let mut text = format!("\n{}\n", styled(BOLD, title));
    if !choice.custom_networking {
        text.push_str("  custom networking is off: pods get addresses of the node subnet, whatever the labels say\n");
        return text;
    }
    let row = |(index, look): (usize, &LookAt)| {
        let found = match look.found.as_deref() {
            None => "absent".to_owned(),
            Some("") => "empty, which counts as found".to_owned(),
            Some(found) => on_one_line(found),
        };
        let note = match index.cmp(&choice.decided_by) {
            std::cmp::Ordering::Less => "",
            std::cmp::Ordering::Equal => "decides",
            std::cmp::Ordering::Greater => "not reached",
        };
        vec![format!("{}.", index + 1), place_of(look), found, note.to_owned()]
    };
    text.push_str(&table(&["", "the CNI looks at", "finds", ""], choice.looks.iter().enumerate().map(row).collect()));
    text.push_str(&eni_config(&choice.eni_config));
    text
}

fn place_of(look: &LookAt) -> String {
    match &look.key {
        Some(key) => format!("{} {key}", look.kind),
        None => "no key: the fallback name".to_owned(),
    }
}

fn eni_config(facts: &EniConfigFacts) -> String {
    let EniConfigFacts { name, in_cluster, in_plan, pod_subnet, security_groups, same_zone } = facts;
    let name = on_one_line(name);
    let error = |text: &str| styled(of(Severity::Error), text);
    let exists = match (in_cluster, in_plan) {
        (true, true) => "in the cluster and in the plan".to_owned(),
        (true, false) => "in the cluster, not in the plan".to_owned(),
        (false, true) => "in the plan, not in the cluster yet".to_owned(),
        (false, false) => error("exists nowhere: the node gets no interface for pods"),
    };
    let mut text = format!("  ENIConfig    `{name}`, {exists}\n");
    if let Some(subnet) = pod_subnet {
        text.push_str(&format!("  pod subnet   {}\n", place(subnet)));
        let groups = if security_groups.is_empty() {
            "those of the node's primary interface".to_owned()
        } else {
            security_groups.join(", ")
        };
        text.push_str(&format!("  groups       {groups}\n"));
    } else if *in_cluster || *in_plan {
        text.push_str(&format!("  pod subnet   {}\n", error("not in the VPC of the cluster")));
    }
    if *same_zone == Some(false) {
        text.push_str(&format!("  zone         {}\n", error("another one than the node's: no interface attaches")));
    }
    text
}

fn table_row(row: &TableRow) -> String {
    let mut text = String::new();
    if row.candidates.is_empty() {
        let known: Vec<String> = row.known.iter().map(ToString::to_string).collect();
        return format!("  {} has no row; it has {}\n", row.cidr, known.join(", "));
    }
    if let [only] = row.candidates.as_slice() {
        text.push_str(&format!("  {} → {}\n", row.cidr, only.eni_config));
    } else {
        let candidate = |share: &crate::plan::explanation::Share| {
            let picked = if row.pick.as_ref() == Some(&share.eni_config) { "picked by the instance id" } else { "" };
            let percent = (share.weight * 100 + share.of / 2) / share.of.max(1);
            vec![
                share.eni_config.clone(),
                format!("{} of {}", share.weight, share.of),
                format!("{percent} %"),
                picked.into(),
            ]
        };
        text.push_str(&format!("  {}, by a hash of the instance id:\n", row.cidr));
        text.push_str(&table(&["candidate", "weight", "nodes", ""], row.candidates.iter().map(candidate).collect()));
    }
    if row.label_key.is_none() {
        text.push_str("  no label is set: its nodes stay on the ENIConfig of their zone\n");
    }
    text
}

fn max_pods(max_pods: &MaxPods, planned: bool) -> String {
    let MaxPods { reported, formula, arithmetic, written } = max_pods;
    let mut parts = Vec::new();
    parts.extend(reported.map(|reported| format!("{reported} reported")));
    parts.push(match (formula, arithmetic) {
        (Some(formula), Some(Arithmetic { pod_interfaces, slots_per_interface, prefixes })) => {
            let factors = pod_interfaces * slots_per_interface * if *prefixes { 16 } else { 1 } + 2;
            let prefixes = if *prefixes { " × 16" } else { "" };
            let capped = if factors > *formula { ", capped" } else { "" };
            format!("{formula} by the formula ({pod_interfaces} interfaces × {slots_per_interface} addresses{prefixes} + 2{capped})")
        }
        (Some(formula), None) => format!("{formula} by the formula, the least over the group's types"),
        (None, _) => "the formula needs its instance type".into(),
    });
    parts.extend(match (written, planned) {
        (Some(written), _) => Some(format!("the plan writes {written}")),
        (None, true) => Some("the plan leaves it to EKS".into()),
        (None, false) => None,
    });
    let mut text = format!("\n{}  {}\n", styled(BOLD, "Max pods"), parts.join("; "));
    if let (Some(reported), Some(formula)) = (reported, formula)
        && reported > formula
    {
        let error = styled(of(Severity::Warning), "more than it has addresses for");
        text.push_str(&format!("  {error}: the last {} pods would stay without an address\n", reported - formula));
    }
    text
}

/// What a replacement would change, for a node that is there.
fn if_replaced(explanation: &Explanation, near: Option<&CloseUp>) -> String {
    let Some(now) = &explanation.now else { return String::new() };
    let subnet = |choice: &Choice| {
        let pod_subnet = choice.eni_config.pod_subnet.as_ref().filter(|_| choice.custom_networking);
        pod_subnet.map_or_else(|| "the node subnet".into(), |place| format!("{} ({})", place.subnet_id, place.cidr))
    };
    let several = explanation.table.as_ref().filter(|row| row.candidates.len() > 1);
    let answer = match (&explanation.planned, several) {
        (_, Some(row)) => {
            let names: Vec<&str> = row.candidates.iter().map(|share| share.eni_config.as_str()).collect();
            format!("another instance id picks one of {}", names.join(", "))
        }
        (Some(planned), None) if planned.eni_config == now.eni_config && now.custom_networking => {
            match near.map(|near| near.standing) {
                Some(Standing::NeedsReplacement) => {
                    format!("the same ENIConfig, and all interfaces and pods in {}", subnet(planned))
                }
                _ => "nothing: it would use the same ENIConfig".into(),
            }
        }
        (Some(planned), None) => format!(
            "ENIConfig `{}` instead of {}: pods in {} instead of {}",
            planned.eni_config.name,
            if now.custom_networking { format!("`{}`", on_one_line(&now.eni_config.name)) } else { "none".into() },
            subnet(planned),
            subnet(now)
        ),
        (None, None) => "the plan does not say: it belongs to no group of the plan, or to no subnet of it".into(),
    };
    // The group launches nodes from the version that it uses, whatever the plan says.
    let used = near.and_then(|near| near.in_use.as_ref()).filter(|used| used.read);
    let is_labelled = explanation.table.as_ref().is_some_and(|row| row.label_key.is_some());
    let gives_otherwise = |used: &&FromTemplate| {
        is_labelled
            && explanation.planned.as_ref().is_some_and(|planned| !used.gives.contains(&planned.eni_config.name))
    };
    let planned = answer.trim_start_matches("nothing: ");
    let answer = match used.filter(gives_otherwise).map(|used| (used, used.gives.as_slice())) {
        Some((used, [])) => format!("version {} sets no label; once the plan is applied: {planned}", used.version),
        Some((used, names)) => {
            format!("version {} gives {}; once the plan is applied: {planned}", used.version, names.join(" or "))
        }
        None => answer,
    };
    let MaxPods { reported, written, .. } = &explanation.max_pods;
    let answer = match written.zip(*reported).filter(|(written, reported)| written != reported) {
        Some((written, reported)) => format!(
            "{}, and max pods {written} instead of {reported}",
            answer.replacen("nothing: it would use the same ENIConfig", "the same ENIConfig", 1)
        ),
        None => answer,
    };
    format!("{}  {answer}\n", styled(BOLD, "If it were replaced now"))
}
