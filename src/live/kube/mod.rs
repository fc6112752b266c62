//! Reading Kubernetes, with or without a kubeconfig.

mod api;
mod connect;
mod managed_fields;
mod objects;
mod read;
mod token;

pub(super) use connect::connect;
pub(super) use read::{Kubernetes, read_kubernetes};
