//! Reading and writing Kubernetes, with or without a kubeconfig.

mod api;
mod connect;
mod read;
mod token;
pub(super) mod write;

pub(super) use connect::{Access, Connection, connect};
pub(super) use read::read_kubernetes;
