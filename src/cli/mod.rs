//! The command line: clap types and nothing else.

mod capacity;
mod change;
mod examples;
mod lint;
mod source_flags;
mod verify;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use ipnet::Ipv4Net;

use examples::{
    ADVISE_EXAMPLES, APPLY_EXAMPLES, CAPACITY_EXAMPLES, COMPLETIONS_EXAMPLES, DIFF_EXAMPLES, EXIT_CODES,
    EXPLAIN_EXAMPLES, EXPLAIN_USAGE, GENERATE_EXAMPLES, IAM_POLICY_EXAMPLES, INIT_EXAMPLES, INVENTORY_EXAMPLES,
    LINT_EXAMPLES, MAN_EXAMPLES, PLAN_EXAMPLES, SCHEMA_EXAMPLES, VERIFY_EXAMPLES,
};

pub use capacity::{CapacityArgs, GrowthOf};
pub use change::{Ami, ApplyArgs, ChangeArgs, DiffArgs, OnlyStage};
pub use lint::{Family, LintArgs, LintFormat};
pub use verify::{LeastSevere, VerifyArgs, VerifyFormat};

use crate::net::parse_ipv4_cidr;

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
    /// Read a cluster into a file that every other command works from
    #[command(after_help = INVENTORY_EXAMPLES)]
    Inventory(InventoryArgs),
    /// Show what would be decided, and why
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArgs),
    /// Write ENIConfigs, user data, launch-template data and CNI settings as files
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate(GenerateArgs),
    /// Explain which ENIConfig a node uses, and why
    #[command(after_help = EXPLAIN_EXAMPLES, override_usage = EXPLAIN_USAGE)]
    Explain(ExplainArgs),
    /// Show what pod subnets hold, and when they are full
    #[command(after_help = CAPACITY_EXAMPLES)]
    Capacity(CapacityArgs),
    /// Say which mechanism fits this cluster at the least cost, and what it needs
    #[command(after_help = ADVISE_EXAMPLES)]
    Advise(AdviseArgs),
    /// Show what differs between the plan and the cluster
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),
    /// Make the cluster as the plan says
    #[command(after_help = APPLY_EXAMPLES)]
    Apply(ApplyArgs),
    /// Prove on the live cluster that every node and pod is where the plan wants it
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
    /// Print the least IAM policy or Kubernetes role that a command needs
    #[command(after_help = IAM_POLICY_EXAMPLES)]
    IamPolicy(IamPolicyArgs),
    /// Look for what will go wrong in a user-data file
    #[command(after_help = LINT_EXAMPLES)]
    Lint(LintArgs),
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

    /// AWS Region; otherwise that of eniplan.yaml, AWS_REGION or the profile
    #[arg(short, long, value_name = "REGION")]
    pub region: Option<String>,

    /// Profile of the AWS configuration; otherwise AWS_PROFILE
    #[arg(short, long, value_name = "NAME")]
    pub profile: Option<String>,

    /// Context of the kubeconfig to use instead of a token of its own; must lead to the cluster
    #[arg(long, value_name = "CONTEXT")]
    pub kube_context: Option<String>,

    /// What is wanted; without it eniplan.yaml of this folder, where there is one
    #[arg(short = 'f', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,

    /// Work from this inventory instead of the cluster; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub inventory: Option<PathBuf>,

    /// Work from this folder of what `aws … --output json` and `kubectl get … -o json` have printed
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "inventory")]
    pub from_dir: Option<PathBuf>,

    /// Limit to this node group
    #[arg(long, value_name = "NAME")]
    pub node_group: Option<String>,

    /// Plan this phase of spec.phases instead of spec.currentPhase
    #[arg(long, value_name = "NAME")]
    pub phase: Option<String>,

    /// Longest wait for one answer of AWS or Kubernetes; otherwise 20
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub read_timeout: Option<u32>,
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

    /// Work from this folder of what `aws … --output json` and `kubectl get … -o json` have printed
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "inventory")]
    pub from_dir: Option<PathBuf>,

    /// Context of the kubeconfig to use; without it no kubeconfig is needed
    #[arg(long, value_name = "NAME")]
    pub kube_context: Option<String>,

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
            from_dir: self.from_dir.clone(),
            node_group: None,
            kube_context: self.kube_context.clone(),
            phase: None,
            read_timeout: None,
        }
    }
}

/// `inventory`.
#[derive(Debug, Args)]
pub struct InventoryArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub source: SourceArgs,

    /// File to write to; otherwise standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,

    /// Put pseudonyms for names and ids, and type, size and hash for foreign user data
    #[arg(long)]
    pub redact: bool,

    /// What it is for; `verify` looks at pods and network interfaces, too
    #[arg(long = "for", value_name = "COMMAND", default_value = "plan")]
    pub purpose: Purpose,
}

/// What an inventory is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Purpose {
    /// Planning: everything but `verify` and the live half of `explain`.
    Plan,
    /// `verify`: on top pods, network interfaces, CNINodes, SecurityGroupPolicies, NodePools and EC2NodeClasses.
    Verify,
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

    /// Write files for another tool as well
    #[arg(long = "for", value_name = "TOOL")]
    pub for_other: Option<ForOther>,

    /// Write one thing to standard output instead of files
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["out_dir", "for_other"])]
    pub print: Option<Printed>,

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

/// Tools that `generate` writes files for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ForOther {
    /// Karpenter: user data of an EC2NodeClass for each pool, NodePools in its place, and values of its chart.
    Karpenter,
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

    /// Node of the cluster, by name or instance id; --node-group says which group it is of, where no label does
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

/// `iam-policy`.
#[derive(Debug, Args)]
pub struct IamPolicyArgs {
    /// The command that is to be allowed
    #[arg(long = "for", value_name = "COMMAND", default_value = "inventory")]
    pub verb: PolicyFor,

    /// Print the Kubernetes role instead
    #[arg(long)]
    pub rbac: bool,

    /// Limit to this cluster; without it, all clusters
    #[arg(short, long, value_name = "NAME")]
    pub cluster: Option<String>,
}

/// Commands that a policy can be printed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyFor {
    /// Reading: `inventory`, `init`, `plan`, `generate`, `explain`, `capacity`, `advise`, `diff`.
    Inventory,
    /// `apply`.
    Apply,
    /// `verify`.
    Verify,
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
    /// What `verify -o json` prints.
    Report,
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

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    std::time::Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
