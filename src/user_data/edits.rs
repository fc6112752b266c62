//! Edits of foreign text that can be undone: the old lines stay as comments above the new ones.
//!
//! ```text
//! # eniplan.dev/edited: 1 old, 1 new
//! # was: <the old line>
//! <the new line>
//! ```
//!
//! Shell, YAML and TOML all take such comments.

use std::ops::Range;

const EDITED: &str = "# eniplan.dev/edited: ";
const WAS: &[u8] = b"# was: ";
/// Behind the counts where the old text ended without a line end.
const NO_LINE_END: &str = ", no line end";
/// How often undone text is looked at again. Only text that somebody has made by hand needs more than one look.
const MAX_UNDO: usize = 64;

/// The most that lines are compared one by one; a larger change is marked as one.
const MAX_COMPARISONS: usize = 1 << 20;

/// The edited text with every change marked, so that [`undo`] gives back the original.
pub(super) fn marked(original: &[u8], edited: &[u8]) -> Vec<u8> {
    let (old, new) = (lines(original), lines(edited));
    let is_open = !original.is_empty() && !original.ends_with(b"\n");
    let carriage_return: &[u8] = if line_end(original) == b"\r\n" { b"\r" } else { b"" };
    let mut text = Vec::with_capacity(edited.len());
    for hunk in hunks(&old, &new) {
        let (old_lines, new_lines) =
            (old.get(hunk.old.clone()).unwrap_or_default(), new.get(hunk.new.clone()).unwrap_or_default());
        if hunk.is_same {
            text.extend(old_lines.iter().flat_map(|line| [*line, b"\n"]).flatten());
            continue;
        }
        let open = if is_open && hunk.old.end == old.len() { NO_LINE_END } else { "" };
        text.extend_from_slice(format!("{EDITED}{} old, {} new{open}", old_lines.len(), new_lines.len()).as_bytes());
        text.extend_from_slice(carriage_return);
        text.push(b'\n');
        text.extend(old_lines.iter().flat_map(|line| [WAS, line, b"\n"]).flatten());
        text.extend(new_lines.iter().flat_map(|line| [*line, b"\n"]).flatten());
    }
    let ends_unchanged = hunks(&old, &new).last().is_some_and(|hunk| hunk.is_same);
    if is_open && ends_unchanged {
        text.pop();
    }
    text
}

/// Undoes every marked edit in a text. What comes out has no marks.
pub(super) fn undo(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..MAX_UNDO {
        let undone = undo_once(&text);
        if undone == text {
            break;
        }
        text = undone;
    }
    text
}

fn undo_once(text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let mut original: Vec<u8> = Vec::with_capacity(text.len());
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        let Some(edit) = Edit::read(line) else {
            original.extend_from_slice(line);
            index += 1;
            continue;
        };
        let old = lines.get(index + 1..).unwrap_or_default().iter().take(edit.old);
        for old in old.filter_map(|line| line.strip_prefix(WAS)) {
            original.extend_from_slice(old);
        }
        if edit.had_no_line_end && original.ends_with(b"\n") {
            original.pop();
        }
        index = index.saturating_add(1).saturating_add(edit.old).saturating_add(edit.new);
    }
    original
}

/// The line above an edit.
struct Edit {
    old: usize,
    new: usize,
    had_no_line_end: bool,
}

impl Edit {
    fn read(line: &[u8]) -> Option<Self> {
        let counts = std::str::from_utf8(line).ok()?.strip_prefix(EDITED)?.trim();
        let (counts, had_no_line_end) = match counts.strip_suffix(NO_LINE_END) {
            Some(counts) => (counts, true),
            None => (counts, false),
        };
        let (old, new) = counts.split_once(" old, ")?;
        Some(Self { old: old.parse().ok()?, new: new.strip_suffix(" new")?.parse().ok()?, had_no_line_end })
    }
}

/// Lines without LF; a CR belongs to its line.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\n").unwrap_or(line)).collect()
}

