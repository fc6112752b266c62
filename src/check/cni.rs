//! Rules about the VPC CNI: its version, its settings, who owns them.

use super::Facts;
use crate::config::{LabelDesign, OnNoMatch};
use crate::finding::{Problem, Subject};
use crate::inventory::{CniSettings, CniVersion, GapSource};
use crate::plan::{CniOwner, CniPlan};
use crate::resolve::EXTERNAL_ENI_CONFIG_LABEL;
use crate::resolve::behaviours::{
    APPLIES_EXCLUSION_TAGS, EMPTY_GROUPS_FAIL, LOOKS_AT_EXTERNAL_LABEL, MISSING_ENI_CONFIG_IS_FATAL, RELABELS_NODES,
};

fn subject() -> Subject {
    Subject::Cni("aws-node".into())
}

fn version(facts: &Facts<'_>) -> Option<CniVersion> {
    facts.inventory.cni_settings()?.version
}

/// The CNI's settings as the plan wants them.
pub(super) fn settings_after(facts: &Facts<'_>) -> CniSettings {
    let mut settings = facts.inventory.cni_settings().unwrap_or_default();
    settings.env.extend(facts.plan.cni.env.clone());
    settings
}

pub(super) fn eniconfig_crd_missing(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let inventory = facts.inventory;
    let could_tell = inventory.gaps_in(GapSource::EniConfigCrd).next().is_none()
        && inventory.gaps_in(GapSource::EniConfigs).next().is_none();
    if inventory.eni_config_crd.is_none() && inventory.aws_node.is_some() && could_tell {
        problems.push(Problem::new(
            "eniconfig-crd-missing",
            Subject::Cni("eniconfigs.crd.k8s.amazonaws.com".into()),
            "the cluster does not know the kind ENIConfig, although aws-node is installed",
            "install the CustomResourceDefinition first: reinstall the vpc-cni add-on or chart, or apply the CRD of your CNI release",
        ));
    }
}

pub(super) fn eniconfig_crd_without_schema(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if facts.inventory.eni_config_crd.as_ref().is_some_and(|crd| !crd.has_schema) {
        problems.push(Problem::new(
            "eniconfig-crd-without-schema",
            Subject::Cni("eniconfigs.crd.k8s.amazonaws.com".into()),
            "the ENIConfig definition has no schema (it is from before CNI v1.18.3), so the API server accepts malformed objects, which hang aws-node",
            "apply the CRD of your CNI release; a Helm upgrade does not bring it",
        ));
    }
}

pub(super) fn cni_needs_groups(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let Some(version) = version(facts).filter(|version| EMPTY_GROUPS_FAIL.of(*version)) else { return };
    for eni_config in facts.plan.eni_configs.iter().filter(|eni_config| eni_config.security_groups.is_empty()) {
        problems.push(Problem::new(
            "cni-needs-groups",
            Subject::EniConfig(eni_config.name.clone()),
            format!("it has no security groups, and CNI {version} cannot make interfaces then"),
            "update the VPC CNI to v1.13.2 or later, or name security groups in the pool",
        ));
    }
}

pub(super) fn no_match_fails_open(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let Some(version) = version(facts).filter(|version| !MISSING_ENI_CONFIG_IS_FATAL.of(*version)) else { return };
    let groups: Vec<&str> = facts
        .plan
        .node_groups
        .iter()
        .filter(|group| group.on_no_match == OnNoMatch::Fail && group.label_key.is_some())
        .map(|group| group.name.as_str())
        .collect();
    if !groups.is_empty() {
        problems.push(Problem::new(
            "no-match-fails-open",
            subject(),
            format!("onNoMatch `fail` relies on CNI {} or later; with {version} such a node of {} becomes Ready and its pods hang in ContainerCreating", MISSING_ENI_CONFIG_IS_FATAL.first(), groups.join(", ")),
            "update the VPC CNI",
        ));
    }
}

pub(super) fn cni_relabels(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let Some(version) = version(facts).filter(|version| RELABELS_NODES.of(*version)) else { return };
    if facts.plan.label.design == LabelDesign::Own {
        problems.push(Problem::new(
            "cni-relabels",
            subject(),
            format!(
                "CNI {version} writes the label of ENI_CONFIG_LABEL_DEF itself and overwrites what kubelet has set"
            ),
            format!("update the VPC CNI to {} or later", LOOKS_AT_EXTERNAL_LABEL.first()),
        ));
    }
}

