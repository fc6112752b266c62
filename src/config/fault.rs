//! One fault of the file: where it is, what is wrong there and what to write instead.

use crate::error::{Error, Position};

/// Characters of a line that a snippet shows.
const SNIPPET_WIDTH: usize = 100;
/// Characters of a value that a message shows.
const SHOWN_WIDTH: usize = 100;
/// Least likeness, from 0 to 1, of two words of which one is taken for a misspelling of the other.
const NEAR: f64 = 0.6;

/// A stretch of one line, counted from one, in characters. Ordered as in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) width: usize,
}

/// What is wrong at one place of the file.
#[derive(Debug)]
pub(super) struct Fault {
    mark: Mark,
    message: String,
    help: String,
}

impl Fault {
    pub(super) fn new(mark: Mark, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { mark, message: message.into(), help: help.into() }
    }

    pub(super) fn into_error(self, text: &str, path: &str) -> Error {
        Error::Config {
            path: path.into(),
            position: Position { line: self.mark.line, column: self.mark.column },
            snippet: snippet(text, self.mark),
            message: self.message,
            help: self.help,
        }
    }
}

/// The line of the mark with its number, and the marker under it. One character of the file is one character of the
/// snippet, so that the marker stands where it should.
fn snippet(text: &str, mark: Mark) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // The line ends of YAML, as the parser counts them.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let line = text.split('\n').nth(mark.line.saturating_sub(1)).unwrap_or_default();
    let line: Vec<char> = line.chars().map(visible).collect();
    let before = mark.column.saturating_sub(1).min(line.len());
    let start = if line.len() > SNIPPET_WIDTH { before.saturating_sub(SNIPPET_WIDTH / 2) } else { 0 };
    let end = line.len().min(start + SNIPPET_WIDTH);
    let cut = |there: bool| if there { "…" } else { "" };

    let number = mark.line.to_string();
    let margin = " ".repeat(number.len());
    let shown: String = line.iter().skip(start).take(end - start).collect();
    let indent = " ".repeat(before - start + cut(start > 0).chars().count());
    let marker = "^".repeat(mark.width.min(end.saturating_sub(before)).max(1));
    format!("{number} | {}{shown}{}\n{margin} | {indent}{marker}", cut(start > 0), cut(end < line.len()))
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}

/// A value of the file as it may appear in a message: on one line, nothing invisible, not endless.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_WIDTH).map(visible).collect();
    if text.chars().nth(SHOWN_WIDTH).is_some() {
        shown.push('…');
    }
    shown
}

fn visible(character: char) -> char {
    match character {
        '\t' => '→',
        character if is_invisible(character) => '·',
        character => character,
    }
}

/// Controls, and the format characters that hide or reorder text: they would deceive the reader or reach the terminal.
pub(super) fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
}

/// The known word that `word` seems to be a misspelling of.
pub(super) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let fold = |word: &str| word.replace(['_', '-'], "").to_lowercase();
    let wanted = fold(word);
    known
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(&wanted, &fold(candidate)), candidate))
        .filter(|(likeness, _)| *likeness >= NEAR)
        // The first of equals wins: `max_by` would take the last.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, candidate)| candidate)
}

/// Words for a message: "`a`, `b` or `c`".
pub(super) fn one_of<'k>(words: impl IntoIterator<Item = &'k str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}
