//! Flags that kubelet no longer knows: it then does not start.

/// Flag and the minor version of Kubernetes 1.x that no longer has it. Source: Kubernetes changelogs, 1.24 (removal of
/// dockershim and of dynamic kubelet configuration) and 1.27 (`--container-runtime`).
const REMOVED: [(&str, u32); 10] = [
    ("--cni-bin-dir", 24),
    ("--cni-cache-dir", 24),
    ("--cni-conf-dir", 24),
    ("--container-runtime", 27),
    ("--docker-endpoint", 24),
    ("--dynamic-config-dir", 24),
    ("--experimental-dockershim-root-directory", 24),
    ("--image-pull-progress-deadline", 24),
    ("--network-plugin", 24),
    ("--network-plugin-mtu", 24),
];

/// The flags in a text that kubelet of that minor version does not know, each with the version that removed it.
/// Without a version every flag that some supported version lacks is named.
pub fn removed(flags: &str, kubernetes_minor: Option<u32>) -> Vec<(&'static str, u32)> {
    let names: Vec<&str> =
        flags.split_whitespace().map(|token| token.split_once('=').map_or(token, |(name, _)| name)).collect();
    REMOVED
        .into_iter()
        .filter(|(flag, since)| names.contains(flag) && kubernetes_minor.is_none_or(|minor| minor >= *since))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_the_past() {
        let flags =
            "--v=3 --image-pull-progress-deadline=30m --container-runtime remote --container-runtime-endpoint=x";
        assert_eq!(removed(flags, Some(31)), [("--container-runtime", 27), ("--image-pull-progress-deadline", 24)]);
        assert_eq!(removed(flags, Some(25)), [("--image-pull-progress-deadline", 24)]);
        assert_eq!(removed("--v=3", None), []);
    }
}
