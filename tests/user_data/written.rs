//! Drawn documents written down, with the parts that a reader has to find in them.

use std::io::Write as _;

use base64::Engine as _;

use crate::drawn::{Content, Drawn, DrawnPart, Ending, Head, Layers, LineEnds, Nested, PartHeaders};

/// Text that is built up, with the parts that a reader has to find in it.
pub(crate) struct Built {
    pub(crate) text: Vec<u8>,
    pub(crate) expected: Vec<(String, Vec<u8>)>,
    pub(crate) odd: Vec<&'static str>,
}

fn body(index: usize, part: &DrawnPart) -> (&'static str, Vec<u8>) {
    let (media_type, mut body) = match part.content {
        Content::Shell => ("text/x-shellscript", format!("#!/bin/bash\nset -e\n\necho --//-- {index}\n-- \n")),
        Content::CloudConfig => ("text/cloud-config", format!("#cloud-config\nruncmd: [echo {index}]\n")),
        Content::NodeConfig => (
            "application/node.eks.aws",
            format!(
                "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    flags:\n      - --node-labels=k8s.amazonaws.com/eniConfig=old,team=t{index}\n      - --v={index}\n"
            ),
        ),
        Content::Boothook => ("text/cloud-boothook", format!("#cloud-boothook\n#!/bin/sh\necho {index}\n\n\n")),
        Content::Bytes => {
            return (
                "application/octet-stream",
                [b"\xff\xfe\x00\r\r\n".as_slice(), format!("{index}\n").as_bytes()].concat(),
            );
        }
        Content::Ours => ("text/x-shellscript", "#!/bin/bash\n# eniplan.dev/part: al2023-boot\necho old\n".to_owned()),
    };
    if !part.ends_with_line_end {
        body.pop();
    }
    (media_type, body.into_bytes())
}

impl Built {
    pub(crate) fn new(drawn: &Drawn) -> Self {
        let mut built = Self { text: Vec::new(), expected: Vec::new(), odd: Vec::new() };
        if drawn.is_plain {
            built.plain(drawn)
        } else {
            built.mime(drawn)
        }
        built.layers(drawn.layers);
        built
    }

    fn plain(&mut self, drawn: &Drawn) {
        let mut part = drawn.parts[0].clone();
        if matches!(part.content, Content::Bytes | Content::Ours) {
            part.content = Content::Shell;
        }
        self.odd.push(match part.content {
            Content::Shell => "plain shell",
            Content::CloudConfig => "plain cloud-config",
            Content::NodeConfig => "plain NodeConfig",
            _ => "plain boothook",
        });
        let (media_type, mut body) = body(0, &part);
        if drawn.line_ends == LineEnds::Crlf {
            self.odd.push("CRLF");
            body = crlf(&body);
        }
        if drawn.head == Head::ByteOrderMark {
            self.odd.push("byte order mark");
            self.text.extend_from_slice(b"\xef\xbb\xbf");
        }
        self.text.extend_from_slice(&body);
        self.expected.push((media_type.to_owned(), body));
    }

    /// A line of the structure.
    fn line(&mut self, drawn: &Drawn, line: &str) {
        self.text.extend_from_slice(line.as_bytes());
        self.line_end(drawn);
    }

    fn line_end(&mut self, drawn: &Drawn) {
        let is_crlf = match drawn.line_ends {
            LineEnds::Lf => false,
            LineEnds::Crlf | LineEnds::CrlfOutsideBodies => true,
            LineEnds::CrlfAfterFirstDelimiter => !self.expected.is_empty(),
        };
        self.text.extend_from_slice(if is_crlf { b"\r\n" } else { b"\n" });
    }

    fn delimiter(&mut self, drawn: &Drawn, boundary: &str) {
        let blanks = if drawn.blanks_after_delimiters { " \t" } else { "" };
        self.line(drawn, &format!("--{boundary}{blanks}"));
    }

    fn mime(&mut self, drawn: &Drawn) {
        if drawn.line_ends != LineEnds::Lf {
            self.odd.push(match drawn.line_ends {
                LineEnds::CrlfOutsideBodies => "CRLF outside bodies",
                LineEnds::CrlfAfterFirstDelimiter => "CRLF after the first delimiter",
                _ => "CRLF",
            });
        }
        if drawn.blanks_after_delimiters {
            self.odd.push("blanks after delimiters");
        }
        self.head(drawn);
        for (index, part) in drawn.parts.iter().enumerate() {
            let is_last = index + 1 == drawn.parts.len();
            self.part(drawn, index, part, is_last);
        }
        self.ending(drawn);
    }

