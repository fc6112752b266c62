//! Groups whose nodes have to be replaced although nothing in their launch templates changes.

use std::collections::BTreeMap;

use super::Facts;
use crate::inventory::{LaunchTemplate, Node, NodeGroup};
use crate::plan::{NodeGroupPlan, is_ours};

/// Label with the version that a managed node was launched from. Source: EKS user guide, "Customize managed nodes with
/// launch templates".
const SOURCE_VERSION_LABEL: &str = "eks.amazonaws.com/sourceLaunchTemplateVersion";

/// Nodes of one group, and why they have to go.
pub(super) struct Replacement<'a> {
    pub(super) nodes: Vec<&'a Node>,
    pub(super) why: &'static str,
}

/// By group. `switches`: this diff turns custom networking on.
pub(super) fn replacements<'a>(facts: &Facts<'a>, switches: bool) -> BTreeMap<String, Replacement<'a>> {
    let on_now = facts.inventory.cni_settings().is_some_and(|settings| settings.custom_networking());
    let mut found = BTreeMap::new();
    for group in &facts.plan.node_groups {
        let Some(known) = facts.inventory.node_group(&group.name) else { continue };
        let nodes = facts
            .inventory
            .nodes
            .iter()
            .filter(|node| node.runs_aws_node() && node.node_group() == Some(group.name.as_str()));
        // Nodes keep the interfaces that they have, and new pods get addresses of those. Source: amazon-vpc-cni-k8s
        // `pkg/ipamd/datastore/data_store.go`, `GetAllocatableENIs`.
        let (nodes, why): (Vec<&Node>, _) = if switches && !on_now {
            (nodes.collect(), "keep pod addresses of their own subnets")
        } else if on_now && known.status.as_deref() == Some("ACTIVE") {
            (nodes.filter(|node| is_left_behind(facts, group, known, node)).collect(), "do not carry the planned label")
        } else {
            continue;
        };
        if !nodes.is_empty() {
            found.insert(group.name.clone(), Replacement { nodes, why });
        }
    }
    found
}

/// Whether a node lacks the label that the version in use sets, and comes from another version. One that comes from the
/// version in use would be followed by others like it.
fn is_left_behind(facts: &Facts<'_>, group: &NodeGroupPlan, known: &NodeGroup, node: &Node) -> bool {
    let Some(key) = &group.label_key else { return false };
    if node.labels.get(key).is_some_and(|name| group.gives(node, name)) {
        return false;
    }
    let Some((_, in_use)) = template_in_use(facts, known) else { return true };
    !is_from(node, in_use)
}

/// Whether a node was launched from that version of its group's template.
pub(super) fn is_from(node: &Node, version: i64) -> bool {
    node.labels.get(SOURCE_VERSION_LABEL).is_some_and(|label| *label == version.to_string())
}

/// The template of a group, and the number of the version that it uses.
pub(super) fn template_in_use<'a>(facts: &Facts<'a>, known: &NodeGroup) -> Option<(&'a LaunchTemplate, i64)> {
    let used = known.launch_template.as_ref()?;
    let template = facts.inventory.launch_template(used.id.as_deref()?)?;
    Some((template, template.resolve_version(used.version.as_deref())?))
}

/// Whether eniplan may add versions to the template of a group.
pub(super) fn may_change(facts: &Facts<'_>, template: &LaunchTemplate, group: &str) -> bool {
    is_ours(&template.tags, &facts.plan.cluster, group)
        || facts.config.node_group(group).is_some_and(|group| group.adopt)
}
