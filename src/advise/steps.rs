//! What a mechanism needs: commands and manifests.

use std::collections::BTreeMap;

use super::needs::{DISCOVERY_TAG, Needs};
use super::{Mechanism, Step};
use crate::config::LabelDesign;
use crate::error::Error;
use crate::inventory::Inventory;
use crate::plan::{CniOwner, EniConfigPlan, LabelPlan, Plan};
use crate::render::{SourceFlags, node_class, render};
use crate::resolve::ZONE_LABEL;

pub(super) fn steps(
    mechanism: Mechanism,
    inventory: &Inventory,
    plan: &Plan,
    needs: &Needs<'_>,
    source: &SourceFlags,
) -> Result<Vec<Step>, Error> {
    match mechanism {
        Mechanism::SubnetDiscovery => discovery(inventory, plan, needs),
        Mechanism::ZoneNamedEniConfigs => zone_named(inventory, plan),
        Mechanism::StaticLabels => static_labels(inventory, plan),
        Mechanism::BootTimeMapping => Ok(boot_time(plan, source)),
        Mechanism::AutoMode => auto_mode(inventory, plan, needs),
    }
}

fn run(words: &[&str]) -> Step {
    Step::Run { command: words.iter().map(|word| (*word).to_owned()).collect(), only_if: None }
}

