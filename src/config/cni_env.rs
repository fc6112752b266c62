//! `spec.cni.env`: the CNI settings that the file may manage, and values that the CNI will understand.

use std::collections::BTreeMap;

use super::fault::{Fault, nearest, shown};
use super::read::{found, key, mapping};
use super::tree::{Entry, Node, ScalarKind, Value};

/// How the CNI reads a setting.
#[derive(Clone, Copy)]
enum Setting {
    /// With Go's `strconv.ParseBool`; what that cannot read silently counts as the default.
    Switch { default: bool },
    /// With Go's `strconv.Atoi`; what that cannot read, and negative numbers, silently count as unset.
    Count,
}

/// What Go's `strconv.ParseBool` reads. Source: Go standard library, `strconv/atob.go`.
pub(super) const GO_BOOLEANS: [&str; 12] =
    ["true", "false", "True", "False", "TRUE", "FALSE", "t", "f", "T", "F", "1", "0"];

/// The settings. Sources: amazon-vpc-cni-k8s `pkg/ipamd/ipamd.go` (names, readers) and `config/master/aws-k8s-cni.yaml`
/// (defaults).
const SETTINGS: [(&str, Setting); 6] = [
    ("ENABLE_PREFIX_DELEGATION", Setting::Switch { default: false }),
    ("ENABLE_SUBNET_DISCOVERY", Setting::Switch { default: true }),
    ("MINIMUM_IP_TARGET", Setting::Count),
    ("WARM_ENI_TARGET", Setting::Count),
    ("WARM_IP_TARGET", Setting::Count),
    ("WARM_PREFIX_TARGET", Setting::Count),
];

/// The settings that the plan itself decides.
const DECIDED_BY_THE_PLAN: [(&str, &str); 3] = [
    ("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "remove it; the plan turns custom networking on"),
    ("ENI_CONFIG_LABEL_DEF", "remove it and set `spec.label` instead"),
    ("ENI_CONFIG_ANNOTATION_DEF", "remove it; the plan leaves annotations alone"),
];

/// The settings that the file may manage, each with its default where it is a boolean.
pub(super) fn settings() -> impl Iterator<Item = (&'static str, Option<bool>)> {
    SETTINGS.iter().map(|(name, setting)| match setting {
        Setting::Switch { default } => (*name, Some(*default)),
        Setting::Count => (*name, None),
    })
}

pub(super) fn cni_env(entry: &Entry) -> Result<BTreeMap<String, String>, Fault> {
    let place = "spec.cni.env";
    if let Value::List(_) = &entry.value.value {
        return Err(Fault::new(
            entry.value.mark,
            format!("expected a mapping for {place}, found a list"),
            "write `NAME: \"value\"` lines, without `- name:`",
        ));
    }
    let mut env = BTreeMap::new();
    for entry in mapping(&entry.value, entry.key.mark, place)? {
        let name = key(entry, place)?;
        let setting = setting(&entry.key, name)?;
        env.insert(name.into(), value(&entry.value, name, setting)?);
    }
    Ok(env)
}

fn setting(at: &Node, name: &str) -> Result<Setting, Fault> {
    if let Some((_, setting)) = SETTINGS.iter().find(|(known, _)| *known == name) {
        return Ok(*setting);
    }
    if let Some((_, help)) = DECIDED_BY_THE_PLAN.iter().find(|(known, _)| *known == name) {
        return Err(Fault::new(at.mark, format!("`{name}` is not set here: the plan decides it"), *help));
    }
    let decided = DECIDED_BY_THE_PLAN.iter().map(|(known, _)| *known);
    let names: Vec<&str> = settings().map(|(name, _)| name).collect();
    let help = match misspelling_of(name, names.iter().copied().chain(decided)) {
        Some(near) => match DECIDED_BY_THE_PLAN.iter().find(|(known, _)| *known == near) {
            Some((_, help)) => format!("if you mean `{near}`: {help}"),
            None => format!("did you mean `{near}`?"),
        },
        None => {
            format!("set it where aws-node is installed from; settings that may be managed here: {}", names.join(", "))
        }
    };
    Err(Fault::new(at.mark, format!("`{}` is not a CNI setting that eniplan manages", shown(name)), help))
}

/// Settings share long words, so that likeness alone would find a neighbour for every one of them: a misspelling
/// differs in two letters at most.
fn misspelling_of<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let upper = name.to_uppercase();
    nearest(name, known.filter(|known| strsim::damerau_levenshtein(&upper, known) <= 2))
}

/// The value as the text that goes into the container's environment.
fn value(node: &Node, name: &str, setting: Setting) -> Result<String, Fault> {
    let Value::Scalar(scalar) = &node.value else {
        return Err(Fault::new(
            node.mark,
            format!("expected the value of `{name}`, found {}", found(node)),
            format!("write {}", example(name, setting)),
        ));
    };
    let value = scalar.text.as_str();
    let understood = match setting {
        Setting::Switch { .. } => GO_BOOLEANS.contains(&value),
        Setting::Count => {
            !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) && value.parse::<u32>().is_ok()
        }
    };
    match (understood, scalar.kind) {
        (true, ScalarKind::Text) => Ok(value.into()),
        (true, _) => Err(Fault::new(
            node.mark,
            format!("the value of `{name}` must be a text, found {}", found(node)),
            format!("quote it: `{name}: \"{value}\"`"),
        )),
        (false, _) => Err(Fault::new(node.mark, misread(node, value, name, setting), meant(value, name, setting))),
    }
}

fn misread(node: &Node, value: &str, name: &str, setting: Setting) -> String {
    match setting {
        Setting::Switch { default } => {
            let default = if default { "on" } else { "off" };
            let found = if value.is_empty() { found(node) } else { format!("`{}`", shown(value)) };
            format!("the CNI does not read {found} as a boolean and would take `{name}` for its default, {default}")
        }
        Setting::Count => {
            format!("expected a whole number for `{name}`, found {}: the CNI would ignore it", found(node))
        }
    }
}

fn meant(value: &str, name: &str, setting: Setting) -> String {
    match (setting, value.to_ascii_lowercase().as_str()) {
        (Setting::Switch { .. }, "yes" | "y" | "on" | "enabled" | "true") => format!("write `{name}: \"true\"`"),
        (Setting::Switch { .. }, "no" | "n" | "off" | "disabled" | "false") => format!("write `{name}: \"false\"`"),
        _ => format!("write {}", example(name, setting)),
    }
}

fn example(name: &str, setting: Setting) -> String {
    match setting {
        Setting::Switch { .. } => format!("`{name}: \"true\"` or `{name}: \"false\"`"),
        Setting::Count => format!("a number in quotes, such as `{name}: \"1\"`"),
    }
}
