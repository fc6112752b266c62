//! What the Kubernetes API gives for an object, reduced to the fields that the inventory has.

mod pods;
mod verify_objects;

pub(crate) use pods::PodObject;
pub(crate) use verify_objects::{CniNodeObject, Ec2NodeClassObject, NodePoolObject, SecurityGroupPolicyObject};
