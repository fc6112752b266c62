//! Node groups back to the launch-template version that they used before.

use std::collections::BTreeMap;

use super::{Change, ClusterIdentity, Diff, NodeGroupBefore, SCHEMA_VERSION, VersionRef};
use crate::inventory::{Inventory, LaunchTemplate, NodeGroup};

/// The way back. `former` are the versions that EKS's history names, the newest first; a group that was updated only
/// once was at a version that no update has brought, and that is known by what we have made from it.
///
/// # Errors
/// The name of a group whose former version is not known, where that group was asked for.
pub fn rollback(
    inventory: &Inventory,
    former: &BTreeMap<String, Vec<i64>>,
    node_group: Option<&str>,
) -> Result<Diff, String> {
    let mut changes = Vec::new();
    for group in inventory.node_groups.iter().filter(|group| node_group.is_none_or(|name| group.name == name)) {
        let Some(used) = &group.launch_template else { continue };
        let Some(template) = used.id.as_deref().and_then(|id| inventory.launch_template(id)) else { continue };
        let Some(in_use) = template.resolve_version(used.version.as_deref()) else { continue };
        let in_history = former.get(&group.name).and_then(|versions| versions.first()).copied();
        let Some(number) = in_history.or_else(|| source_of(template, in_use)) else {
            if node_group.is_some() {
                return Err(group.name.clone());
            }
            continue;
        };
        changes.push(to(inventory, group, template, number));
    }
    if let (Some(name), true) = (node_group, changes.is_empty()) {
        return Err(name.to_owned());
    }
    let cluster = ClusterIdentity {
        name: inventory.cluster.name.clone(),
        region: inventory.region.clone(),
        account_id: inventory.account_id.clone(),
        endpoint: inventory.cluster.endpoint.clone(),
    };
    Ok(Diff { schema_version: SCHEMA_VERSION, cluster, changes, awaiting: Vec::new() })
}

fn to(inventory: &Inventory, group: &NodeGroup, template: &LaunchTemplate, number: i64) -> Change {
    let names_image = group.ami_type.as_deref() == Some("CUSTOM");
    let nodes = inventory.nodes_of(&group.name).count();
    Change::UpdateNodeGroup {
        name: group.name.clone(),
        launch_template_id: template.launch_template_id.clone(),
        to: VersionRef::Number(number),
        release_version: group.release_version.clone().filter(|_| !names_image),
        nodes: u32::try_from(nodes).unwrap_or(u32::MAX),
        expected: BTreeMap::new(),
        before: NodeGroupBefore::of(group),
    }
}

/// Where the version in use is ours: the newest older version that is not, and otherwise the one before it.
fn source_of(template: &LaunchTemplate, in_use: i64) -> Option<i64> {
    let ours = |number: i64| {
        template
            .version(number)
            .and_then(|version| version.version_description.as_deref())
            .is_some_and(|description| description.starts_with("eniplan "))
    };
    if !ours(in_use) {
        return None;
    }
    let older = template.versions.iter().rev().map(|version| version.version_number).filter(|number| *number < in_use);
    older.clone().find(|number| !ours(*number)).or_else(|| older.max())
}
