//! All text for people, and the JSON for programs. The only user of colour.
//!
//! Text carries its colours as escape sequences; whoever prints it removes them where they are not wanted.

pub mod apply;
pub mod diff;
pub mod error;
pub mod findings;
pub mod generate;
pub mod json;
pub mod plan;
pub mod policy;
mod style;
mod table;
