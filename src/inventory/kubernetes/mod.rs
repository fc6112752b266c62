//! Objects as the Kubernetes API and `kubectl get -o json` give them, and what the inventory keeps of them.

mod managed_fields;
mod objects;

pub(crate) use objects::{CrdObject, DaemonSetObject, EniConfigObject, List, NodeObject};
