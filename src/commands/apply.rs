//! stub
use super::Outcome;
use crate::cli::{ApplyArgs, Cli};
use crate::error::Error;
pub(super) fn run(_: &ApplyArgs, _: &Cli) -> Result<Outcome, Error> {
    Err(Error::NoSource)
}
