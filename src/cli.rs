//! The command line: clap types and nothing else.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use ipnet::Ipv4Net;

use crate::net::parse_ipv4_cidr;

/// What `--help` ends with.
const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 could not do it, 2 usage, 3 there are differences, 4 findings of severity error, 130 interrupted.
Data goes to standard output, everything else to standard error.";

const INIT_EXAMPLES: &str = "\
Examples:
  # From a file, without credentials
  eniplan init --inventory inventory.json

  # Look first, write later
  eniplan init --inventory inventory.json --output-file - | less

Pools come from subnets tagged eniplan.dev/pool=NAME and from the ENIConfigs of the cluster, else from subnets that
nobody uses. Comments in the file say why it says what it says. A file that is there is never overwritten.";

const GENERATE_EXAMPLES: &str = "\
Examples:
  # From a file, without credentials
  eniplan generate --inventory inventory.json --config eniplan.yaml --out-dir eniplan-out

  # One node group's user data on standard output
  eniplan generate --inventory inventory.json --config eniplan.yaml --node-group batch --print user-data

Nothing is written when the plan has findings of severity error.";

const PLAN_EXAMPLES: &str = "\
Examples:
  eniplan plan --inventory inventory.json --config eniplan.yaml
  eniplan plan --inventory inventory.json --config eniplan.yaml -o json | jq .findings

  # A phase of spec.phases, and the move to it from the one before
  eniplan plan --inventory inventory.json --config eniplan.yaml --phase NAME";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  # A node of the cluster
  eniplan explain --inventory inventory.json ip-10-0-17-5.eu-west-1.compute.internal

  # A node that the group could launch
  eniplan explain --inventory inventory.json --node-group batch --subnet-cidr 10.0.16.0/20

  # Under the strategy hash the instance id decides
  eniplan explain --inventory inventory.json --node-group batch --subnet-cidr 10.0.16.0/20 --instance-id i-0123456789abcdef0";
const CAPACITY_EXAMPLES: &str = "\
Examples:
  # Will the groups fit, and what is full first
  eniplan capacity --inventory inventory.json --config eniplan.yaml

  # When, if six nodes come every week; and what a further /20 would buy
  eniplan capacity --inventory inventory.json --config eniplan.yaml --growth 6 --add /20

  # When, if only one group grows
  eniplan capacity --inventory inventory.json --config eniplan.yaml --growth batch=4

  # All phases of spec.phases, each with what makes the next one necessary
  eniplan capacity --inventory inventory.json --config eniplan.yaml --phases

  # The same as a page with pictures
  eniplan capacity --inventory inventory.json --config eniplan.yaml --phases --html capacity.html

All figures are for full nodes: as many pods as kubelet takes. Exit code 4: a pod subnet cannot hold its groups at their
largest sizes.";

const ADVISE_EXAMPLES: &str = "\
Examples:
  # Which mechanism fits, and what it needs
  eniplan advise --inventory inventory.json --config eniplan.yaml

  # What another one that fits would need
  eniplan advise --inventory inventory.json --config eniplan.yaml --mechanism static-labels

Without eniplan.yaml the wishes come from tags and from the ENIConfigs of the cluster.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  eniplan completions bash > /etc/bash_completion.d/eniplan
  eniplan completions zsh > \"${fpath[1]}/_eniplan\"";

const MAN_EXAMPLES: &str = "\
Examples:
  eniplan man > eniplan.1
  eniplan man generate > eniplan-generate.1";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  eniplan schema config > eniplan.schema.json

Editors with the YAML language server check the file when its first line is
  # yaml-language-server: $schema=eniplan.schema.json";

/// Plans which ENIConfig each node of an Amazon EKS cluster uses when there are several pod subnets per availability
/// zone, and renders the files that make it so.
#[derive(Debug, Parser)]
#[command(name = "eniplan", version, after_help = EXIT_CODES, propagate_version = true, max_term_width = 120)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,

    /// Print findings of severity error and results only.
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Say more about what is done and why.
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Propose an eniplan.yaml from what the cluster has
    #[command(after_help = INIT_EXAMPLES)]
    Init(InitArgs),
    /// Show what would be decided, and why
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArgs),
    /// Write ENIConfigs, user data, launch-template data and CNI settings as files
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate(GenerateArgs),
    /// Explain which ENIConfig a node uses, and why
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Show what pod subnets hold, and when they are full
    #[command(after_help = CAPACITY_EXAMPLES)]
    Capacity(CapacityArgs),
    /// Say which mechanism fits this cluster at the least cost, and what it needs
    #[command(after_help = ADVISE_EXAMPLES)]
    Advise(AdviseArgs),
    /// Print the JSON Schema of a file format
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema(SchemaArgs),
    /// Print the completion script of a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print a manual page
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArgs),
}

/// Where the cluster and the wishes come from.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// EKS cluster
    #[arg(short, long, value_name = "NAME")]
    pub cluster: Option<String>,

    /// AWS Region
    #[arg(short, long, value_name = "REGION", env = "AWS_REGION")]
    pub region: Option<String>,

    /// Profile of the AWS configuration
    #[arg(short, long, value_name = "NAME", env = "AWS_PROFILE")]
    pub profile: Option<String>,

    /// What is wanted; without it eniplan.yaml of this folder, where there is one
    #[arg(short = 'f', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,

    /// Work from this inventory instead of the cluster; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub inventory: Option<PathBuf>,

    /// Limit to this node group
    #[arg(long, value_name = "NAME")]
    pub node_group: Option<String>,

    /// Plan this phase of spec.phases instead of spec.currentPhase
    #[arg(long, value_name = "NAME")]
    pub phase: Option<String>,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Human,
    /// For programs.
    Json,
}

