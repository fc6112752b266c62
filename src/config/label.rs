//! `spec.label`: how nodes name their ENIConfig.

use super::fault::{Fault, shown};
use super::kubernetes_names::{check_label_key, is_reserved_label_key};
use super::read::{Fields, text, word};
use super::tree::Entry;
use super::{LabelConfig, LabelDesign};

/// The node label that the CNI prefers to everything else. Source: amazon-vpc-cni-k8s `pkg/eniconfig/eniconfig.go`.
pub(super) const EXTERNAL_ENI_CONFIG_KEY: &str = "vpc.amazonaws.com/externalEniConfig";
/// The node label of the CNI's default `ENI_CONFIG_LABEL_DEF`. Source: the same file.
pub(super) const DEFAULT_LABEL_KEY: &str = "k8s.amazonaws.com/eniConfig";
/// The node label of the zone. Source: Kubernetes, "Well-Known Labels".
const ZONE_LABEL_KEY: &str = "topology.kubernetes.io/zone";

pub(super) const LABEL_KEYS: &[&str] = &["design", "key"];
pub(super) const LABEL_DESIGNS: &[(&str, LabelDesign)] =
    &[("own", LabelDesign::Own), ("override", LabelDesign::Override), ("zone", LabelDesign::Zone)];

pub(super) fn label(entry: &Entry) -> Result<LabelConfig, Fault> {
    let fields = Fields::new(&entry.value, entry.key.mark, "spec.label", LABEL_KEYS)?;
    let design = word(&fields.require("design", "design: own")?.value, "a label design", LABEL_DESIGNS)?;
    let Some(key_entry) = fields.get("key") else { return Ok(LabelConfig { design, key: None }) };
    let node = &key_entry.value;
    let key = text(node, "a label key")?;
    check_label_key(node, key)?;
    match (fixed_key(design), designed_by(key)) {
        (Some(fixed), _) if key != fixed => Err(Fault::new(
            node.mark,
            format!("the design `{}` has the label key `{fixed}` and no other", design.word()),
            "remove `key`, or write `design: own` to choose a key",
        )),
        (Some(_), _) => Ok(LabelConfig { design, key: None }),
        (None, Some(other)) => Err(Fault::new(
            node.mark,
            format!("`{key}` cannot be a key of the design `own`"),
            format!("write `design: {}` without a key, or choose another key", other.word()),
        )),
        (None, None) if is_reserved_label_key(key) => Err(Fault::new(
            node.mark,
            format!("`{}` belongs to Kubernetes; kubelets may not label their nodes with it", shown(key)),
            format!("write `{DEFAULT_LABEL_KEY}`, or a key under a domain of your own"),
        )),
        (None, None) => Ok(LabelConfig { design, key: Some(key.into()) }),
    }
}

/// The label key that a design prescribes.
fn fixed_key(design: LabelDesign) -> Option<&'static str> {
    match design {
        LabelDesign::Own => None,
        LabelDesign::Override => Some(EXTERNAL_ENI_CONFIG_KEY),
        LabelDesign::Zone => Some(ZONE_LABEL_KEY),
    }
}

fn designed_by(key: &str) -> Option<LabelDesign> {
    [LabelDesign::Override, LabelDesign::Zone].into_iter().find(|design| fixed_key(*design) == Some(key))
}
