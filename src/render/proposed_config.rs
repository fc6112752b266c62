//! The text of a proposed `eniplan.yaml`, and the commands that make the pod subnets which it lacks.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use super::registry::{self, Template, yaml_scalar};
use crate::config::{Config, PoolConfig, PoolNames, Strategy, Weights};
use crate::error::Error;
use crate::plan::POOL_TAG;
use crate::plan::proposal::{FirstGroups, NewSubnets, OtherNodes, Proposal};

const CONFIG: Template =
    Template { name: "eniplan.yaml.hbs", source: include_str!("../../templates/eniplan.yaml.hbs") };
const NEW_SUBNETS: Template =
    Template { name: "new-subnets.sh.hbs", source: include_str!("../../templates/new-subnets.sh.hbs") };

/// Columns of a comment.
const WIDTH: usize = 108;

/// The text of the file. It is read back: what it says is what was proposed.
///
/// # Errors
/// [`Error::Template`] and [`Error::RenderedInvalid`]; defects of the program.
pub fn proposed_config(proposal: &Proposal) -> Result<String, Error> {
    let text = registry::render(CONFIG, &View::of(proposal)?)?;
    let what = "eniplan.yaml";
    let invalid = |reason: String| Error::RenderedInvalid { what: what.into(), reason };
    let read = Config::from_yaml(&text, what).map_err(|error| invalid(error.to_string()))?;
    if read == proposal.config { Ok(text) } else { Err(invalid("it does not say what was proposed".into())) }
}

/// The commands that make new pod subnets, one a line, with notes as comments.
///
/// # Errors
/// [`Error::Template`]; a defect of the program.
pub fn new_subnet_commands(new: &NewSubnets) -> Result<String, Error> {
    let subnet = |subnet: &crate::plan::proposal::NewSubnet| {
        let tag = |key: &str, value: &str| json!({ "Key": key, "Value": value });
        let tags = [tag("Name", &subnet.name), tag(POOL_TAG, &subnet.pool)];
        json!({
            "availability_zone_id": subnet.availability_zone_id,
            "outpost_arn": subnet.outpost_arn,
            "cidr": subnet.cidr,
            "tags": json!([{ "ResourceType": "subnet", "Tags": tags }]).to_string(),
        })
    };
    registry::render(
        NEW_SUBNETS,
        &json!({
            "notes": new.notes.iter().flat_map(|note| wrapped(note)).collect::<Vec<_>>(),
            "region": new.region,
            "vpc_id": new.vpc_id,
            "associate": new.associate,
            "subnets": new.subnets.iter().map(subnet).collect::<Vec<_>>(),
        }),
    )
}

/// What the template reads.
#[derive(Serialize)]
struct View<'a> {
    file: Vec<String>,
    cluster: &'a str,
    region: &'a str,
    label: Vec<String>,
    label_design: Option<&'static str>,
    security_group_reasons: Vec<String>,
    security_groups: Option<&'a Vec<String>>,
    pools: Vec<Pool<'a>>,
    left_out: Vec<String>,
    node_group_reasons: Vec<String>,
    node_groups: Vec<NodeGroup<'a>>,
    other_nodes: Vec<String>,
    first_groups: Vec<String>,
    ignore: Vec<Ignored<'a>>,
}

#[derive(Serialize)]
struct Pool<'a> {
    name: &'a str,
    why: Vec<String>,
    names: Option<&'static str>,
    subnet_tags: &'a BTreeMap<String, String>,
    subnets: Vec<Subnet<'a>>,
    security_groups: Option<&'a Vec<String>>,
}

#[derive(Serialize)]
struct Subnet<'a> {
    id: &'a str,
    name: Option<&'a str>,
    place: &'a str,
}

#[derive(Serialize)]
struct NodeGroup<'a> {
    name: &'a str,
    why: Vec<String>,
    pools: &'a [String],
    map: Vec<MapRow<'a>>,
    strategy: Option<&'static str>,
    weights: Option<&'static str>,
    adopt: bool,
    successor: Option<&'a str>,
}

#[derive(Serialize)]
struct MapRow<'a> {
    cidr: String,
    eni_configs: &'a [String],
}

#[derive(Serialize)]
struct Ignored<'a> {
    name: &'a str,
    why: Vec<String>,
}

