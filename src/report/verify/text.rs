//! The report for people: what five seconds are enough for, then causes with their evidence, then what to do next.

use super::super::findings::count;
use super::super::style::{ADDED, BOLD, CHANGED, DIM, REMOVED, of, styled};
use super::super::table::table;
use super::{STANDINGS, words};
use crate::check::live::{CannotTell, Standing};
use crate::finding::{Finding, Severity, Subject, has_errors};
use crate::inventory::GapSource;
use crate::verify::{GroupReport, Report, Selection};

/// Lines of evidence that are shown of each finding, unless all are asked for.
const SHOWN: usize = 5;

/// Rules that say what was not read. What they keep from being told is not wrong.
const UNREAD: [&str; 2] = ["read-failed", "evidence-unread"];

/// The report. Quiet leaves the verdict and the errors, verbose shows all evidence.
pub fn text(report: &Report, selection: &Selection, quiet: bool, verbose: bool) -> String {
    let shown = if verbose { usize::MAX } else { SHOWN };
    let findings = |least: Severity| -> String {
        report.findings.iter().filter(|found| found.severity <= least).map(|found| finding(found, shown)).collect()
    };
    let mut text = format!("{}\n", headline(report));
    text.push_str(&not_shown(report, selection));
    if quiet {
        return text + &findings(Severity::Error);
    }
    text.push_str(&styled(
        DIM,
        &format!("{}, {}, as it was at {}", report.cluster, report.region, report.collected_at),
    ));
    text.push_str(&format!("\n{}{}{}", groups(report), absent(report), left_out(report)));
    if !report.findings.is_empty() {
        text.push_str(&format!("\n{}", findings(Severity::Note)));
    }
    text.push_str(&cannot_tell(report));
    text.push_str(&next(report, selection));
    text
}

/// `12 nodes: 9 right, 2 outdated, 1 wrong; 31 pods in their pod subnets, 2 elsewhere`.
pub(super) fn headline(report: &Report) -> String {
    let standing = report.standing();
    let nodes = match report.nodes.len() {
        0 if report.unread.contains(&GapSource::Nodes) => "nodes were not read".to_owned(),
        0 => "no nodes that run aws-node".to_owned(),
        nodes => {
            let stand = |one: &Standing| {
                standing.get(one).map(|count| match (count, nodes) {
                    (count, 2..) if *count == nodes && *one == Standing::CannotTell => "cannot tell of any".into(),
                    (count, 2..) if *count == nodes => format!("all {}", words(*one)),
                    _ => format!("{count} {}", words(*one)),
                })
            };
            let stands: Vec<String> = STANDINGS.iter().filter_map(stand).collect();
            format!("{nodes} node{}: {}", if nodes == 1 { "" } else { "s" }, stands.join(", "))
        }
    };
    let sum = |of: fn(&GroupReport) -> usize| report.groups.iter().map(of).sum::<usize>();
    let (right, elsewhere) = (sum(|group| group.pods_right), sum(|group| group.pods_elsewhere));
    let pods = match (report.evidence_read, right, elsewhere) {
        (false, ..) => "pods and interfaces were not read".to_owned(),
        (true, right, 0) => format!("{right} pod{} in their pod subnets", if right == 1 { "" } else { "s" }),
        (true, right, elsewhere) => {
            format!("{right} pod{} in their pod subnets, {elsewhere} elsewhere", if right == 1 { "" } else { "s" })
        }
    };
    let (style, verdict) = verdict(report);
    // Errors decide, so they are said before how many nodes are right in spite of them.
    let facts = match count(&report.findings) {
        findings if has_errors(&report.findings) => [findings, nodes, pods].join("; "),
        findings if !report.findings.is_empty() => [nodes, pods, findings].join("; "),
        _ => [nodes, pods].join("; "),
    };
    format!("{} {}", styled(style.bold(), &format!("{verdict}:")), styled(BOLD, &facts))
}

fn verdict(report: &Report) -> (anstyle::Style, &'static str) {
    let standing = report.standing();
    let any = |of: Standing| standing.contains_key(&of);
    let is_wrong = |finding: &Finding| finding.severity == Severity::Error && !UNREAD.contains(&finding.rule.as_str());
    if any(Standing::Wrong) || report.findings.iter().any(is_wrong) {
        return (REMOVED, "Wrong");
    }
    let nodes_unread = report.unread.contains(&GapSource::Nodes);
    if any(Standing::CannotTell) || !report.evidence_read || nodes_unread || has_errors(&report.findings) {
        return (CHANGED, "Cannot tell");
    }
    if any(Standing::Outdated) || any(Standing::NeedsReplacement) || !report.absent.is_empty() {
        return (CHANGED, "Not yet");
    }
    (ADDED, "Right")
}

