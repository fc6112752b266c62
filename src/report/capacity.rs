//! Capacity for people.

use super::bars::{Bar, bar, percent};
use super::style::{BOLD, DIM, of, styled};
use super::table::table;
use crate::capacity::growth::{Addition, FirstToFill};
use crate::capacity::node_addresses::Taken;
use crate::capacity::skew::Skew;
use crate::capacity::{Capacity, Fit, GroupNeed, Load, PodSubnet, Unit};
use crate::finding::Severity;
use crate::plan::Plan;

const NOT_PROVABLE: &str = "not provable";
const DOES_NOT_FIT: &str = "does not fit";

/// The figures as text, with bars.
pub fn text(plan: &Plan, capacity: &Capacity) -> String {
    let mut text = format!("{} {} in {}\n", styled(BOLD, "Cluster"), plan.cluster, plan.region);
    text.push_str(&figures(capacity));
    text
}

/// The figures without a head line.
pub(super) fn figures(capacity: &Capacity) -> String {
    let mut text = String::new();
    text.push_str(&groups(&capacity.node_groups));
    text.push_str(&pod_subnets(&capacity.pod_subnets));
    if let Some(first) = &capacity.first_to_fill {
        text.push_str(&first_to_fill(first));
    }
    text.push_str(&skew(&capacity.skew));
    if let Some(add) = &capacity.addition {
        text.push_str(&addition(add));
    }
    text
}

fn groups(needs: &[GroupNeed]) -> String {
    if needs.is_empty() {
        return String::new();
    }
    let row = |need: &GroupNeed| {
        let unknown = || "?".to_owned();
        let mut row = vec![need.name.clone()];
        match &need.node {
            None => row.extend((0..5).map(|_| unknown())),
            Some(node) => {
                row.push(node.instance_type.clone());
                row.push(node.max_pods.to_string());
                row.push(node.at_start.addresses().to_string());
                row.push(node.idle.addresses().to_string());
                row.push(full(node.peak));
            }
        }
        match need.sizes {
            None => row.extend((0..2).map(|_| unknown())),
            Some(sizes) => {
                row.push(format!("{} / {} / {}", sizes.min, sizes.desired, sizes.max));
                row.push(format!("+{}", sizes.surge));
            }
        }
        row
    };
    let heads =
        ["node group", "type", "max pods", "at start", "idle", "addresses, full", "min / desired / max", "update"];
    format!("\n{}", table(&heads, needs.iter().map(row).collect()))
}

/// `20 on 2 interfaces`, `113: 7 prefixes on 1 interface`.
fn full(peak: Taken) -> String {
    let interfaces = format!("on {} interface{}", peak.interfaces, if peak.interfaces == 1 { "" } else { "s" });
    match peak.prefixes {
        0 => format!("{} {interfaces}", peak.addresses()),
        prefixes => format!("{}: {prefixes} prefixes {interfaces}", peak.addresses()),
    }
}

fn pod_subnets(pod_subnets: &[PodSubnet]) -> String {
    if pod_subnets.is_empty() {
        return String::new();
    }
    let with_days = pod_subnets.iter().any(|pod_subnet| pod_subnet.days_left.is_some());
    let nodes =
        |pod_subnet: &PodSubnet, load: &Load| (load.nodes.values().sum::<u64>() + pod_subnet.outside.nodes).to_string();
    let row = |pod_subnet: &PodSubnet| {
        let size = match pod_subnet.unit {
            Unit::Addresses => pod_subnet.size.to_string(),
            Unit::Blocks => format!("{} blocks", pod_subnet.size),
        };
        let mut row = vec![
            pod_subnet.eni_configs.join("\n"),
            pod_subnet.cidr.to_string(),
            pod_subnet.availability_zone.clone(),
            size,
            pod_subnet.free_addresses.map_or("?".into(), |free| free.to_string()),
            pod_subnet.nodes_now.to_string(),
            nodes(pod_subnet, &pod_subnet.at_min),
            nodes(pod_subnet, &pod_subnet.at_desired),
            nodes(pod_subnet, &pod_subnet.at_max),
            nodes(pod_subnet, &pod_subnet.at_max_with_surge),
            pod_subnet.at_max_with_surge.head_room.to_string(),
        ];
        if with_days {
            row.push(pod_subnet.days_left.map_or("–".into(), |days| days.to_string()));
        }
        row
    };
    let mut heads = vec![
        "ENIConfig",
        "pod subnet",
        "zone",
        "size",
        "free now",
        "nodes now",
        "min",
        "desired",
        "max",
        "update",
        "head-room",
    ];
    if with_days {
        heads.push("days left");
    }
    format!("\n{}\n{}", table(&heads, pod_subnets.iter().map(row).collect()), bars(pod_subnets))
}

