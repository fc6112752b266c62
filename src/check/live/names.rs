//! Which ENIConfig the nodes name, and whether it is the one that the plan gives them.

use super::judge::Given;
use super::{JudgedNode, LiveFacts, Standing, belongs_to, count, node_evidence};
use crate::finding::{Evidence, Problem, on_one_line};
use crate::inventory::{DEFAULT_ENI_CONFIG_KEY, GapSource, Node};
use crate::plan::NO_MATCH;
use crate::render::shell_line;
use crate::resolve::{DEFAULT_ENI_CONFIG, EXTERNAL_ENI_CONFIG_LABEL, Rule, is_zone_label};

/// The field that decided, as evidence names it.
fn field(rule: &Rule) -> String {
    match rule {
        Rule::ExternalLabel => format!("label {EXTERNAL_ENI_CONFIG_LABEL}"),
        Rule::Annotation(key) => format!("annotation {}", on_one_line(key)),
        Rule::Label(key) => format!("label {}", on_one_line(key)),
        Rule::Default => "label or annotation".into(),
    }
}

/// The command that removes an annotation; its key is a setting of the CNI, and anybody can write one.
fn unannotate(key: &str) -> String {
    let words = ["kubectl", "annotate", "node", "NAME", &format!("{key}-")].map(str::to_owned);
    shell_line(&words).unwrap_or_else(|_| "kubectl annotate".into())
}

fn evidence(node: &JudgedNode<'_>) -> Evidence {
    let value = match &node.resolution.rule {
        Rule::Default => format!("unset, so `{DEFAULT_ENI_CONFIG}`"),
        _ => node.resolution.eni_config.clone(),
    };
    node_evidence(node, field(&node.resolution.rule), value)
}

/// Nodes that a setting, and nothing on the node, leads elsewhere are not each a problem of their own.
fn misled_by_settings(node: &JudgedNode<'_>) -> bool {
    node.resolution != node.as_planned
}

fn is_there(live: &LiveFacts<'_>, name: &str) -> bool {
    live.facts.inventory.eni_config(name).is_some()
}

fn is_planned(live: &LiveFacts<'_>, name: &str) -> bool {
    live.facts.plan.eni_configs.iter().any(|planned| planned.name == name)
}

fn could_tell(live: &LiveFacts<'_>) -> bool {
    live.settings.is_some() && live.facts.inventory.gaps_in(GapSource::EniConfigs).next().is_none()
}

pub(super) fn looks_for_missing(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    if !could_tell(live) {
        return;
    }
    let lost = |node: &JudgedNode<'_>| {
        let name = &node.resolution.eni_config;
        let is_lost = !is_there(live, name) && !is_planned(live, name) && name != NO_MATCH && !misled_by_settings(node);
        is_lost.then(|| (on_one_line(name), node.resolution.rule.clone()))
    };
    for ((subject, (name, rule)), nodes) in live.by_group(lost) {
        let (what, help) = match (&rule, name.as_str()) {
            (Rule::Default, _) => (
                format!("none of the keys that the CNI looks at is set, so that it looks for ENIConfig `{DEFAULT_ENI_CONFIG}`, which does not exist"),
                "see on the node why its label is missing (`/var/log/cloud-init-output.log`), or put the nodes' group into eniplan.yaml; an ENIConfig called `default` would only hide it".to_owned(),
            ),
            (rule, "") => (
                format!("the {} is empty, and an empty value wins: the CNI looks for an ENIConfig without name", field(rule)),
                format!("remove the empty {} and see where it comes from", field(rule)),
            ),
            (rule, name) => (
                format!("the {} names ENIConfig `{name}`, which does not exist", field(rule)),
                format!("correct the value, or make ENIConfig `{name}` by adding its subnet to a pool"),
            ),
        };
        problems.push(
            Problem::new(
                "node-looks-for-missing-eniconfig",
                subject,
                format!(
                    "on {} {what}: a new node stays NotReady, an old one gets no further interface",
                    count(nodes.len())
                ),
                help,
            )
            .shown_by(nodes.iter().map(|node| evidence(node))),
        );
    }
}

/// The label value that our script leaves when it finds no row or gets no answer.
pub(super) fn found_no_row(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let without_row = |node: &JudgedNode<'_>| (node.resolution.eni_config == NO_MATCH).then_some(());
    for ((subject, ()), nodes) in live.by_group(without_row) {
        let subnets: Vec<&str> =
            nodes.iter().filter_map(|node| node.node_subnet).map(|subnet| subnet.subnet_id.as_str()).collect();
        let places = if subnets.is_empty() { String::new() } else { format!(" (node subnet {})", subnets.join(", ")) };
        problems.push(
            Problem::new(
                "node-found-no-row",
                subject,
                format!("on {} the boot script found no row for the node subnet, or got no answer from the instance metadata service{places}, and it stays NotReady on purpose", count(nodes.len())),
                "read what the script said in the instance's console log, plan again with the group's present subnets, and replace the nodes",
            )
            .shown_by(nodes.iter().map(|node| evidence(node))),
        );
    }
}