pub(super) fn override_label_undocumented(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let groups =
        facts.plan.node_groups.iter().filter(|group| group.label_key.as_deref() == Some(EXTERNAL_ENI_CONFIG_LABEL));
    if groups.count() > 0 {
        problems.push(Problem::new(
            "override-label-undocumented",
            subject(),
            format!("nodes get {EXTERNAL_ENI_CONFIG_LABEL}, which the CNI has looked at first since {}, but which no manual of AWS names", LOOKS_AT_EXTERNAL_LABEL.first()),
            format!("with the Cluster Autoscaler add `--balancing-ignore-label={EXTERNAL_ENI_CONFIG_LABEL}`, so that it still balances similar groups"),
        ));
    }
}

pub(super) fn switch_pending(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let CniPlan { switch, changes, env, .. } = &facts.plan.cni;
    if !switch || facts.inventory.nodes.is_empty() {
        return;
    }
    let what: Vec<String> = changes
        .iter()
        .map(|(name, now)| {
            format!("{name}: {} → {}", now.as_deref().unwrap_or("unset"), env.get(name).map_or("", String::as_str))
        })
        .collect();
    problems.push(Problem::new(
        "switch-pending",
        subject(),
        format!(
            "the plan changes where nodes get pod addresses ({}); it reaches every node's next interface, and interfaces that exist stay where they are",
            what.join(", ")
        ),
        "apply the files in the order that `generate` prints, and replace the nodes that are there now",
    ));
}

pub(super) fn cni_owned_by_helm(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if facts.plan.cni.owner == CniOwner::Helm && !facts.plan.cni.changes.is_empty() {
        problems.push(Problem::new(
            "cni-owned-by-helm",
            subject(),
            "a Helm release owns aws-node; settings written past it are reverted by the next upgrade",
            "put the env of cni/daemonset-patch.yaml into the release's values, under `env`",
        ));
    }
}

pub(super) fn cni_setting_unreadable(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let Some(settings) = facts.inventory.cni_settings() else { return };
    for name in [
        "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG",
        "ENABLE_PREFIX_DELEGATION",
        "ENABLE_POD_ENI",
        "ENABLE_SUBNET_DISCOVERY",
        "AWS_VPC_K8S_CNI_EXTERNALSNAT",
    ] {
        if let Some(value) = settings.unreadable_flag(name) {
            problems.push(Problem::new(
                "cni-setting-unreadable",
                subject(),
                format!("{name} is `{value}`, which the CNI cannot read as a boolean and takes for its default"),
                "write \"true\" or \"false\"",
            ));
        }
    }
}

pub(super) fn pod_subnet_excluded(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for (eni_config, value) in tagged_pod_subnets(facts) {
        if applies_exclusion(facts) && value == "0" {
            problems.push(Problem::new(
                "pod-subnet-excluded",
                Subject::Subnet(eni_config.0.clone()),
                format!("it is tagged {CNI_ROLE_TAG}=0, so that the CNI attaches interfaces of ENIConfig {} there but gives no pod an address from them", eni_config.1),
                format!("remove the tag {CNI_ROLE_TAG}, or set ENABLE_SUBNET_DISCOVERY to \"false\""),
            ));
        }
    }
}

pub(super) fn pod_subnet_with_cni_tag(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    for (eni_config, value) in tagged_pod_subnets(facts) {
        if !(applies_exclusion(facts) && value == "0") {
            problems.push(Problem::new(
                "pod-subnet-with-cni-tag",
                Subject::Subnet(eni_config.0.clone()),
                format!("it is tagged {CNI_ROLE_TAG}={value}; subnet discovery does not choose it while custom networking is on, but some CNI releases exclude it by such tags"),
                format!("remove the tag {CNI_ROLE_TAG} from pod subnets that ENIConfigs name"),
            ));
        }
    }
}

/// First CNI that chooses tagged subnets by itself. Source: amazon-vpc-cni-k8s CHANGELOG, v1.18.0.
const FIRST_CNI_WITH_DISCOVERY: CniVersion = CniVersion(1, 18, 0);

/// Custom networking takes the place of subnet discovery; people who tagged subnets for it must hear of that.
pub(super) fn subnet_discovery_in_use(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let Some(now) = facts.inventory.cni_settings() else { return };
    let discovers = now.flag_or("ENABLE_SUBNET_DISCOVERY", true)
        && now.version.is_none_or(|version| version >= FIRST_CNI_WITH_DISCOVERY);
    if now.custom_networking() || !discovers {
        return;
    }
    let tagged: Vec<&str> = facts
        .inventory
        .subnets
        .iter()
        .filter(|subnet| subnet.tags.get(CNI_ROLE_TAG).is_some_and(|value| value != "0"))
        .map(|subnet| subnet.subnet_id.as_str())
        .collect();
    if !tagged.is_empty() {
        problems.push(Problem::new(
            "subnet-discovery-in-use",
            subject(),
            format!(
                "pods take addresses by subnet discovery now: custom networking is off, and {} carry {CNI_ROLE_TAG}; the plan \
                 turns custom networking on, and discovery then chooses nothing any more",
                tagged.join(", ")
            ),
            "ask `eniplan advise` whether discovery is enough, and those who tagged the subnets, before you switch",
        ));
    }
}

