//! The strict writer. What it writes, cloud-init's, Go's and Python's readers take alike.

use super::Part;
use super::content_type::{ContentType, is_token};
use crate::error::Error;

/// The boundary, unless a part has a line that starts with it. EKS writes `//` into its merged document, so that one
/// is never ours.
const BOUNDARY: &str = "==eniplan==";

/// Writes a multipart: LF, quoted boundary, a `Content-Type` on every part, a blank line after headers, a closing
/// delimiter. A body is read back to the byte: the line end before a delimiter belongs to the delimiter.
///
/// # Errors
///
/// When a part has a header that strict grammar does not allow, or a body that would not come back.
pub fn write(parts: &[Part]) -> Result<Vec<u8>, Error> {
    let boundary = boundary(parts);
    let mut text = Vec::new();
    text.extend_from_slice(b"MIME-Version: 1.0\n");
    text.extend_from_slice(format!("Content-Type: multipart/mixed; boundary=\"{boundary}\"\n\n").as_bytes());
    for (index, part) in parts.iter().enumerate() {
        if let Some(reason) = refusal(part) {
            return Err(Error::UserDataPart { number: index + 1, reason });
        }
        text.extend_from_slice(format!("--{boundary}\nContent-Type: {}\n", part.content_type.trim()).as_bytes());
        for header in &part.headers {
            text.extend_from_slice(format!("{}: {}\n", header.name, header.value).as_bytes());
        }
        text.push(b'\n');
        text.extend_from_slice(&part.body);
        text.push(b'\n');
    }
    text.extend_from_slice(format!("--{boundary}--\n").as_bytes());
    Ok(text)
}

/// The first of `==eniplan==`, `==eniplan-1==` … that starts no line of any part as a delimiter.
fn boundary(parts: &[Part]) -> String {
    let mut boundary = BOUNDARY.to_owned();
    let mut counter = 0_usize;
    while parts.iter().any(|part| has_line_starting(&part.body, &format!("--{boundary}"))) {
        counter += 1;
        boundary = format!("==eniplan-{counter}==");
    }
    boundary
}

/// Lines as the widest reader sees them: Python's takes a lone CR for a line end as well.
fn has_line_starting(body: &[u8], start: &str) -> bool {
    body.split(|byte| matches!(byte, b'\n' | b'\r')).any(|line| line.starts_with(start.as_bytes()))
}

fn refusal(part: &Part) -> Option<String> {
    let content_type = ContentType::parse(&part.content_type);
    if content_type.media_type.is_none() || !content_type.strict || !is_header_text(&part.content_type) {
        return Some(format!("its Content-Type `{}` is not well-formed", part.content_type));
    }
    if content_type.is_multipart() {
        return Some(format!("its Content-Type `{}` is a multipart, and parts are not nested", part.content_type));
    }
    if part.body.ends_with(b"\r") {
        return Some("its body ends with a CR, which readers would take for a part of the delimiter".into());
    }
    part.headers.iter().find_map(|header| {
        (!is_token(&header.name) || !is_header_text(&header.value))
            .then(|| format!("its header `{}` is not well-formed", header.name))
    })
}

fn is_header_text(value: &str) -> bool {
    value.bytes().all(|byte| byte == b' ' || byte == b'\t' || byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::super::Header;
    use super::*;
    use crate::user_data::{Kind, read};

    fn shell(body: &[u8]) -> Part {
        Part::new("text/x-shellscript; charset=\"us-ascii\"", body.to_vec())
    }

    #[test]
    fn the_whole_text() {
        let mut cloud_config = Part::new("text/cloud-config", b"#cloud-config".to_vec());
        cloud_config.headers.push(Header { name: "MIME-Version".into(), value: "1.0".into() });
        let text = write(&[shell(b"#!/bin/bash\necho one\n"), cloud_config]).unwrap();
        insta::assert_snapshot!(String::from_utf8(text).unwrap(), @r#"
        MIME-Version: 1.0
        Content-Type: multipart/mixed; boundary="==eniplan=="

        --==eniplan==
        Content-Type: text/x-shellscript; charset="us-ascii"

        #!/bin/bash
        echo one

        --==eniplan==
        Content-Type: text/cloud-config
        MIME-Version: 1.0

        #cloud-config
        --==eniplan==--
        "#);
    }

    #[test]
    fn bodies_come_back_to_the_byte() {
        for body in
            [&b"#!/bin/bash\n"[..], b"#!/bin/bash", b"", b"\n", b"a\r\n", b"\r\n\r\n", b"\xff\x00\xfe\n\n", b"--"]
        {
            let parts = vec![shell(body), shell(b"#!/bin/sh\n")];
            let document = read(&write(&parts).unwrap()).unwrap();
            assert_eq!(document.kind, Kind::Mime);
            assert_eq!(document.parts, parts);
            assert_eq!(document.oddities, [], "{body:?}");
        }
    }

    #[test]
    fn the_boundary_starts_no_line_of_a_part() {
        let bodies = [&b"--==eniplan==\n"[..], b"x\r--==eniplan-1==--\n"];
        let parts: Vec<Part> = bodies.iter().map(|body| shell(body)).collect();
        let text = write(&parts).unwrap();
        assert!(String::from_utf8_lossy(&text).contains("boundary=\"==eniplan-2==\""));
        assert_eq!(read(&text).unwrap().parts, parts);
    }

    #[test]
    fn headers_that_strict_grammar_refuses() {
        for content_type in ["text", "", "text/plain; charset", "text/plain\nX: y", "multipart/mixed; boundary=\"a\""] {
            let error = write(&[Part::new(content_type, Vec::new())]).unwrap_err();
            assert!(error.to_string().starts_with("cannot write part 1"), "{content_type}: {error}");
        }
        let mut part = shell(b"");
        part.headers.push(Header { name: "X-A".into(), value: "a\nb".into() });
        assert!(write(&[shell(b"a\r")]).is_err());
        assert!(write(&[shell(b""), part]).unwrap_err().to_string().starts_with("cannot write part 2"));
    }
}
