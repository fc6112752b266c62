//! What to do next.

use schemars::JsonSchema;
use serde::Serialize;

use super::{NodeReport, Report};
use crate::check::live::Standing;
use crate::finding::has_errors;
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

impl Report {
    /// The next steps, in their order; nothing where all is right and known.
    pub fn next(&self) -> Vec<Step> {
        let ours = |words: &[&str]| shell(&[&["eniplan"], words, &["--cluster", &self.cluster]].concat());
        let mut steps = Vec::new();
        let mut step = |why: String, commands: Vec<String>| steps.push(Step { why, commands });
        if !self.evidence_read {
            step("prove where pods and interfaces are".into(), vec![ours(&["verify"])]);
        }
        if let Some(wrong) = self.nodes.iter().find(|node| node.standing == Standing::Wrong) {
            step("see why the first wrong node is wrong".into(), vec![ours(&["explain", &wrong.name])]);
        }
        if self.names_any(&TAKEN_AWAY_BY_APPLY) {
            step(
                "see what would make the cluster as planned, and do it".into(),
                vec![ours(&["diff"]), ours(&["apply"])],
            );
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
        if steps.is_empty() && has_errors(&self.findings) {
            let why = "do what the errors say, then look again".into();
            steps.push(Step { why, commands: vec![ours(&["verify"])] });
        }
        steps
    }

    fn names_any(&self, rules: &[&str]) -> bool {
        self.findings.iter().any(|finding| rules.contains(&finding.rule.as_str()))
    }
}

/// A command line; a name that fits on none leaves it empty.
fn shell(words: &[&str]) -> String {
    shell_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap_or_default()
}
