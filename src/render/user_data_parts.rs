//! User data of a node group: which parts its family needs, in one document.

use super::boot_script::{al2_shell_part, al2023_shell_part, node_config_part};
use super::{UserData, bottlerocket};
use crate::config::AmiFamily;
use crate::error::Error;
use crate::plan::{Bootstrap, NodeGroupPlan};
use crate::user_data::mime::{self, Part};
use crate::user_data::size::measure;

/// Content type of a script that cloud-init runs once per instance.
const SHELL_SCRIPT: &str = "text/x-shellscript; charset=\"us-ascii\"";
/// Content type of a part that nodeadm reads.
const NODE_CONFIG: &str = "application/node.eks.aws";
/// Bottlerocket's settings have no content type of their own; this one names them in the table of sizes.
const TOML: &str = "application/toml";

/// The user data of a group; `None` where it needs none.
///
/// # Errors
/// [`Error::Template`] and [`Error::RenderedInvalid`]; defects of the program.
pub(super) fn user_data(group: &NodeGroupPlan) -> Result<Option<UserData>, Error> {
    if group.launch_template.is_none() {
        return Ok(None);
    }
    let eks_merges = group.bootstrap == Bootstrap::Eks;
    let document = |parts: Vec<Part>| -> Result<_, Error> {
        let bytes = mime::write(&parts)?;
        Ok(Some(UserData { file_name: "user-data.mime", size: measure(&bytes, &parts, eks_merges), bytes }))
    };
    match group.family {
        AmiFamily::Al2023 => document(al2023(group)?),
        AmiFamily::Al2 => document(vec![Part::new(SHELL_SCRIPT, al2_shell_part(group)?.into_bytes())]),
        AmiFamily::Bottlerocket => {
            let bytes = bottlerocket::settings(group)?.into_bytes();
            let size = measure(&bytes, &[Part::new(TOML, bytes.clone())], eks_merges);
            Ok(Some(UserData { file_name: "user-data.toml", bytes, size }))
        }
        AmiFamily::Ubuntu | AmiFamily::Windows => Ok(None),
    }
}

fn al2023(group: &NodeGroupPlan) -> Result<Vec<Part>, Error> {
    let mut parts = Vec::new();
    if group.label_key.is_some() || (group.max_pods.written.is_some() && group.bootstrap == Bootstrap::Eks) {
        parts.push(Part::new(SHELL_SCRIPT, al2023_shell_part(group)?.into_bytes()));
    }
    if matches!(group.bootstrap, Bootstrap::UserData(_)) {
        parts.push(Part::new(NODE_CONFIG, node_config_part(group)?.into_bytes()));
    }
    Ok(parts)
}
