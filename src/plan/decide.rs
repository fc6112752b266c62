//! The plan, read from top to bottom: groups, pools, tables, label design, CNI settings, then each group's user data.

use super::group_facts::{GroupFacts, gather};
use super::notes::{Notes, list};
use super::pools::{EniConfigs, eni_configs};
use super::{
    Assignment, Bootstrap, CreateNodeGroup, DropIn, LabelPlan, NodeGroupPlan, Plan, SCHEMA_VERSION, assignments,
    bootstrap, cni, label, launch_template_plan, max_pods_plan,
};
use crate::config::{AmiFamily, Config, LabelDesign};
use crate::finding::Problem;
use crate::inventory::{AmiRelease, CniSettings, Inventory};
use crate::user_data;

/// First AL2023 release whose nodeadm reads `/etc/eks/nodeadm.d/`. Source: amazon-eks-ami CHANGELOG, v20251023.
const FIRST_RELEASE_WITH_DROP_IN_FOLDER: AmiRelease = AmiRelease(20_251_023);

/// Last Kubernetes minor with an AL2 AMI. Source: amazon-eks-ami CHANGELOG (v20251209); EKS user guide, 1.33 notes.
const LAST_KUBERNETES_MINOR_WITH_AL2: u32 = 32;

/// A plan with the problems met on the way. The plan holds what could be decided.
#[derive(Debug)]
pub struct Planned {
    /// What was decided.
    pub plan: Plan,
    /// What stood in the way.
    pub problems: Vec<Problem>,
}

/// Plans one cluster.
pub fn plan(inventory: &Inventory, config: &Config) -> Planned {
    let mut notes = Notes::default();
    let settings = inventory.cni_settings();
    let groups = gather(inventory, config, &mut notes);
    let mut eni_configs = eni_configs(inventory, config, &mut notes);

    // Weights need the settings that the plan leads to, and the label design needs the tables; prefix delegation and the
    // like do not depend on the design, so the settings are completed in two steps.
    let wanted = wanted_settings(settings.as_ref(), config);
    let tables: Vec<Vec<Assignment>> = groups
        .iter()
        .map(|group| assignments::assignments(inventory, group, &wanted, &mut eni_configs, &mut notes))
        .collect();
    let named_tables: Vec<(&str, &[Assignment])> =
        groups.iter().zip(&tables).map(|(group, table)| (group.name, table.as_slice())).collect();
    let label = label::label(inventory, config, settings.as_ref(), &named_tables, &mut notes);
    let cni = cni::cni(inventory, config, settings.as_ref(), &label, &mut notes);
    let after = cni::settings_after(settings.as_ref(), &cni);

    let node_groups = groups
        .iter()
        .zip(tables)
        .filter_map(|(group, table)| node_group(inventory, group, table, &label, &after, &mut notes))
        .collect();
    let plan = Plan {
        schema_version: SCHEMA_VERSION,
        cluster: inventory.cluster.name.clone(),
        region: inventory.region.clone(),
        label,
        cni,
        eni_configs: in_order(eni_configs),
        node_groups,
        decisions: notes.decisions,
    };
    Planned { plan, problems: notes.problems }
}

fn wanted_settings(settings: Option<&CniSettings>, config: &Config) -> CniSettings {
    let mut wanted = settings.cloned().unwrap_or_default();
    wanted.env.extend(config.cni_env.clone());
    wanted
}

fn in_order(eni_configs: EniConfigs) -> Vec<super::EniConfigPlan> {
    eni_configs.by_name.into_values().collect()
}

fn node_group(
    inventory: &Inventory,
    group: &GroupFacts<'_>,
    table: Vec<Assignment>,
    label: &LabelPlan,
    settings: &CniSettings,
    notes: &mut Notes,
) -> Option<NodeGroupPlan> {
    let bootstrap = bootstrap::bootstrap(inventory, group, notes)?;
    let label_key = label_key(label, group, &table, notes);
    match group.family {
        AmiFamily::Al2 => al2(inventory, group, notes),
        AmiFamily::Bottlerocket if label_key.is_some() => bottlerocket(group, &table, notes),
        _ => {}
    }
    let max_pods = max_pods_plan::max_pods(inventory, group, &bootstrap, settings, notes);
    let labels = bootstrap::labels(group, &bootstrap, notes);
    let taints = if matches!(bootstrap, Bootstrap::Eks) { Vec::new() } else { group.taints.clone() };
    let needs_user_data = label_key.is_some()
        || max_pods.written.is_some()
        || matches!(bootstrap, Bootstrap::UserData(_))
        || has_part_of_ours(group);
    let successor = group.config.successor.as_deref();
    let can_take_a_template = group.known.is_none() || group.template.is_some();
    // While the label key cannot be told, whether the group needs user data is not known either.
    let is_certain = !notes.problems.iter().any(|problem| problem.rule == "label-undecidable");
    if needs_user_data && !can_take_a_template && is_certain {
        needs_new_group(group, &inventory.cluster.name, notes);
    }
    let replaces = (needs_user_data && !can_take_a_template && successor.is_some()).then(|| group.name.to_owned());
    let name = replaces.as_ref().and(successor).unwrap_or(group.name);
    if group.managed && group.known.is_none() && group.template.is_none() && group.config.described.node_role.is_none()
    {
        notes.decision(
            group.subject(),
            "the node role is left open",
            "eniplan.yaml names no nodeRole; create-nodegroup needs one",
        );
    }
    let launch_template = if needs_user_data && (can_take_a_template || replaces.is_some()) {
        let named = GroupFacts { name, ..group.clone() };
        launch_template_plan::launch_template(&inventory.cluster.name, &named, notes)
    } else {
        None
    };
    let is_new = group.managed && (group.known.is_none() || replaces.is_some());
    Some(NodeGroupPlan {
        name: name.into(),
        managed: group.managed,
        exists: group.known.is_some() && replaces.is_none(),
        family: group.family,
        bootstrap,
        drop_in: drop_in(inventory, group, needs_user_data, notes),
        label_key,
        strategy: group.config.strategy,
        on_no_match: group.config.on_no_match,
        assignments: table,
        max_pods,
        labels,
        taints,
        launch_template,
        create: is_new.then(|| create(inventory, group, replaces)),
    })
}

