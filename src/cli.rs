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

const INVENTORY_EXAMPLES: &str = "\
Examples:
  eniplan inventory --cluster prod --region eu-west-1 --out inventory.json

  # For a bug report: pseudonyms for names and ids, no foreign user data
  eniplan inventory --cluster prod --redact --out inventory.json

Reads that are denied or fail are listed, and are gaps in the file: nothing is guessed from them.
User data can hold secrets: --out makes the file readable for you alone.";

const PLAN_EXAMPLES: &str = "\
Examples:
  eniplan plan --inventory inventory.json --config eniplan.yaml
  eniplan plan --inventory inventory.json --config eniplan.yaml -o json | jq .findings";

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
    /// Read a cluster into a file that every other command works from
    #[command(after_help = INVENTORY_EXAMPLES)]
    Inventory(InventoryArgs),
    /// Show what would be decided, and why
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArgs),
    /// Write ENIConfigs, user data, launch-template data and CNI settings as files
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate(GenerateArgs),
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

    /// Use this context of the kubeconfig; without it no kubeconfig is needed
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
