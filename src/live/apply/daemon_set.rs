//! The CNI's settings on the DaemonSet itself, and waiting until every node runs with them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use http::Method;
use serde_json::{Value, json};

use super::Session;
use super::kubernetes::{Attempt, Write, with_version};
use crate::error::ChangeError;
use crate::inventory::AwsNode;
use crate::live::kube::write;

const PATH: &str = "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node";
const OBJECT: &str = "DaemonSet kube-system/aws-node";

impl Session<'_> {
    pub(super) async fn set_daemon_set_env(
        &self,
        env: &BTreeMap<String, String>,
        before: &BTreeMap<String, Option<String>>,
        take_over: &[String],
    ) -> Result<String, ChangeError> {
        let result = self
            .attempts(async || {
                let there = match self.read(PATH, "get daemonsets", OBJECT).await {
                    Ok(Some(there)) => there,
                    Ok(None) => return super::failures::existence(OBJECT, "there", "gone").into(),
                    Err(error) => return error.into(),
                };
                let now = write::aws_node(there.clone()).unwrap_or_default();
                if env.iter().all(|(name, value)| now.env.get(name) == Some(value)) {
                    return Attempt::Done("there already".into());
                }
                if let Err(error) = unmoved(&now, env, before, take_over) {
                    return error.into();
                }
                let env: Vec<Value> = env.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
                let object = json!({
                    "apiVersion": "apps/v1", "kind": "DaemonSet",
                    "metadata": { "name": "aws-node", "namespace": "kube-system" },
                    "spec": { "template": { "spec": { "containers": [{ "name": "aws-node", "env": env }] } } },
                });
                self.write(Write {
                    method: Method::PATCH,
                    path: PATH.into(),
                    force: !take_over.is_empty(),
                    content_type: "application/apply-patch+yaml",
                    body: with_version(&object, Some(&there)),
                    operation: "patch daemonsets",
                    object: OBJECT,
                })
                .await
            })
            .await?;
        if !self.options.dry_run {
            self.wait_for_rollout().await?;
        }
        Ok(result)
    }

    /// The DaemonSet as it is now.
    pub(super) async fn aws_node(&self) -> Result<Option<AwsNode>, ChangeError> {
        Ok(self.read(PATH, "get daemonsets", OBJECT).await?.and_then(write::aws_node))
    }

    /// Waits until the controller has seen the change and every node runs with it.
    pub(super) async fn wait_for_rollout(&self) -> Result<(), ChangeError> {
        let began = Instant::now();
        loop {
            let last = match self.read(PATH, "get daemonsets", OBJECT).await {
                Ok(Some(there)) => match rollout(&there) {
                    Rollout::Done => return Ok(()),
                    Rollout::Going { updated, wanted } => {
                        self.waiting("aws-node runs anew on every node", Some((updated, wanted)));
                        format!("{updated} of {wanted} nodes")
                    }
                },
                Ok(None) => return Ok(()),
                Err(error @ ChangeError::NoAnswer { .. }) => error.to_string(),
                Err(error) => return Err(error),
            };
            self.not_too_long("the rollout of aws-node", began, &last)?;
            self.stop.pause(self.options.poll).await?;
        }
    }

    /// Bounds a wait.
    pub(super) fn not_too_long(&self, what: &str, began: Instant, last: &str) -> Result<(), ChangeError> {
        if began.elapsed() <= self.options.longest_wait {
            return Ok(());
        }
        let seconds = began.elapsed().as_secs();
        Err(ChangeError::TooLong { what: what.to_owned(), seconds, last: last.to_owned() })
    }
}

enum Rollout {
    Done,
    Going { updated: u64, wanted: u64 },
}

/// Source: kubectl `pkg/polymorphichelpers/rollout_status.go`, `DaemonSetStatusViewer`.
fn rollout(there: &Value) -> Rollout {
    let number = |path: &str| there.pointer(path).and_then(Value::as_u64);
    let (generation, observed) = (number("/metadata/generation"), number("/status/observedGeneration"));
    let wanted = number("/status/desiredNumberScheduled").unwrap_or_default();
    let updated = number("/status/updatedNumberScheduled").unwrap_or_default();
    let available = number("/status/numberAvailable").unwrap_or_default();
    if observed >= generation && updated >= wanted && available >= wanted {
        return Rollout::Done;
    }
    Rollout::Going { updated: if observed >= generation { updated.min(available) } else { 0 }, wanted }
}

fn unmoved(
    now: &AwsNode,
    env: &BTreeMap<String, String>,
    before: &BTreeMap<String, Option<String>>,
    take_over: &[String],
) -> Result<(), ChangeError> {
    let stale = |field: String, before: String, now: String| {
        Err(ChangeError::Stale { object: OBJECT.to_owned(), field, before, now })
    };
    let shown = |value: Option<&String>| value.cloned().unwrap_or_else(|| "unset".into());
    for (name, value) in before {
        // What an attempt of this run has set already has not moved.
        let found = now.env.get(name);
        if found != value.as_ref() && found != env.get(name) {
            return stale(name.clone(), shown(value.as_ref()), shown(found));
        }
    }
    let changed: BTreeSet<&String> =
        env.iter().filter(|(name, value)| now.env.get(*name) != Some(*value)).map(|(name, _)| name).collect();
    let owner = now
        .managers
        .iter()
        .filter(|row| row.manager != "eniplan" && row.fields.iter().any(|name| changed.contains(name)))
        .map(|row| &row.manager)
        .find(|manager| !take_over.contains(manager));
    match owner {
        Some(manager) => stale("owner of the settings".into(), take_over.join(", "), manager.clone()),
        None => Ok(()),
    }
}
