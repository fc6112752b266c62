//! The picture of one zone: node subnets → ENIConfigs → pod subnets with their fill.

use std::collections::{BTreeMap, BTreeSet};

use super::Sheet;
use super::markup::Markup;
use crate::capacity::{Fit, PodSubnet};
use crate::plan::{Assignment, EniConfigPlan};
use crate::report::bars::percent;

const WIDTH: i64 = 384;
const LEFT: i64 = 4;
const LEFT_WIDTH: i64 = 124;
const RIGHT: i64 = 184;
const RIGHT_WIDTH: i64 = 196;
const NODE_SUBNET_HEIGHT: i64 = 40;
const NODE_SUBNET_GAP: i64 = 12;
const CHIP_HEIGHT: i64 = 24;
const ARROW: i64 = 10;
const POD_SUBNET_HEIGHT: i64 = 42;
const ITEM_GAP: i64 = 16;
const ITEM: i64 = CHIP_HEIGHT + ARROW + POD_SUBNET_HEIGHT + ITEM_GAP;
const MARGIN: i64 = 6;

/// Characters that fit into the boxes, in the widest of the usual fonts.
const CHIP_CHARACTERS: usize = 24;
const SUBNET_ID_CHARACTERS: usize = 18;

/// Colours that the style sheet has for groups.
const COLOURS: usize = 6;

/// Numbers of the groups of all sheets, which decide colour and dash.
pub(super) type GroupNumbers = BTreeMap<String, usize>;

/// The zones of a sheet, each a figure.
pub(super) fn zones(page: &mut Markup, sheet: &Sheet<'_>, number: usize, groups: &GroupNumbers) {
    let mut zones: Vec<&str> = sheet
        .plan
        .eni_configs
        .iter()
        .map(|eni_config| eni_config.availability_zone.as_str())
        .chain(rows(sheet).map(|(_, row)| row.availability_zone.as_str()))
        .collect();
    zones.sort_unstable();
    zones.dedup();
    page.within("div", &[("class", "zones")], |page| {
        for (index, zone) in zones.into_iter().enumerate() {
            Zone::new(sheet, zone).draw(page, &format!("z{number}-{index}"), groups);
        }
    });
}

fn rows<'a>(sheet: &Sheet<'a>) -> impl Iterator<Item = (&'a str, &'a Assignment)> {
    let groups = sheet.plan.node_groups.iter();
    groups.flat_map(|group| group.assignments.iter().map(move |row| (group.name.as_str(), row)))
}

struct Zone<'a> {
    name: &'a str,
    /// Id and CIDR, in the order of the ENIConfigs that they use, so that few curves cross.
    node_subnets: Vec<(&'a str, String)>,
    items: Vec<(&'a EniConfigPlan, Option<&'a PodSubnet>)>,
    /// Characters at the end of all ENIConfig names of the zone, such as the zone's name.
    common_end: usize,
    rows: Vec<(&'a str, &'a Assignment)>,
}

impl<'a> Zone<'a> {
    fn new(sheet: &Sheet<'a>, name: &'a str) -> Self {
        let rows: Vec<_> = rows(sheet).filter(|(_, row)| row.availability_zone == name).collect();
        let items: Vec<(&EniConfigPlan, Option<&PodSubnet>)> = sheet
            .plan
            .eni_configs
            .iter()
            .filter(|eni_config| eni_config.availability_zone == name)
            .map(|eni_config| {
                let pod_subnets = &sheet.capacity.pod_subnets;
                (eni_config, pod_subnets.iter().find(|pod_subnet| pod_subnet.subnet_id == eni_config.subnet_id))
            })
            .collect();
        Self {
            name,
            node_subnets: node_subnets(&rows, &items),
            common_end: common_end(items.iter().map(|(eni_config, _)| eni_config.name.as_str())),
            items,
            rows,
        }
    }

    /// An ENIConfig's name as it fits into its box: without the end that it shares with the others, where it is long.
    fn label(&self, name: &str) -> String {
        let characters = name.chars().count();
        if characters <= CHIP_CHARACTERS || self.common_end == 0 {
            return shortened(name, CHIP_CHARACTERS);
        }
        let own: String = name.chars().take(characters - self.common_end).collect();
        shortened(&format!("{own}…"), CHIP_CHARACTERS)
    }

