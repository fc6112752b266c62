//! `--node-labels` in the flags of kubelet: whose labels they are, and taking some out.

/// The prefix of labels that EKS sets itself.
const EKS_PREFIX: &str = "eks.amazonaws.com/";
/// The one of them that users set as well, and that is harmless.
const NODE_GROUP: &str = "eks.amazonaws.com/nodegroup";

/// Label keys by which a node names its ENIConfig, besides a private one. Source: amazon-vpc-cni-k8s,
/// `pkg/eniconfig/eniconfig.go`.
pub const ENI_CONFIG_KEYS: [&str; 2] = ["k8s.amazonaws.com/eniConfig", "vpc.amazonaws.com/externalEniConfig"];

/// Whether EKS sets a label of that key itself, so that a copy of it goes stale: the copy names an old image or an old
/// version of the launch template, and EKS then waits in vain for the right one. Source: EKS User Guide, "Understand
/// each phase of node updates".
pub fn is_eks_owned(key: &str) -> bool {
    key.starts_with(EKS_PREFIX) && key != NODE_GROUP
}

/// Whether a label of that key chooses the ENIConfig of a node.
pub fn names_eni_config(key: &str, private_key: Option<&str>) -> bool {
    ENI_CONFIG_KEYS.contains(&key) || private_key == Some(key)
}

/// The labels in a text of flags, in order, as kubelet takes them: each `--node-labels` adds, a key without `=` has
/// the empty value.
pub fn labels(flags: &str) -> Vec<(String, String)> {
    values(flags)
        .into_iter()
        .flat_map(|(_, range)| flags.get(range).unwrap_or_default().split(','))
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        .filter(|(key, _)| !key.is_empty())
        .collect()
}

/// A text of flags without the labels that `drop` names; with those labels. Everything else stays as it is.
pub fn without(flags: &str, drop: impl Fn(&str) -> bool) -> (String, Vec<String>) {
    let mut kept = String::with_capacity(flags.len());
    let mut dropped = Vec::new();
    let mut at = 0;
    for (flag, value) in values(flags) {
        let (gone, stay): (Vec<&str>, Vec<&str>) = flags
            .get(value.clone())
            .unwrap_or_default()
            .split(',')
            .partition(|pair| drop(pair.split('=').next().unwrap_or_default().trim()));
        if gone.is_empty() {
            continue;
        }
        dropped.extend(gone.into_iter().map(str::to_owned));
        if stay.is_empty() {
            kept.push_str(flags.get(at..flag).unwrap_or_default());
            let rest = flags.get(value.end..).unwrap_or_default();
            let blanks = rest.len() - rest.trim_start().len();
            at = value.end + blanks;
            if blanks == rest.len() {
                kept.truncate(kept.trim_end().len());
            }
        } else {
            kept.push_str(flags.get(at..value.start).unwrap_or_default());
            kept.push_str(&stay.join(","));
            at = value.end;
        }
    }
    kept.push_str(flags.get(at..).unwrap_or_default());
    (kept, dropped)
}

/// A line with the labels of each `--node-labels` sorted: their order means nothing to kubelet.
pub(super) fn sorted(line: &str) -> String {
    let mut sorted = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("--node-labels=") {
        let end =
            after.find(|one: char| one.is_whitespace() || matches!(one, '"' | '\'' | '\\')).unwrap_or(after.len());
        let (labels, tail) = after.split_at(end);
        let mut labels: Vec<&str> = labels.split(',').collect();
        labels.sort_unstable();
        sorted.extend([before, "--node-labels=", &labels.join(",")]);
        rest = tail;
    }
    sorted.push_str(rest);
    sorted
}

/// Where `--node-labels` stand in a text of flags, each with the range of its value.
fn values(flags: &str) -> Vec<(usize, std::ops::Range<usize>)> {
    const FLAG: &str = "--node-labels";
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(index) = flags.get(from..).and_then(|rest| rest.find(FLAG)) {
        let start = from + index;
        let after = start + FLAG.len();
        from = after;
        let is_start =
            flags.get(..start).is_none_or(|before| before.is_empty() || before.ends_with(char::is_whitespace));
        let rest = flags.get(after..).unwrap_or_default();
        let value = match rest.strip_prefix('=') {
            Some(_) => after + 1,
            None if rest.starts_with(char::is_whitespace) => after + rest.len() - rest.trim_start().len(),
            None => continue,
        };
        if !is_start {
            continue;
        }
        let text = flags.get(value..).unwrap_or_default();
        let end = value + text.find(char::is_whitespace).unwrap_or(text.len());
        found.push((start, value..end));
        from = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_taken_out_and_the_rest_stays() {
        for (flags, expected, dropped) in [
            ("--node-labels=a=1,b=2 --v=3", "--node-labels=b=2 --v=3", vec!["a=1"]),
            ("--v=3 --node-labels=a=1", "--v=3", vec!["a=1"]),
            ("--node-labels=a=1 --v=3", "--v=3", vec!["a=1"]),
            ("--x  --node-labels a=1,c=3  --v=3", "--x  --node-labels c=3  --v=3", vec!["a=1"]),
            ("--node-labels=b=2 --node-labels=a=1,a=5", "--node-labels=b=2", vec!["a=1", "a=5"]),
            ("--node-labels=b=a", "--node-labels=b=a", vec![]),
            ("--other-node-labels=a=1", "--other-node-labels=a=1", vec![]),
            ("", "", vec![]),
        ] {
            let found = without(flags, |key| key == "a");
            assert_eq!(
                (found.0.as_str(), found.1),
                (expected, dropped.iter().map(|&one| one.to_owned()).collect()),
                "{flags}"
            );
        }
    }

    #[test]
    fn labels_add_up() {
        let found = labels("--node-labels=a=1,b= --v=3 --node-labels c");
        let found: Vec<(&str, &str)> = found.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(found, [("a", "1"), ("b", ""), ("c", "")]);
    }

    #[test]
    fn whose_labels_they_are() {
        assert!(is_eks_owned("eks.amazonaws.com/nodegroup-image"));
        assert!(is_eks_owned("eks.amazonaws.com/sourceLaunchTemplateVersion"));
        assert!(!is_eks_owned("eks.amazonaws.com/nodegroup"));
        assert!(names_eni_config("example.com/pods", Some("example.com/pods")));
        assert!(!names_eni_config("example.com/pods", None));
    }
}
