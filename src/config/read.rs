//! Typed access to the tree: mappings with known keys, texts, lists, words, booleans and whole numbers.

use std::ops::RangeInclusive;

use super::fault::{Fault, Mark, is_invisible, nearest, one_of, shown};
use super::tree::{Entry, Node, ScalarKind, Value};

/// A mapping of which every key is known and given once.
pub(super) struct Fields<'t> {
    /// Where to point when a key is missing.
    mark: Mark,
    /// What the mapping is, for messages.
    place: String,
    entries: &'t [Entry],
}

impl<'t> Fields<'t> {
    /// `mark` is the key that the mapping belongs to, or the mapping itself where it has none.
    pub(super) fn new(node: &'t Node, mark: Mark, place: impl Into<String>, known: &[&str]) -> Result<Self, Fault> {
        let place = place.into();
        let entries = mapping(node, mark, &place)?;
        for entry in entries {
            let key = key(entry, &place)?;
            if !known.contains(&key) {
                return Err(unknown_key(entry.key.mark, key, &place, known));
            }
        }
        Ok(Self { mark, place, entries })
    }

    /// The same with a better name for it, once that is known.
    pub(super) fn called(self, place: String) -> Self {
        Self { place, ..self }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'t Entry> {
        find(self.entries, name)
    }

    /// What the entry of a key says; `None` where the key is not there.
    pub(super) fn entry<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'t Entry) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        self.get(name).map(read).transpose()
    }

    /// What the value of a key says; `None` where the key is not there.
    pub(super) fn value<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'t Node) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        self.entry(name, |entry| read(&entry.value))
    }

    /// The entry of a key that must be there; `example` is what one writes, key included.
    pub(super) fn require(&self, name: &str, example: &str) -> Result<&'t Entry, Fault> {
        self.get(name)
            .ok_or_else(|| Fault::new(self.mark, format!("{} has no `{name}`", self.place), format!("add `{example}`")))
    }
}

/// The entry of that key.
pub(super) fn find<'t>(entries: &'t [Entry], name: &str) -> Option<&'t Entry> {
    entries.iter().find(|entry| key_text(entry) == Some(name))
}

fn unknown_key(mark: Mark, key: &str, place: &str, known: &[&str]) -> Fault {
    let help = match nearest(key, known.iter().copied()) {
        _ if key == "<<" => "write the keys out; merge keys are not part of YAML 1.2".into(),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known keys here: {}", known.join(", ")),
    };
    Fault::new(mark, format!("unknown key `{}` in {place}", shown(key)), help)
}

/// The entries of a mapping, each key given once; for mappings whose keys are the user's.
pub(super) fn mapping<'t>(node: &'t Node, mark: Mark, place: &str) -> Result<&'t [Entry], Fault> {
    let Value::Mapping(entries) = &node.value else {
        let help = match &node.value {
            Value::Scalar(scalar) if scalar.kind == ScalarKind::Nothing => {
                "write its keys below it, indented, or remove it"
            }
            _ => "write `key: value` lines below it, indented, or `{key: value}`",
        };
        let at = if found_nothing(node) { mark } else { node.mark };
        return Err(Fault::new(at, format!("expected a mapping for {place}, found {}", found(node)), help));
    };
    for (index, entry) in entries.iter().enumerate() {
        let name = key(entry, place)?;
        if let Some(earlier) = entries.iter().take(index).find(|other| key_text(other) == Some(name)) {
            return Err(Fault::new(
                entry.key.mark,
                format!("`{}` is given twice in {place}; the first is on line {}", shown(name), earlier.key.mark.line),
                "keep one of the two",
            ));
        }
    }
    Ok(entries)
}

/// The key as a text.
pub(super) fn key<'t>(entry: &'t Entry, place: &str) -> Result<&'t str, Fault> {
    key_text(entry).ok_or_else(|| {
        let help = match &entry.key.value {
            Value::Scalar(scalar) if scalar.text.is_empty() => "write a key before the colon".into(),
            Value::Scalar(scalar) => format!("quote it: `\"{}\":`", shown(&scalar.text)),
            Value::List(_) | Value::Mapping(_) => "write one word before the colon".into(),
        };
        Fault::new(entry.key.mark, format!("a key in {place} must be a text, found {}", found(&entry.key)), help)
    })
}

fn key_text(entry: &Entry) -> Option<&str> {
    match &entry.key.value {
        Value::Scalar(scalar) if scalar.kind == ScalarKind::Text => Some(&scalar.text),
        Value::Scalar(_) | Value::List(_) | Value::Mapping(_) => None,
    }
}

/// A text that is not empty and has nothing invisible in it or around it. `what` names it for messages: "a subnet id".
pub(super) fn text<'t>(node: &'t Node, what: &str) -> Result<&'t str, Fault> {
    let text = any_text(node, what)?;
    let visible: String = text.chars().filter(|character| !is_invisible(*character)).collect();
    let clean = visible.trim();
    if clean.is_empty() {
        return Err(Fault::new(
            node.mark,
            format!("expected {what}, found an empty text"),
            "write a value, or remove the key",
        ));
    }
    if clean != text {
        return Err(Fault::new(
            node.mark,
            format!("`{}` has blanks around it, or characters that one does not see", shown(text)),
            format!("write `{}`", shown(clean)),
        ));
    }
    Ok(text)
}