/// What the flags hide, so that nobody takes it for not there.
fn not_shown(report: &Report, selection: &Selection) -> String {
    if report.not_shown.is_empty() {
        return String::new();
    }
    let counted = |(severity, count): (&Severity, &usize)| {
        format!("{count} {}{}", severity.word(), if *count == 1 { "" } else { "s" })
    };
    let counts: Vec<String> = report.not_shown.iter().map(counted).collect();
    let flags: Vec<&str> = [("--only", &selection.only), ("--skip", &selection.skip)]
        .into_iter()
        .filter(|(_, rules)| !rules.is_empty())
        .map(|(flag, _)| flag)
        .collect();
    format!("{} not shown: {}\n", counts.join(", "), flags.join(" and "))
}

/// A row for each group and zone; columns that would be empty are left out.
pub(super) fn groups(report: &Report) -> String {
    if report.groups.is_empty() {
        return String::new();
    }
    let standing = report.standing();
    let shown: Vec<Standing> =
        STANDINGS.into_iter().filter(|one| *one == Standing::Right || standing.contains_key(one)).collect();
    let mut heads = vec!["group", "zone", "nodes"];
    heads.extend(shown.iter().map(|one| words(*one)));
    if report.evidence_read {
        heads.extend(["pods right", "pods elsewhere"]);
    }
    let number = |number: usize| if number == 0 { "-".to_owned() } else { number.to_string() };
    let row = |group: &GroupReport| {
        let mut row = vec![
            group.group.clone().unwrap_or_else(|| "(no group)".into()),
            group.zone.clone().unwrap_or_else(|| "(no zone)".into()),
            group.standing.values().sum::<usize>().to_string(),
        ];
        row.extend(shown.iter().map(|one| number(group.standing.get(one).copied().unwrap_or_default())));
        if report.evidence_read {
            row.extend([number(group.pods_right), number(group.pods_elsewhere)]);
        }
        row
    };
    format!("\n{}", table(&heads, report.groups.iter().map(row).collect()))
}

/// Nodes that are awaited.
pub(super) fn absent(report: &Report) -> String {
    if report.absent.is_empty() {
        return String::new();
    }
    let groups: Vec<String> = report.absent.iter().map(|(group, count)| format!("{count} of {group}")).collect();
    format!("  not registered yet: {}\n", groups.join(", "))
}

fn left_out(report: &Report) -> String {
    if report.left_out.is_empty() {
        return String::new();
    }
    let kinds: Vec<String> = report.left_out.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    format!("  left out, as aws-node does not run there: {}\n", kinds.join(", "))
}

fn finding(finding: &Finding, shown: usize) -> String {
    let head = styled(of(finding.severity), &format!("{}[{}]:", finding.severity.word(), finding.rule));
    let mut text = format!("{head} {}: {}\n", finding.subject, finding.message);
    for evidence in finding.evidence.iter().take(shown) {
        text.push_str(&format!("    {}  {}: {}\n", evidence.object, styled(DIM, &evidence.field), evidence.value));
    }
    let more = finding.evidence.len().saturating_sub(shown);
    if more > 0 {
        text.push_str(&styled(DIM, &format!("    and {more} more, which -v shows\n")));
    }
    text.push_str(&format!("  help: {}\n", finding.help));
    text
}

/// What no finding says already; a command that tells several things stands once.
fn cannot_tell(report: &Report) -> String {
    let said = |open: &CannotTell| {
        let is_of =
            |subject: &Subject| matches!((subject, &open.read), (Subject::Read(said), Some(read)) if said == read);
        report.findings.iter().any(|finding| is_of(&finding.subject))
    };
    let open: Vec<&CannotTell> = report.cannot_tell.iter().filter(|open| !said(open)).collect();
    if open.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", styled(BOLD, "Cannot tell"));
    for (index, first) in open.iter().enumerate() {
        if open.iter().take(index).any(|before| before.command == first.command) {
            continue;
        }
        for open in open.iter().filter(|open| open.command == first.command) {
            text.push_str(&format!("  {}: {}\n", open.what, open.because));
        }
        text.push_str(&format!("    {}\n", styled(DIM, &first.command)));
    }
    text
}

fn next(report: &Report, selection: &Selection) -> String {
    let steps = report.next(selection);
    if steps.is_empty() {
        let warned = report.findings.iter().any(|finding| finding.severity == Severity::Warning);
        let nothing =
            if warned { "nothing must be done; the warnings say what would be better" } else { "nothing to do" };
        return format!("\n{} {nothing}\n", styled(BOLD, "Next:"));
    }
    let mut text = format!("\n{}\n", styled(BOLD, "Next"));
    for step in steps {
        text.push_str(&format!("  {}\n", step.why));
        step.commands.iter().for_each(|command| text.push_str(&format!("    {command}\n")));
    }
    text
}
