//! `eniplan iam-policy`: the least policy, or Kubernetes role, that a command needs.

use super::{Data, Outcome};
use crate::cli::{IamPolicyArgs, PolicyFor};
use crate::error::{Error, ExitStatus};
use crate::report;
use crate::report::policy::For;

pub(super) fn run(args: &IamPolicyArgs) -> Result<Outcome, Error> {
    let verb = match args.verb {
        PolicyFor::Inventory => For::Inventory,
        PolicyFor::Apply => For::Apply,
        PolicyFor::Verify => For::Verify,
    };
    let cluster = args.cluster.as_deref();
    let text = if args.rbac { report::policy::role(verb)? } else { report::policy::iam(verb, cluster)? };
    Ok(Outcome { stdout: Data::Bytes(text.into()), stderr: String::new(), status: ExitStatus::Done })
}