    fn height(&self) -> i64 {
        let left = self.node_subnets.len() as i64 * (NODE_SUBNET_HEIGHT + NODE_SUBNET_GAP) - NODE_SUBNET_GAP;
        let right = self.items.len() as i64 * ITEM - ITEM_GAP;
        left.max(right).max(0) + 2 * MARGIN
    }

    /// Top of the n-th node subnet; all of them stand in the middle of the height.
    fn node_subnet_top(&self, index: usize) -> i64 {
        let count = self.node_subnets.len() as i64;
        let all = count * (NODE_SUBNET_HEIGHT + NODE_SUBNET_GAP) - NODE_SUBNET_GAP;
        (self.height() - all) / 2 + index as i64 * (NODE_SUBNET_HEIGHT + NODE_SUBNET_GAP)
    }

    fn item_top(index: usize) -> i64 {
        MARGIN + index as i64 * ITEM
    }

    fn draw(&self, page: &mut Markup, id: &str, groups: &GroupNumbers) {
        let (title, description) = (format!("{id}-title"), format!("{id}-desc"));
        let labelled = format!("{title} {description}");
        let view_box = format!("0 0 {WIDTH} {}", self.height());
        page.within("figure", &[("class", "zone")], |page| {
            page.element("figcaption", &[], self.name);
            let attributes = [("viewBox", view_box.as_str()), ("role", "img"), ("aria-labelledby", labelled.as_str())];
            page.within("svg", &attributes, |page| {
                page.element("title", &[("id", &title)], &format!("Zone {}", self.name));
                page.element("desc", &[("id", &description)], &self.description());
                self.links(page, groups);
                for (index, (id, cidr)) in self.node_subnets.iter().enumerate() {
                    node_subnet(page, self.node_subnet_top(index), id, cidr);
                }
                for (index, (eni_config, pod_subnet)) in self.items.iter().enumerate() {
                    item(page, Self::item_top(index), &self.label(&eni_config.name), eni_config, *pod_subnet);
                }
            });
        });
    }

    /// The same in words, for those who do not see it.
    fn description(&self) -> String {
        let mut sentences: Vec<String> = self
            .rows
            .iter()
            .map(|(group, row)| {
                let names: Vec<&str> = row.candidates.iter().map(|candidate| candidate.eni_config.as_str()).collect();
                format!("Nodes of {group} in node subnet {} use {}.", row.cidr, names.join(" or "))
            })
            .collect();
        for (eni_config, pod_subnet) in &self.items {
            let fill = pod_subnet.map_or(String::new(), |pod_subnet| {
                format!(", which is {} full at the largest sizes", fill(pod_subnet, pod_subnet.at_max.taken))
            });
            sentences.push(format!("ENIConfig {} stands for pod subnet {}{fill}.", eni_config.name, eni_config.cidr));
        }
        sentences.join(" ")
    }

    /// A curve from each node subnet to each candidate, in the group's colour and dash.
    fn links(&self, page: &mut Markup, groups: &GroupNumbers) {
        let mut drawn: BTreeMap<(usize, usize), i64> = BTreeMap::new();
        for (group, row) in &self.rows {
            let number = groups.get(*group).copied().unwrap_or_default();
            let class = format!("link g{} d{}", number % COLOURS, number % 4);
            let Some(from) = self.node_subnets.iter().position(|(id, _)| *id == row.subnet_id) else { continue };
            for candidate in &row.candidates {
                let Some(to) = self.items.iter().position(|(item, _)| item.name == candidate.eni_config) else {
                    continue;
                };
                // Groups that share a way run side by side.
                let lane = drawn.entry((from, to)).or_insert(0);
                let shift = if *lane % 2 == 0 { *lane / 2 * 4 } else { -(*lane / 2 + 1) * 4 };
                *lane += 1;
                let (x1, x2) = (LEFT + LEFT_WIDTH, RIGHT);
                let y1 = self.node_subnet_top(from) + NODE_SUBNET_HEIGHT / 2 + shift;
                let y2 = Self::item_top(to) + CHIP_HEIGHT / 2 + shift;
                let middle = (x1 + x2) / 2;
                let path = format!("M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}");
                page.within("path", &[("class", &class), ("d", &path)], |page| page.element("title", &[], group));
            }
        }
    }
}

