//! Everything that was read from AWS and Kubernetes, as one value that can be written to a file and read back.
//!
//! Purely descriptive: names are the APIs' own, in snake case; opinions live in `check/`, decisions in `plan/`.
//! Lists are kept in a stable order (see [`Inventory::sort`]), so that the same cluster gives the same file whatever
//! order the pages of an API came in. What could not be read is not left out silently but recorded as a [`Gap`].

mod cluster;
mod cni;
mod documents;
pub(crate) mod kubernetes;
pub(crate) mod named;
mod network;
mod node;
mod node_group;
mod observed;
mod pseudonyms;
pub mod redact;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cluster::{Cluster, OutpostConfig};
pub(crate) use cni::owned_by_helm;
pub use cni::{AddOn, AwsNode, CniSettings, CniVersion, DEFAULT_ENI_CONFIG_KEY, EniConfig, EniConfigCrd, FieldManager};
pub use documents::{from_documents, is_document};
pub use named::AlsoRead;
pub use network::{CidrBlockAssociation, Route, RouteTable, SecurityGroup, SecurityGroupRule, Subnet, Vpc};
pub use node::Node;
pub use node_group::{
    AmiRelease, Image, InstanceType, LaunchTemplate, LaunchTemplateSpecification, LaunchTemplateVersion, NetworkCard,
    NodeGroup, RemoteAccess, ScalingConfig, Taint,
};
pub use observed::{
    Attachment, CniNode, Ec2NodeClass, NetworkInterface, NodePool, Observed, Pod, PodPhase, SecurityGroupPolicy,
};
pub use pseudonyms::Pseudonyms;

use crate::error::{Error, Position};

/// The schema version that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

/// One cluster and everything around it that a plan depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inventory {
    /// Version of this file's shape.
    pub schema_version: u32,
    /// When it was read, RFC 3339 in UTC. The only time the core knows; it enters no hash and no rendered file.
    pub collected_at: String,
    /// Region of the cluster.
    pub region: String,
    /// AWS account that was asked.
    #[serde(default)]
    pub account_id: Option<String>,
    /// Names and ids were replaced by pseudonyms, foreign user data by its size and hash.
    #[serde(default)]
    pub redacted: bool,
    /// DescribeCluster.
    pub cluster: Cluster,
    /// DescribeVpcs of the cluster's VPC.
    #[serde(default)]
    pub vpc: Option<Vpc>,
    /// DescribeSubnets of the VPC.
    #[serde(default)]
    pub subnets: Vec<Subnet>,
    /// DescribeSecurityGroups of those that are named anywhere.
    #[serde(default)]
    pub security_groups: Vec<SecurityGroup>,
    /// DescribeRouteTables of the VPC.
    #[serde(default)]
    pub route_tables: Vec<RouteTable>,
    /// ListNodegroups and DescribeNodegroup.
    #[serde(default)]
    pub node_groups: Vec<NodeGroup>,
    /// DescribeLaunchTemplates with the versions in use.
    #[serde(default)]
    pub launch_templates: Vec<LaunchTemplate>,
    /// DescribeImages of the images that templates name.
    #[serde(default)]
    pub images: Vec<Image>,
    /// DescribeInstanceTypes of the types in use.
    #[serde(default)]
    pub instance_types: Vec<InstanceType>,
    /// The vpc-cni add-on, where it is one.
    #[serde(default)]
    pub add_on: Option<AddOn>,
    /// The ENIConfig custom resource definition, where it is installed.
    #[serde(default)]
    pub eni_config_crd: Option<EniConfigCrd>,
    /// All ENIConfig objects.
    #[serde(default)]
    pub eni_configs: Vec<EniConfig>,
    /// The aws-node DaemonSet, where there is one.
    #[serde(default)]
    pub aws_node: Option<AwsNode>,
    /// All nodes.
    #[serde(default)]
    pub nodes: Vec<Node>,
    /// What `inventory --for verify` reads on top; absent in an inventory that was made for planning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Observed>,
    /// Reads that were denied or failed.
    #[serde(default)]
    pub gaps: Vec<Gap>,
}

/// A read that was denied or failed. Nothing is guessed from it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// What would be known: the name of the inventory's field.
    pub source: GapSource,
    /// IAM action, or verb and resource of Kubernetes, such as `ec2:DescribeSubnets` or `list eniconfigs`.
    pub action: String,
    /// What it was asked of, such as a launch template id.
    #[serde(default)]
    pub resource: Option<String>,
    /// The API's error code, such as `UnauthorizedOperation` or `403`.
    #[serde(default)]
    pub code: Option<String>,
    /// What the API said.
    pub message: String,
    /// Who asked, as the ARN of the caller.
    #[serde(default)]
    pub caller: Option<String>,
}

