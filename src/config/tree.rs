//! The YAML text as a tree whose nodes know where they stand.
//!
//! A derived `Deserialize` would give the reader "invalid type" at the wrong place: the mistakes that people make in
//! this file (a list that is a word, `yes`, a misspelt key) deserve an answer of their own, and that needs keys with
//! positions and the text of every scalar as it was typed.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::NonFiniteFloatPolicy;
use serde_saphyr::{DuplicateKeyPolicy, Error as YamlError, Location, MergeKeyPolicy, Spanned};

use super::fault::{Fault, Mark, shown};

/// Nesting that the file may have. The deepest place of `eniplan.yaml` is eight levels down.
const MAX_DEPTH: usize = 32;

/// Values that the file may have, and those of them that aliases may stand for. A map of 10,000 rows has 80,000.
const MAX_NODES: usize = 200_000;
const MAX_REPLAYED_EVENTS: usize = 10_000;

/// One value of the file.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) mark: Mark,
    pub(super) value: Value,
}

#[derive(Debug, Clone)]
pub(super) enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    Mapping(Vec<Entry>),
}

#[derive(Debug, Clone)]
pub(super) struct Scalar {
    /// As typed for numbers, booleans and nothing; unquoted and unescaped for texts.
    pub(super) text: String,
    pub(super) kind: ScalarKind,
}

/// What YAML 1.2 takes a scalar for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarKind {
    Nothing,
    Boolean,
    Number,
    Text,
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: Node,
    pub(super) value: Node,
}

/// Reads the one document of the text.
pub(super) fn parse(text: &str) -> Result<Node, Fault> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH, max_nodes: MAX_NODES },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_REPLAYED_EVENTS },
        // Reported by us, with both places.
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        strict_booleans: true,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    };
    let typed: Spanned<Typed> =
        serde_saphyr::from_str_with_options(text, options).map_err(|error| syntax_fault(&error))?;
    Ok(node(typed, text))
}

/// A value as serde-saphyr types it, before the text of numbers is fetched from the file.
enum Typed {
    Nothing,
    Boolean,
    Number,
    Text(String),
    List(Vec<Spanned<Typed>>),
    Mapping(Vec<(Spanned<Typed>, Spanned<Typed>)>),
}

impl<'de> Deserialize<'de> for Typed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TypedVisitor)
    }
}

struct TypedVisitor;

impl<'de> Visitor<'de> for TypedVisitor {
    type Value = Typed;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Typed, E> {
        Ok(Typed::Nothing)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Typed, E> {
        Ok(Typed::Boolean)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Typed, E> {
        Ok(Typed::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Typed, E> {
        Ok(Typed::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Typed, E> {
        Ok(Typed::Number)
    }

    fn visit_str<E>(self, text: &str) -> Result<Typed, E> {
        Ok(Typed::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Typed, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Typed::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Typed, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Typed::Mapping(entries))
    }
}

fn node(spanned: Spanned<Typed>, text: &str) -> Node {
    let typed = raw(spanned.defined, text);
    let scalar = |kind| Value::Scalar(Scalar { text: typed.into(), kind });
    let value = match spanned.value {
        Typed::Nothing => scalar(ScalarKind::Nothing),
        Typed::Boolean => scalar(ScalarKind::Boolean),
        Typed::Number => scalar(ScalarKind::Number),
        Typed::Text(text) => Value::Scalar(Scalar { text, kind: ScalarKind::Text }),
        Typed::List(items) => Value::List(items.into_iter().map(|item| node(item, text)).collect()),
        Typed::Mapping(entries) => Value::Mapping(
            entries.into_iter().map(|(key, value)| Entry { key: node(key, text), value: node(value, text) }).collect(),
        ),
    };
    Node { mark: mark(spanned.referenced), value }
}

/// The characters of the file at a location; empty where serde-saphyr gives none.
fn raw(location: Location, text: &str) -> &str {
    let span = location.span();
    let bounds = || {
        let start = usize::try_from(span.byte_offset()?).ok()?;
        let length = usize::try_from(span.byte_len()?).ok()?;
        text.get(start..start.checked_add(length)?)
    };
    bounds().unwrap_or_default()
}

fn mark(location: Location) -> Mark {
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX).max(1);
    Mark { line: number(location.line()), column: number(location.column()), width: number(location.span().len()) }
}

fn syntax_fault(error: &YamlError) -> Fault {
    let mark = error.location().map_or(Mark { line: 1, column: 1, width: 1 }, mark);
    match innermost(error) {
        YamlError::MultipleDocuments { .. } => Fault::new(
            mark,
            "a second YAML document begins here",
            "keep one document in the file: one `PodNetworkPlan`, no further `---`",
        ),
        YamlError::UnknownAnchor { .. } => Fault::new(
            mark,
            "this alias names an anchor that is not defined before it",
            "define the anchor with `&name` further up, or quote the value if it begins with a literal `*`",
        ),
        YamlError::Budget { .. }
        | YamlError::AliasReplayLimitExceeded { .. }
        | YamlError::AliasExpansionLimitExceeded { .. }
        | YamlError::AliasReplayStackDepthExceeded { .. }
        | YamlError::RecursiveReferencesRequireWeakTypes { .. } => Fault::new(
            mark,
            "the file is nested, or repeats itself through aliases, beyond any use",
            "write the values out instead of using anchors and aliases",
        ),
        error => Fault::new(mark, format!("not valid YAML: {}", shown(&without_place(error))), syntax_help(error)),
    }
}

/// The error itself, without what serde-saphyr wraps around it.
fn innermost(error: &YamlError) -> &YamlError {
    match error {
        YamlError::WithSnippet { error, .. } | YamlError::AliasError { error, .. } => innermost(error),
        error => error,
    }
}

/// What the parser said without its own " at line …", which the position already says.
fn without_place(error: &YamlError) -> String {
    let said = error.to_string();
    said.rsplit_once(" at line ").map_or(said.as_str(), |(message, _)| message).into()
}

fn syntax_help(error: &YamlError) -> &'static str {
    let said = error.to_string();
    if said.contains("tab") {
        "indent with spaces; YAML allows no tabs there"
    } else if said.contains("unclosed") {
        "close it, on this line or further down"
    } else if said.contains("unexpected character") {
        "remove the character, or write it as an escape in double quotes"
    } else if said.contains("mapping values") {
        "check the indentation, and quote a value that contains `: `"
    } else if said.contains("indicator") || said.contains("did not find expected") {
        "check the indentation, and that brackets, braces and quotes further up are closed"
    } else if said.contains("tag") {
        "remove the tag; the file uses none"
    } else {
        "correct the YAML; `eniplan schema config` gives editors the shape of the file"
    }
}
