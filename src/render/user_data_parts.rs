//! User data of a node group: which parts its family needs, in one document.

use super::UserData;
use super::boot_script::{al2023_shell_part, node_config_part};
use crate::config::AmiFamily;
use crate::error::Error;
use crate::plan::{Bootstrap, NodeGroupPlan};
use crate::user_data::mime::{self, Part};
use crate::user_data::size::measure;

/// Content type of a script that cloud-init runs once per instance.
const SHELL_SCRIPT: &str = "text/x-shellscript; charset=\"us-ascii\"";
/// Content type of a part that nodeadm reads.
const NODE_CONFIG: &str = "application/node.eks.aws";

/// The user data of a group; `None` where it needs none.
///
/// # Errors
/// [`Error::Template`] and [`Error::RenderedInvalid`]; defects of the program.
pub(super) fn user_data(group: &NodeGroupPlan) -> Result<Option<UserData>, Error> {
    if group.launch_template.is_none() {
        return Ok(None);
    }
    let parts = match group.family {
        AmiFamily::Al2023 => al2023(group)?,
        AmiFamily::Al2 | AmiFamily::Bottlerocket | AmiFamily::Ubuntu | AmiFamily::Windows => return Ok(None),
    };
    let bytes = mime::write(&parts)?;
    let size = measure(&bytes, &parts, group.bootstrap == Bootstrap::Eks);
    Ok(Some(UserData { file_name: "user-data.mime", bytes, size }))
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