/// A text as it is, even empty.
pub(super) fn any_text<'t>(node: &'t Node, what: &str) -> Result<&'t str, Fault> {
    let wrong = |help: String| Err(Fault::new(node.mark, format!("expected {what}, found {}", found(node)), help));
    match &node.value {
        Value::Scalar(scalar) => match scalar.kind {
            ScalarKind::Text => Ok(&scalar.text),
            ScalarKind::Nothing => wrong("write a value, or remove the key".into()),
            ScalarKind::Boolean | ScalarKind::Number => wrong(format!("quote it: `\"{}\"`", shown(&scalar.text))),
        },
        Value::List(items) => match items.as_slice() {
            [Node { value: Value::Scalar(only), .. }] => {
                wrong(format!("write `{}` without brackets", shown(&only.text)))
            }
            _ => wrong("write one value".into()),
        },
        Value::Mapping(_) => wrong("write one value".into()),
    }
}

/// The items of a list; `what` is its plural for messages: "subnet ids".
pub(super) fn list<'t>(node: &'t Node, what: &str) -> Result<&'t [Node], Fault> {
    let wrong =
        |help: String| Err(Fault::new(node.mark, format!("expected a list of {what}, found {}", found(node)), help));
    match &node.value {
        Value::List(items) => Ok(items),
        Value::Scalar(scalar) if scalar.kind == ScalarKind::Nothing => wrong("write a list, or remove the key".into()),
        Value::Scalar(scalar) if scalar.text.contains(',') => wrong("write `[first, second]`".into()),
        Value::Scalar(scalar) => wrong(format!("write `[{}]`", shown(&scalar.text))),
        Value::Mapping(_) => wrong("begin each item with `- `".into()),
    }
}

/// The items of a list that has at least one.
pub(super) fn filled_list<'t>(node: &'t Node, what: &str) -> Result<&'t [Node], Fault> {
    let items = list(node, what)?;
    if items.is_empty() {
        return Err(Fault::new(
            node.mark,
            format!("the list of {what} is empty"),
            "name at least one, or remove the key",
        ));
    }
    Ok(items)
}

/// The items of a list of texts, each once, in the file's order; `check` judges one.
pub(super) fn texts(
    node: &Node,
    what: &str,
    check: impl Fn(&Node) -> Result<String, Fault>,
) -> Result<Vec<String>, Fault> {
    let mut texts = Vec::new();
    for item in list(node, what)? {
        let text = check(item)?;
        if texts.contains(&text) {
            return Err(Fault::new(item.mark, format!("`{text}` is in this list twice"), "keep one of the two"));
        }
        texts.push(text);
    }
    Ok(texts)
}

/// One of the words of a table.
pub(super) fn word<T: Copy>(node: &Node, what: &str, table: &[(&str, T)]) -> Result<T, Fault> {
    let words = || table.iter().map(|(word, _)| *word);
    let Value::Scalar(scalar) = &node.value else {
        return Err(Fault::new(
            node.mark,
            format!("expected {what}, found {}", found(node)),
            format!("write {}", one_of(words())),
        ));
    };
    if let Some((_, value)) = table.iter().find(|(word, _)| *word == scalar.text) {
        return Ok(*value);
    }
    let help = match nearest(&scalar.text, words()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write {}", one_of(words())),
    };
    Err(Fault::new(node.mark, format!("expected {what}, found {}", found(node)), help))
}

/// `true` or `false`; the words that only YAML 1.1 knows are refused, because readers differ about them.
pub(super) fn boolean(node: &Node, name: &str) -> Result<bool, Fault> {
    let meant = match &node.value {
        Value::Scalar(scalar) => match scalar.text.to_ascii_lowercase().as_str() {
            "true" if scalar.kind == ScalarKind::Boolean => return Ok(true),
            "false" if scalar.kind == ScalarKind::Boolean => return Ok(false),
            "true" | "yes" | "y" | "on" | "1" => Some(true),
            "false" | "no" | "n" | "off" | "0" => Some(false),
            _ => None,
        },
        Value::List(_) | Value::Mapping(_) => None,
    };
    let help = match meant {
        Some(meant) if matches!(&node.value, Value::Scalar(scalar) if scalar.text == meant.to_string()) => {
            format!("write `{name}: {meant}`, without quotes")
        }
        Some(meant) => format!("write `{name}: {meant}`"),
        None => format!("write `{name}: true` or `{name}: false`"),
    };
    Err(Fault::new(node.mark, format!("expected true or false for `{name}`, found {}", found(node)), help))
}

/// A whole decimal number within a range; `limit` says where the range comes from.
pub(super) fn whole(node: &Node, what: &str, range: RangeInclusive<u32>, limit: &str) -> Result<u32, Fault> {
    let wrong = |help: String| Err(Fault::new(node.mark, format!("expected {what}, found {}", found(node)), help));
    let Value::Scalar(scalar) = &node.value else { return wrong("write one whole number".into()) };
    let text = &scalar.text;
    let decimal = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    match text.parse::<u32>() {
        _ if text.starts_with('-') => wrong(limit.into()),
        _ if !decimal || text.is_empty() => wrong("write a whole number in decimal digits".into()),
        _ if scalar.kind != ScalarKind::Number => wrong(format!("write {text} without quotes")),
        Ok(number) if range.contains(&number) => Ok(number),
        _ => wrong(limit.into()),
    }
}

fn found_nothing(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(scalar) if scalar.kind == ScalarKind::Nothing)
}

/// What a node is, for messages.
pub(super) fn found(node: &Node) -> String {
    match &node.value {
        Value::List(items) if items.is_empty() => "an empty list".into(),
        Value::List(_) => "a list".into(),
        Value::Mapping(_) => "a mapping".into(),
        Value::Scalar(scalar) => {
            let text = shown(&scalar.text);
            match scalar.kind {
                ScalarKind::Nothing => "nothing".into(),
                ScalarKind::Boolean => format!("the boolean `{text}`"),
                ScalarKind::Number => format!("the number `{text}`"),
                ScalarKind::Text if scalar.text.is_empty() => "an empty text".into(),
                ScalarKind::Text => format!("the text `{text}`"),
            }
        }
    }
}
