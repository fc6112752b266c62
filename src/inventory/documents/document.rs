//! One file: its text, and what is wrong with it where it is not what its name says.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;

use super::aws::INCOMPLETE;
use super::names::{ALL, Holds, Known};
use super::text::{decoded, is_plain, position_of};
use crate::error::{Error, Position};
use crate::inventory::in_words;
use crate::inventory::kubernetes::List;

/// A file of a known name.
pub(super) struct Document<'a> {
    /// The file as the user finds it.
    path: String,
    known: Known,
    text: Cow<'a, str>,
}

impl<'a> Document<'a> {
    /// Decodes the bytes.
    ///
    /// # Errors
    /// [`Error::Document`] when they are no text.
    pub(super) fn new(path: String, known: Known, bytes: &'a [u8]) -> Result<Self, Error> {
        match decoded(bytes) {
            Ok(text) => Ok(Self { path, known, text }),
            Err(not_text) => Err(error(&path, known, not_text.position, not_text.message)),
        }
    }

    /// A shell makes the file before the command runs, and a command that fails says why on standard error only.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// An answer of AWS.
    ///
    /// # Errors
    /// [`Error::Document`] when it is another one, or none.
    pub(super) fn answer<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.is_an_object()?;
        serde_json::from_str(&self.text).map_err(|error| self.unreadable(&error))
    }

    /// Objects of Kubernetes: those of a list, or a single one.
    ///
    /// # Errors
    /// [`Error::Document`] when they are of another kind, or none.
    pub(super) fn objects<T: DeserializeOwned + OfKind>(&self) -> Result<Vec<T>, Error> {
        self.is_an_object()?;
        let unreadable = |error| self.unreadable(&error);
        let head: Head<T> = serde_json::from_str(&self.text).map_err(unreadable)?;
        let of_list = |kind: &str| kind == "List" || kind.strip_suffix("List") == Some(T::KIND);
        if head.items.is_some() && head.kind.as_deref().is_none_or(of_list) {
            let list: List<T> = serde_json::from_str(&self.text).map_err(unreadable)?;
            return match list.metadata.next.filter(|token| !token.is_empty()) {
                Some(_) => Err(self.wrong("\"continue\"", INCOMPLETE.into())),
                None => Ok(list.items),
            };
        }
        match head.kind.as_deref() {
            Some(kind) if kind == T::KIND => Ok(vec![serde_json::from_str(&self.text).map_err(unreadable)?]),
            Some(kind) => Err(self.wrong("\"kind\"", format!("it holds {kind} where {} belongs", T::KIND))),
            None => Err(self.of_another_kind("kind")),
        }
    }

    /// What is wrong with it, at the place of a part.
    pub(super) fn wrong(&self, part: &str, message: String) -> Error {
        error(&self.path, self.known, position_of(&self.text, part), message)
    }

    fn is_an_object(&self) -> Result<(), Error> {
        let begins = self.text.trim_start();
        let message = match begins.chars().next() {
            Some('{') => return Ok(()),
            None => "the file is empty, as when its command failed",
            Some('[') => "it begins with `[`: it is not the whole answer, as with `--query`",
            Some(_) => "it is not JSON: it does not begin with `{`",
        };
        let before = self.text.len() - begins.len();
        let position = position_of(&self.text, self.text.get(before..).unwrap_or_default());
        Err(error(&self.path, self.known, position, message.into()))
    }

    fn unreadable(&self, source: &serde_json::Error) -> Error {
        let said = in_words(&source.to_string());
        let message = match source.classify() {
            Category::Eof => "the JSON is cut off".into(),
            Category::Syntax | Category::Io if said == "trailing characters" => {
                "more follows behind the end of the JSON; one file holds the output of one command".into()
            }
            Category::Syntax | Category::Io => format!("it is not JSON: {said}"),
            Category::Data => match self.known.holds {
                Holds::Answer(field) if said == format!("missing field `{field}`") => {
                    return self.of_another_kind(field);
                }
                _ => said,
            },
        };
        let position = Position { line: source.line().max(1), column: source.column().max(1) };
        error(&self.path, self.known, position, message)
    }

    /// An object that lacks the field by which its kind is known.
    fn of_another_kind(&self, field: &str) -> Error {
        let fields: BTreeMap<String, IgnoredAny> = serde_json::from_str(&self.text).unwrap_or_default();
        let is_there = |known: &&Known| matches!(known.holds, Holds::Answer(field) if fields.contains_key(field));
        let belongs = match ALL.iter().find(is_there) {
            Some(other) => format!("; its content belongs in {}", other.name()),
            None if fields.contains_key("kind") => "; it is what `kubectl` prints".into(),
            None => String::new(),
        };
        self.wrong("{", format!("it has no `{field}`{belongs}"))
    }
}

fn error(path: &str, known: Known, position: Position, message: String) -> Error {
    // The name may be anything behind the stem, and this is copied into a shell.
    let name = path.rsplit('/').next().filter(|name| is_plain(name)).map_or_else(|| known.name(), str::to_owned);
    let help = format!("make it anew with `{} > {name}`", known.command);
    Error::Document { path: path.into(), position, message, help }
}

/// Objects that say of what kind they are.
pub(super) trait OfKind {
    /// The `kind`.
    const KIND: &'static str;
}

/// The kinds in a file, before the objects themselves are read.
#[derive(Deserialize)]
#[serde(bound = "T: OfKind")]
struct Head<T> {
    kind: Option<String>,
    #[serde(rename = "items")]
    items: Option<Vec<Item<T>>>,
}

#[derive(Deserialize)]
#[serde(bound = "T: OfKind")]
struct Item<T> {
    #[serde(default, rename = "kind")]
    _kind: KindOf<T>,
}

/// The kind of an item. The API leaves it out, kubectl writes it.
struct KindOf<T>(PhantomData<T>);

impl<T> Default for KindOf<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: OfKind> Deserialize<'de> for KindOf<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let kind = String::deserialize(deserializer)?;
        if kind == T::KIND {
            return Ok(Self::default());
        }
        Err(D::Error::custom(format!("it holds {kind} where {} belongs", T::KIND)))
    }
}
