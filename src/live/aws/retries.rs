//! How AWS is asked again.
//!
//! The SDK's adaptive retries: after a throttled attempt the client sends no faster than the service seems to take. As
//! they come, they suit long-running clients only: all operations of a client share one limiter, which begins at half a
//! request a second, and a retry costs ten of its requests. Two throttled attempts of each of two calls made a reading
//! of twenty calls last 69 seconds. Here each action has a limiter of its own, as EC2 throttles each action apart, and the
//! limiter begins at the rate that EC2 grants.

use std::collections::BTreeMap;
use std::sync::Mutex;

use aws_config::retry::RetryConfig;
use aws_sdk_ec2::config::retry::{ClientRateLimiter, RetryPartition};
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::BeforeSerializationInterceptorContextRef;
use aws_smithy_runtime_api::client::orchestrator::Metadata;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;

use crate::live::options::Timing;

/// Requests a second that EC2 grants for each describing action of an account and Region.
/// Source: Amazon EC2 API reference, "Request throttling", non-mutating actions.
const REQUESTS_A_SECOND: f64 = 20.0;

/// What the first answer leaves of the rate that a limiter is told: it reckons with the time since 1970 until then.
/// Source: aws-smithy-runtime `client_rate_limiter.rs`, `SMOOTH`.
const LEFT_OF_THE_RATE: f64 = 0.2;

/// Adaptive retries with that many attempts.
pub(super) fn adaptive(timing: &Timing) -> RetryConfig {
    RetryConfig::adaptive()
        .with_max_attempts(timing.attempts)
        .with_initial_backoff(timing.first_pause)
        .with_max_backoff(timing.longest_pause)
}

/// Gives each action of a client a limiter of its own.
#[derive(Debug, Default)]
pub(super) struct ByAction {
    partitions: Mutex<BTreeMap<String, RetryPartition>>,
}

impl Intercept for ByAction {
    fn name(&self) -> &'static str {
        "eniplan retries by action"
    }

    /// The first of the hooks that knows the action.
    fn read_before_serialization(
        &self,
        _context: &BeforeSerializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(action) = config.load::<Metadata>().map(|metadata| metadata.name().to_owned()) else { return Ok(()) };
        // Nothing panics while it is held.
        let Ok(mut partitions) = self.partitions.lock() else { return Ok(()) };
        let partition = partitions.entry(action.clone()).or_insert_with(|| partition(action)).clone();
        config.interceptor_state().store_put(partition);
        Ok(())
    }
}

fn partition(action: String) -> RetryPartition {
    let limiter = ClientRateLimiter::builder()
        .tokens_retrieved_per_second(REQUESTS_A_SECOND / LEFT_OF_THE_RATE)
        .current_bucket_capacity(REQUESTS_A_SECOND)
        .build();
    RetryPartition::custom(action).client_rate_limiter(limiter).build()
}
