//! What differs between the plan of every fixture and its cluster, and what is held back or refused.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::disallowed_methods, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use eniplan::config::Config;
use eniplan::diff::{Change, DiffOptions, Differences, Stage, VersionRef, diff, rollback, stale};
use eniplan::finding::Problem;
use eniplan::inventory::{EniConfig, FieldManager, Inventory};
use eniplan::launch_template::Base64Bytes;
use eniplan::plan::plan;
use eniplan::render::render;
use serde_json::Value;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn inventory(name: &str) -> Inventory {
    let text = std::fs::read_to_string(folder(name).join("inventory.json")).unwrap();
    Inventory::from_json(&text, "inventory.json").unwrap()
}

fn config(name: &str) -> String {
    std::fs::read_to_string(folder(name).join("eniplan.yaml")).unwrap()
}

fn differences(inventory: &Inventory, config: &str, options: &DiffOptions) -> Differences {
    let config = Config::from_yaml(config, "eniplan.yaml").unwrap();
    let planned = plan(inventory, &config).plan;
    let rendered = render(&planned, inventory).unwrap();
    diff(inventory, &config, &planned, &rendered, options)
}

fn rolled() -> DiffOptions {
    DiffOptions { roll: true, ..DiffOptions::default() }
}

fn eniplan(fixture: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_eniplan")).args(arguments).current_dir(fixture).env_clear().output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const INPUT: [&str; 4] = ["--inventory", "inventory.json", "--config", "eniplan.yaml"];

#[test]
fn the_differences_of_every_fixture() {
    insta::glob!("../fixtures", "*/inventory.json", |path| {
        let fixture = path.parent().unwrap();
        let (code, stdout, _) = eniplan(fixture, &[&["diff", "-q", "--roll", "--set-default"], &INPUT[..]].concat());
        insta::assert_snapshot!(format!("{stdout}? {code}\n"));
    });
}

const FOREIGN: &str = "MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=\"==B==\"

--==B==
Content-Type: text/cloud-config; charset=\"us-ascii\"

#cloud-config
write_files: [{path: /etc/token, content: a-token-that-nobody-may-see}]
--==B==--
";

#[test]
fn foreign_bytes_are_in_no_text_and_no_json_but_in_a_saved_diff() {
    let mut inventory = inventory("two-sets");
    for version in inventory.launch_templates.iter_mut().flat_map(|template| &mut template.versions) {
        version.launch_template_data.user_data = Some(Base64Bytes(FOREIGN.into()));
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("inventory.json"), inventory.to_json().unwrap()).unwrap();
    std::fs::write(folder.path().join("eniplan.yaml"), config("two-sets")).unwrap();
    let (code, text, _) = eniplan(folder.path(), &[&["diff", "--roll", "--out", "saved"], &INPUT[..]].concat());
    assert_eq!(code, 3);
    let (_, json, _) = eniplan(folder.path(), &[&["diff", "--roll", "-o", "json"], &INPUT[..]].concat());
    for shown in [&text, &json] {
        assert!(!shown.contains("a-token-that-nobody-may-see"), "{shown}");
        assert!(!shown.contains("UserData\": \"TUlNRS"), "{shown}");
        assert!(shown.contains("text/cloud-config"), "{shown}");
    }
    assert!(text.contains("text/cloud-config, 85 bytes, sha256:"), "{text}");
    let saved: eniplan::diff::Diff =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("saved")).unwrap()).unwrap();
    let whole = saved.changes.iter().any(|change| match change {
        Change::CreateLaunchTemplateVersion { request, .. } => {
            let user_data = &request.launch_template_data.user_data.as_ref().unwrap().0;
            String::from_utf8_lossy(user_data).contains("a-token-that-nobody-may-see")
        }
        _ => false,
    });
    assert!(whole);
}

/// A cluster that runs custom networking by one label key, and a file that wants another one.
fn another_key() -> (Inventory, String) {
    let wish = config("hash").replace("spec:\n", "spec:\n  label: {design: own, key: pods.example.com/eniConfig}\n");
    (inventory("hash"), wish)
}

