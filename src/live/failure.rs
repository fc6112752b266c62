//! A read that did not succeed, on its way into a gap.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;

use crate::inventory::{Gap, GapSource};

/// A read that was denied or failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// IAM action, or verb and resource of Kubernetes.
    pub(super) action: String,
    /// What it was asked of.
    pub(super) resource: Option<String>,
    /// The API's error code, where the API answered with one.
    pub(super) code: Option<String>,
    /// What the API or the network said.
    pub(super) message: String,
}

impl Failure {
    pub(super) fn of_aws<E>(error: &SdkError<E, HttpResponse>, action: &str, resource: Option<String>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        let (code, message) = code_and_message(error);
        Self { action: action.to_owned(), resource, code, message }
    }

    /// An answer that lacks what every such answer has, or a list that never ends.
    pub(super) fn unreadable(action: &str, resource: Option<String>, message: String) -> Self {
        Self { action: action.to_owned(), resource, code: None, message }
    }

    pub(super) fn into_gap(self, source: GapSource) -> Gap {
        let Self { action, resource, code, message } = self;
        Gap { source, action, resource, code, message, caller: None }
    }
}

/// The API's code and message, or what kept it from answering.
pub(super) fn code_and_message<E>(error: &SdkError<E, HttpResponse>) -> (Option<String>, String)
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    match error {
        SdkError::ServiceError(service) => {
            let status = service.raw().status().as_u16();
            match (service.err().code(), service.err().message()) {
                (Some(code), Some(message)) => (Some(code.to_owned()), message.to_owned()),
                (Some(code), None) => (Some(code.to_owned()), format!("HTTP status {status} without a message")),
                (None, Some(message)) => (None, message.to_owned()),
                (None, None) => (None, format!("HTTP status {status} with an answer that is not of this API")),
            }
        }
        SdkError::TimeoutError(_) => (None, "no answer in time".to_owned()),
        SdkError::DispatchFailure(failure) => {
            let reason =
                failure.as_connector_error().and_then(std::error::Error::source).map_or_else(|| chain(error), chain);
            (None, format!("no connection: {reason}"))
        }
        SdkError::ResponseError(response) => {
            (None, format!("HTTP status {} with an answer that cannot be read", response.raw().status().as_u16()))
        }
        other => (None, chain(other)),
    }
}

/// An error and its sources on one line, without saying anything twice.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let part = source.to_string();
        if !text.contains(&part) {
            text.push_str(": ");
            text.push_str(&part);
        }
        next = source.source();
    }
    text
}
