//! `eniplan schema`: JSON Schemas of the file formats.

use super::Outcome;
use crate::cli::SchemaOf;
use crate::config;
use crate::error::Error;
use crate::inventory::Inventory;
use crate::report;

pub(super) fn run(what: SchemaOf) -> Result<Outcome, Error> {
    let schema = match what {
        SchemaOf::Config => config::json_schema(),
        SchemaOf::Inventory => schemars::schema_for!(Inventory),
        SchemaOf::Report => schemars::schema_for!(report::verify::Document<'_>),
        SchemaOf::Plan => schemars::schema_for!(super::out_dir::PlanFile),
    };
    report::json::pretty("the schema", &schema).map(Outcome::bytes)
}
