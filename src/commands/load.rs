//! What a command works from: the inventory and the wishes. Reads files, and, in the live build, the cluster.

#![allow(clippy::disallowed_methods)]

use std::io::Read as _;
use std::path::Path;

use crate::cli::SourceArgs;
use crate::config::Config;
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
    /// What stood in the way of deriving the wishes from tags, where there is no file.
    pub(super) problems: Vec<Problem>,
}

/// Loads what the flags name.
pub(super) fn load(source: &SourceArgs) -> Result<Loaded, Error> {
    load_with(source, false)
}

/// Loads what the flags name, with all versions of launch templates where older ones matter.
pub(super) fn load_with(source: &SourceArgs, all_versions: bool) -> Result<Loaded, Error> {
    let config = config(source.config.as_deref())?;
    let inventory = inventory(source, config.as_ref(), all_versions)?;
    let wanted = source.cluster.as_deref().or(config.as_ref().map(|config| config.cluster.as_str()));
    if let Some(wanted) = wanted.filter(|wanted| *wanted != inventory.cluster.name) {
        return Err(Error::WrongCluster {
            path: source.inventory.as_ref().map_or_else(|| "the inventory".into(), |path| path.display().to_string()),
            wanted: wanted.into(),
            found: inventory.cluster.name,
        });
    }
    match config {
        Some(config) => Ok(Loaded { inventory, config, problems: Vec::new() }),
        None => {
            let (config, problems) = config_from_tags(&inventory);
            Ok(Loaded { inventory, config, problems })
        }
    }
}

fn config(path: Option<&Path>) -> Result<Option<Config>, Error> {
    let Some(path) = path.or_else(|| Some(Path::new(DEFAULT_CONFIG)).filter(|path| path.exists())) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).map_err(|source| Error::ReadFile { path: path.into(), source })?;
    Config::from_yaml(&text, &path.display().to_string()).map(Some)
}

fn inventory(source: &SourceArgs, config: Option<&Config>, all_versions: bool) -> Result<Inventory, Error> {
    let Some(path) = &source.inventory else {
        let cluster = source.cluster.as_deref().or(config.map(|config| config.cluster.as_str()));
        return from_cluster(source, config, cluster.ok_or(Error::NoSource)?, all_versions);
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

#[cfg(not(feature = "live"))]
fn from_cluster(_: &SourceArgs, _: Option<&Config>, cluster: &str, _: bool) -> Result<Inventory, Error> {
    Err(Error::BuiltWithoutLive { cluster: cluster.into() })
}

#[cfg(feature = "live")]
fn from_cluster(
    source: &SourceArgs,
    config: Option<&Config>,
    cluster: &str,
    all_versions: bool,
) -> Result<Inventory, Error> {
    let mut options = collect_options(source, config, cluster);
    options.also.all_versions = all_versions;
    crate::live::collect(&options, |_| {})
}

/// What to read of the cluster that the flags, or eniplan.yaml, name.
#[cfg(feature = "live")]
pub(super) fn collect_options(
    source: &SourceArgs,
    config: Option<&Config>,
    cluster: &str,
) -> crate::live::CollectOptions {
    crate::live::CollectOptions {
        region: source.region.clone().or_else(|| config.and_then(|config| config.region.clone())),
        profile: source.profile.clone(),
        kube_context: source.kube_context.clone(),
        also: config.map(crate::live::AlsoRead::named_in).unwrap_or_default(),
        ..crate::live::CollectOptions::new(cluster)
    }
}
