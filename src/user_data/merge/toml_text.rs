//! A TOML text that is changed line by line; what is not changed keeps its bytes.

use std::ops::Range;

use toml_edit::{Document, Item, Key, Table, TableLike, Value};

use crate::user_data::edits;

/// One setting.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub(super) path: Vec<String>,
    pub(super) value: Value,
}

/// All settings of a text, in its order.
pub(super) fn leaves(text: &[u8]) -> Result<Vec<Leaf>, String> {
    let text = TomlText::parse(text)?;
    let mut found = Vec::new();
    collect(text.document()?.as_table(), &mut Vec::new(), &mut found);
    Ok(found)
}

fn collect(table: &dyn TableLike, path: &mut Vec<String>, found: &mut Vec<Leaf>) {
    for (key, item) in table.iter() {
        path.push(key.to_owned());
        match (item.as_table_like(), item.as_value()) {
            (Some(table), _) => collect(table, path, found),
            (None, Some(value)) => found.push(Leaf { path: path.clone(), value: value.clone() }),
            (None, None) => {}
        }
        path.pop();
    }
}

/// The text.
pub(super) struct TomlText {
    original: String,
    text: String,
}

impl TomlText {
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(text).map_err(|_| "it is not UTF-8".to_owned())?;
        let parsed = Self { original: text.to_owned(), text: text.to_owned() };
        parsed.document()?;
        Ok(parsed)
    }

    /// The text with its changes marked.
    pub(super) fn into_marked(self) -> Vec<u8> {
        edits::marked(self.original.as_bytes(), self.text.as_bytes())
    }

    fn document(&self) -> Result<Document<&str>, String> {
        Document::parse(self.text.as_str()).map_err(|error| error.message().to_owned())
    }

    /// The item at a path.
    pub(super) fn get(&self, path: &[String]) -> Option<Item> {
        let document = self.document().ok()?;
        lookup(document.as_item(), path).cloned()
    }

    /// Paths of the node labels whose keys have to go.
    pub(super) fn stale_labels(&self, is_stale: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
        let container: Vec<String> = ["settings", "kubernetes", "node-labels"].map(str::to_owned).to_vec();
        let Some(item) = self.get(&container) else { return Vec::new() };
        let Some(table) = item.as_table_like() else { return Vec::new() };
        let keys = table.iter().map(|(key, _)| key.to_owned()).filter(|key| is_stale(key));
        keys.map(|key| [container.clone(), vec![key]].concat()).collect()
    }

    /// Replaces a value that is there.
    pub(super) fn replace(&mut self, path: &[String], value: &Value) -> Result<(), String> {
        let span = {
            let document = self.document()?;
            lookup(document.as_item(), path).and_then(Item::span).ok_or("it has no place in the text")?
        };
        let expected = self.expected(path, Some(value))?;
        let edited = self.with_span_replaced(span, value.to_string().trim());
        self.accept(edited, &expected)
    }

    /// Takes a setting out.
    pub(super) fn remove(&mut self, path: &[String]) -> Result<(), String> {
        let expected = self.expected(path, None)?;
        let edited = {
            let document = self.document()?;
            let (Some((last, parents)), Some(value)) = (path.split_last(), lookup(document.as_item(), path)) else {
                return Err("it is not there".into());
            };
            let container = lookup(document.as_item(), parents);
            match container.and_then(Item::as_inline_table) {
                Some(table) if !table.is_dotted() => {
                    let mut table = table.clone();
                    table.remove(last);
                    let span = container.and_then(Item::span).ok_or("it has no place in the text")?;
                    self.with_span_replaced(span, table.to_string().trim())
                }
                _ => {
                    let span = value.span().ok_or("it has no place in the text")?;
                    self.with_lines(self.lines(span), &[])
                }
            }
        };
        self.accept(edited, &expected)
    }

    /// Adds a setting that is not there: into the nearest table that has a header or is written in line, else before
    /// the first header, else under a header of its own at the end.
    pub(super) fn insert(&mut self, path: &[String], value: &Value) -> Result<(), String> {
        let expected = self.expected(path, Some(value))?;
        let candidates = self.candidates(path, value)?;
        for edited in candidates {
            if parses_as(&edited, &expected) {
                self.text = edited;
                return Ok(());
            }
        }
        Err("no place in the text takes it".into())
    }

    fn candidates(&self, path: &[String], value: &Value) -> Result<Vec<String>, String> {
        let document = self.document()?;
        let value = value.to_string();
        let mut candidates = Vec::new();
        for depth in (1..path.len()).rev() {
            let (parents, rest) = path.split_at(depth);
            let Some(item) = lookup(document.as_item(), parents) else { continue };
            let line = format!("{} = {}", dotted(rest), value.trim());
            match item {
                Item::Table(table) if !table.is_implicit() && !table.is_dotted() => {
                    if let Some(span) = table.span() {
                        let header = edits::whole_lines(self.text.as_bytes(), span.start..span.start + 1);
                        candidates.push(self.with_lines(header.end..header.end, &[line]));
                    }
                }
                Item::Value(Value::InlineTable(table)) if !table.is_dotted() => {
                    let Some(span) = table.span() else { continue };
                    candidates.push(self.with_span_replaced(span, &extended(table, &line)));
                }
                _ => {}
            }
        }
        let line = format!("{} = {}", dotted(path), value.trim());
        let root = self.end_of_root_keys(document.as_table());
        candidates.push(self.with_lines(root..root, &[line]));
        if let Some((last, parents)) = path.split_last() {
            let end = self.text.len();
            let lines = [
                format!("[{}]", dotted(parents)),
                format!("{} = {}", dotted(std::slice::from_ref(last)), value.trim()),
            ];
            candidates.push(self.with_lines(end..end, &lines));
        }
        Ok(candidates)
    }

    /// Where the keys before the first table header end.
    fn end_of_root_keys(&self, root: &Table) -> usize {
        let ends = root.iter().flat_map(|(_, item)| value_ends(item));
        ends.max().map_or(0, |end| edits::whole_lines(self.text.as_bytes(), end.saturating_sub(1)..end).end)
    }

    /// The whole lines of a range.
    fn lines(&self, range: Range<usize>) -> Range<usize> {
        edits::whole_lines(self.text.as_bytes(), range)
    }

    fn with_lines(&self, range: Range<usize>, lines: &[String]) -> String {
        let line_end = if edits::line_end(self.text.as_bytes()) == b"\r\n" { "\r\n" } else { "\n" };
        let mut edited = self.text.get(..range.start).unwrap_or_default().to_owned();
        if !edited.is_empty() && !edited.ends_with('\n') {
            edited.push_str(line_end);
        }
        for line in lines {
            edited.push_str(line);
            edited.push_str(line_end);
        }
        edited.push_str(self.text.get(range.end..).unwrap_or_default());
        edited
    }

    fn with_span_replaced(&self, span: Range<usize>, new: &str) -> String {
        let lines = self.lines(span.clone());
        let head = self.text.get(lines.start..span.start).unwrap_or_default();
        let tail = self.text.get(span.end..lines.end).unwrap_or_default().trim_end_matches(['\r', '\n']);
        let replaced = format!("{head}{new}{tail}");
        let new_lines: Vec<String> = replaced.split('\n').map(|line| line.trim_end_matches('\r').to_owned()).collect();
        self.with_lines(lines, &new_lines)
    }

    fn accept(&mut self, edited: String, expected: &toml::Table) -> Result<(), String> {
        if !parses_as(&edited, expected) {
            return Err("its form cannot be edited safely".into());
        }
        self.text = edited;
        Ok(())
    }

    /// The settings with one of them set, or taken out.
    fn expected(&self, path: &[String], value: Option<&Value>) -> Result<toml::Table, String> {
        let mut table: toml::Table = self.text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
        let Some((last, parents)) = path.split_last() else { return Ok(table) };
        let mut at = &mut table;
        for key in parents {
            let entry = at.entry(key.clone()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            at = entry.as_table_mut().ok_or_else(|| format!("{key} is no table there"))?;
        }
        match value {
            Some(value) => {
                let parsed: toml::Table = format!("value = {}", value.to_string().trim())
                    .parse()
                    .map_err(|error: toml::de::Error| error.message().to_owned())?;
                let value = parsed.get("value").cloned().ok_or("it has no value")?;
                at.insert(last.clone(), value);
            }
            None => _ = at.remove(last),
        }
        Ok(table)
    }
}