/// Code of a gap that is there because a folder lacks a file; its message has the command that makes it.
const NO_FILE: &str = "NoFile";

impl Gap {
    /// The command that makes the file, where it is a folder that lacks one. The message has it between backticks.
    pub fn missing_file_command(&self) -> Option<&str> {
        self.code.as_deref().filter(|code| *code == NO_FILE).and(self.message.split('`').nth(1))
    }

    /// What it was asked of, where the action does not say that already.
    pub fn asked_of(&self) -> Option<&str> {
        self.resource.as_deref().filter(|resource| !self.action.ends_with(&format!(" {resource}")))
    }

    /// What closes it, to begin a help line.
    pub fn remedy(&self) -> String {
        if self.missing_file_command().is_some() { "make the file".into() } else { format!("allow `{}`", self.action) }
    }
}

/// The part of the inventory that a [`Gap`] leaves empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum GapSource {
    Vpc,
    Subnets,
    SecurityGroups,
    RouteTables,
    NodeGroups,
    LaunchTemplates,
    Images,
    InstanceTypes,
    AddOn,
    EniConfigCrd,
    EniConfigs,
    AwsNode,
    Nodes,
    Pods,
    NetworkInterfaces,
    CniNodes,
    SecurityGroupPolicies,
    NodePools,
    Ec2NodeClasses,
}

impl GapSource {
    /// The part as people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vpc => "VPC",
            Self::Subnets => "subnets",
            Self::SecurityGroups => "security groups",
            Self::RouteTables => "route tables",
            Self::NodeGroups => "node groups",
            Self::LaunchTemplates => "launch templates",
            Self::Images => "images",
            Self::InstanceTypes => "instance types",
            Self::AddOn => "vpc-cni add-on",
            Self::EniConfigCrd => "ENIConfig definition",
            Self::EniConfigs => "ENIConfigs",
            Self::AwsNode => "aws-node",
            Self::Nodes => "nodes",
            Self::Pods => "pods",
            Self::NetworkInterfaces => "network interfaces",
            Self::CniNodes => "CNINodes",
            Self::SecurityGroupPolicies => "SecurityGroupPolicies",
            Self::NodePools => "NodePools",
            Self::Ec2NodeClasses => "EC2NodeClasses",
        }
    }

    /// Whether the Kubernetes API has it, so that a role of Kubernetes lets it be read.
    pub fn is_of_kubernetes(self) -> bool {
        matches!(
            self,
            Self::EniConfigCrd
                | Self::EniConfigs
                | Self::AwsNode
                | Self::Nodes
                | Self::Pods
                | Self::CniNodes
                | Self::SecurityGroupPolicies
                | Self::NodePools
                | Self::Ec2NodeClasses
        )
    }
}

/// What only `inventory --for verify` reads.
pub const OBSERVED: [GapSource; 6] = [
    GapSource::Pods,
    GapSource::NetworkInterfaces,
    GapSource::CniNodes,
    GapSource::SecurityGroupPolicies,
    GapSource::NodePools,
    GapSource::Ec2NodeClasses,
];

impl Inventory {
    /// The parts that were not read, or not whole.
    pub fn unread(&self) -> BTreeSet<GapSource> {
        let observed = if self.observed.is_none() { &OBSERVED[..] } else { &[] };
        self.gaps.iter().map(|gap| gap.source).chain(observed.iter().copied()).collect()
    }

