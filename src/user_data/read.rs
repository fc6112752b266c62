//! Bytes in, a [`Document`] out.

use super::kind::{Kind, sniff};
use super::mime::{self, Part};
use super::oddity::{Oddity, OddityKind};
use super::{Document, Place, layers};

/// Why user data could not be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// More bytes than any user data has, as they are or unpacked.
    #[error("user data is larger than {limit} bytes")]
    TooLarge {
        /// The bound, in bytes.
        limit: usize,
    },
    /// More parts than any user data has.
    #[error("user data has more than {limit} parts")]
    TooManyParts {
        /// The bound.
        limit: usize,
    },
    /// Multiparts nested deeper than any user data has.
    #[error("user data has multiparts nested more than {limit} deep")]
    TooDeep {
        /// The bound.
        limit: usize,
    },
    /// A boundary longer than any that is in use.
    #[error("user data has a boundary of {length} characters")]
    BoundaryTooLong {
        /// Its length, in bytes.
        length: usize,
    },
    /// The gzip layer is damaged.
    #[error("user data starts as gzip and cannot be unpacked")]
    Gzip {
        /// What the decoder said.
        #[source]
        source: std::io::Error,
    },
    /// The base64 layer is damaged.
    #[error("user data looks like base64 and is not: {length} characters, not a multiple of four")]
    Base64 {
        /// Characters without blanks.
        length: usize,
        /// What the decoder said.
        #[source]
        source: base64::DecodeError,
    },
}

impl ReadError {
    /// What the reader can do about it: the text after `help:`, without a final period.
    pub fn help(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } | Self::TooManyParts { .. } | Self::TooDeep { .. } | Self::BoundaryTooLong { .. } => {
                "EC2 takes 16,384 bytes of user data; check that this is the user data of a launch template"
            }
            Self::Gzip { .. } => "make the launch template version anew from the text, without gzip",
            Self::Base64 { .. } => "encode the text again with padding, once, as `base64 -w0` does",
        }
    }
}

/// Reads user data, whatever it is.
///
/// # Errors
///
/// When a bound is passed or a layer is damaged. Text that nobody knows is not an error but [`Kind::Unknown`].
pub fn read(bytes: &[u8]) -> Result<Document, ReadError> {
    let (layers, text) = layers::peel(bytes)?;
    let mut oddities = Vec::new();
    let document = |kind, parts, places, oddities| Document { layers, kind, parts, places, oddities };

    let text = match text.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => {
            oddities.push(Oddity { line: 1, part: None, kind: OddityKind::ByteOrderMark });
            rest
        }
        None => &text,
    };
    let is_mime = mime::is_mime(text);
    let (kind, content_type) = if is_mime { (Kind::Mime, "") } else { sniff(text) };
    if kind == Kind::Empty {
        return Ok(document(kind, Vec::new(), Vec::new(), oddities));
    }
    if text.iter().take_while(|byte| byte.is_ascii_whitespace()).any(|byte| *byte == b'\n') {
        oddities.push(Oddity { line: 1, part: None, kind: OddityKind::BlankLinesFirst });
    }
    if is_mime {
        let multipart = mime::read(text, oddities)?;
        return Ok(document(kind, multipart.parts, multipart.places, multipart.oddities));
    }
    if text.split_inclusive(|byte| *byte == b'\n').next().is_some_and(|line| line.ends_with(b"\r\n")) {
        oddities.push(Oddity { line: 1, part: None, kind: OddityKind::Crlf });
    }
    let part = Part::new(content_type, text.to_vec());
    Ok(document(kind, vec![part], vec![Place { headers: 1, body: 1 }], oddities))
}