fn discovery(inventory: &Inventory, plan: &Plan, needs: &Needs<'_>) -> Result<Vec<Step>, Error> {
    let mut steps = Vec::new();
    let untagged: Vec<&str> = needs
        .pod_subnets
        .values()
        .filter(|subnet| subnet.tags.get(DISCOVERY_TAG).is_none_or(|value| value == "0"))
        .map(|subnet| subnet.subnet_id.as_str())
        .collect();
    if needs.pod_subnets.is_empty() {
        steps.push(tag_unused(inventory, needs));
    } else if !untagged.is_empty() {
        steps.push(tag(&untagged, "1", &inventory.region));
    }
    let open: Vec<&str> = needs
        .node_subnets
        .iter()
        .copied()
        .filter(|id| !needs.pod_subnets.contains_key(id))
        .filter(|id| inventory.subnet(id).is_some_and(|subnet| !subnet.tags.contains_key(DISCOVERY_TAG)))
        .collect();
    if !open.is_empty()
        && let Step::Run { command, .. } = tag(&open, "0", &inventory.region)
    {
        let only_if = "pods are to stay out of the node subnets, and the CNI is v1.22 or later".into();
        steps.push(Step::Run { command, only_if: Some(only_if) });
    }
    let env = [("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "false"), ("ENABLE_SUBNET_DISCOVERY", "true")];
    let now = inventory.cni_settings().unwrap_or_default();
    let in_force =
        !now.custom_networking() && now.flag_or("ENABLE_SUBNET_DISCOVERY", true) && inventory.aws_node.is_some();
    if !in_force {
        let mut wanted = plan.clone();
        wanted.eni_configs.clear();
        wanted.node_groups.clear();
        wanted.cni.env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        steps.extend(settings(inventory, &wanted)?);
    }
    Ok(steps)
}

fn tag(subnets: &[&str], value: &str, region: &str) -> Step {
    let tags = format!("Key={DISCOVERY_TAG},Value={value}");
    run(&[&["aws", "ec2", "create-tags", "--resources"], subnets, &["--tags", &tags, "--region", region]].concat())
}

/// Where nothing says which subnets pods may use: those that neither nodes nor the control plane are in.
fn tag_unused(inventory: &Inventory, needs: &Needs<'_>) -> Step {
    let is_used = |id: &str| needs.node_subnets.contains(id) || inventory.cluster.subnet_ids.iter().any(|of| of == id);
    let unused: Vec<&str> =
        inventory.subnets.iter().map(|subnet| subnet.subnet_id.as_str()).filter(|id| !is_used(id)).collect();
    match tag(&unused, "1", &inventory.region) {
        Step::Run { command, .. } if !unused.is_empty() => Step::Run {
            command,
            only_if: Some(
                "pods may use these, in which neither nodes nor the control plane are; leave out others".into(),
            ),
        },
        _ => Step::Other {
            what: format!(
                "make subnets for pods, then `aws ec2 create-tags --resources SUBNET… --tags Key={DISCOVERY_TAG},Value=1`"
            ),
        },
    }
}

/// The settings as a file for their owner, and the command that takes it.
fn settings(inventory: &Inventory, wanted: &Plan) -> Result<Vec<Step>, Error> {
    let rendered = render(wanted, inventory)?;
    let mut steps = Vec::new();
    for (file, text) in rendered.cni {
        let command = match wanted.cni.owner {
            CniOwner::AddOn => run(&[
                "aws",
                "eks",
                "update-addon",
                "--cluster-name",
                &wanted.cluster,
                "--addon-name",
                "vpc-cni",
                "--resolve-conflicts",
                "PRESERVE",
                "--configuration-values",
                &format!("file://{file}"),
                "--region",
                &wanted.region,
            ]),
            CniOwner::DaemonSet => {
                run(&["kubectl", "patch", "daemonset", "aws-node", "--namespace", "kube-system", "--patch-file", &file])
            }
            CniOwner::Helm => Step::Other { what: format!("upgrade the Helm release of the VPC CNI with {file}") },
            CniOwner::Absent => {
                let input = format!("file://{file}");
                run(&["aws", "eks", "create-addon", "--cli-input-json", &input, "--region", &wanted.region])
            }
        };
        steps.push(Step::Write { file, text });
        steps.push(command);
    }
    Ok(steps)
}

/// The ENIConfigs as files, and the command that applies them.
fn eni_configs(inventory: &Inventory, wanted: &Plan) -> Result<Vec<Step>, Error> {
    let only_manifests = Plan { node_groups: Vec::new(), ..wanted.clone() };
    let manifests = render(&only_manifests, inventory)?.eni_configs;
    if manifests.is_empty() || wanted.cni.owner == CniOwner::Absent {
        return Ok(Vec::new());
    }
    let file = "eniconfigs.yaml".to_owned();
    let text = manifests.into_values().collect::<Vec<_>>().join("---\n");
    let apply = run(&["kubectl", "apply", "--server-side", "--field-manager", "eniplan", "-f", &file]);
    Ok(vec![Step::Write { file, text }, apply])
}

fn zone_named(inventory: &Inventory, plan: &Plan) -> Result<Vec<Step>, Error> {
    let mut by_zone: BTreeMap<&str, &EniConfigPlan> = BTreeMap::new();
    for row in plan.node_groups.iter().flat_map(|group| &group.assignments) {
        let named = row.candidates.first().map(|candidate| candidate.eni_config.as_str());
        let eni_config = plan.eni_configs.iter().find(|eni_config| Some(eni_config.name.as_str()) == named);
        if let Some(eni_config) = eni_config {
            by_zone.insert(&row.availability_zone, eni_config);
        }
    }
    let mut wanted = Plan { node_groups: Vec::new(), ..plan.clone() };
    wanted.label =
        LabelPlan { design: LabelDesign::Zone, label_def: ZONE_LABEL.into(), node_label_key: ZONE_LABEL.into() };
    wanted.cni.env.insert("ENI_CONFIG_LABEL_DEF".into(), ZONE_LABEL.into());
    wanted.eni_configs = by_zone
        .into_iter()
        .map(|(zone, eni_config)| EniConfigPlan { name: zone.into(), ..eni_config.clone() })
        .collect();
    Ok([eni_configs(inventory, &wanted)?, settings(inventory, &wanted)?].concat())
}

fn name_pod_subnets() -> Step {
    Step::Other {
        what: "name the pod subnets in eniplan.yaml (`eniplan init` writes a first one), and ask again".into(),
    }
}

fn static_labels(inventory: &Inventory, plan: &Plan) -> Result<Vec<Step>, Error> {
    if plan.eni_configs.is_empty() {
        return Ok(vec![name_pod_subnets()]);
    }
    let mut wanted = plan.clone();
    wanted.node_groups.clear();
    let mut steps = eni_configs(inventory, &wanted)?;
    if !plan.node_groups.is_empty() && plan.node_groups.iter().all(|group| group.label_key.is_none()) {
        steps.push(Step::Other {
            what: "no node group needs a label: the zone label, which every node has, names its ENIConfig already"
                .into(),
        });
    }
    for group in plan.node_groups.iter().filter(|group| group.exists) {
        let candidate = group.assignments.first().and_then(|row| row.candidates.first());
        let (Some(key), Some(candidate)) = (&group.label_key, candidate) else { continue };
        steps.push(run(&[
            "aws",
            "eks",
            "update-nodegroup-config",
            "--cluster-name",
            &plan.cluster,
            "--nodegroup-name",
            &group.name,
            "--labels",
            &format!("addOrUpdateLabels={{{key}={}}}", candidate.eni_config),
            "--region",
            &plan.region,
        ]));
    }
    steps.extend(settings(inventory, &wanted)?);
    Ok(steps)
}

fn boot_time(plan: &Plan, source: &SourceFlags) -> Vec<Step> {
    let run = |command| Step::Run { command, only_if: None };
    vec![
        run(source.again(&["diff"], &plan.cluster)),
        run(source.on_cluster(&["apply"], &plan.cluster)),
        Step::Run {
            command: source.on_cluster(&["apply", "--roll"], &plan.cluster),
            only_if: Some("nodes are to be replaced now, one group at a time".into()),
        },
        Step::Other {
            what: "or, without `apply`: `eniplan generate` writes the files and says in which order they go".into(),
        },
    ]
}

fn auto_mode(inventory: &Inventory, plan: &Plan, needs: &Needs<'_>) -> Result<Vec<Step>, Error> {
    let mut by_pool: BTreeMap<&str, Vec<&EniConfigPlan>> = BTreeMap::new();
    for eni_config in &plan.eni_configs {
        for pool in &eni_config.pools {
            by_pool.entry(pool).or_default().push(eni_config);
        }
    }
    let node_subnets: Vec<&str> = if needs.node_subnets.is_empty() {
        inventory.cluster.subnet_ids.iter().map(String::as_str).collect()
    } else {
        needs.node_subnets.iter().copied().collect()
    };
    if by_pool.is_empty() {
        return Ok(vec![name_pod_subnets()]);
    }
    let mut steps = Vec::new();
    for (pool, eni_configs) in by_pool {
        let file = format!("node-class-{pool}.yaml");
        steps.push(Step::Write { file: file.clone(), text: node_class(inventory, pool, &node_subnets, &eni_configs)? });
        steps.push(run(&["kubectl", "apply", "-f", &file]));
    }
    steps.push(Step::Other {
        what:
            "name the NodeClass in the `nodeClassRef` of a NodePool, and give its node role an access entry of type EC2"
                .into(),
    });
    Ok(steps)
}
