//! The figures beside the pictures, for people who copy numbers.

use super::Sheet;
use super::markup::Markup;
use crate::capacity::growth::Addition;
use crate::capacity::moves::{GroupChange, Move};
use crate::capacity::{Capacity, Fit, GroupNeed, PodSubnet};
use crate::finding::Finding;
use crate::plan::NodeGroupPlan;

/// One cell: the head of its column, the field of the JSON that it shows, and the text.
struct Cell {
    head: &'static str,
    field: &'static str,
    text: String,
}

fn cell(head: &'static str, field: &'static str, text: impl ToString) -> Cell {
    Cell { head, field, text: text.to_string() }
}

impl Cell {
    /// Numbers, and what stands in their place, keep to the right.
    fn class(&self) -> &'static str {
        let is_number = self.text.parse::<f64>().is_ok() || matches!(self.text.as_str(), "–" | "?");
        if is_number { "number" } else { "text" }
    }
}

fn or_unknown(count: Option<u64>) -> String {
    count.map_or("?".into(), |count| count.to_string())
}

fn or_none(count: Option<u64>) -> String {
    count.map_or("–".into(), |count| count.to_string())
}

/// A section that can be folded; open, so that it is printed.
fn section(page: &mut Markup, title: &str, inside: impl FnOnce(&mut Markup)) {
    page.within("details", &[("open", "")], |page| {
        page.element("summary", &[], title);
        inside(page);
    });
}

