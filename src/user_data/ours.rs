//! Which parts are ours: those that hold our marker line, wherever they stand.

use super::kind::TOML;
use super::merge::bottlerocket;
use super::mime::Part;

/// How a marker line starts. The name of the part follows: `# eniplan.dev/part: al2023-boot`.
pub const MARKER: &str = "# eniplan.dev/part:";

/// Whether a part is ours. A TOML document is ours when nothing in it is the user's.
pub fn is_ours(part: &Part) -> bool {
    let is_marked = marker_name(&part.content()).is_some();
    is_marked && (!part.is(TOML) || bottlerocket::foreign(&part.content()).trim_ascii().is_empty())
}

/// The name behind the first marker line of a body.
pub fn marker_name(body: &[u8]) -> Option<String> {
    body.split(|byte| *byte == b'\n').find_map(|line| {
        let name = line.strip_prefix(MARKER.as_bytes())?;
        Some(String::from_utf8_lossy(name.trim_ascii()).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_stands_at_the_start_of_a_line() {
        let part = |body: &str| Part::new("text/x-shellscript", body.as_bytes().to_vec());
        assert!(is_ours(&part("#!/bin/bash\n# eniplan.dev/part: al2023-boot\n")));
        assert!(is_ours(&part("#!/bin/bash\r\n# eniplan.dev/part: al2023-boot\r\n")));
        assert!(!is_ours(&part("#!/bin/bash\necho '# eniplan.dev/part: al2023-boot'\n")));
        assert_eq!(marker_name(b"# eniplan.dev/part: node-config\nkind: NodeConfig\n").as_deref(), Some("node-config"));
    }
}
