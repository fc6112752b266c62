//! The vpc-cni add-on.

use std::collections::BTreeMap;
use std::time::Instant;

use aws_sdk_eks::types as eks;
use serde_json::Value;

use super::Session;
use super::failures;
use crate::diff::AddOnBefore;
use crate::error::ChangeError;
use crate::inventory::AddOn;
use crate::live::aws::map_eks;

const NAME: &str = "vpc-cni";
const OBJECT: &str = "add-on vpc-cni";

/// What is sent to update the add-on.
pub(super) struct AddOnUpdate<'a> {
    pub(super) addon_version: &'a str,
    pub(super) service_account_role_arn: Option<&'a str>,
    pub(super) pod_identity_associations: &'a [String],
    pub(super) configuration_values: &'a str,
    pub(super) overwrite: bool,
}

impl Session<'_> {
    pub(super) async fn update_add_on(
        &self,
        update: &AddOnUpdate<'_>,
        env: &BTreeMap<String, String>,
        before: &AddOnBefore,
    ) -> Result<String, ChangeError> {
        let now = self.settled_add_on().await?;
        let Some(now) = now else { return Err(failures::existence(OBJECT, "there", "gone")) };
        let already = means_the_same(now.configuration_values.as_deref(), update.configuration_values);
        if !already || update.overwrite {
            // A run that was cut off may have left it updating; then it is settled now, and only that may differ.
            let now = AddOnBefore { status: before.status.clone(), ..AddOnBefore::of(&now) };
            failures::unmoved(OBJECT, before.moved(&now))?;
            self.send_update(update).await?;
        }
        self.arrived(env).await?;
        self.wait_for_rollout().await?;
        Ok(if already && !update.overwrite { "there already".into() } else { "updated".into() })
    }

    async fn send_update(&self, update: &AddOnUpdate<'_>) -> Result<(), ChangeError> {
        const OPERATION: &str = "eks:UpdateAddon";
        let AddOnUpdate {
            addon_version,
            service_account_role_arn,
            pod_identity_associations,
            configuration_values,
            overwrite,
        } = update;
        let mut associations = Vec::new();
        for arn in *pod_identity_associations {
            associations.push(self.association(arn).await?);
        }
        let answer = self
            .clients
            .eks
            .update_addon()
            .cluster_name(&self.cluster.name)
            .addon_name(NAME)
            .addon_version(*addon_version)
            .set_service_account_role_arn(service_account_role_arn.map(str::to_owned))
            // Left out they stay; an empty list would take them away.
            .set_pod_identity_associations((!associations.is_empty()).then_some(associations))
            .configuration_values(*configuration_values)
            .resolve_conflicts(if *overwrite {
                eks::ResolveConflicts::Overwrite
            } else {
                eks::ResolveConflicts::Preserve
            })
            .send()
            .await
            .map_err(|error| failures::aws(&error, OPERATION, OBJECT))?;
        let id = answer.update.and_then(|update| update.id).unwrap_or_default();
        self.wait_for_update(&id, OBJECT, super::eks_wait::Of::AddOn(NAME)).await
    }

    async fn association(&self, arn: &str) -> Result<eks::AddonPodIdentityAssociations, ChangeError> {
        const OPERATION: &str = "eks:DescribePodIdentityAssociation";
        let answer = self
            .clients
            .eks
            .describe_pod_identity_association()
            .cluster_name(&self.cluster.name)
            .association_id(arn.rsplit('/').next().unwrap_or(arn))
            .send()
            .await
            .map_err(|error| failures::aws(&error, OPERATION, arn))?;
        let association = answer.association.unwrap_or_else(|| eks::PodIdentityAssociation::builder().build());
        eks::AddonPodIdentityAssociations::builder()
            .service_account(association.service_account.unwrap_or_default())
            .role_arn(association.role_arn.unwrap_or_default())
            .build()
            .map_err(|error| super::kubernetes::no_answer(OPERATION, arn, error.to_string()))
    }

    pub(super) async fn create_add_on(&self, configuration_values: &str) -> Result<String, ChangeError> {
        const OPERATION: &str = "eks:CreateAddon";
        if let Some(now) = self.settled_add_on().await? {
            if !means_the_same(now.configuration_values.as_deref(), configuration_values) {
                return Err(failures::existence(OBJECT, "none", "there"));
            }
            return Ok("there already".into());
        }
        self.clients
            .eks
            .create_addon()
            .cluster_name(&self.cluster.name)
            .addon_name(NAME)
            .configuration_values(configuration_values)
            .send()
            .await
            .map_err(|error| failures::aws(&error, OPERATION, OBJECT))?;
        match self.settled_add_on().await? {
            Some(now) if now.status.as_deref() == Some("CREATE_FAILED") => {
                Err(ChangeError::UpdateFailed { object: OBJECT.into(), errors: now.health_issues })
            }
            Some(now) => Ok(now.addon_version),
            None => Err(failures::existence(OBJECT, "there", "gone")),
        }
    }

    /// The add-on once nothing is in progress on it; `None` where there is none.
    async fn settled_add_on(&self) -> Result<Option<AddOn>, ChangeError> {
        const OPERATION: &str = "eks:DescribeAddon";
        let began = Instant::now();
        loop {
            let answer =
                self.clients.eks.describe_addon().cluster_name(&self.cluster.name).addon_name(NAME).send().await;
            let raw = match answer {
                Ok(answer) => answer.addon,
                Err(error) if error.as_service_error().is_some_and(|error| error.is_resource_not_found_exception()) => {
                    return Ok(None);
                }
                Err(error) => return Err(self.going_on(failures::aws(&error, OPERATION, OBJECT), OBJECT)),
            };
            let Some(add_on) = raw.and_then(|raw| map_eks::add_on(raw).ok()) else { return Ok(None) };
            let status = add_on.status.clone().unwrap_or_default();
            if !matches!(status.as_str(), "CREATING" | "UPDATING" | "DELETING") {
                return Ok(Some(add_on));
            }
            self.waiting(&format!("{OBJECT} is {status}"), None);
            self.not_too_long(OBJECT, began, &status)?;
            self.stop.pause(self.options.poll).await?;
        }
    }

    /// Whether the values are on the DaemonSet: PRESERVE keeps those that somebody else has set.
    async fn arrived(&self, env: &BTreeMap<String, String>) -> Result<(), ChangeError> {
        let Some(aws_node) = self.aws_node().await? else { return Ok(()) };
        let missing: Vec<(&String, &String)> =
            env.iter().filter(|(name, value)| aws_node.env.get(*name) != Some(*value)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let holds = |fields: &[String]| missing.iter().any(|(name, _)| fields.contains(name));
        let mut managers: Vec<String> =
            aws_node.managers.iter().filter(|row| holds(&row.fields)).map(|row| row.manager.clone()).collect();
        managers.sort();
        managers.dedup();
        let missing = missing.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        Err(ChangeError::DidNotArrive { missing, managers })
    }
}

fn means_the_same(now: Option<&str>, wanted: &str) -> bool {
    let value = |text: &str| serde_saphyr::from_str::<Value>(text).ok();
    value(now.unwrap_or_default()) == value(wanted)
}
