//! ENIConfigs with their definition, aws-node, nodes.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use http::Request;
use http::header::ACCEPT;
use kube::client::Body;
use serde::de::DeserializeOwned;

use super::connect::{Access, Connection};
use super::objects::{CrdObject, DaemonSetObject, EniConfigObject, List, NodeObject, Status};
use crate::inventory::{AwsNode, Cluster, EniConfig, EniConfigCrd, GapSource, Node};
use crate::live::aws::Reading;
use crate::live::failure::{Failure, chain};
use crate::live::percent::percent_encoded;

/// Objects a page; what kubectl asks for.
const PAGE: usize = 500;
/// A list that changes faster than it can be paged through is begun anew this often.
const RESTARTS: usize = 2;

const ENI_CONFIGS: Kind = Kind {
    source: GapSource::EniConfigs,
    action: "list eniconfigs",
    resource: "eniconfigs.crd.k8s.amazonaws.com",
    path: "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs",
};
const ENI_CONFIG_CRD: Kind = Kind {
    source: GapSource::EniConfigCrd,
    action: "get customresourcedefinitions",
    resource: "eniconfigs.crd.k8s.amazonaws.com",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/eniconfigs.crd.k8s.amazonaws.com",
};
const AWS_NODE: Kind = Kind {
    source: GapSource::AwsNode,
    action: "get daemonsets",
    resource: "kube-system/aws-node",
    path: "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node",
};
const NODES: Kind = Kind { source: GapSource::Nodes, action: "list nodes", resource: "nodes", path: "/api/v1/nodes" };

/// What is asked for, and how a gap calls it.
struct Kind {
    source: GapSource,
    action: &'static str,
    resource: &'static str,
    path: &'static str,
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

/// What the API server says.
#[derive(Default)]
pub(in crate::live) struct Kubernetes {
    pub(in crate::live) eni_config_crd: Option<EniConfigCrd>,
    pub(in crate::live) eni_configs: Vec<EniConfig>,
    pub(in crate::live) aws_node: Option<AwsNode>,
    pub(in crate::live) nodes: Vec<Node>,
}

/// Reads the four kinds side by side, in bounded time. What is not installed is empty, not a gap.
pub(in crate::live) async fn read_kubernetes(reading: &Reading, access: &Access, cluster: &Cluster) -> Kubernetes {
    let connection = match access {
        Access::Ready(connection) => connection,
        Access::Unavailable(reason) => {
            for kind in [ENI_CONFIG_CRD, ENI_CONFIGS, AWS_NODE, NODES] {
                reading.settle(kind.source, 0, vec![Failure::unreadable(kind.action, None, reason.clone())]);
            }
            return Kubernetes::default();
        }
    };
    let api = Api { connection, cluster, limit: reading.clients.timing.kubernetes };
    let (crd, eni_configs, aws_node, nodes) = tokio::join!(
        async { reading.settle_object(GapSource::EniConfigCrd, api.object::<CrdObject>(&ENI_CONFIG_CRD).await) },
        async { reading.settle_list(GapSource::EniConfigs, api.list::<EniConfigObject>(&ENI_CONFIGS).await) },
        async { reading.settle_object(GapSource::AwsNode, api.object::<DaemonSetObject>(&AWS_NODE).await) },
        async { reading.settle_list(GapSource::Nodes, api.list::<NodeObject>(&NODES).await) },
    );
    Kubernetes {
        eni_config_crd: crd.map(EniConfigCrd::from),
        eni_configs: eni_configs.into_iter().map(EniConfig::from).collect(),
        aws_node: aws_node.and_then(DaemonSetObject::into_aws_node),
        nodes: nodes.into_iter().map(Node::from).collect(),
    }
}

/// The API server, and what its refusals mean for this cluster.
struct Api<'a> {
    connection: &'a Connection,
    cluster: &'a Cluster,
    limit: Duration,
}

/// An answer with a body.
struct Answer {
    status: u16,
    body: Vec<u8>,
}

