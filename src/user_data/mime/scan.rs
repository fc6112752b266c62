//! Lines and header blocks, at byte offsets.

use std::ops::Range;

/// The lines of a text: ranges of bytes, with and without their ends.
pub(super) struct Lines<'a> {
    text: &'a [u8],
    starts: Vec<usize>,
}

/// One line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// Without its end.
    pub(super) text: &'a [u8],
    /// Offset of its first byte.
    pub(super) start: usize,
    /// Offset of the line after it.
    pub(super) next: usize,
    /// Whether it ends with CRLF; `None` where the text ends first.
    pub(super) crlf: Option<bool>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(index, _)| index + 1);
        Self { text, starts: std::iter::once(0).chain(ends).collect() }
    }

    pub(super) fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The number of the line that holds an offset, from 1.
    pub(super) fn number(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The line that starts at an offset, cut at `end`; `None` at the end.
    pub(super) fn at(&self, offset: usize, end: usize) -> Option<Line<'a>> {
        if offset >= end {
            return None;
        }
        let next = self.starts.get(self.number(offset)).copied().unwrap_or(self.text.len()).min(end);
        let whole = self.text.get(offset..next)?;
        let (text, crlf) = match whole.strip_suffix(b"\n") {
            Some(line) => match line.strip_suffix(b"\r") {
                Some(line) => (line, Some(true)),
                None => (line, Some(false)),
            },
            None => (whole, None),
        };
        Some(Line { text, start: offset, next, crlf })
    }

    /// The lines of a range.
    pub(super) fn within(&self, range: Range<usize>) -> impl Iterator<Item = Line<'a>> + '_ {
        let mut offset = range.start;
        std::iter::from_fn(move || {
            let line = self.at(offset, range.end)?;
            offset = line.next;
            Some(line)
        })
    }
}

/// One header, unfolded.
#[derive(Debug, Clone)]
pub(super) struct RawHeader {
    pub(super) name: String,
    pub(super) value: String,
    /// Number of its first line.
    pub(super) line: usize,
    /// Whether it is plain ASCII, as strict grammar demands.
    pub(super) ascii: bool,
}

/// Headers and what follows them.
#[derive(Debug)]
pub(super) struct HeaderBlock {
    pub(super) headers: Vec<RawHeader>,
    /// How the headers end.
    pub(super) end: HeaderEnd,
    /// Offset of the first byte of the body.
    pub(super) body: usize,
    /// Number of the line that ends the headers.
    pub(super) line: usize,
}

/// How a block of headers ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeaderEnd {
    /// With a blank line, as it should.
    Blank,
    /// With a line of blanks, which strict readers take for a continuation of the last header.
    Spaces,
    /// With a line of the body: the blank line is missing.
    Missing,
    /// With the end of the text.
    Text,
}

/// Top-level keys of a NodeConfig, whose lines look like headers where the blank line before them is missing.
const KEYS_OF_NODE_CONFIG: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];

/// Reads headers from the start of a range.
pub(super) fn headers(lines: &Lines<'_>, range: Range<usize>) -> HeaderBlock {
    let mut headers: Vec<RawHeader> = Vec::new();
    for line in lines.within(range.clone()) {
        let number = lines.number(line.start);
        let block = |headers, end, body| HeaderBlock { headers, end, body, line: number };
        if line.text.is_empty() {
            return block(headers, HeaderEnd::Blank, line.next);
        }
        if line.text.trim_ascii().is_empty() {
            return block(headers, HeaderEnd::Spaces, line.next);
        }
        let is_continuation = line.text.first().is_some_and(|byte| matches!(byte, b' ' | b'\t'));
        if is_continuation && let Some(last) = headers.last_mut() {
            last.value.push(' ');
            last.value.push_str(&String::from_utf8_lossy(line.text.trim_ascii()));
            last.ascii &= is_plain(line.text);
            continue;
        }
        match header(line.text) {
            Some((name, value)) if !KEYS_OF_NODE_CONFIG.contains(&name.as_str()) => {
                headers.push(RawHeader { name, value, line: number, ascii: is_plain(line.text) });
            }
            _ => return block(headers, HeaderEnd::Missing, line.start),
        }
    }
    HeaderBlock { headers, end: HeaderEnd::Text, body: range.end, line: lines.number(range.end) }
}

/// `Name: value`; the name is printable ASCII and no delimiter. Source: RFC 5322, section 2.2.
fn header(line: &[u8]) -> Option<(String, String)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (line.get(..colon)?, line.get(colon + 1..)?);
    if name.is_empty() || name.starts_with(b"--") || !name.iter().all(u8::is_ascii_graphic) {
        return None;
    }
    Some((String::from_utf8_lossy(name).into_owned(), String::from_utf8_lossy(value.trim_ascii()).into_owned()))
}

fn is_plain(line: &[u8]) -> bool {
    line.iter().all(|byte| *byte == b'\t' || *byte == b' ' || byte.is_ascii_graphic())
}
