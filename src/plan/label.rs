//! The label design: which key names a node's ENIConfig, and which nodes must carry it.

use super::notes::{Notes, list};
use super::{Assignment, LabelPlan};
use crate::config::{Config, LabelDesign};
use crate::finding::Subject;
use crate::inventory::{CniSettings, DEFAULT_ENI_CONFIG_KEY, GapSource, Inventory};
use crate::resolve::behaviours::LOOKS_AT_EXTERNAL_LABEL;
use crate::resolve::{EXTERNAL_ENI_CONFIG_LABEL, ZONE_LABEL, is_zone_label};

/// Whether every row of a group's table names the ENIConfig called like the row's zone, and nothing else.
pub(super) fn stays_on_its_zone(assignments: &[Assignment]) -> bool {
    assignments.iter().all(|row| match row.candidates.as_slice() {
        [only] => only.eni_config == row.availability_zone,
        _ => false,
    })
}

/// Chooses the design. `groups` are names with their tables.
pub(super) fn label(
    inventory: &Inventory,
    config: &Config,
    settings: Option<&CniSettings>,
    groups: &[(&str, &[Assignment])],
    notes: &mut Notes,
) -> LabelPlan {
    let subject = || Subject::Cluster(inventory.cluster.name.clone());
    let differing: Vec<&str> =
        groups.iter().filter(|(_, assignments)| !stays_on_its_zone(assignments)).map(|(name, _)| *name).collect();
    let plan = match &config.label {
        Some(wanted) => {
            notes.decision(subject(), format!("label design `{}`", wanted.design.word()), "eniplan.yaml asks for it");
            of_design(wanted.design, wanted.key.as_deref(), settings)
        }
        None => chosen(inventory, settings, &differing, notes),
    };
    if plan.design == LabelDesign::Zone && !differing.is_empty() {
        notes.problem(
            "zone-design-too-small",
            subject(),
            format!(
                "label design `zone` gives a node only the ENIConfig named by its zone, but {} needs another one",
                list(&differing)
            ),
            "use `label: {design: override}`, or draw these groups from the pool with `names: zone`",
        );
    }
    if plan.design == LabelDesign::Override
        && let Some(version) = settings.and_then(|settings| settings.version)
        && !LOOKS_AT_EXTERNAL_LABEL.of(version)
    {
        notes.problem(
            "cni-too-old-for-override",
            Subject::Cni("aws-node".into()),
            format!("label design `override` rests on the label {EXTERNAL_ENI_CONFIG_LABEL}, which the CNI knows since {}; this is {version}", LOOKS_AT_EXTERNAL_LABEL.first()),
            "update the VPC CNI, or use `label: {design: own}`",
        );
    }
    plan
}

fn chosen(inventory: &Inventory, settings: Option<&CniSettings>, differing: &[&str], notes: &mut Notes) -> LabelPlan {
    let subject = || Subject::Cluster(inventory.cluster.name.clone());
    let zone_or_override = || if differing.is_empty() { LabelDesign::Zone } else { LabelDesign::Override };
    if settings.is_none()
        && let Some(gap) = inventory.gaps_in(GapSource::AwsNode).next()
    {
        notes.problem(
            "label-undecidable",
            Subject::Cni("aws-node".into()),
            format!(
                "the label key cannot be told: `{}` did not succeed ({}), and there is no vpc-cni add-on to tell it",
                gap.action, gap.message
            ),
            format!("{}, or set spec.label", gap.remedy()),
        );
        return of_design(LabelDesign::Own, None, None);
    }
    let (design, because) = match settings {
        Some(settings) if settings.custom_networking() && is_zone_label(settings.label_key()) => (
            zone_or_override(),
            format!(
                "custom networking is on and ENI_CONFIG_LABEL_DEF is {}; nodes of other groups stay as they are",
                settings.label_key()
            ),
        ),
        Some(settings) if settings.custom_networking() => {
            (LabelDesign::Own, format!("custom networking is on and its label key is {}", settings.label_key()))
        }
        _ if inventory.nodes.iter().any(|node| node.runs_aws_node()) => (
            zone_or_override(),
            "custom networking is off and the cluster has nodes, which will find the ENIConfig named by their zone"
                .to_owned(),
        ),
        _ => (
            LabelDesign::Own,
            "the cluster has no nodes yet, so that every node can carry the label from its first second".to_owned(),
        ),
    };
    notes.decision(subject(), format!("label design `{}`", design.word()), because);
    of_design(design, None, settings)
}

fn of_design(design: LabelDesign, key: Option<&str>, settings: Option<&CniSettings>) -> LabelPlan {
    let now = settings.filter(|settings| settings.custom_networking()).map(CniSettings::label_key);
    let zone_label = now.filter(|key| is_zone_label(key)).unwrap_or(ZONE_LABEL).to_owned();
    match design {
        LabelDesign::Own => {
            let key =
                key.or_else(|| now.filter(|key| !is_zone_label(key))).unwrap_or(DEFAULT_ENI_CONFIG_KEY).to_owned();
            LabelPlan { design, label_def: key.clone(), node_label_key: key }
        }
        LabelDesign::Override => {
            LabelPlan { design, label_def: zone_label, node_label_key: EXTERNAL_ENI_CONFIG_LABEL.into() }
        }
        LabelDesign::Zone => LabelPlan { design, label_def: zone_label.clone(), node_label_key: zone_label },
    }
}
