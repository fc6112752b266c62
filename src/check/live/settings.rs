//! The CNI's settings in force against the plan's, and settings that starve or waste.

use super::{LiveFacts, count, node_evidence};
use crate::finding::{Evidence, Problem, Subject};
use crate::inventory::GapSource;
use crate::max_pods::node_arithmetic;
use crate::plan::CniOwner;
use crate::resolve::behaviours::{EMPTY_GROUPS_MEAN_VPC_DEFAULT, LABELS_FOR_CONTROLLER};

const SWITCH: &str = "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG";
const KEYS: [&str; 2] = ["ENI_CONFIG_LABEL_DEF", "ENI_CONFIG_ANNOTATION_DEF"];

/// Addresses that one warm interface of a large type holds back; m5.large has 10, m5.4xlarge 30.
/// Source: amazon-vpc-cni-k8s `docs/eni-and-ip-target.md`, which advises an IP target for such types.
const ADDRESSES_OF_A_LARGE_TYPE: u32 = 30;

fn subject() -> Subject {
    Subject::Cni("aws-node".into())
}

fn env(name: &str, value: Option<&str>) -> Evidence {
    Evidence::new(subject(), format!("env {name}"), value.unwrap_or("unset"))
}

/// Where a setting has to be changed so that it stays.
fn remedy(live: &LiveFacts<'_>) -> String {
    match live.facts.plan.cni.owner {
        CniOwner::AddOn => "run `eniplan apply`, which puts it into the add-on's configuration values; a value set on the DaemonSet does not outlive the next update".into(),
        CniOwner::Helm => "put it into the values of the Helm release, under `env`".into(),
        CniOwner::DaemonSet | CniOwner::Absent => "run `eniplan apply`".into(),
    }
}

fn who_owns(live: &LiveFacts<'_>, name: &str) -> String {
    let managers = live.facts.inventory.aws_node.iter().flat_map(|aws_node| &aws_node.managers);
    let owner = managers.into_iter().find(|manager| manager.fields.iter().any(|field| field == name));
    owner.map_or_else(String::new, |owner| format!(", last written by {}", owner.manager))
}

pub(super) fn custom_networking_off(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let Some(settings) = &live.settings else { return };
    if settings.custom_networking() || !live.facts.plan.cni.env.contains_key(SWITCH) {
        return;
    }
    let added = live.facts.inventory.add_on.as_ref().and_then(|add_on| add_on.env().get(SWITCH).cloned());
    let lost = if added.is_some_and(|value| value == "true") {
        "; the add-on's configuration values say otherwise, so that something has overwritten the DaemonSet"
    } else {
        ""
    };
    problems.push(
        Problem::new(
            "custom-networking-off",
            subject(),
            format!(
                "custom networking is off{}: new interfaces go into node subnets, and when aws-node restarts the nodes' security groups go onto the pods' interfaces{lost}",
                who_owns(live, SWITCH)
            ),
            remedy(live),
        )
        .shown_by([env(SWITCH, settings.value(SWITCH))]),
    );
}

pub(super) fn key_differs(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let Some(settings) = &live.settings else { return };
    let planned = &live.facts.plan.cni.env;
    for (name, now) in [(KEYS[0], settings.label_key()), (KEYS[1], settings.annotation_key())] {
        let Some(wanted) = planned.get(name).filter(|wanted| *wanted != now) else { continue };
        let moved = live.nodes.iter().filter(|node| node.resolution != node.as_planned);
        let moves: Vec<Evidence> = moved
            .map(|node| {
                let (from, to) = (&node.resolution.eni_config, &node.as_planned.eni_config);
                node_evidence(node, "ENIConfig of the next interface", format!("`{from}`, with the planned key `{to}`"))
            })
            .collect();
        problems.push(
            Problem::new(
                "eniconfig-key-differs",
                subject(),
                format!(
                    "the CNI looks at the key {now}, not at {wanted}{}: {} would choose another ENIConfig for the next interface",
                    who_owns(live, name),
                    count(moves.len())
                ),
                remedy(live),
            )
            .shown_by([env(name, settings.value(name))].into_iter().chain(moves)),
        );
    }
}

pub(super) fn setting_differs(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let Some(settings) = &live.settings else { return };
    for (name, wanted) in &live.facts.plan.cni.env {
        if name == SWITCH || KEYS.contains(&name.as_str()) || settings.value(name) == Some(wanted) {
            continue;
        }
        let now = settings.value(name);
        let same_flag = now.is_some() && settings.unreadable_flag(name).is_none();
        if same_flag && ["true", "false"].contains(&wanted.as_str()) && settings.flag(name).to_string() == *wanted {
            continue;
        }
        problems.push(
            Problem::new(
                "cni-setting-differs",
                subject(),
                format!("{name} is {}, and the plan wants `{wanted}`{}", quoted(now), who_owns(live, name)),
                remedy(live),
            )
            .shown_by([env(name, now)]),
        );
    }
}

