//! The tolerant reader: recovers every part that a person would see in the text.

use std::ops::Range;

use super::content_type::{ContentType, is_token};
use super::scan::{HeaderBlock, HeaderEnd, Line, Lines, RawHeader, headers};
use super::{Header, Part};
use crate::user_data::kind::sniff;
use crate::user_data::oddity::{Oddity, OddityKind};
use crate::user_data::{Place, ReadError};

/// More parts than fit into 16 KiB in any way that makes sense.
const MAX_PARTS: usize = 256;
/// Nesting that no tool makes; eksctl makes two levels.
const MAX_DEPTH: usize = 8;
/// RFC 2046 allows 70 characters.
const MAX_BOUNDARY: usize = 256;

/// What was read.
pub(in crate::user_data) struct Multipart {
    pub(in crate::user_data) parts: Vec<Part>,
    pub(in crate::user_data) places: Vec<Place>,
    pub(in crate::user_data) oddities: Vec<Oddity>,
}

/// Reads a text of which `is_mime` holds. `oddities` are those of the layers around it.
pub(in crate::user_data) fn read(text: &[u8], oddities: Vec<Oddity>) -> Result<Multipart, ReadError> {
    let lines = Lines::new(text);
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let mut reader = Reader { lines: &lines, read: Multipart { parts: Vec::new(), places: Vec::new(), oddities } };

    let block = headers(&lines, start..text.len());
    if block.headers.first().is_some_and(|header| !header.name.eq_ignore_ascii_case("mime-version")) {
        reader.note(OddityKind::HeaderOrder, lines.number(start), None);
    }
    if !block.headers.iter().any(|header| header.name.eq_ignore_ascii_case("mime-version")) {
        reader.note(OddityKind::NoMimeVersion, lines.number(start), None);
    }
    match block.end {
        HeaderEnd::Missing => reader.note(OddityKind::NoBlankLineAfterHeaders, block.line, None),
        HeaderEnd::Spaces => reader.note(OddityKind::BlankLineWithSpaces, block.line, None),
        HeaderEnd::Blank | HeaderEnd::Text => {}
    }
    let header_line = content_type_line(&block.headers).unwrap_or(lines.number(start));
    let content_type = content_type(&block.headers);
    if content_type.is_multipart() {
        reader.multipart(&content_type, header_line, block.body..text.len(), 1)?;
    } else {
        reader.note(OddityKind::SinglePart, header_line, None);
        reader.part(block, &content_type, start..text.len())?;
    }

    let mut read = reader.read;
    read.oddities.sort_unstable();
    read.oddities.dedup();
    Ok(read)
}

struct Reader<'a> {
    lines: &'a Lines<'a>,
    read: Multipart,
}

/// What a line means to a multipart of a given boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delimiter {
    Opens,
    Closes,
    ClosesWithJunk,
}

