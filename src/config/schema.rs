//! JSON Schema of the file, for editors. It states shapes; what one part of the file says about another is left to
//! [`Config::from_yaml`](super::Config::from_yaml). Words, limits and keys come from the modules that read them.

use serde_json::{Map, Value, json};

use super::cni_env::{GO_BOOLEANS, settings};
use super::described::{AMI_FAMILIES, DEFAULT_VERSION, NODES_LIMIT, TAINT_EFFECTS};
use super::label::{DEFAULT_LABEL_KEY, LABEL_DESIGNS};
use super::node_groups::{MAX_PODS_LIMIT, MAX_PODS_WORDS, ON_NO_MATCH, STRATEGIES, WEIGHT_LIMIT, WEIGHT_WORDS};
use super::parse::{API_VERSION, KIND};
use super::phases::LONGEST_PHASE_NAME;
use super::pools::POOL_NAMES;

const CIDR: &str = r"^([0-9]{1,3}\.){3}[0-9]{1,3}/([0-9]|[12][0-9]|3[0-2])$";
const ENI_CONFIG_NAME: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
const LABEL_KEY: &str = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
const LABEL_VALUE: &str = r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$";
const ROLE_ARN: &str = r"^arn:aws[-a-z]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]*[A-Za-z0-9+=,.@_-]$";
const IMAGE_ID: &str = r"^(ami-[0-9a-f]{8,17}|resolve:ssm:[A-Za-z0-9_.:/-]+)$";
const REGION: &str = r"^[a-z]+(-[a-z]+)+-[0-9]{1,2}$";
const INSTANCE_TYPE: &str = r"^[a-z0-9-]+\.[a-z0-9-]+$";

/// JSON Schema (draft 2020-12) of `eniplan.yaml`.
pub fn json_schema() -> schemars::Schema {
    let root = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "eniplan.yaml",
        "description": "Which ENIConfig the nodes of each node group of an Amazon EKS cluster use.",
        "type": "object",
        "properties": {
            "apiVersion": { "description": "Version of this format.", "const": API_VERSION },
            "kind": { "description": "The only kind.", "const": KIND },
            "metadata": metadata(),
            "spec": spec(),
        },
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": false,
        "$defs": {
            "subnetId": id("subnet", "Subnet id."),
            "securityGroupIds": list(id("sg", "Security group id."), 0, "Security groups; an empty list means those of the node."),
            "eniConfigName": {
                "description": "Name of an ENIConfig: a Kubernetes object name that is a label value too.",
                "type": "string", "pattern": ENI_CONFIG_NAME, "maxLength": 63, "not": { "const": "eniplan-no-match" },
            },
            "nodeGroupName": {
                "description": "Name of a node group.",
                "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$", "maxLength": 63,
            },
            "labelValue": { "description": "Label value; may be empty.", "type": "string", "pattern": LABEL_VALUE },
            "pool": pool(),
            "nodeGroup": node_group(),
        },
    });
    match root {
        Value::Object(root) => root.into(),
        _ => Map::new().into(),
    }
}

fn metadata() -> Value {
    let properties = json!({
        "name": {
            "description": "Name of the EKS cluster.",
            "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$", "maxLength": 100,
        },
        "region": {
            "description": "Region of the cluster. Default: that of the AWS profile or environment.",
            "type": "string", "pattern": REGION,
        },
    });
    object("The cluster.", properties, &["name"])
}

fn spec() -> Value {
    let label = json!({
        "design": {
            "description": "`own`: nodes carry a label of the cluster's own key. `override`: the cluster stays on the \
                zone label and planned groups carry vpc.amazonaws.com/externalEniConfig. `zone`: ENIConfigs are named \
                by zone and no label is needed.",
            "enum": words(LABEL_DESIGNS),
        },
        "key": {
            "description": "Label key of the design `own`.",
            "type": "string", "pattern": LABEL_KEY, "default": DEFAULT_LABEL_KEY,
        },
    });
    let env = object("Settings of aws-node, as texts. Every other setting stays as it is.", cni_settings(), &[]);
    let properties = json!({
        "securityGroups": described(
            reference("securityGroupIds"),
            "Security groups of pods where a pool names none. Default: the cluster security group.",
        ),
        "label": object("How nodes name their ENIConfig. Default: what suits the cluster as it is.", label, &["design"]),
        "cni": object("CNI settings to manage besides custom networking.", json!({ "env": env }), &[]),
        "pools": {
            "description": "Named sets of pod subnets.",
            "type": "object", "additionalProperties": reference("pool"),
        },
        "nodeGroups": list(reference("nodeGroup"), 0, "Node groups to plan."),
        "ignore": unique(list(reference("nodeGroupName"), 0, "Managed node groups to leave alone.")),
        "phases": list(phase(), 1, "How this grows: every phase adds to the spec and to the phases before it."),
        "currentPhase": described(phase_name(), "The phase to plan where none is named. Default: the spec without any phase."),
    });
    object("What is wanted.", properties, &[])
}

