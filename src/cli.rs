//! The command line: clap types and nothing else.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

/// What `--help` ends with.
const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 could not do it, 2 usage, 3 there are differences, 4 findings of severity error, 130 interrupted.
Data goes to standard output, everything else to standard error.";

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
  eniplan plan --inventory inventory.json --config eniplan.yaml -o json | jq .findings";

const DIFF_EXAMPLES: &str = "\
Examples:
  # What would change, without credentials
  eniplan diff --inventory inventory.json --config eniplan.yaml

  # Save it, have it looked at, apply exactly that
  eniplan diff --cluster demo --roll --out change.json
  eniplan apply --cluster demo --diff change.json

Exit code 3 when there are differences or something waits for you.";

const APPLY_EXAMPLES: &str = "\
Examples:
  # ENIConfigs, launch-template versions and CNI settings; node groups stay as they are
  eniplan apply --cluster demo

  # One node group as a canary, then the rest
  eniplan apply --cluster demo --node-group batch --roll
  eniplan apply --cluster demo --roll

  # Back again
  eniplan apply --cluster demo --node-group batch --rollback

A run that stops says what was done, what failed and what was not started; the same command again does the rest.";

const IAM_POLICY_EXAMPLES: &str = "\
Examples:
  eniplan iam-policy --for apply --cluster demo > policy.json
  eniplan iam-policy --for apply --rbac | kubectl apply -f -";

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
    /// Show what would be decided, and why
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArgs),
    /// Write ENIConfigs, user data, launch-template data and CNI settings as files
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate(GenerateArgs),
    /// Show what differs between the plan and the cluster
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),
    /// Make the cluster as the plan says
    #[command(after_help = APPLY_EXAMPLES)]
    Apply(ApplyArgs),
    /// Print the least IAM policy or Kubernetes role that a command needs
    #[command(after_help = IAM_POLICY_EXAMPLES)]
    IamPolicy(IamPolicyArgs),
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

    /// Context of the kubeconfig to use instead of a token of its own; must lead to the cluster
    #[arg(long, value_name = "CONTEXT")]
    pub kube_context: Option<String>,

    /// What is wanted; without it eniplan.yaml of this folder, where there is one
    #[arg(short = 'f', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,

    /// Work from this inventory instead of the cluster; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub inventory: Option<PathBuf>,

    /// Limit to this node group
    #[arg(long, value_name = "NAME")]
    pub node_group: Option<String>,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Human,
    /// For programs.
    Json,
}

/// `plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub source: SourceArgs,

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

/// What a diff may hold.
#[derive(Debug, Clone, Args)]
#[allow(clippy::struct_excessive_bools)]
pub struct ChangeArgs {
    /// Stages to look at; all unless named
    #[arg(long, value_name = "STAGE", value_delimiter = ',')]
    pub only: Vec<OnlyStage>,

    /// Make new launch-template versions the default ones
    #[arg(long)]
    pub set_default: bool,

    /// Move node groups to their new version, one at a time, and create missing ones; replaces nodes
    #[arg(long)]
    pub roll: bool,

    /// With --roll: the AMI release of each group (`current`), or the newest one (`latest`)
    #[arg(long, value_name = "RELEASE", default_value = "current", requires = "roll")]
    pub ami: Ami,

    /// Change the subnet of an ENIConfig that nodes use
    #[arg(long)]
    pub replace_in_use: bool,

    /// Take over fields that another manager owns
    #[arg(long)]
    pub take_over: bool,

    /// Label existing nodes with the ENIConfig that they use today
    #[arg(long)]
    pub label_nodes: bool,

    /// Switch the CNI although nodes would find no ENIConfig until they are replaced
    #[arg(long, requires = "roll")]
    pub accept_moves: bool,

    /// Delete ENIConfigs of eniplan's that nothing names any more
    #[arg(long, conflicts_with = "node_group")]
    pub prune: bool,

    /// Keep this many launch-template versions of eniplan's, delete older ones that are not in use
    #[arg(long, value_name = "N", conflicts_with = "node_group")]
    pub prune_versions: Option<usize>,
}

/// A stage of an apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnlyStage {
    /// ENIConfig objects.
    Eniconfigs,
    /// Launch templates and their versions.
    LaunchTemplates,
    /// Labels of existing nodes and the CNI's settings.
    Cni,
    /// Default versions and node groups.
    NodeGroups,
}

/// Which AMI release a node group gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Ami {
    /// The one that it has.
    Current,
    /// EKS's newest.
    Latest,
}

/// `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub source: SourceArgs,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub change: ChangeArgs,

    /// Save the diff, to be applied with `apply --diff`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub output: Format,
}

/// `apply`.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)]
pub struct ApplyArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub source: SourceArgs,

    #[command(flatten)]
    #[allow(missing_docs)]
    pub change: ChangeArgs,

    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,

    /// Apply a saved diff, if the cluster is still as it was
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["only", "set_default", "roll", "replace_in_use", "take_over", "label_nodes", "accept_moves", "prune", "prune_versions", "rollback"])]
    pub diff: Option<PathBuf>,

    /// Send dry runs only, and say what they prove
    #[arg(long)]
    pub dry_run: bool,

    /// Return node groups to their former launch-template version
    #[arg(long)]
    pub rollback: bool,

    /// Seconds between two looks at what is in progress
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = seconds)]
    pub poll_interval: std::time::Duration,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub output: Format,
}

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    std::time::Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
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
    /// Reading: `inventory`, `plan`, `generate`, `diff`.
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
