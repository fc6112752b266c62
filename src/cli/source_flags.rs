//! The flags of [`SourceArgs`], to be given again.

use std::path::PathBuf;

use super::SourceArgs;
use crate::render::SourceFlags;

impl SourceArgs {
    /// What the user gave; what was left out is found in the same way again.
    pub fn flags(&self) -> SourceFlags {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let given = |flags: &[(&str, Option<String>)]| -> Vec<String> {
            flags.iter().filter_map(|(flag, value)| Some([(*flag).to_owned(), value.clone()?])).flatten().collect()
        };
        SourceFlags {
            files: given(&[("--inventory", path(&self.inventory)), ("--from-dir", path(&self.from_dir))]),
            place: given(&[
                ("--region", self.region.clone()),
                ("--profile", self.profile.clone()),
                ("--kube-context", self.kube_context.clone()),
            ]),
            wishes: given(&[("--config", path(&self.config)), ("--phase", self.phase.clone())]),
        }
    }
}