fn phase() -> Value {
    let further = object(
        "Further subnets of a pool that is there.",
        json!({ "subnets": list(pool_subnet(), 1, "Pod subnets by id.") }),
        &["subnets"],
    );
    let properties = json!({
        "name": described(phase_name(), "Name of the phase."),
        "pools": {
            "description": "New pools, and further subnets of pools that are there.",
            "type": "object", "additionalProperties": { "anyOf": [reference("pool"), further] },
        },
        "nodeGroups": list(
            reference("nodeGroup"), 0, "New node groups, and what changes for those that are there, such as `scaling`.",
        ),
    });
    object("A phase.", properties, &["name"])
}

fn phase_name() -> Value {
    json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]*$", "maxLength": LONGEST_PHASE_NAME })
}

fn pool_subnet() -> Value {
    let properties = json!({
        "id": reference("subnetId"),
        "name": described(reference("eniConfigName"), "Name of the ENIConfig, where the pool has no `names`."),
    });
    object("A pod subnet.", properties, &["id"])
}

fn pool() -> Value {
    let properties = json!({
        "names": {
            "description": "How ENIConfigs are called: like the subnet's zone, or like its Name tag.",
            "enum": words(POOL_NAMES),
        },
        "subnets": list(pool_subnet(), 1, "Pod subnets by id."),
        "subnetTags": {
            "description": "Pod subnets by tag: those that have all of these.",
            "type": "object", "minProperties": 1,
            "propertyNames": { "minLength": 1, "maxLength": 128 },
            "additionalProperties": { "type": "string", "maxLength": 256 },
        },
        "securityGroups": described(reference("securityGroupIds"), "Security groups of the pool's pods."),
    });
    let mut pool = object("Pod subnets, one or more in each zone.", properties, &[]);
    extend(&mut pool, json!({ "oneOf": [{ "required": ["subnets"] }, { "required": ["subnetTags"] }] }));
    pool
}

fn node_group() -> Value {
    let mut properties = planned();
    extend(&mut properties, describing());
    let mut group = object("A node group.", properties, &["name"]);
    let rules = json!({
        "not": { "required": ["pools", "map"] },
        "dependentRequired": { "weights": ["strategy"] },
    });
    extend(&mut group, rules);
    group
}

fn planned() -> Value {
    let row = json!({
        "cidr": { "description": "CIDR of a node subnet, or of a network that holds several.", "type": "string", "pattern": CIDR },
        "eniConfigs": unique(list(reference("eniConfigName"), 1, "ENIConfigs of nodes there.")),
    });
    json!({
        "name": reference("nodeGroupName"),
        "pools": unique(list(json!({ "type": "string" }), 1, "Pools that it draws from. Default: the pool `default`.")),
        "map": list(object("A row.", row, &["cidr", "eniConfigs"]), 1, "Instead of pools: which ENIConfigs belong to which node subnet."),
        "strategy": {
            "description": "How a node picks among several candidates.",
            "enum": words(STRATEGIES), "default": "pinned",
        },
        "weights": {
            "description": "Under `hash`: what a candidate's share follows, or numbers by ENIConfig name.",
            "default": "capacity",
            "anyOf": [
                { "enum": WEIGHT_WORDS },
                {
                    "type": "object", "minProperties": 1,
                    "propertyNames": reference("eniConfigName"),
                    "additionalProperties": { "type": "integer", "minimum": 0, "maximum": WEIGHT_LIMIT },
                },
            ],
        },
        "maxPods": {
            "description": "`auto`: by the formula, where EKS would get it wrong. `eks`: left to EKS. Or a number.",
            "default": "auto",
            "anyOf": [{ "enum": MAX_PODS_WORDS }, { "type": "integer", "minimum": 1, "maximum": MAX_PODS_LIMIT }],
        },
        "onNoMatch": {
            "description": "What a node does whose subnet is in no row: stay NotReady, or use the ENIConfig called like its zone.",
            "enum": words(ON_NO_MATCH), "default": "fail",
        },
        "adopt": {
            "description": "Whether a launch template that eniplan did not make may get a new version.",
            "type": "boolean", "default": false,
        },
        "successor": described(
            reference("nodeGroupName"),
            "Name of the group that is to replace this one, where this one has no launch template.",
        ),
    })
}

