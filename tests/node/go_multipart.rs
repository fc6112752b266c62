//! A multipart reader as strict as the one nodeadm uses: Go's `net/mail`, `mime` and `mime/multipart`, by their documented
//! behaviour. What it refuses keeps a node from joining.
#![allow(clippy::indexing_slicing, clippy::expect_used)]

/// One part: its media type and its body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) media_type: String,
    pub(crate) body: Vec<u8>,
}

/// Reads a whole document. `Ok(None)` is a document that is no multipart, which nodeadm does not take for an error.
pub(crate) fn read(document: &[u8]) -> Result<Option<Vec<Part>>, String> {
    let mut lines = Lines { rest: document };
    let Ok(headers) = headers(&mut lines) else {
        return Ok(None);
    };
    let Ok((media_type, parameters)) = content_type(&headers) else {
        return Ok(None);
    };
    if !media_type.starts_with("multipart/") {
        return Ok(None);
    }
    let boundary = parameters.iter().find(|(name, _)| name == "boundary").map(|(_, value)| value.clone());
    parts(lines, &boundary.unwrap_or_default()).map(Some)
}

struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    /// The next line with its line end; `None` at the end of the document.
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|byte| *byte == b'\n').map_or(self.rest.len(), |at| at + 1);
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(line)
    }
}

type Headers = Vec<(String, String)>;

/// `textproto.Reader.ReadMIMEHeader`: up to the blank line.
fn headers(lines: &mut Lines<'_>) -> Result<Headers, String> {
    let mut headers: Headers = Vec::new();
    loop {
        let line = lines.next().ok_or("unexpected EOF in headers")?;
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            return Ok(headers);
        }
        if text.starts_with([' ', '\t']) {
            let last = headers.last_mut().ok_or_else(|| format!("malformed MIME header initial line: {text:?}"))?;
            last.1 = format!("{} {}", last.1, text.trim());
            continue;
        }
        let (name, value) = text.split_once(':').ok_or_else(|| format!("malformed MIME header line: {text}"))?;
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(format!("malformed MIME header line: {text}"));
        }
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

/// RFC 2045, `token`.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte)
}

/// `mime.ParseMediaType` of the first `Content-Type`.
fn content_type(headers: &Headers) -> Result<(String, Headers), String> {
    let value = headers.iter().find(|(name, _)| name == "content-type").map_or("", |(_, value)| value);
    let (media_type, mut rest) = value.split_once(';').map_or((value, ""), |(head, rest)| (head, rest));
    let media_type = media_type.trim().to_ascii_lowercase();
    let (major, minor) = media_type.split_once('/').ok_or("mime: no media type")?;
    if major.is_empty() || minor.is_empty() || !major.bytes().chain(minor.bytes()).all(is_token) {
        return Err(format!("mime: {media_type:?} is no media type"));
    }
    let mut parameters = Headers::new();
    while !rest.trim().is_empty() {
        let (name, value) = rest.trim_start().split_once('=').ok_or("mime: invalid media parameter")?;
        let name = name.trim();
        let (value, left) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or("mime: invalid media parameter")?,
            None => value.split_at(value.bytes().position(|byte| !is_token(byte)).unwrap_or(value.len())),
        };
        let left = left.trim_start();
        if name.is_empty() || !name.bytes().all(is_token) || !(left.is_empty() || left.starts_with(';')) {
            return Err("mime: invalid media parameter".into());
        }
        parameters.push((name.to_ascii_lowercase(), value.to_owned()));
        rest = left.trim_start_matches(';');
    }
    Ok((media_type, parameters))
}

