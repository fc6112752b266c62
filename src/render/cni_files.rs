//! The CNI's settings, in the form that their owner takes: add-on values, a patch of the DaemonSet, chart values, or,
//! where there is no CNI yet, the input that creates the add-on with the ENIConfigs in it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::json_text;
use super::registry::{self, Template};
use crate::error::Error;
use crate::inventory::Inventory;
use crate::plan::{CniOwner, Plan};

const DAEMON_SET_PATCH: Template =
    Template { name: "daemonset-patch.yaml.hbs", source: include_str!("../../templates/daemonset-patch.yaml.hbs") };
const HELM_VALUES: Template =
    Template { name: "helm-values.yaml.hbs", source: include_str!("../../templates/helm-values.yaml.hbs") };

/// The files of the folder `cni` by name.
///
/// # Errors
/// [`Error::Template`] and [`Error::Serialise`]; defects of the program.
pub(super) fn cni(plan: &Plan, inventory: &Inventory) -> Result<BTreeMap<String, String>, Error> {
    let (name, text) = match plan.cni.owner {
        CniOwner::AddOn => {
            let values = merged_configuration_values(plan, inventory);
            ("addon-configuration-values.json", json_text("the add-on's configuration values", &values)?)
        }
        CniOwner::DaemonSet => {
            ("daemonset-patch.yaml", registry::render(DAEMON_SET_PATCH, &json!({ "env": plan.cni.env }))?)
        }
        CniOwner::Helm => ("helm-values.yaml", registry::render(HELM_VALUES, &json!({ "env": plan.cni.env }))?),
        CniOwner::Absent => ("create-addon.json", json_text("the create-addon input", &create_add_on(plan)?)?),
    };
    Ok(BTreeMap::from([(name.to_owned(), text)]))
}

/// The values that are set now with our `env` entries over them; everything else in them stays.
fn merged_configuration_values(plan: &Plan, inventory: &Inventory) -> Value {
    let now = inventory.add_on.as_ref().and_then(|add_on| add_on.configuration_values.as_deref()).unwrap_or_default();
    let mut values = match serde_saphyr::from_str::<Value>(now) {
        Ok(Value::Object(values)) => values,
        _ => Map::new(),
    };
    let mut env = match values.remove("env") {
        Some(Value::Object(env)) => env,
        _ => Map::new(),
    };
    for (name, value) in &plan.cni.env {
        env.insert(name.clone(), Value::String(value.clone()));
    }
    values.insert("env".into(), Value::Object(env));
    Value::Object(values)
}

/// Input of `aws eks create-addon`. The ENIConfigs travel in its values, so that they exist before the first node.
///
/// The schema wants `create`, `region` and `subnets`; every value of `env` is a string.
/// Source: `aws eks describe-addon-configuration` of vpc-cni v1.15.1, AWS CLI reference.
fn create_add_on(plan: &Plan) -> Result<Value, Error> {
    let subnets: Map<String, Value> = plan
        .eni_configs
        .iter()
        .map(|eni_config| {
            let mut entry = Map::from_iter([("id".to_owned(), json!(eni_config.subnet_id))]);
            if !eni_config.security_groups.is_empty() {
                entry.insert("securityGroups".into(), json!(eni_config.security_groups));
            }
            (eni_config.name.clone(), Value::Object(entry))
        })
        .collect();
    let mut values = Map::from_iter([("env".to_owned(), json!(plan.cni.env))]);
    if !subnets.is_empty() {
        values.insert("eniConfig".into(), json!({ "create": true, "region": plan.region, "subnets": subnets }));
    }
    let values = serde_json::to_string(&values).map_err(|source| Error::Serialise {
        what: "the add-on's configuration values".into(),
        source: source.into(),
    })?;
    Ok(json!({ "clusterName": plan.cluster, "addonName": "vpc-cni", "configurationValues": values }))
}