fn quoted(value: Option<&str>) -> String {
    value.map_or_else(|| "unset".into(), |value| format!("`{value}`"))
}

/// What the DaemonSet has and the add-on does not is gone after an update that overwrites.
/// Source: EKS user guide, "Update an Amazon EKS add-on", conflict resolution.
pub(super) fn add_on_lacks_setting(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let (Some(settings), Some(add_on)) = (&live.settings, &live.facts.inventory.add_on) else { return };
    if live.facts.plan.cni.owner != CniOwner::AddOn || live.facts.inventory.aws_node.is_none() {
        return;
    }
    let values = add_on.env();
    let lacking: Vec<Evidence> = live
        .facts
        .plan
        .cni
        .env
        .iter()
        .filter(|(name, wanted)| settings.value(name) == Some(wanted) && values.get(*name) != Some(wanted))
        .map(|(name, _)| {
            let object = Subject::Cni("add-on vpc-cni".into());
            let value = values.get(name).map_or("unset", String::as_str);
            Evidence::new(object, format!("configurationValues.env.{name}"), value)
        })
        .collect();
    if !lacking.is_empty() {
        problems.push(
            Problem::new(
                "add-on-values-lack-setting",
                subject(),
                "the DaemonSet has settings that the add-on's configuration values lack: the next update of the add-on can drop them",
                "run `eniplan apply`, which puts them into the add-on's configuration values",
            )
            .shown_by(lacking),
        );
    }
}

pub(super) fn add_on_unwell(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let Some(add_on) = &live.facts.inventory.add_on else { return };
    let status = add_on.status.as_deref().unwrap_or("ACTIVE");
    if status != "ACTIVE" || !add_on.health_issues.is_empty() {
        let issues = if add_on.health_issues.is_empty() {
            String::new()
        } else {
            format!(": {}", add_on.health_issues.join("; "))
        };
        problems.push(
            Problem::new(
                "add-on-unwell",
                Subject::Cni("add-on vpc-cni".into()),
                format!("the add-on is {status}{issues}"),
                "wait until it is ACTIVE, or look at `aws eks describe-addon --addon-name vpc-cni`",
            )
            .shown_by([Evidence::new(Subject::Cni("add-on vpc-cni".into()), "status", status)]),
        );
    }
}

pub(super) fn takes_default_group(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let version = live.settings.as_ref().and_then(|settings| settings.version);
    let Some(version) = version.filter(|version| EMPTY_GROUPS_MEAN_VPC_DEFAULT.of(*version)) else { return };
    let without: Vec<Evidence> = live
        .facts
        .inventory
        .eni_configs
        .iter()
        .filter(|eni_config| eni_config.security_groups.is_empty())
        .map(|eni_config| Evidence::new(Subject::EniConfig(eni_config.name.clone()), "spec.securityGroups", "unset"))
        .collect();
    if !without.is_empty() {
        problems.push(
            Problem::new(
                "cni-takes-default-group",
                subject(),
                format!(
                    "CNI {version} puts interfaces of ENIConfigs without security groups into the VPC's default group"
                ),
                "update the VPC CNI to v1.13.2 or later, or name groups in the ENIConfigs",
            )
            .shown_by(without),
        );
    }
}

pub(super) fn labels_for_controller(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let Some(settings) = &live.settings else { return };
    let Some(version) = settings.version.filter(|version| LABELS_FOR_CONTROLLER.of(*version)) else { return };
    if settings.pod_eni() {
        problems.push(Problem::new(
            "cni-labels-for-controller",
            subject(),
            format!("CNI {version} labels nodes with vpc.amazonaws.com/eniConfig, which the VPC resource controller reads before anything else and which goes stale when a node is relabelled"),
            "update the VPC CNI to v1.15.0 or later",
        )
        .shown_by([Evidence::new(subject(), "image", version.to_string())]));
    }
}

