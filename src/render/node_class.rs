//! The NodeClass of EKS Auto Mode that stands for a pool.
//! Source: EKS user guide, "Create a Node Class for Amazon EKS", `podSubnetSelectorTerms`.

use std::collections::BTreeSet;

use serde_json::json;

use super::registry::{self, Template};
use crate::error::Error;
use crate::inventory::Inventory;
use crate::plan::EniConfigPlan;

const NODE_CLASS: Template =
    Template { name: "node-class.yaml.hbs", source: include_str!("../../templates/node-class.yaml.hbs") };

/// The role is for the user to fill in: no inventory tells which one Auto Mode's nodes are to have.
const ROLE_TO_FILL_IN: &str = "NODE-ROLE-NAME";

/// The manifest of a NodeClass whose pods use the subnets of `eni_configs`.
///
/// # Errors
/// [`Error::Template`]; a defect of the program.
pub fn node_class(
    inventory: &Inventory,
    pool: &str,
    node_subnets: &[&str],
    eni_configs: &[&EniConfigPlan],
) -> Result<String, Error> {
    let cluster_group: Vec<&str> = inventory.cluster.cluster_security_group_id.iter().map(String::as_str).collect();
    let pod_subnets: BTreeSet<&str> = eni_configs.iter().map(|eni_config| eni_config.subnet_id.as_str()).collect();
    let of_pods: BTreeSet<&str> =
        eni_configs.iter().flat_map(|eni_config| &eni_config.security_groups).map(String::as_str).collect();
    let pod_security_groups = if of_pods.is_empty() { cluster_group.iter().copied().collect() } else { of_pods };
    registry::render(
        NODE_CLASS,
        &json!({
            "name": pool,
            "role": ROLE_TO_FILL_IN,
            "node_subnets": node_subnets,
            "node_security_groups": cluster_group,
            "pod_subnets": pod_subnets,
            "pod_security_groups": pod_security_groups,
        }),
    )
}