    fn head(&mut self, drawn: &Drawn) {
        let boundary = drawn.boundary;
        let quoted = match drawn.head {
            Head::WrongBoundary => "\"not this\"".to_owned(),
            Head::UnquotedBoundary => boundary.to_owned(),
            _ => format!("\"{boundary}\""),
        };
        match drawn.head {
            Head::ByteOrderMark => self.text.extend_from_slice(b"\xef\xbb\xbf"),
            Head::BlankLinesFirst => (0..2).for_each(|_| self.line(drawn, "")),
            _ => {}
        }
        let content_type = format!("Content-Type: multipart/mixed; boundary={quoted}");
        match drawn.head {
            Head::ContentTypeFirst => {
                self.line(drawn, &content_type);
                self.line(drawn, "MIME-Version: 1.0");
            }
            Head::NoMimeVersion => self.line(drawn, &content_type),
            Head::FoldedBoundary => {
                self.line(drawn, "MIME-Version: 1.0");
                self.line(drawn, "Content-Type: multipart/mixed;");
                self.line(drawn, &format!("\tboundary={quoted}"));
            }
            _ => {
                self.line(drawn, "MIME-Version: 1.0");
                self.line(drawn, &content_type);
            }
        }
        if drawn.head != Head::NoBlankLine {
            self.line(drawn, "");
        }
        if drawn.head == Head::TextBeforeFirstPart {
            self.line(drawn, "This is a multi-part message.");
        }
        self.odd.push(match drawn.head {
            Head::Plain => "",
            Head::ContentTypeFirst => "Content-Type first",
            Head::NoMimeVersion => "no MIME-Version",
            Head::NoBlankLine => "no blank line after the headers",
            Head::ByteOrderMark => "byte order mark",
            Head::BlankLinesFirst => "blank lines first",
            Head::TextBeforeFirstPart => "text before the first part",
            Head::WrongBoundary => "wrong boundary",
            Head::UnquotedBoundary => "unquoted boundary",
            Head::FoldedBoundary => "folded header",
        });
    }

    fn part(&mut self, drawn: &Drawn, index: usize, part: &DrawnPart, is_last: bool) {
        // The boundary can be found without its header only where a header follows the first delimiter.
        let must_have_headers = drawn.head == Head::WrongBoundary && index == 0;
        if part.empty_part_before && !must_have_headers {
            self.odd.push("empty part");
            self.delimiter(drawn, drawn.boundary);
            self.line(drawn, "");
        }
        match part.nested {
            Nested::No => self.leaf(drawn, drawn.boundary, index, part, must_have_headers),
            Nested::OtherBoundary => {
                self.odd.push("nested");
                self.delimiter(drawn, drawn.boundary);
                self.line(drawn, "Content-Type: multipart/mixed; boundary=\"inner\"");
                self.line(drawn, "");
                self.leaf(drawn, "inner", index, part, false);
                self.line_end(drawn);
                self.line(drawn, "--inner--");
            }
            Nested::SameBoundary => {
                self.odd.push("nested with the same boundary");
                self.delimiter(drawn, drawn.boundary);
                self.line(drawn, &format!("Content-Type: multipart/mixed; boundary=\"{}\"", drawn.boundary));
                self.line(drawn, "");
                self.leaf(drawn, drawn.boundary, index, part, false);
                self.line_end(drawn);
                self.line(drawn, &format!("--{}--", drawn.boundary));
            }
        }
        let is_open = part.nested == Nested::No;
        let keeps_body_end = is_last && drawn.ending == Ending::Missing && is_open;
        if !keeps_body_end {
            // The line end before a delimiter belongs to the delimiter.
            self.line_end(drawn);
        }
    }

