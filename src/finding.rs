//! Findings: what is wrong or risky in the user's world.
//!
//! Whoever meets a problem states it as a [`Problem`], with the id of a rule; the rule table in `check/` alone knows
//! how severe that rule is and turns the problem into a [`Finding`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bad a finding is. Errors stop `generate` and `apply`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The files or the cluster would be wrong; nothing is written.
    Error,
    /// It works, but not as most people expect, or not for ever.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// The word in text and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// The thing that a finding, a decision or a change is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "name", rename_all = "kebab-case")]
pub enum Subject {
    /// The EKS cluster, by name.
    Cluster(String),
    /// The VPC, by id.
    Vpc(String),
    /// The VPC CNI: the aws-node DaemonSet or its add-on.
    Cni(String),
    /// A pool of `eniplan.yaml`.
    Pool(String),
    /// A subnet, by id.
    Subnet(String),
    /// A security group, by id.
    SecurityGroup(String),
    /// An ENIConfig object, by name.
    EniConfig(String),
    /// A node group, by name.
    NodeGroup(String),
    /// A launch template, by id or name.
    LaunchTemplate(String),
    /// An EC2 instance type.
    InstanceType(String),
    /// A Kubernetes node, by name.
    Node(String),
    /// A NodePool of Karpenter, by name.
    NodePool(String),
    /// A pod, as `namespace/name`.
    Pod(String),
    /// A network interface, by id.
    NetworkInterface(String),
    /// A read that did not succeed, by its IAM action.
    Read(String),
    /// A file.
    File(String),
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, name) = match self {
            Self::Cluster(name) => ("cluster", name),
            Self::Vpc(name) => ("VPC", name),
            Self::Cni(name) => ("CNI", name),
            Self::Pool(name) => ("pool", name),
            Self::Subnet(name) => ("subnet", name),
            Self::SecurityGroup(name) => ("security group", name),
            Self::EniConfig(name) => ("ENIConfig", name),
            Self::NodeGroup(name) => ("node group", name),
            Self::LaunchTemplate(name) => ("launch template", name),
            Self::InstanceType(name) => ("instance type", name),
            Self::Node(name) => ("node", name),
            Self::NodePool(name) => ("NodePool", name),
            Self::Pod(name) => ("pod", name),
            Self::NetworkInterface(name) => ("network interface", name),
            Self::Read(name) => ("read", name),
            Self::File(name) => ("file", name),
        };
        write!(f, "{kind} {name}")
    }
}

/// A problem as its finder states it, before the rule table has given it a severity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Id of a rule in the table of `check/`.
    pub rule: &'static str,
    /// What it is about.
    pub subject: Subject,
    /// The line of the file it is about, from 1, where there is one.
    pub line: Option<usize>,
    /// What is wrong, with the values that show it. One sentence or more, no final period.
    pub message: String,
    /// What to do about it, no final period.
    pub help: String,
    /// What shows it, so that it can be checked by hand.
    pub evidence: Vec<Evidence>,
}

/// One thing that was looked at, and what it held.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Evidence {
    /// What was looked at.
    pub object: Subject,
    /// Which field of it, in the API's own spelling, such as `spec.subnet` or `label k8s.amazonaws.com/eniConfig`.
    pub field: String,
    /// What was there; `unset` where nothing was.
    pub value: String,
}

/// Text from elsewhere, such as the value of an annotation, within a line: characters that end a line, steer a terminal
/// or turn the direction of writing become their escapes.
pub fn on_one_line(text: &str) -> String {
    let breaks_out = |character: char| {
        character.is_control()
            || matches!(character, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}')
            || ('\u{202a}'..='\u{202e}').contains(&character)
            || ('\u{2066}'..='\u{2069}').contains(&character)
    };
    text.chars()
        .map(
            |character| {
                if breaks_out(character) { character.escape_default().to_string() } else { character.to_string() }
            },
        )
        .collect()
}

impl Evidence {
    /// One thing that was looked at. What would break out of a line is shown by its escape.
    pub fn new(object: Subject, field: impl Into<String>, value: impl Into<String>) -> Self {
        Self { object, field: field.into(), value: on_one_line(&value.into()) }
    }
}

impl Problem {
    /// States a problem.
    pub fn new(rule: &'static str, subject: Subject, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { rule, subject, line: None, message: message.into(), help: help.into(), evidence: Vec::new() }
    }

    /// The same problem, in a line of a file.
    pub fn at_line(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }

    /// The same problem, with what shows it.
    pub fn shown_by(self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        Self { evidence: evidence.into_iter().collect(), ..self }
    }
}

/// A problem with the severity of its rule. Sorted, the worst come first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Severity of the rule.
    pub severity: Severity,
    /// Id of the rule; `docs/rules.md` has a section of this name.
    pub rule: String,
    /// What it is about.
    pub subject: Subject,
    /// The line of the file it is about, from 1, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// What shows it, so that it can be checked by hand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// What could not be read is told before what follows from that.
const CAUSE: &str = "read-failed";

impl Ord for Finding {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |finding: &Self| (finding.severity, finding.rule != CAUSE);
        let rest = |finding: &Self| (finding.rule.clone(), finding.subject.clone(), finding.line);
        let text = |finding: &Self| (finding.message.clone(), finding.help.clone(), finding.evidence.clone());
        key(self).cmp(&key(other)).then_with(|| rest(self).cmp(&rest(other))).then_with(|| text(self).cmp(&text(other)))
    }
}

impl PartialOrd for Finding {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether any finding is of severity error.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}
