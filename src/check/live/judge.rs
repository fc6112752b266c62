//! Where each node stands: what the CNI makes of it, what the plan wants, what its own template version gave it, and
//! where its interfaces and pods are.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::super::Facts;
use crate::choose::choose;
use crate::config::OnNoMatch;
use crate::finding::on_one_line;
use crate::inventory::{CniSettings, EniConfig, GapSource, NetworkInterface, Node, Pod, PodPhase, Subnet};
use crate::plan::{NO_MATCH, NodeGroupPlan};
use crate::resolve::{Resolution, resolve};
use crate::user_data::{self, BootTable, boot_table};

/// Label that EKS sets: the launch template of the group's owner that a node was launched from.
/// Source: EKS user guide, "Customize managed nodes with launch templates".
pub const SOURCE_TEMPLATE_LABEL: &str = "eks.amazonaws.com/sourceLaunchTemplateId";
/// Label that EKS sets: the version of that template.
pub const SOURCE_VERSION_LABEL: &str = "eks.amazonaws.com/sourceLaunchTemplateVersion";

/// How a node stands to the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It uses the planned ENIConfig, and so do all its interfaces and pods.
    Right,
    /// It uses what an older version of its launch template gives.
    Outdated,
    /// It names the planned ENIConfig, but has interfaces or pods elsewhere; only a new node changes that.
    NeedsReplacement,
    /// It uses, or looks for, another ENIConfig than it should.
    Wrong,
    /// Something that decides could not be read.
    CannotTell,
}

/// What kept a node that names the right ENIConfig from standing right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Elsewhere {
    /// All its interfaces are in the node's own subnet: it is older than custom networking.
    FromBefore,
    /// Some of its interfaces are in another subnet than the others, or all in one that is not planned.
    OtherSubnet,
    /// The primary interface holds addresses for pods.
    Primary,
    /// Its interfaces have other security groups.
    OtherGroups,
    /// Its pods have addresses that no interface of it explains.
    Pods,
}

/// A node that runs aws-node, judged.
#[derive(Debug)]
pub struct JudgedNode<'a> {
    /// The node.
    pub node: &'a Node,
    /// Its group in the plan; `None` for nodes that no plan labels.
    pub group: Option<&'a NodeGroupPlan>,
    /// What the CNI makes of it, with the settings in force.
    pub resolution: Resolution,
    /// The same, once the settings are as planned.
    pub as_planned: Resolution,
    /// Node subnet, by the primary interface, else by the node's address.
    pub node_subnet: Option<&'a Subnet>,
    /// The ENIConfig that the plan gives it; `None` where the plan has nothing to say, or where it cannot be told.
    pub wanted: Option<String>,
    /// What the template version that it was launched from gives it.
    pub given: Given,
    /// The pod subnet that it should use.
    pub pod_subnet: Option<&'a Subnet>,
    /// The interface that it was launched with.
    pub primary: Option<&'a NetworkInterface>,
    /// Interfaces that give pods addresses.
    pub serving: Vec<&'a NetworkInterface>,
    /// The interface that carries branch interfaces.
    pub trunk: Option<&'a NetworkInterface>,
    /// Its pods.
    pub pods: Pods<'a>,
    /// How it stands.
    pub standing: Standing,
    /// Why, in a sentence without period.
    pub because: String,
    pub(crate) elsewhere: Option<Elsewhere>,
}

impl JudgedNode<'_> {
    /// The version of the group's launch template that the node was launched from, by the label that EKS sets.
    pub fn version(&self) -> Option<i64> {
        self.node.labels.get(SOURCE_VERSION_LABEL)?.parse().ok()
    }
}

/// The pods of a node by what their addresses tell.
#[derive(Debug, Default)]
pub struct Pods<'a> {
    /// In the pod subnet.
    pub right: usize,
    /// In none of the pod subnets that the node should use.
    pub elsewhere: Vec<&'a Pod>,
    /// With the node's own address.
    pub host_network: usize,
    /// With a branch interface of their own, whose subnet the VPC resource controller chooses.
    pub branch: usize,
    /// Waiting for an address, or finished.
    pub without_address: usize,
}

