//! The CNI's own choice of ENIConfig for a node, with the rule that decided.
//!
//! Copied in behaviour from amazon-vpc-cni-k8s `pkg/eniconfig/eniconfig.go`: a label that only newer versions know, an
//! annotation, one label, the name `default`. Presence of the key counts, so an empty value wins and names nothing.
//! There is no fall-back to the zone's name unless the one label is the zone label.

pub mod behaviours;

use std::collections::BTreeMap;

use self::behaviours::LOOKS_AT_EXTERNAL_LABEL;
use crate::inventory::{CniSettings, Node};

/// Label that beats everything. Source: `pkg/eniconfig/eniconfig.go`, `externalEniConfigLabel`.
pub const EXTERNAL_ENI_CONFIG_LABEL: &str = "vpc.amazonaws.com/externalEniConfig";

/// ENIConfig of a node that names none. Source: `pkg/eniconfig/eniconfig.go`, `eniConfigDefault`.
pub const DEFAULT_ENI_CONFIG: &str = "default";

/// Zone label, as clusters with one pod subnet a zone use it for `ENI_CONFIG_LABEL_DEF`.
pub const ZONE_LABEL: &str = "topology.kubernetes.io/zone";

/// The same label under its old name, which nodes still carry.
pub const BETA_ZONE_LABEL: &str = "failure-domain.beta.kubernetes.io/zone";

/// Whether a label key is the zone label under either of its names.
pub fn is_zone_label(key: &str) -> bool {
    key == ZONE_LABEL || key == BETA_ZONE_LABEL
}

/// The place from which a node's ENIConfig name comes, in the CNI's order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The label [`EXTERNAL_ENI_CONFIG_LABEL`].
    ExternalLabel,
    /// The annotation of this key.
    Annotation(String),
    /// The label of this key.
    Label(String),
    /// Nothing was there; the name is [`DEFAULT_ENI_CONFIG`].
    Default,
}

/// What the CNI will look up for a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// Name of the ENIConfig; may be empty, and need not exist.
    pub eni_config: String,
    /// Where the name comes from.
    pub rule: Rule,
}

/// One place that the CNI looks at, and what it finds there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The place.
    pub rule: Rule,
    /// The value found; `None` when the key is absent.
    pub found: Option<String>,
}

/// All places in the CNI's order with what is found there. The first that is present decides.
pub fn looks(
    labels: &BTreeMap<String, String>,
    annotations: &BTreeMap<String, String>,
    settings: &CniSettings,
) -> Vec<Look> {
    let mut looks = Vec::new();
    if settings.version.is_none_or(|version| LOOKS_AT_EXTERNAL_LABEL.of(version)) {
        looks.push(Look { rule: Rule::ExternalLabel, found: labels.get(EXTERNAL_ENI_CONFIG_LABEL).cloned() });
    }
    let annotation = settings.annotation_key();
    looks.push(Look { rule: Rule::Annotation(annotation.into()), found: annotations.get(annotation).cloned() });
    let label = settings.label_key();
    looks.push(Look { rule: Rule::Label(label.into()), found: labels.get(label).cloned() });
    looks.push(Look { rule: Rule::Default, found: Some(DEFAULT_ENI_CONFIG.into()) });
    looks
}

/// The ENIConfig that the CNI will use for a node's next interface.
pub fn resolve(node: &Node, settings: &CniSettings) -> Resolution {
    looks(&node.labels, &node.annotations, settings)
        .into_iter()
        .find_map(|look| Some(Resolution { eni_config: look.found?, rule: look.rule }))
        .unwrap_or_else(|| Resolution { eni_config: DEFAULT_ENI_CONFIG.into(), rule: Rule::Default })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::CniVersion;

    fn node(labels: &[(&str, &str)], annotations: &[(&str, &str)]) -> Node {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        Node { labels: map(labels), annotations: map(annotations), ..Node::default() }
    }

    fn settings(version: (u32, u32), env: &[(&str, &str)]) -> CniSettings {
        CniSettings {
            env: env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            version: Some(CniVersion(version.0, version.1, 0)),
        }
    }

    const LABEL: &str = "k8s.amazonaws.com/eniConfig";

    #[test]
    fn external_label_beats_annotation_beats_label_beats_default() {
        let current = settings((1, 19), &[]);
        let all = node(&[(EXTERNAL_ENI_CONFIG_LABEL, "a"), (LABEL, "c")], &[(LABEL, "b")]);
        assert_eq!(resolve(&all, &current), Resolution { eni_config: "a".into(), rule: Rule::ExternalLabel });
        assert_eq!(resolve(&all, &settings((1, 10), &[])).eni_config, "b");
        let two = node(&[(LABEL, "b")], &[(LABEL, "a")]);
        assert_eq!(
            resolve(&two, &current),
            Resolution { eni_config: "a".into(), rule: Rule::Annotation(LABEL.into()) }
        );
        assert_eq!(
            resolve(&node(&[], &[]), &current),
            Resolution { eni_config: "default".into(), rule: Rule::Default }
        );
    }

    #[test]
    fn only_the_one_label_key_counts() {
        let zone_key = settings((1, 19), &[("ENI_CONFIG_LABEL_DEF", ZONE_LABEL)]);
        let labelled = node(&[(LABEL, "pod-1a"), (ZONE_LABEL, "eu-west-1a")], &[]);
        assert_eq!(resolve(&labelled, &zone_key).eni_config, "eu-west-1a");
        let without_zone = node(&[(LABEL, "pod-1a")], &[]);
        assert_eq!(resolve(&without_zone, &zone_key).eni_config, "default");
        assert_eq!(resolve(&labelled, &settings((1, 19), &[])).eni_config, "pod-1a");
    }

    #[test]
    fn an_empty_value_wins_and_an_empty_setting_does_not() {
        let current = settings((1, 19), &[("ENI_CONFIG_LABEL_DEF", "")]);
        assert_eq!(resolve(&node(&[(LABEL, "x")], &[(LABEL, "")]), &current).eni_config, "");
        assert_eq!(resolve(&node(&[(LABEL, "x")], &[]), &current).eni_config, "x");
    }
}
