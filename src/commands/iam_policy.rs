//! stub
use super::Outcome;
use crate::cli::IamPolicyArgs;
use crate::error::Error;
pub(super) fn run(_: &IamPolicyArgs) -> Result<Outcome, Error> {
    Err(Error::NoSource)
}
