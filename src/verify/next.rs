//! What to do next.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::{NodeReport, Report, Selection, first_check};
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

/// What could not be read is for whoever gives rights, whatever check it is of.
const UNREAD: &str = "evidence-unread";

fn is_answered(rule: &str) -> bool {
    rule != UNREAD && (TAKEN_AWAY_BY_APPLY.contains(&rule) || ANSWERED_NODE_BY_NODE.contains(&first_check(rule)))
}

impl Report {
    /// The next steps, in their order; nothing where all is right and known. Commands find the cluster as the run did.
    pub fn next(&self, selection: &Selection) -> Vec<Step> {
        let source = &selection.source;
        let again = |words: &[&str]| line(&source.again(words, &self.cluster));
        let on_cluster = |words: &[&str]| line(&source.on_cluster(words, &self.cluster));
        let groups = selection.node_groups.iter().flat_map(|group| ["--node-group", group.as_str()]);
        let look: Vec<&str> = ["verify"].into_iter().chain(groups).collect();
        let mut steps = Vec::new();
        let mut step = |why: String, commands: Vec<String>| steps.push(Step { why, commands });
        let rights = self.rights();
        let is_stuck = self.errors().any(|rule| !is_answered(rule)) || !self.evidence_read;
        if is_stuck && !rights.is_empty() {
            step("see which rights the caller needs".into(), rights);
        }
        // `apply` refuses while some of these are there, and what else is to be done shows when they are not.
        if self.errors().any(|rule| !is_answered(rule)) {
            let anew = if source.is_inventory() { ", make the inventory anew" } else { "" };
            step(format!("do what the errors say{anew}, then look again"), vec![again(&look)]);
            return steps;
        }
        if !self.evidence_read {
            let why = "prove where pods and interfaces are";
            let (why, command) = if source.is_folder() {
                (format!("{why}: add their files, which docs/verify.md lists, and look again"), again(&look))
            } else {
                (why.into(), on_cluster(&look))
            };
            step(why, vec![command]);
        }
        if self.names_any(&TAKEN_AWAY_BY_APPLY) {
            step(
                "see what would make the cluster as planned, and do it".into(),
                vec![again(&["diff"]), on_cluster(&["apply"])],
            );
        }
        if let Some(wrong) = self.nodes.iter().find(|node| node.standing == Standing::Wrong) {
            step("see why the first wrong node is wrong".into(), vec![again(&["explain", &wrong.name])]);
        }
        let rolled = |node: &&NodeReport| node.standing == Standing::Outdated && node.managed;
        if self.nodes.iter().any(|node| rolled(&node)) || self.names_any(&TAKEN_AWAY_BY_ROLL) {
            let why = "replace outdated nodes, one group at a time".into();
            step(why, vec![on_cluster(&["apply", "--roll"])]);
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
            let (profile, context) = source.of_other_tools();
            let terminate = |id: &String| {
                let words = ["aws", "ec2", "terminate-instances", "--region", &self.region, "--instance-ids", id];
                line(&[words.map(str::to_owned).to_vec(), profile.clone()].concat())
            };
            let drain = ["kubectl", "drain", &first.name, "--ignore-daemonsets"].map(str::to_owned);
            let drain = line(&[drain.to_vec(), context].concat());
            step(why, [drain].into_iter().chain(first.instance_id.as_ref().map(terminate)).collect());
        }
        if !self.absent.is_empty() {
            let wait = |group: &String| on_cluster(&["verify", "--watch", "--node-group", group]);
            let why = "wait for nodes to register; docs/how-it-boots.md says where to look when they stay away";
            step(why.into(), self.absent.keys().map(wait).collect());
        }
        let unknown = self.nodes.iter().find(|node| node.standing == Standing::CannotTell && self.evidence_read);
        if let Some(unknown) = unknown {
            step("see what cannot be told of the first such node".into(), vec![again(&["explain", &unknown.name])]);
        }
        steps
    }

    /// The commands that print the rights without which reads were denied.
    fn rights(&self) -> Vec<String> {
        let of_denied = self.cannot_tell.iter().filter(|open| open.read.is_some()).map(|open| open.command.clone());
        let own: BTreeSet<String> = of_denied.filter(|command| command.starts_with("eniplan iam-policy ")).collect();
        own.into_iter().collect()
    }

    fn errors(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error).map(|finding| finding.rule.as_str())
    }

    fn names_any(&self, rules: &[&str]) -> bool {
        self.findings.iter().any(|finding| rules.contains(&finding.rule.as_str()))
    }
}

/// A command line; a name that fits on none leaves it empty.
fn line(words: &[String]) -> String {
    shell_line(words).unwrap_or_default()
}
