//! The way to the cluster's API server.

use std::time::{Duration, Instant, SystemTime};

use aws_credential_types::provider::{ProvideCredentials as _, SharedCredentialsProvider};
use base64::Engine as _;
use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio::sync::Mutex;

use super::token;
use crate::error::AccessError;
use crate::error::access::Source;
use crate::inventory::Cluster;
use crate::live::aws::Clients;
use crate::live::failure::chain;
use crate::live::options::CollectOptions;
use crate::live::pem;
use crate::live::percent::percent_encoded;
use crate::live::progress::Events;

/// Source: Kubernetes API conventions, "HTTP Status codes".
const UNAUTHORIZED: u16 = 401;

/// Whether there is a way to the API server at all.
pub(in crate::live) enum Access {
    /// There is; whether it answers is another matter.
    Ready(Box<Connection>),
    /// There is none, and why.
    Unavailable(String),
}

/// A way to one API server. Clients made from a token are renewed before it gets too old.
pub(in crate::live) struct Connection {
    config: Config,
    identity: Identity,
    renew_after: Duration,
    last: Mutex<Option<Made>>,
    pub(in crate::live) events: Events,
}

/// A client that was made from a token.
struct Made {
    client: Client,
    at: Instant,
    /// Whether the server has taken the token.
    accepted: bool,
}

enum Identity {
    /// What the kubeconfig says; kube renews it.
    Kubeconfig,
    /// The caller's AWS credentials.
    Token(TokenSource),
}

struct TokenSource {
    credentials: SharedCredentialsProvider,
    sts: String,
    region: String,
    cluster: String,
}

/// Finds the way to the cluster's API server, without asking it anything.
///
/// # Errors
/// [`AccessError`] when a kubeconfig is to be used and its context leads elsewhere.
pub(in crate::live) async fn connect(
    clients: &Clients,
    cluster: &Cluster,
    options: &CollectOptions,
) -> Result<Access, AccessError> {
    let Some(endpoint) = &cluster.endpoint else {
        return Ok(Access::Unavailable("the cluster has no endpoint yet".into()));
    };
    let authority = cluster.certificate_authority.as_deref().map(pem::certificates_in_base64).unwrap_or_default();
    if authority.is_empty() {
        return Ok(Access::Unavailable("`certificateAuthority` of the cluster holds no PEM certificate".into()));
    }
    let (mut config, identity) = match &options.kube_context {
        Some(context) => (of_context(context, cluster, endpoint, &authority).await?, Identity::Kubeconfig),
        None => match of_cluster(clients, cluster, endpoint, authority).await {
            Ok(found) => found,
            Err(source) => return Ok(Access::Unavailable(chain(source.as_ref()))),
        },
    };
    config.connect_timeout = Some(options.timing.connect);
    config.read_timeout = Some(options.timing.kubernetes);
    config.write_timeout = Some(options.timing.kubernetes);
    // Whoever asks tries again; kube would do so until the time is up, and then nobody knows what the server said.
    config.default_retry = false;
    let events = clients.events.clone();
    Ok(Access::Ready(Box::new(Connection {
        config,
        identity,
        renew_after: options.timing.token,
        last: Mutex::new(None),
        events,
    })))
}

async fn of_cluster(
    clients: &Clients,
    cluster: &Cluster,
    endpoint: &str,
    authority: Vec<Vec<u8>>,
) -> Result<(Config, Identity), Source> {
    let mut config = Config::new(endpoint.parse()?);
    config.root_cert = Some(authority);
    config.proxy_url = proxy_for(&config.cluster_url)?;
    let source = TokenSource {
        credentials: clients.credentials.clone(),
        sts: token::regional_sts(&clients.region).await?,
        region: clients.region.clone(),
        // A local cluster on Outposts is known to its authenticator by id.
        cluster: match (&cluster.outpost_config, &cluster.id) {
            (Some(_), Some(id)) => id.clone(),
            _ => cluster.name.clone(),
        },
    };
    Ok((config, Identity::Token(source)))
}

/// `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, as the AWS clients read them; a login goes back into the URL, where kube
/// looks for it.
fn proxy_for(endpoint: &Uri) -> Result<Option<Uri>, Source> {
    let Some(proxy) = Matcher::from_env().intercept(endpoint) else { return Ok(None) };
    let Some(login) = proxy.basic_auth() else { return Ok(Some(proxy.uri().clone())) };
    let login = login.to_str()?.trim_start_matches("Basic ");
    let login = String::from_utf8(base64::engine::general_purpose::STANDARD.decode(login)?)?;
    let (user, password) = login.split_once(':').unwrap_or((&login, ""));
    let authority = proxy.uri().authority().map(ToString::to_string).unwrap_or_default();
    let scheme = proxy.uri().scheme_str().unwrap_or("http");
    Ok(Some(format!("{scheme}://{}:{}@{authority}", percent_encoded(user), percent_encoded(password)).parse()?))
}

