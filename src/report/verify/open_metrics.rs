//! The report as OpenMetrics text, for monitoring.
//!
//! Source: OpenMetrics 1.0, "Text Format".

use std::collections::BTreeMap;

use super::{STANDINGS, words};
use crate::verify::{GroupReport, Report};

/// A metric family under construction.
struct Family {
    name: &'static str,
    text: String,
}

impl Family {
    fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, text: format!("# TYPE {name} gauge\n# HELP {name} {help}\n") }
    }

    fn unit(mut self, unit: &'static str) -> Self {
        self.text.push_str(&format!("# UNIT {} {unit}\n", self.name));
        self
    }

    fn sample(&mut self, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        self.text.push_str(&format!("{}{{{}}} {value}\n", self.name, labels.join(",")));
    }
}

/// The document. All standings of a group are there, also those of no node, so that an alert sees zero and not nothing.
pub fn open_metrics(report: &Report) -> String {
    let cluster = ("cluster", report.cluster.as_str());
    let place = |group: &'_ GroupReport| {
        let or_empty = |name: &Option<String>| name.clone().unwrap_or_default();
        (or_empty(&group.group), or_empty(&group.zone))
    };

    let mut nodes = Family::new("eniplan_nodes", "Nodes that run aws-node, by how they stand to the plan.");
    let mut pods =
        Family::new("eniplan_pods", "Pods with an address, by whether it is in the pod subnet of their node.");
    for group in &report.groups {
        let (name, zone) = place(group);
        let labels = [cluster, ("group", &name), ("zone", &zone)];
        for standing in STANDINGS {
            let count = group.standing.get(&standing).copied().unwrap_or_default();
            nodes.sample(&[&labels[..], &[("standing", &words(standing).replace(' ', "-"))]].concat(), count);
        }
        if report.evidence_read {
            pods.sample(&[&labels[..], &[("where", "pod-subnet")]].concat(), group.pods_right);
            pods.sample(&[&labels[..], &[("where", "elsewhere")]].concat(), group.pods_elsewhere);
        }
    }
    let mut left_out = Family::new("eniplan_nodes_left_out", "Nodes that do not run aws-node, by what they are.");
    for (kind, count) in &report.left_out {
        left_out.sample(&[cluster, ("kind", kind)], count);
    }
    let mut absent = Family::new("eniplan_nodes_absent", "Nodes that EKS wants and that have not registered.");
    for (group, count) in &report.absent {
        absent.sample(&[cluster, ("group", group)], count);
    }
    let mut by_rule: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for finding in &report.findings {
        *by_rule.entry((&finding.rule, finding.severity.word())).or_default() += 1;
    }
    let mut findings = Family::new("eniplan_findings", "Findings by rule and severity.");
    for ((rule, severity), count) in by_rule {
        findings.sample(&[cluster, ("rule", rule), ("severity", severity)], count);
    }
    let mut cannot_tell = Family::new("eniplan_cannot_tell", "Facts that could not be read or proved.");
    cannot_tell.sample(&[cluster], report.cannot_tell.len());
    let mut right = Family::new("eniplan_right", "1 when every node is right and no finding is an error, else 0.");
    right.sample(&[cluster], u8::from(report.is_right()));
    let mut collected =
        Family::new("eniplan_collected_timestamp_seconds", "When the cluster was read.").unit("seconds");
    if let Some(seconds) = unix_seconds(&report.collected_at) {
        collected.sample(&[cluster], seconds);
    }

    let families = [nodes, pods, absent, left_out, findings, cannot_tell, right, collected];
    families.into_iter().map(|family| family.text).collect::<String>() + "# EOF\n"
}

/// A label value. Source: OpenMetrics 1.0, "Escaping".
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Seconds since 1970 of `2026-09-14T08:30:00Z`; fractions are dropped, other offsets than Z are not read.
/// Source for the days: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
fn unix_seconds(time: &str) -> Option<i64> {
    let (date, clock) = time.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, separator: char| -> Option<[i64; 3]> {
        let parts: Option<Vec<i64>> = text.split(separator).map(|part| part.parse().ok()).collect();
        parts?.try_into().ok()
    };
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(clock.split('.').next()?, ':')?;
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some((era * 146_097 + day_of_era - 719_468) * 86_400 + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::{escaped, unix_seconds};

    #[test]
    fn times_are_seconds_since_1970() {
        for (time, seconds) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2026-09-14T08:30:00Z", Some(1_789_374_600)),
            ("2000-02-29T23:59:59.5Z", Some(951_868_799)),
            ("1969-12-31T23:59:59Z", Some(-1)),
            ("2026-09-14T08:30:00+02:00", None),
            ("yesterday", None),
        ] {
            assert_eq!(unix_seconds(time), seconds, "{time}");
        }
    }

    #[test]
    fn label_values_are_escaped() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
