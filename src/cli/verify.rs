//! Arguments of `verify`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{SourceArgs, seconds};

/// `verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub source: SourceArgs,

    /// Look at these rules only
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Do not look at these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub skip: Vec<String>,

    /// Least severe findings to show
    #[arg(long, value_name = "SEVERITY", default_value = "note")]
    pub severity: LeastSevere,

    /// Look again until every node is right, or --timeout is over
    #[arg(long, conflicts_with_all = ["inventory", "from_dir"])]
    pub watch: bool,

    /// With --watch: seconds until it gives up
    #[arg(long, value_name = "SECONDS", default_value = "1800", requires = "watch", conflicts_with_all = ["inventory", "from_dir"], value_parser = seconds)]
    pub timeout: Duration,

    /// With --watch: seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value = "15", requires = "watch", conflicts_with_all = ["inventory", "from_dir"], value_parser = seconds)]
    pub poll_interval: Duration,

    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub output: VerifyFormat,
}

/// Severities, to leave out what is less severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LeastSevere {
    /// Errors.
    Error,
    /// Errors and warnings.
    Warning,
    /// Everything.
    Note,
}

/// Formats of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerifyFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
    /// For code scanning, SARIF 2.1.0.
    Sarif,
    /// For CI, JUnit XML: a test case for each check.
    Junit,
    /// For monitoring, OpenMetrics text.
    Openmetrics,
}
