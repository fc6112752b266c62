//! The schema says what the parser does.

use serde_json::Value;

use super::*;

/// Judges a document by the keywords of the schema that state shapes; patterns are left to the parser's own tests.
fn complaints(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        return complaints(root, root.pointer(&reference[1..]).expect("the reference leads somewhere"), value, path);
    }
    let mut found = Vec::new();
    let right_type = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some(other) => panic!("{path}: type {other}"),
        None => true,
    };
    if !right_type {
        found.push(format!("{path}: not of type {}", schema["type"]));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        found.push(format!("{path}: not one of {}", schema["enum"]));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        found.push(format!("{path}: not {}", schema["const"]));
    }
    if let Some(choices) = schema["anyOf"].as_array()
        && !choices.iter().any(|choice| complaints(root, choice, value, path).is_empty())
    {
        found.push(format!("{path}: no choice fits"));
    }
    if let (Some(number), Some(least), Some(most)) =
        (value.as_u64(), schema["minimum"].as_u64(), schema["maximum"].as_u64())
        && !(least..=most).contains(&number)
    {
        found.push(format!("{path}: not from {least} to {most}"));
    }
    if let Some(items) = value.as_array() {
        if items.len() < schema["minItems"].as_u64().map_or(0, |least| usize::try_from(least).unwrap()) {
            found.push(format!("{path}: too few"));
        }
        for (index, item) in items.iter().enumerate() {
            found.extend(complaints(root, &schema["items"], item, &format!("{path}[{index}]")));
        }
    }
    if let Some(members) = value.as_object() {
        for required in schema["required"].as_array().into_iter().flatten() {
            if !members.contains_key(required.as_str().unwrap()) {
                found.push(format!("{path}: no {required}"));
            }
        }
        for (name, member) in members {
            let path = format!("{path}.{name}");
            match schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]) {
                Value::Bool(false) => found.push(format!("{path}: unknown")),
                Value::Null => {}
                schema => found.extend(complaints(root, schema, member, &path)),
            }
        }
    }
    found
}

fn judge(text: &str) -> Vec<String> {
    let schema = json_schema().to_value();
    let value: Value = serde_saphyr::from_str(text).unwrap();
    complaints(&schema, &schema, &value, "$")
}

#[test]
fn good_documents_fit_the_schema() {
    for document in [EXAMPLE, DESCRIBED, &in_spec("  {}\n")] {
        assert_eq!(judge(document), Vec::<String>::new());
    }
}

#[test]
fn the_schema_refuses_unknown_keys_and_wrong_shapes() {
    let group = |text: &str| judge(&in_spec(&format!("  nodeGroups:\n    - {{name: web, {text}}}\n")));
    assert_eq!(judge(&in_spec("  nodegroups: []\n")), ["$.spec.nodegroups: unknown"]);
    assert_eq!(judge(&in_spec("  label: {key: a}\n")), ["$.spec.label: no \"design\""]);
    assert_eq!(judge(&in_spec("  cni: {env: {MAX_ENI: \"1\"}}\n")), ["$.spec.cni.env.MAX_ENI: unknown"]);
    assert_eq!(judge(&in_spec("  pools: {a: {subnets: []}}\n")), ["$.spec.pools.a.subnets: too few"]);
    assert_eq!(group("maxPods: 0"), ["$.spec.nodeGroups[0].maxPods: no choice fits"]);
    assert_eq!(group("weights: {pod-a: 1000001}"), ["$.spec.nodeGroups[0].weights: no choice fits"]);
    assert_eq!(group("amiFamily: Debian").len(), 1);
    assert_eq!(
        group("scaling: {min: 1, max: 0, desired: 1}"),
        ["$.spec.nodeGroups[0].scaling.max: not from 1 to 100000"]
    );
    assert_eq!(group("taints: [{key: a, effect: NO_SCHEDULE}]").len(), 1);
}

/// Every mapping with fixed keys has the same ones in the schema and in the parser.
#[test]
fn schema_and_parser_know_the_same_keys() {
    let schema = json_schema().to_value();
    let keys = |pointer: &str| -> Vec<String> {
        let object = schema.pointer(pointer).unwrap_or_else(|| panic!("{pointer}"));
        assert_eq!(object["additionalProperties"], false, "{pointer}");
        object["properties"].as_object().unwrap().keys().cloned().collect()
    };
    let group = [node_groups::PLANNED_KEYS, described::DESCRIBED_KEYS].concat();
    let of_group = |key: &str| format!("/$defs/nodeGroup/properties/{key}");
    assert_eq!(keys(""), parse::DOCUMENT_KEYS);
    assert_eq!(keys("/properties/metadata"), parse::METADATA_KEYS);
    assert_eq!(keys("/properties/spec"), parse::SPEC_KEYS);
    assert_eq!(keys("/properties/spec/properties/label"), label::LABEL_KEYS);
    assert_eq!(keys("/properties/spec/properties/cni"), parse::CNI_KEYS);
    assert_eq!(keys("/properties/spec/properties/phases/items"), crate::config::phases::PHASE_KEYS);
    assert_eq!(keys("/$defs/pool"), pools::POOL_KEYS);
    assert_eq!(keys("/$defs/pool/properties/subnets/items"), pools::POOL_SUBNET_KEYS);
    assert_eq!(keys("/$defs/nodeGroup"), group);
    assert_eq!(keys(&of_group("map/items")), node_groups::MAP_ROW_KEYS);
    assert_eq!(keys(&of_group("launchTemplate")), described::LAUNCH_TEMPLATE_KEYS);
    assert_eq!(keys(&of_group("scaling")), described::SCALING_KEYS);
    assert_eq!(keys(&of_group("taints/items")), described::TAINT_KEYS);
}

#[test]
fn every_part_of_the_schema_is_described() {
    fn walk(schema: &Value, path: &str) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            assert!(property["description"].is_string() || property["$ref"].is_string(), "{path}");
            walk(property, &path);
        }
        for next in ["items", "additionalProperties"] {
            if schema[next].is_object() {
                walk(&schema[next], path);
            }
        }
    }
    let schema = json_schema().to_value();
    walk(&schema, "$");
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        assert!(definition["description"].is_string(), "{name}");
        walk(definition, name);
    }
}
