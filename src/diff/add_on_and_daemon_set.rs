//! The CNI's settings, through whoever holds them.

use std::collections::BTreeMap;

use super::eni_configs::FIELD_MANAGER;
use super::gate::{self, Gate};
use super::{AddOnBefore, Change, Facts, Found};
use crate::finding::{Problem, Subject};
use crate::plan::CniOwner;

/// Managers from which settings are taken over without being asked: people's own tools, and what installs the stock
/// manifest. Controllers that would write their values back are not among them.
const MANAGERS_TO_TAKE_OVER_FROM: [&str; 3] = ["kubectl", "eksctl", "eks"];

pub(super) fn changes(facts: &Facts<'_>, found: &mut Found) {
    let cni = &facts.plan.cni;
    if cni.changes.is_empty() && cni.owner != CniOwner::Absent {
        return;
    }
    if cni.switch && !may_switch(facts, found) {
        return;
    }
    let env: BTreeMap<String, String> = cni
        .env
        .iter()
        .filter(|(name, _)| cni.changes.contains_key(*name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    match cni.owner {
        CniOwner::AddOn => update_add_on(facts, env, found),
        CniOwner::DaemonSet => set_env(facts, env, found),
        CniOwner::Helm => found.problems.push(Problem::new(
            "change-of-helm-object-refused",
            subject(),
            format!("a Helm release owns it, and the plan needs {}", listed(&env)),
            "put cni/helm-values.yaml of `eniplan generate` into the release's values and upgrade it",
        )),
        CniOwner::Absent => create_add_on(facts, found),
    }
}

fn subject() -> Subject {
    Subject::Cni("aws-node".into())
}

fn listed(env: &BTreeMap<String, String>) -> String {
    env.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

fn may_switch(facts: &Facts<'_>, found: &mut Found) -> bool {
    let Gate { stranded, moves } = gate::evaluate(facts);
    if stranded.is_empty() || (facts.options.accept_moves && facts.options.roll) {
        return true;
    }
    let what = format!(
        "{} is not switched: afterwards these would find no ENIConfig: {}{}",
        listed(&facts.plan.cni.env),
        stranded.join("; "),
        if moves.is_empty() { String::new() } else { format!("; and these would move: {}", moves.join("; ")) }
    );
    found.await_user(
        subject(),
        what,
        "label the nodes with what they use today (--label-nodes) or replace them first; --accept-moves --roll goes through with it and replaces the groups' nodes",
    );
    false
}

fn update_add_on(facts: &Facts<'_>, env: BTreeMap<String, String>, found: &mut Found) {
    let Some(add_on) = &facts.inventory.add_on else { return };
    let Some(values) = facts.rendered.cni.get("addon-configuration-values.json") else { return };
    found.changes.push(Change::UpdateAddOn {
        addon_version: add_on.addon_version.clone(),
        service_account_role_arn: add_on.service_account_role_arn.clone(),
        pod_identity_associations: add_on.pod_identity_associations.clone(),
        configuration_values: values.trim_end().to_owned(),
        env,
        before: AddOnBefore {
            status: add_on.status.clone(),
            addon_version: add_on.addon_version.clone(),
            configuration_values: add_on.configuration_values.clone(),
        },
        overwrite: facts.options.take_over,
    });
}

fn set_env(facts: &Facts<'_>, env: BTreeMap<String, String>, found: &mut Found) {
    let Some(aws_node) = &facts.inventory.aws_node else { return };
    let mut owners: Vec<String> = aws_node
        .managers
        .iter()
        .filter(|row| row.manager != FIELD_MANAGER && row.fields.iter().any(|name| env.contains_key(name)))
        .map(|row| row.manager.clone())
        .collect();
    owners.sort();
    owners.dedup();
    let is_tool = |owner: &String| {
        MANAGERS_TO_TAKE_OVER_FROM
            .iter()
            .any(|tool| owner == tool || owner.strip_prefix(tool).is_some_and(|rest| rest.starts_with('-')))
    };
    let controllers: Vec<&str> = owners.iter().filter(|owner| !is_tool(owner)).map(String::as_str).collect();
    if !controllers.is_empty() {
        found.problems.push(Problem::new(
            "field-owned-by-other",
            subject(),
            format!("{} belongs to {}, which would write its own values back", listed(&env), controllers.join(", ")),
            "change the settings where that controller takes them from",
        ));
        return;
    }
    let before = env.keys().map(|name| (name.clone(), aws_node.env.get(name).cloned())).collect();
    found.changes.push(Change::SetDaemonSetEnv { env, before, take_over: owners });
}

fn create_add_on(facts: &Facts<'_>, found: &mut Found) {
    let Some(input) = facts.rendered.cni.get("create-addon.json") else { return };
    let values = serde_json::from_str::<serde_json::Value>(input)
        .ok()
        .and_then(|input| input.get("configurationValues")?.as_str().map(str::to_owned));
    if let Some(configuration_values) = values {
        found.changes.push(Change::CreateAddOn { configuration_values });
    }
}
