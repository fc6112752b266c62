//! `eniplan inventory`: the cluster as a file.

#![allow(clippy::disallowed_methods)]

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::{Data, Outcome, load, write_error, wrote};
use crate::cli::{Cli, InventoryArgs, Purpose};
use crate::error::{Error, ExitStatus};
use crate::inventory::redact::{digest, pseudonyms, redacted};
use crate::{report, user_data};

pub(super) fn run(args: &InventoryArgs, cli: &Cli) -> Result<Outcome, Error> {
    let config = load::config(args.source.config.as_deref())?;
    let extent = load::Extent { verification: args.purpose == Purpose::Verify, ..load::Extent::default() };
    let mut inventory = load::load_inventory(&args.source, config.as_ref(), extent, cli)?;
    if args.redact {
        let pseudonyms = pseudonyms(&inventory);
        inventory = redacted(&inventory, &pseudonyms, |bytes| {
            user_data::redact::redacted(bytes, digest, |text| pseudonyms.text(text))
        })?;
    }
    let json = inventory.to_json()?;
    let mut stderr = report::inventory::text(&inventory, cli.quiet);
    let stdout = match &args.out {
        Some(path) => {
            write(path, json.as_bytes())?;
            stderr.push_str(&wrote(path, cli.quiet));
            Data::Text(String::new())
        }
        None => Data::Bytes(json.into_bytes()),
    };
    Ok(Outcome { stdout, stderr, status: ExitStatus::Done })
}

/// Writes beside the file and renames, so that the file is the old or the new one; readable for the user alone.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    // A pipe, a device or a link is written to and never replaced.
    if std::fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return std::fs::write(path, bytes).map_err(write_error(path));
    }
    let name = path.file_name().map_or_else(|| "inventory".into(), |name| name.to_string_lossy().into_owned());
    let staging = path.with_file_name(format!(".{name}.staging"));
    // Left over from a run that was killed.
    let _ = std::fs::remove_file(&staging);
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&staging)
        .map_err(write_error(&staging))?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| std::fs::rename(&staging, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&staging);
    }
    written.map_err(write_error(path))
}
