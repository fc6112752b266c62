//! `eniplan generate --for karpenter`: what it writes beside the files of the plan.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods, missing_docs)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn fixtures() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// Files of the folder `karpenter` by their path in it; empty where the plan has errors.
fn files(inventory: &Path, config: &Path, further: &[&str]) -> BTreeMap<String, String> {
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_eniplan"))
        .args(["generate", "--for", "karpenter", "--out-dir", "out", "--inventory"])
        .arg(inventory)
        .arg("--config")
        .arg(config)
        .args(further)
        .current_dir(out.path())
        .env_clear()
        .output()
        .unwrap();
    assert!(matches!(output.status.code(), Some(0 | 4)), "{}", String::from_utf8_lossy(&output.stderr));
    let root = out.path().join("out/karpenter");
    let mut files = BTreeMap::new();
    let mut open = vec![root.clone()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                files.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

fn of_fixture(name: &str, further: &[&str]) -> BTreeMap<String, String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    files(&folder.join("inventory.json"), &folder.join("eniplan.yaml"), further)
}

/// The table of a script, which is what differs between pools.
fn table(user_data: &str) -> String {
    user_data
        .lines()
        .filter(|line| line.contains("/") && line.trim_start().starts_with('\''))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn files_for_a_cluster_with_karpenter() {
    let mut page = String::new();
    for (name, text) in of_fixture("karpenter-nodes", &[]) {
        let text = if name.ends_with(".mime") { format!("…\n{}\n…\n", table(&text)) } else { text };
        write!(page, "==> {name}\n{text}\n").unwrap();
    }
    insta::assert_snapshot!(page);
}

/// The label in override design, prefixes and the trunk each change what is written.
#[test]
fn files_follow_the_settings_of_the_cni() {
    let mut page = String::new();
    for (fixture, setting) in
        [("quickstart", None), ("smallest", None), ("prefix-delegation", None), ("three-zones", Some("ENABLE_POD_ENI"))]
    {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture);
        let mut inventory: Value =
            serde_json::from_slice(&std::fs::read(folder.join("inventory.json")).unwrap()).unwrap();
        if let Some(setting) = setting {
            inventory["aws_node"]["env"][setting] = "true".into();
        }
        let changed = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(changed.path(), inventory.to_string()).unwrap();
        let files = files(changed.path(), &folder.join("eniplan.yaml"), &[]);
        writeln!(page, "==> {fixture} {}", setting.unwrap_or_default()).unwrap();
        for (name, text) in &files {
            let label =
                text.lines().find(|line| line.contains("eniConfig\":") || line.contains("externalEniConfig\":"));
            writeln!(page, "{name} {}", label.unwrap_or_default().trim()).unwrap();
        }
        page.push_str(&files["helm-values.yaml"]);
    }
    insta::assert_snapshot!(page);
}

#[test]
fn a_node_group_lends_its_own_table() {
    let files = of_fixture("hash", &["--node-group", "spot"]);
    let user_data = &files["spot/ec2nodeclass-user-data.mime"];
    assert!(user_data.contains("bounds=(6 9 10)"), "{user_data}");
}

/// Wherever the plan can be written, so can this, and each NodePool is in the zone of its pod subnet.
#[test]
fn node_pools_are_in_the_zone_of_their_pod_subnet() {
    let mut pools = 0;
    for folder in fixtures() {
        let inventory: Value = serde_json::from_slice(&std::fs::read(folder.join("inventory.json")).unwrap()).unwrap();
        let zone_of = |id: &str| {
            let subnets = inventory["subnets"].as_array().unwrap();
            let subnet = subnets.iter().find(|subnet| subnet["subnet_id"] == id).unwrap();
            subnet["availability_zone"].as_str().unwrap().to_owned()
        };
        for (name, text) in files(&folder.join("inventory.json"), &folder.join("eniplan.yaml"), &[]) {
            let Some(eni_config) = name.strip_prefix("nodepools/") else { continue };
            let eni_config = eni_config.strip_suffix(".yaml").unwrap();
            let manifest: Value = serde_saphyr::from_str(&text).unwrap();
            assert_eq!(manifest["metadata"]["name"], eni_config, "{}", folder.display());
            let zone = manifest["spec"]["template"]["spec"]["requirements"][0]["values"][0].as_str().unwrap();
            let id = text.split('"').find(|part| part.starts_with("subnet-")).unwrap();
            assert_eq!(zone_of(id), zone, "{} {name}", folder.display());
            pools += 1;
        }
    }
    assert!(pools > 50, "only {pools} NodePools");
}
