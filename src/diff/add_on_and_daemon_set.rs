//! The CNI's settings, through whoever holds them.

use std::collections::{BTreeMap, BTreeSet};

use super::eni_configs::FIELD_MANAGER;
use super::gate::{self, Gate};
use super::{AddOnBefore, Awaiting, Change, Facts, Found};
use crate::finding::{Problem, Subject};
use crate::plan::CniOwner;

/// Managers from which settings are taken over without being asked: people's own tools, and what installs the stock
/// manifest. Controllers that would write their values back are not among them.
const MANAGERS_TO_TAKE_OVER_FROM: [&str; 3] = ["kubectl", "eksctl", "eks"];

/// The field manager of EKS add-ons. Source: EKS user guide, "Determine fields you can customize for Amazon EKS add-ons".
const ADD_ON_MANAGER: &str = "eks";

pub(super) fn changes(facts: &Facts<'_>, found: &mut Found) {
    let cni = &facts.plan.cni;
    if cni.changes.is_empty() && cni.owner != CniOwner::Absent {
        return;
    }
    let mut moves = Vec::new();
    if cni.switch {
        let Some(found) = may_switch(facts, found) else { return };
        moves = found;
    }
    let env: BTreeMap<String, String> = cni
        .env
        .iter()
        .filter(|(name, _)| cni.changes.contains_key(*name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    match cni.owner {
        CniOwner::AddOn => update_add_on(facts, env, moves, found),
        CniOwner::DaemonSet => set_env(facts, env, moves, found),
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

/// Who moves, where the switch may be made.
fn may_switch(facts: &Facts<'_>, found: &mut Found) -> Option<Vec<String>> {
    let Gate { stranded, moves } = gate::evaluate(facts);
    if stranded.is_empty() || (facts.options.accept_moves && facts.options.roll) {
        return Some(moves.into_iter().chain(stranded).collect());
    }
    let mut what =
        vec![format!("{} is not switched: afterwards these would find no ENIConfig:", listed(&facts.plan.cni.env))];
    what.extend(stranded);
    if !moves.is_empty() {
        what.push("and these would move:".into());
        what.extend(moves);
    }
    let what = what.join("\n");
    let how = gate::way_through(facts);
    found.awaiting.push(Awaiting { subject: subject(), what, how, gated: true });
    None
}

fn update_add_on(facts: &Facts<'_>, env: BTreeMap<String, String>, moves: Vec<String>, found: &mut Found) {
    let Some(add_on) = &facts.inventory.add_on else { return };
    let Some(values) = facts.rendered.cni.get("addon-configuration-values.json") else { return };
    let value_of = |text: &str| serde_saphyr::from_str::<serde_json::Value>(text).ok();
    let already = add_on.configuration_values.as_deref().and_then(value_of) == value_of(values);
    let overwrite = facts.options.take_over;
    if already && !overwrite {
        let owners = owners_of(facts, &env);
        found.await_user(
            subject(),
            format!(
                "the add-on sets {}, but aws-node does not have it{}",
                listed(&env),
                if owners.is_empty() { String::new() } else { format!("; {} does", owners.join(", ")) }
            ),
            "--take-over lets the add-on write its own values over those of others",
        );
        return;
    }
    found.changes.push(Change::UpdateAddOn {
        addon_version: add_on.addon_version.clone(),
        service_account_role_arn: add_on.service_account_role_arn.clone(),
        pod_identity_associations: add_on.pod_identity_associations.clone(),
        configuration_values: values.trim_end().to_owned(),
        resets: if overwrite { resets(facts) } else { Vec::new() },
        env,
        before: AddOnBefore::of(add_on),
        overwrite,
        moves,
    });
}

/// Managers other than us of any of these settings.
fn owners_of(facts: &Facts<'_>, env: &BTreeMap<String, String>) -> Vec<String> {
    let owners: BTreeSet<String> = facts
        .inventory
        .aws_node
        .iter()
        .flat_map(|aws_node| &aws_node.managers)
        .filter(|row| row.manager != FIELD_MANAGER && row.fields.iter().any(|name| env.contains_key(name)))
        .map(|row| row.manager.clone())
        .collect();
    owners.into_iter().collect()
}

/// Settings that somebody else has made and that the add-on takes back to its own values.
fn resets(facts: &Facts<'_>) -> Vec<String> {
    let Some(aws_node) = &facts.inventory.aws_node else { return Vec::new() };
    let foreign: BTreeSet<String> = aws_node
        .managers
        .iter()
        .filter(|row| row.manager != ADD_ON_MANAGER)
        .flat_map(|row| row.fields.iter().map(|name| (name, &row.manager)))
        .filter_map(|(name, manager)| {
            let value = aws_node.env.get(name)?;
            Some(format!("{name}={value} (set by {manager})"))
        })
        .collect();
    foreign.into_iter().collect()
}

fn set_env(facts: &Facts<'_>, mut env: BTreeMap<String, String>, moves: Vec<String>, found: &mut Found) {
    let Some(aws_node) = &facts.inventory.aws_node else { return };
    let owners = owners_of(facts, &env);
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
    // What we own and leave out of a server-side apply is removed from the object.
    let ours = aws_node.managers.iter().filter(|row| row.manager == FIELD_MANAGER).flat_map(|row| &row.fields);
    for name in ours {
        if let Some(value) = facts.plan.cni.env.get(name).or_else(|| aws_node.env.get(name)) {
            env.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    let before = env.keys().map(|name| (name.clone(), aws_node.env.get(name).cloned())).collect();
    found.changes.push(Change::SetDaemonSetEnv { env, before, take_over: owners, moves });
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