/// What the template version that a node was launched from gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// This name.
    Name(String),
    /// Its user data has no part of ours, or no row for the node.
    Nothing,
    /// Its user data was not read, or cannot be read.
    Unread,
}

/// The inventory by instance and by node, and what plan and settings say about each name.
pub(super) struct Judge<'a> {
    facts: Facts<'a>,
    settings: Option<CniSettings>,
    planned_settings: CniSettings,
    interfaces: BTreeMap<&'a str, Vec<&'a NetworkInterface>>,
    pods: BTreeMap<&'a str, Vec<&'a Pod>>,
    tables: BTreeMap<(&'a str, i64), Option<BootTable>>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(facts: Facts<'a>, settings: Option<CniSettings>) -> Self {
        let observed = facts.inventory.observed();
        let mut interfaces: BTreeMap<&str, Vec<&NetworkInterface>> = BTreeMap::new();
        for interface in &observed.network_interfaces {
            if let Some(instance) = interface.attachment.as_ref().and_then(|at| at.instance_id.as_deref()) {
                interfaces.entry(instance).or_default().push(interface);
            }
        }
        let mut pods: BTreeMap<&str, Vec<&Pod>> = BTreeMap::new();
        for pod in &observed.pods {
            if let Some(node) = &pod.node {
                pods.entry(node).or_default().push(pod);
            }
        }
        let mut planned_settings = settings.clone().unwrap_or_default();
        planned_settings.env.extend(facts.plan.cni.env.clone());
        Self { facts, settings, planned_settings, interfaces, pods, tables: tables(&facts) }
    }

    pub(super) fn judge(&self, node: &'a Node) -> JudgedNode<'a> {
        let inventory = self.facts.inventory;
        let settings = self.settings.clone().unwrap_or_default();
        let resolution = resolve(node, &settings);
        let multi_nic = settings.flag("ENABLE_MULTI_NIC");
        let interfaces = node.instance_id.as_deref().and_then(|id| self.interfaces.get(id));
        let interfaces = interfaces.map(Vec::as_slice).unwrap_or_default();
        let primary = interfaces.iter().copied().find(|interface| interface.is_primary());
        let node_subnet = primary.and_then(|primary| inventory.subnet(&primary.subnet_id)).or_else(|| {
            let ip = node.internal_ip?;
            inventory.subnets.iter().find(|subnet| subnet.cidr_block.contains(&ip))
        });
        let group = self.group(node);
        let given = self.given(node, node_subnet);
        let wanted = group.and_then(|group| wanted(group, node, node_subnet, &given));
        let used = wanted.clone().unwrap_or_else(|| resolution.eni_config.clone());
        let pod_subnet = self.subnet_of(&used);
        let mut judged = JudgedNode {
            node,
            group,
            as_planned: resolve(node, &self.planned_settings),
            given,
            pods: tally(self.pods.get(node.name.as_str()), pod_subnet),
            serving: interfaces.iter().copied().filter(|interface| interface.serves_pods(multi_nic)).collect(),
            trunk: interfaces.iter().copied().find(|interface| interface.is_trunk()),
            resolution,
            node_subnet,
            wanted,
            pod_subnet,
            primary,
            standing: Standing::Right,
            because: String::new(),
            elsewhere: None,
        };
        self.stand(&mut judged);
        judged
    }

    /// The group of the plan; nodes of a group that is to be replaced are measured by its successor.
    fn group(&self, node: &Node) -> Option<&'a NodeGroupPlan> {
        let name = node.node_group()?;
        let replaces = |group: &&NodeGroupPlan| {
            group.create.as_ref().is_some_and(|create| create.replaces.as_deref() == Some(name))
        };
        let groups = &self.facts.plan.node_groups;
        groups.iter().find(|group| group.name == name).or_else(|| groups.iter().find(replaces))
    }

    /// The pod subnet of an ENIConfig: as planned, else as the object has it.
    fn subnet_of(&self, eni_config: &str) -> Option<&'a Subnet> {
        let planned = self.facts.plan.eni_configs.iter().find(|planned| planned.name == eni_config);
        let id = planned.map(|planned| planned.subnet_id.as_str());
        let id = id.or_else(|| self.live(eni_config)?.subnet.as_deref())?;
        self.facts.inventory.subnet(id)
    }

    fn live(&self, eni_config: &str) -> Option<&'a EniConfig> {
        self.facts.inventory.eni_config(eni_config)
    }

    fn given(&self, node: &Node, node_subnet: Option<&Subnet>) -> Given {
        let (template, version) = match self.launched_from(node) {
            Ok(Some(version)) => version,
            Ok(None) => return Given::Nothing,
            Err(()) => return Given::Unread,
        };
        let found = self.tables.iter().find(|((id, number), _)| *id == template && *number == version);
        let Some((_, Some(table))) = found else {
            return if found.is_some() { Given::Nothing } else { Given::Unread };
        };
        if let Some(name) = &table.fixed {
            return Given::Name(name.clone());
        }
        let row = node_subnet.and_then(|subnet| table.rows.get(&subnet.cidr_block));
        let name = row.and_then(|row| match row.names.as_slice() {
            [only] => Some(only),
            names => names.get(choose(&row.bounds, node.instance_id.as_deref()?)?),
        });
        name.map_or(Given::Nothing, |name| Given::Name(name.clone()))
    }

    /// Template and version that the node was launched from: by the labels that EKS sets, else what its group uses; none
    /// for a group without a template. An error where a label is no version.
    fn launched_from<'n>(&self, node: &'n Node) -> Result<Option<(&'n str, i64)>, ()>
    where
        'a: 'n,
    {
        let label = |key: &str| node.labels.get(key).map(String::as_str);
        if let Some((template, version)) = label(SOURCE_TEMPLATE_LABEL).zip(label(SOURCE_VERSION_LABEL)) {
            return version.parse().map(|version| Some((template, version))).map_err(drop);
        }
        let group = node.node_group().and_then(|name| self.facts.inventory.node_group(name));
        let used = group.and_then(|group| group.launch_template.as_ref());
        let Some(id) = used.and_then(|used| used.id.as_deref()) else { return Ok(None) };
        let template = self.facts.inventory.launch_template(id).ok_or(())?;
        let version = template.resolve_version(used.and_then(|used| used.version.as_deref())).ok_or(())?;
        Ok(Some((id, version)))
    }

    fn stand(&self, judged: &mut JudgedNode<'a>) {
        let (standing, because, elsewhere) = self.standing(judged);
        judged.standing = standing;
        judged.because = on_one_line(&because);
        judged.elsewhere = elsewhere;
    }

    fn standing(&self, judged: &JudgedNode<'_>) -> (Standing, String, Option<Elsewhere>) {
        let verdict = |standing: Standing, because: String| (standing, because, None);
        let name = judged.resolution.eni_config.as_str();
        if self.settings.is_none() {
            return verdict(Standing::CannotTell, "the CNI's settings were not read".into());
        }
        if self.settings.as_ref().is_some_and(|settings| !settings.custom_networking()) {
            let why = "custom networking is off: its next interface goes into the node subnet, whatever it names";
            return verdict(Standing::Wrong, why.into());
        }
        if name == NO_MATCH {
            return verdict(Standing::Wrong, "its boot script found no row, or got no answer".into());
        }
        if let Some(group) = judged.group {
            let Some(wanted) = &judged.wanted else {
                let subnet = judged.node_subnet.map_or("an unknown subnet", |subnet| subnet.subnet_id.as_str());
                let why = format!("the plan of group {} says nothing for a node in {subnet}", group.name);
                return verdict(Standing::CannotTell, why);
            };
            if wanted != name {
                return verdict(
                    self.outdated_or_wrong(judged, wanted),
                    format!("it uses `{name}` instead of `{wanted}`"),
                );
            }
        }
        let could_tell = self.facts.inventory.gaps_in(GapSource::EniConfigs).next().is_none();
        if self.live(name).is_none() {
            let standing = if could_tell { Standing::Wrong } else { Standing::CannotTell };
            return verdict(standing, format!("it looks for ENIConfig `{name}`, which is not there"));
        }
        if let Some(why) = self.out_of_reach(judged) {
            return verdict(Standing::Wrong, why);
        }
        if let Some((elsewhere, why)) = self.elsewhere(judged) {
            return (Standing::NeedsReplacement, why, Some(elsewhere));
        }
        if !self.evidence_was_read() {
            return verdict(
                Standing::CannotTell,
                format!("it uses `{name}`, and its interfaces and pods were not read"),
            );
        }
        if judged.primary.is_none() {
            return verdict(Standing::CannotTell, format!("it uses `{name}`, and no interface of it was found"));
        }
        match (judged.serving.is_empty(), judged.node.ready) {
            (false, _) => verdict(Standing::Right, format!("it uses `{name}`")),
            (true, true) => verdict(Standing::CannotTell, format!("it uses `{name}`, and has no interface for pods")),
            (true, false) => {
                verdict(Standing::Wrong, format!("it names `{name}`, is not Ready, and has no interface for pods"))
            }
        }
    }

    fn evidence_was_read(&self) -> bool {
        let inventory = self.facts.inventory;
        let is_whole = |source| inventory.gaps_in(source).next().is_none();
        inventory.observed.is_some() && is_whole(GapSource::Pods) && is_whole(GapSource::NetworkInterfaces)
    }

    /// Why no interface of the node can be in the subnet of the ENIConfig that it names. An object that differs from the
    /// plan is a problem of its own.
    fn out_of_reach(&self, judged: &JudgedNode<'_>) -> Option<String> {
        let name = &judged.resolution.eni_config;
        let object = self.live(name)?;
        let Some(id) = object.subnet.as_deref() else {
            return Some(format!("it uses `{name}`, which names no subnet"));
        };
        let planned = self.facts.plan.eni_configs.iter().find(|planned| planned.name == *name);
        let were_read = self.facts.inventory.gaps_in(GapSource::Subnets).next().is_none();
        if planned.is_some_and(|planned| planned.subnet_id != id) || !were_read {
            return None;
        }
        let Some(subnet) = self.facts.inventory.subnet(id) else {
            return Some(format!("it uses `{name}`, whose subnet {id} is not there"));
        };
        let own = judged.node_subnet?;
        let zone = &subnet.availability_zone_id;
        (*zone != own.availability_zone_id).then(|| format!("it uses `{name}`, whose subnet is in zone {zone}"))
    }

    /// A node that uses another name than planned is only wrong when its own template version would have given it the
    /// planned one, or something else again.
    fn outdated_or_wrong(&self, judged: &JudgedNode<'_>, wanted: &str) -> Standing {
        if self.out_of_reach(judged).is_some() {
            return Standing::Wrong;
        }
        match &judged.given {
            Given::Name(given) if given == wanted => Standing::Wrong,
            Given::Name(given) if *given == judged.resolution.eni_config => Standing::Outdated,
            Given::Name(_) => Standing::Wrong,
            Given::Nothing => Standing::Outdated,
            Given::Unread => Standing::CannotTell,
        }
    }

    fn elsewhere(&self, judged: &JudgedNode<'_>) -> Option<(Elsewhere, String)> {
        let wanted = judged.pod_subnet?;
        let mut others = judged.serving.iter().filter(|interface| interface.subnet_id != wanted.subnet_id).peekable();
        if let Some(other) = others.peek() {
            let is_own = |interface: &&NetworkInterface| {
                judged.node_subnet.is_some_and(|subnet| subnet.subnet_id == interface.subnet_id)
            };
            let why = format!("its interface {} is in {}", other.network_interface_id, other.subnet_id);
            let before = judged.serving.iter().all(is_own);
            return Some((if before { Elsewhere::FromBefore } else { Elsewhere::OtherSubnet }, why));
        }
        let takes_pods = |primary: &&NetworkInterface| {
            primary.secondary_private_ip_addresses > 0 || !primary.ipv4_prefixes.is_empty()
        };
        if let Some(primary) = judged.primary.filter(takes_pods) {
            let own = judged.serving.is_empty();
            let why = format!("its primary interface {} holds addresses for pods", primary.network_interface_id);
            return Some((if own { Elsewhere::FromBefore } else { Elsewhere::Primary }, why));
        }
        if let Some(pod) = judged.pods.elsewhere.first() {
            let ip = pod.ip.map(|ip| ip.to_string()).unwrap_or_default();
            let in_own =
                |pod: &&Pod| pod.ip.zip(judged.node_subnet).is_some_and(|(ip, subnet)| subnet.cidr_block.contains(&ip));
            let before = judged.serving.is_empty() && judged.pods.elsewhere.iter().all(in_own);
            let why = format!("pod {}/{} has {ip}, outside {}", pod.namespace, pod.name, wanted.cidr_block);
            return Some((if before { Elsewhere::FromBefore } else { Elsewhere::Pods }, why));
        }
        let groups = self.groups_of(judged)?;
        let other = judged.serving.iter().find(|interface| interface.groups != groups)?;
        let why = format!("its interface {} has the groups {}", other.network_interface_id, other.groups.join(", "));
        Some((Elsewhere::OtherGroups, why))
    }

    /// The groups that the node's pod interfaces should have, sorted; empty lists mean those of the primary interface.
    fn groups_of(&self, judged: &JudgedNode<'_>) -> Option<Vec<String>> {
        let name = &judged.resolution.eni_config;
        let planned = self.facts.plan.eni_configs.iter().find(|planned| planned.name == *name);
        let groups = match planned {
            Some(planned) => &planned.security_groups,
            None => &self.live(name)?.security_groups,
        };
        let mut groups = if groups.is_empty() { judged.primary?.groups.clone() } else { groups.clone() };
        groups.sort();
        Some(groups)
    }
}

