//! What `generate` has written, and what to do next.

use std::path::PathBuf;

use serde::Serialize;

use super::findings::count;
use super::style::{BOLD, of, styled};
use crate::finding::{Finding, Severity};
use crate::plan::{LaunchTemplatePlan, Plan};

/// What became of the output folder.
#[derive(Debug, Serialize)]
pub struct Written {
    /// The folder as the user named it.
    pub folder: PathBuf,
    /// Paths of all files of the plan, `plan.json` last.
    pub files: Vec<String>,
    /// Files of an earlier plan that were removed.
    pub removed: Vec<String>,
    /// Files of an earlier plan that somebody has edited, left where they are.
    pub kept: Vec<String>,
    /// Files of this plan that somebody had edited: where the edited text is now.
    pub moved_aside: Vec<String>,
}

/// The files and the next steps.
pub fn text(written: &Written, plan: &Plan, quiet: bool) -> String {
    let folder = written.folder.display();
    let mut text = format!("{} {} files in {folder}/\n", styled(BOLD, "wrote"), written.files.len());
    for file in &written.files {
        text.push_str(&format!("  {folder}/{file}\n"));
    }
    for file in &written.removed {
        text.push_str(&format!("  removed {folder}/{file}, which the plan no longer has\n"));
    }
    if !quiet {
        text.push_str(&next_steps(&folder.to_string(), plan, &written.files));
    }
    text
}

/// Files of the user's that did not get in the way.
pub fn warnings(written: &Written) -> String {
    let folder = written.folder.display();
    let head = styled(of(Severity::Warning), "warning:");
    let mut text = String::new();
    for file in &written.kept {
        text.push_str(&format!("{head} {folder}/{file} is no longer in the plan, but was edited; it stays\n"));
    }
    for file in &written.moved_aside {
        text.push_str(&format!("{head} your edited file is now {folder}/{file}\n"));
    }
    text
}

/// Why nothing was written.
pub fn nothing_written(findings: &[Finding]) -> String {
    format!("{} nothing was written: {}\n", styled(of(Severity::Error), "error:"), count(findings))
}

/// The steps in the order that keeps every node served: ENIConfigs, templates, settings, node groups.
fn next_steps(folder: &str, plan: &Plan, files: &[String]) -> String {
    let mut steps = Vec::new();
    if files.iter().any(|file| file.starts_with("eniconfigs/"))
        && !files.iter().any(|file| file == "cni/create-addon.json")
    {
        steps.push(format!("kubectl apply --server-side --field-manager eniplan -f {folder}/eniconfigs/"));
    }
    for group in &plan.node_groups {
        let file = format!("file://{folder}/node-groups/{}/launch-template-data.json", group.name);
        match &group.launch_template {
            Some(LaunchTemplatePlan::Create { .. }) => {
                steps.push(format!("aws ec2 create-launch-template --cli-input-json {file}"))
            }
            Some(LaunchTemplatePlan::NewVersion { .. }) => {
                steps.push(format!("aws ec2 create-launch-template-version --cli-input-json {file}"));
            }
            None => {}
        }
    }
    let cluster = &plan.cluster;
    for file in files.iter().filter(|file| file.starts_with("cni/")) {
        let pending = !plan.cni.changes.is_empty();
        let step = match file.as_str() {
            "cni/create-addon.json" => format!("aws eks create-addon --cli-input-json file://{folder}/{file}"),
            "cni/addon-configuration-values.json" if pending => format!(
                "aws eks update-addon --cluster-name {cluster} --addon-name vpc-cni --resolve-conflicts PRESERVE --configuration-values file://{folder}/{file}"
            ),
            "cni/daemonset-patch.yaml" if pending => {
                format!("kubectl patch daemonset aws-node --namespace kube-system --patch-file {folder}/{file}")
            }
            "cni/helm-values.yaml" if pending => {
                format!("helm upgrade aws-vpc-cni … --reuse-values --values {folder}/{file}")
            }
            _ => continue,
        };
        steps.push(step);
        if file == "cni/addon-configuration-values.json" {
            steps.push(format!("aws eks wait addon-active --cluster-name {cluster} --addon-name vpc-cni"));
        }
    }
    for group in plan.node_groups.iter().filter(|group| group.managed) {
        match (&group.create, &group.launch_template) {
            (Some(_), _) => steps.push(format!(
                "aws eks create-nodegroup --cli-input-json file://{folder}/node-groups/{}/create-nodegroup.json",
                group.name
            )),
            (None, Some(LaunchTemplatePlan::NewVersion { id, .. })) => steps.push(format!(
                "aws eks update-nodegroup-version --cluster-name {cluster} --nodegroup-name {} --launch-template id={id},version=NEW",
                group.name
            )),
            _ => {}
        }
    }
    for group in plan.node_groups.iter().filter(|group| !group.managed && group.launch_template.is_some()) {
        steps.push(format!(
            "point the Auto Scaling group of {} to the new launch-template version, and replace its instances",
            group.name
        ));
    }
    if steps.is_empty() {
        return String::new();
    }
    let numbered: String = steps.iter().enumerate().map(|(index, step)| format!("  {}. {step}\n", index + 1)).collect();
    format!("\nNext, in this order:\n{numbered}")
}