fn node_subnet(page: &mut Markup, top: i64, id: &str, cidr: &str) {
    page.within("g", &[("class", "node-subnet")], |page| {
        page.element("title", &[], &format!("node subnet {id}"));
        rect(page, "box", LEFT, top, LEFT_WIDTH, NODE_SUBNET_HEIGHT);
        text(page, "mono strong", LEFT + 8, top + 17, cidr);
        text(page, "mono muted small", LEFT + 8, top + 31, &shortened(id, SUBNET_ID_CHARACTERS));
    });
}

fn item(page: &mut Markup, top: i64, label: &str, eni_config: &EniConfigPlan, pod_subnet: Option<&PodSubnet>) {
    page.within("g", &[("class", "eni-config")], |page| {
        page.element("title", &[], &format!("ENIConfig {}", eni_config.name));
        rect(page, "chip", RIGHT, top, RIGHT_WIDTH, CHIP_HEIGHT);
        text(page, "strong", RIGHT + 8, top + 16, label);
    });
    let below = top + CHIP_HEIGHT;
    let path = format!("M{0} {below} v{1} m-3 -4 l3 4 l3 -4", RIGHT + 20, ARROW - 1);
    page.shape("path", &[("class", "arrow"), ("d", &path)]);
    let top = below + ARROW;
    page.within("g", &[("class", "pod-subnet")], |page| {
        page.element("title", &[], &format!("pod subnet {} ({})", eni_config.subnet_id, eni_config.cidr));
        let class = match pod_subnet.map(|pod_subnet| pod_subnet.at_max.fit) {
            Some(Fit::DoesNotFit) => "box too-full",
            Some(Fit::NotProvable) => "box perhaps",
            Some(Fit::Fits) | None => "box",
        };
        rect(page, class, RIGHT, top, RIGHT_WIDTH, POD_SUBNET_HEIGHT);
        text(page, "mono", RIGHT + 8, top + 17, &eni_config.cidr.to_string());
        if let Some(pod_subnet) = pod_subnet {
            let label = format!("{} at max", fill(pod_subnet, pod_subnet.at_max.taken));
            let x = (RIGHT + RIGHT_WIDTH - 8).to_string();
            page.element("text", &[("class", "small end"), ("x", &x), ("y", &(top + 17).to_string())], &label);
            bar(page, RIGHT + 8, top + 25, RIGHT_WIDTH - 16, pod_subnet);
        }
    });
}

/// How full a pod subnet is, others included.
fn fill(pod_subnet: &PodSubnet, taken: u64) -> String {
    percent(pod_subnet.others + taken, pod_subnet.size)
}

fn bar(page: &mut Markup, x: i64, y: i64, width: i64, pod_subnet: &PodSubnet) {
    let size = pod_subnet.size.max(1);
    let at = |taken: u64| {
        let part = (taken.min(size) as i128 * i128::from(width)) / size as i128;
        i64::try_from(part).unwrap_or(width)
    };
    let others = at(pod_subnet.others);
    let desired = at(pod_subnet.others + pod_subnet.at_desired.taken);
    let max = at(pod_subnet.others + pod_subnet.at_max.taken.max(pod_subnet.at_desired.taken));
    rect(page, "free", x, y, width, 9);
    rect(page, "others", x, y, others, 9);
    rect(page, "desired", x + others, y, desired - others, 9);
    rect(page, "max", x + desired, y, max - desired, 9);
    if let Some(by_chance) = pod_subnet.by_chance {
        let p95 = x + at(pod_subnet.others + by_chance.p95_taken);
        let path = format!("M{p95} {} v13", y - 2);
        page.within("path", &[("class", "p95"), ("d", &path)], |page| {
            page.element("title", &[], "one outcome of twenty is beyond this mark");
        });
    }
}

fn rect(page: &mut Markup, class: &str, x: i64, y: i64, width: i64, height: i64) {
    if width <= 0 {
        return;
    }
    page.shape(
        "rect",
        &[
            ("class", class),
            ("x", &x.to_string()),
            ("y", &y.to_string()),
            ("width", &width.to_string()),
            ("height", &height.to_string()),
            ("rx", if height < 10 { "2" } else { "4" }),
        ],
    );
}

