//! What `generate` has written, and what to do next.

use std::path::PathBuf;

use serde::Serialize;

use super::findings::count;
use super::style::{BOLD, of, styled};
use crate::error::Error;
use crate::finding::{Finding, Severity};
use crate::plan::{LaunchTemplatePlan, Plan};
use crate::render::shell_line;

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
///
/// # Errors
/// As [`shell_line`].
pub fn text(written: &Written, plan: &Plan, quiet: bool) -> Result<String, Error> {
    let folder = written.folder.display();
    let mut text = format!("{} {} files in {folder}/\n", styled(BOLD, "wrote"), written.files.len());
    for file in &written.files {
        text.push_str(&format!("  {folder}/{file}\n"));
    }
    for file in &written.removed {
        text.push_str(&format!("  removed {folder}/{file}, which the plan no longer has\n"));
    }
    if !quiet {
        text.push_str(&next_steps(&folder.to_string(), plan, &written.files)?);
    }
    Ok(text)
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
fn next_steps(folder: &str, plan: &Plan, files: &[String]) -> Result<String, Error> {
    let mut steps = Vec::new();
    let has = |file: &str| files.iter().any(|other| other == file);
    if files.iter().any(|file| file.starts_with("eniconfigs/")) && !has("cni/create-addon.json") {
        let manifests = format!("{folder}/eniconfigs/");
        steps.push(line(&["kubectl", "apply", "--server-side", "--field-manager", "eniplan", "-f", &manifests])?);
    }
    let region = ["--region", plan.region.as_str()];
    for group in &plan.node_groups {
        let verb = match &group.launch_template {
            Some(LaunchTemplatePlan::Create { .. }) => "create-launch-template",
            Some(LaunchTemplatePlan::NewVersion { .. }) => "create-launch-template-version",
            None => continue,
        };
        let file = format!("file://{folder}/node-groups/{}/launch-template-data.json", group.name);
        steps.push(line(&[["aws", "ec2", verb, "--cli-input-json", &file].as_slice(), &region].concat())?);
    }
    for file in files.iter().filter(|file| file.starts_with("cni/")) {
        steps.extend(settings_steps(folder, plan, file)?);
    }
    for group in plan.node_groups.iter().filter(|group| group.managed) {
        steps.extend(match (&group.create, &group.launch_template) {
            (Some(_), _) => {
                let file = format!("file://{folder}/node-groups/{}/create-nodegroup.json", group.name);
                Some(line(
                    &[["aws", "eks", "create-nodegroup", "--cli-input-json", &file].as_slice(), &region].concat(),
                )?)
            }
            (None, Some(LaunchTemplatePlan::NewVersion { id, .. })) => {
                let version = format!("id={id},version=NEW");
                let cluster = ["aws", "eks", "update-nodegroup-version", "--cluster-name", &plan.cluster];
                let group = ["--nodegroup-name", &group.name, "--launch-template", &version];
                Some(line(&[cluster.as_slice(), &group, &region].concat())?)
            }
            _ => None,
        });
    }
    for group in plan.node_groups.iter().filter(|group| !group.managed && group.launch_template.is_some()) {
        steps.push(format!(
            "point the Auto Scaling group of {} to the new launch-template version, and replace its instances",
            group.name
        ));
    }
    steps.extend(karpenter_steps(folder, files));
    if steps.is_empty() {
        return Ok(String::new());
    }
    let numbered: String = steps.iter().enumerate().map(|(index, step)| format!("  {}. {step}\n", index + 1)).collect();
    Ok(format!("\nNext, in this order:\n{numbered}"))
}

/// What becomes of the files for Karpenter. User data and NodePools are two ways to one end.
fn karpenter_steps(folder: &str, files: &[String]) -> Vec<String> {
    let any = |part: &str| files.iter().any(|file| file.starts_with("karpenter/") && file.contains(part));
    let mut steps = Vec::new();
    if any("helm-values.yaml") {
        steps.push(format!(
            "merge {folder}/karpenter/helm-values.yaml into the values of the Karpenter release, and upgrade it"
        ));
    }
    let user_data = format!(
        "put {folder}/karpenter/POOL/ec2nodeclass-user-data.mime into `spec.userData` of the EC2NodeClass of that pool"
    );
    let node_pools = format!("make NodePools like those of {folder}/karpenter/nodepools/, one for each ENIConfig");
    match (any("ec2nodeclass-user-data.mime"), any("/nodepools/")) {
        (true, true) => steps.push(format!("either {user_data},\n     or {node_pools}; not both")),
        (true, false) => steps.push(user_data),
        (false, true) => steps.push(node_pools),
        (false, false) => {}
    }
    steps
}

/// What brings the settings of a file into force.
fn settings_steps(folder: &str, plan: &Plan, file: &str) -> Result<Vec<String>, Error> {
    let pending = !plan.cni.changes.is_empty();
    let path = format!("{folder}/{file}");
    let uri = format!("file://{path}");
    let region = ["--region", plan.region.as_str()];
    let add_on = ["--cluster-name", &plan.cluster, "--addon-name", "vpc-cni"];
    Ok(match file {
        "cni/create-addon.json" => {
            vec![line(&[["aws", "eks", "create-addon", "--cli-input-json", &uri].as_slice(), &region].concat())?]
        }
        "cni/addon-configuration-values.json" => {
            let values = ["--resolve-conflicts", "PRESERVE", "--configuration-values", &uri];
            let update = [["aws", "eks", "update-addon"].as_slice(), &add_on, &values, &region].concat();
            let wait = [["aws", "eks", "wait", "addon-active"].as_slice(), &add_on, &region].concat();
            if pending { vec![line(&update)?, line(&wait)?] } else { Vec::new() }
        }
        "cni/daemonset-patch.yaml" if pending => {
            vec![line(&[
                "kubectl",
                "patch",
                "daemonset",
                "aws-node",
                "--namespace",
                "kube-system",
                "--patch-file",
                &path,
            ])?]
        }
        "cni/helm-values.yaml" if pending => {
            vec![format!("helm upgrade aws-vpc-cni … {}", line(&["--reuse-values", "--values", &path])?)]
        }
        _ => Vec::new(),
    })
}

fn line(words: &[&str]) -> Result<String, Error> {
    shell_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
}
