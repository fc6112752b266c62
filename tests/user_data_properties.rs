//! Generated user data with every oddity that is met in the field: it is read for what it is, merged without loss,
//! merged twice as if once, and given back when ours is taken out.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write as _;

use base64::Engine as _;
use eniplan::user_data::compare::equivalent;
use eniplan::user_data::{Family, Kind, Part, Target, is_ours, merge, read, without_ours};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

#[path = "node/go_multipart.rs"]
mod go_multipart;

const CASES: u32 = 10_000;
/// Every oddity is drawn at least so often.
const AT_LEAST: usize = 150;

/// One part as it is drawn.
#[derive(Debug, Clone)]
struct DrawnPart {
    content: Content,
    ends_with_line_end: bool,
    headers: PartHeaders,
    nested: Nested,
    empty_part_before: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Shell,
    CloudConfig,
    NodeConfig,
    Boothook,
    Bytes,
    Ours,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartHeaders {
    Plain,
    NoBlankLine,
    BlankLineWithSpaces,
    None,
    TwoContentTypes,
    BadContentType,
    Extra,
    Folded,
    Base64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nested {
    No,
    OtherBoundary,
    SameBoundary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Proper,
    NoFinalLineEnd,
    Missing,
    Backslash,
    LastDelimiterOpens,
    Epilogue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    Plain,
    ContentTypeFirst,
    NoMimeVersion,
    NoBlankLine,
    ByteOrderMark,
    BlankLinesFirst,
    TextBeforeFirstPart,
    WrongBoundary,
    UnquotedBoundary,
    FoldedBoundary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    Lf,
    Crlf,
    CrlfOutsideBodies,
    CrlfAfterFirstDelimiter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layers {
    None,
    Gzip,
    Base64,
    Base64Twice,
    Base64Gzip,
    Base64Wrapped,
}

#[derive(Debug, Clone)]
struct Drawn {
    parts: Vec<DrawnPart>,
    /// The one part alone, without MIME.
    is_plain: bool,
    head: Head,
    ending: Ending,
    line_ends: LineEnds,
    layers: Layers,
    boundary: &'static str,
    blanks_after_delimiters: bool,
}

fn one_of<T: Clone + std::fmt::Debug + 'static>(values: &'static [T]) -> impl Strategy<Value = T> {
    proptest::sample::select(values)
}

fn drawn_part() -> impl Strategy<Value = DrawnPart> {
    use {Content::*, Nested as N, PartHeaders as H};
    (
        one_of(&[Shell, Shell, Shell, CloudConfig, NodeConfig, Boothook, Bytes, Ours]),
        any::<bool>(),
        one_of(&[
            H::Plain,
            H::Plain,
            H::NoBlankLine,
            H::BlankLineWithSpaces,
            H::None,
            H::TwoContentTypes,
            H::BadContentType,
            H::Extra,
            H::Folded,
            H::Base64,
        ]),
        one_of(&[N::No, N::No, N::No, N::No, N::OtherBoundary, N::SameBoundary]),
        proptest::bool::weighted(0.1),
    )
        .prop_map(|(content, ends_with_line_end, headers, nested, empty_part_before)| DrawnPart {
            content,
            ends_with_line_end,
            headers,
            nested,
            empty_part_before,
        })
}

fn drawn() -> impl Strategy<Value = Drawn> {
    (
        proptest::collection::vec(drawn_part(), 1..5),
        proptest::bool::weighted(0.2),
        one_of(&[
            Head::Plain,
            Head::ContentTypeFirst,
            Head::NoMimeVersion,
            Head::NoBlankLine,
            Head::ByteOrderMark,
            Head::BlankLinesFirst,
            Head::TextBeforeFirstPart,
            Head::WrongBoundary,
            Head::UnquotedBoundary,
            Head::FoldedBoundary,
        ]),
        one_of(&[
            Ending::Proper,
            Ending::NoFinalLineEnd,
            Ending::Missing,
            Ending::Backslash,
            Ending::LastDelimiterOpens,
            Ending::Epilogue,
        ]),
        one_of(&[
            LineEnds::Lf,
            LineEnds::Lf,
            LineEnds::Crlf,
            LineEnds::CrlfOutsideBodies,
            LineEnds::CrlfAfterFirstDelimiter,
        ]),
        one_of(&[
            Layers::None,
            Layers::None,
            Layers::None,
            Layers::Gzip,
            Layers::Base64,
            Layers::Base64Twice,
            Layers::Base64Gzip,
            Layers::Base64Wrapped,
        ]),
        one_of(&["//", "==BOUNDARY==", "===============7330845974216740156==", "MIMEBOUNDARY", "a b:c"]),
        proptest::bool::weighted(0.2),
    )
        .prop_map(|(mut parts, is_plain, head, ending, line_ends, layers, boundary, blanks_after_delimiters)| {
            if is_plain {
                parts.truncate(1);
            }
            Drawn { parts, is_plain, head, ending, line_ends, layers, boundary, blanks_after_delimiters }
        })
}

/// Text that is built up, with the parts that a reader has to find in it.
struct Built {
    text: Vec<u8>,
    expected: Vec<(String, Vec<u8>)>,
    odd: Vec<&'static str>,
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
    fn new(drawn: &Drawn) -> Self {
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

/// Scripts lose their CRs, where cloud-init would take them out.
fn as_kept(media_type: &str, body: &[u8]) -> Vec<u8> {
    if media_type == "application/octet-stream" || !media_type.starts_with("text/") {
        return body.to_vec();
    }
    String::from_utf8_lossy(body).replace("\r\n", "\n").into_bytes()
}

fn check(drawn: &Drawn) -> Result<Vec<&'static str>, TestCaseError> {
    let built = Built::new(drawn);
    let document = read(&built.text).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let found: Vec<(String, Vec<u8>)> =
        document.parts.iter().map(|part| (part.media_type().to_owned(), part.content().into_owned())).collect();
    prop_assert_eq!(&found, &built.expected);
    prop_assert_eq!(document.kind == Kind::Mime, !drawn.is_plain);
    prop_assert_eq!(document.places.len(), document.parts.len());

    let target = Target {
        family: Family::Al2023,
        eks_merges: true,
        label_key: Some("k8s.amazonaws.com/eniConfig"),
        max_pods: None,
        kubernetes_minor: Some(33),
    };
    let ours = [Part::new("text/x-shellscript", b"#!/bin/bash\n# eniplan.dev/part: al2023-boot\necho new\n".to_vec())];
    let merged = merge(&document, &ours, &target).map_err(|problems| TestCaseError::fail(format!("{problems:?}")))?;

    let like_nodeadm = go_multipart::read(&merged.text).map_err(TestCaseError::fail)?.unwrap_or_default();
    let bodies: Vec<&[u8]> = merged.parts.iter().map(|part| part.body.as_slice()).collect();
    prop_assert_eq!(like_nodeadm.iter().map(|part| part.body.as_slice()).collect::<Vec<_>>(), bodies);

    let again = read(&merged.text).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&again.parts, &merged.parts);
    prop_assert_eq!(again.parts.iter().filter(|part| is_ours(part)).collect::<Vec<_>>(), [&ours[0]]);
    let twice = merge(&again, &ours, &target).map_err(|problems| TestCaseError::fail(format!("{problems:?}")))?;
    prop_assert_eq!(&twice.text, &merged.text);

    let is_foreign = |(_, body): &&(String, Vec<u8>)| !body.windows(16).any(|window| window == b"eniplan.dev/part");
    let expected: Vec<Vec<u8>> =
        built.expected.iter().filter(is_foreign).map(|(media_type, body)| as_kept(media_type, body)).collect();
    let rest = read(&without_ours(&again).unwrap()).unwrap();
    let given_back: Vec<Vec<u8>> = rest.parts.iter().map(|part| as_kept(part.media_type(), &part.content())).collect();
    prop_assert_eq!(given_back, expected);
    if !drawn.is_plain
        && drawn.parts.iter().all(|part| part.content != Content::Ours && part.headers != PartHeaders::BadContentType)
    {
        prop_assert!(equivalent(&document, &rest));
    }
    Ok(built.odd)
}

#[test]
fn documents_with_every_oddity() {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    // The same documents on every machine.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let counts: RefCell<BTreeMap<&'static str, usize>> = RefCell::default();
    let result = runner.run(&drawn(), |drawn| {
        let mut odd = check(&drawn)?;
        odd.sort_unstable();
        odd.dedup();
        for name in odd.into_iter().filter(|name| !name.is_empty()) {
            *counts.borrow_mut().entry(name).or_default() += 1;
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let counts = counts.into_inner();
    for (name, count) in &counts {
        println!("{count:>6}  {name}");
    }
    assert_eq!(counts.len(), 41, "every oddity is drawn");
    let rare: Vec<_> = counts.iter().filter(|(_, count)| **count < AT_LEAST).collect();
    assert!(rare.is_empty(), "drawn too seldom: {rare:?}");
}

/// Bottlerocket settings: values of `settings.kubernetes` and their labels, written in one of TOML's forms.
fn settings() -> impl Strategy<Value = (String, &'static str)> {
    let labels = proptest::sample::subsequence(
        vec![
            ("team", "a"),
            ("k8s.amazonaws.com/eniConfig", "old"),
            ("eks.amazonaws.com/sourceLaunchTemplateVersion", "1"),
            ("eks.amazonaws.com/nodegroup", "web"),
        ],
        0..4,
    );
    let numbers =
        proptest::sample::subsequence(vec![("max-pods", "110"), ("max-pods", "8"), ("pod-pids-limit", "1024")], 0..2);
    let form = one_of(&["headers", "dotted", "inline", "inline in settings", "label header only", "header and dotted"]);
    (labels, numbers, form, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(labels, numbers, form, other, is_crlf, ends)| {
            let label_lines = |prefix: &str| -> String {
                labels.iter().map(|(key, value)| format!("{prefix}\"{key}\" = \"{value}\" # {value}\n")).collect()
            };
            let number_lines = |prefix: &str| -> String {
                numbers.iter().map(|(key, value)| format!("{prefix}{key} = {value}\n")).collect()
            };
            let inline_labels: Vec<String> =
                labels.iter().map(|(key, value)| format!("\"{key}\" = '{value}'")).collect();
            let mut inline: Vec<String> = numbers.iter().map(|(key, value)| format!("{key}={value}")).collect();
            inline.push(format!("node-labels = {{ {} }}", inline_labels.join(", ")));
            let inline = inline.join(", ");
            let mut text = match form {
                "headers" => format!(
                    "# mine\n[settings.kubernetes]\n{}\n[settings.kubernetes.node-labels]\n{}",
                    number_lines(""),
                    label_lines("")
                ),
                "dotted" => format!(
                    "settings.motd = \"hi\"\n{}{}",
                    label_lines("settings.kubernetes.node-labels."),
                    number_lines("settings.kubernetes.")
                ),
                "inline" => format!("settings.kubernetes = {{ {inline} }}\n"),
                "inline in settings" => format!("[settings]\nkubernetes = {{{inline}}}\n"),
                "label header only" => format!("[settings.kubernetes.node-labels]\n{}", label_lines("")),
                _ => format!("[settings.kubernetes]\n{}{}", number_lines(""), label_lines("node-labels.")),
            };
            if other {
                text.push_str("\n[settings.host-containers.admin] # mine\nenabled = true\n");
            }
            if is_crlf {
                text = text.replace('\n', "\r\n");
            }
            if !ends {
                text = text.trim_end().to_owned();
            }
            (text, form)
        },
    )
}

#[test]
fn settings_in_every_form() {
    let target = Target {
        family: Family::Bottlerocket,
        eks_merges: true,
        label_key: Some("k8s.amazonaws.com/eniConfig"),
        max_pods: Some(20),
        kubernetes_minor: Some(33),
    };
    let ours = [Part::new(
        "application/toml",
        b"# eniplan.dev/part: bottlerocket\nsettings.kubernetes.node-labels.\"k8s.amazonaws.com/eniConfig\" = \"pod-1a\"\nsettings.kubernetes.max-pods = 20\n".to_vec(),
    )];
    let config = Config { cases: 1_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let forms: RefCell<BTreeMap<&'static str, usize>> = RefCell::default();
    let result = runner.run(&settings(), |(text, form)| {
        *forms.borrow_mut().entry(form).or_default() += 1;
        let document = read(text.as_bytes()).unwrap();
        prop_assert_eq!(document.kind, Kind::Toml);
        let merged =
            merge(&document, &ours, &target).map_err(|problems| TestCaseError::fail(format!("{problems:?}")))?;
        let merged_text = String::from_utf8(merged.text.clone()).unwrap();

        let value: toml::Table =
            merged_text.parse().map_err(|error| TestCaseError::fail(format!("{error}\n{merged_text}")))?;
        let kubernetes = &value["settings"]["kubernetes"];
        let labels = kubernetes["node-labels"].as_table().unwrap();
        prop_assert_eq!(labels["k8s.amazonaws.com/eniConfig"].as_str(), Some("pod-1a"));
        prop_assert!(!labels.contains_key("eks.amazonaws.com/sourceLaunchTemplateVersion"));
        prop_assert_eq!(labels.contains_key("team"), text.contains("team"));
        prop_assert_eq!(labels.contains_key("eks.amazonaws.com/nodegroup"), text.contains("/nodegroup"));
        let kept_lower = text.contains("max-pods = 8") || text.contains("max-pods=8");
        prop_assert_eq!(kubernetes["max-pods"].as_integer(), Some(if kept_lower { 8 } else { 20 }));

        let again = read(&merged.text).unwrap();
        prop_assert_eq!(&merge(&again, &ours, &target).unwrap().text, &merged.text);
        let given_back = String::from_utf8(without_ours(&again).unwrap()).unwrap();
        prop_assert_eq!(given_back, text);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let forms = forms.into_inner();
    assert!(forms.len() == 6 && forms.values().all(|count| *count >= 100), "{forms:?}");
}
