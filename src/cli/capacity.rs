//! Arguments of `capacity`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{Format, SourceArgs};

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
