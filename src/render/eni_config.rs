//! The manifest of an ENIConfig.

use super::registry::{self, Template};
use crate::error::Error;
use crate::plan::EniConfigPlan;

const ENI_CONFIG: Template =
    Template { name: "eniconfig.yaml.hbs", source: include_str!("../../templates/eniconfig.yaml.hbs") };

/// The manifest as YAML.
///
/// # Errors
/// [`Error::Template`]; a defect of the program.
pub(super) fn manifest(eni_config: &EniConfigPlan) -> Result<String, Error> {
    registry::render(ENI_CONFIG, eni_config)
}
