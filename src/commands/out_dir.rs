//! The output folder: staged beside it, renamed file by file, `plan.json` last; nobody else's file is overwritten.

#![allow(clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::write_error;
use crate::error::Error;
use crate::plan::Plan;
use crate::report::generate::Written;

/// Content of `plan.json`: the plan, and what was written for it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct PlanFile {
    /// The plan.
    pub plan: Plan,
    /// SHA-256 of every file that was written, by its path in the folder.
    pub files: BTreeMap<String, String>,
}

const PLAN_FILE: &str = "plan.json";

/// Writes all files, or none.
///
/// # Errors
/// [`Error::AlreadyExists`] when a file is there that no earlier run wrote; [`Error::WriteFile`].
pub(super) fn write(folder: &Path, plan: &Plan, files: BTreeMap<String, Vec<u8>>) -> Result<Written, Error> {
    let hashes: BTreeMap<String, String> = files.iter().map(|(path, bytes)| (path.clone(), sha256(bytes))).collect();
    let before = hashes_of_earlier_run(folder);
    refuse_foreign_files(folder, &files, before.as_ref())?;

    let plan_file = PlanFile { plan: plan.clone(), files: hashes };
    let mut plan_json = serde_json::to_vec_pretty(&plan_file)
        .map_err(|source| Error::Serialise { what: "the plan".into(), source: source.into() })?;
    plan_json.push(b'\n');
    let mut all: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    all.push((PLAN_FILE, &plan_json));

    let staging = staging_folder(folder);
    let written =
        stage(&staging, &all).and_then(|()| move_into_place(&staging, folder, &files, before.unwrap_or_default()));
    // The staging folder is ours alone; what is left in it after a failure is of no use to anybody.
    let _ = std::fs::remove_dir_all(&staging);
    let mut written = written?;
    written.files = all.iter().map(|(path, _)| (*path).to_owned()).collect();
    Ok(written)
}

/// `plan.json` comes last: until then the folder still knows which files the earlier run wrote.
fn move_into_place(
    staging: &Path,
    folder: &Path,
    files: &BTreeMap<String, Vec<u8>>,
    before: BTreeMap<String, String>,
) -> Result<Written, Error> {
    let moved_aside = rename_all(staging, folder, files, &before)?;
    let (removed, kept) = remove_stale(folder, files, before)?;
    let target = folder.join(PLAN_FILE);
    create_parent(&target)?;
    std::fs::rename(staging.join(PLAN_FILE), &target).map_err(write_error(&target))?;
    Ok(Written { folder: folder.into(), files: Vec::new(), removed, kept, moved_aside })
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `None` when no earlier run has written here. Paths that lead out of the folder are ignored.
fn hashes_of_earlier_run(folder: &Path) -> Option<BTreeMap<String, String>> {
    #[derive(Deserialize)]
    struct Files {
        files: BTreeMap<String, String>,
    }
    let text = std::fs::read_to_string(folder.join(PLAN_FILE)).ok()?;
    let mut files = serde_json::from_str::<Files>(&text).ok()?.files;
    files.retain(|path, _| Path::new(path).components().all(|component| matches!(component, Component::Normal(_))));
    Some(files)
}

fn refuse_foreign_files(
    folder: &Path,
    files: &BTreeMap<String, Vec<u8>>,
    before: Option<&BTreeMap<String, String>>,
) -> Result<(), Error> {
    let already = |path: PathBuf, help: &str| Error::AlreadyExists { path, help: help.into() };
    if folder.join(PLAN_FILE).exists() && before.is_none() {
        return Err(already(
            folder.join(PLAN_FILE),
            "it was not written by eniplan, or not by this generation of it; choose another --out-dir",
        ));
    }
    for (path, bytes) in files {
        let target = folder.join(path);
        let ours = before.is_some_and(|before| before.contains_key(path));
        if !ours && std::fs::read(&target).is_ok_and(|there| there != *bytes) {
            return Err(already(
                target,
                "no earlier run of eniplan wrote it; choose another --out-dir, or move the file away",
            ));
        }
    }
    Ok(())
}

/// A hidden folder beside the output folder, on the same file system, so that renaming is atomic.
fn staging_folder(folder: &Path) -> PathBuf {
    let name = folder.file_name().map_or_else(|| "eniplan-out".into(), |name| name.to_string_lossy().into_owned());
    folder.parent().unwrap_or(Path::new("")).join(format!(".{name}.staging"))
}

fn stage(staging: &Path, files: &[(&str, &[u8])]) -> Result<(), Error> {
    // Left over from a run that was killed.
    let _ = std::fs::remove_dir_all(staging);
    for (path, bytes) in files {
        let target = staging.join(path);
        create_parent(&target)?;
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&target)
            .map_err(write_error(&target))?;
        file.write_all(bytes).map_err(write_error(&target))?;
    }
    Ok(())
}

fn create_parent(path: &Path) -> Result<(), Error> {
    let Some(parent) = path.parent() else { return Ok(()) };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(write_error(parent))
}

fn rename_all(
    staging: &Path,
    folder: &Path,
    files: &BTreeMap<String, Vec<u8>>,
    before: &BTreeMap<String, String>,
) -> Result<Vec<String>, Error> {
    let mut moved_aside = Vec::new();
    for (path, bytes) in files {
        let target = folder.join(path);
        create_parent(&target)?;
        let there = std::fs::read(&target).ok();
        let edited =
            there.is_some_and(|there| there != *bytes && before.get(path).is_some_and(|hash| *hash != sha256(&there)));
        if edited {
            let aside = format!("{path}.edited");
            std::fs::rename(&target, folder.join(&aside)).map_err(write_error(&target))?;
            moved_aside.push(aside);
        }
        std::fs::rename(staging.join(path), &target).map_err(write_error(&target))?;
    }
    Ok(moved_aside)
}

/// Removes files of the earlier plan that this one does not have; those that were edited stay.
fn remove_stale(
    folder: &Path,
    files: &BTreeMap<String, Vec<u8>>,
    before: BTreeMap<String, String>,
) -> Result<(Vec<String>, Vec<String>), Error> {
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for (path, hash) in before {
        let target = folder.join(&path);
        let Ok(there) = std::fs::read(&target) else { continue };
        if files.contains_key(&path) {
            continue;
        }
        if sha256(&there) != hash {
            kept.push(path);
            continue;
        }
        std::fs::remove_file(&target).map_err(write_error(&target))?;
        // Only empty folders go.
        if let Some(parent) = target.parent().filter(|parent| *parent != folder) {
            let _ = std::fs::remove_dir(parent);
        }
        removed.push(path);
    }
    Ok((removed, kept))
}
