//! What keeps a command from reading a cluster at all. A read that fails later only leaves a gap in the inventory.

/// Any error of a library below, kept for the chain that is printed.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why AWS or Kubernetes could not be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// No region in flags, file, environment or profile.
    #[error("no region: neither a flag, eniplan.yaml, the environment nor the profile names one")]
    NoRegion,
    /// The profile is not in the AWS configuration files.
    #[error("no profile `{profile}` in the AWS configuration")]
    UnknownProfile {
        /// The name given.
        profile: String,
        /// The profiles that are there.
        known: Vec<String>,
    },
    /// No credentials were found.
    #[error("no AWS credentials{}", of_profile(.profile))]
    NoCredentials {
        /// The profile in use, where one was named.
        profile: Option<String>,
        /// What the credential chain said.
        #[source]
        source: Source,
    },
    /// The credentials are no longer good.
    #[error("the AWS credentials{} have expired", of_profile(.profile))]
    ExpiredCredentials {
        /// The profile in use, where one was named.
        profile: Option<String>,
        /// Whether they come from AWS IAM Identity Center.
        sso: bool,
        /// What AWS or the credential chain said.
        #[source]
        source: Source,
    },
    /// `AWS_CA_BUNDLE` cannot be used.
    #[error("cannot use the certificates of {path} (AWS_CA_BUNDLE)")]
    CaBundle {
        /// The file that the variable names.
        path: String,
        /// Why.
        #[source]
        source: Source,
    },
    /// The region has no cluster of that name.
    #[error("no EKS cluster `{cluster}` in region {region}{}", asked_as(.profile, .account))]
    NoSuchCluster {
        /// The name given.
        cluster: String,
        /// Region that was asked.
        region: String,
        /// The profile in use, where one was named.
        profile: Option<String>,
        /// Account that was asked, where it could be told.
        account: Option<String>,
        /// The clusters that are there; `None` when they could not be listed.
        known: Option<Vec<String>>,
    },
    /// AWS did not let us describe the cluster.
    #[error("{action} of cluster `{cluster}` in region {region} failed{}", with_code(.code))]
    DescribeCluster {
        /// IAM action.
        action: String,
        /// Name of the cluster.
        cluster: String,
        /// Region that was asked.
        region: String,
        /// The API's error code.
        code: Option<String>,
        /// What the API said.
        #[source]
        source: Source,
    },
    /// AWS could not be reached.
    #[error("cannot reach EKS in region {region}")]
    Unreachable {
        /// Region that was asked.
        region: String,
        /// What the network said.
        #[source]
        source: Source,
    },
    /// The kubeconfig, or the context in it, cannot be used.
    #[error("cannot use context `{context}` of the kubeconfig")]
    KubeContext {
        /// The context named.
        context: String,
        /// Why.
        #[source]
        source: Source,
    },
    /// The context leads to another API server than the cluster's.
    #[error("context `{context}` of the kubeconfig is not cluster `{cluster}`: {difference}")]
    WrongKubeContext {
        /// The context named.
        context: String,
        /// The cluster named.
        cluster: String,
        /// What differs, with both values.
        difference: String,
    },
    /// The network runtime could not be started.
    #[error("cannot start the network runtime")]
    Runtime {
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl AccessError {
    /// What the reader can do about it, without a final period.
    pub fn help(&self) -> String {
        match self {
            Self::NoRegion => "pass --region, set metadata.region in eniplan.yaml, or set AWS_REGION".into(),
            Self::UnknownProfile { known, .. } if known.is_empty() => {
                "there is no profile at all; `aws configure sso` or `aws configure` makes one".into()
            }
            Self::UnknownProfile { known, .. } => format!("there are: {}", known.join(", ")),
            Self::NoCredentials { profile: Some(profile), .. } => {
                format!("log in with `aws sso login --profile {profile}`, or check what that profile says")
            }
            Self::NoCredentials { .. } => {
                "log in with `aws sso login`, pass --profile, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY".into()
            }
            Self::ExpiredCredentials { profile: Some(profile), sso: true, .. } => {
                format!("run `aws sso login --profile {profile}` and try again")
            }
            Self::ExpiredCredentials { sso: true, .. } => "run `aws sso login` and try again".into(),
            Self::ExpiredCredentials { .. } => "get new credentials and try again".into(),
            Self::CaBundle { .. } => "let AWS_CA_BUNDLE name a readable file of PEM certificates, or unset it".into(),
            Self::NoSuchCluster { known: Some(known), region, .. } if known.is_empty() => {
                format!("there is no cluster at all in {region}; pass another --region or --profile")
            }
            Self::NoSuchCluster { known: Some(known), .. } => {
                format!("clusters there: {}; for another one pass --region or --profile", known.join(", "))
            }
            Self::NoSuchCluster { known: None, .. } => {
                "check the name, --region and --profile; the clusters there could not be listed".into()
            }
            Self::DescribeCluster { code: Some(code), .. } if is_throttling(code) => {
                "AWS is throttling this account; try again in a minute, or set AWS_MAX_ATTEMPTS higher".into()
            }
            Self::DescribeCluster { code: Some(code), action, .. } if is_denial(code) => {
                format!("allow {action} to this caller; `eniplan iam-policy` prints every action that is needed")
            }
            Self::DescribeCluster { .. } => {
                "check the region, the credentials and AWS_ENDPOINT_URL, then try again".into()
            }
            Self::Unreachable { .. } => {
                "check the region's name, the network, HTTPS_PROXY and NO_PROXY, and AWS_CA_BUNDLE if a proxy re-signs TLS"
                    .into()
            }
            Self::KubeContext { .. } | Self::WrongKubeContext { .. } => {
                "pass the context of that cluster, or leave out --kube-context: no kubeconfig is needed".into()
            }
            Self::Runtime { .. } => "check the limits on open files and threads".into(),
            Self::Interrupted => "nothing was written".into(),
        }
    }
}

/// Codes with which EKS and EC2 slow a caller down.
/// Source: Amazon EC2 API reference, "Common error codes"; SDK retry behaviour, "throttling errors".
pub fn is_throttling(code: &str) -> bool {
    matches!(
        code,
        "Throttling"
            | "ThrottlingException"
            | "ThrottledException"
            | "RequestLimitExceeded"
            | "TooManyRequestsException"
            | "RequestThrottled"
            | "RequestThrottledException"
            | "SlowDown"
    )
}

/// Codes with which AWS says that an action is not allowed.
/// Source: Amazon EC2 API reference and Amazon EKS API reference, "Common errors".
pub fn is_denial(code: &str) -> bool {
    matches!(code, "AccessDenied" | "AccessDeniedException" | "UnauthorizedOperation" | "NotAuthorized")
}

/// Codes with which AWS says that credentials are too old.
/// Source: Amazon EKS API reference and AWS STS API reference, "Common errors"; EC2 answers `RequestExpired`.
pub fn is_expiry(code: &str) -> bool {
    matches!(code, "ExpiredToken" | "ExpiredTokenException" | "RequestExpired")
}

fn of_profile(profile: &Option<String>) -> String {
    profile.as_ref().map(|profile| format!(" of profile `{profile}`")).unwrap_or_default()
}

fn asked_as(profile: &Option<String>, account: &Option<String>) -> String {
    match (profile, account) {
        (Some(profile), Some(account)) => format!(" (profile `{profile}`, account {account})"),
        (Some(profile), None) => format!(" (profile `{profile}`)"),
        (None, Some(account)) => format!(" (account {account})"),
        (None, None) => String::new(),
    }
}

fn with_code(code: &Option<String>) -> String {
    code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default()
}
