//! The caller's credentials: resolved once, kept until shortly before they expire.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider, future};
use tokio::sync::Mutex;

use crate::error::AccessError;
use crate::error::access::is_expiry;
use crate::live::failure::chain;

/// Credentials are renewed this long before they expire, as the SDK's own cache does.
const RENEW_BEFORE_EXPIRY: Duration = Duration::from_secs(10);

/// Asks the provider behind it once for all clients and for the Kubernetes token; assuming a role is a call each time.
#[derive(Debug)]
pub(super) struct Remembered {
    provider: SharedCredentialsProvider,
    last: Mutex<Option<Credentials>>,
}

impl Remembered {
    pub(super) fn new(provider: SharedCredentialsProvider) -> Self {
        Self { provider, last: Mutex::new(None) }
    }

    async fn credentials(&self) -> Result<Credentials, CredentialsError> {
        let mut last = self.last.lock().await;
        if let Some(credentials) = last.as_ref()
            && is_good(credentials, SystemTime::now())
        {
            return Ok(credentials.clone());
        }
        let credentials = self.provider.provide_credentials().await?;
        *last = Some(credentials.clone());
        Ok(credentials)
    }
}

impl ProvideCredentials for Remembered {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(self.credentials())
    }
}

fn is_good(credentials: &Credentials, now: SystemTime) -> bool {
    credentials.expiry().is_none_or(|expiry| expiry > now + RENEW_BEFORE_EXPIRY)
}

/// Resolves the credentials, so that what is wrong with them is said once and first.
///
/// # Errors
/// [`AccessError::NoCredentials`] or [`AccessError::ExpiredCredentials`].
pub(super) async fn check(credentials: &SharedCredentialsProvider, profile: Option<&str>) -> Result<(), AccessError> {
    match credentials.provide_credentials().await {
        Ok(_) => Ok(()),
        Err(error) => Err(explain(&error, profile)),
    }
}

/// The credential chain tells its reasons in text only.
fn explain(error: &CredentialsError, profile: Option<&str>) -> AccessError {
    let profile = profile.map(str::to_owned);
    let text = chain(error);
    let sso = text.contains("SSO") || text.contains("sso");
    let expired = text.contains("expired") || text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_expiry);
    // IAM Identity Center answers `UnauthorizedException` to a token that it has revoked or let expire.
    if expired || (sso && text.contains("UnauthorizedException")) {
        return AccessError::ExpiredCredentials { profile, sso, source: text.into() };
    }
    AccessError::NoCredentials { profile, source: text.into() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;

    fn credentials(expiry: Option<SystemTime>) -> Credentials {
        Credentials::new("AKIDEXAMPLE", "secret", None, expiry, "test")
    }

    #[test]
    fn credentials_are_kept_until_shortly_before_they_expire() {
        let now = SystemTime::now();
        assert!(is_good(&credentials(None), now));
        assert!(is_good(&credentials(Some(now + Duration::from_secs(11))), now));
        assert!(!is_good(&credentials(Some(now + Duration::from_secs(9))), now));
        assert!(!is_good(&credentials(Some(now - Duration::from_secs(1))), now));
    }

    #[test]
    fn an_expired_identity_center_login_is_told_from_missing_credentials() {
        let expired = explain(
            &CredentialsError::provider_error("the SSO token has expired and cannot be refreshed"),
            Some("dev"),
        );
        assert!(matches!(expired, AccessError::ExpiredCredentials { sso: true, .. }), "{expired:?}");
        assert_eq!(expired.help(), "run `aws sso login --profile dev` and try again");
        let session = explain(&CredentialsError::provider_error("ExpiredTokenException: token too old"), None);
        assert!(matches!(session, AccessError::ExpiredCredentials { sso: false, .. }), "{session:?}");
        let missing = explain(&CredentialsError::not_loaded("no providers in chain provided credentials"), None);
        assert!(matches!(missing, AccessError::NoCredentials { .. }), "{missing:?}");
    }
}
