//! Parts as cloud-init takes them.

use super::{Input, line_in};
use crate::config::AmiFamily;
use crate::finding::Problem;
use crate::user_data::Kind;
use crate::user_data::node_config::is_node_config;

/// Types that cloud-init has a handler for. Source: cloud-init, `cloudinit/handlers` and `cloudinit/user_data.py`.
const HANDLED: [&str; 18] = [
    "application/gzip",
    "application/octet-stream",
    "application/x-gzip",
    "text/cloud-boothook",
    "text/cloud-config",
    "text/cloud-config-archive",
    "text/cloud-config-jsonp",
    "text/jinja2",
    "text/part-handler",
    "text/plain",
    "text/upstart-job",
    "text/x-include-once-url",
    "text/x-include-url",
    "text/x-not-multipart",
    "text/x-shellscript",
    "text/x-shellscript-per-boot",
    "text/x-shellscript-per-instance",
    "text/x-shellscript-per-once",
];

pub(super) fn look(input: &Input<'_>, problems: &mut Vec<Problem>) {
    if !input.is_amazon_linux() || matches!(input.document.kind, Kind::Toml | Kind::Unknown) {
        return;
    }
    let mut cloud_configs = 0;
    for (number, part, place) in input.parts() {
        let content = part.content();
        if !HANDLED.iter().any(|handled| part.is(handled)) && !is_node_config(part) {
            problems.push(input.problem(
                "part-type-unknown",
                place.headers,
                format!("part {number} is {}, which cloud-init ignores", part.media_type()),
                "check the spelling of its Content-Type",
            ));
        }
        if part.is("text/cloud-config") {
            cloud_configs += 1;
            if cloud_configs == 2 {
                problems.push(input.problem(
                    "cloud-config-twice",
                    place.body,
                    format!(
                        "part {number} is a second cloud-config: its lists, such as runcmd, replace those of the first"
                    ),
                    "put both into one part, or say with a Merge-Type header how they are merged",
                ));
            }
            if let Some((line, message)) = not_yaml(&content) {
                problems.push(input.problem(
                    "cloud-config-malformed",
                    line_in(part, place, line),
                    format!("part {number} is not YAML, and cloud-init ignores all of it: {message}"),
                    "correct the YAML",
                ));
            }
        }
        let is_shell = part.media_type().to_ascii_lowercase().starts_with("text/x-shellscript");
        if is_shell && !content.starts_with(b"#!") && !content.trim_ascii_start().starts_with(b"#!") {
            problems.push(input.problem(
                "script-without-interpreter",
                place.body,
                format!("the script of part {number} does not start with `#!`, so that cloud-init cannot start it"),
                "start it with `#!/bin/bash`",
            ));
        }
        if part.is_script()
            && let Some(line) = stray_carriage_return(&content)
        {
            problems.push(input.problem(
                "script-with-carriage-returns",
                line_in(part, place, line),
                format!(
                    "this line of part {number} ends with CRLF and the first one does not: cloud-init leaves the CR in, and it becomes a part of the last word"
                ),
                "save the script with LF throughout",
            ));
        }
    }
    nodeadm_on_al2(input, problems);
}

fn nodeadm_on_al2(input: &Input<'_>, problems: &mut Vec<Problem>) {
    if input.family != AmiFamily::Al2 {
        return;
    }
    for (number, _, place) in input.parts().filter(|(_, part, _)| is_node_config(part)) {
        problems.push(input.problem(
            "node-config-on-al2",
            place.headers,
            format!("part {number} is a NodeConfig, which only AL2023 reads"),
            "take it out, or check the AMI family of the node group",
        ));
    }
}

/// Where a cloud-config is not YAML, and why.
fn not_yaml(content: &[u8]) -> Option<(usize, String)> {
    let Ok(text) = std::str::from_utf8(content) else { return Some((1, "it is not UTF-8".into())) };
    let error = serde_saphyr::from_str::<serde_json::Value>(text).err()?;
    let line = error.location().and_then(|location| usize::try_from(location.line()).ok()).unwrap_or(1);
    Some((line, error.to_string().lines().next().unwrap_or_default().to_owned()))
}

/// The first line that ends with CRLF in a script whose first line does not: cloud-init looks at the first line alone.
fn stray_carriage_return(content: &[u8]) -> Option<usize> {
    let mut lines = content.split_inclusive(|byte| *byte == b'\n');
    if lines.next()?.ends_with(b"\r\n") {
        return None;
    }
    lines.position(|line| line.ends_with(b"\r\n")).map(|index| index + 2)
}
