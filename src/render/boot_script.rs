//! The parts of user data that run, or are read, on an Amazon Linux node.

use serde::Serialize;

use super::invalid_group;
use super::kubelet_flags::{kubelet_flags, node_labels, taint_flags};
use super::lookup::Lookup;
use super::registry::{self, Template};
use crate::error::Error;
use crate::plan::{Bootstrap, ClusterAccess, NodeGroupPlan};

/// The line by which our AL2023 shell part is recognised, whatever release wrote it.
pub const AL2023_MARKER: &str = "# eniplan.dev/part: al2023-boot";

/// The line by which our `NodeConfig` part is recognised.
pub const NODE_CONFIG_MARKER: &str = "# eniplan.dev/part: node-config";

/// The line by which our AL2 shell part is recognised where EKS adds the call of `bootstrap.sh`.
pub const AL2_WRAPPER_MARKER: &str = "# eniplan.dev/part: al2-wrapper";

/// The line by which our AL2 shell part is recognised where it calls `bootstrap.sh` itself.
pub const AL2_BOOTSTRAP_MARKER: &str = "# eniplan.dev/part: al2-bootstrap";

const AL2023_BOOT: Template =
    Template { name: "al2023-boot.sh.hbs", source: include_str!("../../templates/al2023-boot.sh.hbs") };
const NODE_CONFIG: Template =
    Template { name: "node-config.yaml.hbs", source: include_str!("../../templates/node-config.yaml.hbs") };
const AL2_WRAPPER: Template =
    Template { name: "al2-wrapper.sh.hbs", source: include_str!("../../templates/al2-wrapper.sh.hbs") };
const AL2_BOOTSTRAP: Template =
    Template { name: "al2-bootstrap.sh.hbs", source: include_str!("../../templates/al2-bootstrap.sh.hbs") };

/// The shell part of an AL2023 node: leaves label and max pods where `nodeadm-run` or kubelet reads them.
///
/// The same group gives the same bytes.
///
/// # Errors
/// [`Error::RenderedInvalid`] when the group has nothing for the script to do, or when a name in it is no label value;
/// [`Error::Template`] when the template does not fit the plan.
pub fn al2023_shell_part(group: &NodeGroupPlan) -> Result<String, Error> {
    has_something_to_leave(group)?;
    registry::render(AL2023_BOOT, &Lookup::of(group)?)
}

/// The `application/node.eks.aws` part of an AL2023 node: what EKS would have said, where EKS merges nothing.
///
/// # Errors
/// [`Error::RenderedInvalid`] when EKS completes this group's user data, or when kubelet would refuse a label or taint.
pub fn node_config_part(group: &NodeGroupPlan) -> Result<String, Error> {
    let Bootstrap::UserData(cluster) = &group.bootstrap else {
        return Err(invalid_group(group, "EKS writes the NodeConfig of this group"));
    };
    let flags = kubelet_flags(group)?;
    let has_kubelet = !flags.is_empty() || group.max_pods.written.is_some();
    registry::render(NODE_CONFIG, &NodeConfig { cluster, has_kubelet, max_pods: group.max_pods.written, flags })
}

/// The shell part of an AL2 node: a wrapper around `bootstrap.sh` where EKS adds the call, else the one call.
///
/// # Errors
/// As [`al2023_shell_part`] and [`node_config_part`].
pub fn al2_shell_part(group: &NodeGroupPlan) -> Result<String, Error> {
    let lookup = Lookup::of(group)?;
    match &group.bootstrap {
        Bootstrap::Eks => {
            has_something_to_leave(group)?;
            registry::render(AL2_WRAPPER, &lookup)
        }
        Bootstrap::UserData(cluster) => {
            let labels = node_labels(group)?.join(",");
            let has_labels = !labels.is_empty() || group.label_key.is_some();
            let taints = taint_flags(group)?;
            registry::render(AL2_BOOTSTRAP, &BootstrapCall { lookup, cluster, has_labels, labels, taints })
        }
    }
}

fn has_something_to_leave(group: &NodeGroupPlan) -> Result<(), Error> {
    if group.label_key.is_none() && group.max_pods.written.is_none() {
        return Err(invalid_group(group, "there is neither a label nor max pods to leave on the node"));
    }
    Ok(())
}

/// What the node-config template reads.
#[derive(Serialize)]
struct NodeConfig<'a> {
    cluster: &'a ClusterAccess,
    has_kubelet: bool,
    max_pods: Option<u32>,
    flags: Vec<String>,
}

/// What the template with the call of `bootstrap.sh` reads.
#[derive(Serialize)]
struct BootstrapCall<'a> {
    #[serde(flatten)]
    lookup: Lookup<'a>,
    cluster: &'a ClusterAccess,
    has_labels: bool,
    labels: String,
    taints: String,
}