/// A table that scrolls in its own frame where the page is narrow. `key` names a row.
fn table(page: &mut Markup, caption: &str, kind: &str, rows: Vec<(String, Vec<Cell>)>) {
    let frame = [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", caption)];
    page.within("div", &frame, |page| {
        page.within("table", &[("data-table", kind)], |page| {
            page.within("thead", &[], |page| {
                page.within("tr", &[], |page| {
                    for cell in rows.first().map_or(&[][..], |(_, cells)| cells) {
                        page.element("th", &[("scope", "col"), ("class", cell.class())], cell.head);
                    }
                });
            });
            page.within("tbody", &[], |page| {
                for (key, cells) in &rows {
                    page.within("tr", &[("data-key", key)], |page| {
                        for cell in cells {
                            page.element("td", &[("data-field", cell.field), ("class", cell.class())], &cell.text);
                        }
                    });
                }
            });
        });
    });
}

/// All tables of a sheet.
pub(super) fn tables(page: &mut Markup, sheet: &Sheet<'_>) {
    if let Some(moved) = sheet.moved {
        section(page, "What the move touches", |page| move_table(page, moved));
    }
    section(page, "Pod subnets", |page| pod_subnets(page, sheet.capacity));
    section(page, "Node groups", |page| {
        node_groups(page, sheet.capacity);
        first_to_fill(page, sheet.capacity);
    });
    section(page, "Which node subnet uses which ENIConfig", |page| assignments(page, &sheet.plan.node_groups));
    if !sheet.capacity.skew.is_empty() {
        section(page, "What chance does to a hash", |page| skew(page, sheet.capacity));
    }
    if let Some(add) = &sheet.capacity.addition {
        section(page, &format!("What a further /{} would hold", add.prefix_length), |page| addition(page, add));
    }
    if !sheet.findings.is_empty() {
        section(page, "Findings", |page| findings(page, sheet.findings));
    }
}

fn pod_subnets(page: &mut Markup, capacity: &Capacity) {
    let row = |subnet: &PodSubnet| {
        let fit = match subnet.at_max.fit {
            Fit::Fits => "yes",
            Fit::NotProvable => "not provable",
            Fit::DoesNotFit => "no",
        };
        let p95 = subnet.by_chance.map(|by_chance| by_chance.p95_taken);
        let cells = vec![
            cell("ENIConfig", "eni_configs", subnet.eni_configs.join(", ")),
            cell("CIDR", "cidr", subnet.cidr),
            cell("zone", "availability_zone", &subnet.availability_zone),
            cell("size", "size", subnet.size),
            cell("in", "unit", subnet.unit.word()),
            cell("free addresses now", "free_addresses", or_unknown(subnet.free_addresses)),
            cell("nodes now", "nodes_now", subnet.nodes_now),
            cell("taken by others", "others", subnet.others),
            cell("taken at min", "at_min.taken", subnet.at_min.taken),
            cell("taken at desired", "at_desired.taken", subnet.at_desired.taken),
            cell("taken at max", "at_max.taken", subnet.at_max.taken),
            cell("at max, p95", "by_chance.p95_taken", or_none(p95)),
            cell("max fits", "at_max.fit", fit),
            cell("taken in an update", "at_max_with_surge.taken", subnet.at_max_with_surge.taken),
            cell("head-room then", "at_max_with_surge.head_room", subnet.at_max_with_surge.head_room),
            cell("days left", "days_left", or_none(subnet.days_left)),
            cell("pod subnet", "subnet_id", &subnet.subnet_id),
        ];
        (subnet.subnet_id.clone(), cells)
    };
    table(page, "Pod subnets", "pod-subnets", capacity.pod_subnets.iter().map(row).collect());
}

fn node_groups(page: &mut Markup, capacity: &Capacity) {
    let row = |need: &GroupNeed| {
        let node = need.node.as_ref();
        let cells = vec![
            cell("node group", "name", &need.name),
            cell("type", "node.instance_type", node.map_or("?", |node| node.instance_type.as_str())),
            cell("max pods", "node.max_pods", or_unknown(node.map(|node| node.max_pods.into()))),
            cell("addresses at start", "node.at_start", or_unknown(node.map(|node| node.at_start.addresses()))),
            cell("idle", "node.idle", or_unknown(node.map(|node| node.idle.addresses()))),
            cell("full", "node.peak", or_unknown(node.map(|node| node.peak.addresses()))),
            cell("prefixes, full", "node.peak.prefixes", or_unknown(node.map(|node| node.peak.prefixes.into()))),
            cell("min", "sizes.min", or_unknown(need.sizes.map(|sizes| sizes.min))),
            cell("desired", "sizes.desired", or_unknown(need.sizes.map(|sizes| sizes.desired))),
            cell("max", "sizes.max", or_unknown(need.sizes.map(|sizes| sizes.max))),
            cell("an update adds", "sizes.surge", or_unknown(need.sizes.map(|sizes| sizes.surge))),
        ];
        (need.name.clone(), cells)
    };
    table(page, "Node groups", "node-groups", capacity.node_groups.iter().map(row).collect());
}

fn first_to_fill(page: &mut Markup, capacity: &Capacity) {
    let Some(first) = &capacity.first_to_fill else { return };
    let when = first.days.map_or(String::new(), |days| format!(", in {days} days"));
    page.element(
        "p",
        &[("class", "first-to-fill")],
        &format!(
            "First to fill: {} ({}) by {}{when}. It holds until {} has {} nodes in all; {} wanted now.",
            first.eni_configs.join(", "),
            first.subnet_id,
            first.node_group,
            first.node_group,
            first.node_group_fits,
            if first.node_group_desired == 1 { "1 is".to_owned() } else { format!("{} are", first.node_group_desired) }
        ),
    );
}

fn assignments(page: &mut Markup, groups: &[NodeGroupPlan]) {
    let rows = groups
        .iter()
        .flat_map(|group| group.assignments.iter().map(move |row| (group, row)))
        .flat_map(|(group, row)| row.candidates.iter().map(move |candidate| (group, row, candidate)))
        .map(|(group, row, candidate)| {
            let cells = vec![
                cell("node group", "node_group", &group.name),
                cell("CIDR", "cidr", row.cidr),
                cell("zone", "availability_zone", &row.availability_zone),
                cell("ENIConfig", "eni_config", &candidate.eni_config),
                cell("weight", "weight", candidate.weight),
                cell("node subnet", "subnet_id", &row.subnet_id),
            ];
            (format!("{} {} {}", group.name, row.subnet_id, candidate.eni_config), cells)
        })
        .collect();
    table(page, "Which node subnet uses which ENIConfig", "assignments", rows);
}

fn skew(page: &mut Markup, capacity: &Capacity) {
    let rows = capacity
        .skew
        .iter()
        .flat_map(|skew| skew.candidates.iter().map(move |candidate| (skew, candidate)))
        .map(|(skew, candidate)| {
            let cells = vec![
                cell("node group", "node_group", &skew.node_group),
                cell("zone", "availability_zone", &skew.availability_zone),
                cell("nodes at max", "nodes", skew.nodes),
                cell("fullest, times its share", "fullest_expected", skew.fullest_expected),
                cell("the same, p95", "fullest_p95", skew.fullest_p95),
                cell("ENIConfig", "eni_config", &candidate.eni_config),
                cell("nodes expected", "expected", candidate.expected),
                cell("nodes, p95", "p95", candidate.p95),
            ];
            (format!("{} {} {}", skew.node_group, skew.availability_zone, candidate.eni_config), cells)
        })
        .collect();
    table(page, "What chance does to a hash", "skew", rows);
}

fn addition(page: &mut Markup, addition: &Addition) {
    let rows = addition
        .node_groups
        .iter()
        .map(|group| {
            let cells = vec![
                cell("node group", "node_group", &group.node_group),
                cell("nodes, worst case", "nodes.worst", group.nodes.worst),
                cell("nodes, best case", "nodes.best", group.nodes.best),
                cell("pods", "pods", group.pods),
                cell("days, one in each zone", "days", or_none(group.days)),
            ];
            (group.node_group.clone(), cells)
        })
        .collect();
    table(page, "What a further pod subnet would hold", "addition", rows);
}

fn move_table(page: &mut Markup, moved: &Move) {
    let rows = moved
        .node_groups
        .iter()
        .map(|group| {
            let change = match group.change {
                GroupChange::New => "new",
                GroupChange::Replaced => "replaced",
                GroupChange::Resized => "sizes only",
                GroupChange::Untouched => "untouched",
                GroupChange::Dropped => "no longer planned",
            };
            let cells = vec![
                cell("node group", "name", &group.name),
                cell("change", "change", change),
                cell("nodes replaced", "nodes_replaced", group.nodes_replaced.len()),
                cell("nodes untouched", "nodes_untouched", group.nodes_untouched),
                cell("launch template", "launch_template", group.launch_template.as_deref().unwrap_or("none")),
                cell("what differs", "differs", group.differs.join("; ")),
            ];
            (group.name.clone(), cells)
        })
        .collect();
    table(page, "What the move touches", "move", rows);
    if !moved.eni_configs_added.is_empty() {
        page.element("p", &[], &format!("New ENIConfigs: {}.", moved.eni_configs_added.join(", ")));
    }
}

fn findings(page: &mut Markup, findings: &[Finding]) {
    page.within("ul", &[("class", "findings")], |page| {
        for finding in findings {
            page.within("li", &[("class", finding.severity.word())], |page| {
                page.element("strong", &[], &format!("{}[{}] ", finding.severity.word(), finding.rule));
                page.element("span", &[], &format!("{}: {}", finding.subject, finding.message));
                page.element("span", &[("class", "help")], &format!(" Help: {}", finding.help));
            });
        }
    });
}
