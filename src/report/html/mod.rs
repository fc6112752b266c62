//! Plans and capacities as one page for a browser: pictures, and tables beside them. No script and no reference to
//! anything outside the page.

mod figure;
mod markup;
mod tables;

use std::collections::BTreeSet;

use self::figure::GroupNumbers;
use self::markup::Markup;
use crate::capacity::Capacity;
use crate::capacity::moves::Move;
use crate::finding::Finding;
use crate::plan::Plan;

/// What tells pages of ours from other files.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"eniplan\">";

const STYLE: &str = include_str!("../../../templates/page.css");

/// One plan on the page.
#[derive(Debug, Clone, Copy)]
pub struct Sheet<'a> {
    /// The phase; `None` where there are none, or for the spec without them.
    pub phase: Option<&'a str>,
    /// What was decided.
    pub plan: &'a Plan,
    /// What its pod subnets hold.
    pub capacity: &'a Capacity,
    /// The move to it from the phase before.
    pub moved: Option<&'a Move>,
    /// What is wrong.
    pub findings: &'a [Finding],
}

/// The page. `title` says what it shows: "Plan", "Capacity".
pub fn page(title: &str, cluster: &str, region: &str, sheets: &[Sheet<'_>]) -> String {
    let groups = group_numbers(sheets);
    let heading = format!("{title} of {cluster}");
    let mut page = Markup::default();
    page.own("<!DOCTYPE html>\n");
    page.within("html", &[("lang", "en")], |page| {
        page.within("head", &[], |page| {
            page.empty("meta", &[("charset", "utf-8")]);
            page.empty("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
            page.empty("meta", &[("name", "color-scheme"), ("content", "light dark")]);
            page.own(GENERATOR);
            page.element("title", &[], &heading);
            page.within("style", &[], |page| page.own(STYLE));
        });
        page.within("body", &[], |page| {
            page.within("header", &[], |page| {
                page.element("h1", &[], &heading);
                page.element("p", &[("class", "muted")], &format!("EKS cluster {cluster} in {region}. All figures are for full nodes: as many pods as kubelet takes."));
                figure::legend(page, &groups, sheets);
            });
            page.within("main", &[], |page| {
                for (number, sheet) in sheets.iter().enumerate() {
                    one(page, sheet, number, sheets.len(), &groups);
                }
            });
        });
    });
    page.finish()
}

fn group_numbers(sheets: &[Sheet<'_>]) -> GroupNumbers {
    let names: BTreeSet<&String> =
        sheets.iter().flat_map(|sheet| sheet.plan.node_groups.iter().map(|group| &group.name)).collect();
    names.into_iter().enumerate().map(|(number, name)| (name.clone(), number)).collect()
}

fn one(page: &mut Markup, sheet: &Sheet<'_>, number: usize, count: usize, groups: &GroupNumbers) {
    let title = match (sheet.phase, count) {
        (Some(phase), _) => Some(format!("Phase {phase}")),
        (None, 1) => None,
        (None, _) => Some("The spec without phases".to_owned()),
    };
    page.within("section", &[("data-phase", sheet.phase.unwrap_or_default())], |page| {
        if let Some(title) = &title {
            page.element("h2", &[], title);
        }
        figure::zones(page, sheet, number, groups);
        tables::tables(page, sheet);
    });
}
