//! Region, credentials, certificates, retries: everything between the user's AWS configuration and a client.
//!
//! The configuration is the SDK's own: profiles, IAM Identity Center, assumed roles, `AWS_REGION`,
//! `AWS_ENDPOINT_URL[_EKS|_EC2|_STS]`, partitions, `HTTPS_PROXY` and `NO_PROXY`. Only `AWS_CA_BUNDLE`, and `ca_bundle` of
//! the profile, are read here, because the SDK does not.

use std::env;

use aws_config::profile::ProfileSet;
use aws_config::timeout::TimeoutConfig;
use aws_config::{AppName, BehaviorVersion, ConfigLoader, Region, SdkConfig};
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_http_client::{Builder as HttpClientBuilder, ConnectorBuilder};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_types::os_shim_internal::{Env, Fs};
use tokio::sync::Semaphore;

use super::credentials::{self, Remembered};
use super::observe::Observe;
use super::retries::{ByAction, adaptive};
use crate::error::AccessError;
use crate::live::options::{CollectOptions, Timing};
use crate::live::progress::Events;

/// Calls under way at the same time. EC2 refills 20 describe calls a second for a whole account and region.
/// Source: Amazon EC2 API reference, "Request throttling".
const CALLS_AT_ONCE: usize = 8;

/// Clients of one account and region.
pub(in crate::live) struct Clients {
    pub(in crate::live) eks: aws_sdk_eks::Client,
    pub(in crate::live) ec2: aws_sdk_ec2::Client,
    pub(in crate::live) sts: aws_sdk_sts::Client,
    pub(in crate::live) region: String,
    /// The profile in use, where one was named.
    pub(in crate::live) profile: Option<String>,
    pub(in crate::live) credentials: SharedCredentialsProvider,
    pub(in crate::live) timing: Timing,
    pub(in crate::live) events: Events,
    pub(super) permits: Semaphore,
}

impl Clients {
    /// Finds region and credentials, without asking EKS or EC2 anything.
    ///
    /// # Errors
    /// [`AccessError`] when there is no region, no such profile, or there are no good credentials.
    pub(in crate::live) async fn connect(options: &CollectOptions, events: Events) -> Result<Self, AccessError> {
        let profile = options.profile.clone().or_else(|| variable("AWS_PROFILE"));
        let profiles = profiles(profile.as_deref()).await?;
        let ca_bundle = variable("AWS_CA_BUNDLE").or_else(|| profiles?.get("ca_bundle").map(str::to_owned));
        let sdk = configuration(options, ca_bundle.as_deref()).await?;
        let region = sdk.region().ok_or(AccessError::NoRegion)?.to_string();
        let credentials = sdk.credentials_provider().ok_or_else(|| AccessError::NoCredentials {
            profile: profile.clone(),
            source: "no provider is set up".into(),
        })?;
        let credentials = SharedCredentialsProvider::new(Remembered::new(credentials));
        credentials::check(&credentials, profile.as_deref()).await?;
        let sdk = sdk.into_builder().credentials_provider(credentials.clone()).build();
        let observe = || Observe::new(events.clone());
        Ok(Self {
            eks: aws_sdk_eks::Client::from_conf(
                aws_sdk_eks::config::Builder::from(&sdk)
                    .interceptor(observe())
                    .interceptor(ByAction::default())
                    .build(),
            ),
            ec2: aws_sdk_ec2::Client::from_conf(
                aws_sdk_ec2::config::Builder::from(&sdk)
                    .interceptor(observe())
                    .interceptor(ByAction::default())
                    .build(),
            ),
            sts: aws_sdk_sts::Client::from_conf(
                aws_sdk_sts::config::Builder::from(&sdk).interceptor(observe()).build(),
            ),
            region,
            profile,
            credentials,
            timing: options.timing.clone(),
            events,
            permits: Semaphore::new(CALLS_AT_ONCE),
        })
    }
}

async fn configuration(options: &CollectOptions, ca_bundle: Option<&str>) -> Result<SdkConfig, AccessError> {
    let mut loader = aws_config::defaults(BehaviorVersion::v2026_01_12()).timeout_config(timeouts(&options.timing));
    if let Some(region) = &options.region {
        loader = loader.region(Region::new(region.clone()));
    }
    if let Some(profile) = &options.profile {
        loader = loader.profile_name(profile);
    }
    if let Ok(name) = AppName::new(concat!("eniplan-", env!("CARGO_PKG_VERSION"))) {
        loader = loader.app_name(name);
    }
    loader = with_retries(loader, &options.timing);
    if let Some(path) = ca_bundle {
        loader = loader.http_client(client_trusting(path)?);
    }
    Ok(loader.load().await)
}

fn timeouts(timing: &Timing) -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(timing.connect)
        .read_timeout(timing.attempt)
        .operation_attempt_timeout(timing.attempt)
        .operation_timeout(timing.call)
        .build()
}

/// The SDK's adaptive retries, unless the user has said how to retry.
fn with_retries(loader: ConfigLoader, timing: &Timing) -> ConfigLoader {
    if variable("AWS_RETRY_MODE").is_some() || variable("AWS_MAX_ATTEMPTS").is_some() {
        return loader;
    }
    loader.retry_config(adaptive(timing))
}

/// A client that trusts exactly the certificates of that file, as the AWS CLI does.
fn client_trusting(path: &str) -> Result<SharedHttpClient, AccessError> {
    let unusable =
        |source: Box<dyn std::error::Error + Send + Sync>| AccessError::CaBundle { path: path.to_owned(), source };
    let pem = std::fs::read(path).map_err(|error| unusable(error.into()))?;
    if crate::live::pem::certificates(&pem).is_empty() {
        return Err(unusable("it holds no PEM certificate".into()));
    }
    let context = TlsContext::builder()
        .with_trust_store(TrustStore::empty().with_pem_certificate(pem))
        .build()
        .map_err(|error| unusable(error.into()))?;
    Ok(HttpClientBuilder::new().build_with_connector_fn(move |settings, components| {
        let mut connector = ConnectorBuilder::default()
            .tls_provider(Provider::Rustls(CryptoMode::AwsLc))
            .tls_context(context.clone())
            .proxy_config(ProxyConfig::from_env());
        connector.set_connector_settings(settings.cloned());
        if let Some(components) = components {
            connector.set_sleep_impl(components.sleep_impl());
        }
        connector.build()
    }))
}

/// The AWS configuration files. They must be readable, and have the profile, only when one is named: the SDK would
/// silently go on without it.
async fn profiles(profile: Option<&str>) -> Result<Option<ProfileSet>, AccessError> {
    let named = profile.map(|profile| profile.to_owned().into());
    let loaded = aws_config::profile::load(&Fs::real(), &Env::real(), &Default::default(), named).await;
    let Some(profile) = profile else { return Ok(loaded.ok()) };
    let profiles = loaded
        .map_err(|error| AccessError::NoCredentials { profile: Some(profile.to_owned()), source: error.into() })?;
    if profiles.get_profile(profile).is_some() {
        return Ok(Some(profiles));
    }
    let mut known: Vec<String> = profiles.profiles().map(str::to_owned).collect();
    known.sort();
    Err(AccessError::UnknownProfile { profile: profile.to_owned(), known })
}

/// An environment variable that is set to something.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
