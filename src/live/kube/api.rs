//! Requests to the API server: tried again, held to a time, and explained when they fail.

use std::collections::BTreeSet;
use std::time::Instant;

use http::Request;
use http::header::ACCEPT;
use kube::client::Body;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::connect::Connection;
use crate::inventory::kubernetes::List;
use crate::inventory::{Cluster, GapSource};
use crate::live::failure::{Failure, chain};
use crate::live::options::Timing;
use crate::live::percent::percent_encoded;

/// Objects a page; what kubectl asks for.
pub(super) const PAGE: usize = 500;
/// A list that changes faster than it can be paged through is begun anew this often.
const RESTARTS: usize = 2;

/// What is asked for, and how a gap calls it.
pub(super) struct Kind {
    pub(super) source: GapSource,
    pub(super) action: &'static str,
    pub(super) resource: &'static str,
    pub(super) path: &'static str,
    /// Objects a page of its list.
    pub(super) page: usize,
}

impl Kind {
    fn failure(&self, code: Option<u16>, message: String) -> Failure {
        Failure {
            action: self.action.to_owned(),
            resource: Some(self.resource.to_owned()),
            code: code.map(|code| code.to_string()),
            message,
        }
    }
}

/// The API server, and what its refusals mean for this cluster.
pub(super) struct Api<'a> {
    pub(super) connection: &'a Connection,
    pub(super) cluster: &'a Cluster,
    pub(super) timing: &'a Timing,
}

/// An answer with a body.
struct Answer {
    status: u16,
    body: Vec<u8>,
    /// Whether the token was refused that was taken before, so that the next request has another.
    renewed: bool,
}

/// What came instead of an answer.
struct Unanswered {
    reason: String,
    /// Whether a connection stood and broke, which the next one need not do.
    broke: bool,
}

/// What the API server answers instead of an object; its kind tells it from other JSON.
#[derive(Debug, Deserialize)]
struct Status {
    #[serde(default)]
    message: Option<String>,
    #[serde(rename = "kind")]
    _kind: StatusKind,
}

#[derive(Debug, Deserialize)]
enum StatusKind {
    Status,
}

