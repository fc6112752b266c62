//! How large user data may be, and what takes the room.

use super::mime::Part;
use super::ours::marker_name;

/// What EC2 takes, decoded, in bytes. Source: EC2 User Guide, "Add user data" (16 KB before base64).
pub const EC2_LIMIT: usize = 16_384;
/// From here on we warn: nine tenths of [`EC2_LIMIT`].
pub const EC2_WARNING: usize = 14_746;
/// What is left where EKS merges its own part, which needs 2 to 3 KB of [`EC2_LIMIT`].
pub const EKS_MERGE_LIMIT: usize = 13_312;
/// From here on we warn where EKS merges its own part.
pub const EKS_MERGE_WARNING: usize = 12_288;

/// How a size stands to the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Fits.
    Fits,
    /// Fits, but is near the limit.
    Warn,
    /// Does not fit.
    TooLarge,
}

/// The size of user data, decoded, with what each part takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size {
    /// The whole, in bytes.
    pub total: usize,
    /// From this size on we warn, in bytes.
    pub warning: usize,
    /// The most that is taken, in bytes.
    pub limit: usize,
    /// What the total means.
    pub verdict: Verdict,
    /// The parts in order. The sizes add up to [`Size::total`] with what is named `delimiters`.
    pub parts: Vec<PartSize>,
}

/// One row of the table of part sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartSize {
    /// The part, from 1; `None` is the row for headers and delimiters.
    pub number: Option<usize>,
    /// Content type, or `delimiters`.
    pub content_type: String,
    /// The name of the part where it is ours.
    pub ours: Option<String>,
    /// Bytes of the body.
    pub bytes: usize,
}

/// Measures a document as it is written; `eks_merges` says that the launch template names no image.
pub fn measure(written: &[u8], parts: &[Part], eks_merges: bool) -> Size {
    let (warning, limit) = if eks_merges { (EKS_MERGE_WARNING, EKS_MERGE_LIMIT) } else { (EC2_WARNING, EC2_LIMIT) };
    let total = written.len();
    let verdict = match total {
        total if total > limit => Verdict::TooLarge,
        total if total > warning => Verdict::Warn,
        _ => Verdict::Fits,
    };
    let mut rows: Vec<PartSize> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| PartSize {
            number: Some(index + 1),
            content_type: part.media_type().to_owned(),
            ours: marker_name(&part.content()),
            bytes: part.body.len(),
        })
        .collect();
    let bodies: usize = rows.iter().map(|row| row.bytes).sum();
    rows.push(PartSize {
        number: None,
        content_type: "delimiters".into(),
        ours: None,
        bytes: total.saturating_sub(bodies),
    });
    Size { total, warning, limit, verdict, parts: rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_to_the_byte() {
        for (size, eks_merges, verdict) in [
            (12_288, true, Verdict::Fits),
            (12_289, true, Verdict::Warn),
            (13_312, true, Verdict::Warn),
            (13_313, true, Verdict::TooLarge),
            (14_746, false, Verdict::Fits),
            (14_747, false, Verdict::Warn),
            (16_384, false, Verdict::Warn),
            (16_385, false, Verdict::TooLarge),
        ] {
            assert_eq!(measure(&vec![b'x'; size], &[], eks_merges).verdict, verdict, "{size} {eks_merges}");
        }
    }

    #[test]
    fn rows_add_up() {
        let parts = [
            Part::new(
                "text/x-shellscript; charset=\"us-ascii\"",
                b"#!/bin/bash\n# eniplan.dev/part: al2023-boot\n".to_vec(),
            ),
            Part::new("text/cloud-config", b"#cloud-config\n".to_vec()),
        ];
        let written = super::super::mime::write(&parts).unwrap();
        let size = measure(&written, &parts, true);
        assert_eq!(size.parts.iter().map(|row| row.bytes).sum::<usize>(), size.total);
        assert_eq!(size.parts[0].ours.as_deref(), Some("al2023-boot"));
        assert_eq!(size.parts[0].content_type, "text/x-shellscript");
        assert_eq!(size.parts[1].bytes, 14);
    }
}