/// Source: amazon-vpc-cni-k8s `pkg/ipamd/ipamd.go`, `datastoreTargetState`; README, "MINIMUM_IP_TARGET".
pub(super) fn minimum_without_warm(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let Some(settings) = &live.settings else { return };
    let minimum = settings.value("MINIMUM_IP_TARGET").and_then(|value| value.parse::<u32>().ok()).unwrap_or_default();
    let warm = settings.value("WARM_IP_TARGET").and_then(|value| value.parse::<u32>().ok()).unwrap_or_default();
    if minimum > 0 && warm == 0 {
        problems.push(
            Problem::new(
                "minimum-without-warm-target",
                subject(),
                format!("MINIMUM_IP_TARGET is {minimum} and WARM_IP_TARGET is unset or 0: pods beyond the {minimum}th of a node never get an address"),
                "set WARM_IP_TARGET to \"1\" or more",
            )
            .shown_by([
                env("MINIMUM_IP_TARGET", settings.value("MINIMUM_IP_TARGET")),
                env("WARM_IP_TARGET", settings.value("WARM_IP_TARGET")),
            ]),
        );
    }
}

pub(super) fn warm_interface_on_large_type(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let Some(settings) = &live.settings else { return };
    let number = |name: &str| settings.value(name).and_then(|value| value.parse::<u32>().ok());
    let by_address = number("WARM_IP_TARGET").is_some_and(|target| target > 0)
        || number("MINIMUM_IP_TARGET").is_some_and(|target| target > 0);
    let warm = number("WARM_ENI_TARGET").unwrap_or(1);
    if by_address || settings.prefix_delegation() || warm == 0 {
        return;
    }
    let large = |node: &super::JudgedNode<'_>| {
        let of_type = live.facts.inventory.instance_type(node.node.instance_type()?)?;
        let held = of_type.ipv4_addresses_per_interface;
        (held >= ADDRESSES_OF_A_LARGE_TYPE).then(|| (of_type.instance_type.clone(), held))
    };
    for ((subject, (of_type, held)), nodes) in live.by_group(large) {
        problems.push(
            Problem::new(
                "warm-interface-on-large-type",
                subject,
                format!("WARM_ENI_TARGET={warm} keeps {} addresses of the pod subnet idle on each of its {} of type {of_type}", u64::from(warm) * u64::from(held), count(nodes.len())),
                "set WARM_IP_TARGET and MINIMUM_IP_TARGET instead, for example \"5\" and \"20\"; `eniplan capacity` shows what that gives",
            )
            .shown_by([env("WARM_ENI_TARGET", settings.value("WARM_ENI_TARGET"))]),
        );
    }
}

/// For nodes that no plan labels; planning itself says it of the groups that it plans.
pub(super) fn no_interface_for_pods(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let settings = live.settings();
    let none = |node: &super::JudgedNode<'_>| {
        let of_type = live.facts.inventory.instance_type(node.node.instance_type()?)?;
        let none = node.group.is_none() && node_arithmetic(of_type, &settings)?.pod_interfaces == 0;
        none.then(|| of_type.instance_type.clone())
    };
    for ((subject, of_type), nodes) in live.by_group(none) {
        problems.push(
            Problem::new(
                "no-interface-for-pods",
                subject,
                format!("{} of type {of_type} can have no interface for pods, since the primary one carries none and counts for MAX_ENI", count(nodes.len())),
                "unset MAX_ENI or raise it, or use a type with more interfaces",
            )
            .shown_by([env("MAX_ENI", settings.value("MAX_ENI")), env("ENABLE_POD_ENI", settings.value("ENABLE_POD_ENI"))]),
        );
    }
}

/// NodePort replies leave by the primary interface only when the CNI marks them.
/// Source: amazon-vpc-cni-k8s README, `AWS_VPC_CNI_NODE_PORT_SUPPORT`.
pub(super) fn node_port_support_off(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    const NAME: &str = "AWS_VPC_CNI_NODE_PORT_SUPPORT";
    let Some(settings) = &live.settings else { return };
    if settings.custom_networking() && !settings.flag_or(NAME, true) {
        problems.push(
            Problem::new(
                "node-port-support-off",
                subject(),
                "replies to connections that come in over a NodePort leave by the pod's interface, and load balancers and peers drop them",
                format!("set {NAME} to \"true\""),
            )
            .shown_by([env(NAME, settings.value(NAME))]),
        );
    }
}

/// What a plan cannot do without, and no gap explains.
pub(super) fn cni_absent(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let inventory = live.facts.inventory;
    if live.settings.is_none() && inventory.gaps_in(GapSource::AwsNode).next().is_none() && !live.nodes.is_empty() {
        problems.push(Problem::new(
            "cni-absent",
            subject(),
            format!("the cluster has {} and no aws-node DaemonSet: another CNI gives their pods addresses, and no ENIConfig matters", count(live.nodes.len())),
            "install the VPC CNI, or do not use eniplan here",
        )
        .shown_by([Evidence::new(subject(), "DaemonSet kube-system/aws-node", "not found")]));
    }
}
