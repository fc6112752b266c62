//! Arguments of `diff` and `apply`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::{Format, SourceArgs, seconds};

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
