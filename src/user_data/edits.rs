//! Edits of foreign text that can be undone: the old lines stay as comments above the new ones.
//!
//! ```text
//! # eniplan.dev/was: <the old line>
//! # eniplan.dev/now: 1
//! <the new line>
//! ```
//!
//! Shell, YAML and TOML all take such comments. `now` counts the new lines; without `was` lines they are an insertion.

use std::ops::Range;

const WAS: &[u8] = b"# eniplan.dev/was: ";
const NOW: &[u8] = b"# eniplan.dev/now: ";
/// Behind the count where the old text had no line end.
const NO_LINE_END: &[u8] = b", no line end";

/// Replaces whole lines. `range` begins at the start of a line and ends after a line end or at the end of the text;
/// an empty range inserts. `lines` come without line ends and get `line_end`.
pub(super) fn replace_lines(text: &[u8], range: Range<usize>, lines: &[Vec<u8>], line_end: &[u8]) -> Vec<u8> {
    let (before, old, after) = (
        text.get(..range.start).unwrap_or_default(),
        text.get(range.clone()).unwrap_or_default(),
        text.get(range.end..).unwrap_or_default(),
    );
    let mut edited = before.to_vec();
    let mut had_no_line_end = false;
    if !edited.is_empty() && !edited.ends_with(b"\n") {
        edited.extend_from_slice(line_end);
        had_no_line_end = true;
    }
    for line in old.split_inclusive(|byte| *byte == b'\n') {
        edited.extend_from_slice(WAS);
        edited.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            edited.extend_from_slice(line_end);
            had_no_line_end = true;
        }
    }
    edited.extend_from_slice(NOW);
    edited.extend_from_slice(lines.len().to_string().as_bytes());
    if had_no_line_end {
        edited.extend_from_slice(NO_LINE_END);
    }
    edited.extend_from_slice(line_end);
    for line in lines {
        edited.extend_from_slice(line);
        edited.extend_from_slice(line_end);
    }
    edited.extend_from_slice(after);
    edited
}

/// Undoes every edit in a text.
pub(super) fn undo(text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let mut original: Vec<u8> = Vec::with_capacity(text.len());
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        let was = lines.get(index..).unwrap_or_default().iter().take_while(|line| line.starts_with(WAS)).count();
        let Some((new_lines, had_no_line_end)) = lines.get(index + was).and_then(|line| now(line)) else {
            original.extend_from_slice(line);
            index += 1;
            continue;
        };
        for old in lines.get(index..index + was).unwrap_or_default() {
            original.extend_from_slice(old.get(WAS.len()..).unwrap_or_default());
        }
        if had_no_line_end {
            remove_line_end(&mut original);
        }
        index = index.saturating_add(was).saturating_add(1).saturating_add(new_lines);
    }
    original
}

/// The number of new lines, and whether the text before them had no line end.
fn now(line: &[u8]) -> Option<(usize, bool)> {
    let rest = line.strip_prefix(NOW)?.trim_ascii();
    let (count, had_no_line_end) = match rest.strip_suffix(NO_LINE_END) {
        Some(count) => (count, true),
        None => (rest, false),
    };
    Some((std::str::from_utf8(count).ok()?.parse().ok()?, had_no_line_end))
}

fn remove_line_end(text: &mut Vec<u8>) {
    if text.ends_with(b"\n") {
        text.pop();
    }
    if text.ends_with(b"\r") {
        text.pop();
    }
}

/// The whole lines that a range of bytes touches.
pub(super) fn whole_lines(text: &[u8], range: Range<usize>) -> Range<usize> {
    let head = text.get(..range.start).unwrap_or_default();
    let start = head.iter().rposition(|byte| *byte == b'\n').map_or(0, |index| index + 1);
    let last = range.end.saturating_sub(1).max(range.start);
    let tail = text.get(last..).unwrap_or_default();
    let end = tail.iter().position(|byte| *byte == b'\n').map_or(text.len(), |index| last + index + 1);
    start..end
}

/// The line end of a text: that of its first line.
pub(super) fn line_end(text: &[u8]) -> &'static [u8] {
    match text.split_inclusive(|byte| *byte == b'\n').next() {
        Some(line) if line.ends_with(b"\r\n") => b"\r\n",
        _ => b"\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_reads_well() {
        let text = b"a\n  b\nc\n";
        let edited = replace_lines(text, whole_lines(text, 3..4), &[b"  B".to_vec()], b"\n");
        assert_eq!(String::from_utf8(edited).unwrap(), "a\n# eniplan.dev/was:   b\n# eniplan.dev/now: 1\n  B\nc\n");
    }

    proptest::proptest! {
        #[test]
        fn undoing_gives_back_the_bytes(
            lines in proptest::collection::vec("[a-z ]{0,6}", 1..6),
            crlf in proptest::bool::ANY,
            ends in proptest::bool::ANY,
            at in 0_usize..40,
            length in 0_usize..20,
            new in proptest::collection::vec("[a-z]{0,4}", 0..3),
            insert in proptest::bool::ANY,
        ) {
            let line_end: &[u8] = if crlf { b"\r\n" } else { b"\n" };
            let mut text = lines.join(std::str::from_utf8(line_end).unwrap()).into_bytes();
            if ends {
                text.extend_from_slice(line_end);
            }
            let start = at.min(text.len());
            let mut range = whole_lines(&text, start..(start + length).min(text.len()));
            if insert {
                range.end = range.start;
            }
            let new: Vec<Vec<u8>> = new.into_iter().map(String::into_bytes).collect();
            let edited = replace_lines(&text, range, &new, line_end);
            proptest::prop_assert_eq!(undo(&edited), text);
        }
    }
}
