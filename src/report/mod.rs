//! All text for people, and the JSON for programs. The only user of colour.
//!
//! Text carries its colours as escape sequences; whoever prints it removes them where they are not wanted.

pub mod advise;
pub mod apply;
mod bars;
pub mod capacity;
pub mod diff;
pub mod error;
pub mod explain;
pub mod findings;
pub mod generate;
pub mod html;
pub mod init;
pub mod inventory;
pub mod json;
pub mod lint;
pub mod moves;
pub mod phases;
pub mod plan;
pub mod policy;
pub mod progress;
pub mod sarif;
mod style;
mod table;
pub mod verify;

pub use style::printable;

/// Said where the wishes come from tags, because there is no file of them.
pub const NO_CONFIG: &str = "no eniplan.yaml in this folder: pools come from tags (docs/config.md#without-a-file); `eniplan init` writes a file\n";
