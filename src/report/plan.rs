//! The plan for people.

use super::style::{BOLD, DIM, styled};
use super::table::table;
use crate::plan::{Assignment, Bootstrap, Candidate, CniOwner, EniConfigPlan, LaunchTemplatePlan, NodeGroupPlan, Plan};

/// The plan as text; `verbose` adds the reasons. `unread`: the ENIConfigs of the cluster could not be read.
pub fn text(plan: &Plan, unread: bool, verbose: bool) -> String {
    let mut text = format!("{} {} in {}\n", styled(BOLD, "Cluster"), plan.cluster, plan.region);
    text.push_str(&format!(
        "  label design  {}: ENI_CONFIG_LABEL_DEF={}, planned nodes carry {}\n",
        plan.label.design.word(),
        plan.label.label_def,
        plan.label.node_label_key
    ));
    text.push_str(&cni(plan));
    text.push_str(&eni_configs(&plan.eni_configs, unread));
    for group in &plan.node_groups {
        text.push_str(&node_group(group));
    }
    if verbose {
        text.push_str(&format!("\n{}\n", styled(BOLD, "Decisions")));
        for decision in &plan.decisions {
            text.push_str(&format!("  {}: {}, because {}\n", decision.subject, decision.choice, decision.because));
        }
    }
    text
}

fn cni(plan: &Plan) -> String {
    let owner = match plan.cni.owner {
        CniOwner::AddOn => "the EKS add-on",
        CniOwner::DaemonSet => "the DaemonSet",
        CniOwner::Helm => "a Helm release",
        CniOwner::Absent => "nobody yet: there is no aws-node",
    };
    let mut text = format!("  CNI settings  held by {owner}\n");
    for (name, value) in &plan.cni.env {
        let change = match plan.cni.changes.get(name) {
            None => "as it is".to_owned(),
            Some(None) => "now unset".to_owned(),
            Some(Some(now)) => format!("now {now}"),
        };
        text.push_str(&format!("                {name}={value} ({change})\n"));
    }
    text
}

fn eni_configs(eni_configs: &[EniConfigPlan], unread: bool) -> String {
    if eni_configs.is_empty() {
        return String::new();
    }
    let row = |eni_config: &EniConfigPlan| {
        let groups = if eni_config.security_groups.is_empty() {
            "those of the node".into()
        } else {
            eni_config.security_groups.join(" ")
        };
        vec![
            eni_config.name.clone(),
            eni_config.subnet_id.clone(),
            eni_config.cidr.to_string(),
            format!("{} ({})", eni_config.availability_zone, eni_config.availability_zone_id),
            groups,
            match (eni_config.exists, unread) {
                (true, _) => "in the cluster".into(),
                (false, true) => "not read".into(),
                (false, false) => "new".into(),
            },
        ]
    };
    let heads = ["ENIConfig", "pod subnet", "CIDR", "zone", "security groups", ""];
    format!("\n{}", table(&heads, eni_configs.iter().map(row).collect()))
}

fn node_group(group: &NodeGroupPlan) -> String {
    let mut text = format!("\n{} {}", styled(BOLD, "Node group"), group.name);
    text.push_str(&styled(DIM, &format!("  {}", facts(group).join(", "))));
    text.push('\n');
    let rows = group.assignments.iter().map(row).collect();
    text.push_str(&table(&["node subnet", "CIDR", "zone", "ENIConfig"], rows));
    text
}

fn facts(group: &NodeGroupPlan) -> Vec<String> {
    let mut facts = vec![group.family.word().to_owned()];
    facts.push(match (group.managed, group.exists) {
        (false, _) => "self-managed".into(),
        (true, true) => "managed".into(),
        (true, false) => "new".into(),
    });
    facts.push(match group.bootstrap {
        Bootstrap::Eks => "EKS completes the user data".into(),
        Bootstrap::UserData(_) => "our user data joins the node".into(),
    });
    facts.push(match &group.launch_template {
        None => "no launch template needed".into(),
        Some(LaunchTemplatePlan::Create { name, .. }) => format!("new launch template {name}"),
        Some(LaunchTemplatePlan::NewVersion { name, source_version, .. }) => {
            format!("new version of {name} from {source_version}")
        }
    });
    facts.push(match (group.max_pods.written, group.max_pods.formula) {
        (Some(written), _) => format!("max pods {written}"),
        (None, Some(formula)) => format!("max pods left to EKS, {formula} expected"),
        (None, None) => "max pods left to EKS".into(),
    });
    facts
}

fn row(row: &Assignment) -> Vec<String> {
    let total = row.candidates.last().map_or(0, |candidate| candidate.bound).max(1);
    let share = |candidate: &Candidate| {
        let percent = (candidate.weight * 200 / total).div_ceil(2);
        format!("{} ({}/{total}, {percent} %)", candidate.eni_config, candidate.weight)
    };
    let candidates = match row.candidates.as_slice() {
        [only] => only.eni_config.clone(),
        several => several.iter().map(share).collect::<Vec<_>>().join("\n"),
    };
    vec![
        row.subnet_id.clone(),
        row.cidr.to_string(),
        format!("{} ({})", row.availability_zone, row.availability_zone_id),
        candidates,
    ]
}
