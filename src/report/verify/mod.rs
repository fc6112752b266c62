//! What `verify` found, for people and for the programs that people watch clusters with.

mod junit;
mod open_metrics;
mod text;
mod watch;

use schemars::JsonSchema;
use serde::Serialize;

use super::json::{SCHEMA_VERSION, pretty};
use crate::check::live::Standing;
use crate::error::Error;
use crate::verify::{Report, Selection, Step};

pub use junit::junit;
pub use open_metrics::open_metrics;
pub use text::text;
pub use watch::{Watching, changes};

/// `eniplan verify -o json`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Report")]
pub struct Document<'a> {
    /// Version of this format.
    pub schema_version: u32,
    /// The report.
    #[serde(flatten)]
    pub report: &'a Report,
    /// What to do next, in this order.
    pub next: Vec<Step>,
}

/// `eniplan verify -o json`.
///
/// # Errors
/// [`Error::Serialise`]; a defect of the program.
pub fn json(report: &Report, selection: &Selection) -> Result<String, Error> {
    pretty("the report", &Document { schema_version: SCHEMA_VERSION, report, next: report.next(selection) })
}

/// All standings, in the order in which they are shown.
const STANDINGS: [Standing; 5] =
    [Standing::Right, Standing::Outdated, Standing::NeedsReplacement, Standing::Wrong, Standing::CannotTell];

/// A standing in words.
pub(super) fn words(standing: Standing) -> &'static str {
    match standing {
        Standing::Right => "right",
        Standing::Outdated => "outdated",
        Standing::NeedsReplacement => "needs replacement",
        Standing::Wrong => "wrong",
        Standing::CannotTell => "cannot tell",
    }
}
