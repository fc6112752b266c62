//! Whether two documents say the same, and where they differ.
//!
//! Bodies are compared byte by byte, except that CRLF is LF in scripts. Boundary, line ends of the structure, transfer
//! encoding and compression do not count. The order of labels is ignored inside our own parts only.

use std::borrow::Cow;
use std::fmt;

use super::kind::Kind;
use super::mime::{ContentType, Part};
use super::ours::{is_ours, marker_name};
use super::{Document, labels};

/// Headers that say how a part travels, not what it is.
const TRANSPORT: [&str; 2] = ["content-transfer-encoding", "mime-version"];

/// One difference between two documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What differs.
    pub what: What,
    /// The part in the first document, from 1.
    pub before: Option<PartName>,
    /// The part in the second document, from 1.
    pub after: Option<PartName>,
}

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// The form of the whole, such as a script that became a MIME multipart.
    Form,
    /// A part that only the second document has.
    Added,
    /// A part that only the first document has.
    Removed,
    /// The body of a part.
    Body,
    /// The headers of a part.
    Headers,
}

/// A part as text for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartName {
    /// Its number, from 1.
    pub number: usize,
    /// Its media type.
    pub media_type: String,
    /// The name of the part where it is ours.
    pub ours: Option<String>,
}

impl fmt::Display for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "part {} ({}", self.number, self.media_type)?;
        match &self.ours {
            Some(name) => write!(f, ", {name})"),
            None => f.write_str(")"),
        }
    }
}

/// Whether two documents say the same to a node.
pub fn equivalent(before: &Document, after: &Document) -> bool {
    differences(before, after).is_empty()
}

/// Where two documents differ, in the order of their parts.
pub fn differences(before: &Document, after: &Document) -> Vec<Difference> {
    let mut found = Vec::new();
    // A cloud-config alone and the same as the only part of a multipart are two forms to EKS.
    if before.kind != after.kind && (before.kind == Kind::Mime || after.kind == Kind::Mime) {
        found.push(Difference { what: What::Form, before: None, after: None });
    }
    let old: Vec<Normal<'_>> = before.parts.iter().map(Normal::of).collect();
    let new: Vec<Normal<'_>> = after.parts.iter().map(Normal::of).collect();
    let (mut old_at, mut new_at) = (0, 0);
    for (old_index, new_index) in pairs(&old, &new).into_iter().chain([(old.len(), new.len())]) {
        // Between two parts that both have, parts are paired in their order, so that a change shows as one.
        while old_at < old_index && new_at < new_index {
            found.extend(changes(&old, old_at, &new, new_at));
            (old_at, new_at) = (old_at + 1, new_at + 1);
        }
        for index in old_at..old_index {
            found.push(Difference { what: What::Removed, before: name(&old, index), after: None });
        }
        for index in new_at..new_index {
            found.push(Difference { what: What::Added, before: None, after: name(&new, index) });
        }
        (old_at, new_at) = (old_index + 1, new_index + 1);
        if old_index < old.len() {
            found.extend(changes(&old, old_index, &new, new_index));
        }
    }
    found
}

/// A part without what does not count.
struct Normal<'a> {
    media_type: &'a str,
    ours: Option<String>,
    content_type: (Option<String>, Vec<(String, String)>),
    headers: Vec<(String, String)>,
    body: Cow<'a, [u8]>,
}

impl<'a> Normal<'a> {
    fn of(part: &'a Part) -> Self {
        let mut content_type = ContentType::parse(&part.content_type);
        content_type.parameters.sort();
        let mut headers: Vec<(String, String)> = part
            .headers
            .iter()
            .map(|header| (header.name.to_ascii_lowercase(), header.value.trim().to_owned()))
            .filter(|(name, _)| !TRANSPORT.contains(&name.as_str()))
            .collect();
        headers.sort();
        Self {
            media_type: part.media_type(),
            ours: is_ours(part).then(|| marker_name(&part.content())).flatten(),
            content_type: (content_type.media_type, content_type.parameters),
            headers,
            body: normal_body(part),
        }
    }

    fn has_headers_of(&self, other: &Self) -> bool {
        self.content_type == other.content_type && self.headers == other.headers
    }

    /// Ours belong together by name, foreign ones by what they say.
    fn belongs_to(&self, other: &Self) -> bool {
        if self.ours.is_some() || other.ours.is_some() {
            return self.ours == other.ours;
        }
        self.body == other.body && self.has_headers_of(other)
    }
}

