//! Documents with oddities, as they are drawn.

use proptest::prelude::*;

/// One part as it is drawn.
#[derive(Debug, Clone)]
pub(crate) struct DrawnPart {
    pub(crate) content: Content,
    pub(crate) ends_with_line_end: bool,
    pub(crate) headers: PartHeaders,
    pub(crate) nested: Nested,
    pub(crate) empty_part_before: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Shell,
    CloudConfig,
    NodeConfig,
    Boothook,
    Bytes,
    Ours,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartHeaders {
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
pub(crate) enum Nested {
    No,
    OtherBoundary,
    SameBoundary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Proper,
    NoFinalLineEnd,
    Missing,
    Backslash,
    LastDelimiterOpens,
    Epilogue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
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
pub(crate) enum LineEnds {
    Lf,
    Crlf,
    CrlfOutsideBodies,
    CrlfAfterFirstDelimiter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layers {
    None,
    Gzip,
    Base64,
    Base64Twice,
    Base64Gzip,
    Base64Wrapped,
}

#[derive(Debug, Clone)]
pub(crate) struct Drawn {
    pub(crate) parts: Vec<DrawnPart>,
    /// The one part alone, without MIME.
    pub(crate) is_plain: bool,
    pub(crate) head: Head,
    pub(crate) ending: Ending,
    pub(crate) line_ends: LineEnds,
    pub(crate) layers: Layers,
    pub(crate) boundary: &'static str,
    pub(crate) blanks_after_delimiters: bool,
}

pub(crate) fn one_of<T: Clone + std::fmt::Debug + 'static>(values: &'static [T]) -> impl Strategy<Value = T> {
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

pub(crate) fn drawn() -> impl Strategy<Value = Drawn> {
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
