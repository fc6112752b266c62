//! Which mechanism gives pods their subnets now.

use super::needs::{DISCOVERY_TAG, discovered_subnets};
use super::{InUse, Mechanism};
use crate::inventory::{CniSettings, CniVersion, Inventory};
use crate::resolve::{EXTERNAL_ENI_CONFIG_LABEL, is_zone_label};

/// First CNI with subnet discovery. Source: amazon-vpc-cni-k8s CHANGELOG, v1.18.0.
pub(super) const FIRST_CNI_WITH_DISCOVERY: CniVersion = CniVersion(1, 18, 0);

/// Whether the CNI of these settings picks tagged subnets when custom networking is off.
pub(super) fn discovers(settings: &CniSettings) -> bool {
    settings.flag_or("ENABLE_SUBNET_DISCOVERY", true)
        && settings.version.is_none_or(|version| version >= FIRST_CNI_WITH_DISCOVERY)
}

pub(super) fn in_use(inventory: &Inventory) -> Option<InUse> {
    let found = |mechanism, because: String| Some(InUse { mechanism, because });
    let Some(settings) = inventory.cni_settings() else {
        return inventory.cluster.auto_mode.then(|| InUse {
            mechanism: Mechanism::AutoMode,
            because: "the cluster runs EKS Auto Mode without aws-node".into(),
        });
    };
    if !settings.custom_networking() {
        let tagged: Vec<&str> = discovered_subnets(inventory).map(|subnet| subnet.subnet_id.as_str()).collect();
        if tagged.is_empty() || !discovers(&settings) {
            return None;
        }
        return found(
            Mechanism::SubnetDiscovery,
            format!("custom networking is off, and {} carry the tag {DISCOVERY_TAG}", tagged.join(", ")),
        );
    }
    if is_zone_label(settings.label_key()) {
        let overridden = inventory.nodes.iter().any(|node| node.labels.contains_key(EXTERNAL_ENI_CONFIG_LABEL));
        return match overridden {
            false => found(
                Mechanism::ZoneNamedEniConfigs,
                format!("custom networking is on, and ENI_CONFIG_LABEL_DEF is {}", settings.label_key()),
            ),
            true => found(
                Mechanism::BootTimeMapping,
                format!("custom networking is on, and nodes carry {EXTERNAL_ENI_CONFIG_LABEL}"),
            ),
        };
    }
    let key = settings.label_key();
    let by_group = inventory.node_groups.iter().any(|group| group.labels.contains_key(key));
    let by_node = inventory.nodes.iter().any(|node| node.labels.contains_key(key));
    match (by_group, by_node) {
        (true, _) => {
            found(Mechanism::StaticLabels, format!("custom networking is on, and node groups set the label {key}"))
        }
        (false, true) => found(Mechanism::BootTimeMapping, format!("custom networking is on, and nodes carry {key}")),
        (false, false) => None,
    }
}
