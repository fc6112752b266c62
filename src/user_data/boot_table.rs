//! What our part of a user data gives a node: the table, read back from the script, whatever version of the launch
//! template it comes from.

use std::collections::BTreeMap;

use ipnet::Ipv4Net;

use super::kind::TOML;
use super::labels::ENI_CONFIG_KEYS;
use super::{Document, is_ours};

/// The label that a node gets, by where it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BootTable {
    /// Key of the label; `None` where the part sets no label.
    pub label_key: Option<String>,
    /// Node subnet CIDR → candidates.
    pub rows: BTreeMap<Ipv4Net, BootRow>,
    /// The one name of every node, where no table decides: Bottlerocket.
    pub fixed: Option<String>,
    /// Max pods that it sets; `None` leaves them to EKS or the image.
    pub max_pods: Option<u32>,
}

/// One row: candidates and the running totals of their weights. A row of one name needs no bounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BootRow {
    /// Names of ENIConfigs.
    pub names: Vec<String>,
    /// Running totals; empty where there is one name.
    pub bounds: Vec<u64>,
}

/// The table in our part; `None` where the user data has no part of ours.
pub fn boot_table(document: &Document) -> Option<BootTable> {
    if let Some(part) = document.parts.iter().find(|part| part.is(TOML)) {
        return settings_table(&String::from_utf8_lossy(&part.content()));
    }
    let part = document.parts.iter().find(|part| is_ours(part) && !part.is("application/node.eks.aws"))?;
    Some(script_table(&String::from_utf8_lossy(&part.content())))
}

/// Reads `templates/choice.sh.hbs` as it is rendered: `'CIDR') name='NAME' ;;`, or the two arrays on the lines below.
fn script_table(script: &str) -> BootTable {
    let mut table = BootTable::default();
    let mut row: Option<Ipv4Net> = None;
    for line in script.lines().map(str::trim) {
        if let Some(value) = line.strip_prefix("label_key=") {
            table.label_key = quoted(value).into_iter().next();
        } else if let Some(value) = line.strip_prefix("max_pods=") {
            table.max_pods = value.parse().ok();
        } else if let Some((cidr, rest)) = case_label(line) {
            row = Some(cidr);
            let only = rest.trim_start().strip_prefix("name=").and_then(|rest| quoted(rest).into_iter().next());
            table.rows.insert(cidr, BootRow { names: only.into_iter().collect(), bounds: Vec::new() });
        } else if let Some(row) = row.and_then(|cidr| table.rows.get_mut(&cidr)) {
            if let Some(names) = inside(line, "names=(") {
                row.names = quoted(names);
            } else if let Some(bounds) = inside(line, "bounds=(") {
                row.bounds = bounds.split_whitespace().filter_map(|bound| bound.parse().ok()).collect();
            }
        }
    }
    table
}

/// `'172.31.16.0/20') …`, taken apart.
fn case_label(line: &str) -> Option<(Ipv4Net, &str)> {
    let (cidr, rest) = line.strip_prefix('\'')?.split_once("')")?;
    Some((cidr.parse().ok()?, rest))
}

fn inside<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    line.strip_prefix(start)?.strip_suffix(')')
}

/// The words between single quotes. Names are label values, which hold no quote of their own.
fn quoted(text: &str) -> Vec<String> {
    text.split('\'').skip(1).step_by(2).map(str::to_owned).collect()
}

fn settings_table(text: &str) -> Option<BootTable> {
    let settings: toml::Table = text.parse().ok()?;
    let kubernetes = settings.get("settings")?.get("kubernetes")?;
    let labels = kubernetes.get("node-labels")?.as_table()?;
    let max_pods = kubernetes.get("max-pods").and_then(toml::Value::as_integer);
    let (key, name) = ENI_CONFIG_KEYS
        .iter()
        .find_map(|key| Some(((*key).to_owned(), labels.get(*key)?.as_str()?.to_owned())))
        .or_else(|| private_key(text, labels))?;
    Some(BootTable {
        label_key: Some(key),
        rows: BTreeMap::new(),
        fixed: Some(name),
        max_pods: max_pods.and_then(|number| u32::try_from(number).ok()),
    })
}

/// The label on the line after our marker, where its key is a private one.
fn private_key(text: &str, labels: &toml::Table) -> Option<(String, String)> {
    let (_, ours) = text.split_once(super::MARKER)?;
    let is_named = |key: &String| ours.contains(&format!("node-labels.\"{key}\""));
    labels
        .iter()
        .find(|(key, _)| is_named(key))
        .and_then(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::user_data::read;

    #[test]
    fn a_script_without_part_of_ours_has_no_table() {
        assert_eq!(boot_table(&read(b"#!/bin/bash\necho\n").unwrap()), None);
    }

    #[test]
    fn pinned_and_weighted_rows_are_read() {
        let script = "#!/bin/bash\n# eniplan.dev/part: al2023-boot\nlabel_key='example.com/pods'\n\
            candidates() {\n  case $1 in\n    '10.0.0.0/24') name='pod-a' ;; # 'subnet-1' 'a'\n    *)\n  esac\n}\n";
        let table = boot_table(&read(script.as_bytes()).unwrap()).unwrap();
        assert_eq!(table.label_key.as_deref(), Some("example.com/pods"));
        assert_eq!(table.rows.get(&"10.0.0.0/24".parse().unwrap()).unwrap().names, ["pod-a"]);
        let script = "#!/bin/bash\n# eniplan.dev/part: al2023-boot\n  case $1 in\n    '10.0.0.0/24') # 'subnet-1' 'a'\n\
            \x20     names=('pod-a' 'pod-b')\n      bounds=(9 12)\n      ;;\n";
        let table = boot_table(&read(script.as_bytes()).unwrap()).unwrap();
        let row = table.rows.get(&"10.0.0.0/24".parse().unwrap()).unwrap();
        assert_eq!(
            (row.names.clone(), row.bounds.clone()),
            (vec!["pod-a".to_owned(), "pod-b".to_owned()], vec![9, 12])
        );
    }

    #[test]
    fn the_label_of_settings_is_read() {
        let settings =
            "# eniplan.dev/part: bottlerocket\nsettings.kubernetes.node-labels.\"example.com/pods\" = \"pod-a\"\n";
        let table = boot_table(&read(settings.as_bytes()).unwrap()).unwrap();
        assert_eq!((table.label_key.as_deref(), table.fixed.as_deref()), (Some("example.com/pods"), Some("pod-a")));
    }
}
