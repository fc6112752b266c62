//! Reports every attempt of every AWS call, with the id that the service gave it, and refuses what is no answer of EC2.

use std::time::Instant;

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::{
    AfterDeserializationInterceptorContextRef, BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextRef,
};
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};

use crate::live::progress::Events;

/// Headers with the request id; EC2 and STS use the first, EKS the second.
/// Source: aws-types `request_id.rs`.
const REQUEST_ID_HEADERS: [&str; 2] = ["x-amzn-requestid", "x-amz-request-id"];

/// The root element follows the XML declaration.
const ROOT_WITHIN: usize = 256;

/// The interceptor that every client carries.
#[derive(Debug)]
pub(super) struct Observe {
    events: Events,
}

impl Observe {
    pub(super) fn new(events: Events) -> Self {
        Self { events }
    }
}

#[derive(Debug)]
struct AttemptStarted(Instant);

impl Storable for AttemptStarted {
    type Storer = StoreReplace<Self>;
}

impl Intercept for Observe {
    fn name(&self) -> &'static str {
        "eniplan calls"
    }

    fn read_before_attempt(
        &self,
        _context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        config.interceptor_state().store_put(AttemptStarted(Instant::now()));
        Ok(())
    }

    /// EC2's XML is read without a look at the root element: a login page would be an empty list.
    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(metadata) = config.load::<Metadata>() else { return Ok(()) };
        let response = context.response();
        let Some(body) = response.body().bytes() else { return Ok(()) };
        if metadata.service() != "EC2" || !response.status().is_success() {
            return Ok(());
        }
        let root = format!("<{}Response", metadata.name());
        if String::from_utf8_lossy(body.get(..ROOT_WITHIN).unwrap_or(body)).contains(&root) {
            return Ok(());
        }
        Err(format!("the answer is no {}Response", metadata.name()).into())
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(AttemptStarted(started)) = config.load::<AttemptStarted>() else { return Ok(()) };
        let Some(metadata) = config.load::<Metadata>() else { return Ok(()) };
        let response = context.response();
        let request_id = response.and_then(|response| {
            REQUEST_ID_HEADERS.into_iter().find_map(|name| response.headers().get(name)).map(str::to_owned)
        });
        let status = response.map(|response| response.status().as_u16());
        self.events.call(metadata.service(), metadata.name(), status, request_id, *started);
        Ok(())
    }
}