fn describing() -> Value {
    let launch_template = json!({
        "id": id("lt", "Launch template id."),
        "version": {
            "description": "Version: a number, `$Latest` or `$Default`.",
            "default": DEFAULT_VERSION,
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "string", "pattern": r"^([1-9][0-9]*|\$Latest|\$Default)$" },
            ],
        },
    });
    let size = |description: &str, least: u32| json!({ "description": description, "type": "integer", "minimum": least, "maximum": NODES_LIMIT });
    let scaling = json!({ "min": size("Fewest nodes.", 0), "max": size("Most nodes.", 1), "desired": size("Nodes at first.", 0) });
    let taint = json!({
        "key": { "description": "Key.", "type": "string", "pattern": LABEL_KEY },
        "value": described(reference("labelValue"), "Value; may be left out."),
        "effect": { "description": "Effect, as Kubernetes spells it.", "enum": words(TAINT_EFFECTS) },
    });
    let instance_type = json!({ "type": "string", "pattern": INSTANCE_TYPE });
    json!({
        "managed": {
            "description": "`false`: nodes of an Auto Scaling group of your own.",
            "type": "boolean", "default": true,
        },
        "amiFamily": { "description": "AMI family, where it cannot be told from the image.", "enum": words(AMI_FAMILIES) },
        "imageId": { "description": "AMI id, or `resolve:ssm:` and a parameter.", "type": "string", "pattern": IMAGE_ID },
        "launchTemplate": object("Launch template of the group.", launch_template, &["id"]),
        "subnets": unique(list(reference("subnetId"), 1, "Node subnets.")),
        "instanceTypes": unique(list(instance_type, 1, "Instance types.")),
        "nodeRole": { "description": "ARN of the node role.", "type": "string", "pattern": ROLE_ARN },
        "scaling": object("Numbers of nodes, min ≤ desired ≤ max.", scaling, &["min", "max", "desired"]),
        "labels": {
            "description": "Labels of the nodes, besides the one that names the ENIConfig.",
            "type": "object",
            "propertyNames": { "pattern": LABEL_KEY },
            "additionalProperties": reference("labelValue"),
        },
        "taints": list(object("A taint.", taint, &["key", "effect"]), 0, "Taints of the nodes."),
    })
}

fn cni_settings() -> Value {
    settings()
        .map(|(name, switch)| {
            let schema = match switch {
                Some(default) => json!({ "description": "A boolean, as a text.", "enum": GO_BOOLEANS, "default": default.to_string() }),
                None => json!({ "description": "A whole number, as a text.", "type": "string", "pattern": "^[0-9]{1,9}$" }),
            };
            (name.to_owned(), schema)
        })
        .collect()
}

fn object(description: &str, properties: Value, required: &[&str]) -> Value {
    let mut object = json!({ "description": description, "type": "object", "properties": properties });
    if !required.is_empty() {
        extend(&mut object, json!({ "required": required }));
    }
    extend(&mut object, json!({ "additionalProperties": false }));
    object
}

fn list(items: Value, least: usize, description: &str) -> Value {
    let mut list = json!({ "description": description, "type": "array", "items": items });
    if least > 0 {
        extend(&mut list, json!({ "minItems": least }));
    }
    list
}

fn unique(mut list: Value) -> Value {
    extend(&mut list, json!({ "uniqueItems": true }));
    list
}

fn id(prefix: &str, description: &str) -> Value {
    json!({ "description": description, "type": "string", "pattern": format!("^{prefix}-[0-9a-f]{{8,17}}$") })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn described(mut schema: Value, description: &str) -> Value {
    extend(&mut schema, json!({ "description": description }));
    schema
}

fn words<T>(table: &[(&str, T)]) -> Vec<Value> {
    table.iter().map(|(word, _)| Value::from(*word)).collect()
}

/// Adds the members of one object to another.
fn extend(schema: &mut Value, more: Value) {
    if let (Value::Object(schema), Value::Object(more)) = (schema, more) {
        schema.extend(more);
    }
}
