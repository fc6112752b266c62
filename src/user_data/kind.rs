//! What user data is, by its first lines, as cloud-init, nodeadm and Bottlerocket tell it.

/// The kinds of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A MIME multipart.
    Mime,
    /// A script: it starts with `#!`.
    Shell,
    /// `#cloud-config`.
    CloudConfig,
    /// Something else that cloud-init knows by its first line, such as `#include` or `#cloud-boothook`.
    OtherCloudInit,
    /// A NodeConfig of nodeadm, as YAML or JSON.
    NodeConfig,
    /// TOML settings, as Bottlerocket reads.
    Toml,
    /// Nothing but blanks.
    Empty,
    /// None of these.
    Unknown,
}

impl Kind {
    /// The word in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mime => "MIME multipart",
            Self::Shell => "shell script",
            Self::CloudConfig => "cloud-config",
            Self::OtherCloudInit => "cloud-init document",
            Self::NodeConfig => "NodeConfig",
            Self::Toml => "TOML settings",
            Self::Empty => "nothing",
            Self::Unknown => "something unknown",
        }
    }
}

/// First lines that cloud-init knows, with the content type it gives to what follows. Longer ones come before their
/// own prefixes. Source: cloud-init, `cloudinit/handlers/__init__.py`, `INCLUSION_TYPES_MAP`.
const CLOUD_INIT_STARTS: [(&str, &str); 10] = [
    ("#include-once", "text/x-include-once-url"),
    ("#include", "text/x-include-url"),
    ("#cloud-config-archive", "text/cloud-config-archive"),
    ("#cloud-config-jsonp", "text/cloud-config-jsonp"),
    ("#cloud-config", "text/cloud-config"),
    ("#cloud-boothook", "text/cloud-boothook"),
    ("#part-handler", "text/part-handler"),
    ("#upstart-job", "text/upstart-job"),
    ("## template: jinja", "text/jinja2"),
    ("#!", "text/x-shellscript"),
];

/// Content type of a NodeConfig. Source: nodeadm, `internal/configprovider/userdata.go`.
pub(super) const NODE_CONFIG: &str = "application/node.eks.aws";
/// Content type of a part without any. Source: RFC 2045, section 5.2.
pub(super) const PLAIN: &str = "text/plain";
/// Content type that we give to a whole TOML document; no MIME document ever holds it.
pub(super) const TOML: &str = "application/toml";

/// The kind of one part or of a document that is not MIME, with its content type.
pub(super) fn sniff(body: &[u8]) -> (Kind, &'static str) {
    let trimmed = body.trim_ascii_start();
    if trimmed.is_empty() {
        return (Kind::Empty, PLAIN);
    }
    for (start, content_type) in CLOUD_INIT_STARTS {
        if starts_with_ignoring_case(trimmed, start.as_bytes()) {
            let kind = match content_type {
                "text/x-shellscript" => Kind::Shell,
                "text/cloud-config" => Kind::CloudConfig,
                _ => Kind::OtherCloudInit,
            };
            return (kind, content_type);
        }
    }
    if is_node_config(trimmed) {
        return (Kind::NodeConfig, NODE_CONFIG);
    }
    if is_toml(trimmed) {
        return (Kind::Toml, TOML);
    }
    (Kind::Unknown, PLAIN)
}

/// The content type that cloud-init or nodeadm would expect for such a body; `text/plain` where neither knows it.
pub fn content_type_of(body: &[u8]) -> &'static str {
    sniff(body).1
}

fn starts_with_ignoring_case(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn is_node_config(text: &[u8]) -> bool {
    let yaml = text.split(|byte| *byte == b'\n').any(|line| {
        let Some(value) = line.strip_prefix(b"apiVersion:") else { return false };
        let value = value.trim_ascii().trim_ascii_start();
        value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value).starts_with(b"node.eks.aws/")
    });
    let json = text.starts_with(b"{") && contains(text, b"\"node.eks.aws/");
    yaml || json
}

/// Whether the first line that is no comment is a table header or a `settings` key, or a later one is and all of it is
/// TOML.
fn is_toml(text: &[u8]) -> bool {
    let mut lines = text
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let is_settings = |line: &[u8]| {
        let key = line.strip_prefix(b"settings").map(<[u8]>::trim_ascii_start);
        key.is_some_and(|rest| rest.starts_with(b".") || rest.starts_with(b"=")) || line.starts_with(b"[settings")
    };
    match lines.next() {
        Some(first) if first.starts_with(b"[") || is_settings(first) => true,
        Some(_) => {
            lines.any(is_settings) && std::str::from_utf8(text).is_ok_and(|text| text.parse::<toml::Table>().is_ok())
        }
        None => false,
    }
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_their_first_lines() {
        for (body, kind, content_type) in [
            ("#!/bin/bash\n", Kind::Shell, "text/x-shellscript"),
            ("\n  #!/bin/sh\n", Kind::Shell, "text/x-shellscript"),
            ("#cloud-config\nruncmd: []\n", Kind::CloudConfig, "text/cloud-config"),
            ("#cloud-config-archive\n", Kind::OtherCloudInit, "text/cloud-config-archive"),
            ("#include-once\nhttps://a\n", Kind::OtherCloudInit, "text/x-include-once-url"),
            ("apiVersion: node.eks.aws/v1alpha1\n", Kind::NodeConfig, NODE_CONFIG),
            ("---\nkind: NodeConfig\napiVersion: \"node.eks.aws/v1alpha1\"\n", Kind::NodeConfig, NODE_CONFIG),
            ("{\"apiVersion\": \"node.eks.aws/v1alpha1\"}", Kind::NodeConfig, NODE_CONFIG),
            ("# a\n[settings.kubernetes]\n", Kind::Toml, TOML),
            ("settings.kubernetes.max-pods = 20\n", Kind::Toml, TOML),
            ("settings = {}\n", Kind::Toml, TOML),
            ("a = 1\n[settings.kubernetes]\n", Kind::Toml, TOML),
            ("a = 1\n", Kind::Unknown, PLAIN),
            (" \n\t\n", Kind::Empty, PLAIN),
            ("echo hello\n", Kind::Unknown, PLAIN),
            ("apiVersion: v1\nkind: Pod\n", Kind::Unknown, PLAIN),
        ] {
            assert_eq!(sniff(body.as_bytes()), (kind, content_type), "{body:?}");
        }
    }
}