fn text(page: &mut Markup, class: &str, x: i64, y: i64, text: &str) {
    page.element("text", &[("class", class), ("x", &x.to_string()), ("y", &y.to_string())], text);
}

fn node_subnets<'a>(
    rows: &[(&'a str, &'a Assignment)],
    items: &[(&EniConfigPlan, Option<&PodSubnet>)],
) -> Vec<(&'a str, String)> {
    let first_item = |row: &Assignment| {
        let used = |name: &str| row.candidates.iter().any(|candidate| candidate.eni_config == name);
        items.iter().position(|(eni_config, _)| used(&eni_config.name))
    };
    let mut subnets: Vec<(Option<usize>, &str, String)> =
        rows.iter().map(|(_, row)| (first_item(row), row.subnet_id.as_str(), row.cidr.to_string())).collect();
    subnets.sort();
    let mut seen = BTreeSet::new();
    subnets.retain(|(_, id, _)| seen.insert(*id));
    subnets.into_iter().map(|(_, id, cidr)| (id, cidr)).collect()
}

/// How many characters all of several names have in common at their end.
fn common_end<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    let mut names: Vec<Vec<char>> = names.map(|name| name.chars().rev().collect()).collect();
    names.dedup();
    let Some((first, rest)) = names.split_first().filter(|(_, rest)| !rest.is_empty()) else { return 0 };
    (0..first.len()).take_while(|at| rest.iter().all(|name| name.get(*at) == first.get(*at))).count()
}

/// Without its middle where it is too long: names tend to differ at their ends.
fn shortened(text: &str, characters: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= characters {
        return text.to_owned();
    }
    let kept = characters.saturating_sub(1);
    let (head, tail) = (kept.div_ceil(2), kept / 2);
    let start: String = all.iter().take(head).collect();
    let end: String = all.iter().skip(all.len() - tail).collect();
    format!("{start}…{end}")
}

/// The colours and dashes of groups, and what the parts of a bar mean.
pub(super) fn legend(page: &mut Markup, groups: &GroupNumbers, sheets: &[Sheet<'_>]) {
    let mut by_number: Vec<(&String, usize)> = groups.iter().map(|(name, number)| (name, *number)).collect();
    by_number.sort_by_key(|(_, number)| *number);
    page.within("ul", &[("class", "legend")], |page| {
        for (name, number) in by_number {
            page.within("li", &[], |page| {
                let class = format!("link g{} d{}", number % COLOURS, number % 4);
                sample(page, "path", &[("class", &class), ("d", "M1 6 h30")]);
                page.element("span", &[], name);
            });
        }
        for (class, meaning) in [
            ("others", "taken by others"),
            ("desired", "at desired sizes"),
            ("max", "up to the largest sizes"),
            ("free", "free"),
        ] {
            page.within("li", &[], |page| {
                let bar = [("class", class), ("x", "1"), ("y", "2"), ("width", "30"), ("height", "9"), ("rx", "2")];
                sample(page, "rect", &bar);
                page.element("span", &[], meaning);
            });
        }
        let by_chance = |sheet: &Sheet<'_>| sheet.capacity.pod_subnets.iter().any(|subnet| subnet.by_chance.is_some());
        if sheets.iter().any(by_chance) {
            page.within("li", &[], |page| {
                sample(page, "path", &[("class", "p95"), ("d", "M16 0 v13")]);
                page.element("span", &[], "one outcome of twenty is beyond");
            });
        }
    });
}

fn sample(page: &mut Markup, tag: &str, attributes: &[(&str, &str)]) {
    let svg = [("viewBox", "0 0 32 13"), ("class", "sample"), ("aria-hidden", "true")];
    page.within("svg", &svg, |page| page.shape(tag, attributes));
}

#[cfg(test)]
mod tests {
    use super::{common_end, shortened};

    #[test]
    fn names_lose_what_they_share_or_their_middle() {
        assert_eq!(common_end(["pods-1-eu-west-1a", "pods-2-eu-west-1a"].into_iter()), "-eu-west-1a".len());
        assert_eq!(common_end(["pods-1"].into_iter()), 0);
        assert_eq!(common_end(["a", "b"].into_iter()), 0);
        assert_eq!(shortened("subnet-0123456789abcdef0", 18), "subnet-01…9abcdef0");
        assert_eq!(shortened("short", 18), "short");
    }
}