fn bars(pod_subnets: &[PodSubnet]) -> String {
    let with_chance = pod_subnets.iter().any(|pod_subnet| pod_subnet.by_chance.is_some());
    let row = |pod_subnet: &PodSubnet| {
        let percent = |taken: u64| percent(pod_subnet.others + taken, pod_subnet.size);
        let mut row = vec![
            pod_subnet.eni_configs.join("\n"),
            bar(Bar {
                size: pod_subnet.size,
                others: pod_subnet.others,
                desired: pod_subnet.at_desired.taken,
                max: pod_subnet.at_max.taken,
            }),
            percent(pod_subnet.at_desired.taken),
            percent(pod_subnet.at_max.taken),
        ];
        if with_chance {
            row.push(pod_subnet.by_chance.map_or(String::new(), |by_chance| percent(by_chance.p95_taken)));
        }
        row.push(match pod_subnet.at_max.fit {
            Fit::Fits => String::new(),
            Fit::NotProvable => NOT_PROVABLE.into(),
            Fit::DoesNotFit => DOES_NOT_FIT.into(),
        });
        row
    };
    let mut heads = vec!["ENIConfig", "full nodes", "desired", "max"];
    if with_chance {
        heads.push("max, p95");
    }
    heads.push("");
    let legend = styled(DIM, "▚ others  █ desired  ▒ up to max  ░ free");
    let bars = table(&heads, pod_subnets.iter().map(row).collect());
    let lines: String = bars.lines().map(|line| format!("{}\n", coloured(line))).collect();
    format!("{lines}  {legend}\n")
}

/// Colours whole lines: the table counts the characters of a colour inside a cell.
fn coloured(line: &str) -> String {
    if line.ends_with(DOES_NOT_FIT) {
        return styled(of(Severity::Error), line);
    }
    if line.ends_with(NOT_PROVABLE) {
        return styled(of(Severity::Warning), line);
    }
    line.to_owned()
}

fn first_to_fill(first: &FirstToFill) -> String {
    let when = match first.days {
        Some(days) => format!(", in {days} days"),
        None => String::new(),
    };
    format!(
        "\n{} {} ({}) by {}{when}: it holds until {} has {} nodes in all; {} wanted now\n",
        styled(BOLD, "First to fill"),
        first.eni_configs.join(", "),
        first.subnet_id,
        first.node_group,
        first.node_group,
        first.node_group_fits,
        if first.node_group_desired == 1 { "1 is".to_owned() } else { format!("{} are", first.node_group_desired) }
    )
}

fn skew(skew: &[Skew]) -> String {
    if skew.is_empty() {
        return String::new();
    }
    let row = |skew: &Skew| {
        let candidates = |text: &dyn Fn(&crate::capacity::skew::CandidateSkew) -> String| {
            skew.candidates.iter().map(text).collect::<Vec<_>>().join("\n")
        };
        vec![
            skew.node_group.clone(),
            skew.availability_zone.clone(),
            skew.nodes.to_string(),
            format!("{:.2} ×", skew.fullest_expected),
            format!("{:.2} ×", skew.fullest_p95),
            candidates(&|candidate| candidate.eni_config.clone()),
            candidates(&|candidate| format!("{:.1}", candidate.expected)),
            candidates(&|candidate| candidate.p95.to_string()),
        ]
    };
    let heads = ["hash", "zone", "nodes", "fullest", "p95", "ENIConfig", "expected", "p95"];
    format!("\n{}", table(&heads, skew.iter().map(row).collect()))
}

fn addition(addition: &Addition) -> String {
    let with_days = addition.node_groups.iter().any(|group| group.days.is_some());
    let rows = addition
        .node_groups
        .iter()
        .map(|group| {
            let nodes = match group.nodes.worst == group.nodes.best {
                true => group.nodes.worst.to_string(),
                false => format!("{} to {}", group.nodes.worst, group.nodes.best),
            };
            let mut row = vec![group.node_group.clone(), nodes, group.pods.to_string()];
            if with_days {
                row.push(group.days.map_or("–".into(), |days| days.to_string()));
            }
            row
        })
        .collect();
    let mut heads = vec!["node group", "full nodes", "pods"];
    if with_days {
        heads.push("days, one in each zone");
    }
    format!(
        "\n{} /{} has {} addresses and holds, of one group alone:\n{}",
        styled(BOLD, "A further"),
        addition.prefix_length,
        addition.usable_addresses,
        table(&heads, rows)
    )
}