/// Reads the context and makes sure that it leads to the cluster that was asked for, and to nothing else.
async fn of_context(
    context: &str,
    cluster: &Cluster,
    endpoint: &str,
    authority: &[Vec<u8>],
) -> Result<Config, AccessError> {
    let unusable = |source: Source| AccessError::KubeContext { context: context.to_owned(), source };
    let kubeconfig = Kubeconfig::read().map_err(|error| unusable(error.into()))?;
    let selected = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
    let config = Config::from_custom_kubeconfig(kubeconfig, &selected).await.map_err(|error| unusable(error.into()))?;
    let wrong = |difference: String| AccessError::WrongKubeContext {
        context: context.to_owned(),
        cluster: cluster.name.clone(),
        difference,
    };
    let expected: Uri = endpoint.parse().map_err(|error: http::uri::InvalidUri| unusable(error.into()))?;
    if !same_server(&config.cluster_url, &expected) {
        return Err(wrong(format!("its server is {}, the cluster's endpoint is {endpoint}", config.cluster_url)));
    }
    if config.accept_invalid_certs {
        return Err(wrong("it does not verify the server's certificate".into()));
    }
    if config.root_cert.as_ref().is_some_and(|certificates| certificates != authority) {
        return Err(wrong("its certificate authority is not the cluster's".into()));
    }
    Ok(config)
}

/// Whether two URLs name the same host and port.
fn same_server(a: &Uri, b: &Uri) -> bool {
    let server = |uri: &Uri| {
        let host = uri.host().map(str::to_ascii_lowercase);
        (uri.scheme_str().map(str::to_owned), host, uri.port_u16().unwrap_or(443))
    };
    server(a) == server(b) && a.path().trim_end_matches('/') == b.path().trim_end_matches('/')
}

impl Connection {
    /// A client whose token is good for some minutes yet, and when it was made.
    pub(in crate::live) async fn client(&self) -> Result<(Client, Instant), Source> {
        let mut last = self.last.lock().await;
        if let Some(Made { client, at, .. }) = last.as_ref()
            && (!self.uses_aws_identity() || at.elapsed() < self.renew_after)
        {
            return Ok((client.clone(), *at));
        }
        let mut config = self.config.clone();
        if let Identity::Token(source) = &self.identity {
            config.auth_info.token = Some(source.token().await?.into());
        }
        let made = Made { client: Client::try_from(config)?, at: Instant::now(), accepted: false };
        let given = (made.client.clone(), made.at);
        *last = Some(made);
        Ok(given)
    }

    /// Hears with which status a request of the client was answered that was made then. Says whether another client is
    /// worth a try: the token was taken before and is refused now, as when the clock was set, or the role assumed anew.
    pub(in crate::live) async fn answered(&self, made: Instant, status: u16) -> bool {
        let mut last = self.last.lock().await;
        let Some(current) = last.as_mut().filter(|current| current.at == made) else {
            // Somebody else has renewed it meanwhile.
            return status == UNAUTHORIZED;
        };
        if status != UNAUTHORIZED {
            current.accepted = true;
            return false;
        }
        let renew = current.accepted && matches!(self.identity, Identity::Token(_));
        if renew {
            *last = None;
        }
        renew
    }

    /// Whether the caller's AWS credentials are what the API server sees.
    pub(super) fn uses_aws_identity(&self) -> bool {
        matches!(self.identity, Identity::Token(_))
    }

    /// Host and port for messages.
    pub(in crate::live) fn server(&self) -> String {
        self.config.cluster_url.authority().map(ToString::to_string).unwrap_or_default()
    }
}

impl TokenSource {
    async fn token(&self) -> Result<String, Source> {
        let credentials = self.credentials.provide_credentials().await?;
        token::token(&credentials, &self.sts, &self.region, &self.cluster, SystemTime::now())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn servers_are_compared_by_host_and_port() {
        let same = |a: &str, b: &str| same_server(&a.parse().unwrap(), &b.parse().unwrap());
        assert!(same(
            "https://ABC.gr7.eu-west-1.eks.amazonaws.com",
            "https://abc.gr7.eu-west-1.eks.amazonaws.com:443/"
        ));
        assert!(!same("https://abc.gr7.eu-west-1.eks.amazonaws.com", "https://abd.gr7.eu-west-1.eks.amazonaws.com"));
        assert!(!same("https://127.0.0.1:6443", "https://127.0.0.1:6444"));
        assert!(!same("http://127.0.0.1:443", "https://127.0.0.1:443"));
        assert!(!same("https://rancher.example/k8s/clusters/c-1", "https://rancher.example"));
    }
}
