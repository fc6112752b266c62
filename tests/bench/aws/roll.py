"""The nodes of a managed group: made with it, replaced when its template or release changes, gone with it."""

from kube import kinds
from kube.reading import load
from machine import node


def _names(call, group):
    nodes = call.world.kube.objects[kinds.NODE.key]
    return [name for (_, name), value in list(nodes.items()) if _is_of(load(value), group["nodegroupName"])]


def _is_of(value, group):
    return (value["metadata"].get("labels") or {}).get("eks.amazonaws.com/nodegroup") == group


def replace_nodes(call, group):
    """New nodes as the group is now, spread over its subnets, in place of the old ones."""
    if not call.settings["nodes_follow"]:
        return
    remove_nodes(call, group)
    data = {}
    if group["launchTemplate"]:
        record = call.region.launch_templates[group["launchTemplate"]["id"]]
        data = record["versions"][int(group["launchTemplate"]["version"])]["LaunchTemplateData"]
    for at in range(group["scalingConfig"]["desiredSize"]):
        node.launch(call, group, data, group["subnets"][at % len(group["subnets"])])


def remove_nodes(call, group):
    """All nodes of the group go."""
    for name in _names(call, group):
        node.terminate(call, name)
