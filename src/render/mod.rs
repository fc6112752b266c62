//! Plan → the text of every file. What is rendered is read back and compared with the plan before anybody sees it.

pub mod boot_script;
pub mod bottlerocket;
mod cni_files;
mod eni_config;
pub mod karpenter;
mod kubelet_flags;
mod launch_template_files;
mod lookup;
mod node_class;
pub mod proposed_config;
mod read_back;
mod registry;
mod shell_words;
mod source_flags;
mod user_data_parts;

use std::collections::BTreeMap;

use self::user_data_parts::Outcome;
use crate::error::Error;
use crate::inventory::Inventory;
use crate::launch_template::Base64Bytes;
use crate::plan::{LaunchTemplatePlan, NodeGroupPlan, Plan};
use crate::user_data::size::Size;
use crate::user_data::{self, MergeProblem, Note};

pub use node_class::node_class;
pub use shell_words::shell_line;
pub use source_flags::SourceFlags;

pub use launch_template_files::{
    CreateLaunchTemplate, CreateLaunchTemplateVersion, LaunchTemplateRequest, same_version_again,
};

/// Everything that the plan turns into text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// ENIConfig manifests by name.
    pub eni_configs: BTreeMap<String, String>,
    /// Files for the CNI's settings by file name.
    pub cni: BTreeMap<String, String>,
    /// What each node group gets, by name.
    pub node_groups: BTreeMap<String, RenderedNodeGroup>,
}

/// What a node group gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedNodeGroup {
    /// User data, where it needs any.
    pub user_data: Option<UserData>,
    /// What merging it into the user data in use has changed or kept.
    pub notes: Vec<Note>,
    /// Why it cannot be merged into the user data in use; then there is no user data.
    pub problems: Vec<MergeProblem>,
    /// The launch-template request, where it needs a template.
    pub launch_template: Option<LaunchTemplateRequest>,
    /// The create-nodegroup request as JSON, where the group is new and managed.
    pub create_node_group: Option<String>,
}

/// User data as it goes into a launch template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserData {
    /// File name: `user-data.mime` or `user-data.toml`.
    pub file_name: &'static str,
    /// The bytes, not encoded.
    pub bytes: Vec<u8>,
    /// How large it is, part by part.
    pub size: Size,
}

/// Renders a plan.
///
/// # Errors
/// [`Error::Template`] and [`Error::RenderedInvalid`]; both are defects of the program.
pub fn render(plan: &Plan, inventory: &Inventory) -> Result<Rendered, Error> {
    let mut eni_configs = BTreeMap::new();
    for eni_config in &plan.eni_configs {
        eni_configs.insert(eni_config.name.clone(), eni_config::manifest(eni_config)?);
    }
    let mut node_groups = BTreeMap::new();
    for group in &plan.node_groups {
        let existing = existing_user_data(group, inventory);
        let existing = match existing.map(|bytes| user_data::read(&bytes.0)) {
            Some(Ok(document)) => Some(document),
            // What cannot be read is stated by a rule, and nothing is put over it.
            Some(Err(_)) => continue,
            None => None,
        };
        let Outcome { user_data, notes, problems } =
            user_data_parts::user_data(group, existing.as_ref(), inventory.cluster.kubernetes_minor())?;
        let launch_template = launch_template_files::launch_template(plan, group, user_data.as_ref(), inventory);
        let create_node_group = launch_template_files::create_node_group(plan, group)?;
        node_groups.insert(
            group.name.clone(),
            RenderedNodeGroup { user_data, notes, problems, launch_template, create_node_group },
        );
    }
    let rendered = Rendered { eni_configs, cni: cni_files::cni(plan, inventory)?, node_groups };
    read_back::compare(plan, &rendered)?;
    Ok(rendered)
}

/// User data of the version in use, where a new version is made from one.
fn existing_user_data<'a>(group: &NodeGroupPlan, inventory: &'a Inventory) -> Option<&'a Base64Bytes> {
    let LaunchTemplatePlan::NewVersion { id, source_version, .. } = group.launch_template.as_ref()? else {
        return None;
    };
    inventory.launch_template(id)?.version(*source_version)?.launch_template_data.user_data.as_ref()
}

impl Rendered {
    /// Every file by its path below the output folder, without `plan.json`.
    ///
    /// # Errors
    /// [`Error::Serialise`]; a defect of the program.
    pub fn files(&self) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let mut files = BTreeMap::new();
        for (name, text) in &self.eni_configs {
            files.insert(format!("eniconfigs/{name}.yaml"), text.clone().into_bytes());
        }
        for (name, text) in &self.cni {
            files.insert(format!("cni/{name}"), text.clone().into_bytes());
        }
        for (name, group) in &self.node_groups {
            let folder = format!("node-groups/{name}");
            if let Some(user_data) = &group.user_data {
                files.insert(format!("{folder}/{}", user_data.file_name), user_data.bytes.clone());
            }
            if let Some(launch_template) = &group.launch_template {
                files.insert(format!("{folder}/launch-template-data.json"), launch_template.to_json()?.into_bytes());
            }
            if let Some(text) = &group.create_node_group {
                files.insert(format!("{folder}/create-nodegroup.json"), text.clone().into_bytes());
            }
        }
        Ok(files)
    }
}

/// JSON with a final newline.
fn json_text(what: &str, value: &impl serde::Serialize) -> Result<String, Error> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|source| Error::Serialise { what: what.into(), source: source.into() })?;
    text.push('\n');
    Ok(text)
}

/// Something in a group's plan that its user data cannot say.
fn invalid_group(group: &NodeGroupPlan, reason: impl Into<String>) -> Error {
    Error::RenderedInvalid { what: format!("user data of node group `{}`", group.name), reason: reason.into() }
}