impl Reader<'_> {
    fn note(&mut self, kind: OddityKind, line: usize, part: Option<usize>) {
        self.read.oddities.push(Oddity { line, part, kind });
    }

    /// Reads the body of a multipart.
    fn multipart(
        &mut self,
        content_type: &ContentType,
        header_line: usize,
        body: Range<usize>,
        depth: usize,
    ) -> Result<(), ReadError> {
        if depth > MAX_DEPTH {
            return Err(ReadError::TooDeep { limit: MAX_DEPTH });
        }
        let Some(boundary) = self.boundary(content_type, header_line, body.clone())? else {
            self.note(OddityKind::NoParts, header_line, None);
            return Ok(());
        };
        let last_text = self.lines.text().get(body.clone()).unwrap_or_default().trim_ascii_end().len() + body.start;

        // A container that has the same boundary as its own multipart opens no level of delimiters of its own, but
        // its closing delimiter must not close ours.
        let mut open_containers = 0_usize;
        let mut segment: Option<usize> = None;
        let mut preamble = body.start..body.start;
        let (mut ending, mut mixed, mut started) = (None, false, false);
        let mut closed = false;
        for line in self.lines.within(body.clone()) {
            let Some(mut delimiter) = delimiter(&line, &boundary) else {
                preamble.end = if started { preamble.end } else { line.next };
                continue;
            };
            started = true;
            if delimiter == Delimiter::ClosesWithJunk {
                if line.next < last_text {
                    continue;
                }
                self.note(OddityKind::JunkOnTerminator, self.lines.number(line.start), None);
                delimiter = Delimiter::Closes;
            }
            if let Some(crlf) = line.crlf {
                if ending.is_some_and(|first| first != crlf) && !mixed {
                    mixed = true;
                    self.note(OddityKind::MixedLineEndings, self.lines.number(line.start), None);
                }
                if ending.is_none() && crlf {
                    self.note(OddityKind::Crlf, self.lines.number(line.start), None);
                }
                ending = ending.or(Some(crlf));
            }
            if let Some(start) = segment.take() {
                let end = without_line_end(self.lines.text(), start..line.start);
                open_containers += usize::from(self.segment(start..end, &boundary, depth, false)?);
            }
            match delimiter {
                Delimiter::Opens => segment = Some(line.next),
                Delimiter::Closes | Delimiter::ClosesWithJunk if open_containers > 0 => open_containers -= 1,
                Delimiter::Closes | Delimiter::ClosesWithJunk => {
                    closed = true;
                    if line.next < last_text {
                        self.note(OddityKind::TextAfterTerminator, self.lines.number(line.next), None);
                    }
                    break;
                }
            }
        }
        if let Some(start) = segment {
            self.segment(start..body.end, &boundary, depth, true)?;
        }
        if !closed {
            self.note(OddityKind::NoTerminator, self.lines.number(last_text), None);
        }
        let is_blank = |range: Range<usize>| self.lines.text().get(range).unwrap_or_default().trim_ascii().is_empty();
        if !is_blank(preamble.clone()) {
            self.note(OddityKind::TextBeforeFirstPart, self.lines.number(preamble.start), None);
        }
        Ok(())
    }

    /// The boundary: as the header says, or as the first line that looks like a delimiter says.
    fn boundary(
        &mut self,
        content_type: &ContentType,
        header_line: usize,
        body: Range<usize>,
    ) -> Result<Option<Vec<u8>>, ReadError> {
        let named = content_type.parameter("boundary").unwrap_or_default().trim_end().as_bytes().to_vec();
        if named.len() > MAX_BOUNDARY {
            return Err(ReadError::BoundaryTooLong { length: named.len() });
        }
        if !content_type.strict && content_type.parameter("boundary").is_some_and(|value| !is_token(value)) {
            self.note(OddityKind::UnquotedBoundary, header_line, None);
        }
        if !named.is_empty() && self.lines.within(body.clone()).any(|line| delimiter(&line, &named).is_some()) {
            return Ok(Some(named));
        }
        self.note(OddityKind::WrongBoundary, header_line, None);
        let found = self.lines.within(body.clone()).find_map(|line| {
            let boundary = line.text.strip_prefix(b"--")?.trim_ascii_end();
            let after = self.lines.at(line.next, body.end)?.text;
            let is_header = after.iter().position(|byte| *byte == b':').is_some_and(|colon| {
                let name = after.get(..colon).unwrap_or_default();
                name.eq_ignore_ascii_case(b"content-type") || name.eq_ignore_ascii_case(b"mime-version")
            });
            (!boundary.is_empty() && boundary.len() <= MAX_BOUNDARY && is_header).then(|| boundary.to_vec())
        });
        Ok(found)
    }

    /// Reads what stands between two delimiters; true where it is a multipart with the boundary of its own container.
    fn segment(
        &mut self,
        range: Range<usize>,
        boundary: &[u8],
        depth: usize,
        is_last: bool,
    ) -> Result<bool, ReadError> {
        let text = self.lines.text().get(range.clone()).unwrap_or_default();
        let line = self.lines.number(range.start);
        if text.trim_ascii().is_empty() {
            let kind = if is_last { OddityKind::LastDelimiterOpens } else { OddityKind::EmptyPart };
            self.note(kind, line, None);
            return Ok(false);
        }
        let block = headers(self.lines, range.clone());
        let content_type = content_type(&block.headers);
        let body = block.body..range.end;
        if content_type.is_multipart() {
            let same = content_type.parameter("boundary").is_some_and(|inner| inner.trim_end().as_bytes() == boundary);
            if same {
                self.note(OddityKind::NestedSameBoundary, line, None);
                if !self.lines.text().get(body).unwrap_or_default().trim_ascii().is_empty() {
                    self.note(OddityKind::TextBeforeFirstPart, line, None);
                }
                return Ok(true);
            }
            self.note(OddityKind::Nested, line, None);
            self.note_header_end(&block, None);
            let header_line = content_type_line(&block.headers).unwrap_or(line);
            self.multipart(&content_type, header_line, body, depth + 1)?;
            return Ok(false);
        }
        self.part(block, &content_type, range)?;
        Ok(false)
    }

    fn part(&mut self, block: HeaderBlock, content_type: &ContentType, range: Range<usize>) -> Result<(), ReadError> {
        if self.read.parts.len() >= MAX_PARTS {
            return Err(ReadError::TooManyParts { limit: MAX_PARTS });
        }
        let number = Some(self.read.parts.len() + 1);
        let line = self.lines.number(range.start);
        let body = self.lines.text().get(block.body..range.end).unwrap_or_default();
        self.note_header_end(&block, number);

        let is_content_type = |header: &&RawHeader| header.name.eq_ignore_ascii_case("content-type");
        let content_types: Vec<&RawHeader> = block.headers.iter().filter(is_content_type).collect();
        let content_type = match content_types.as_slice() {
            [] => {
                self.note(OddityKind::NoContentType, line, number);
                sniff(body).1.to_owned()
            }
            [one] => {
                if !content_type.strict {
                    self.note(OddityKind::BadContentType, one.line, number);
                }
                one.value.clone()
            }
            [_, second, ..] => {
                self.note(OddityKind::TwoContentTypes, second.line, number);
                content_type.to_strict().unwrap_or_else(|| sniff(body).1.to_owned())
            }
        };
        let others: Vec<&RawHeader> = block.headers.iter().filter(|header| !is_content_type(header)).collect();
        for header in &others {
            if !is_token(&header.name) || !header.ascii {
                self.note(OddityKind::BadHeader, header.line, number);
            }
            let encodes = ["base64", "quoted-printable"].iter().any(|one| header.value.eq_ignore_ascii_case(one));
            if encodes && header.name.eq_ignore_ascii_case("content-transfer-encoding") {
                self.note(OddityKind::TransferEncoding, header.line, number);
            }
        }
        let headers = others.iter().map(|one| Header { name: one.name.clone(), value: one.value.clone() }).collect();
        let place = Place { headers: line, body: self.lines.number(block.body) };
        self.read.places.push(place);
        self.read.parts.push(Part { content_type, headers, body: body.to_vec() });
        Ok(())
    }

    fn note_header_end(&mut self, block: &HeaderBlock, part: Option<usize>) {
        match block.end {
            HeaderEnd::Missing if !block.headers.is_empty() => {
                self.note(OddityKind::NoBlankLineAfterPartHeaders, block.line, part);
            }
            HeaderEnd::Spaces => self.note(OddityKind::BlankLineWithSpaces, block.line, part),
            HeaderEnd::Missing | HeaderEnd::Blank | HeaderEnd::Text => {}
        }
    }
}