impl Api<'_> {
    async fn object<T: DeserializeOwned>(&self, kind: &Kind) -> Result<Option<T>, Failure> {
        self.in_time(kind, async {
            let answer = self.get(kind, kind.path).await?;
            match answer.status {
                404 if answer.is_not_found() => Ok(None),
                _ => self.read(kind, &answer).map(Some),
            }
        })
        .await
    }

    async fn list<T: DeserializeOwned>(&self, kind: &Kind) -> Result<Vec<T>, Failure> {
        self.in_time(kind, async {
            let mut restarts = 0;
            let mut objects = Vec::new();
            let mut seen = BTreeSet::new();
            let mut path = format!("{}?limit={PAGE}", kind.path);
            loop {
                let answer = self.get(kind, &path).await?;
                match answer.status {
                    // The kind is not installed.
                    404 if matches!(kind.source, GapSource::EniConfigs) => return Ok(Vec::new()),
                    // The page token has got too old, or the server has compacted what it stood for.
                    410 if restarts < RESTARTS => {
                        restarts += 1;
                        objects.clear();
                        seen.clear();
                        path = format!("{}?limit={PAGE}", kind.path);
                        continue;
                    }
                    _ => {}
                }
                let page: List<T> = self.read(kind, &answer)?;
                objects.extend(page.items);
                let Some(next) = page.metadata.next.filter(|next| !next.is_empty()) else { return Ok(objects) };
                if !seen.insert(next.clone()) {
                    return Err(kind.failure(None, "the list names the same next page twice".into()));
                }
                path = format!("{}?limit={PAGE}&continue={}", kind.path, percent_encoded(&next));
            }
        })
        .await
    }

    async fn in_time<T>(&self, kind: &Kind, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        match tokio::time::timeout(self.limit, work).await {
            Ok(result) => result,
            Err(_) => Err(kind.failure(
                None,
                format!(
                    "no answer from {} within {} seconds{}",
                    self.connection.server(),
                    self.limit.as_secs_f64(),
                    self.private_hint()
                ),
            )),
        }
    }

    async fn get(&self, kind: &Kind, path: &str) -> Result<Answer, Failure> {
        let unreachable = |error: &dyn std::error::Error| kind.failure(None, self.no_answer(&chain(error)));
        let client = self.connection.client().await.map_err(|error| unreachable(error.as_ref()))?;
        let request = Request::get(path)
            .header(ACCEPT, "application/json")
            .body(Body::empty())
            .map_err(|error| unreachable(&error))?;
        let started = Instant::now();
        let report = |status: Option<u16>, id: Option<String>| {
            self.connection.events.call("Kubernetes", &format!("GET {path}"), status, id, started);
        };
        let response = match client.send(request).await {
            Ok(response) => response,
            Err(error) => {
                report(None, None);
                return Err(unreachable(&error));
            }
        };
        let status = response.status().as_u16();
        // The id under which the API server's audit log has the request.
        let id = response.headers().get("audit-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        let body = response.into_body().collect_bytes().await;
        report(Some(status), id);
        Ok(Answer { status, body: body.map_err(|error| unreachable(&error))?.to_vec() })
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
                "give the caller an access entry (`aws eks create-access-entry`) or map it in the ConfigMap kube-system/aws-auth"
            }
        }
    }

    fn no_answer(&self, reason: &str) -> String {
        let server = self.connection.server();
        if reason.contains("UnknownIssuer") || reason.contains("invalid peer certificate") {
            return format!(
                "the certificate of {server} is not from the cluster's certificate authority, as when a proxy re-signs TLS: {reason}"
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
    /// A 404 of the API server itself, not of something in its place.
    fn is_not_found(&self) -> bool {
        serde_json::from_slice::<Status>(&self.body).is_ok() || self.body.starts_with(b"404 page not found")
    }

    /// What a `Status` says, or the beginning of whatever else was answered.
    fn message(&self) -> String {
        if let Ok(Status { message: Some(message) }) = serde_json::from_slice(&self.body) {
            return message;
        }
        let text = String::from_utf8_lossy(&self.body);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no body");
        let beginning: String = line.chars().take(200).collect();
        format!("HTTP status {}: {beginning}", self.status)
    }
}