/// Parts that belong together, as many as stand in the same order.
fn pairs(old: &[Normal<'_>], new: &[Normal<'_>]) -> Vec<(usize, usize)> {
    let belong = |i: usize, j: usize| old.get(i).zip(new.get(j)).is_some_and(|(a, b)| a.belongs_to(b));
    let width = new.len() + 1;
    let mut lengths = vec![0_usize; (old.len() + 1) * width];
    let get = |lengths: &[usize], i: usize, j: usize| lengths.get(i * width + j).copied().unwrap_or(0);
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let length = if belong(i, j) {
                get(&lengths, i + 1, j + 1) + 1
            } else {
                get(&lengths, i + 1, j).max(get(&lengths, i, j + 1))
            };
            if let Some(cell) = lengths.get_mut(i * width + j) {
                *cell = length;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < old.len() && j < new.len() {
        if belong(i, j) {
            found.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if get(&lengths, i + 1, j) >= get(&lengths, i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

fn changes(old: &[Normal<'_>], old_index: usize, new: &[Normal<'_>], new_index: usize) -> Vec<Difference> {
    let Some((a, b)) = old.get(old_index).zip(new.get(new_index)) else { return Vec::new() };
    let difference = |what| Difference { what, before: name(old, old_index), after: name(new, new_index) };
    let mut found = Vec::new();
    if !a.has_headers_of(b) {
        found.push(difference(What::Headers));
    }
    if a.body != b.body {
        found.push(difference(What::Body));
    }
    found
}

fn name(parts: &[Normal<'_>], index: usize) -> Option<PartName> {
    let part = parts.get(index)?;
    Some(PartName { number: index + 1, media_type: part.media_type.to_owned(), ours: part.ours.clone() })
}

fn normal_body(part: &Part) -> Cow<'_, [u8]> {
    let mut body = part.content();
    if part.is_script() && body.windows(2).any(|pair| pair == b"\r\n") {
        let mut unix = Vec::with_capacity(body.len());
        for line in body.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\r\n") {
                Some(text) => unix.extend([text, b"\n"].concat()),
                None => unix.extend_from_slice(line),
            }
        }
        body = Cow::Owned(unix);
    }
    if is_ours(part)
        && let Ok(text) = std::str::from_utf8(&body)
    {
        let sorted: String = text.split_inclusive('\n').map(labels::sorted).collect();
        body = Cow::Owned(sorted.into_bytes());
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user_data::{mime, read};

    fn shell(body: &str) -> Part {
        Part::new("text/x-shellscript", body.as_bytes().to_vec())
    }

    fn document(parts: &[Part]) -> Document {
        read(&mime::write(parts).unwrap()).unwrap()
    }

    fn shown(before: &[Part], after: &[Part]) -> Vec<String> {
        let show = |name: Option<PartName>| name.map_or_else(|| "-".to_owned(), |name| name.to_string());
        differences(&document(before), &document(after))
            .into_iter()
            .map(|one| format!("{:?} {} {}", one.what, show(one.before), show(one.after)))
            .collect()
    }

    const OURS: &str = "#!/bin/bash\n# eniplan.dev/part: al2023-boot\n";

    #[test]
    fn what_counts() {
        let (a, b, c) = (shell("#!/bin/sh\necho a\n"), shell("#!/bin/sh\necho b\n"), shell("#!/bin/sh\necho c\n"));
        let ours = |tail: &str| shell(&format!("{OURS}{tail}"));
        for (before, after, expected) in [
            (vec![a.clone()], vec![a.clone()], vec![]),
            (vec![a.clone()], vec![b.clone()], vec!["Body part 1 (text/x-shellscript) part 1 (text/x-shellscript)"]),
            (vec![a.clone(), b.clone()], vec![b.clone()], vec!["Removed part 1 (text/x-shellscript) -"]),
            (vec![a.clone()], vec![a.clone(), ours("")], vec!["Added - part 2 (text/x-shellscript, al2023-boot)"]),
            (
                vec![a.clone(), ours("x\n")],
                vec![a.clone(), ours("y\n")],
                vec!["Body part 2 (text/x-shellscript, al2023-boot) part 2 (text/x-shellscript, al2023-boot)"],
            ),
            (
                vec![a.clone(), b.clone(), c.clone()],
                vec![a.clone(), c.clone(), b.clone()],
                vec!["Removed part 2 (text/x-shellscript) -", "Added - part 3 (text/x-shellscript)"],
            ),
            (
                vec![a.clone()],
                vec![Part::new("text/cloud-boothook", a.body.clone())],
                vec!["Headers part 1 (text/x-shellscript) part 1 (text/cloud-boothook)"],
            ),
        ] {
            assert_eq!(shown(&before, &after), expected);
        }
    }

    #[test]
    fn what_does_not_count() {
        let lf = [shell("#!/bin/sh\necho a\n")];
        let crlf = shell("#!/bin/sh\r\necho a\r\n");
        assert_eq!(shown(&lf, &[crlf]), [""; 0]);
        assert_eq!(
            shown(&[Part::new("text/plain", b"a\n".to_vec())], &[Part::new("text/plain", b"a\r\n".to_vec())]).len(),
            1
        );

        let mut encoded = Part::new("Text/X-Shellscript", b"IyEvYmluL3NoCmVjaG8gYQo=".to_vec());
        encoded.headers.push(mime::Header { name: "Content-Transfer-Encoding".into(), value: "base64".into() });
        assert_eq!(shown(&lf, &[encoded]), [""; 0]);

        let text = String::from_utf8(mime::write(&lf).unwrap()).unwrap();
        let other_boundary = read(text.replace("==eniplan==", "//").replace('\n', "\r\n").as_bytes()).unwrap();
        assert!(equivalent(&document(&lf), &other_boundary));

        let labels = |text: &str| shell(&format!("{OURS}f '--node-labels={text} --v=3'\n"));
        assert_eq!(shown(&[labels("a=1,b=2")], &[labels("b=2,a=1")]), [""; 0]);
        assert_eq!(shown(&[labels("a=1,b=2")], &[labels("b=2,a=3")]).len(), 1);
        let foreign = |text: &str| shell(&format!("#!/bin/sh\nf '--node-labels={text}'\n"));
        assert_eq!(shown(&[foreign("a=1,b=2")], &[foreign("b=2,a=1")]).len(), 1);
    }

    #[test]
    fn the_form_counts() {
        let script = b"#!/bin/sh\necho a\n";
        let wrapped = document(&[Part::new("text/x-shellscript", script.to_vec())]);
        let whats: Vec<What> = differences(&read(script).unwrap(), &wrapped).iter().map(|one| one.what).collect();
        assert_eq!(whats, [What::Form]);
    }
}