/// The content type of a block of headers: the first valid media type, with the parameters of all of them.
fn content_type(headers: &[RawHeader]) -> ContentType {
    let mut all = headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case("content-type"))
        .map(|header| ContentType::parse(&header.value));
    let Some(mut first) = all.next() else {
        return ContentType { media_type: None, parameters: Vec::new(), strict: true };
    };
    for next in all {
        first.strict = false;
        if first.media_type.is_none() {
            first.media_type = next.media_type;
        }
        first.parameters.extend(next.parameters);
    }
    first
}

fn content_type_line(headers: &[RawHeader]) -> Option<usize> {
    headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-type")).map(|header| header.line)
}

/// What a line is to a boundary. Blanks after a delimiter are allowed. Source: RFC 2046, section 5.1.1.
fn delimiter(line: &Line<'_>, boundary: &[u8]) -> Option<Delimiter> {
    let rest = line.text.strip_prefix(b"--")?.strip_prefix(boundary)?;
    if rest.trim_ascii().is_empty() {
        return Some(Delimiter::Opens);
    }
    let tail = rest.strip_prefix(b"--")?;
    Some(if tail.trim_ascii().is_empty() { Delimiter::Closes } else { Delimiter::ClosesWithJunk })
}

/// The end of a range without its last line end, which belongs to the delimiter that follows.
fn without_line_end(text: &[u8], range: Range<usize>) -> usize {
    let body = text.get(range.clone()).unwrap_or_default();
    let body = body.strip_suffix(b"\n").map_or(body, |line| line.strip_suffix(b"\r").unwrap_or(line));
    range.start + body.len()
}