/// Nodes of planned groups without a label, that the ENIConfig `default` keeps from being noticed.
pub(super) fn planned_node_on_default(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let silent = |node: &JudgedNode<'_>| {
        let wanted = node.wanted.as_ref()?;
        let is_silent =
            node.resolution.rule == Rule::Default && wanted != DEFAULT_ENI_CONFIG && is_there(live, DEFAULT_ENI_CONFIG);
        (is_silent && !misled_by_settings(node)).then_some(())
    };
    for ((subject, ()), nodes) in live.by_group(silent) {
        problems.push(
            Problem::new(
                "planned-node-on-default",
                subject,
                format!("on {} the label is missing, and the CNI falls back to the ENIConfig `{DEFAULT_ENI_CONFIG}`, so that the nodes are Ready and their pods in a wrong subnet", count(nodes.len())),
                "delete the ENIConfig `default`, so that a missing label shows at once, see on the node why it is missing, and replace the nodes",
            )
            .shown_by(nodes.iter().map(|node| evidence(node))),
        );
    }
}

/// Nodes of planned groups that use an ENIConfig which exists, but is not theirs, although their template is right.
pub(super) fn uses_other(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let wrong = |node: &JudgedNode<'_>| {
        let wanted = node.wanted.as_ref()?;
        let name = &node.resolution.eni_config;
        let is_wrong = node.standing == Standing::Wrong && name != wanted && is_there(live, name);
        let is_wrong = is_wrong && node.resolution.rule != Rule::Default && name != NO_MATCH;
        (is_wrong && !misled_by_settings(node)).then(|| (node.resolution.rule.clone(), is_of_other_zone(live, node)))
    };
    for ((subject, (rule, other_zone)), nodes) in live.by_group(wrong) {
        let (what, help) = match &rule {
            Rule::Annotation(key) => (
                format!("the annotation {key} decides, which beats the label"),
                format!("remove it with `{}`, then replace the nodes whose interfaces were made meanwhile", unannotate(key)),
            ),
            Rule::ExternalLabel | Rule::Label(_) | Rule::Default => (
                format!("the {} names another ENIConfig than the launch template gives", field(&rule)),
                "put the label back with `kubectl label node NODE KEY=PLANNED --overwrite`, find out who changed it, and replace the nodes whose interfaces were made meanwhile".to_owned(),
            ),
        };
        let effect = if other_zone {
            "its subnet is in another zone, so that interfaces are made, cannot be attached, and are deleted again, every few seconds"
        } else {
            "pods there get addresses and security groups of another pod subnet than planned"
        };
        let evidence = nodes.iter().map(|node| {
            let Evidence { object, field, value } = evidence(node);
            Evidence::new(object, field, format!("{value}, planned {}", node.wanted.as_deref().unwrap_or_default()))
        });
        problems.push(
            Problem::new(
                "node-uses-other-eniconfig",
                subject,
                format!("on {} {what}: {effect}", count(nodes.len())),
                help,
            )
            .shown_by(evidence),
        );
    }
}

/// Whether the ENIConfig that a node names is in another zone than the node.
fn is_of_other_zone(live: &LiveFacts<'_>, node: &JudgedNode<'_>) -> bool {
    let object = live.facts.inventory.eni_config(&node.resolution.eni_config);
    let subnet = object.and_then(|object| live.facts.inventory.subnet(object.subnet.as_deref()?));
    subnet.zip(node.node_subnet).is_some_and(|(pods, own)| pods.availability_zone_id != own.availability_zone_id)
}

/// Nodes that are right and yet not Ready.
pub(super) fn not_ready(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let is_so = |node: &JudgedNode<'_>| (!node.node.ready && node.standing == Standing::Right).then_some(());
    for ((subject, ()), nodes) in live.by_group(is_so) {
        problems.push(
            Problem::new(
                "node-not-ready",
                subject,
                format!("{} not Ready, although name, interfaces and pods are as planned", count(nodes.len())),
                "look at `kubectl describe node NODE`",
            )
            .shown_by(nodes.iter().map(|node| node_evidence(node, "condition Ready", "not True"))),
        );
    }
}

