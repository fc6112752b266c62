//! The token that EKS's API servers take: a presigned `sts:GetCallerIdentity`, which they send to STS themselves.
//!
//! Nothing is sent here, so that the host is always the region's own STS, whatever `AWS_ENDPOINT_URL` says.
//! Source: aws-iam-authenticator `pkg/token/token.go`; awscli `customizations/eks/get_token.py`.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sdk_sts::config::endpoint::{DefaultResolver, Params, ResolveEndpoint as _};
use aws_sigv4::http_request::{SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign};
use aws_sigv4::sign::v4;
use base64::Engine as _;

use crate::error::access::Source;
use crate::live::percent::percent_encoded;

const PREFIX: &str = "k8s-aws-v1.";
const CLUSTER_HEADER: &str = "x-k8s-aws-id";
/// What the URL itself says; the authenticator takes a token for 15 minutes from its date all the same.
const URL_EXPIRY: Duration = Duration::from_secs(60);

/// The region's own STS, in the region's own partition: `https://sts.cn-north-1.amazonaws.com.cn`.
pub(super) async fn regional_sts(region: &str) -> Result<String, Source> {
    let params = Params::builder().region(region).build()?;
    Ok(DefaultResolver::new().resolve_endpoint(&params).await?.url().to_owned())
}

/// A token for the cluster of that name (or, on Outposts, of that id).
pub(super) fn token(
    credentials: &Credentials,
    sts: &str,
    region: &str,
    cluster: &str,
    now: SystemTime,
) -> Result<String, Source> {
    let url = format!("{sts}/?Action=GetCallerIdentity&Version=2011-06-15");
    let mut settings = SigningSettings::default();
    settings.signature_location = SignatureLocation::QueryParams;
    settings.expires_in = Some(URL_EXPIRY);
    let identity = credentials.clone().into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("sts")
        .time(now)
        .settings(settings)
        .build()?
        .into();
    let headers = [(CLUSTER_HEADER, cluster)];
    let request = SignableRequest::new("GET", &url, headers.into_iter(), SignableBody::Bytes(&[]))?;
    let (instructions, _signature) = sign(request, &params)?.into_parts();
    let signed = instructions.params().iter().fold(url.clone(), |url, (name, value)| {
        // A session token holds `/`, `+` and `=`.
        format!("{url}&{name}={}", percent_encoded(value))
    });
    Ok(format!("{PREFIX}{}", base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(signed)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn host(region: &str) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(regional_sts(region)).unwrap()
    }

    fn decoded(token: &str) -> String {
        let url = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(token.strip_prefix(PREFIX).unwrap()).unwrap();
        String::from_utf8(url).unwrap()
    }

    #[test]
    fn the_host_is_the_regions_own_in_every_partition() {
        assert_eq!(host("us-east-1"), "https://sts.us-east-1.amazonaws.com");
        assert_eq!(host("ap-southeast-1"), "https://sts.ap-southeast-1.amazonaws.com");
        assert_eq!(host("cn-north-1"), "https://sts.cn-north-1.amazonaws.com.cn");
        assert_eq!(host("us-gov-west-1"), "https://sts.us-gov-west-1.amazonaws.com");
    }

    #[test]
    fn the_token_is_what_the_authenticator_accepts() {
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", Some("a/b+c==".into()), None, "test");
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let token = token(&credentials, "https://sts.eu-west-1.amazonaws.com", "eu-west-1", "demo", now).unwrap();
        assert!(!token.contains('='), "{token}");
        let url = decoded(&token);
        let (host, query) = url.split_once("/?").unwrap();
        assert_eq!(host, "https://sts.eu-west-1.amazonaws.com");
        let parameters: Vec<(&str, &str)> = query.split('&').map(|pair| pair.split_once('=').unwrap()).collect();
        let mut names: Vec<&str> = parameters.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        // Exactly these, each once; aws-iam-authenticator refuses any other (`pkg/token/token.go`, parameterWhitelist).
        assert_eq!(
            names,
            [
                "Action",
                "Version",
                "X-Amz-Algorithm",
                "X-Amz-Credential",
                "X-Amz-Date",
                "X-Amz-Expires",
                "X-Amz-Security-Token",
                "X-Amz-Signature",
                "X-Amz-SignedHeaders",
            ]
        );
        let value = |name: &str| parameters.iter().find(|(key, _)| *key == name).unwrap().1;
        assert_eq!(value("X-Amz-Expires"), "60");
        assert_eq!(value("X-Amz-SignedHeaders"), "host%3Bx-k8s-aws-id");
        assert_eq!(value("X-Amz-Security-Token"), "a%2Fb%2Bc%3D%3D");
        assert_eq!(value("X-Amz-Date"), "20270115T080000Z");
    }

    #[test]
    fn another_cluster_gives_another_signature() {
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", None, None, "test");
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let of = |cluster: &str| token(&credentials, "https://sts.eu-west-1.amazonaws.com", "eu-west-1", cluster, now);
        assert_ne!(of("demo").unwrap(), of("prod").unwrap());
        assert_eq!(of("demo").unwrap(), of("demo").unwrap());
    }
}
