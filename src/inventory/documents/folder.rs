//! The files of one folder by what they hold, and what is unknown for want of them.

use std::collections::BTreeMap;

use super::document::Document;
use super::names::{Known, Meaning, meaning};
use super::text::is_plain;
use crate::error::Error;
use crate::inventory::{Gap, NO_FILE};

/// The files of a folder.
pub(super) struct Folder<'a> {
    path: &'a str,
    /// By the stem of their names.
    documents: BTreeMap<&'static str, Vec<Document<'a>>>,
    /// What stands for words of commands.
    words: BTreeMap<&'static str, String>,
    gaps: Vec<Gap>,
}

impl<'a> Folder<'a> {
    /// Sorts the files by their names.
    ///
    /// # Errors
    /// [`Error::Folder`] for a name that is nearly a known one, [`Error::Document`] for bytes that are no text.
    pub(super) fn new(path: &'a str, files: &'a BTreeMap<String, Vec<u8>>) -> Result<Self, Error> {
        let mut documents: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (name, bytes) in files {
            match meaning(name) {
                Meaning::Known(known) => {
                    let document = Document::new(format!("{}/{name}", path.trim_end_matches('/')), known, bytes)?;
                    documents.entry(known.stem).or_default().push(document);
                }
                Meaning::Foreign => {}
                Meaning::Unknown(nearest) => {
                    return Err(Error::Folder {
                        path: path.into(),
                        message: format!("nothing is read from {name}"),
                        help: format!("name it {nearest} if that is what it holds, or move it out of the folder"),
                    });
                }
            }
        }
        Ok(Self { path, documents, words: BTreeMap::new(), gaps: Vec::new() })
    }

    /// From here on commands hold the value in place of the word.
    pub(super) fn fill_in(&mut self, word: &'static str, value: impl Into<String>) {
        self.words.insert(word, value.into());
    }

    /// The files of that name that hold anything.
    pub(super) fn all(&self, known: Known) -> impl Iterator<Item = &Document<'a>> {
        self.documents.get(known.stem).into_iter().flatten().filter(|document| !document.is_empty())
    }

    /// The file of that name, where it holds anything.
    pub(super) fn one(&self, known: Known) -> Option<&Document<'a>> {
        self.all(known).next()
    }

    /// Whether there is a file of that name, be it empty.
    pub(super) fn has(&self, known: Known) -> bool {
        self.documents.contains_key(known.stem)
    }

    /// An error for want of the file without which nothing can be said.
    pub(super) fn lacks(&self, known: Known) -> Error {
        Error::Folder { path: self.path.into(), message: self.absence(known), help: self.remedy(known) }
    }

    /// Records that the file is missing.
    pub(super) fn gap(&mut self, known: Known) {
        self.gap_because(known, self.absence(known));
    }

    /// Records that the file is missing, which another one can show to be as it should be.
    pub(super) fn gap_unless(&mut self, known: Known, reason: &str, proof: Known) {
        let (absence, remedy, proof_remedy) = (self.absence(known), self.remedy(known), self.remedy(proof));
        let proof_remedy = proof_remedy.replacen("make it", &format!("make {}", proof.name()), 1);
        self.gap_saying(known, Some(NO_FILE), format!("{absence}; {remedy}, or, if {reason}, {proof_remedy}"));
    }

    /// Records that something is missing from the file.
    pub(super) fn gap_because(&mut self, known: Known, reason: String) {
        let message = format!("{reason}; {}", self.remedy(known));
        self.gap_saying(known, Some(NO_FILE), message);
    }

    /// Records that something is unknown that no file can tell.
    pub(super) fn gap_saying(&mut self, known: Known, code: Option<&str>, message: String) {
        self.gaps.push(Gap {
            source: known.source,
            action: known.action.into(),
            resource: None,
            code: code.map(str::to_owned),
            message,
            caller: None,
        });
    }

    pub(super) fn into_gaps(self) -> Vec<Gap> {
        self.gaps
    }

    /// How it is missing.
    fn absence(&self, known: Known) -> String {
        let name = self.filled(&known.name());
        if self.has(known) && known.many.is_none() {
            format!("{name} is empty, as when its command failed")
        } else {
            format!("the folder has no {name}")
        }
    }

    /// The command that makes it.
    fn remedy(&self, known: Known) -> String {
        format!("make it with `{}`", self.filled(&format!("{} > {}", known.command, known.name())))
    }

    fn filled(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_part = |c: char| c.is_ascii_uppercase();
            let length =
                if is_part(first) { rest.find(|c| !is_part(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
            let (piece, remaining) = rest.split_at(length);
            filled.push_str(self.words.get(piece).filter(|value| is_plain(value)).map_or(piece, |value| value));
            rest = remaining;
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::names::{NODE_GROUP, SUBNETS};
    use super::*;

    fn gap(words: &[(&'static str, &str)], known: Known, files: &[(&str, &str)]) -> String {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
        let mut folder = Folder::new("dump/", &files).unwrap();
        for (word, value) in words {
            folder.fill_in(word, *value);
        }
        folder.gap(known);
        folder.into_gaps().remove(0).message
    }

    #[test]
    fn a_gap_says_which_command_closes_it() {
        assert_eq!(
            gap(&[("CLUSTER", "prod"), ("NODEGROUP", "web")], NODE_GROUP, &[]),
            "the folder has no describe-nodegroup-web.json; make it with `aws eks describe-nodegroup --cluster-name prod \
             --nodegroup-name web --output json > describe-nodegroup-web.json`"
        );
        assert_eq!(
            gap(&[], SUBNETS, &[("describe-subnets.json", "\r\n")]),
            "describe-subnets.json is empty, as when its command failed; make it with `aws ec2 describe-subnets --output \
             json > describe-subnets.json`"
        );
    }

    #[test]
    fn what_means_something_to_a_shell_enters_no_command() {
        let message = gap(&[("CLUSTER", "$(id)"), ("NODEGROUP", "../x`y")], NODE_GROUP, &[]);
        assert!(message.contains("--cluster-name CLUSTER --nodegroup-name NODEGROUP"), "{message}");
        assert!(message.ends_with("> describe-nodegroup-NODEGROUP.json`"), "{message}");
    }
}