/// The fall-back of nodes that nobody has planned.
pub(super) fn falls_back_to_default(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    if !is_there(live, DEFAULT_ENI_CONFIG) {
        return;
    }
    let falls_back = |node: &JudgedNode<'_>| {
        (node.resolution.rule == Rule::Default && node.wanted.is_none() && !misled_by_settings(node)).then_some(())
    };
    for ((subject, ()), nodes) in live.by_group(falls_back) {
        problems.push(
            Problem::new(
                "node-falls-back-to-default",
                subject,
                format!(
                    "on {} nothing names an ENIConfig, and the CNI uses `{DEFAULT_ENI_CONFIG}`, whatever zone its subnet is in",
                    count(nodes.len())
                ),
                "plan their group, or label them with the ENIConfig of their zone",
            )
            .shown_by(nodes.iter().map(|node| evidence(node))),
        );
    }
}

/// An annotation that says what the label says is one that will be forgotten.
pub(super) fn annotation_decides(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let decided = |node: &JudgedNode<'_>| match &node.resolution.rule {
        Rule::Annotation(key) if node.standing != Standing::Wrong && is_there(live, &node.resolution.eni_config) => {
            Some(key.clone())
        }
        _ => None,
    };
    for ((subject, key), nodes) in live.by_group(decided) {
        problems.push(
            Problem::new(
                "annotation-decides",
                subject,
                format!(
                    "on {} the annotation {key} decides: it beats any label, and replacements will not have it",
                    count(nodes.len())
                ),
                format!("remove it with `{}` once the nodes carry the label", unannotate(&key)),
            )
            .shown_by(nodes.iter().map(|node| evidence(node))),
        );
    }
}

/// Labels that name an ENIConfig beside the one that decides, and say something else.
pub(super) fn label_ignored(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let settings = live.settings();
    let keys = [
        EXTERNAL_ENI_CONFIG_LABEL,
        DEFAULT_ENI_CONFIG_KEY,
        settings.label_key(),
        live.facts.plan.label.node_label_key.as_str(),
    ];
    let ignored = |node: &JudgedNode<'_>| {
        if matches!(node.standing, Standing::Wrong | Standing::Outdated) || misled_by_settings(node) {
            return None;
        }
        let decides = |key: &str| match &node.resolution.rule {
            Rule::ExternalLabel => key == EXTERNAL_ENI_CONFIG_LABEL,
            Rule::Label(label) => key == label,
            Rule::Annotation(_) | Rule::Default => false,
        };
        let says_otherwise = |key: &&&str| {
            node.node.labels.get(**key).is_some_and(|name| *name != node.resolution.eni_config)
                && !decides(key)
                && !is_zone_label(key)
        };
        keys.iter().find(says_otherwise).map(|key| (*key).to_owned())
    };
    for ((subject, key), nodes) in live.by_group(ignored) {
        let evidence = nodes.iter().map(|node| {
            node_evidence(node, format!("label {key}"), node.node.labels.get(&key).cloned().unwrap_or_default())
        });
        problems.push(
            Problem::new(
                "label-ignored",
                subject,
                format!(
                    "on {} the label {key} names another ENIConfig than the one in use; the CNI does not look at it",
                    count(nodes.len())
                ),
                "remove the label, so that nobody is misled by it",
            )
            .shown_by(evidence),
        );
    }
}

/// An interface can be attached only in its own zone.
pub(super) fn other_zone(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let elsewhere = |node: &JudgedNode<'_>| {
        let name = &node.resolution.eni_config;
        let object = live.facts.inventory.eni_config(name)?;
        let planned = live.facts.plan.eni_configs.iter().find(|planned| planned.name == *name);
        // An object that differs from the plan is one problem, not one of each of its nodes.
        if planned.is_some_and(|planned| Some(&planned.subnet_id) != object.subnet.as_ref()) || misled_by_settings(node)
        {
            return None;
        }
        // A node that names another ENIConfig than planned is told so already.
        if node.wanted.as_ref().is_some_and(|wanted| wanted != name) {
            return None;
        }
        let subnet = live.facts.inventory.subnet(object.subnet.as_deref()?)?;
        let own = node.node_subnet?;
        (subnet.availability_zone_id != own.availability_zone_id)
            .then(|| (name.clone(), subnet.availability_zone_id.clone()))
    };
    for ((subject, (name, zone)), nodes) in live.by_group(elsewhere) {
        problems.push(
            Problem::new(
                "node-eniconfig-in-other-zone",
                subject,
                format!("on {} the ENIConfig is `{name}`, whose subnet is in zone {zone} and not in the node's: each new interface is made, cannot be attached, and is deleted, every few seconds", count(nodes.len())),
                "label the nodes with an ENIConfig of their own zone",
            )
            .shown_by(nodes.iter().map(|node| evidence(node))),
        );
    }
}

