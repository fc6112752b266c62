//! MIME multiparts: a tolerant reader and a strict writer.

mod content_type;
mod read;
mod scan;
mod write;

use std::borrow::Cow;

pub use content_type::ContentType;
pub(super) use content_type::is_token;
pub(super) use read::read;
pub use write::write;

/// One header of a part, other than `Content-Type`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Header {
    /// Name as written.
    pub name: String,
    /// Value, unfolded.
    pub value: String,
}

/// One part of a multipart.
#[derive(Clone, PartialEq, Eq)]
pub struct Part {
    /// `Content-Type` as written, unfolded. Where the part has none, the type by which cloud-init would take its body.
    pub content_type: String,
    /// The other headers in their order.
    pub headers: Vec<Header>,
    /// The body exactly as it stands between the blank line and the delimiter; not decoded.
    pub body: Vec<u8>,
}

impl Part {
    /// A part without further headers.
    pub fn new(content_type: impl Into<String>, body: Vec<u8>) -> Self {
        Self { content_type: content_type.into(), headers: Vec::new(), body }
    }

    /// The media type without parameters, such as `text/x-shellscript`.
    pub fn media_type(&self) -> &str {
        self.content_type.split(';').next().unwrap_or_default().trim()
    }

    /// Whether its media type is that one.
    pub fn is(&self, media_type: &str) -> bool {
        self.media_type().eq_ignore_ascii_case(media_type)
    }

    /// The body as an instance sees it: `Content-Transfer-Encoding` undone.
    pub fn content(&self) -> Cow<'_, [u8]> {
        let encoding = self.header("Content-Transfer-Encoding").unwrap_or_default().trim().to_ascii_lowercase();
        if encoding != "base64" && encoding != "quoted-printable" {
            return Cow::Borrowed(&self.body);
        }
        let mut mail = format!("Content-Transfer-Encoding: {encoding}\n\n").into_bytes();
        mail.extend_from_slice(&self.body);
        match mailparse::parse_mail(&mail).and_then(|mail| mail.get_body_raw()) {
            Ok(content) => Cow::Owned(content),
            Err(_) => Cow::Borrowed(&self.body),
        }
    }

    /// Whether cloud-init runs it as a script.
    pub fn is_script(&self) -> bool {
        let media_type = self.media_type().to_ascii_lowercase();
        // `text/x-shellscript`, `-per-boot`, `-per-instance`, `-per-once`, and boothooks.
        media_type.starts_with("text/x-shellscript") || media_type == "text/cloud-boothook"
    }

    /// The value of the first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value.as_str())
    }
}

/// Bodies can hold secrets and bytes that are no text, so this shows them shortened only where they are text.
impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part")
            .field("content_type", &self.content_type)
            .field("headers", &self.headers)
            .field("body", &String::from_utf8_lossy(&self.body))
            .finish()
    }
}

/// Whether a text is MIME: its first lines are headers and one of them is `Content-Type`.
pub(super) fn is_mime(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    let lines = scan::Lines::new(text);
    let block = scan::headers(&lines, 0..text.len());
    block.headers.iter().any(|header| {
        header.name.eq_ignore_ascii_case("content-type") && ContentType::parse(&header.value).media_type.is_some()
    })
}