/// An inline table with one more entry, as text.
fn extended(table: &toml_edit::InlineTable, entry: &str) -> String {
    let text = table.to_string();
    let inside = text.trim().trim_start_matches('{').trim_end_matches('}').trim();
    if inside.is_empty() {
        format!("{{ {entry} }}")
    } else {
        format!("{{ {}, {entry} }}", inside.trim_end_matches(','))
    }
}

fn parses_as(text: &str, expected: &toml::Table) -> bool {
    let without_empty = |mut table: toml::Table| {
        drop_empty_tables(&mut table);
        table
    };
    text.parse::<toml::Table>().is_ok_and(|table| without_empty(table) == without_empty(expected.clone()))
}

/// A table that lost its last key may be written or not.
fn drop_empty_tables(table: &mut toml::Table) {
    for (_, value) in table.iter_mut() {
        if let Some(inner) = value.as_table_mut() {
            drop_empty_tables(inner);
        }
    }
    table.retain(|_, value| !value.as_table().is_some_and(toml::Table::is_empty));
}

fn lookup<'a>(root: &'a Item, path: &[String]) -> Option<&'a Item> {
    path.iter().try_fold(root, |item, key| item.as_table_like()?.get(key))
}

/// Where values end that stand before the first header: values of the root and of dotted tables.
fn value_ends(item: &Item) -> Vec<usize> {
    match item {
        Item::Value(value) => value.span().map(|span| span.end).into_iter().collect(),
        Item::Table(table) if table.is_dotted() => table.iter().flat_map(|(_, item)| value_ends(item)).collect(),
        _ => Vec::new(),
    }
}

fn dotted(path: &[String]) -> String {
    path.iter().map(|key| Key::new(key).to_string()).collect::<Vec<_>>().join(".")
}
