//! The flags by which a run found the cluster and the wishes: commands that it proposes must find the same.

/// Flags with their values, each a word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFlags {
    /// `--inventory FILE` or `--from-dir DIR`; empty where the cluster itself was read.
    pub files: Vec<String>,
    /// `--region`, `--profile` and `--kube-context`.
    pub place: Vec<String>,
    /// `--config` and `--phase`.
    pub wishes: Vec<String>,
}

impl SourceFlags {
    /// `eniplan` with these words, reading from where this run did.
    pub fn again(&self, words: &[&str], cluster: &str) -> Vec<String> {
        if self.files.is_empty() { self.on_cluster(words, cluster) } else { self.command(words, &self.files) }
    }

    /// `eniplan` with these words, reading the cluster itself, as what writes must.
    pub fn on_cluster(&self, words: &[&str], cluster: &str) -> Vec<String> {
        self.command(words, &["--cluster".to_owned(), cluster.to_owned()])
    }

    fn command(&self, words: &[&str], source: &[String]) -> Vec<String> {
        let words = ["eniplan"].iter().chain(words).map(|word| (*word).to_owned());
        words.chain([source, &self.place, &self.wishes].into_iter().flatten().cloned()).collect()
    }

    /// What `aws` and `kubectl` need to reach the same cluster: `--profile` of the one, `--context` of the other.
    pub fn of_other_tools(&self) -> (Vec<String>, Vec<String>) {
        let given = |flag: &str, theirs: &str| -> Vec<String> {
            let values = self.place.iter().zip(self.place.iter().skip(1)).filter(|(name, _)| *name == flag);
            values.flat_map(|(_, value)| [theirs.to_owned(), value.clone()]).collect()
        };
        (given("--profile", "--profile"), given("--kube-context", "--context"))
    }

    /// Whether the run read an inventory.
    pub fn is_inventory(&self) -> bool {
        self.files.first().is_some_and(|flag| flag == "--inventory")
    }

    /// Whether the run read a folder of documents.
    pub fn is_folder(&self) -> bool {
        self.files.first().is_some_and(|flag| flag == "--from-dir")
    }
}
