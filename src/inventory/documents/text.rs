//! The bytes of a file as text, whatever shell has written them.

use std::borrow::Cow;

use crate::error::Position;

/// What is wrong with the bytes of a file, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotText {
    pub(super) position: Position,
    pub(super) message: String,
}

/// Decodes UTF-8 and UTF-16, with or without a byte order mark. Windows PowerShell 5 writes UTF-16 with `>`, and UTF-8
/// with a mark by `Out-File -Encoding utf8`. Source: PowerShell documentation, "about_Character_Encoding".
pub(super) fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, NotText> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest),
        // A JSON text begins with an ASCII character, so that one zero byte tells the order.
        [0xff, 0xfe, rest @ ..] | rest @ [_, 0, ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] | rest @ [0, _, ..] => utf16(rest, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, NotText> {
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        NotText {
            position: end_of(&String::from_utf8_lossy(before)),
            message: "it is neither UTF-8 nor UTF-16 text".into(),
        }
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'static, str>, NotText> {
    let (pairs, rest) = bytes.as_chunks();
    let text: Result<String, _> = char::decode_utf16(pairs.iter().copied().map(unit)).collect();
    match text {
        Ok(text) if rest.is_empty() => Ok(text.into()),
        Ok(text) => Err(NotText { position: end_of(&text), message: "it ends amid a character of UTF-16".into() }),
        Err(_) => Err(NotText {
            position: Position { line: 1, column: 1 },
            message: "it begins like UTF-16 text and is none".into(),
        }),
    }
}

/// The place behind a text.
fn end_of(text: &str) -> Position {
    let last = text.rsplit('\n').next().unwrap_or_default();
    Position { line: text.matches('\n').count() + 1, column: last.chars().count() + 1 }
}

/// Where a part of a text begins; the beginning when it is not in there.
pub(super) fn position_of(text: &str, part: &str) -> Position {
    end_of(text.split_once(part).map_or("", |(before, _)| before))
}

/// Whether a shell takes it as it is. The files say whatever somebody has written into them, and commands are copied.
pub(super) fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ','))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn the_encodings_of_shells_give_the_same_text() {
        let text = "{\r\n  \"Name\": \"ü 🐙\"\r\n}\r\n";
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            utf16(text, u16::to_le_bytes),
            utf16(&format!("\u{feff}{text}"), u16::to_le_bytes),
            utf16(text, u16::to_be_bytes),
            utf16(&format!("\u{feff}{text}"), u16::to_be_bytes),
        ] {
            assert_eq!(decoded(&bytes).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_text_is_said_to_be_none_at_its_place() {
        let position = |line, column| Position { line, column };
        assert_eq!(decoded(b"{\n  \"a\xff\"}").unwrap_err().position, position(2, 5));
        assert_eq!(decoded(b"{\0}").unwrap_err().position, position(1, 2));
        assert_eq!(decoded(b"{\0\0\xd8").unwrap_err().position, position(1, 1));
        assert_eq!(decoded(b"").unwrap(), "");
        assert_eq!(decoded(b"\0").unwrap(), "\0");
    }

    #[test]
    fn a_part_is_found_by_line_and_column() {
        assert_eq!(position_of("{\n  \"a\": 1,\n  \"b\": 2\n}", "\"b\""), Position { line: 3, column: 3 });
        assert_eq!(position_of("{}", "\"b\""), Position { line: 1, column: 1 });
    }
}
