//! User data that can be shown to others: foreign parts by type, size and hash, ours with pseudonyms.

use super::{Kind, Part, is_ours, mime, read};

/// User data whose foreign bytes are left out. `digest` stands for bytes, `text` replaces names in our own parts.
pub fn redacted(bytes: &[u8], digest: impl Fn(&[u8]) -> String, text: impl Fn(&str) -> String) -> Vec<u8> {
    let whole = || format!("# {}\n", digest(bytes)).into_bytes();
    let Ok(document) = read(bytes) else { return whole() };
    let parts: Vec<Part> = document
        .parts
        .iter()
        .map(|part| {
            let content = part.content();
            match std::str::from_utf8(&content) {
                Ok(ours) if is_ours(part) => Part::new(part.media_type(), text(ours).into_bytes()),
                _ => Part::new(part.media_type(), format!("# {}\n", digest(&content)).into_bytes()),
            }
        })
        .collect();
    match (document.kind, parts.as_slice()) {
        (Kind::Mime, parts) => mime::write(parts).unwrap_or_else(|_| whole()),
        // What tells cloud-init the kind stays in front.
        (Kind::Shell, [part]) if !is_ours(part) => [b"#!/bin/sh\n", part.body.as_slice()].concat(),
        (Kind::CloudConfig, [part]) => [b"#cloud-config\n", part.body.as_slice()].concat(),
        (_, [part]) => part.body.clone(),
        _ => whole(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shown(bytes: &[u8]) -> String {
        let digest = |bytes: &[u8]| format!("{} bytes", bytes.len());
        String::from_utf8(redacted(bytes, digest, |text| text.replace("demo", "xyzw"))).unwrap()
    }

    #[test]
    fn foreign_parts_keep_their_type_and_ours_their_text() {
        let ours = "#!/bin/bash\n# eniplan.dev/part: al2023-boot\necho demo\n";
        let parts = [
            Part::new("text/x-shellscript", b"#!/bin/bash\nTOKEN=hush\n".to_vec()),
            Part::new("text/x-shellscript", ours.into()),
        ];
        let text = shown(&mime::write(&parts).unwrap());
        assert!(!text.contains("hush"), "{text}");
        let document = read(text.as_bytes()).unwrap();
        assert_eq!(document.foreign_parts().count(), 1);
        assert_eq!(document.parts[0].body, b"# 23 bytes\n");
        assert_eq!(document.parts[1].body, ours.replace("demo", "xyzw").as_bytes());
    }

    #[test]
    fn a_document_of_one_part_keeps_its_kind() {
        for (text, kind) in [
            ("#!/bin/bash\ncurl -H 'Authorization: hush' x\n", Kind::Shell),
            ("#cloud-config\npassword: hush\n", Kind::CloudConfig),
        ] {
            let redacted = shown(text.as_bytes());
            assert!(!redacted.contains("hush"), "{redacted}");
            let document = read(redacted.as_bytes()).unwrap();
            assert_eq!(document.kind, kind);
            assert_eq!(document.foreign_parts().count(), 1, "{redacted}");
        }
        for text in ["[settings]\nmotd = \"hush\"\n", "apiVersion: node.eks.aws/v1alpha1\nhush: 1\n", "hush"] {
            assert!(!shown(text.as_bytes()).contains("hush"));
        }
    }
}