/// A group whose nodes the plan has no row for.
pub(super) fn not_in_plan(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let outside = |node: &JudgedNode<'_>| {
        let group = node.group?;
        let subnet = node.node_subnet?;
        let has_row = group.assignments.iter().any(|row| row.subnet_id == subnet.subnet_id);
        (!has_row && !group.assignments.is_empty() && node.resolution.eni_config != NO_MATCH)
            .then(|| subnet.subnet_id.clone())
    };
    for ((subject, subnet), nodes) in live.by_group(outside) {
        problems.push(
            Problem::new(
                "node-in-unplanned-subnet",
                subject,
                format!("{} in node subnet {subnet}, for which the plan has no row", count(nodes.len())),
                "add the node subnet to the group in eniplan.yaml, or remove it from the group's Auto Scaling group",
            )
            .shown_by(nodes.iter().map(|node| {
                let own = node.node.internal_ip.map(|ip| ip.to_string()).unwrap_or_default();
                node_evidence(node, "status.addresses", own)
            })),
        );
    }
}

/// Nodes of an older version of their template: right for it, and not yet what the plan wants.
pub(super) fn outdated(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let told = super::templates::groups_told(live);
    let outdated = |node: &JudgedNode<'_>| {
        let is_told = node.node.node_group().is_some_and(|group| told.contains(group));
        // A group without a template cannot be rolled; that it is to be replaced is said of the group.
        let is_replaced = node.group.is_some_and(|group| node.node.node_group() != Some(group.name.as_str()));
        (node.standing == Standing::Outdated && !is_told && !is_replaced).then_some(())
    };
    for ((subject, ()), nodes) in live.by_group(outdated) {
        let versions = nodes
            .iter()
            .map(|node| node_evidence(node, super::judge::SOURCE_VERSION_LABEL, version(node.node, &node.given)));
        problems.push(
            Problem::new(
                "nodes-outdated",
                subject,
                format!(
                    "{} from an older version of the launch template, with what that gave them",
                    count(nodes.len())
                ),
                "replace them: `eniplan apply --roll`, or drain and terminate them one by one",
            )
            .shown_by(versions),
        );
    }
}

fn version(node: &Node, given: &Given) -> String {
    let version = node.labels.get(super::judge::SOURCE_VERSION_LABEL).map_or("unset", String::as_str);
    match given {
        Given::Name(name) => format!("{version}, which gives `{name}`"),
        Given::Nothing => format!("{version}, which gives no label"),
        Given::Unread => format!("{version}, which was not read"),
    }
}

/// Karpenter makes nodes from NodePools, whose labels it knows beforehand; without one the node falls back.
pub(super) fn node_pool_unlabelled(live: &LiveFacts<'_>, problems: &mut Vec<Problem>) {
    let settings = live.settings();
    let key = settings.label_key();
    if !settings.custom_networking() || is_zone_label(key) {
        return;
    }
    let observed = live.facts.inventory.observed();
    let boots_with_ours = |class: Option<&str>| {
        let class = observed.ec2_node_classes.iter().find(|found| Some(found.name.as_str()) == class);
        class.and_then(|class| class.user_data.as_deref()).is_some_and(|text| text.contains(crate::user_data::MARKER))
    };
    for pool in &observed.node_pools {
        let is_labelled = [key, EXTERNAL_ENI_CONFIG_LABEL].iter().any(|key| pool.labels.contains_key(*key));
        if is_labelled || boots_with_ours(pool.node_class.as_deref()) {
            continue;
        }
        problems.push(
            Problem::new(
                "node-pool-without-label",
                crate::finding::Subject::NodePool(pool.name.clone()),
                format!("its nodes get neither the label {key} nor user data that finds one, and look for ENIConfig `{DEFAULT_ENI_CONFIG}`"),
                "use the files that `eniplan generate --for karpenter` writes: user data of the EC2NodeClass, or one NodePool for each zone with the label",
            )
            .shown_by([Evidence::new(
                crate::finding::Subject::NodePool(pool.name.clone()),
                format!("spec.template.metadata.labels[{key}]"),
                "unset",
            )]),
        );
    }
}

/// What the plan's groups are called that a node belongs to; used where a rule speaks of a group and not of its nodes.
pub(super) fn nodes_of_group<'a, 'b>(live: &'b LiveFacts<'a>, group: &str) -> Vec<&'b JudgedNode<'a>> {
    let subject = crate::finding::Subject::NodeGroup(group.to_owned());
    live.nodes.iter().filter(|node| belongs_to(&live.facts, node.node) == subject).collect()
}
