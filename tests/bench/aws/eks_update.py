"""Updates: what a change of a cluster, node group or add-on is followed by."""

import time

from aws import progress
from aws.eks_addon import addon_of
from aws.eks_cluster import cluster_of
from aws.eks_nodegroup import nodegroup_of
from aws.errors import AwsError
from aws.paging import eks_page
from aws.registry import operation


def start(call, record, subject_name, kind, parameters):
    """A new update in progress."""
    update = {
        "id": call.world.new_uid(),
        "status": "InProgress",
        "type": kind,
        "params": [{"type": name, "value": value} for name, value in parameters],
        "createdAt": round(time.time(), 6),
        "errors": [],
    }
    record["updates"][update["id"]] = {"update": update, "subject": subject_name}
    return update


def fail(update, errors):
    """Ends an update with errors."""
    update["status"] = "Failed"
    update["errors"] = errors


@operation("eks", "DescribeUpdate")
def describe_update(call):
    record = cluster_of(call)
    name = call.parameters.get("nodegroupName") or call.parameters.get("addonName")
    found = record["updates"].get(call.parameters["updateId"])
    if found is None or (name and found["subject"] != name):
        raise AwsError(
            "ResourceNotFoundException",
            f"No update found for ID: {call.parameters['updateId']}",
            404,
            clusterName=record["cluster"]["name"],
        )
    subject = record["nodegroups"].get(found["subject"]) or record["addons"].get(found["subject"])
    if subject is not None:
        progress.look(call, record, subject)
    return {"update": found["update"]}


@operation("eks", "ListUpdates")
def list_updates(call):
    record = cluster_of(call)
    if call.parameters.get("nodegroupName"):
        subject = nodegroup_of(call, record)["nodegroupName"]
    elif call.parameters.get("addonName"):
        subject = addon_of(call, record)["addonName"]
    else:
        subject = record["cluster"]["name"]
    return eks_page(
        call, [one for one, update in record["updates"].items() if update["subject"] == subject], "updateIds"
    )