fn changes_cni(changes: &[Change]) -> bool {
    changes.iter().any(|change| matches!(change, Change::SetDaemonSetEnv { .. } | Change::UpdateAddOn { .. }))
}

#[test]
fn a_switch_that_strands_nodes_waits_and_names_them() {
    let (inventory, wish) = another_key();
    let Differences { diff, .. } = differences(&inventory, &wish, &DiffOptions::default());
    assert!(!changes_cni(&diff.changes));
    assert!(diff.has_gated());
    let gated = diff.awaiting.iter().find(|awaiting| awaiting.gated).unwrap();
    for node in &inventory.nodes {
        assert!(gated.what.contains(&node.name), "{}", gated.what);
    }
    assert!(gated.how.contains("--label-nodes --roll"));
}

#[test]
fn labels_and_a_roll_let_the_switch_go_through() {
    let (inventory, wish) = another_key();
    let options = DiffOptions { label_nodes: true, ..rolled() };
    let Differences { diff, .. } = differences(&inventory, &wish, &options);
    assert!(changes_cni(&diff.changes));
    assert!(!diff.has_gated());
    let labelled: BTreeSet<&String> = diff
        .changes
        .iter()
        .filter_map(|change| match change {
            Change::LabelNode { name, .. } => Some(name),
            _ => None,
        })
        .collect();
    assert_eq!(labelled, inventory.nodes.iter().map(|node| &node.name).collect());
    // Labels come before the switch, and the switch before the groups.
    let place = |wanted: fn(&Change) -> bool| diff.changes.iter().position(wanted).unwrap();
    let label = place(|change| matches!(change, Change::LabelNode { .. }));
    let switch = place(|change| matches!(change, Change::SetDaemonSetEnv { .. }));
    let group = place(|change| matches!(change, Change::UpdateNodeGroup { .. }));
    assert!(label < switch && switch < group);
}

#[test]
fn moves_can_be_accepted_together_with_a_roll_only() {
    let (inventory, wish) = another_key();
    let alone = DiffOptions { accept_moves: true, ..DiffOptions::default() };
    assert!(!changes_cni(&differences(&inventory, &wish, &alone).diff.changes));
    let both = DiffOptions { accept_moves: true, ..rolled() };
    assert!(changes_cni(&differences(&inventory, &wish, &both).diff.changes));
}