    /// Reads an inventory from JSON text. `path` is used in errors only.
    ///
    /// # Errors
    /// [`Error::Inventory`] with line and column when it is not one; [`Error::UnknownSchemaVersion`] when another
    /// generation of the program wrote it.
    pub fn from_json(text: &str, path: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Version {
            schema_version: u64,
        }
        let not_an_inventory = |error: serde_json::Error| Error::Inventory {
            path: path.into(),
            position: Position { line: error.line().max(1), column: error.column().max(1) },
            message: in_words(&error.to_string()),
        };
        // Windows PowerShell begins UTF-8 files with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if !text.trim_start().starts_with('{') {
            return Err(Error::Inventory {
                path: path.into(),
                position: Position { line: 1, column: 1 },
                message: if text.trim().is_empty() { "the file is empty" } else { "it does not begin with `{`" }.into(),
            });
        }
        let version: Version = serde_json::from_str(text).map_err(not_an_inventory)?;
        if version.schema_version != u64::from(SCHEMA_VERSION) {
            return Err(Error::UnknownSchemaVersion {
                path: path.into(),
                found: version.schema_version,
                supported: SCHEMA_VERSION.to_string(),
            });
        }
        let mut inventory: Self = serde_json::from_str(text).map_err(not_an_inventory)?;
        inventory.sort();
        Ok(inventory)
    }

    /// Writes the inventory as JSON text with a final newline.
    ///
    /// # Errors
    /// [`Error::Serialise`]; a defect of the program.
    pub fn to_json(&self) -> Result<String, Error> {
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|source| Error::Serialise { what: "the inventory".into(), source: source.into() })?;
        text.push('\n');
        Ok(text)
    }

    /// Brings every list into its stable order, by id or name.
    pub fn sort(&mut self) {
        self.cluster.subnet_ids.sort();
        self.cluster.security_group_ids.sort();
        if let Some(vpc) = &mut self.vpc {
            vpc.cidr_block_associations.sort();
        }
        self.subnets.sort_by(|a, b| a.subnet_id.cmp(&b.subnet_id));
        self.security_groups.sort_by(|a, b| a.group_id.cmp(&b.group_id));
        self.security_groups.iter_mut().for_each(SecurityGroup::sort);
        self.route_tables.sort_by(|a, b| a.route_table_id.cmp(&b.route_table_id));
        self.route_tables.iter_mut().for_each(RouteTable::sort);
        self.node_groups.sort_by(|a, b| a.name.cmp(&b.name));
        for node_group in &mut self.node_groups {
            node_group.subnets.sort();
        }
        self.launch_templates.sort_by(|a, b| a.launch_template_id.cmp(&b.launch_template_id));
        for template in &mut self.launch_templates {
            template.versions.sort_by_key(|version| version.version_number);
        }
        self.images.sort_by(|a, b| a.image_id.cmp(&b.image_id));
        self.instance_types.sort_by(|a, b| a.instance_type.cmp(&b.instance_type));
        self.eni_configs.sort_by(|a, b| a.name.cmp(&b.name));
        self.nodes.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(observed) = &mut self.observed {
            observed.sort();
        }
        self.gaps.sort();
    }

    /// The subnet of that id.
    pub fn subnet(&self, subnet_id: &str) -> Option<&Subnet> {
        self.subnets.iter().find(|subnet| subnet.subnet_id == subnet_id)
    }

    /// The security group of that id.
    pub fn security_group(&self, group_id: &str) -> Option<&SecurityGroup> {
        self.security_groups.iter().find(|group| group.group_id == group_id)
    }

    /// The managed node group of that name.
    pub fn node_group(&self, name: &str) -> Option<&NodeGroup> {
        self.node_groups.iter().find(|node_group| node_group.name == name)
    }

    /// The launch template of that id.
    pub fn launch_template(&self, launch_template_id: &str) -> Option<&LaunchTemplate> {
        self.launch_templates.iter().find(|template| template.launch_template_id == launch_template_id)
    }

    /// The image of that id.
    pub fn image(&self, image_id: &str) -> Option<&Image> {
        self.images.iter().find(|image| image.image_id == image_id)
    }

    /// The instance type of that name.
    pub fn instance_type(&self, name: &str) -> Option<&InstanceType> {
        self.instance_types.iter().find(|instance_type| instance_type.instance_type == name)
    }

    /// The ENIConfig of that name.
    pub fn eni_config(&self, name: &str) -> Option<&EniConfig> {
        self.eni_configs.iter().find(|eni_config| eni_config.name == name)
    }

    /// What was read for `verify`; nothing where it was not.
    pub fn observed(&self) -> &Observed {
        static NOTHING: Observed = Observed {
            pods: Vec::new(),
            network_interfaces: Vec::new(),
            cni_nodes: Vec::new(),
            security_group_policies: Vec::new(),
            node_pools: Vec::new(),
            ec2_node_classes: Vec::new(),
        };
        self.observed.as_ref().unwrap_or(&NOTHING)
    }

    /// The reads of that part which did not succeed.
    pub fn gaps_in(&self, source: GapSource) -> impl Iterator<Item = &Gap> {
        self.gaps.iter().filter(move |gap| gap.source == source)
    }

    /// The nodes of a managed node group.
    pub fn nodes_of<'a>(&'a self, node_group: &'a str) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(move |node| node.node_group() == Some(node_group))
    }
}

/// A message of serde_json without its position, which the error already says, and without Rust's names of types.
fn in_words(message: &str) -> String {
    let message = message.rsplit_once(" at line ").map_or(message, |(text, _)| text);
    let Some((said, expected)) = message.rsplit_once("expected ") else { return message.into() };
    let expected = match expected {
        "u64" | "u32" | "i64" => "a whole number",
        "a map" => "an object",
        "a sequence" => "a list",
        _ if expected.starts_with("struct ") => "an object",
        _ => expected,
    };
    format!("{said}expected {expected}")
}