impl Api<'_> {
    /// An object; `None` when it is not there, or its kind is not installed.
    pub(super) async fn object<T: DeserializeOwned>(&self, kind: &Kind) -> Result<Option<T>, Failure> {
        let answer = self.get(kind, kind.path).await?;
        match answer.status {
            404 if answer.is_of_the_api() => Ok(None),
            _ => self.read(kind, &answer).map(Some),
        }
    }

    /// A list with all its pages, of which no more than one is held at a time; empty when its kind is not installed.
    pub(super) async fn list<T, U>(&self, kind: &Kind) -> Result<Vec<U>, Failure>
    where
        T: DeserializeOwned,
        U: From<T>,
    {
        let limit = self.timing.list;
        tokio::time::timeout(limit, self.pages(kind)).await.unwrap_or_else(|_| {
            Err(kind.failure(None, format!("the list had no end within {} seconds", limit.as_secs_f64())))
        })
    }

    async fn pages<T, U>(&self, kind: &Kind) -> Result<Vec<U>, Failure>
    where
        T: DeserializeOwned,
        U: From<T>,
    {
        let first = format!("{}?limit={}", kind.path, kind.page);
        let mut restarts = 0;
        let mut objects = Vec::new();
        let mut seen = BTreeSet::new();
        let mut path = first.clone();
        loop {
            let answer = self.get(kind, &path).await?;
            match answer.status {
                404 if answer.is_of_the_api() => return Ok(Vec::new()),
                // The page token has got too old, or the server has compacted what it stood for.
                410 if restarts < RESTARTS => {
                    restarts += 1;
                    objects.clear();
                    seen.clear();
                    path.clone_from(&first);
                    continue;
                }
                _ => {}
            }
            let page: List<T> = self.read(kind, &answer)?;
            objects.extend(page.items.into_iter().map(U::from));
            let Some(next) = page.metadata.next.filter(|next| !next.is_empty()) else { return Ok(objects) };
            if !seen.insert(next.clone()) {
                return Err(kind.failure(None, "the list names the same next page twice".into()));
            }
            path = format!("{first}&continue={}", percent_encoded(&next));
        }
    }

    /// Asks for an object or a page, within the time that one of them may take.
    async fn get(&self, kind: &Kind, path: &str) -> Result<Answer, Failure> {
        let limit = self.timing.kubernetes;
        match tokio::time::timeout(limit, self.ask(kind, path)).await {
            Ok(result) => result,
            Err(_) => {
                let server = self.connection.server();
                let seconds = limit.as_secs_f64();
                let hint = self.private_hint();
                Err(kind.failure(None, format!("no answer from {server} within {seconds} seconds{hint}")))
            }
        }
    }

    /// Asks again, after a pause that doubles, when the server is busy or a connection breaks.
    async fn ask(&self, kind: &Kind, path: &str) -> Result<Answer, Failure> {
        let mut pause = self.timing.first_pause;
        let mut attempts = 1;
        let mut renewed = false;
        loop {
            let answer = self.get_once(path).await;
            if !renewed && answer.as_ref().is_ok_and(|answer| answer.renewed) {
                renewed = true;
                continue;
            }
            let again = match &answer {
                Ok(answer) => matches!(answer.status, 429 | 500 | 502..=504),
                Err(unanswered) => unanswered.broke,
            };
            if !again || attempts >= self.timing.attempts {
                return answer.map_err(|unanswered| kind.failure(None, self.no_answer(&unanswered.reason)));
            }
            attempts += 1;
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }

    async fn get_once(&self, path: &str) -> Result<Answer, Unanswered> {
        let unusable = |error: &dyn std::error::Error| Unanswered { reason: chain(error), broke: false };
        let (client, made) = self.connection.client().await.map_err(|error| unusable(error.as_ref()))?;
        let request = Request::get(path)
            .header(ACCEPT, "application/json")
            .body(Body::empty())
            .map_err(|error| unusable(&error))?;
        let started = Instant::now();
        let report = |status: Option<u16>, id: Option<String>| {
            self.connection.events.call("Kubernetes", &format!("GET {path}"), status, id, started);
        };
        let response = match client.send(request).await {
            Ok(response) => response,
            Err(error) => {
                report(None, None);
                let reason = match &error {
                    kube::Error::Service(source) => chain(source.as_ref()),
                    other => chain(other),
                };
                // hyper's word for all that happens before a connection stands: names, sockets, TLS.
                let broke = !reason.contains("(Connect)");
                return Err(Unanswered { reason, broke });
            }
        };
        let status = response.status().as_u16();
        // The id under which the API server's audit log has the request.
        let id = response.headers().get("audit-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        let body = response.into_body().collect_bytes().await;
        report(Some(status), id);
        match body {
            Ok(body) => {
                let renewed = self.connection.answered(made, status).await;
                Ok(Answer { status, body: body.to_vec(), renewed })
            }
            Err(error) => Err(Unanswered { reason: chain(&error), broke: true }),
        }
    }

    fn read<T: DeserializeOwned>(&self, kind: &Kind, answer: &Answer) -> Result<T, Failure> {
        if answer.status == 200 {
            return serde_json::from_slice(&answer.body).map_err(|error| {
                kind.failure(None, format!("the answer is not what the Kubernetes API gives: {error}"))
            });
        }
        let said = answer.message();
        let message = match answer.status {
            401 => format!("the API server does not know this identity ({said}); {}", self.how_to_be_known()),
            _ => said,
        };
        Err(kind.failure(Some(answer.status), message))
    }

    /// Source: EKS user guide, "Grant IAM users and roles access to Kubernetes APIs".
    fn how_to_be_known(&self) -> &'static str {
        if !self.connection.uses_aws_identity() {
            return "renew the login of that kubeconfig context";
        }
        match self.cluster.authentication_mode.as_deref() {
            Some("API") => "give the caller an access entry (`aws eks create-access-entry`)",
            Some("CONFIG_MAP") => "map the caller in the ConfigMap kube-system/aws-auth",
            _ => {
                "give the caller an access entry (`aws eks create-access-entry`) or map it in the ConfigMap \
                 kube-system/aws-auth"
            }
        }
    }

    fn no_answer(&self, reason: &str) -> String {
        let server = self.connection.server();
        if reason.contains("invalid peer certificate") {
            return format!(
                "the certificate of {server} is not from the cluster's certificate authority, as when a proxy \
                 re-signs TLS: {reason}"
            );
        }
        format!("cannot reach {server}{}: {reason}", self.private_hint())
    }

    fn private_hint(&self) -> &'static str {
        if self.cluster.endpoint_public_access == Some(false) {
            " (its endpoint is private: run where the VPC can be reached)"
        } else {
            ""
        }
    }
}

impl Answer {
    /// Whether a 404 is the API server's own and not that of something in its place. For a kind that is not installed
    /// it is plain text.
    fn is_of_the_api(&self) -> bool {
        serde_json::from_slice::<Status>(&self.body).is_ok() || self.body.starts_with(b"404 page not found")
    }

    /// What a `Status` says, or the beginning of whatever else was answered.
    fn message(&self) -> String {
        if let Ok(Status { message: Some(message), .. }) = serde_json::from_slice(&self.body) {
            return message;
        }
        let text = String::from_utf8_lossy(&self.body);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no body");
        let beginning: String = line.chars().take(200).collect();
        format!("HTTP status {}: {beginning}", self.status)
    }
}