/// Whether the version in use carries a part of ours, which must go when the group no longer needs it.
fn has_part_of_ours(group: &GroupFacts<'_>) -> bool {
    let bytes = group.template.and_then(|in_use| in_use.version.launch_template_data.user_data.as_ref());
    let Some(Ok(document)) = bytes.map(|bytes| user_data::read(&bytes.0)) else { return false };
    document.parts.iter().any(user_data::is_ours)
}

fn label_key(label: &LabelPlan, group: &GroupFacts<'_>, table: &[Assignment], notes: &mut Notes) -> Option<String> {
    match label.design {
        LabelDesign::Own => {}
        LabelDesign::Zone => return None,
        LabelDesign::Override if label::stays_on_its_zone(table) => {
            notes.decision(group.subject(), "no label", "its nodes use the ENIConfig named by their zone");
            return None;
        }
        LabelDesign::Override => {}
    }
    if !bootstrap::kubelet_may_set(&label.node_label_key) {
        notes.problem(
            "label-key-forbidden",
            group.subject(),
            format!("kubelet may not set the label {} on its own node, and would not start", label.node_label_key),
            "set `spec.label: {design: own, key: …}` to a key outside kubernetes.io and k8s.io",
        );
    }
    if let Some(value) = group.labels.get(&label.node_label_key) {
        notes.problem(
            "label-set-on-group",
            group.subject(),
            format!(
                "its own labels say {}={value}, the same for all its nodes; the node's label would have two sources",
                label.node_label_key
            ),
            "remove the label from the node group (`aws eks update-nodegroup-config --labels removeLabels=…`)",
        );
    }
    Some(label.node_label_key.clone())
}

fn al2(inventory: &Inventory, group: &GroupFacts<'_>, notes: &mut Notes) {
    let cluster = &inventory.cluster;
    if cluster.kubernetes_minor().is_some_and(|minor| minor > LAST_KUBERNETES_MINOR_WITH_AL2) {
        notes.problem(
            "al2-without-images",
            group.subject(),
            format!(
                "there is no AL2 image for Kubernetes {}; the last is 1.{LAST_KUBERNETES_MINOR_WITH_AL2}",
                cluster.version.as_deref().unwrap_or_default()
            ),
            "move the group to AL2023 or Bottlerocket",
        );
    }
    notes.problem(
        "al2-legacy",
        group.subject(),
        "its nodes run Amazon Linux 2: EKS published the last AL2 image in December 2025, AL2 itself ended on 2026-06-30, and \
         Kubernetes 1.32, the last with AL2, leaves extended support on 2027-03-23",
        "plan the move to AL2023 or Bottlerocket",
    );
}

/// Bottlerocket settings are fixed text: every node of the group gets the same label.
fn bottlerocket(group: &GroupFacts<'_>, table: &[Assignment], notes: &mut Notes) {
    let candidates = |row: &Assignment| list(row.candidates.iter().map(|candidate| candidate.eni_config.clone()));
    let mut targets: Vec<String> = table.iter().map(candidates).collect();
    targets.sort();
    targets.dedup();
    if targets.len() <= 1 && table.iter().all(|row| row.candidates.len() == 1) {
        return;
    }
    let split = table.iter().map(|row| format!("{} ({}) → {}", row.subnet_id, row.availability_zone, candidates(row)));
    notes.problem(
        "bottlerocket-needs-one-eniconfig",
        group.subject(),
        format!(
            "Bottlerocket settings are fixed text and name one ENIConfig, but the group needs several: {}",
            list(split)
        ),
        "make one node group for each of these node subnets, or keep the group on ENIConfigs named by zone",
    );
}