/// `multipart.Reader.NextPart` until its end. Whether lines end in LF or CRLF is settled by the first delimiter.
fn parts(mut lines: Lines<'_>, boundary: &str) -> Result<Vec<Part>, String> {
    if boundary.is_empty() {
        return Err("multipart: boundary is empty".into());
    }
    let delimiter = format!("--{boundary}").into_bytes();
    let closing = format!("--{boundary}--").into_bytes();
    let mut line_end: &[u8] = b"\r\n";
    let mut parts = Vec::new();
    let mut expect_new_part = false;
    loop {
        let line = lines.next().ok_or("multipart: NextPart: EOF")?;
        let complete = line.ends_with(b"\n");
        if after(line, &closing)
            .is_some_and(|rest| rest == line_end || rest == b"\n" && parts.is_empty() || rest.is_empty() && !complete)
        {
            return Ok(parts);
        }
        if !complete {
            return Err("multipart: NextPart: EOF".into());
        }
        let rest = after(line, &delimiter);
        if parts.is_empty() && rest == Some(b"\n") {
            line_end = b"\n";
        }
        if rest == Some(line_end) {
            let headers = headers(&mut lines)?;
            let (media_type, _) = content_type(&headers)?;
            parts.push(Part { media_type, body: body(&mut lines, &delimiter, line_end)? });
            expect_new_part = false;
        } else if expect_new_part {
            return Err(format!("multipart: expecting a new Part; got line {:?}", String::from_utf8_lossy(line)));
        } else if parts.is_empty() {
            continue; // preamble
        } else if line == line_end {
            expect_new_part = true;
        } else {
            return Err(format!("multipart: unexpected line in Next(): {:?}", String::from_utf8_lossy(line)));
        }
    }
}

/// What follows a delimiter on its line, without blanks.
fn after<'a>(line: &'a [u8], delimiter: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(delimiter)?;
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    Some(&rest[blanks..])
}

/// The body up to the line end before the next delimiter, which stays unread.
fn body(lines: &mut Lines<'_>, delimiter: &[u8], line_end: &[u8]) -> Result<Vec<u8>, String> {
    let text = lines.rest;
    let separator = [line_end, delimiter].concat();
    let ends_here = |rest: &[u8]| matches!(rest, [] | [b' ' | b'\t' | b'\r' | b'\n', ..]) || rest.starts_with(b"--");
    if text.strip_prefix(delimiter).is_some_and(ends_here) {
        return Ok(Vec::new());
    }
    for at in 0..text.len() {
        if text[at..].strip_prefix(separator.as_slice()).is_some_and(ends_here) {
            lines.rest = &text[at + line_end.len()..];
            // The line end belongs to the delimiter, and `NextPart` wants to meet the delimiter next.
            return Ok(text[..at].to_vec());
        }
    }
    Err("unexpected EOF in a part".into())
}

/// The edge cases that were measured on the real reader.
mod tests {
    use super::read;

    const GOOD: &str = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: \
                        text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/bash\necho\n\n--//\nContent-Type: \
                        application/node.eks.aws\n\nkind: NodeConfig\n--//--\n";

    #[test]
    fn what_it_takes() {
        let parts = read(GOOD.as_bytes()).expect("well-formed").expect("a multipart");
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].body, b"#!/bin/bash\necho\n");
        assert_eq!(
            (parts[1].media_type.as_str(), parts[1].body.as_slice()),
            ("application/node.eks.aws", &b"kind: NodeConfig"[..])
        );
        let crlf = GOOD.replace('\n', "\r\n");
        assert_eq!(read(crlf.as_bytes()).expect("well-formed").expect("a multipart").len(), 2);
        assert!(read(GOOD.trim_end().as_bytes()).is_ok(), "no line end after the closing delimiter");
    }

    #[test]
    fn what_keeps_a_node_from_joining() {
        for (what, document) in [
            ("no blank line after part headers", GOOD.replace("\"us-ascii\"\n\n", "\"us-ascii\"\n")),
            ("no closing delimiter", GOOD.replace("--//--\n", "")),
            ("a closing delimiter without its end", GOOD.replace("--//--\n", "--//\n")),
            ("CRLF from the second part on", {
                let at = GOOD.rfind("--//\n").expect("two parts");
                format!("{}{}", &GOOD[..at], GOOD[at..].replace('\n', "\r\n"))
            }),
            ("a part with a bad Content-Type parameter", GOOD.replace("charset=\"us-ascii\"", "charset")),
            ("a script line that is the delimiter", GOOD.replace("echo\n", "--//\n")),
        ] {
            assert!(read(document.as_bytes()).is_err(), "{what}:\n{document}");
        }
    }

    #[test]
    fn what_it_does_not_take_for_a_multipart() {
        for document in [GOOD.replace("\"//\"", "//"), format!("\n{GOOD}"), "#!/bin/bash\necho\n".to_owned()] {
            assert_eq!(read(document.as_bytes()), Ok(None), "{document}");
        }
    }
}
