//! eniplan: which ENIConfig every node of every node group of an EKS cluster uses.

pub mod check;
pub mod choose;
pub mod config;
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
pub mod resolve;
pub mod user_data;
