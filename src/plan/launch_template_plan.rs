//! Which launch template a group gets: a new one of ours, or a new version of the one that it has.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::LaunchTemplatePlan;
use super::group_facts::GroupFacts;
use super::notes::Notes;
use crate::finding::Subject;

/// Tags that mark a launch template as ours.
pub const CLUSTER_TAG: &str = "eniplan.dev/cluster";
/// Tag that names the node group of a launch template of ours.
pub const NODE_GROUP_TAG: &str = "eniplan.dev/node-group";

/// Longest launch template name. Source: EC2 API reference, `CreateLaunchTemplate`, `LaunchTemplateName`.
const LONGEST_TEMPLATE_NAME: usize = 128;

/// Decides the launch template of a group that needs user data.
pub(super) fn launch_template(cluster: &str, group: &GroupFacts<'_>, notes: &mut Notes) -> Option<LaunchTemplatePlan> {
    let Some(in_use) = group.template else {
        return Some(LaunchTemplatePlan::Create {
            name: template_name(cluster, group.name),
            image_id: group.image_id.clone(),
            disk_size: group.known.and_then(|known| known.disk_size),
            key_name: group.known.and_then(|known| known.remote_access.as_ref()?.ec2_ssh_key.clone()),
        });
    };
    let template = in_use.template;
    let ours = is_ours(&template.tags, cluster, group.name);
    if !ours && !group.config.adopt {
        notes.problem(
            "launch-template-not-adopted",
            Subject::NodeGroup(group.name.into()),
            format!(
                "it uses launch template {} ({}) version {}, which is not eniplan's, and a managed group cannot change to another template",
                template.launch_template_name, template.launch_template_id, in_use.version.version_number
            ),
            "set `adopt: true` on the group in eniplan.yaml (`eniplan init` writes a first one) to let eniplan add versions to it that change the user data only",
        );
    }
    notes.decision(
        group.subject(),
        format!("a new version of {} from version {}", template.launch_template_name, in_use.version.version_number),
        if ours {
            "the template is eniplan's own"
        } else {
            "the group uses it, and `adopt` says whether eniplan may add versions"
        },
    );
    Some(LaunchTemplatePlan::NewVersion {
        id: template.launch_template_id.clone(),
        name: template.launch_template_name.clone(),
        source_version: in_use.version.version_number,
        ours,
    })
}

/// Whether a launch template carries our tags for this group.
pub fn is_ours(tags: &BTreeMap<String, String>, cluster: &str, node_group: &str) -> bool {
    let is = |key: &str, value: &str| tags.get(key).is_some_and(|tag| tag == value);
    is(CLUSTER_TAG, cluster) && is(NODE_GROUP_TAG, node_group)
}

/// `eniplan-CLUSTER-NODEGROUP`; what is too long ends in a hash of the whole instead.
fn template_name(cluster: &str, node_group: &str) -> String {
    let name = format!("eniplan-{cluster}-{node_group}");
    if name.len() <= LONGEST_TEMPLATE_NAME {
        return name;
    }
    let hash: String = Sha256::digest(&name).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let kept: String = name.chars().take(LONGEST_TEMPLATE_NAME - hash.len() - 1).collect();
    format!("{kept}-{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_names_fit_into_ec2s_limit() {
        assert_eq!(template_name("demo", "web"), "eniplan-demo-web");
        let long = template_name(&"c".repeat(100), &"n".repeat(63));
        assert_eq!(long.len(), LONGEST_TEMPLATE_NAME);
        assert_ne!(long, template_name(&"c".repeat(100), &"n".repeat(62)));
    }
}
