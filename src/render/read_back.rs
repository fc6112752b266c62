//! Reads what was rendered with the parsers that others will use, and compares it with the plan.

use std::collections::BTreeMap;

use ipnet::Ipv4Net;
use serde_json::Value;

use super::Rendered;
use crate::config::{AmiFamily, Strategy};
use crate::error::Error;
use crate::plan::{Assignment, Bootstrap, EniConfigPlan, NodeGroupPlan, Plan};
use crate::user_data::{self, BootRow, BootTable, boot_table};

/// Compares all of it.
///
/// # Errors
/// [`Error::RenderedInvalid`] names the file and the difference.
pub(super) fn compare(plan: &Plan, rendered: &Rendered) -> Result<(), Error> {
    for eni_config in &plan.eni_configs {
        if let Some(text) = rendered.eni_configs.get(&eni_config.name) {
            compare_eni_config(eni_config, text)?;
        }
    }
    for (name, text) in &rendered.cni {
        compare_cni(plan, name, text)?;
    }
    for group in &plan.node_groups {
        let user_data = rendered.node_groups.get(&group.name).and_then(|rendered| rendered.user_data.as_ref());
        if let Some(user_data) = user_data {
            if group.family == AmiFamily::Bottlerocket {
                compare_settings(group, &user_data.bytes)?;
            } else {
                compare_user_data(group, &user_data.bytes)?;
            }
        }
    }
    Ok(())
}

fn invalid(what: &str, reason: impl Into<String>) -> Error {
    Error::RenderedInvalid { what: what.into(), reason: reason.into() }
}

fn yaml(what: &str, text: &str) -> Result<Value, Error> {
    serde_saphyr::from_str(text).map_err(|error| invalid(what, format!("it is not YAML: {error}")))
}

