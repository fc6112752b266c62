//! What a command works from: the inventory and the wishes. Reads files, and, in the live build, the cluster.

#![allow(clippy::disallowed_methods)]

use std::io::Read as _;
use std::path::Path;

use crate::cli::SourceArgs;
use crate::config::{AtPhase, Config};
use crate::error::Error;
use crate::finding::Problem;
use crate::inventory::Inventory;
use crate::plan::config_from_tags;

/// The file that is taken when none is named.
const DEFAULT_CONFIG: &str = "eniplan.yaml";

/// Inventory and wishes.
pub(super) struct Loaded {
    pub(super) inventory: Inventory,
    pub(super) config: Config,
    /// The way on which `config` is a point, and which point that is.
    pub(super) way: Vec<AtPhase>,
    pub(super) point: usize,
    /// What stood in the way of deriving the wishes from tags, where there is no file.
    pub(super) problems: Vec<Problem>,
}

/// Loads what the flags name.
pub(super) fn load(source: &SourceArgs) -> Result<Loaded, Error> {
    let config = config(source.config.as_deref())?;
    let inventory = inventory(source, config.as_ref())?;
    let wanted = source.cluster.as_deref().or(config.as_ref().map(|config| config.cluster.as_str()));
    if let Some(wanted) = wanted.filter(|wanted| *wanted != inventory.cluster.name) {
        return Err(wrong_cluster(source, wanted, inventory));
    }
    let (config, problems) = match config {
        Some(config) => (config, Vec::new()),
        None => config_from_tags(&inventory),
    };
    let way = config.way();
    let wanted = source.phase.as_deref().or(config.current_phase.as_deref());
    let point = way.iter().position(|at| at.name.as_deref() == wanted);
    match point.and_then(|point| Some((point, way.get(point)?.config.clone()))) {
        Some((point, config)) => Ok(Loaded { inventory, config, way, point, problems }),
        None => Err(Error::NoSuchPhase {
            name: wanted.unwrap_or_default().into(),
            known: way.into_iter().filter_map(|at| at.name).collect(),
        }),
    }
}

/// Loads the inventory alone.
pub(super) fn load_inventory(source: &SourceArgs) -> Result<Inventory, Error> {
    let inventory = inventory(source, None)?;
    match source.cluster.as_deref().filter(|wanted| *wanted != inventory.cluster.name) {
        None => Ok(inventory),
        Some(wanted) => Err(wrong_cluster(source, wanted, inventory)),
    }
}

fn wrong_cluster(source: &SourceArgs, wanted: &str, inventory: Inventory) -> Error {
    Error::WrongCluster {
        path: source.inventory.as_ref().map_or_else(|| "the inventory".into(), |path| path.display().to_string()),
        wanted: wanted.into(),
        found: inventory.cluster.name,
    }
}

fn config(path: Option<&Path>) -> Result<Option<Config>, Error> {
    let Some(path) = path.or_else(|| Some(Path::new(DEFAULT_CONFIG)).filter(|path| path.exists())) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).map_err(|source| Error::ReadFile { path: path.into(), source })?;
    Config::from_yaml(&text, &path.display().to_string()).map(Some)
}

fn inventory(source: &SourceArgs, config: Option<&Config>) -> Result<Inventory, Error> {
    let Some(path) = &source.inventory else {
        let cluster = source.cluster.as_deref().or(config.map(|config| config.cluster.as_str()));
        return Err(cluster.map_or(Error::NoSource, |cluster| Error::BuiltWithoutLive { cluster: cluster.into() }));
    };
    let read_error = |source| Error::ReadFile { path: path.clone(), source };
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map_err(read_error)?;
    } else {
        text = std::fs::read_to_string(path).map_err(read_error)?;
    }
    Inventory::from_json(&text, &path.display().to_string())
}
