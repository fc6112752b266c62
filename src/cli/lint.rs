//! Arguments of `lint`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// `lint`.
#[derive(Debug, Args)]
pub struct LintArgs {
    /// User data as it is, or as EC2 gives it (base64); `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// AMI family that will read it; otherwise the text decides
    #[arg(long, value_name = "FAMILY")]
    pub family: Option<Family>,

    /// Image that the launch template names; without one EKS merges its own part
    #[arg(long, value_name = "ID")]
    pub image_id: Option<String>,

    /// Kubernetes version, for flags that kubelet no longer has
    #[arg(long, value_name = "VERSION")]
    pub kubernetes_version: Option<String>,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub output: LintFormat,
}

/// AMI families that `lint` knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// Amazon Linux 2023.
    Al2023,
    /// Amazon Linux 2.
    Al2,
    /// Bottlerocket.
    Bottlerocket,
}

/// Formats of findings in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
    /// For code scanning, SARIF 2.1.0.
    Sarif,
}