/// A run of lines that both texts have, or that differ.
struct Hunk {
    is_same: bool,
    old: Range<usize>,
    new: Range<usize>,
}

fn hunks(old: &[&[u8]], new: &[&[u8]]) -> Vec<Hunk> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (head..old.len() - tail, head..new.len() - tail);

    let mut pairs: Vec<(usize, usize)> = (0..head).map(|index| (index, index)).collect();
    pairs.extend(common(old, old_middle.clone(), new, new_middle.clone()));
    pairs.extend((0..tail).map(|index| (old_middle.end + index, new_middle.end + index)));

    let mut found: Vec<Hunk> = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    for (old_index, new_index) in pairs.into_iter().chain([(old.len(), new.len())]) {
        if old_at < old_index || new_at < new_index {
            found.push(Hunk { is_same: false, old: old_at..old_index, new: new_at..new_index });
        }
        if old_index < old.len() {
            match found.last_mut() {
                Some(last) if last.is_same => (last.old.end, last.new.end) = (old_index + 1, new_index + 1),
                _ => found.push(Hunk { is_same: true, old: old_index..old_index + 1, new: new_index..new_index + 1 }),
            }
        }
        (old_at, new_at) = (old_index + 1, new_index + 1);
    }
    found
}

/// The longest common subsequence of two ranges of lines, as pairs of indices.
fn common(old: &[&[u8]], old_range: Range<usize>, new: &[&[u8]], new_range: Range<usize>) -> Vec<(usize, usize)> {
    let (height, width) = (old_range.len(), new_range.len());
    if height.saturating_mul(width) > MAX_COMPARISONS {
        return Vec::new();
    }
    let same = |i: usize, j: usize| old.get(old_range.start + i) == new.get(new_range.start + j);
    // lengths[i][j] is the length for the lines from i and from j on.
    let mut lengths = vec![vec![0_u32; width + 1]; height + 1];
    let get =
        |lengths: &[Vec<u32>], i: usize, j: usize| lengths.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0);
    for i in (0..height).rev() {
        for j in (0..width).rev() {
            let length = if same(i, j) {
                get(&lengths, i + 1, j + 1) + 1
            } else {
                get(&lengths, i + 1, j).max(get(&lengths, i, j + 1))
            };
            if let Some(cell) = lengths.get_mut(i).and_then(|row| row.get_mut(j)) {
                *cell = length;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < height && j < width {
        if same(i, j) {
            pairs.push((old_range.start + i, new_range.start + j));
            (i, j) = (i + 1, j + 1);
        } else if get(&lengths, i + 1, j) >= get(&lengths, i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
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
    fn marks_read_well() {
        let edited = marked(b"a\n  b\nc\nd\n", b"a\n  B\nc\ne\nd\n");
        let expected =
            "a\n# eniplan.dev/edited: 1 old, 1 new\n# was:   b\n  B\nc\n# eniplan.dev/edited: 0 old, 1 new\ne\nd\n";
        assert_eq!(String::from_utf8(edited).unwrap(), expected);
        assert_eq!(marked(b"a\nb", b"a\nb"), b"a\nb");
    }

    #[test]
    fn whole_lines_of_a_range() {
        assert_eq!(whole_lines(b"ab\ncd\nef", 4..5), 3..6);
        assert_eq!(whole_lines(b"ab\ncd\nef", 1..4), 0..6);
        assert_eq!(whole_lines(b"ab\ncd\nef", 7..8), 6..8);
    }

    fn text() -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
        use proptest::prelude::Strategy as _;
        (proptest::collection::vec("[ab]{0,2}\r?", 0..8), proptest::bool::ANY).prop_map(|(lines, ends)| {
            let text = lines.join("\n");
            if ends && !text.is_empty() { format!("{text}\n").into_bytes() } else { text.into_bytes() }
        })
    }

    proptest::proptest! {
        #[test]
        fn undoing_gives_back_the_original(original in text(), edited in text()) {
            proptest::prop_assert_eq!(undo(&marked(&original, &edited)), original);
        }
    }
}
