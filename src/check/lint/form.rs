//! The form of the whole: format, layers, size.

use super::Input;
use crate::config::AmiFamily;
use crate::finding::Problem;
use crate::user_data::size::{Size, Verdict, measure};
use crate::user_data::{Kind, Layer, OddityKind};

pub(super) fn look(input: &Input<'_>, problems: &mut Vec<Problem>) {
    format(input, problems);
    layers(input, problems);
    size(input, problems);
    eks_delimiter(input, problems);
}

fn format(input: &Input<'_>, problems: &mut Vec<Problem>) {
    let (kind, family) = (input.document.kind, input.family.word());
    let is_toml = kind == Kind::Toml;
    if kind == Kind::Empty {
        return;
    }
    if kind == Kind::Unknown {
        problems.push(input.problem(
            "user-data-format-unknown",
            1,
            "it is neither MIME, a script, cloud-config, a NodeConfig nor TOML settings; no reader takes it",
            "start a script with `#!`, a cloud-config with `#cloud-config`",
        ));
    } else if is_toml != (input.family == AmiFamily::Bottlerocket) {
        problems.push(input.problem(
            "user-data-format-of-other-family",
            1,
            format!("it is {}, which {family} does not read", kind.word()),
            "check the AMI family of the node group, or name it with --family",
        ));
    } else if input.eks_merges && !is_toml && (kind != Kind::Mime || input.document.has(OddityKind::SinglePart)) {
        problems.push(input.problem(
            "user-data-not-mime",
            1,
            format!(
                "it is {}, and without an image in the launch template EKS takes MIME multiparts only",
                if kind == Kind::Mime { "a MIME message of one part".into() } else { format!("a {}", kind.word()) }
            ),
            "make it a part of a MIME multipart, or say with --image-id that the launch template names an image",
        ));
    }
}

fn layers(input: &Input<'_>, problems: &mut Vec<Problem>) {
    let layers = &input.document.layers;
    if layers.iter().filter(|layer| **layer == Layer::Base64).count() > 1 {
        problems.push(input.problem(
            "user-data-encoded-twice",
            1,
            "it is encoded as base64 twice, and EC2 undoes one: cloud-init ignores what is left",
            "encode it once; Terraform's user_data_base64 and templates of launch templates often encode again",
        ));
    }
    if input.eks_merges && layers.contains(&Layer::Gzip) {
        problems.push(input.problem(
            "user-data-gzip",
            1,
            "it is gzip, which EKS does not merge",
            "leave the text uncompressed (in Terraform's cloudinit_config: gzip = false)",
        ));
    }
}

fn size(input: &Input<'_>, problems: &mut Vec<Problem>) {
    let measured = measure(&decoded_once(input), &input.document.parts, input.eks_merges);
    let message =
        |size: &Size| format!("it has {} bytes, decoded, and at most {} fit\n{}", size.total, size.limit, table(size));
    match measured.verdict {
        Verdict::Fits => {}
        Verdict::Warn => problems.push(input.problem(
            "user-data-near-limit",
            1,
            message(&measured),
            "shorten the largest part before it grows further",
        )),
        Verdict::TooLarge => problems.push(input.problem(
            "user-data-too-large",
            1,
            message(&measured),
            "shorten the largest part, or let it fetch what it needs",
        )),
    }
}

/// The bytes as EC2 counts them: without the outermost base64.
fn decoded_once(input: &Input<'_>) -> Vec<u8> {
    if input.document.layers.first() != Some(&Layer::Base64) {
        return input.bytes.to_vec();
    }
    let characters = input.bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
    let padding = characters.clone().filter(|byte| **byte == b'=').count();
    vec![0; (characters.count() / 4 * 3).saturating_sub(padding)]
}

/// One line a part, the bytes first.
fn table(size: &Size) -> String {
    let rows = size.parts.iter().map(|part| {
        let number = part.number.map_or_else(String::new, |number| format!("part {number}, "));
        format!("{:>8}  {number}{}", part.bytes, part.content_type)
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// EKS writes its merged document with the boundary `//`. Source: amazon-eks-ami issue 1988.
fn eks_delimiter(input: &Input<'_>, problems: &mut Vec<Problem>) {
    if !input.eks_merges || !input.is_amazon_linux() {
        return;
    }
    for (number, part, place) in input.parts() {
        for (index, line) in part.body.split(|byte| *byte == b'\n').enumerate() {
            let rest = line.strip_prefix(b"--//").map(|rest| rest.strip_prefix(b"--").unwrap_or(rest));
            if rest.is_some_and(|rest| rest.trim_ascii().is_empty()) {
                problems.push(input.problem(
                    "line-ends-part-of-eks",
                    place.body + index,
                    format!("part {number} has a line `--//`, where the part ends once EKS has merged the document"),
                    "change that line, for example by writing `echo '--''//'`",
                ));
            }
        }
    }
}