    fn leaf(&mut self, drawn: &Drawn, boundary: &str, index: usize, part: &DrawnPart, must_have_headers: bool) {
        let (media_type, mut body) = body(index, part);
        let mut headers = part.headers;
        if headers == PartHeaders::None && (must_have_headers || matches!(part.content, Content::Bytes)) {
            headers = PartHeaders::Plain;
        }
        if drawn.line_ends == LineEnds::Crlf {
            body = crlf(&body);
        }
        self.delimiter(drawn, boundary);
        match headers {
            PartHeaders::None => {}
            PartHeaders::TwoContentTypes => {
                self.line(drawn, &format!("Content-Type: {media_type}"));
                self.line(drawn, "Content-Type: charset=\"us-ascii\"");
            }
            PartHeaders::BadContentType => self.line(drawn, &format!("Content-Type: {media_type}; charset")),
            PartHeaders::Extra => {
                self.line(drawn, "MIME-Version: 1.0");
                self.line(drawn, "Content-Transfer-Encoding: 7bit");
                self.line(drawn, &format!("content-type: {media_type}; charset=\"us-ascii\""));
            }
            PartHeaders::Folded => {
                self.line(drawn, &format!("Content-Type: {media_type};"));
                self.line(drawn, "  charset=\"us-ascii\"");
            }
            PartHeaders::Base64 => {
                self.line(drawn, &format!("Content-Type: {media_type}"));
                self.line(drawn, "Content-Transfer-Encoding: base64");
            }
            _ => self.line(drawn, &format!("Content-Type: {media_type}")),
        }
        match headers {
            PartHeaders::NoBlankLine => {}
            PartHeaders::BlankLineWithSpaces => self.line(drawn, "  "),
            _ => self.line(drawn, ""),
        }
        self.odd.push(match headers {
            PartHeaders::Plain => "",
            PartHeaders::NoBlankLine => "no blank line after part headers",
            PartHeaders::BlankLineWithSpaces => "blank line with spaces",
            PartHeaders::None => "no part headers",
            PartHeaders::TwoContentTypes => "two Content-Types",
            PartHeaders::BadContentType => "bad Content-Type",
            PartHeaders::Extra => "extra part headers",
            PartHeaders::Folded => "folded part header",
            PartHeaders::Base64 => "base64 part",
        });
        self.odd.push(match part.content {
            Content::Bytes => "bytes that are no text",
            Content::Ours => "an old part of ours",
            _ => "",
        });
        if !part.ends_with_line_end {
            self.odd.push("no line end at the end of a body");
        }
        if headers == PartHeaders::Base64 {
            let encoded = base64::engine::general_purpose::STANDARD.encode(&body);
            self.text.extend_from_slice(encoded.as_bytes());
        } else {
            self.text.extend_from_slice(&body);
        }
        self.expected.push((media_type.to_owned(), body));
    }

    fn ending(&mut self, drawn: &Drawn) {
        let boundary = drawn.boundary;
        match drawn.ending {
            Ending::Proper => self.line(drawn, &format!("--{boundary}--")),
            Ending::NoFinalLineEnd => self.text.extend_from_slice(format!("--{boundary}--").as_bytes()),
            Ending::Missing => {}
            Ending::Backslash => self.line(drawn, &format!("--{boundary}--\\")),
            Ending::LastDelimiterOpens => self.delimiter(drawn, boundary),
            Ending::Epilogue => {
                self.line(drawn, &format!("--{boundary}--"));
                self.line(drawn, "nobody reads this");
            }
        }
        self.odd.push(match drawn.ending {
            Ending::Proper => "",
            Ending::NoFinalLineEnd => "no final line end",
            Ending::Missing => "no terminator",
            Ending::Backslash => "backslash after the terminator",
            Ending::LastDelimiterOpens => "last delimiter opens",
            Ending::Epilogue => "text after the terminator",
        });
    }

    fn layers(&mut self, layers: Layers) {
        let base64 = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes).into_bytes();
        let gzip = |bytes: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        let text = std::mem::take(&mut self.text);
        let (text, odd) = match layers {
            Layers::None => (text, ""),
            Layers::Gzip => (gzip(&text), "gzip"),
            Layers::Base64 => (base64(&text), "base64"),
            Layers::Base64Twice => (base64(&base64(&text)), "base64 twice"),
            Layers::Base64Gzip => (base64(&gzip(&text)), "base64 of gzip"),
            Layers::Base64Wrapped => {
                (base64(&text).chunks(76).flat_map(|line| [line, b"\r\n"].concat()).collect(), "base64 in lines")
            }
        };
        self.text = text;
        self.odd.push(odd);
    }
}

fn crlf(text: &[u8]) -> Vec<u8> {
    text.split_inclusive(|byte| *byte == b'\n')
        .flat_map(|line| match line.strip_suffix(b"\n") {
            Some(line) => [line, b"\r\n"].concat(),
            None => line.to_vec(),
        })
        .collect()
}
