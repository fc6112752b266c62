//! What AWS and Kubernetes say when they do not do it.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;

use crate::diff::Moved;
use crate::error::ChangeError;
use crate::error::access::is_expiry;
use crate::live::failure::code_and_message;
use crate::live::kube::write::Reply;

/// Where AWS's encoded part of a message begins. Source: EC2 API reference, "Error codes", `UnauthorizedOperation`.
const ENCODED: &str = "Encoded authorization failure message:";
/// How EKS says that a node role or caller may not launch. Source: EKS user guide, "Troubleshooting managed node groups".
const MAY_NOT_LAUNCH: &str = "not authorized to launch";

/// A refusal of AWS, or that there was no answer.
pub(super) fn aws<E>(error: &SdkError<E, HttpResponse>, operation: &str, object: &str) -> ChangeError
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    let (code, message) = code_and_message(error);
    let (operation, object) = (operation.to_owned(), object.to_owned());
    let words_expired = message.split(|c: char| !c.is_ascii_alphanumeric()).any(is_expiry);
    if code.as_deref().is_some_and(is_expiry) || words_expired || message.contains("credentials have expired") {
        return ChangeError::CredentialsExpired { operation, object, goes_on: None };
    }
    if message.contains(ENCODED) || message.contains(MAY_NOT_LAUNCH) {
        let message = message.split(ENCODED).next().unwrap_or_default().trim().to_owned();
        return ChangeError::NotPermittedToLaunch { operation, object, code, message };
    }
    match error {
        SdkError::ServiceError(_) => ChangeError::Refused { operation, object, code, message },
        _ => ChangeError::NoAnswer { operation, object, message },
    }
}

/// The code of a refusal.
pub(super) fn code<E>(error: &SdkError<E, HttpResponse>) -> Option<String>
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    code_and_message(error).0
}

/// A refusal of the API server.
pub(super) fn kubernetes(reply: &Reply, operation: &str, object: &str) -> ChangeError {
    ChangeError::Refused {
        operation: operation.to_owned(),
        object: object.to_owned(),
        code: Some(reply.status.to_string()),
        message: reply.message(),
    }
}

/// The object has another field now.
pub(super) fn stale(object: &str, moved: Moved) -> ChangeError {
    let Moved { field, before, now } = moved;
    ChangeError::Stale { object: object.to_owned(), field: field.to_owned(), before, now }
}

/// Refuses where a field has moved.
pub(super) fn unmoved(object: &str, moved: Option<Moved>) -> Result<(), ChangeError> {
    moved.map_or(Ok(()), |moved| Err(stale(object, moved)))
}

/// The object is there and was not, or the other way round.
pub(super) fn existence(object: &str, before: &str, now: &str) -> ChangeError {
    ChangeError::Stale {
        object: object.to_owned(),
        field: "existence".to_owned(),
        before: before.to_owned(),
        now: now.to_owned(),
    }
}
