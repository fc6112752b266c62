//! eniplan: which ENIConfig every node of every node group of an EKS cluster uses.

pub mod config;
pub mod error;
pub mod finding;
pub mod inventory;
pub mod launch_template;
#[cfg(feature = "live")]
pub mod live;
pub mod net;
pub mod plan;