/// Tag of subnet discovery. Source: amazon-vpc-cni-k8s `pkg/awsutils/awsutils.go`, `subnetDiscoveryTagKey`.
const CNI_ROLE_TAG: &str = "kubernetes.io/role/cni";

/// Whether tags of subnet discovery also exclude interfaces of ENIConfigs.
fn applies_exclusion(facts: &Facts<'_>) -> bool {
    let settings = settings_after(facts);
    let discovery = settings.flag_or("ENABLE_SUBNET_DISCOVERY", true);
    let affected = settings.version.is_none_or(|version| APPLIES_EXCLUSION_TAGS.of(version));
    discovery && affected
}

fn tagged_pod_subnets<'a>(facts: &Facts<'a>) -> Vec<((&'a String, &'a String), &'a str)> {
    let inventory = facts.inventory;
    facts
        .plan
        .eni_configs
        .iter()
        .filter_map(|eni_config| {
            let value = inventory.subnet(&eni_config.subnet_id)?.tags.get(CNI_ROLE_TAG)?;
            Some(((&eni_config.subnet_id, &eni_config.name), value.as_str()))
        })
        .collect()
}

pub(super) fn cni_version_unknown(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let Some(aws_node) = &facts.inventory.aws_node else { return };
    if version(facts).is_none() && facts.plan.label.design == LabelDesign::Override {
        problems.push(Problem::new(
            "cni-version-unknown",
            subject(),
            format!(
                "the image `{}` does not tell the CNI's version; label design `override` needs {} or later",
                aws_node.image,
                LOOKS_AT_EXTERNAL_LABEL.first()
            ),
            "make sure of the version, or use `label: {design: own}`",
        ));
    }
}

/// Source: amazon-vpc-cni-k8s `cmd/aws-vpc-cni/main.go`, the check of the warm targets at start.
pub(super) fn prefixes_without_warm_target(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let settings = settings_after(facts);
    if facts.inventory.aws_node.is_none() || !settings.prefix_delegation() {
        return;
    }
    let is_zero = |name: &str| settings.value(name).is_none_or(|value| value.parse() == Ok(0));
    if ["WARM_PREFIX_TARGET", "WARM_IP_TARGET", "MINIMUM_IP_TARGET"].into_iter().all(is_zero) {
        problems.push(Problem::new(
            "prefixes-without-warm-target",
            subject(),
            "prefix delegation is on and WARM_PREFIX_TARGET, WARM_IP_TARGET and MINIMUM_IP_TARGET are all unset or 0; aws-node refuses to start",
            "set WARM_PREFIX_TARGET to \"1\"",
        ));
    }
}

pub(super) fn snat_uses_node_address(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    let own_groups = facts.plan.eni_configs.iter().any(|eni_config| {
        eni_config
            .security_groups
            .iter()
            .any(|group| Some(group) != facts.inventory.cluster.cluster_security_group_id.as_ref())
    });
    if own_groups && !settings_after(facts).flag("AWS_VPC_K8S_CNI_EXTERNALSNAT") {
        problems.push(Problem::new(
            "snat-uses-node-address",
            subject(),
            "pods leave the VPC by the node's primary interface, with the node's address, groups and routes; the security groups of the ENIConfigs do not filter that traffic",
            "set AWS_VPC_K8S_CNI_EXTERNALSNAT to \"true\" if pods are to leave with their own address, and give the pod subnets a route to a NAT gateway",
        ));
    }
}

pub(super) fn pod_eni_second_reader(facts: &Facts<'_>, problems: &mut Vec<Problem>) {
    if settings_after(facts).pod_eni() {
        problems.push(Problem::new(
            "pod-eni-second-reader",
            subject(),
            "security groups for pods are on: branch interfaces follow the node's CNINode object, which is written only when aws-node starts, and groups of a SecurityGroupPolicy replace those of the ENIConfig",
            "restart aws-node on a node after relabelling it; nodes made from the planned launch templates need nothing",
        ));
    }
}