fn needs_new_group(group: &GroupFacts<'_>, cluster: &str, notes: &mut Notes) {
    match &group.config.successor {
        Some(successor) => notes.problem(
            "group-to-be-replaced",
            group.subject(),
            format!("it has no launch template of its own and can never take one; {successor} is planned in its place"),
            format!("when {successor} has nodes: `kubectl drain -l eks.amazonaws.com/nodegroup={0} --ignore-daemonsets --delete-emptydir-data`, then `aws eks delete-nodegroup --cluster-name {cluster} --nodegroup-name {0}`", group.name),
        ),
        None => notes.problem(
            "needs-new-group",
            group.subject(),
            "it was made without a launch template, and a managed node group can never take one later",
            "set `successor: NAME` on it: eniplan then plans a group of that name with the same disk, key, types, labels and taints",
        ),
    }
}

/// What the boot script holds that looks at boot where the label goes (`templates/al2023-boot.sh.hbs`).
const LOOKS_AT_BOOT: &str = "reads_folder=";

fn drop_in(inventory: &Inventory, group: &GroupFacts<'_>, needs_user_data: bool, notes: &mut Notes) -> DropIn {
    if group.family != AmiFamily::Al2023 || !needs_user_data {
        return DropIn::DecideAtBoot;
    }
    // A node must not be replaced only because its image turned out to be new enough.
    if group.ours_in_use_has(inventory, &[LOOKS_AT_BOOT]) {
        notes.decision(
            group.subject(),
            "the script looks at boot where the label goes",
            "the launch-template version in use does, and it works on every image",
        );
        return DropIn::DecideAtBoot;
    }
    match group.release {
        Some(release) if release >= FIRST_RELEASE_WITH_DROP_IN_FOLDER => {
            notes.decision(
                group.subject(),
                "the label goes into /etc/eks/nodeadm.d",
                format!("AMI release {release} reads it (since {FIRST_RELEASE_WITH_DROP_IN_FOLDER})"),
            );
            DropIn::NodeadmFolder
        }
        Some(release) => {
            notes.problem(
                "ami-release-old",
                group.subject(),
                format!("AMI release {release} is older than {FIRST_RELEASE_WITH_DROP_IN_FOLDER} and does not read /etc/eks/nodeadm.d; the script will use a systemd drop-in for kubelet"),
                "update the group to a newer AMI release",
            );
            DropIn::DecideAtBoot
        }
        None => {
            notes.decision(
                group.subject(),
                "the script looks at boot where the label goes",
                "the AMI release is not known",
            );
            DropIn::DecideAtBoot
        }
    }
}

fn create(inventory: &Inventory, group: &GroupFacts<'_>, replaces: Option<String>) -> CreateNodeGroup {
    let known = group.known;
    let described = &group.config.described;
    let scaling = known
        .and_then(|known| known.scaling_config)
        .map(|scaling| (scaling.min_size, scaling.max_size, scaling.desired_size))
        .or_else(|| described.scaling.map(|scaling| (scaling.min, scaling.max, scaling.desired)));
    CreateNodeGroup {
        subnets: group.subnets.iter().map(|subnet| subnet.subnet_id.clone()).collect(),
        instance_types: group.instance_types.clone(),
        ami_type: known.and_then(|known| known.ami_type.clone()).or_else(|| ami_type(inventory, group)),
        capacity_type: known.and_then(|known| known.capacity_type.clone()),
        node_role: known.and_then(|known| known.node_role.clone()).or_else(|| described.node_role.clone()),
        scaling,
        labels: group.labels.clone(),
        taints: group.taints.clone(),
        replaces,
    }
}

/// The standard image of the family for the types' architecture; `None` where the template names an image.
/// Source: EKS API reference, `CreateNodegroup`, `amiType`.
fn ami_type(inventory: &Inventory, group: &GroupFacts<'_>) -> Option<String> {
    if group.image_id.is_some() {
        return None;
    }
    let arm =
        group.instance_types.first().and_then(|name| inventory.instance_type(name)).is_some_and(|instance_type| {
            instance_type.supported_architectures.iter().any(|architecture| architecture == "arm64")
        });
    let ami_type = match (group.family, arm) {
        (AmiFamily::Al2023, false) => "AL2023_x86_64_STANDARD",
        (AmiFamily::Al2023, true) => "AL2023_ARM_64_STANDARD",
        (AmiFamily::Al2, false) => "AL2_x86_64",
        (AmiFamily::Al2, true) => "AL2_ARM_64",
        (AmiFamily::Bottlerocket, false) => "BOTTLEROCKET_x86_64",
        (AmiFamily::Bottlerocket, true) => "BOTTLEROCKET_ARM_64",
        (AmiFamily::Ubuntu | AmiFamily::Windows, _) => return None,
    };
    Some(ami_type.into())
}
