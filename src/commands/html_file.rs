//! A page for a browser as a file: one of ours is written anew, anything else stays.

#![allow(clippy::disallowed_methods)]

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use super::write_error;
use crate::error::Error;
use crate::report::html::GENERATOR;

/// Readable for everybody, as far as the umask lets it: a page is made to be shown, and holds no user data.
const MODE: u32 = 0o644;

/// Writes the page beside the target first.
pub(super) fn write(path: &Path, page: &str) -> Result<(), Error> {
    let there = std::fs::read(path);
    let ours = there.as_ref().is_ok_and(|bytes| String::from_utf8_lossy(bytes).contains(GENERATOR));
    let is_missing = there.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    if !ours && !is_missing {
        return Err(Error::AlreadyExists {
            path: path.into(),
            help: "it is no page of eniplan; name another file with --html".into(),
        });
    }
    let name = path.file_name().map_or_else(|| "page".into(), |name| name.to_string_lossy().into_owned());
    let staging = path.with_file_name(format!(".{name}.staging"));
    // Left over from a run that was killed.
    let _ = std::fs::remove_file(&staging);
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(MODE)
        .open(&staging)
        .and_then(|mut file| file.write_all(page.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&staging, path));
    written.map_err(|source| {
        let _ = std::fs::remove_file(&staging);
        write_error(path)(source)
    })
}
