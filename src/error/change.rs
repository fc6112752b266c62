//! Why a change was not made, or not finished.

use super::access::{is_denial, is_throttling};

/// Why a change was not made, or not finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The object is no longer as the diff found it.
    #[error("{object} has changed: {field} was {before}, and is {now}")]
    Stale {
        /// The object.
        object: String,
        /// The field, as the API spells it.
        field: String,
        /// What it was when the diff was made.
        before: String,
        /// What it is.
        now: String,
    },
    /// A saved diff no longer fits.
    #[error("the cluster is no longer as the saved diff found it: {}", .0.join("; "))]
    Moved(Vec<String>),
    /// The diff under the lock is another one than the one that was confirmed.
    #[error("the cluster changed between the question and the lock")]
    ChangedMeanwhile,
    /// The API refused.
    #[error("{operation} of {object} was refused{}: {message}", with_code(.code))]
    Refused {
        /// IAM action, or verb and resource of Kubernetes.
        operation: String,
        /// The object.
        object: String,
        /// The API's code.
        code: Option<String>,
        /// What the API said.
        message: String,
    },
    /// A launch was refused in AWS's encoded way.
    #[error("{operation} of {object} was refused{}: {message}", with_code(.code))]
    NotPermittedToLaunch {
        /// IAM action.
        operation: String,
        /// The object.
        object: String,
        /// The API's code.
        code: Option<String>,
        /// What the API said, without the encoded part.
        message: String,
    },
    /// No answer came, or none that can be read.
    #[error("{operation} of {object} got no answer: {message}")]
    NoAnswer {
        /// IAM action, or verb and resource of Kubernetes.
        operation: String,
        /// The object.
        object: String,
        /// What the network said.
        message: String,
    },
    /// The caller's credentials expired on the way.
    #[error("the AWS credentials expired during {operation} of {object}{}", what_goes_on(.goes_on))]
    CredentialsExpired {
        /// IAM action.
        operation: String,
        /// The object.
        object: String,
        /// What goes on at AWS all the same.
        goes_on: Option<String>,
    },
    /// An update that EKS ran failed.
    #[error("{object} was not updated: {}", .errors.join("; "))]
    UpdateFailed {
        /// The object.
        object: String,
        /// EKS's own errors: code, message, resources.
        errors: Vec<String>,
    },
    /// Somebody else's update is running.
    #[error("{object} is being updated by someone else: {update}")]
    OtherUpdate {
        /// The object.
        object: String,
        /// What is known of the update.
        update: String,
    },
    /// The add-on is active, and a value is not on the DaemonSet.
    #[error("the add-on is active, but aws-node does not have {}{}", .missing.join(", "), held_by(.managers))]
    DidNotArrive {
        /// `NAME=VALUE`.
        missing: Vec<String>,
        /// Field managers that hold them.
        managers: Vec<String>,
    },
    /// It took too long.
    #[error("{what} is not done after {seconds} seconds: {last}")]
    TooLong {
        /// What was waited for.
        what: String,
        /// How long.
        seconds: u64,
        /// The last state seen.
        last: String,
    },
    /// The new nodes do not use what the plan says.
    #[error("new nodes of {node_group} are not as planned: {}", .wrong.join("; "))]
    NewNodes {
        /// Node group.
        node_group: String,
        /// What is wrong, node by node.
        wrong: Vec<String>,
    },
    /// Another run holds the lock.
    #[error("another apply is under way: {holder} holds the Lease eniplan in kube-system since {since}")]
    Locked {
        /// Who.
        holder: String,
        /// Since when.
        since: String,
    },
    /// The lock was taken by someone else on the way.
    #[error("the Lease eniplan in kube-system was lost{}", to(.holder))]
    LockLost {
        /// Who has it now.
        holder: Option<String>,
    },
    /// There is no ENIConfig definition.
    #[error("the cluster has no definition of ENIConfig (eniconfigs.crd.k8s.amazonaws.com)")]
    NoDefinition,
    /// There is nothing that a group could be rolled back to.
    #[error("node group {node_group} has no former launch-template version that is known")]
    NoFormerVersion {
        /// Node group.
        node_group: String,
    },
    /// The request has a field that is never sent.
    #[error("the diff holds a field that eniplan never sends: {field}")]
    UnknownField {
        /// The field.
        field: String,
    },
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
    /// Neither a terminal nor `--yes`.
    #[error("standard input is no terminal, so that nobody can be asked")]
    NobodyToAsk,
    /// The answer was no.
    #[error("not confirmed")]
    NotConfirmed,
}

impl ChangeError {
    /// What the reader can do about it, without a final period.
    pub fn help(&self) -> String {
        const AGAIN: &str = "run the same command again: what is done is found, and the rest is made";
        match self {
            Self::Stale { .. } | Self::Moved(_) | Self::ChangedMeanwhile => {
                "look at `eniplan diff` again, then apply what it says".into()
            }
            Self::Refused { code: Some(code), operation, .. } if is_denial(code) || code == "403" => {
                format!("allow {operation} to this caller (`eniplan iam-policy --for apply`, `--rbac`), then {AGAIN}")
            }
            Self::Refused { code: Some(code), .. } if is_throttling(code) => {
                format!("AWS is throttling this account; wait a minute, then {AGAIN}")
            }
            Self::Refused { .. } | Self::NoAnswer { .. } => AGAIN.into(),
            Self::NotPermittedToLaunch { .. } => "check ec2:RunInstances, ec2:CreateTags (for TagSpecifications of the launch template) and iam:PassRole on the node role; `aws sts decode-authorization-message` decodes the text that CloudTrail has with this event".into(),
            Self::CredentialsExpired { .. } => format!("log in again, then {AGAIN}"),
            Self::UpdateFailed { .. } => format!("remove the cause, then {AGAIN}; `apply --rollback` returns to the former version"),
            Self::OtherUpdate { .. } => format!("wait until it is over, then {AGAIN}"),
            Self::DidNotArrive { .. } => "set the values where that manager takes them from, or pass --take-over to let the add-on overwrite them".into(),
            Self::TooLong { .. } => format!("find out what holds it up; {AGAIN}"),
            Self::NewNodes { .. } => "read the console log of one of the nodes (`aws ec2 get-console-output`); `apply --rollback` returns to the former version".into(),
            Self::Locked { .. } => "wait until it is done; a Lease that is not renewed can be taken over 30 seconds later".into(),
            Self::LockLost { .. } => format!("make sure that only one apply runs, then {AGAIN}"),
            Self::NoDefinition => "install the VPC CNI first: it brings the definition; nothing was written".into(),
            Self::NoFormerVersion { node_group } => {
                format!("name it yourself: `aws eks update-nodegroup-version --nodegroup-name {node_group} --launch-template id=…,version=…`")
            }
            Self::UnknownField { .. } => "make the diff anew with `eniplan diff --out`".into(),
            Self::Interrupted => AGAIN.into(),
            Self::NobodyToAsk => "look at `eniplan diff`, then pass --yes".into(),
            Self::NotConfirmed => "nothing was written".into(),
        }
    }
}

fn with_code(code: &Option<String>) -> String {
    code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default()
}

fn what_goes_on(what: &Option<String>) -> String {
    what.as_ref().map(|what| format!("; {what} goes on at AWS")).unwrap_or_default()
}

fn held_by(managers: &[String]) -> String {
    if managers.is_empty() { String::new() } else { format!(": held by {}", managers.join(", ")) }
}

fn to(holder: &Option<String>) -> String {
    holder.as_ref().map(|holder| format!(" to {holder}")).unwrap_or_default()
}