fn compare_eni_config(eni_config: &EniConfigPlan, text: &str) -> Result<(), Error> {
    let what = format!("eniconfigs/{}.yaml", eni_config.name);
    let manifest = yaml(&what, text)?;
    let groups: Vec<&str> = manifest
        .pointer("/spec/securityGroups")
        .and_then(Value::as_array)
        .map(|groups| groups.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let same = manifest.pointer("/metadata/name").and_then(Value::as_str) == Some(&eni_config.name)
        && manifest.pointer("/spec/subnet").and_then(Value::as_str) == Some(&eni_config.subnet_id)
        && groups == eni_config.security_groups;
    if same { Ok(()) } else { Err(invalid(&what, "name, subnet or security groups differ")) }
}

fn compare_cni(plan: &Plan, name: &str, text: &str) -> Result<(), Error> {
    let what = format!("cni/{name}");
    let file = yaml(&what, text)?;
    let env = match name {
        "daemonset-patch.yaml" => env_of_container(&file),
        "create-addon.json" => {
            let values = file.get("configurationValues").and_then(Value::as_str).unwrap_or_default();
            yaml(&what, values)?.get("env").cloned()
        }
        _ => file.get("env").cloned(),
    };
    for (setting, value) in &plan.cni.env {
        let found = env.as_ref().and_then(|env| env.get(setting)).and_then(Value::as_str);
        if found != Some(value) {
            return Err(invalid(&what, format!("{setting} is not the text `{value}`")));
        }
    }
    Ok(())
}

fn env_of_container(patch: &Value) -> Option<Value> {
    let entries = patch.pointer("/spec/template/spec/containers/0/env")?.as_array()?;
    let pair = |entry: &Value| Some((entry.get("name")?.as_str()?.to_owned(), entry.get("value")?.clone()));
    Some(Value::Object(entries.iter().filter_map(pair).collect()))
}

pub(super) fn compare_user_data(group: &NodeGroupPlan, bytes: &[u8]) -> Result<(), Error> {
    let what = format!("node-groups/{}/user-data.mime", group.name);
    let document = user_data::read(bytes).map_err(|error| invalid(&what, error.to_string()))?;
    let only_ours = document.foreign_parts().next().is_none();
    if let Some(oddity) = document.oddities.first().filter(|_| only_ours) {
        return Err(invalid(&what, format!("line {}: {}", oddity.line, oddity.kind.describe())));
    }
    for part in document.parts.iter().filter(|part| user_data::is_ours(part)) {
        let text = std::str::from_utf8(&part.body).map_err(|_| invalid(&what, "our own part is not UTF-8"))?;
        if part.is("application/node.eks.aws") {
            compare_node_config(group, &what, text)?;
        }
    }
    match boot_table(&document) {
        Some(table) => compare_table(group, &what, &table),
        None if group.label_key.is_none() => Ok(()),
        None => Err(invalid(&what, "there is no part of ours in it")),
    }
}

fn compare_settings(group: &NodeGroupPlan, bytes: &[u8]) -> Result<(), Error> {
    let what = format!("node-groups/{}/user-data.toml", group.name);
    let text = std::str::from_utf8(bytes).map_err(|_| invalid(&what, "it is not UTF-8"))?;
    let settings: toml::Table = text.parse().map_err(|error| invalid(&what, format!("it is not TOML: {error}")))?;
    let kubernetes = settings.get("settings").and_then(|settings| settings.get("kubernetes"));
    if let Some(key) = &group.label_key {
        let label = kubernetes.and_then(|kubernetes| kubernetes.get("node-labels")?.get(key)?.as_str());
        let wanted = group
            .assignments
            .first()
            .and_then(|row| row.candidates.first())
            .map(|candidate| candidate.eni_config.as_str());
        if label != wanted {
            return Err(invalid(&what, format!("the label {key} differs")));
        }
    }
    // Merged into the user's settings, theirs may stay: max pods where ours sets none or more, and the DNS address.
    let document = user_data::read(bytes).map_err(|error| invalid(&what, error.to_string()))?;
    let has_theirs = document.foreign_parts().next().is_some();
    let max_pods = kubernetes.and_then(|kubernetes| kubernetes.get("max-pods")?.as_integer());
    let written = group.max_pods.written.map(i64::from);
    let is_theirs = has_theirs && max_pods.is_some_and(|theirs| written.is_none_or(|ours| theirs < ours));
    if max_pods != written && !is_theirs {
        return Err(invalid(&what, "max-pods differs"));
    }
    if let Bootstrap::UserData(access) = &group.bootstrap {
        for (key, wanted) in [
            ("cluster-name", &access.name),
            ("api-server", &access.endpoint),
            ("cluster-certificate", &access.certificate_authority),
            ("cluster-dns-ip", &access.dns_address.to_string()),
        ] {
            let found = kubernetes.and_then(|kubernetes| kubernetes.get(key));
            let is_theirs = has_theirs && key == "cluster-dns-ip" && found.is_some();
            if found.and_then(|value| value.as_str()) != Some(wanted) && !is_theirs {
                return Err(invalid(&what, format!("{key} is not `{wanted}`")));
            }
        }
    }
    Ok(())
}

fn compare_node_config(group: &NodeGroupPlan, what: &str, text: &str) -> Result<(), Error> {
    let node_config = yaml(what, text)?;
    let Bootstrap::UserData(access) = &group.bootstrap else {
        return Err(invalid(what, "it has a NodeConfig that EKS is to add"));
    };
    for (pointer, wanted) in [
        ("/spec/cluster/name", access.name.clone()),
        ("/spec/cluster/apiServerEndpoint", access.endpoint.clone()),
        ("/spec/cluster/certificateAuthority", access.certificate_authority.clone()),
        ("/spec/cluster/cidr", access.service_ipv4_cidr.to_string()),
    ] {
        if node_config.pointer(pointer).and_then(Value::as_str) != Some(&wanted) {
            return Err(invalid(what, format!("{pointer} is not `{wanted}`")));
        }
    }
    let max_pods = node_config.pointer("/spec/kubelet/config/maxPods").and_then(Value::as_u64);
    if max_pods != group.max_pods.written.map(u64::from) {
        return Err(invalid(what, "maxPods differs"));
    }
    Ok(())
}

/// The table that the script holds is the group's: the same rows, names and bounds, and no other.
fn compare_table(group: &NodeGroupPlan, what: &str, found: &BootTable) -> Result<(), Error> {
    if found.label_key != group.label_key {
        return Err(invalid(what, "the key of the label differs"));
    }
    let wanted: BTreeMap<Ipv4Net, BootRow> = match &group.label_key {
        Some(_) => group.assignments.iter().map(|row| (row.cidr, boot_row(group, row))).collect(),
        None => BTreeMap::new(),
    };
    let differs = |(cidr, row): &(&Ipv4Net, &BootRow)| found.rows.get(cidr) != Some(row);
    if let Some((cidr, _)) = wanted.iter().find(differs) {
        return Err(invalid(what, format!("the row of {cidr} differs, or is missing")));
    }
    match found.rows.keys().find(|cidr| !wanted.contains_key(cidr)) {
        Some(cidr) => Err(invalid(what, format!("the table has a row of {cidr}, which the plan has not"))),
        None => Ok(()),
    }
}

fn boot_row(group: &NodeGroupPlan, row: &Assignment) -> BootRow {
    let bounds = row.candidates.iter().map(|candidate| candidate.bound).collect();
    BootRow {
        names: row.candidates.iter().map(|candidate| candidate.eni_config.clone()).collect(),
        bounds: if group.strategy == Strategy::Hash { bounds } else { Vec::new() },
    }
}
