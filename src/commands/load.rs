//! What a command works from: the inventory and the wishes. Reads files, and, in the live build, the cluster.

#![allow(clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::cli::{Cli, SourceArgs};
use crate::config::{AtPhase, Config};
use crate::error::Error;
use crate::finding::{Problem, Subject};
use crate::inventory::{AlsoRead, Inventory, from_documents, is_document};
use crate::plan::config_from_tags;
use crate::report;

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
    /// The launch-template versions that node groups used before, where older versions matter and EKS could be asked.
    pub(super) former: Option<BTreeMap<String, Vec<i64>>>,
}

/// What is read of a cluster beyond what every command needs.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(not(feature = "live"), allow(dead_code))]
pub(super) struct Extent {
    /// All versions of launch templates, where older ones matter.
    pub(super) all_versions: bool,
    /// Pods, network interfaces, and what else `verify` looks at.
    pub(super) verification: bool,
    /// Without a word on how far the reading has come.
    #[cfg_attr(not(feature = "live"), allow(dead_code))]
    pub(super) silent: bool,
}

/// Loads what the flags name.
pub(super) fn load(source: &SourceArgs, cli: &Cli) -> Result<Loaded, Error> {
    load_with(source, Extent::default(), cli)
}

/// Loads what the flags name, and more of the cluster where it matters.
pub(super) fn load_with(source: &SourceArgs, extent: Extent, cli: &Cli) -> Result<Loaded, Error> {
    let config = config(source.config.as_deref())?;
    let inventory = load_inventory(source, config.as_ref(), extent, cli)?;
    let former = if extent.all_versions { former(source, &inventory)? } else { None };
    if config.is_none() && !cli.quiet && !extent.silent {
        say(report::NO_CONFIG);
    }
    let (config, mut problems) = match config {
        Some(config) => (config, Vec::new()),
        None => config_from_tags(&inventory),
    };
    problems.extend(other_region(source, &inventory));
    let way = config.way();
    let wanted = source.phase.as_deref().or(config.current_phase.as_deref());
    let point = way.iter().position(|at| at.name.as_deref() == wanted);
    match point.and_then(|point| Some((point, way.get(point)?.config.clone()))) {
        Some((point, config)) => Ok(Loaded { inventory, config, way, point, problems, former }),
        None => Err(Error::NoSuchPhase {
            name: wanted.unwrap_or_default().into(),
            known: way.into_iter().filter_map(|at| at.name).collect(),
        }),
    }
}

/// A file of another Region than the flag says.
fn other_region(source: &SourceArgs, inventory: &Inventory) -> Option<Problem> {
    let wanted = source.region.as_deref().filter(|wanted| *wanted != inventory.region)?;
    Some(Problem::new(
        "region-differs",
        Subject::Cluster(inventory.cluster.name.clone()),
        format!("--region says {wanted}, the inventory was read in {}", inventory.region),
        "pass the inventory of the right cluster, or leave out --region",
    ))
}

/// Nobody is left to be told when standard error cannot be written.
fn say(text: &str) {
    drop(anstream::AutoStream::auto(std::io::stderr().lock()).write_all(text.as_bytes()));
}

/// Loads the inventory alone; from the cluster also what the wishes name, where there are any.
pub(super) fn load_inventory(
    source: &SourceArgs,
    config: Option<&Config>,
    extent: Extent,
    cli: &Cli,
) -> Result<Inventory, Error> {
    let wanted = source.cluster.as_deref().or(config.map(|config| config.cluster.as_str()));
    let (path, inventory) = match (&source.inventory, &source.from_dir) {
        (Some(path), _) => (path, read_file(path)?),
        (None, Some(path)) => {
            let also = config.map(AlsoRead::named_in).unwrap_or_default();
            let Extent { all_versions, verification, .. } = extent;
            (path, read_folder(path, &AlsoRead { all_versions, verification, ..also })?)
        }
        (None, None) => return read_cluster(wanted.ok_or(Error::NoSource)?, source, config, extent, cli),
    };
    match wanted.filter(|wanted| *wanted != inventory.cluster.name) {
        Some(wanted) => Err(Error::WrongCluster {
            path: path.display().to_string(),
            wanted: wanted.into(),
            found: inventory.cluster.name,
        }),
        None => Ok(inventory),
    }
}

/// The wishes, where there is a file of them.
pub(super) fn config(path: Option<&Path>) -> Result<Option<Config>, Error> {
    let Some(path) = path.or_else(|| Some(Path::new(DEFAULT_CONFIG)).filter(|path| path.exists())) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).map_err(|source| Error::ReadFile { path: path.into(), source })?;
    Config::from_yaml(&text, &path.display().to_string()).map(Some)
}

