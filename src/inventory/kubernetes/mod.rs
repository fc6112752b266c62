//! Objects as the Kubernetes API and `kubectl get -o json` give them, and what the inventory keeps of them.

mod managed_fields;
mod objects;
mod pods;
mod verify_objects;

pub(crate) use objects::{CrdObject, DaemonSetObject, EniConfigObject, List, NodeObject};
pub(crate) use pods::PodObject;
pub(crate) use verify_objects::{CniNodeObject, Ec2NodeClassObject, NodePoolObject, SecurityGroupPolicyObject};