/// `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// EKS cluster
    #[arg(short, long, value_name = "NAME")]
    pub cluster: Option<String>,

    /// AWS Region
    #[arg(short, long, value_name = "REGION", env = "AWS_REGION")]
    pub region: Option<String>,

    /// Profile of the AWS configuration
    #[arg(short, long, value_name = "NAME", env = "AWS_PROFILE")]
    pub profile: Option<String>,

    /// Work from this inventory instead of the cluster; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub inventory: Option<PathBuf>,

    /// File to write; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "eniplan.yaml", value_hint = ValueHint::FilePath)]
    pub output_file: PathBuf,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub output: Format,
}

impl InitArgs {
    /// Where the cluster comes from; there are no wishes yet.
    pub fn source(&self) -> SourceArgs {
        SourceArgs {
            cluster: self.cluster.clone(),
            region: self.region.clone(),
            profile: self.profile.clone(),
            config: None,
            inventory: self.inventory.clone(),
            node_group: None,
            phase: None,
        }
    }
}

/// `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub source: SourceArgs,

    /// Write the plan with pictures as one page for a browser, too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub output: Format,
}

/// `generate`.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub source: SourceArgs,

    /// Folder to write to
    #[arg(long, value_name = "DIR", default_value = "eniplan-out", value_hint = ValueHint::DirPath)]
    pub out_dir: PathBuf,

    /// Write one thing to standard output instead of files
    #[arg(long, value_name = "WHAT", conflicts_with = "out_dir")]
    pub print: Option<Printed>,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub output: Format,
}

/// `capacity`.
#[derive(Debug, Args)]
pub struct CapacityArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub source: SourceArgs,

    /// Nodes that come every week: of all groups together, or of one group; may be given several times
    #[arg(long, value_name = "[GROUP=]NODES", value_parser = growth)]
    pub growth: Vec<GrowthOf>,

    /// Say what a further pod subnet of this size would hold, such as /20
    #[arg(long, value_name = "/LENGTH", value_parser = subnet_length)]
    pub add: Option<u8>,

    /// Write the figures with pictures as one page for a browser, too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,

    /// Show the spec without phases, then every phase
    #[arg(long, conflicts_with = "phase")]
    pub phases: bool,

    /// Interfaces on the default network card of every node that the CNI leaves alone
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub unmanaged_interfaces: u32,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub output: Format,
}

/// `advise`.
#[derive(Debug, Args)]
pub struct AdviseArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub source: SourceArgs,

    /// Say what this mechanism needs, instead of the cheapest that fits
    #[arg(long, value_name = "NAME")]
    pub mechanism: Option<MechanismArg>,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub output: Format,
}

/// What `advise --mechanism` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MechanismArg {
    /// Tagged subnets, chosen by the VPC CNI.
    SubnetDiscovery,
    /// ENIConfigs named by zone.
    ZoneNamedEniConfigs,
    /// One-zone node groups with a static label.
    StaticLabels,
    /// User data that finds the ENIConfig at boot.
    BootTimeMapping,
    /// A NodeClass of EKS Auto Mode.
    AutoMode,
}

/// One `--growth`.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthOf {
    /// The group; `None` means all groups that have no figure of their own, together.
    pub node_group: Option<String>,
    /// Nodes a week.
    pub nodes: f64,
}

fn growth(text: &str) -> Result<GrowthOf, String> {
    let (node_group, nodes) = match text.split_once('=') {
        Some((group, nodes)) => (Some(group.to_owned()), nodes),
        None => (None, text),
    };
    match nodes.parse::<f64>() {
        Ok(nodes) if nodes.is_finite() && nodes > 0.0 => Ok(GrowthOf { node_group, nodes }),
        _ => Err("expected a number of nodes a week above zero, such as 6 or batch=1.5".into()),
    }
}

/// Lengths that a subnet can have. Source: VPC user guide, "Subnet sizing".
fn subnet_length(text: &str) -> Result<u8, String> {
    match text.strip_prefix('/').unwrap_or(text).parse() {
        Ok(length) if (16..=28).contains(&length) => Ok(length),
        _ => Err("expected the prefix length of a subnet, from /16 to /28".into()),
    }
}

/// What `generate --print` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Printed {
    /// User data of the node group named by --node-group.
    UserData,
    /// All ENIConfig manifests.
    Eniconfigs,
    /// The launch-template request of the node group named by --node-group.
    LaunchTemplate,
}

/// `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub source: SourceArgs,

    /// Node of the cluster, by name; --node-group says which group it is of, where no label does
    #[arg(value_name = "NODE", required_unless_present = "subnet_cidr", conflicts_with_all = ["subnet_cidr", "instance_id"])]
    pub node: Option<String>,

    /// Instead of a node: CIDR of the node subnet of one that --node-group could launch
    #[arg(long, value_name = "CIDR", requires = "node_group", value_parser = parse_ipv4_cidr)]
    pub subnet_cidr: Option<Ipv4Net>,

    /// Its instance id
    #[arg(long, value_name = "ID", requires = "subnet_cidr")]
    pub instance_id: Option<String>,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub output: Format,
}

/// `schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// The format
    pub what: SchemaOf,
}

/// File formats with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// eniplan.yaml.
    Config,
    /// The inventory.
    Inventory,
    /// The plan, as in plan.json.
    Plan,
}

/// `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command; without one, the page of eniplan itself
    pub command: Option<String>,
}
