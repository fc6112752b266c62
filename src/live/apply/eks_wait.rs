//! Waiting for updates that EKS runs.

use std::time::Instant;

use aws_sdk_eks::types::{Update, UpdateParamType, UpdateStatus};

use super::{Session, failures};
use crate::error::ChangeError;

/// What an update is of.
#[derive(Clone, Copy)]
pub(super) enum Of<'a> {
    AddOn(&'a str),
    NodeGroup { name: &'a str, version: i64 },
}

impl Session<'_> {
    /// Waits until an update is over.
    pub(super) async fn wait_for_update(&self, id: &str, object: &str, of: Of<'_>) -> Result<(), ChangeError> {
        let began = Instant::now();
        loop {
            let update = self.update(id, object, of).await?;
            let errors = || {
                update.errors().iter().map(|error| {
                    let code = error.error_code().map_or("unknown", |code| code.as_str());
                    let resources = error.resource_ids().join(", ");
                    format!("{code}: {} ({resources})", error.error_message().unwrap_or("no message"))
                })
            };
            let last = match update.status() {
                Some(UpdateStatus::Successful) => return Ok(()),
                Some(status @ (UpdateStatus::Failed | UpdateStatus::Cancelled)) => {
                    let mut errors: Vec<String> = errors().collect();
                    if errors.is_empty() {
                        errors.push(format!("the update is {}", status.as_str()));
                    }
                    return Err(ChangeError::UpdateFailed { object: object.to_owned(), errors });
                }
                Some(status) => status.as_str().to_owned(),
                None => "unknown".to_owned(),
            };
            let count = match of {
                Of::NodeGroup { name, version } => self.count_new_nodes(name, version).await,
                Of::AddOn(_) => None,
            };
            self.waiting(&format!("{object} is updated"), count);
            self.not_too_long(&format!("the update of {object}"), began, &last)?;
            self.stop.pause(self.options.poll).await?;
        }
    }

    async fn update(&self, id: &str, object: &str, of: Of<'_>) -> Result<Update, ChangeError> {
        let request = self.clients.eks.describe_update().name(&self.cluster.name).update_id(id);
        let request = match of {
            Of::AddOn(name) => request.addon_name(name),
            Of::NodeGroup { name, .. } => request.nodegroup_name(name),
        };
        let answer = request.send().await.map_err(|error| {
            self.going_on(failures::aws(&error, "eks:DescribeUpdate", object), &format!("the update of {object}"))
        })?;
        Ok(answer.update.unwrap_or_else(|| Update::builder().build()))
    }

    /// Says what goes on at AWS although nobody may look at it any more.
    pub(super) fn going_on(&self, error: ChangeError, what: &str) -> ChangeError {
        match error {
            ChangeError::CredentialsExpired { operation, object, goes_on: None } => {
                ChangeError::CredentialsExpired { operation, object, goes_on: Some(what.to_owned()) }
            }
            other => other,
        }
    }

    /// All updates of a node group, the newest first.
    pub(super) async fn updates_of(&self, node_group: &str) -> Result<Vec<Update>, ChangeError> {
        let object = format!("node group {node_group}");
        let pages = self
            .clients
            .eks
            .list_updates()
            .name(&self.cluster.name)
            .nodegroup_name(node_group)
            .into_paginator()
            .items()
            .send();
        let ids = pages.collect::<Result<Vec<_>, _>>().await;
        let ids = ids.map_err(|error| failures::aws(&error, "eks:ListUpdates", &object))?;
        let mut updates = Vec::new();
        for id in ids {
            updates.push(self.update(&id, &object, Of::NodeGroup { name: node_group, version: 0 }).await?);
        }
        updates.sort_by_key(|update| std::cmp::Reverse(update.created_at().map(|at| (at.secs(), at.subsec_nanos()))));
        Ok(updates)
    }
}

/// The launch-template version that an update brings.
pub(super) fn version_of(update: &Update) -> Option<i64> {
    update
        .params()
        .iter()
        .find(|parameter| parameter.r#type() == Some(&UpdateParamType::LaunchTemplateVersion))
        .and_then(|parameter| parameter.value()?.parse().ok())
}
