//! Reading EKS and EC2.

mod clients;
mod cluster;
mod credentials;
pub(super) mod map_eks;
mod map_instance;
mod map_network;
pub(super) mod map_template;
mod map_template_other;
mod network;
mod network_interfaces;
mod node_groups;
mod observe;
mod reading;
mod retries;
mod templates;

pub(super) use clients::Clients;
pub(super) use cluster::{Found, find_cluster};
pub(super) use network::{read_network, read_outside_subnets, read_security_groups};
pub(super) use network_interfaces::read_network_interfaces;
pub(super) use node_groups::{read_images, read_instance_types, read_node_groups};
pub(super) use reading::Reading;
pub(super) use templates::{read_launch_templates, read_versions_of_nodes};
