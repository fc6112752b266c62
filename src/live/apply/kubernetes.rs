//! ENIConfigs and node labels.

use http::Method;
use serde_json::{Value, json};

use super::stop::pause_before;
use super::{Session, failures};
use crate::diff::EniConfigBefore;
use crate::error::ChangeError;
use crate::live::kube::write::{self, Reply};

const ENI_CONFIGS: &str = "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs";
const FIELD_MANAGER: &str = "eniplan";

/// Server-side apply takes YAML, and JSON is YAML.
const APPLY: &str = "application/apply-patch+yaml";

/// What became of one attempt.
pub(super) enum Attempt {
    /// Done.
    Done(String),
    /// Worth another attempt: read again first.
    Again(ChangeError),
    /// Not worth another one.
    Never(ChangeError),
}

impl From<ChangeError> for Attempt {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::NoAnswer { .. } => Self::Again(error),
            _ => Self::Never(error),
        }
    }
}

/// A write to be made.
pub(super) struct Write<'a> {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) force: bool,
    pub(super) content_type: &'a str,
    pub(super) body: Value,
    pub(super) operation: &'a str,
    pub(super) object: &'a str,
}

impl Session<'_> {
    /// Attempts something until it is done, refused, or was tried often enough.
    pub(super) async fn attempts(&self, attempt: impl AsyncFn() -> Attempt) -> Result<String, ChangeError> {
        let timing = &self.options.collect.timing;
        let mut number = 0;
        loop {
            let error = match attempt().await {
                Attempt::Done(result) => return Ok(result),
                Attempt::Never(error) => return Err(error),
                Attempt::Again(error) => error,
            };
            number += 1;
            if number >= timing.attempts {
                return Err(error);
            }
            self.stop.pause(pause_before(number, timing.first_pause)).await?;
        }
    }

    /// One object as it is now; `None` where there is none.
    pub(super) async fn read(&self, path: &str, operation: &str, object: &str) -> Result<Option<Value>, ChangeError> {
        let reply = self.kubernetes()?.request(Method::GET, path, "application/json", None).await;
        let reply = reply.map_err(|message| no_answer(operation, object, message))?;
        match reply.status {
            200 => Ok(Some(reply.body)),
            404 if reply.is_missing() => Ok(None),
            404 if path.starts_with(ENI_CONFIGS) => Err(ChangeError::NoDefinition),
            429 | 500..=599 => Err(no_answer(operation, object, reply.message())),
            _ => Err(failures::kubernetes(&reply, operation, object)),
        }
    }

    /// Sends a write; a dry run where only those are wanted.
    pub(super) async fn write(&self, write: Write<'_>) -> Attempt {
        let Write { method, path, force, content_type, body, operation, object } = write;
        let connection = match self.kubernetes() {
            Ok(connection) => connection,
            Err(error) => return error.into(),
        };
        let mut path = format!("{path}?fieldManager={FIELD_MANAGER}");
        if force {
            path.push_str("&force=true");
        }
        if self.options.dry_run {
            path.push_str("&dryRun=All");
        }
        match connection.request(method, &path, content_type, Some(&body)).await {
            Err(message) => Attempt::Again(no_answer(operation, object, message)),
            Ok(reply) => self.settled(&reply, operation, object),
        }
    }

    fn settled(&self, reply: &Reply, operation: &str, object: &str) -> Attempt {
        match reply.status {
            200..=299 if self.options.dry_run => Attempt::Done("dry run accepted".into()),
            201 => Attempt::Done("made".into()),
            200..=299 => Attempt::Done("changed".into()),
            429 | 500..=599 => Attempt::Again(no_answer(operation, object, reply.message())),
            // Somebody wrote it since it was read; reading again tells whether that matters.
            409 if reply.message().contains("has been modified") => {
                Attempt::Again(failures::kubernetes(reply, operation, object))
            }
            404 if object.starts_with("ENIConfig") && !reply.is_missing() => Attempt::Never(ChangeError::NoDefinition),
            _ => Attempt::Never(failures::kubernetes(reply, operation, object)),
        }
    }

    pub(super) async fn apply_eni_config(
        &self,
        name: &str,
        manifest: &Value,
        before: Option<&EniConfigBefore>,
        take_over: &[String],
    ) -> Result<String, ChangeError> {
        let object = format!("ENIConfig {name}");
        let path = format!("{ENI_CONFIGS}/{name}");
        self.attempts(async || {
            let there = match self.read(&path, "get eniconfigs", &object).await {
                Ok(there) => there,
                Err(error) => return error.into(),
            };
            let now = there.clone().and_then(write::eni_config).map(|object| EniConfigBefore::of(&object));
            if let Some(now) = &now
                && is_as_wanted(now, manifest)
            {
                return Attempt::Done("there already".into());
            }
            let unmoved = match (before, &now) {
                (None, None) => Ok(()),
                (None, Some(_)) => Err(failures::existence(&object, "none", "there")),
                (Some(_), None) => Err(failures::existence(&object, "there", "gone")),
                (Some(before), Some(now)) => failures::unmoved(&object, before.moved(now)),
            };
            if let Err(error) = unmoved {
                return error.into();
            }
            let body = with_version(manifest, there.as_ref());
            let force = !take_over.is_empty();
            let operation = "patch eniconfigs";
            self.write(Write {
                method: Method::PATCH,
                path: path.clone(),
                force,
                content_type: APPLY,
                body,
                operation,
                object: &object,
            })
            .await
        })
        .await
    }

    pub(super) async fn delete_eni_config(&self, name: &str, before: &EniConfigBefore) -> Result<String, ChangeError> {
        let object = format!("ENIConfig {name}");
        let path = format!("{ENI_CONFIGS}/{name}");
        self.attempts(async || {
            let there = match self.read(&path, "get eniconfigs", &object).await {
                Ok(Some(there)) => there,
                Ok(None) => return Attempt::Done("gone".into()),
                Err(error) => return error.into(),
            };
            let now = write::eni_config(there.clone()).map(|object| EniConfigBefore::of(&object));
            if let Some(moved) = now.and_then(|now| before.moved(&now)) {
                return failures::stale(&object, moved).into();
            }
            let preconditions = json!({
                "uid": there.pointer("/metadata/uid"),
                "resourceVersion": there.pointer("/metadata/resourceVersion"),
            });
            let body = json!({ "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions });
            let operation = "delete eniconfigs";
            let path = path.clone();
            let write = Write {
                method: Method::DELETE,
                path,
                force: false,
                content_type: "application/json",
                body,
                operation,
                object: &object,
            };
            match self.write(write).await {
                Attempt::Done(_) if !self.options.dry_run => Attempt::Done("deleted".into()),
                other => other,
            }
        })
        .await
    }

    pub(super) async fn label_node(
        &self,
        name: &str,
        key: &str,
        value: &str,
        before: Option<&str>,
    ) -> Result<String, ChangeError> {
        let object = format!("node {name}");
        let path = format!("/api/v1/nodes/{name}");
        self.attempts(async || {
            let there = match self.read(&path, "get nodes", &object).await {
                Ok(Some(there)) => there,
                // A node that is gone needs no label.
                Ok(None) => return Attempt::Done("the node is gone".into()),
                Err(error) => return error.into(),
            };
            let label = there.pointer("/metadata/labels").and_then(|labels| labels.get(key)).and_then(Value::as_str);
            if label == Some(value) {
                return Attempt::Done("there already".into());
            }
            if label != before {
                let shown = |value: Option<&str>| value.unwrap_or("none").to_owned();
                return ChangeError::Stale {
                    object: object.clone(),
                    field: format!("label {key}"),
                    before: shown(before),
                    now: shown(label),
                }
                .into();
            }
            // Not server-side apply: that would remove the label that an earlier switch has set.
            let body = json!({ "metadata": {
                "uid": there.pointer("/metadata/uid"),
                "resourceVersion": there.pointer("/metadata/resourceVersion"),
                "labels": { key: value },
            }});
            let operation = "patch nodes";
            self.write(Write {
                method: Method::PATCH,
                path: path.clone(),
                force: false,
                content_type: "application/merge-patch+json",
                body,
                operation,
                object: &object,
            })
            .await
        })
        .await
    }
}

pub(super) fn no_answer(operation: &str, object: &str, message: String) -> ChangeError {
    ChangeError::NoAnswer { operation: operation.to_owned(), object: object.to_owned(), message }
}

/// The object to send, with what makes the server refuse it when somebody has written since.
pub(super) fn with_version(object: &Value, there: Option<&Value>) -> Value {
    let mut object = object.clone();
    let Some(there) = there else { return object };
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for name in ["uid", "resourceVersion"] {
            if let Some(value) = there.pointer(&format!("/metadata/{name}")) {
                metadata.insert(name.into(), value.clone());
            }
        }
    }
    object
}

fn is_as_wanted(now: &EniConfigBefore, manifest: &Value) -> bool {
    let wanted = |path: &str| manifest.pointer(path);
    let subnet = wanted("/spec/subnet").and_then(Value::as_str);
    let groups: Vec<&str> = wanted("/spec/securityGroups")
        .and_then(Value::as_array)
        .map(|groups| groups.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    now.subnet.as_deref() == subnet && now.security_groups == groups
}
