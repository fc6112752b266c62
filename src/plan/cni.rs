//! The CNI's settings as they are to be, and which of them change.

use std::collections::BTreeMap;

use super::notes::Notes;
use super::{CniOwner, CniPlan, LabelPlan};
use crate::config::Config;
use crate::finding::Subject;
use crate::inventory::{CniSettings, GapSource, Inventory, owned_by_helm};

const CUSTOM_NETWORKING: &str = "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG";
const LABEL_DEF: &str = "ENI_CONFIG_LABEL_DEF";

/// Plans the settings. A setting that already has the wanted effect keeps its spelling.
pub(super) fn cni(
    inventory: &Inventory,
    config: &Config,
    settings: Option<&CniSettings>,
    label: &LabelPlan,
    notes: &mut Notes,
) -> CniPlan {
    let owner = owner(inventory);
    if settings.is_none() && inventory.gaps_in(GapSource::AwsNode).next().is_some() {
        // What is set now could not be read; nothing is said to change.
        return CniPlan { owner, env: BTreeMap::new(), changes: BTreeMap::new(), switch: false };
    }
    let now = settings.cloned().unwrap_or_default();
    let mut env = BTreeMap::new();
    let mut changes = BTreeMap::new();
    let mut want = |name: &str, value: &str, in_force: bool| {
        if in_force {
            if let Some(current) = now.value(name) {
                env.insert(name.to_owned(), current.to_owned());
            }
            return;
        }
        env.insert(name.to_owned(), value.to_owned());
        changes.insert(name.to_owned(), now.env.get(name).cloned());
    };
    let absent = owner == CniOwner::Absent;
    want(CUSTOM_NETWORKING, "true", now.custom_networking());
    want(LABEL_DEF, &label.label_def, now.label_key() == label.label_def && !absent);
    for (name, value) in &config.cni_env {
        want(name, value, now.env.get(name) == Some(value));
    }
    let switch = !absent && (changes.contains_key(CUSTOM_NETWORKING) || changes.contains_key(LABEL_DEF));
    if switch {
        notes.decision(
            Subject::Cni("aws-node".into()),
            "the CNI's settings must be switched",
            if now.custom_networking() { "the label key changes" } else { "custom networking is off" },
        );
    }
    CniPlan { owner, env, changes, switch }
}

/// The settings with the plan's in place.
pub(super) fn settings_after(settings: Option<&CniSettings>, cni: &CniPlan) -> CniSettings {
    let mut after = settings.cloned().unwrap_or_default();
    after.env.extend(cni.env.clone());
    after
}

fn owner(inventory: &Inventory) -> CniOwner {
    if inventory.add_on.is_some() {
        return CniOwner::AddOn;
    }
    match &inventory.aws_node {
        Some(aws_node) if owned_by_helm(&aws_node.labels, &aws_node.annotations) => CniOwner::Helm,
        Some(_) => CniOwner::DaemonSet,
        None if inventory.gaps_in(GapSource::AwsNode).next().is_some() => CniOwner::DaemonSet,
        None => CniOwner::Absent,
    }
}
