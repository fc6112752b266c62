//! ENIConfigs that are missing or differ in subnet or security groups.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Change, EniConfigBefore, Facts, Found};
use crate::finding::{Problem, Subject};
use crate::inventory::EniConfig;
use crate::plan::{CniOwner, EniConfigPlan};

/// Our own name as a field manager.
pub(super) const FIELD_MANAGER: &str = "eniplan";

pub(super) fn changes(facts: &Facts<'_>, found: &mut Found) {
    if facts.plan.cni.owner == CniOwner::Absent && facts.inventory.eni_config_crd.is_none() {
        // The add-on that is to be created brings the definition, and the ENIConfigs in its values.
        return;
    }
    for planned in &facts.plan.eni_configs {
        let Some(manifest) = manifest(facts, &planned.name) else { continue };
        let Some(existing) = facts.inventory.eni_config(&planned.name) else {
            found.changes.push(Change::ApplyEniConfig {
                name: planned.name.clone(),
                manifest,
                before: None,
                take_over: Vec::new(),
            });
            continue;
        };
        if is_same(planned, existing) {
            continue;
        }
        if existing.owned_by_helm() {
            found.problems.push(Problem::new(
                "change-of-helm-object-refused",
                Subject::EniConfig(planned.name.clone()),
                format!("it differs from the plan ({}), and a Helm release owns it", difference(planned, existing)),
                "change `eniConfig.subnets` in the release's values, or give the pool's subnet another ENIConfig name",
            ));
            continue;
        }
        let owners = other_owners(planned, existing);
        if !owners.is_empty() && !facts.options.take_over {
            found.problems.push(Problem::new(
                "field-owned-by-other",
                Subject::EniConfig(planned.name.clone()),
                format!(
                    "it differs from the plan ({}), and the fields belong to {}",
                    difference(planned, existing),
                    owners.join(", ")
                ),
                "change it where it comes from, or pass --take-over to make eniplan their owner",
            ));
            continue;
        }
        found.changes.push(Change::ApplyEniConfig {
            name: planned.name.clone(),
            manifest,
            before: Some(EniConfigBefore::of(existing)),
            take_over: owners,
        });
    }
}

/// The rendered manifest; it was read back when it was rendered.
fn manifest(facts: &Facts<'_>, name: &str) -> Option<Value> {
    serde_saphyr::from_str(facts.rendered.eni_configs.get(name)?).ok()
}

fn is_same(planned: &EniConfigPlan, existing: &EniConfig) -> bool {
    existing.subnet.as_deref() == Some(planned.subnet_id.as_str()) && same_groups(planned, existing)
}

/// An interface's security groups have no order.
fn same_groups(planned: &EniConfigPlan, existing: &EniConfig) -> bool {
    planned.security_groups.iter().collect::<BTreeSet<_>>() == existing.security_groups.iter().collect::<BTreeSet<_>>()
}

fn difference(planned: &EniConfigPlan, existing: &EniConfig) -> String {
    let mut differences = Vec::new();
    let subnet = existing.subnet.as_deref().unwrap_or("none");
    if subnet != planned.subnet_id {
        differences.push(format!("subnet {subnet} → {}", planned.subnet_id));
    }
    if !same_groups(planned, existing) {
        differences.push(format!(
            "groups [{}] → [{}]",
            existing.security_groups.join(", "),
            planned.security_groups.join(", ")
        ));
    }
    differences.join(", ")
}

/// Managers other than us of the fields that are to change. The API server refuses to change them without force.
fn other_owners(planned: &EniConfigPlan, existing: &EniConfig) -> Vec<String> {
    let mut fields = Vec::new();
    if existing.subnet.as_deref() != Some(planned.subnet_id.as_str()) {
        fields.push(".spec.subnet");
    }
    if !same_groups(planned, existing) {
        fields.push(".spec.securityGroups");
    }
    let owns = |owned: &[String]| owned.iter().any(|field| fields.iter().any(|changed| field.starts_with(changed)));
    let mut owners: Vec<String> = existing
        .managers
        .iter()
        .filter(|row| row.manager != FIELD_MANAGER && owns(&row.fields))
        .map(|row| row.manager.clone())
        .collect();
    owners.sort();
    owners.dedup();
    owners
}
