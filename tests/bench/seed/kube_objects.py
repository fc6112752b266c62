"""The Kubernetes part of an inventory file."""

import json

from kube import defaults, definition, kinds, rollout
from kube.fields import encode

CREATED = "2025-11-30T12:00:00Z"


def put_kube(world, inventory):
    """ENIConfigs with their definition, aws-node, nodes."""
    store = world.kube
    store.cluster = inventory["cluster"]["name"]
    crd = inventory.get("eni_config_crd")
    store.clear(kinds.CRD)
    if crd is None:
        store.installed.discard(kinds.ENI_CONFIG.key)
    else:
        definition.put(world, crd.get("has_schema", False))
    for config in inventory.get("eni_configs", []):
        put_eni_config(world, config)
    for node in inventory.get("nodes", []):
        put_node(world, node)
    if inventory.get("aws_node"):
        put_aws_node(world, inventory["aws_node"])


def _metadata(world, name, source, namespace=None):
    metadata = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    metadata["uid"] = source.get("uid") or world.new_uid()
    metadata["resourceVersion"] = world.kube.next_version()
    metadata["creationTimestamp"] = source.get("created_at") or CREATED
    if source.get("generation") is not None:
        metadata["generation"] = source["generation"]
    for member in ("labels", "annotations"):
        if source.get(member):
            metadata[member] = dict(source[member])
    return metadata


def put_eni_config(world, config):
    """An ENIConfig, owned as the file says."""
    spec = {}
    if config.get("security_groups"):
        spec["securityGroups"] = list(config["security_groups"])
    if config.get("subnet") is not None:
        spec["subnet"] = config["subnet"]
    metadata = _metadata(world, config["name"], {"generation": 1, **config})
    managed = [
        _managed(
            kinds.ENI_CONFIG,
            manager,
            {tuple(f"f:{part}" for part in path.strip(".").split(".")) for path in manager.get("fields", [])},
        )
        for manager in config.get("managers", [])
    ]
    if managed:
        metadata["managedFields"] = managed
    world.kube.put(
        kinds.ENI_CONFIG,
        ("", config["name"]),
        {
            "apiVersion": kinds.ENI_CONFIG.api_version,
            "kind": "ENIConfig",
            "metadata": metadata,
            "spec": spec,
        },
    )


def _managed(kind, manager, fields):
    return {
        "manager": manager["manager"],
        "operation": manager["operation"],
        "apiVersion": kind.api_version,
        "time": CREATED,
        "fieldsType": "FieldsV1",
        "fieldsV1": encode(fields),
    }


CONTAINERS = ("f:spec", "f:template", "f:spec", "f:containers", 'k:{"name":"aws-node"}')


def put_aws_node(world, aws_node):
    """The DaemonSet; each manager owns the env entries that the file says it owns."""
    metadata = _metadata(world, "aws-node", {"generation": 1, **aws_node}, "kube-system")
    managed = []
    for manager in aws_node.get("managers", []):
        fields = set()
        for name in manager.get("fields", []):
            entry = (*CONTAINERS, "f:env", f"k:{json.dumps({'name': name}, separators=(',', ':'))}")
            fields |= {entry, (*entry, "f:name"), (*entry, "f:value")}
        managed.append(_managed(kinds.DAEMON_SET, manager, fields))
    if managed:
        metadata["managedFields"] = managed
    env = [{"name": name, "value": value} for name, value in sorted(aws_node.get("env", {}).items())]
    # Sources of values that are not literals: the stock manifest's own MY_NODE_NAME.
    env.append({"name": "MY_NODE_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}})
    labels = {"k8s-app": "aws-node"}
    nodes = len(world.kube.objects[kinds.NODE.key])
    daemon_set = {
        "kind": "DaemonSet",
        "apiVersion": "apps/v1",
        "metadata": metadata,
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "initContainers": [
                        {
                            "name": "aws-vpc-cni-init",
                            "image": "amazon-k8s-cni-init:v1",
                            "env": [{"name": "ENABLE_IPv6", "value": "false"}],
                        }
                    ],
                    "containers": [
                        {"name": "aws-node", "image": aws_node["image"], "env": env},
                        {
                            "name": "aws-eks-nodeagent",
                            "image": "aws-network-policy-agent:v1",
                            "env": [{"name": "MY_NODE_NAME", "value": "not aws-node's"}],
                        },
                    ],
                },
            },
        },
    }
    defaults.daemon_set(daemon_set)
    daemon_set["status"] = rollout.rolled_out(metadata["generation"], nodes)
    world.kube.put(kinds.DAEMON_SET, ("kube-system", "aws-node"), daemon_set)


def put_node(world, node):
    """A node as its kubelet registered it."""
    world.kube.put(kinds.NODE, ("", node["name"]), node_object(world, node))


def node_object(world, node):
    """A Node object from what the inventory keeps of one."""
    zone = (node.get("labels") or {}).get("topology.kubernetes.io/zone", "unknown")
    spec = {}
    if node.get("instance_id"):
        spec["providerID"] = f"aws:///{zone}/{node['instance_id']}"
    if node.get("unschedulable"):
        spec["unschedulable"] = True
    status = {
        "conditions": [{"type": "Ready", "status": "True" if node.get("ready") else "False", "reason": "KubeletReady"}],
        "addresses": [],
        "nodeInfo": {"osImage": node.get("os_image") or "", "operatingSystem": "linux", "architecture": "amd64"},
    }
    if node.get("internal_ip"):
        status["addresses"].append({"type": "InternalIP", "address": node["internal_ip"]})
    status["addresses"].append({"type": "Hostname", "address": node["name"]})
    if node.get("max_pods") is not None:
        status["capacity"] = {"pods": str(node["max_pods"])}
        status["allocatable"] = {"pods": str(node["max_pods"])}
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": _metadata(world, node["name"], node),
        "spec": spec,
        "status": status,
    }