fn read_file(path: &Path) -> Result<Inventory, Error> {
    let read_error = |source| Error::ReadFile { path: path.into(), source };
    if path.is_dir() {
        return Err(Error::Folder {
            path: path.display().to_string(),
            message: "it is a folder, and --inventory takes a file".into(),
            help: in_folder(path),
        });
    }
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map_err(read_error)?;
    } else {
        text = std::fs::read_to_string(path).map_err(read_error)?;
    }
    Inventory::from_json(&text, &path.display().to_string())
}

/// What to pass instead of a folder.
fn in_folder(folder: &Path) -> String {
    let file = folder.join("inventory.json");
    let from_dir = format!("pass --from-dir {} for what `aws` and `kubectl` have printed there", folder.display());
    if file.exists() { format!("pass --inventory {}, or {from_dir}", file.display()) } else { from_dir }
}

/// What `aws` and `kubectl` have printed into the files of a folder.
fn read_folder(folder: &Path, also: &AlsoRead) -> Result<Inventory, Error> {
    let read_error = |path: &Path| {
        let path = path.to_owned();
        |source| Error::ReadFile { path, source }
    };
    let mut files = BTreeMap::new();
    let mut written = 0;
    for entry in std::fs::read_dir(folder).map_err(read_error(folder))? {
        let entry = entry.map_err(read_error(folder))?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if !is_document(&name) || path.is_dir() {
            continue;
        }
        // A pipe or a device has no end that anybody could wait for.
        if !path.metadata().map_err(read_error(&path))?.is_file() {
            return Err(read_error(&path)(std::io::Error::other("it is no regular file")));
        }
        let modified = path.metadata().and_then(|metadata| metadata.modified()).map_err(read_error(&path))?;
        let since_1970 = modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        written = since_1970.as_secs().max(written);
        files.insert(name, std::fs::read(&path).map_err(read_error(&path))?);
    }
    from_documents(&files, &folder.display().to_string(), written, also)
}

#[cfg(not(feature = "live"))]
fn former(_: &SourceArgs, _: &Inventory) -> Result<Option<BTreeMap<String, Vec<i64>>>, Error> {
    Ok(None)
}

#[cfg(feature = "live")]
fn former(source: &SourceArgs, inventory: &Inventory) -> Result<Option<BTreeMap<String, Vec<i64>>>, Error> {
    if source.inventory.is_some() || source.from_dir.is_some() {
        return Ok(None);
    }
    let mut options = collect_options(source, None, &inventory.cluster.name);
    options.region = Some(inventory.region.clone());
    let wanted = |name: &str| source.node_group.as_deref().is_none_or(|wanted| wanted == name);
    let groups: Vec<_> = inventory
        .node_groups
        .iter()
        .filter(|group| group.launch_template.is_some() && wanted(&group.name))
        .cloned()
        .collect();
    crate::live::former_versions(&options, &groups).map(Some)
}

#[cfg(not(feature = "live"))]
fn read_cluster(
    cluster: &str,
    _source: &SourceArgs,
    _config: Option<&Config>,
    _extent: Extent,
    _cli: &Cli,
) -> Result<Inventory, Error> {
    Err(Error::BuiltWithoutLive { cluster: cluster.into() })
}

/// Reads the cluster, and says on standard error how far it has come.
#[cfg(feature = "live")]
fn read_cluster(
    cluster: &str,
    source: &SourceArgs,
    config: Option<&Config>,
    extent: Extent,
    cli: &Cli,
) -> Result<Inventory, Error> {
    use std::io::IsTerminal as _;

    use crate::live::{Progress, collect};
    use crate::report::progress::Reading;

    let mut options = collect_options(source, config, cluster);
    options.also.all_versions = extent.all_versions;
    options.also.verification = extent.verification;
    let mut reading =
        Reading::new(cluster, std::io::stderr().is_terminal() && !cli.verbose, cli.quiet || extent.silent);
    let result = collect(&options, |progress| match progress {
        Progress::Source(read) => say(&reading.source(read.name, read.count, read.failed)),
        Progress::Call(call) if cli.verbose => say(&reading.call(&call.to_string())),
        Progress::Call(_) | Progress::Change(_) => {}
    });
    say(&reading.end());
    result
}

/// Waits, unless the user interrupts.
#[cfg(feature = "live")]
pub(super) fn pause(duration: std::time::Duration) -> Result<(), Error> {
    crate::live::pause(duration)
}

/// Without a network nothing changes.
#[cfg(not(feature = "live"))]
pub(super) fn pause(_: std::time::Duration) -> Result<(), Error> {
    Ok(())
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
        also: config.map(AlsoRead::named_in).unwrap_or_default(),
        timing: source.read_timeout.map(crate::live::Timing::of_answer).unwrap_or_default(),
        ..crate::live::CollectOptions::new(cluster)
    }
}
