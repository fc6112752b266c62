//! One request to the API server, whatever it answers.

use std::time::Instant;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, Request};
use kube::client::Body;
use serde_json::Value;

use super::connect::Connection;
use crate::inventory::kubernetes::{DaemonSetObject, EniConfigObject, List, NodeObject};
use crate::inventory::{AwsNode, EniConfig, Node};
use crate::live::failure::chain;

/// An answer of the API server.
#[derive(Debug)]
pub(in crate::live) struct Reply {
    pub(in crate::live) status: u16,
    /// The body; `null` where it is not JSON.
    pub(in crate::live) body: Value,
    text: String,
}

impl Reply {
    /// What a `Status` says, or the beginning of whatever else was answered.
    pub(in crate::live) fn message(&self) -> String {
        match self.body.get("message").and_then(Value::as_str) {
            Some(message) => message.to_owned(),
            None => self.text.trim().chars().take(200).collect(),
        }
    }

    /// Whether the object is not there; a kind that is not there answers in plain text.
    pub(in crate::live) fn is_missing(&self) -> bool {
        self.status == 404 && self.body.get("reason").and_then(Value::as_str) == Some("NotFound")
    }
}

impl Connection {
    /// Sends one request; once more, when the token was refused that was taken before.
    ///
    /// # Errors
    /// What kept the answer from coming.
    pub(in crate::live) async fn request(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<Reply, String> {
        let (reply, renewed) = self.request_once(&method, path, content_type, body).await?;
        if !renewed {
            return Ok(reply);
        }
        self.request_once(&method, path, content_type, body).await.map(|(reply, _)| reply)
    }

    /// The answer, and whether the next request will have another token.
    async fn request_once(
        &self,
        method: &Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<(Reply, bool), String> {
        let (client, made) = self.client().await.map_err(|error| chain(error.as_ref()))?;
        let bytes = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let operation = format!("{method} {path}");
        let request = Request::builder()
            .method(method.clone())
            .uri(path)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, content_type)
            .body(Body::from(bytes))
            .map_err(|error| chain(&error))?;
        let started = Instant::now();
        let response = match client.send(request).await {
            Ok(response) => response,
            Err(error) => {
                self.events.call("Kubernetes", &operation, None, None, started);
                return Err(chain(&error));
            }
        };
        let status = response.status().as_u16();
        let id = response.headers().get("audit-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        let body = response.into_body().collect_bytes().await;
        self.events.call("Kubernetes", &operation, Some(status), id, started);
        let bytes = body.map_err(|error| chain(&error))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let renewed = self.answered(made, status).await;
        Ok((Reply { status, body: serde_json::from_slice(&bytes).unwrap_or_default(), text }, renewed))
    }
}

/// An ENIConfig out of its JSON.
pub(in crate::live) fn eni_config(object: Value) -> Option<EniConfig> {
    serde_json::from_value::<EniConfigObject>(object).ok().map(EniConfig::from)
}

/// The DaemonSet out of its JSON.
pub(in crate::live) fn aws_node(object: Value) -> Option<AwsNode> {
    serde_json::from_value::<DaemonSetObject>(object).ok().and_then(DaemonSetObject::into_aws_node)
}

/// All nodes of a page.
pub(in crate::live) fn nodes(list: Value) -> Vec<Node> {
    serde_json::from_value::<List<NodeObject>>(list)
        .map(|list| list.items.into_iter().map(Node::from).collect())
        .unwrap_or_default()
}
