//! `eniplan lint`: whether a user-data file will work, before a node boots with it.
//!
//! Four readers look at user data: EKS, which merges its own part into it, cloud-init, nodeadm and kubelet. Each rule
//! says which of them chokes on what. Rules that read shell only guess, and are warnings.

mod bootstrap;
mod cloud_init;
mod form;
mod kubelet;
mod mime;
mod node_config;
mod rules;
mod scripts;
mod settings;

use crate::config::AmiFamily;
use crate::finding::{Problem, Subject};
use crate::user_data::bootstrap_call::calls;
use crate::user_data::node_config::is_node_config;
use crate::user_data::nodeadm::{self, Prediction};
use crate::user_data::{Document, Kind, Part, Place, is_ours, marker_name, read};

pub use rules::LINT_RULES;

/// What is known about the file beside its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The file, as the user named it.
    pub file: &'a str,
    /// The AMI family; unset, the text decides.
    pub family: Option<AmiFamily>,
    /// Whether the launch template names an image. Without one EKS merges its own part into the user data.
    pub has_image: bool,
    /// Minor version of Kubernetes, such as 33 of 1.33, where it is known.
    pub kubernetes_minor: Option<u32>,
}

/// What a file was found to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Linted {
    /// The AMI family that it was looked at for.
    pub family: AmiFamily,
    /// Everything that is wrong, in no particular order.
    pub problems: Vec<Problem>,
    /// What nodeadm will make of it; AL2023 only, and only where nodeadm reads it at all.
    pub prediction: Option<Prediction>,
}

/// What the rules look at.
struct Input<'a> {
    document: &'a Document,
    /// The bytes of the file.
    bytes: &'a [u8],
    file: &'a str,
    family: AmiFamily,
    eks_merges: bool,
    kubernetes_minor: Option<u32>,
}

impl Input<'_> {
    /// States a problem of a line.
    fn problem(&self, rule: &'static str, line: usize, message: impl Into<String>, help: &str) -> Problem {
        Problem::new(rule, Subject::File(self.file.to_owned()), message, help).at_line(line)
    }

    /// The parts with their numbers and places.
    fn parts(&self) -> impl Iterator<Item = (usize, &Part, Place)> {
        let parts = self.document.parts.iter().zip(&self.document.places).enumerate();
        parts.map(|(index, (part, place))| (index + 1, part, *place))
    }

    fn is_amazon_linux(&self) -> bool {
        matches!(self.family, AmiFamily::Al2023 | AmiFamily::Al2)
    }
}

/// A line of a part, where its body begins at `place`; the first line of an encoded part stands for all of it.
fn line_in(part: &Part, place: Place, line: usize) -> usize {
    if part.header("Content-Transfer-Encoding").is_some_and(|value| value.eq_ignore_ascii_case("base64")) {
        return place.body;
    }
    place.body + line.saturating_sub(1)
}

/// A rule: looks at the input and states what is wrong.
type Rule = fn(&Input<'_>, &mut Vec<Problem>);

const ALL: [Rule; 8] = [
    form::look,
    mime::look,
    cloud_init::look,
    node_config::look,
    kubelet::look,
    bootstrap::look,
    scripts::look,
    settings::look,
];

/// Looks at a user-data file.
pub fn lint(bytes: &[u8], context: &Context<'_>) -> Linted {
    let document = match read(bytes) {
        Ok(document) => document,
        Err(error) => {
            let subject = Subject::File(context.file.to_owned());
            let message = match std::error::Error::source(&error) {
                Some(source) => format!("{error}: {source}"),
                None => error.to_string(),
            };
            let problem = Problem::new("user-data-unreadable", subject, message, error.help());
            let family = context.family.unwrap_or(AmiFamily::Al2023);
            return Linted { family, problems: vec![problem], prediction: None };
        }
    };
    let family = context.family.unwrap_or_else(|| family_of(&document));
    let input = Input {
        document: &document,
        bytes,
        file: context.file,
        family,
        eks_merges: !context.has_image,
        kubernetes_minor: context.kubernetes_minor,
    };
    let mut problems = Vec::new();
    for look in ALL {
        look(&input, &mut problems);
    }
    let is_read = family == AmiFamily::Al2023 && document.kind != Kind::Unknown;
    let prediction = if is_read { predict(&document) } else { None };
    Linted { family, problems, prediction }
}

/// What nodeadm will have in the end: the NodeConfigs of the document and the drop-in of our shell part. `None` where
/// it stops at one of them.
pub fn predict(document: &Document) -> Option<Prediction> {
    let mut sources = nodeadm::sources(document).ok()?;
    sources.extend(document.parts.iter().filter(|part| is_ours(part)).filter_map(our_drop_in));
    Some(nodeadm::predict(&sources))
}

/// What our shell part will write; the label value is known only on the node.
fn our_drop_in(part: &Part) -> Option<nodeadm::Source> {
    let content = part.content();
    if marker_name(&content).as_deref() != Some("al2023-boot") {
        return None;
    }
    let text = String::from_utf8_lossy(&content);
    let variable = |name: &str| {
        text.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix('=')?.trim_matches(['\'', '"'])))
    };
    let label = variable("label_key").map(|key| (key, "CHOSEN-AT-BOOT"));
    Some(nodeadm::drop_in(label, variable("max_pods").and_then(|number| number.parse().ok())))
}

/// The family that a text is written for, by what only one of them reads.
fn family_of(document: &Document) -> AmiFamily {
    let calls_bootstrap = |part: &Part| part.is_script() && !calls(&part.content()).is_empty();
    let is_for_al2 = |part: &Part| marker_name(&part.content()).is_some_and(|name| name.starts_with("al2-"));
    if document.kind == Kind::Toml {
        AmiFamily::Bottlerocket
    } else if document.parts.iter().any(is_node_config) {
        AmiFamily::Al2023
    } else if document.parts.iter().any(|part| calls_bootstrap(part) || is_for_al2(part)) {
        AmiFamily::Al2
    } else {
        AmiFamily::Al2023
    }
}
