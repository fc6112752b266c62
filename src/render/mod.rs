//! Plan → the text of every file.

pub mod boot_script;
mod registry;
