//! eniplan plans which ENIConfig every node of every node group of an Amazon EKS cluster uses, writes the files that
//! make it so, and proves it.
//!
//! # The pipeline
//!
//! `inventory → plan → render → diff → apply`: each arrow is one function from values to a value.
//!
//! - [`inventory`]: what is, read once; [`config`]: what is wanted.
//! - [`plan`]: what follows, with nothing left to choose; [`check`]: what is wrong with it.
//! - [`render`]: the text of every file; [`user_data`]: the documents that nodes boot from.
//! - [`report`]: text for people; [`commands`]: one file a verb, the only wiring.
//!
//! # Invariants
//!
//! - Everything outside `commands` and the binary does no I/O and reads no clock, environment or randomness: the same
//!   inventory, wishes and templates give the same bytes.
//! - Problems in the user's world are findings, all collected, all shown; `Err` means that the command could not be done.
//! - What could not be read is a gap in the inventory, and nothing is guessed from a gap.
//! - Nothing typed by a user or returned by an API reaches shell, YAML, TOML or JSON text except through a quoting helper.
//! - What is rendered is read back and compared with the plan before it is written.

pub mod advise;
pub mod capacity;
pub mod check;
pub mod choose;
pub mod cli;
pub mod commands;
pub mod config;
pub mod diff;
pub mod error;
pub mod finding;
pub mod inventory;
pub mod launch_template;
#[cfg(feature = "live")]
pub mod live;
pub mod max_pods;
pub mod net;
pub mod plan;
pub mod render;
pub mod report;
pub mod resolve;
pub mod user_data;
pub mod verify;