/// What the plan gives a node of a group. Among several candidates the choice of the node's own template stands, where
/// it is one of them: weights follow the free addresses of the day, and the next plan's are not yesterday's nodes' fault.
fn wanted(group: &NodeGroupPlan, node: &Node, node_subnet: Option<&Subnet>, given: &Given) -> Option<String> {
    let row = node_subnet.and_then(|subnet| group.assignments.iter().find(|row| row.subnet_id == subnet.subnet_id));
    let Some(row) = row else {
        return node.zone().filter(|_| group.on_no_match == OnNoMatch::Zone).map(str::to_owned);
    };
    if let Given::Name(given) = given
        && row.candidates.iter().any(|candidate| candidate.eni_config == *given)
    {
        return Some(given.clone());
    }
    let bounds: Vec<u64> = row.candidates.iter().map(|candidate| candidate.bound).collect();
    let candidate = match row.candidates.as_slice() {
        [only] => only,
        several => several.get(choose(&bounds, node.instance_id.as_deref()?)?)?,
    };
    Some(candidate.eni_config.clone())
}

/// The tables of all versions that were read; `None` where there is no part of ours.
fn tables<'a>(facts: &Facts<'a>) -> BTreeMap<(&'a str, i64), Option<BootTable>> {
    let mut tables = BTreeMap::new();
    for template in &facts.inventory.launch_templates {
        for version in &template.versions {
            let user_data = version.launch_template_data.user_data.as_ref().map(|bytes| bytes.0.as_slice());
            let Ok(document) = user_data::read(user_data.unwrap_or_default()) else { continue };
            tables.insert((template.launch_template_id.as_str(), version.version_number), boot_table(&document));
        }
    }
    tables
}

fn tally<'a>(pods: Option<&Vec<&'a Pod>>, pod_subnet: Option<&Subnet>) -> Pods<'a> {
    let mut tally = Pods::default();
    for pod in pods.into_iter().flatten() {
        match pod.address_in_pod_subnet() {
            Some(ip) if pod_subnet.is_some_and(|subnet| subnet.cidr_block.contains(&ip)) => tally.right += 1,
            Some(_) if pod_subnet.is_some() => tally.elsewhere.push(pod),
            Some(_) => {}
            None if pod.host_network => tally.host_network += 1,
            None if pod.branch_interface && pod.phase == PodPhase::Running => tally.branch += 1,
            None => tally.without_address += 1,
        }
    }
    tally
}
