//! The lock: a Lease that one run holds at a time. Other writers are kept out by preconditions; this keeps two runs of
//! eniplan from working on one cluster at once.

use std::cell::RefCell;
use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use http::Method;
use serde_json::{Value, json};

use super::failures;
use crate::error::ChangeError;
use crate::live::kube::Connection;
use crate::live::kube::write::Reply;

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/eniplan";
const OBJECT: &str = "Lease kube-system/eniplan";
/// How long a Lease holds without being renewed.
const SECONDS: i64 = 30;
/// Attempts at taking it, for answers that are lost and for others who take it at the same moment.
const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The Lease, held.
pub(super) struct Lease<'a> {
    connection: &'a Connection,
    renew_every: Duration,
    holder: String,
    /// Whom it was lost to, or `None` in `Some` where that is unknown.
    lost: RefCell<Option<Option<String>>>,
}

impl<'a> Lease<'a> {
    /// Takes it: makes it, or takes over one that is free or was not renewed in time.
    pub(super) async fn acquire(connection: &'a Connection, renew_every: Duration) -> Result<Self, ChangeError> {
        let lease = Self { connection, renew_every, holder: holder(), lost: RefCell::default() };
        let mut last = None;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                tokio::time::sleep(super::stop::pause_before(attempt, FIRST_PAUSE)).await;
            }
            match lease.take().await {
                Ok(()) => return Ok(lease),
                Err(Refusal::Final(error)) => return Err(error),
                Err(Refusal::Again(error)) => last = Some(error),
            }
        }
        Err(last.unwrap_or(ChangeError::LockLost { holder: None }))
    }

    async fn take(&self) -> Result<(), Refusal> {
        let there = self.send(Method::GET, LEASE, None, "get").await?;
        let now = SystemTime::now();
        let (method, path, body) = match there.status {
            404 if there.is_missing() => (Method::POST, LEASES, self.object(&Value::Null, now)),
            200 => {
                if let Some(error) = held_by_another(&there.body, &self.holder, now) {
                    return Err(Refusal::Final(error));
                }
                (Method::PUT, LEASE, self.object(&there.body, now))
            }
            _ => return Err(refusal(&there, "get")),
        };
        let verb = if method == Method::POST { "create" } else { "update" };
        let answer = self.send(method, path, Some(&body), verb).await?;
        match answer.status {
            200 | 201 => Ok(()),
            _ => Err(refusal(&answer, verb)),
        }
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>, verb: &str) -> Result<Reply, Refusal> {
        let path = if method == Method::GET { path.to_owned() } else { format!("{path}?fieldManager=eniplan") };
        self.connection.request(method, &path, "application/json", body).await.map_err(|message| {
            Refusal::Again(ChangeError::NoAnswer {
                operation: format!("{verb} leases"),
                object: OBJECT.into(),
                message,
            })
        })
    }

    /// The object with us as its holder; over what is there, where something is.
    fn object(&self, there: &Value, now: SystemTime) -> Value {
        let mine = there.pointer("/spec/holderIdentity").and_then(Value::as_str) == Some(&self.holder);
        let renewed = time(now);
        let acquired = there.pointer("/spec/acquireTime").filter(|_| mine).cloned();
        let transitions = there.pointer("/spec/leaseTransitions").and_then(Value::as_i64).unwrap_or_default();
        let mut metadata = json!({ "name": "eniplan", "namespace": "kube-system" });
        if let (Some(fields), Some(version)) = (metadata.as_object_mut(), there.pointer("/metadata/resourceVersion")) {
            fields.insert("resourceVersion".into(), version.clone());
        }
        json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata,
            "spec": {
                "holderIdentity": self.holder, "leaseDurationSeconds": SECONDS,
                "acquireTime": acquired.unwrap_or_else(|| renewed.clone().into()), "renewTime": renewed,
                "leaseTransitions": if mine || there.is_null() { transitions } else { transitions + 1 },
            },
        })
    }

    /// Renews it until the run is over.
    pub(super) async fn keep(&self) -> Infallible {
        loop {
            tokio::time::sleep(self.renew_every).await;
            if let Err(Refusal::Final(error)) = self.take().await {
                let to = match error {
                    ChangeError::Locked { holder, .. } => Some(holder),
                    _ => None,
                };
                self.lost.replace(Some(to));
            }
        }
    }

    /// Whether it is still ours.
    pub(super) fn held(&self) -> Result<(), ChangeError> {
        match &*self.lost.borrow() {
            None => Ok(()),
            Some(holder) => Err(ChangeError::LockLost { holder: holder.clone() }),
        }
    }

    /// Deletes it, if it is ours. An answer that is lost does no harm: it runs out by itself.
    pub(super) async fn release(&self) -> Result<(), ChangeError> {
        let mut last = None;
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                tokio::time::sleep(super::stop::pause_before(attempt, FIRST_PAUSE)).await;
            }
            match self.give_up().await {
                Ok(()) => return Ok(()),
                Err(Refusal::Final(error)) => return Err(error),
                Err(Refusal::Again(error)) => last = Some(error),
            }
        }
        last.map_or(Ok(()), Err)
    }

    async fn give_up(&self) -> Result<(), Refusal> {
        let there = self.send(Method::GET, LEASE, None, "get").await?;
        if there.status == 404 {
            return Ok(());
        }
        if there.status != 200 {
            return Err(refusal(&there, "get"));
        }
        if there.body.pointer("/spec/holderIdentity").and_then(Value::as_str) != Some(&self.holder) {
            return Ok(());
        }
        let preconditions = json!({
            "uid": there.body.pointer("/metadata/uid"),
            "resourceVersion": there.body.pointer("/metadata/resourceVersion"),
        });
        let body = json!({ "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions });
        let answer = self.connection.request(Method::DELETE, LEASE, "application/json", Some(&body)).await;
        let answer = answer.map_err(|message| {
            Refusal::Again(ChangeError::NoAnswer { operation: "delete leases".into(), object: OBJECT.into(), message })
        })?;
        match answer.status {
            200 | 404 => Ok(()),
            _ => Err(refusal(&answer, "delete")),
        }
    }
}

/// Why it was not taken.
enum Refusal {
    Final(ChangeError),
    Again(ChangeError),
}

fn refusal(reply: &Reply, verb: &str) -> Refusal {
    let error = failures::kubernetes(reply, &format!("{verb} leases"), OBJECT);
    match reply.status {
        409 | 429 | 500..=599 => Refusal::Again(error),
        _ => Refusal::Final(error),
    }
}

fn held_by_another(lease: &Value, holder: &str, now: SystemTime) -> Option<ChangeError> {
    let other = lease.pointer("/spec/holderIdentity").and_then(Value::as_str).filter(|other| !other.is_empty())?;
    if other == holder {
        return None;
    }
    let text = |path: &str| lease.pointer(path).and_then(Value::as_str);
    let renewed = text("/spec/renewTime").and_then(|time| DateTime::from_str(time, Format::DateTime).ok())?;
    let seconds = lease.pointer("/spec/leaseDurationSeconds").and_then(Value::as_i64).unwrap_or(SECONDS);
    let over = renewed.secs() + seconds < DateTime::from(now).secs();
    (!over).then(|| ChangeError::Locked {
        holder: other.to_owned(),
        since: text("/spec/acquireTime").unwrap_or("an unknown time").to_owned(),
    })
}

/// `user@host, process 123, begun at …`; the time tells apart processes that get the same number.
fn holder() -> String {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned());
    format!(
        "{}@{}, process {}, begun at {}",
        variable("USER").unwrap_or_else(|| "someone".into()),
        host.or_else(|| variable("HOSTNAME")).unwrap_or_else(|| "an unknown host".into()),
        std::process::id(),
        time(SystemTime::now())
    )
}

/// `MicroTime` of Kubernetes.
fn time(time: SystemTime) -> String {
    let time = DateTime::from(time);
    let whole = DateTime::from_secs(time.secs()).fmt(Format::DateTime).unwrap_or_default();
    format!("{}.{:06}Z", whole.trim_end_matches('Z'), time.subsec_nanos() / 1_000)
}
