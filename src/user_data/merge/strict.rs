//! Foreign parts brought into strict grammar; nothing else about them changes.

use base64::Engine as _;

use crate::user_data::kind::content_type_of;
use crate::user_data::mime::{ContentType, Header, Part, is_token};

const TRANSFER_ENCODING: &str = "Content-Transfer-Encoding";

/// Base64 in lines of 76 characters. Source: RFC 2045, section 6.8.
fn in_base64_lines(bytes: &[u8]) -> Vec<u8> {
    let encoded = base64::engine::general_purpose::STANDARD.encode(bytes);
    encoded.as_bytes().chunks(76).flat_map(|line| [line, b"\n"]).flatten().copied().collect()
}

/// The part as strict grammar wants it, with what had to change.
pub(super) fn part(part: &Part) -> (Part, Vec<String>) {
    let mut notes = Vec::new();
    let content_type = content_type(part, &mut notes);
    let headers: Vec<Header> = part.headers.iter().filter_map(|header| strict_header(header, &mut notes)).collect();
    let mut part = Part { content_type, headers, body: part.body.clone() };
    if part.is_script() && has_dos_line_ends(&part.body) {
        part.body = without_carriage_returns(&part.body);
        notes.push("its lines ended with CRLF and now end with LF, as cloud-init would have made them".into());
    }
    let is_utf8 = std::str::from_utf8(&part.body).is_ok();
    if !is_utf8 || part.body.ends_with(b"\r") {
        part.body = in_base64_lines(&part.content());
        part.headers.retain(|header| !header.name.eq_ignore_ascii_case(TRANSFER_ENCODING));
        part.headers.push(Header { name: TRANSFER_ENCODING.into(), value: "base64".into() });
        notes.push(if is_utf8 {
            "it ends with a CR and is encoded as base64 now: readers take that CR for a part of the delimiter".into()
        } else {
            "its bytes are no UTF-8 and are encoded as base64 now: cloud-init fails on such a document".into()
        });
    }
    (part, notes)
}

fn content_type(part: &Part, notes: &mut Vec<String>) -> String {
    let parsed = ContentType::parse(&part.content_type);
    let trimmed = part.content_type.trim();
    let is_plain = trimmed.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if parsed.strict && parsed.media_type.is_some() && is_plain && !parsed.is_multipart() {
        return trimmed.to_owned();
    }
    let repaired = match parsed.to_strict() {
        Some(text) if !parsed.is_multipart() => text,
        _ => content_type_of(&part.body).to_owned(),
    };
    notes.push(format!("its Content-Type `{trimmed}` was not well-formed and is now `{repaired}`"));
    repaired
}

fn strict_header(header: &Header, notes: &mut Vec<String>) -> Option<Header> {
    if !is_token(&header.name) {
        notes.push(format!("its header `{}` was not well-formed and is gone", header.name.escape_debug()));
        return None;
    }
    let value: String = header
        .value
        .chars()
        .filter(|character| *character == ' ' || *character == '\t' || character.is_ascii_graphic())
        .collect();
    if value != header.value {
        notes.push(format!("its header `{}` held characters that are not ASCII; they are gone", header.name));
    }
    Some(Header { name: header.name.clone(), value: value.trim().to_owned() })
}

/// Whether cloud-init would take the CRs out: it looks at the first line only. Source: cloud-init,
/// `cloudinit/util.py`, `dos2unix`.
fn has_dos_line_ends(body: &[u8]) -> bool {
    let first = body.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    // Of several CRs one would be left, and be taken out the next time.
    first.ends_with(b"\r\n") && !first.ends_with(b"\r\r\n")
}

fn without_carriage_returns(body: &[u8]) -> Vec<u8> {
    let mut converted = Vec::with_capacity(body.len());
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(text) => {
                converted.extend_from_slice(text);
                converted.push(b'\n');
            }
            None => converted.extend_from_slice(line),
        }
    }
    converted
}
