//! What a change rests on. Each kind says which of its fields is another one now.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::inventory::{AddOn, EniConfig, LaunchTemplate, NodeGroup};

/// A field that was one thing when the diff was made, and is another now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The field, as the API spells it.
    pub field: &'static str,
    /// What it was.
    pub before: String,
    /// What it is.
    pub now: String,
}

fn moved(fields: &[(&'static str, String, String)]) -> Option<Moved> {
    fields.iter().find(|(_, before, now)| before != now).map(|(field, before, now)| Moved {
        field,
        before: before.clone(),
        now: now.clone(),
    })
}

fn shown(value: &Option<String>) -> String {
    value.clone().unwrap_or_else(|| "none".into())
}

/// The fields of an ENIConfig that a change rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EniConfigBefore {
    /// `metadata.uid`.
    pub uid: Option<String>,
    /// `spec.subnet`.
    pub subnet: Option<String>,
    /// `spec.securityGroups`.
    pub security_groups: Vec<String>,
}

impl EniConfigBefore {
    /// Those of an object.
    pub fn of(object: &EniConfig) -> Self {
        Self { uid: object.uid.clone(), subnet: object.subnet.clone(), security_groups: object.security_groups.clone() }
    }

    /// The first field that is another one now.
    pub fn moved(&self, now: &Self) -> Option<Moved> {
        let Self { uid, subnet, security_groups } = self;
        moved(&[
            ("metadata.uid", shown(uid), shown(&now.uid)),
            ("spec.subnet", shown(subnet), shown(&now.subnet)),
            ("spec.securityGroups", security_groups.join(", "), now.security_groups.join(", ")),
        ])
    }
}

/// The fields of a launch template that a change rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchTemplateBefore {
    /// Id.
    pub id: String,
    /// `DefaultVersionNumber`.
    pub default_version_number: i64,
    /// `LatestVersionNumber`.
    pub latest_version_number: i64,
}

impl LaunchTemplateBefore {
    /// Those of a template.
    pub fn of(template: &LaunchTemplate) -> Self {
        Self {
            id: template.launch_template_id.clone(),
            default_version_number: template.default_version_number,
            latest_version_number: template.latest_version_number,
        }
    }

    /// The first field that is another one now.
    pub fn moved(&self, now: &Self) -> Option<Moved> {
        let Self { id, default_version_number, latest_version_number } = self;
        moved(&[
            ("LaunchTemplateId", id.clone(), now.id.clone()),
            ("DefaultVersionNumber", default_version_number.to_string(), now.default_version_number.to_string()),
            ("LatestVersionNumber", latest_version_number.to_string(), now.latest_version_number.to_string()),
        ])
    }
}

/// The fields of the add-on that a change rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddOnBefore {
    /// `status`.
    pub status: Option<String>,
    /// `addonVersion`.
    pub addon_version: String,
    /// `configurationValues`.
    pub configuration_values: Option<String>,
}

impl AddOnBefore {
    /// Those of the add-on.
    pub fn of(add_on: &AddOn) -> Self {
        Self {
            status: add_on.status.clone(),
            addon_version: add_on.addon_version.clone(),
            configuration_values: add_on.configuration_values.clone(),
        }
    }

    /// The first field that is another one now.
    pub fn moved(&self, now: &Self) -> Option<Moved> {
        let Self { status, addon_version, configuration_values } = self;
        moved(&[
            ("status", shown(status), shown(&now.status)),
            ("addonVersion", addon_version.clone(), now.addon_version.clone()),
            ("configurationValues", shown(configuration_values), shown(&now.configuration_values)),
        ])
    }
}

/// The fields of a node group that a change rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeGroupBefore {
    /// `status`.
    pub status: Option<String>,
    /// `launchTemplate.id`.
    pub launch_template_id: Option<String>,
    /// `launchTemplate.version`.
    pub launch_template_version: Option<String>,
}

impl NodeGroupBefore {
    /// Those of a group.
    pub fn of(group: &NodeGroup) -> Self {
        Self {
            status: group.status.clone(),
            launch_template_id: group.launch_template.as_ref().and_then(|template| template.id.clone()),
            launch_template_version: group.launch_template.as_ref().and_then(|template| template.version.clone()),
        }
    }

    /// The first field that is another one now.
    pub fn moved(&self, now: &Self) -> Option<Moved> {
        let Self { status, launch_template_id, launch_template_version } = self;
        moved(&[
            ("status", shown(status), shown(&now.status)),
            ("launchTemplate.id", shown(launch_template_id), shown(&now.launch_template_id)),
            ("launchTemplate.version", shown(launch_template_version), shown(&now.launch_template_version)),
        ])
    }
}