#[test]
fn settings_that_we_own_are_sent_along() {
    let mut inventory = inventory("hash");
    let aws_node = inventory.aws_node.as_mut().unwrap();
    aws_node.managers = vec![FieldManager {
        manager: "eniplan".into(),
        operation: "Apply".into(),
        fields: vec!["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG".into(), "ENI_CONFIG_LABEL_DEF".into()],
    }];
    let wish = config("hash").replace("spec:\n", "spec:\n  cni: {env: {WARM_IP_TARGET: \"7\"}}\n");
    let only = DiffOptions { only: [Stage::Cni].into(), ..DiffOptions::default() };
    let changes = differences(&inventory, &wish, &only).diff.changes;
    let [Change::SetDaemonSetEnv { env, .. }] = changes.as_slice() else { panic!("{changes:#?}") };
    let names: Vec<&str> = env.keys().map(String::as_str).collect();
    assert_eq!(names, ["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "ENI_CONFIG_LABEL_DEF", "WARM_IP_TARGET"]);
}

#[test]
fn tools_are_taken_over_from_and_controllers_are_not() {
    for (manager, taken) in [
        ("kubectl-set", true),
        ("kubectl-client-side-apply", true),
        ("eksctl", true),
        ("argocd-controller", false),
        ("eksy", false),
    ] {
        let mut inventory = inventory("hash");
        let aws_node = inventory.aws_node.as_mut().unwrap();
        aws_node.env.insert("WARM_IP_TARGET".into(), "1".into());
        aws_node.managers = vec![FieldManager {
            manager: manager.into(),
            operation: "Update".into(),
            fields: vec!["WARM_IP_TARGET".into()],
        }];
        let wish = config("hash").replace("spec:\n", "spec:\n  cni: {env: {WARM_IP_TARGET: \"7\"}}\n");
        let only = DiffOptions { only: [Stage::Cni].into(), ..DiffOptions::default() };
        let Differences { diff, problems } = differences(&inventory, &wish, &only);
        assert_eq!(changes_cni(&diff.changes), taken, "{manager}");
        assert_eq!(
            problems.iter().any(|problem: &Problem| problem.rule == "field-owned-by-other"),
            !taken,
            "{manager}"
        );
    }
}

/// What differs where the plan wants other security groups on every ENIConfig.
fn other_groups(inventory: &Inventory, options: &DiffOptions) -> Differences {
    let config = Config::from_yaml(&config("hash"), "eniplan.yaml").unwrap();
    let mut planned = plan(inventory, &config).plan;
    for eni_config in &mut planned.eni_configs {
        eni_config.security_groups = vec!["sg-0123456789abcdef0".into()];
    }
    let rendered = render(&planned, inventory).unwrap();
    diff(inventory, &config, &planned, &rendered, options)
}

fn with_eni_configs(change: impl Fn(&mut EniConfig)) -> Inventory {
    let mut inventory = inventory("hash");
    inventory.eni_configs.iter_mut().for_each(change);
    inventory
}

#[test]
fn eni_configs_of_helm_are_refused_and_those_of_others_taken_over_when_asked() {
    let only = DiffOptions { only: [Stage::Eniconfigs].into(), ..DiffOptions::default() };
    let rules = |problems: &[Problem]| problems.iter().map(|problem| problem.rule).collect::<BTreeSet<_>>();
    let helm = with_eni_configs(|object| {
        object.annotations.insert("meta.helm.sh/release-name".into(), "cni".into());
    });
    let found = other_groups(&helm, &only);
    assert!(found.diff.changes.is_empty());
    assert_eq!(rules(&found.problems), ["change-of-helm-object-refused"].into());

    let foreign = with_eni_configs(|object| {
        object.managers = vec![FieldManager {
            manager: "kubectl-edit".into(),
            operation: "Update".into(),
            fields: vec![".spec.securityGroups".into()],
        }];
    });
    let found = other_groups(&foreign, &only);
    assert!(found.diff.changes.is_empty());
    assert_eq!(rules(&found.problems), ["field-owned-by-other"].into());
    let asked = DiffOptions { take_over: true, ..only };
    let changes = other_groups(&foreign, &asked).diff.changes;
    assert!(!changes.is_empty());
    for change in changes {
        let Change::ApplyEniConfig { take_over, .. } = change else { panic!("{change:#?}") };
        assert_eq!(take_over, ["kubectl-edit"]);
    }
}

#[test]
fn a_saved_diff_is_stale_when_what_it_rests_on_has_moved() {
    let inventory = inventory("two-sets");
    let Differences { diff, .. } = differences(&inventory, &config("two-sets"), &rolled());
    assert_eq!(stale(&diff, &inventory), Vec::<String>::new());
    let mut moved = inventory.clone();
    moved.launch_templates[0].latest_version_number += 1;
    moved.node_groups[1].status = Some("UPDATING".into());
    moved.cluster.endpoint = Some("https://elsewhere.example".into());
    let said = stale(&diff, &moved);
    assert_eq!(said.len(), 3, "{said:#?}");
    assert!(said[0].starts_with("the endpoint was "));
    assert!(said.iter().any(|line| line.contains("LatestVersionNumber was 1, and is 2")), "{said:#?}");
    assert!(said.iter().any(|line| line.contains("status was ACTIVE, and is UPDATING")), "{said:#?}");
}

#[test]
fn a_diff_survives_being_saved() {
    for name in ["off-with-nodes", "new-cluster", "hash"] {
        let Differences { diff, .. } = differences(&inventory(name), &config(name), &rolled());
        let text = serde_json::to_string(&diff).unwrap();
        assert_eq!(serde_json::from_str::<eniplan::diff::Diff>(&text).unwrap(), diff, "{name}");
    }
}

#[test]
fn the_same_content_over_another_state_has_another_token() {
    let token = |inventory: &Inventory| {
        let changes = differences(inventory, &config("two-sets"), &rolled()).diff.changes;
        changes.into_iter().find_map(|change| match change {
            Change::CreateLaunchTemplateVersion { client_token, .. } => Some(client_token),
            _ => None,
        })
    };
    let before = inventory("two-sets");
    let mut after = before.clone();
    for template in &mut after.launch_templates {
        template.latest_version_number += 2;
    }
    let (first, second) = (token(&before).unwrap(), token(&after).unwrap());
    assert_eq!(token(&before).unwrap(), first);
    assert_ne!(first, second);
    assert_eq!(first.len(), 64);
}

#[test]
fn the_way_back_is_by_history_or_by_what_ours_was_made_from() {
    let mut inventory = inventory("two-sets");
    let group = inventory.node_groups[0].name.clone();
    let template = &mut inventory.launch_templates;
    let used = inventory.node_groups[0].launch_template.as_ref().unwrap().id.clone().unwrap();
    let template = template.iter_mut().find(|template| template.launch_template_id == used).unwrap();
    for number in 2..=4 {
        let mut version = template.versions[0].clone();
        version.version_number = number;
        version.version_description = Some("eniplan apps 0123456789ab".into());
        template.versions.push(version);
    }
    inventory.node_groups[0].launch_template.as_mut().unwrap().version = Some("4".into());
    let to = |former: &[i64]| {
        let former: BTreeMap<String, Vec<i64>> = [(group.clone(), former.to_vec())].into();
        let changes = rollback(&inventory, &former, Some(&group)).unwrap().changes;
        match changes.as_slice() {
            [Change::UpdateNodeGroup { to: VersionRef::Number(number), .. }] => *number,
            other => panic!("{other:#?}"),
        }
    };
    assert_eq!(to(&[3, 2]), 3);
    assert_eq!(to(&[]), 1);
    assert_eq!(rollback(&inventory, &BTreeMap::new(), Some("unknown")), Err("unknown".into()));
}

#[test]
fn old_versions_are_deleted_but_not_those_that_are_needed() {
    let mut inventory = inventory("two-sets");
    let used = inventory.node_groups[0].launch_template.as_ref().unwrap().id.clone().unwrap();
    let template = inventory.launch_templates.iter_mut().find(|template| template.launch_template_id == used).unwrap();
    for number in 2..=250 {
        let mut version = template.versions[0].clone();
        version.version_number = number;
        version.version_description = Some(format!("eniplan apps {number:012}")).filter(|_| number != 7);
        template.versions.push(version);
    }
    template.latest_version_number = 250;
    let options = DiffOptions { prune_versions: Some(3), former: Some(BTreeMap::new()), ..DiffOptions::default() };
    let changes = differences(&inventory, &config("two-sets"), &options).diff.changes;
    let deleted = changes.iter().find_map(|change| match change {
        Change::DeleteLaunchTemplateVersions { versions, .. } => Some(versions),
        _ => None,
    });
    let deleted: BTreeSet<i64> = deleted.unwrap().iter().copied().collect();
    // 1 is in use and the default, 7 is not ours, the three newest are kept.
    let kept: Vec<i64> = (1..=250).filter(|number| !deleted.contains(number)).collect();
    assert_eq!(kept, [1, 7, 248, 249, 250]);
}

#[test]
fn the_version_that_a_group_came_from_is_never_deleted() {
    let mut inventory = inventory("two-sets");
    let group = &mut inventory.node_groups[0];
    let (name, used) = (group.name.clone(), group.launch_template.as_mut().unwrap());
    used.version = Some("6".into());
    let id = used.id.clone().unwrap();
    let template = inventory.launch_templates.iter_mut().find(|template| template.launch_template_id == id).unwrap();
    for number in 2..=6 {
        let mut version = template.versions[0].clone();
        version.version_number = number;
        version.version_description = Some(format!("eniplan apps {number:012}"));
        template.versions.push(version);
    }
    template.latest_version_number = 6;
    let found = |keep: usize, former: Option<&[i64]>| {
        let options = DiffOptions {
            prune_versions: Some(keep),
            former: former.map(|versions| [(name.clone(), versions.to_vec())].into()),
            ..DiffOptions::default()
        };
        differences(&inventory, &config("two-sets"), &options).diff
    };
    let deleted = |keep: usize, former: Option<&[i64]>| {
        let changes = found(keep, former).changes.into_iter();
        changes
            .filter_map(|change| match change {
                Change::DeleteLaunchTemplateVersions { versions, .. } => Some(versions),
                _ => None,
            })
            .next()
            .unwrap_or_default()
    };
    // Whoever is moved by the same run comes from the version in use.
    let both =
        DiffOptions { prune_versions: Some(0), former: Some([(name.clone(), vec![2, 5, 2])].into()), ..rolled() };
    let changes = differences(&inventory, &config("two-sets"), &both).diff.changes;
    let with_the_move = changes.into_iter().find_map(|change| match change {
        Change::DeleteLaunchTemplateVersions { versions, .. } => Some(versions),
        _ => None,
    });
    assert_eq!(with_the_move.unwrap(), [2, 3, 4, 5]);
    // Rolled back from 5 to 2, and then to a new version: it came from 2.
    assert_eq!(deleted(0, Some(&[2, 5, 2])), [3, 4, 5]);
    assert_eq!(deleted(1, Some(&[2, 5, 2])), [3, 4]);
    // No update says which version the group was made with.
    assert_eq!(deleted(0, Some(&[])), Vec::<i64>::new());
    assert!(found(0, Some(&[])).awaiting.iter().any(|awaiting| awaiting.what.contains("versions older than 6 stay")));
    assert_eq!(deleted(0, None), Vec::<i64>::new());
    assert!(found(0, None).awaiting.iter().any(|awaiting| awaiting.what.contains("came from")));
}

#[test]
fn who_follows_an_alias_is_listed() {
    let mut inventory = inventory("two-sets");
    inventory.node_groups[0].launch_template.as_mut().unwrap().version = Some("$Latest".into());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("inventory.json"), inventory.to_json().unwrap()).unwrap();
    std::fs::write(folder.path().join("eniplan.yaml"), config("two-sets")).unwrap();
    let (_, text, _) = eniplan(folder.path(), &[&["diff", "--roll"], &INPUT[..]].concat());
    assert_eq!(text.matches("it is followed by node group apps ($Latest)").count(), 1, "{text}");
}

#[test]
fn nothing_is_pruned_that_a_gap_may_hide() {
    let mut inventory = inventory("hash");
    let mut spare = inventory.eni_configs[0].clone();
    spare.name = "spare".into();
    spare.labels.insert("app.kubernetes.io/managed-by".into(), "eniplan".into());
    inventory.eni_configs.push(spare);
    let options = DiffOptions { prune: true, ..DiffOptions::default() };
    let deletes = |inventory: &Inventory| {
        let changes = differences(inventory, &config("hash"), &options).diff.changes;
        changes.iter().any(|change| matches!(change, Change::DeleteEniConfig { name, .. } if name == "spare"))
    };
    assert!(deletes(&inventory));
    let mut labelled = inventory.clone();
    labelled.node_groups[0].labels.insert("k8s.amazonaws.com/eniConfig".into(), "spare".into());
    assert!(!deletes(&labelled));
    let gap: Value = serde_json::json!({"source": "nodes", "action": "list nodes", "message": "forbidden"});
    inventory.gaps.push(serde_json::from_value(gap).unwrap());
    assert!(!deletes(&inventory));
}
