//! NodeConfigs as nodeadm takes them.

use base64::Engine as _;
use serde_json::Value;

use super::{Input, line_in, predict};
use crate::config::AmiFamily;
use crate::finding::Problem;
use crate::net::parse_ipv4_cidr;
use crate::user_data::node_config::{NodeConfig, NodeConfigError, is_node_config};
use crate::user_data::{Kind, Part, Place};

/// Fields that nodeadm knows. Source: amazon-eks-ami, `nodeadm/api/v1alpha1/nodeconfig_types.go`.
const SPEC: [&str; 5] = ["cluster", "containerd", "featureGates", "instance", "kubelet"];
const BELOW: [(&str, &[&str]); 4] = [
    ("cluster", &["apiServerEndpoint", "certificateAuthority", "cidr", "enableOutpost", "id", "name"]),
    ("containerd", &["baseRuntimeSpec", "config"]),
    ("instance", &["environment", "localStorage", "network"]),
    ("kubelet", &["config", "flags", "maxPodsExpression"]),
];

pub(super) fn look(input: &Input<'_>, problems: &mut Vec<Problem>) {
    if input.family != AmiFamily::Al2023 || matches!(input.document.kind, Kind::Toml | Kind::Unknown) {
        return;
    }
    let mut found = 0;
    let mut all_read = true;
    for (number, part, place) in input.parts().filter(|(_, part, _)| is_node_config(part)) {
        found += 1;
        match NodeConfig::of_part(part) {
            Ok(config) => one(input, number, part, place, &config, problems),
            Err(error) => {
                all_read = false;
                let line = match error {
                    NodeConfigError::NotYaml { line: Some(line), .. } => line_in(part, place, line),
                    _ => place.body,
                };
                problems.push(input.problem(
                    "node-config-malformed",
                    line,
                    format!("part {number} stops nodeadm: {error}"),
                    "make it a NodeConfig of apiVersion node.eks.aws/v1alpha1",
                ));
            }
        }
    }
    if input.eks_merges || !all_read {
        return;
    }
    if found == 0 {
        problems.push(input.problem(
            "node-config-missing",
            1,
            "it holds no NodeConfig, and with an image in the launch template EKS adds none: the node never joins",
            "add an application/node.eks.aws part with spec.cluster",
        ));
    } else if let Some(prediction) = predict(input.document).filter(|prediction| !prediction.missing.is_empty()) {
        problems.push(input.problem(
            "node-config-incomplete",
            1,
            format!(
                "no NodeConfig sets {} of spec.cluster: nodeadm stops, and the node never joins",
                prediction.missing.join(", ")
            ),
            "set name, apiServerEndpoint, certificateAuthority and cidr of spec.cluster",
        ));
    }
}

fn one(input: &Input<'_>, number: usize, part: &Part, place: Place, config: &NodeConfig, problems: &mut Vec<Problem>) {
    let content = part.content();
    let text = String::from_utf8_lossy(&content);
    let line_of = |needle: &str| {
        let line = text.lines().position(|line| line.contains(needle)).map_or(1, |index| index + 1);
        line_in(part, place, line)
    };
    for name in unknown_fields(config) {
        problems.push(input.problem(
            "node-config-field-unknown",
            line_of(name.rsplit('.').next().unwrap_or_default()),
            format!("part {number} sets {name}, which nodeadm does not know and silently ignores"),
            "check its spelling and its place",
        ));
    }
    for flag in config.flags() {
        if flag.contains(['"', '\'']) {
            problems.push(input.problem(
                "node-config-flag-quoted",
                line_of(flag.split(['"', '\'']).next().unwrap_or_default()),
                format!(
                    "part {number} has quotes inside the flag {flag}; kubelet gets them as they are and does not start"
                ),
                "take the inner quotes out",
            ));
        }
    }
    let fixed: Vec<&str> = config.flags().into_iter().chain(config.cluster("name")).collect();
    if let Some(expansion) =
        fixed.into_iter().find(|text| text.contains("$(") || text.contains("${") || text.contains('`'))
    {
        problems.push(input.problem(
            "node-config-not-expanded",
            line_of(expansion),
            format!("part {number} has {expansion}; nothing is expanded in a NodeConfig"),
            "compute the value in a script that writes a NodeConfig below /etc/eks/nodeadm.d",
        ));
    }
    if let Some(cidr) = config.cluster("cidr")
        && !cidr.contains(':')
        && parse_ipv4_cidr(cidr).is_err()
    {
        problems.push(input.problem(
            "service-cidr-invalid",
            line_of("cidr"),
            format!("part {number} sets spec.cluster.cidr to `{cidr}`, which is no network; nodeadm does not notice"),
            "write the service CIDR of the cluster, such as 10.100.0.0/16",
        ));
    }
    if let Some(authority) = config.cluster("certificateAuthority")
        && !is_certificate(authority)
    {
        problems.push(input.problem(
            "certificate-authority-invalid",
            line_of("certificateAuthority"),
            format!(
                "part {number} sets spec.cluster.certificateAuthority to a text that is not base64 of a PEM certificate"
            ),
            "copy certificateAuthority.data of the cluster as it is",
        ));
    }
}

fn unknown_fields(config: &NodeConfig) -> Vec<String> {
    let mut unknown: Vec<String> =
        config.spec.keys().filter(|key| !SPEC.contains(&key.as_str())).map(|key| format!("spec.{key}")).collect();
    for (section, known) in BELOW {
        let Some(Value::Object(fields)) = config.spec.get(section) else { continue };
        unknown.extend(
            fields.keys().filter(|key| !known.contains(&key.as_str())).map(|key| format!("spec.{section}.{key}")),
        );
    }
    unknown
}

fn is_certificate(text: &str) -> bool {
    let compact: String = text.split_whitespace().collect();
    base64::engine::general_purpose::STANDARD
        .decode(compact.as_bytes())
        .is_ok_and(|decoded| decoded.trim_ascii_start().starts_with(b"-----BEGIN CERTIFICATE-----"))
}
