"""The vpc-cni add-on: its environment, and the schema of its configuration values.

Source: amazon-vpc-cni-k8s `config/master/aws-k8s-cni.yaml` for the defaults; the add-on's schema as the AWS CLI
reference shows it for
describe-addon-configuration: every value of `env` is a string, `eniConfig` wants create, region and subnets.
"""

import json

import yaml

from aws.errors import AwsError

DEFAULT_ENV = {
    "ADDITIONAL_ENI_TAGS": "{}",
    "ANNOTATE_POD_IP": "false",
    "AWS_VPC_CNI_NODE_PORT_SUPPORT": "true",
    "AWS_VPC_ENI_MTU": "9001",
    "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "false",
    "AWS_VPC_K8S_CNI_EXTERNALSNAT": "false",
    "AWS_VPC_K8S_CNI_LOGLEVEL": "DEBUG",
    "AWS_VPC_K8S_CNI_LOG_FILE": "/host/var/log/aws-routed-eni/ipamd.log",
    "AWS_VPC_K8S_CNI_RANDOMIZESNAT": "prng",
    "AWS_VPC_K8S_CNI_VETHPREFIX": "eni",
    "AWS_VPC_K8S_PLUGIN_LOG_FILE": "/var/log/aws-routed-eni/plugin.log",
    "AWS_VPC_K8S_PLUGIN_LOG_LEVEL": "DEBUG",
    "DISABLE_INTROSPECTION": "false",
    "DISABLE_METRICS": "false",
    "DISABLE_NETWORK_RESOURCE_PROVISIONING": "false",
    "ENABLE_IMDS_ONLY_MODE": "false",
    "ENABLE_IPv4": "true",
    "ENABLE_IPv6": "false",
    "ENABLE_MULTI_NIC": "false",
    "ENABLE_POD_ENI": "false",
    "ENABLE_PREFIX_DELEGATION": "false",
    "ENABLE_SUBNET_DISCOVERY": "true",
    "NETWORK_POLICY_ENFORCING_MODE": "standard",
    "WARM_ENI_TARGET": "1",
    "WARM_PREFIX_TARGET": "1",
}
FURTHER_ENV = (
    "AWS_EXTERNAL_SERVICE_CIDRS",
    "AWS_MANAGE_ENIS_NON_SCHEDULABLE",
    "AWS_VPC_K8S_CNI_EXCLUDE_SNAT_CIDRS",
    "AWS_VPC_K8S_CNI_LOG_LEVEL",
    "CLUSTER_ENDPOINT",
    "CLUSTER_NAME",
    "DISABLE_LEAKED_ENI_CLEANUP",
    "DISABLE_POD_V6",
    "ENABLE_BANDWIDTH_PLUGIN",
    "ENABLE_NFTABLES",
    "ENABLE_V4_EGRESS",
    "ENI_CONFIG_ANNOTATION_DEF",
    "ENI_CONFIG_LABEL_DEF",
    "INTROSPECTION_BIND_ADDRESS",
    "IP_COOLDOWN_PERIOD",
    "MAX_ENI",
    "MINIMUM_IP_TARGET",
    "POD_MTU",
    "POD_SECURITY_GROUP_ENFORCING_MODE",
    "WARM_IP_TARGET",
)
TOP_LEVEL = {
    "additionalProperties": False,
    "type": "object",
    "properties": {
        "affinity": {"type": ["object", "null"]},
        "enableNetworkPolicy": {"type": "string"},
        "enableWindowsIpam": {"type": "string"},
        "eniConfig": {
            "type": "object",
            "additionalProperties": False,
            "required": ["create", "region", "subnets"],
            "properties": {
                "create": {"type": "boolean"},
                "region": {"type": "string"},
                "subnets": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["id"],
                        "properties": {
                            "id": {"type": "string"},
                            "securityGroups": {"type": "array", "items": {"type": "string"}},
                        },
                    },
                },
            },
        },
        "env": {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: {"type": "string"} for name in sorted({*DEFAULT_ENV, *FURTHER_ENV})},
        },
        "init": {"type": "object"},
        "livenessProbeTimeoutSeconds": {"type": "integer"},
        "nodeAgent": {"type": "object"},
        "podAnnotations": {"type": "object"},
        "podLabels": {"type": "object"},
        "readinessProbeTimeoutSeconds": {"type": "integer"},
        "resources": {"type": "object"},
        "tolerations": {"type": "array"},
    },
}
SCHEMA = json.dumps(
    {
        "$ref": "#/definitions/VpcCni",
        "$schema": "http://json-schema.org/draft-06/schema#",
        "definitions": {"VpcCni": TOP_LEVEL},
    }
)
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "null": type(None)}


def parse(text):
    """The configuration values as a dictionary; refused as EKS refuses them when they do not fit the schema."""
    if not text:
        return {}
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise _refused("values is not a valid JSON or YAML document") from error
    problems = list(_problems(TOP_LEVEL, values, "$"))
    if problems:
        # As users report it, aws-ia/terraform-aws-eks-blueprints and aws/containers-roadmap.
        raise _refused(f"Json schema validation failed with error: [{', '.join(problems)}]")
    return values


def _refused(why):
    return AwsError("InvalidParameterException", f"ConfigurationValue provided in request is not supported: {why}")


def _problems(schema, value, path):
    kinds = schema.get("type", "object")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if not any(
        isinstance(value, TYPES[kind]) and not (kind == "integer" and isinstance(value, bool)) for kind in kinds
    ):
        yield f"{path}: {type(value).__name__} found, {kinds[0]} expected"
        return
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{path}.{name}: is missing but it is required"
        if len(value) < schema.get("minProperties", 0):
            yield f"{path}: must have at least a minimum of {schema['minProperties']} properties"
        known, other = schema.get("properties", {}), schema.get("additionalProperties", True)
        for name, inner in value.items():
            if name in known:
                yield from _problems(known[name], inner, f"{path}.{name}")
            elif other is False:
                yield f"{path}.{name}: is not defined in the schema and the schema does not allow additional properties"
            elif isinstance(other, dict):
                yield from _problems(other, inner, f"{path}.{name}")
    for at, inner in enumerate(value if isinstance(value, list) else ()):
        if "items" in schema:
            yield from _problems(schema["items"], inner, f"{path}[{at}]")