impl<'a> View<'a> {
    fn of(proposal: &'a Proposal) -> Result<Self, Error> {
        let Proposal { config, reasons, further_pools, places, new_subnets, other_nodes, first_groups } = proposal;
        let because = |reasons: Option<&Vec<String>>| -> Vec<String> {
            reasons.into_iter().flatten().flat_map(|reason| wrapped(reason)).collect()
        };
        let mut file = wrapped(&format!(
            "Which pod subnets the node groups of {} draw from, as `eniplan init` proposes it. Comments say why; change what is \
             not meant so, and look at the result with `eniplan plan`.",
            config.cluster
        ));
        file.extend(because(Some(&reasons.file)));
        if let Some(new) = new_subnets {
            file.push(String::new());
            file.extend(wrapped(
                "Pod subnets are missing. These commands make them; then read the inventory anew, and run `eniplan init` again:",
            ));
            file.extend(new_subnet_commands(new)?.lines().map(str::to_owned));
        }
        let pool = |(name, pool): (&'a String, &'a PoolConfig)| Pool {
            name,
            why: because(reasons.pools.get(name)),
            names: pool.names.map(|names| match names {
                PoolNames::Zone => "zone",
                PoolNames::Subnet => "subnet",
            }),
            subnet_tags: &pool.subnet_tags,
            subnets: pool
                .subnets
                .iter()
                .map(|subnet| Subnet {
                    id: &subnet.id,
                    name: subnet.name.as_deref(),
                    place: places.get(&subnet.id).map_or("", String::as_str),
                })
                .collect(),
            security_groups: pool.security_groups.as_ref(),
        };
        let node_group = |group: &'a crate::config::NodeGroupConfig| NodeGroup {
            name: &group.name,
            why: because(reasons.node_groups.get(&group.name)),
            pools: &group.pools,
            map: group
                .map
                .iter()
                .map(|row| MapRow { cidr: row.cidr.to_string(), eni_configs: &row.eni_configs })
                .collect(),
            strategy: (group.strategy == Strategy::Hash).then_some("hash"),
            weights: (group.weights == Weights::Usable).then_some("usable"),
            adopt: group.adopt,
            successor: group.successor.as_deref(),
        };
        let ignored = |name: &'a String| Ignored {
            name,
            why: reasons.ignore.get(name).into_iter().flat_map(|reason| wrapped(reason)).collect(),
        };
        let further = further_pools.iter().flat_map(|(name, pool)| {
            let mut lines = because(reasons.pools.get(name));
            lines.extend(as_comment(name, pool, places));
            lines
        });
        let left_out = reasons.left_out.iter().flat_map(|reason| wrapped(&format!("In no pool: {reason}.")));
        Ok(Self {
            file,
            cluster: &config.cluster,
            region: config.region.as_deref().unwrap_or_default(),
            label_design: config.label.as_ref().map(|label| label.design.word()),
            label: reasons.label.iter().flat_map(|label| wrapped(label)).collect(),
            security_group_reasons: because(Some(&reasons.security_groups)),
            security_groups: config.security_groups.as_ref(),
            pools: config.pools.iter().map(pool).collect(),
            left_out: further.chain(left_out).collect(),
            node_group_reasons: explained(config),
            node_groups: config.node_groups.iter().map(node_group).collect(),
            other_nodes: other_nodes.iter().flat_map(other).collect(),
            first_groups: first_groups.iter().flat_map(to_be_described).collect(),
            ignore: config.ignore.iter().map(ignored).collect(),
        })
    }
}

/// What the keys mean that several groups have.
fn explained(config: &Config) -> Vec<String> {
    let mut lines = Vec::new();
    if config.node_groups.iter().any(|group| group.adopt) {
        lines.extend(wrapped(
            "adopt: eniplan adds versions to a launch template that is not its own, which change the user data and nothing \
             else. Whoever made the template, such as Terraform or CloudFormation, may revert that.",
        ));
    }
    if config.node_groups.iter().any(|group| group.strategy == Strategy::Hash) {
        lines.extend(wrapped(
            "strategy hash: several pod subnets are in one zone, and a node picks one of them by a hash of its instance id, in \
             proportion to what they hold.",
        ));
    }
    lines
}

/// A pool to be uncommented.
fn as_comment(name: &str, pool: &PoolConfig, places: &BTreeMap<String, String>) -> Vec<String> {
    let mut lines = vec![format!("{}:", yaml_scalar(name))];
    if let Some(names) = pool.names {
        lines.push(format!("  names: {}", if names == PoolNames::Zone { "zone" } else { "subnet" }));
    }
    lines.push("  subnets:".into());
    for subnet in &pool.subnets {
        let place = places.get(&subnet.id).map_or("", String::as_str);
        lines.push(format!("    - id: {} # {place}", yaml_scalar(&subnet.id)));
        lines.extend(subnet.name.as_ref().map(|name| format!("      name: {}", yaml_scalar(name))));
    }
    lines
}

/// Nodes that the file does not plan: what the user has to say about them.
fn other(nodes: &OtherNodes) -> Vec<String> {
    let count = if nodes.count == 1 { "1 node belongs".into() } else { format!("{} nodes belong", nodes.count) };
    if nodes.karpenter {
        return wrapped(&format!(
            "{count} to Karpenter, which keeps user data and labels in its own objects: `eniplan generate --for karpenter` writes them."
        ));
    }
    let mut lines = wrapped(&format!(
        "{count} to no managed node group. To plan an Auto Scaling group of your own, describe it under nodeGroups:"
    ));
    lines.extend([
        "- name: NAME".into(),
        "  pools: [POOL]".into(),
        "  managed: false".into(),
        "  amiFamily: AL2023".into(),
        "  imageId: ami-…".into(),
        format!("  subnets: [{}]", list(&nodes.subnets)),
        format!("  instanceTypes: [{}]", list(&nodes.instance_types)),
    ]);
    lines
}

fn list(items: &[String]) -> String {
    items.iter().map(|item| yaml_scalar(item)).collect::<Vec<_>>().join(", ")
}

/// Groups that EKS does not know yet, to be uncommented: as much of each as the cluster tells.
fn to_be_described(first: &FirstGroups) -> Vec<String> {
    let FirstGroups { pools, subnets } = first;
    let mut lines = wrapped(
        "No node group is there yet. Describe those that are to be made, one for each pool for instance, and put what is meant \
         in place of the capitals; `eniplan apply --roll` makes them.",
    );
    lines.push("nodeGroups:".into());
    for pool in pools {
        lines.extend([
            "  - name: NAME".into(),
            format!("    pools: [{}]", yaml_scalar(pool)),
            "    amiFamily: AL2023".into(),
            format!("    subnets: [{}]", list(subnets)),
            "    instanceTypes: [TYPE]".into(),
            "    nodeRole: ARN-OF-THE-NODE-ROLE".into(),
            "    scaling: {min: 1, max: 6, desired: 3}".into(),
        ]);
    }
    lines
}

/// A text in lines of a comment's width.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
