//! What to do next.

use schemars::JsonSchema;
use serde::Serialize;

use super::{NodeReport, Report, first_check};
use crate::check::live::Standing;
use crate::finding::Severity;
use crate::render::shell_line;

/// One step, and the commands that take it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    /// What it is good for.
    pub why: String,
    /// The commands, in their order.
    pub commands: Vec<String>,
}

/// Rules whose problem `apply` takes away: it writes ENIConfigs, versions of launch templates and settings of the CNI.
const TAKEN_AWAY_BY_APPLY: [&str; 8] = [
    "add-on-values-lack-setting",
    "cni-setting-differs",
    "custom-networking-off",
    "eniconfig-groups-differ",
    "eniconfig-key-differs",
    "eniconfig-missing",
    "eniconfig-subnet-differs",
    "launch-template-not-as-planned",
];

/// Rules whose problem goes with the nodes.
const TAKEN_AWAY_BY_ROLL: [&str; 2] = ["launch-template-not-rolled-out", "nodes-outdated"];

/// Checks whose errors are about what nodes name and where their interfaces and pods are: the steps about nodes that are
/// wrong or to be replaced answer them.
const ANSWERED_NODE_BY_NODE: [u8; 3] = [4, 5, 12];

fn is_answered(rule: &str) -> bool {
    TAKEN_AWAY_BY_APPLY.contains(&rule) || ANSWERED_NODE_BY_NODE.contains(&first_check(rule))
}

impl Report {
    /// The next steps, in their order; nothing where all is right and known.
    pub fn next(&self) -> Vec<Step> {
        let ours = |words: &[&str]| shell(&[&["eniplan"], words, &["--cluster", &self.cluster]].concat());
        let mut steps = Vec::new();
        let mut step = |why: String, commands: Vec<String>| steps.push(Step { why, commands });
        if !self.evidence_read {
            step("prove where pods and interfaces are".into(), vec![ours(&["verify"])]);
        }
        // `apply` refuses while some of these are there, and what else is to be done shows when they are not.
        if self.errors().any(|rule| !is_answered(rule)) {
            step("do what the errors say, then look again".into(), vec![ours(&["verify"])]);
            return steps;
        }
        if self.names_any(&TAKEN_AWAY_BY_APPLY) {
            step(
                "see what would make the cluster as planned, and do it".into(),
                vec![ours(&["diff"]), ours(&["apply"])],
            );
        }
        if let Some(wrong) = self.nodes.iter().find(|node| node.standing == Standing::Wrong) {
            step("see why the first wrong node is wrong".into(), vec![ours(&["explain", &wrong.name])]);
        }
        let rolled = |node: &&NodeReport| node.standing == Standing::Outdated && node.managed;
        if self.nodes.iter().any(|node| rolled(&node)) || self.names_any(&TAKEN_AWAY_BY_ROLL) {
            let why = "replace outdated nodes, one group at a time".into();
            step(why, vec![ours(&["apply", "--roll"])]);
        }
        let old = |node: &&NodeReport| {
            matches!(node.standing, Standing::Outdated | Standing::NeedsReplacement) && !rolled(node)
        };
        let by_hand: Vec<&NodeReport> = self.nodes.iter().filter(old).collect();
        if let Some(first) = by_hand.first() {
            let why = match by_hand.len() {
                1 => "replace 1 node".to_owned(),
                nodes => format!("replace {nodes} nodes; the first of them"),
            };
            let terminate = |id: &String| {
                shell(&["aws", "ec2", "terminate-instances", "--region", &self.region, "--instance-ids", id])
            };
            let drain = shell(&["kubectl", "drain", &first.name, "--ignore-daemonsets"]);
            step(why, [drain].into_iter().chain(first.instance_id.as_ref().map(terminate)).collect());
        }
        steps
    }

    fn errors(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error).map(|finding| finding.rule.as_str())
    }

    fn names_any(&self, rules: &[&str]) -> bool {
        self.findings.iter().any(|finding| rules.contains(&finding.rule.as_str()))
    }
}

/// A command line; a name that fits on none leaves it empty.
fn shell(words: &[&str]) -> String {
    shell_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap_or_default()
}
