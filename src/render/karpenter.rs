//! Files for Karpenter: user data of an EC2NodeClass, NodePools in its place, and the setting that both need.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::boot_script::al2023_shell_part;
use super::read_back;
use super::registry::{self, Template};
use super::user_data_parts::SHELL_SCRIPT;
use crate::error::Error;
use crate::plan::karpenter::KarpenterPlan;
use crate::plan::{EniConfigPlan, Plan};
use crate::user_data::mime::{self, Part};

const NODE_POOL: Template = Template {
    name: "karpenter-nodepool.yaml.hbs",
    source: include_str!("../../templates/karpenter-nodepool.yaml.hbs"),
};
const VALUES: Template =
    Template { name: "karpenter-values.yaml.hbs", source: include_str!("../../templates/karpenter-values.yaml.hbs") };

/// Every file by its path below the output folder.
///
/// # Errors
/// [`Error::Template`] and [`Error::RenderedInvalid`]; defects of the program.
pub fn files(plan: &Plan, karpenter: &KarpenterPlan) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let KarpenterPlan { groups, label_key, reserved_enis, prefix_delegation } = karpenter;
    let values = json!({
        // The chart takes text. Source: aws/karpenter-provider-aws `charts/karpenter/values.yaml`, `settings.reservedENIs`.
        "reserved_enis": reserved_enis.to_string(),
        "trunk": *reserved_enis > 1,
        "prefix_delegation": prefix_delegation,
    });
    let mut files =
        BTreeMap::from([("karpenter/helm-values.yaml".to_owned(), registry::render(VALUES, &values)?.into_bytes())]);
    let mut folders = BTreeSet::new();
    for (name, group) in groups {
        let path = format!("karpenter/{}/ec2nodeclass-user-data.mime", folder(name, &mut folders));
        let bytes = mime::write(&[Part::new(SHELL_SCRIPT, al2023_shell_part(group)?.into_bytes())])?;
        read_back::compare_user_data(group, &bytes)?;
        files.insert(path, bytes);
    }
    if let Some(label_key) = label_key {
        let named: BTreeSet<&str> = groups
            .values()
            .flat_map(|group| &group.assignments)
            .flat_map(|row| &row.candidates)
            .map(|candidate| candidate.eni_config.as_str())
            .collect();
        for eni_config in plan.eni_configs.iter().filter(|eni_config| named.contains(eni_config.name.as_str())) {
            let path = format!("karpenter/nodepools/{}.yaml", eni_config.name);
            files.insert(path, node_pool(eni_config, label_key)?.into_bytes());
        }
    }
    Ok(files)
}

fn node_pool(eni_config: &EniConfigPlan, label_key: &str) -> Result<String, Error> {
    let text = registry::render(
        NODE_POOL,
        &json!({
            "name": eni_config.name,
            "subnet_id": eni_config.subnet_id,
            "cidr": eni_config.cidr,
            "availability_zone": eni_config.availability_zone,
            "label_key": label_key,
        }),
    )?;
    let what = format!("karpenter/nodepools/{}.yaml", eni_config.name);
    let invalid = |reason: String| Error::RenderedInvalid { what: what.clone(), reason };
    let read: Value = serde_saphyr::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    let label = read.pointer("/spec/template/metadata/labels").and_then(|labels| labels.get(label_key));
    let zone = read.pointer("/spec/template/spec/requirements/0/values/0");
    let same = |found: Option<&Value>, wanted: &str| found.and_then(Value::as_str) == Some(wanted);
    if same(label, &eni_config.name) && same(zone, &eni_config.availability_zone) {
        Ok(text)
    } else {
        Err(invalid("label or zone differs".into()))
    }
}

/// A folder's name from a pool's, which may hold blanks and slashes; no two pools share one.
fn folder(pool: &str, taken: &mut BTreeSet<String>) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name: String = pool.chars().map(legal).collect();
    // `nodepools` is the folder of the NodePools.
    let numbered = |number: usize| if number == 1 { name.clone() } else { format!("{name}-{number}") };
    let free = |name: &String| name != "nodepools" && !taken.contains(name);
    let folder = (1..=taken.len() + 2).map(numbered).find(free).unwrap_or_else(|| name.clone());
    taken.insert(folder.clone());
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_stay_below_karpenter_and_differ() {
        let mut taken = BTreeSet::new();
        let names: Vec<String> =
            ["../x", "a b", "a/b", "nodepools", "..", ""].map(|pool| folder(pool, &mut taken)).into();
        assert_eq!(names, ["---x", "a-b", "a-b-2", "nodepools-2", "--", ""]);
    }
}
