//! The structure of a MIME multipart, as nodeadm's and cloud-init's readers see it.

use super::Input;
use crate::config::AmiFamily;
use crate::finding::Problem;
use crate::user_data::{Kind, Oddity, OddityKind};

pub(super) fn look(input: &Input<'_>, problems: &mut Vec<Problem>) {
    for oddity in &input.document.oddities {
        problems.extend(of_oddity(input, oddity));
    }
    let is_text = input.document.parts.iter().all(|part| std::str::from_utf8(&part.body).is_ok());
    if input.document.kind == Kind::Mime && !is_text {
        let broken = input.parts().find(|(_, part, _)| std::str::from_utf8(&part.body).is_err());
        let (number, line) = broken.map_or((1, 1), |(number, _, place)| (number, place.body));
        problems.push(input.problem(
            "mime-not-utf8",
            line,
            format!("part {number} holds bytes that are no UTF-8; cloud-init fails on the whole document"),
            "encode that part as base64 and say so with Content-Transfer-Encoding: base64",
        ));
    }
}

fn of_oddity(input: &Input<'_>, oddity: &Oddity) -> Option<Problem> {
    const JOIN: &str = "nodeadm stops at the whole document, and the node never joins";
    let part = oddity.part.map_or_else(|| "the document".to_owned(), |number| format!("part {number}"));
    let is_mime = input.document.kind == Kind::Mime;
    let problem = |rule, message: String, help| input.problem(rule, oddity.line, message, help);
    let problem = match oddity.kind {
        OddityKind::ByteOrderMark => problem(
            "byte-order-mark",
            "it starts with a byte order mark, so that no reader knows its first line".into(),
            "save it as UTF-8 without a byte order mark",
        ),
        OddityKind::BlankLinesFirst if is_mime => problem(
            "mime-blank-lines-first",
            "blank lines come before the first header: cloud-init takes all of it for text and runs nothing, nodeadm finds no NodeConfig".into(),
            "start with the first header",
        ),
        OddityKind::BlankLinesFirst if input.is_amazon_linux() => problem(
            "script-after-blank-lines",
            "blank lines come before its first line: a script then has no interpreter, and cloud-init cannot start it".into(),
            "start with the first line of the script",
        ),
        OddityKind::NoMimeVersion => problem(
            "mime-without-version",
            "it has no MIME-Version header: cloud-init does not take it for a multipart and runs nothing".into(),
            "add `MIME-Version: 1.0` as the first line",
        ),
        OddityKind::UnquotedBoundary => problem(
            "mime-boundary-without-quotes",
            "its boundary holds a character that needs quotes, such as a slash: nodeadm finds no NodeConfig, and the node never joins".into(),
            "put the boundary between double quotes",
        ),
        OddityKind::NoParts | OddityKind::WrongBoundary => problem(
            "mime-boundary-wrong",
            "no line of it is a delimiter of the boundary that its Content-Type names: all parts are lost".into(),
            "make Content-Type and delimiter lines agree: each delimiter is two hyphens and the boundary",
        ),
        OddityKind::NoBlankLineAfterHeaders => problem(
            "mime-headers-without-blank-line",
            format!("no blank line comes after the headers of the document: {JOIN}"),
            "put a blank line before the first delimiter",
        ),
        OddityKind::NoBlankLineAfterPartHeaders => problem(
            "mime-part-without-blank-line",
            format!("no blank line comes after the headers of {part}: cloud-init tolerates it, but {JOIN}"),
            "put a blank line between the headers and the body",
        ),
        OddityKind::BlankLineWithSpaces => problem(
            "mime-blank-line-with-spaces",
            "the line after the headers holds blanks, which continue the header instead of ending it".into(),
            "make it an empty line",
        ),
        OddityKind::NoTerminator if !input.document.has(OddityKind::NoParts) => problem(
            "mime-without-terminator",
            format!("its closing delimiter is missing: cloud-init tolerates it, but {JOIN}"),
            "end the last part with a line of two hyphens, the boundary and two hyphens",
        ),
        OddityKind::JunkOnTerminator => problem(
            "mime-text-on-terminator",
            format!("something stands behind the closing delimiter, on its line: {JOIN}"),
            "end the line after the two hyphens",
        ),
        OddityKind::TextAfterTerminator => problem(
            "mime-text-after-terminator",
            "lines follow the closing delimiter; no reader looks at them".into(),
            "move the closing delimiter to the end, or take the lines out",
        ),
        OddityKind::TextBeforeFirstPart => problem(
            "mime-text-before-first-part",
            "text comes before the first delimiter; no reader looks at it".into(),
            "take it out, or put it into a part",
        ),
        OddityKind::EmptyPart => problem(
            "mime-empty-part",
            "there is nothing between two delimiters".into(),
            "take one of the delimiters out",
        ),
        OddityKind::NoContentType => problem(
            "mime-part-without-type",
            format!("{part} has no Content-Type; what becomes of it is a guess of cloud-init's, and nodeadm skips it"),
            "say what it is: text/x-shellscript, text/cloud-config, application/node.eks.aws",
        ),
        OddityKind::TwoContentTypes => problem(
            "mime-part-with-two-types",
            format!("{part} has two Content-Type headers; readers differ in which one they take"),
            "write one header, with charset as its parameter",
        ),
        OddityKind::BadContentType => problem(
            "mime-part-type-malformed",
            format!("the Content-Type of {part} is not well-formed: {JOIN}"),
            "write it as type/subtype, each parameter as name=\"value\" after a semicolon",
        ),
        OddityKind::BadHeader => problem(
            "mime-part-header-malformed",
            format!("a header of {part} is not well-formed: {JOIN}"),
            "write header names and values in plain ASCII, or take the header out",
        ),
        OddityKind::Nested => problem(
            "mime-nested",
            "a part is a multipart itself: nodeadm does not look into it".into(),
            "put its parts beside the others",
        ),
        OddityKind::NestedSameBoundary => problem(
            "mime-nested-with-same-boundary",
            "a part is a multipart with the boundary of the document: parts are lost to both cloud-init and nodeadm".into(),
            "put its parts beside the others",
        ),
        OddityKind::MixedLineEndings => problem(
            "mime-mixed-line-ends",
            format!("this delimiter ends otherwise than the first one does (CRLF, LF): {JOIN}"),
            "save the file with LF throughout",
        ),
        OddityKind::TransferEncoding if input.eks_merges => problem(
            "mime-encoded-part",
            format!("{part} is encoded; cloud-init decodes it, but nobody promises that EKS keeps the header that says so"),
            "write the part as plain text",
        ),
        _ => return None,
    };
    // nodeadm is on AL2023 alone, but EKS refuses or rewrites such documents on AL2 as well.
    let is_read = input.family != AmiFamily::Bottlerocket || !is_mime;
    is_read.then_some(problem)
}
