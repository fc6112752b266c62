//! What can be odd about user data that is still understood.

/// Something odd, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oddity {
    /// Line of the decoded text, from 1.
    pub line: usize,
    /// The part it is about, from 1; `None` is the document.
    pub part: Option<usize>,
    /// What it is.
    pub kind: OddityKind,
}

/// The kinds of oddity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OddityKind {
    /// A UTF-8 byte order mark comes first.
    ByteOrderMark,
    /// Blank lines come before the first header or the first line of the script.
    BlankLinesFirst,
    /// A multipart in which no part can be found.
    NoParts,
    /// A MIME message that is no multipart but one part.
    SinglePart,
    /// No `MIME-Version` header: cloud-init takes the text for something else.
    NoMimeVersion,
    /// `MIME-Version` does not come first. Legal, and harmless.
    HeaderOrder,
    /// The boundary holds characters that need quotes and has none.
    UnquotedBoundary,
    /// The `Content-Type` names no boundary, or one that no line has; it was taken from the first delimiter.
    WrongBoundary,
    /// No blank line after the document's headers.
    NoBlankLineAfterHeaders,
    /// No blank line after a part's headers.
    NoBlankLineAfterPartHeaders,
    /// The line that ends headers holds blanks.
    BlankLineWithSpaces,
    /// The last delimiter is missing.
    NoTerminator,
    /// The last delimiter opens an empty part instead of closing the document.
    LastDelimiterOpens,
    /// Something stands on the line of the closing delimiter, behind it.
    JunkOnTerminator,
    /// Lines follow the closing delimiter. No reader looks at them.
    TextAfterTerminator,
    /// Text before the first delimiter.
    TextBeforeFirstPart,
    /// Nothing between two delimiters.
    EmptyPart,
    /// A part without `Content-Type`.
    NoContentType,
    /// Two `Content-Type` headers on one part.
    TwoContentTypes,
    /// A `Content-Type` that strict grammar refuses.
    BadContentType,
    /// A header that strict grammar refuses.
    BadHeader,
    /// A multipart in a multipart.
    Nested,
    /// A multipart in a multipart, both with the same boundary.
    NestedSameBoundary,
    /// Delimiter lines end partly with LF and partly with CRLF.
    MixedLineEndings,
    /// Lines end with CRLF.
    Crlf,
    /// A part is encoded: base64 or quoted-printable.
    TransferEncoding,
}

impl OddityKind {
    /// All of them, in the order above.
    pub const ALL: [Self; 26] = [
        Self::ByteOrderMark,
        Self::BlankLinesFirst,
        Self::NoParts,
        Self::SinglePart,
        Self::NoMimeVersion,
        Self::HeaderOrder,
        Self::UnquotedBoundary,
        Self::WrongBoundary,
        Self::NoBlankLineAfterHeaders,
        Self::NoBlankLineAfterPartHeaders,
        Self::BlankLineWithSpaces,
        Self::NoTerminator,
        Self::LastDelimiterOpens,
        Self::JunkOnTerminator,
        Self::TextAfterTerminator,
        Self::TextBeforeFirstPart,
        Self::EmptyPart,
        Self::NoContentType,
        Self::TwoContentTypes,
        Self::BadContentType,
        Self::BadHeader,
        Self::Nested,
        Self::NestedSameBoundary,
        Self::MixedLineEndings,
        Self::Crlf,
        Self::TransferEncoding,
    ];

    /// What it is, for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "it starts with a byte order mark",
            Self::BlankLinesFirst => "it starts with blank lines",
            Self::NoParts => "it is a multipart without any part",
            Self::SinglePart => "it is a MIME message that is no multipart",
            Self::NoMimeVersion => "it has no MIME-Version header",
            Self::HeaderOrder => "MIME-Version is not its first header",
            Self::UnquotedBoundary => "its boundary needs quotes and has none",
            Self::WrongBoundary => "its Content-Type names a boundary that no line has",
            Self::NoBlankLineAfterHeaders => "no blank line after its headers",
            Self::NoBlankLineAfterPartHeaders => "no blank line after the headers of a part",
            Self::BlankLineWithSpaces => "the line after the headers holds blanks",
            Self::NoTerminator => "its closing delimiter is missing",
            Self::LastDelimiterOpens => "its last delimiter opens a part that is empty",
            Self::JunkOnTerminator => "there is something behind its closing delimiter, on the same line",
            Self::TextAfterTerminator => "there are lines after its closing delimiter",
            Self::TextBeforeFirstPart => "there is text before its first part",
            Self::EmptyPart => "there is nothing between two delimiters",
            Self::NoContentType => "a part has no Content-Type",
            Self::TwoContentTypes => "a part has two Content-Type headers",
            Self::BadContentType => "a part has a Content-Type that is not well-formed",
            Self::BadHeader => "a part has a header that is not well-formed",
            Self::Nested => "it holds a multipart in a multipart",
            Self::NestedSameBoundary => "it holds a multipart in a multipart with the same boundary",
            Self::MixedLineEndings => "some delimiters end with LF, others with CRLF",
            Self::Crlf => "its lines end with CRLF",
            Self::TransferEncoding => "a part is encoded as base64 or quoted-printable",
        }
    }
}
