//! User data of a node group: which parts its family needs, in one document.

use super::boot_script::{al2_shell_part, al2023_shell_part, node_config_part};
use super::registry::{self, Template};
use super::{UserData, bottlerocket};
use crate::config::AmiFamily;
use crate::error::Error;
use crate::plan::{Bootstrap, NodeGroupPlan};
use crate::user_data::mime::{self, Part};
use crate::user_data::size::measure;
use crate::user_data::{Document, Family, MergeProblem, Note, Target, merge};

const RETIRED: Template = Template { name: "retired.sh.hbs", source: include_str!("../../templates/retired.sh.hbs") };

/// Content type of a script that cloud-init runs once per instance.
pub(super) const SHELL_SCRIPT: &str = "text/x-shellscript; charset=\"us-ascii\"";
/// Content type of a part that nodeadm reads.
const NODE_CONFIG: &str = "application/node.eks.aws";
/// Bottlerocket's settings have no content type of their own; this one names them in the table of sizes.
const TOML: &str = "application/toml";

/// What became of a group's user data.
#[derive(Default)]
pub(super) struct Outcome {
    /// The document; `None` where the group needs none, or where it cannot be merged.
    pub(super) user_data: Option<UserData>,
    /// What a merge has changed or kept.
    pub(super) notes: Vec<Note>,
    /// Why ours cannot go into what is there.
    pub(super) problems: Vec<MergeProblem>,
}

/// The user data of a group: ours, merged into what the version in use has.
///
/// # Errors
/// [`Error::Template`] and [`Error::RenderedInvalid`]; defects of the program.
pub(super) fn user_data(
    group: &NodeGroupPlan,
    existing: Option<&Document>,
    kubernetes_minor: Option<u32>,
) -> Result<Outcome, Error> {
    let (ours, family) = match group.family {
        _ if group.launch_template.is_none() => return Ok(Outcome::default()),
        AmiFamily::Al2023 => (al2023(group)?, Family::Al2023),
        AmiFamily::Al2 => (al2(group)?, Family::Al2),
        AmiFamily::Bottlerocket => (bottlerocket(group)?, Family::Bottlerocket),
        AmiFamily::Ubuntu | AmiFamily::Windows => return Ok(Outcome::default()),
    };
    let eks_merges = group.bootstrap == Bootstrap::Eks;
    let Some(existing) = existing.filter(|existing| !existing.parts.is_empty()) else {
        let bytes = if family == Family::Bottlerocket { concatenated(&ours) } else { mime::write(&ours)? };
        return Ok(Outcome { user_data: Some(document(family, bytes, &ours, eks_merges)), ..Outcome::default() });
    };
    let target = Target {
        family,
        eks_merges,
        label_key: group.label_key.as_deref(),
        max_pods: group.max_pods.written,
        kubernetes_minor,
    };
    match merge(existing, &ours, &target) {
        Ok(merged) => Ok(Outcome {
            user_data: Some(document(family, merged.text, &merged.parts, eks_merges)),
            notes: merged.notes,
            problems: Vec::new(),
        }),
        Err(problems) => Ok(Outcome { problems, ..Outcome::default() }),
    }
}

fn document(family: Family, bytes: Vec<u8>, parts: &[Part], eks_merges: bool) -> UserData {
    let file_name = if family == Family::Bottlerocket { "user-data.toml" } else { "user-data.mime" };
    let size = measure(&bytes, parts, eks_merges);
    UserData { file_name, bytes, size }
}

fn concatenated(parts: &[Part]) -> Vec<u8> {
    parts.iter().flat_map(|part| part.body.clone()).collect()
}

fn al2(group: &NodeGroupPlan) -> Result<Vec<Part>, Error> {
    if group.label_key.is_none() && group.max_pods.written.is_none() && group.bootstrap == Bootstrap::Eks {
        return retired();
    }
    Ok(vec![Part::new(SHELL_SCRIPT, al2_shell_part(group)?.into_bytes())])
}

fn bottlerocket(group: &NodeGroupPlan) -> Result<Vec<Part>, Error> {
    Ok(vec![Part::new(TOML, bottlerocket::settings(group)?.into_bytes())])
}

/// A part that does nothing, in the place of one that a node no longer needs.
fn retired() -> Result<Vec<Part>, Error> {
    let text = registry::render(RETIRED, &serde_json::json!({}))?;
    Ok(vec![Part::new(SHELL_SCRIPT, text.into_bytes())])
}

fn al2023(group: &NodeGroupPlan) -> Result<Vec<Part>, Error> {
    let mut parts = Vec::new();
    if group.label_key.is_some() || (group.max_pods.written.is_some() && group.bootstrap == Bootstrap::Eks) {
        parts.push(Part::new(SHELL_SCRIPT, al2023_shell_part(group)?.into_bytes()));
    }
    if matches!(group.bootstrap, Bootstrap::UserData(_)) {
        parts.push(Part::new(NODE_CONFIG, node_config_part(group)?.into_bytes()));
    }
    if parts.is_empty() { retired() } else { Ok(parts) }
}
