"""The launch template that EKS makes for itself from a group's own: named `eks-…`, with EKS's part of the user
data, and followed by
the auto scaling group. Source: EKS User Guide, "Customize managed nodes with launch templates"."""

import base64

from aws.ec2_template_writes import put_template, put_version
from aws.filters import tags_of

CREATED_BY = "arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAmazonEKSNodegroup/EKS"


def child_of(call, group):
    """The child's record, or None."""
    for record in call.region.launch_templates.values():
        tags = tags_of(record["template"])
        if (
            tags.get("eks:nodegroup-name") == group["nodegroupName"]
            and tags.get("eks:cluster-name") == group["clusterName"]
        ):
            return record
    return None


def put(call, group, data):
    """The child of a new group."""
    tags = [
        {"Key": "eks:cluster-name", "Value": group["clusterName"]},
        {"Key": "eks:nodegroup-name", "Value": group["nodegroupName"]},
    ]
    return put_template(call, f"eks-{call.world.new_uid()}", _merged(data), tags, created_by=CREATED_BY)


def follow(call, group):
    """A further version of the child after an update of the group."""
    child, data = child_of(call, group), {}
    if group["launchTemplate"]:
        own = call.region.launch_templates[group["launchTemplate"]["id"]]
        data = own["versions"][int(group["launchTemplate"]["version"])]["LaunchTemplateData"]
    if child is None:
        put(call, group, data)
        return
    version = put_version(call, child, _merged(data))
    child["template"]["DefaultVersionNumber"] = version["VersionNumber"]


def remove(call, group):
    """The child goes with its group."""
    child = child_of(call, group)
    if child:
        del call.region.launch_templates[child["template"]["LaunchTemplateId"]]


def _merged(data):
    """With an image EKS adds nothing to the user data; without, its own part comes along."""
    if data.get("ImageId"):
        return data
    part = b"# EKS's own part\n"
    merged = base64.b64decode(data.get("UserData", "")) + part
    return {**data, "ImageId": "ami-0eeeeeeeeeeeeeeee", "UserData": base64.b64encode(merged).decode()}
