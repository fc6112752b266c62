"""Managed node groups: creating, updating, deleting."""

import copy
import re
import time

from aws import children, eks_template_rules, eks_update, progress, roll, tokens
from aws.eks_cluster import cluster_of
from aws.eks_nodegroup import nodegroup_of
from aws.errors import AwsError
from aws.registry import operation

# The node-group API refuses labels under these, aws/containers-roadmap#1451.
RESERVED_LABELS = ("kubernetes.io/", "k8s.io/", "eks.amazonaws.com/")


def _needs_active_cluster(record):
    if record["cluster"]["status"] != "ACTIVE":
        name = record["cluster"]["name"]
        raise AwsError("InvalidRequestException", f"Cluster '{name}' is not in ACTIVE status", clusterName=name)


def _needs_settled(group):
    """EKS API reference: ResourceInUseException, the resource is in use; CREATING, UPDATING and DELETING are not
    settled."""
    if group["status"] not in ("ACTIVE", "DEGRADED"):
        raise AwsError(
            "ResourceInUseException",
            "Nodegroup cannot be updated as it is currently not in Active State",
            409,
            clusterName=group["clusterName"],
            nodegroupName=group["nodegroupName"],
        )


def _check_labels(labels):
    for key in labels or {}:
        prefix = key.rpartition("/")[0] + "/"
        if any(prefix == reserved or prefix.endswith(f".{reserved}") for reserved in RESERVED_LABELS):
            raise AwsError(
                "InvalidParameterException", f"Label cannot contain reserved prefixes [{', '.join(RESERVED_LABELS)}]"
            )


def _check_scaling(scaling):
    if not scaling:
        return
    least, most, wanted = scaling.get("minSize"), scaling.get("maxSize"), scaling.get("desiredSize")
    if None not in (least, most) and least > most:
        raise AwsError(
            "InvalidParameterException", f"Minimum capacity {least} can't be greater than maximum size {most}"
        )
    if None not in (wanted, most) and wanted > most:
        raise AwsError("InvalidParameterException", f"desired capacity {wanted} can't be greater than max size {most}")
    if None not in (least, wanted) and wanted < least:
        raise AwsError(
            "InvalidParameterException", f"Minimum capacity {least} can't be greater than desired size {wanted}"
        )


@operation("eks", "CreateNodegroup")
def create_nodegroup(call):
    return tokens.once(call, lambda: _create(call))


def _create(call):
    parameters, record = call.parameters, cluster_of(call)
    _needs_active_cluster(record)
    name, cluster = parameters["nodegroupName"], record["cluster"]["name"]
    if not re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z_-]{0,62}", name):
        # EKS API reference, CreateNodegroup, nodegroupName.
        raise AwsError(
            "InvalidParameterException",
            "The node group name must start with a letter or digit, include only letters, digits, hyphens and "
            "underscores, and be at most 63 characters long.",
        )
    if name in record["nodegroups"]:
        # EKS API reference, CreateNodegroup: ResourceInUseException, 409.
        raise AwsError(
            "ResourceInUseException",
            f"NodeGroup already exists with name {name} and cluster name {cluster}",
            409,
            clusterName=cluster,
            nodegroupName=name,
        )
    missing = [subnet for subnet in parameters["subnets"] if subnet not in call.region.subnets]
    if missing:
        raise AwsError(
            "InvalidParameterException",
            f"The subnet ID '{missing[0]}' does not exist",
            clusterName=cluster,
            nodegroupName=name,
        )
    _check_labels(parameters.get("labels"))
    _check_scaling(parameters.get("scalingConfig"))
    data, template = {}, None
    if "launchTemplate" in parameters:
        _, version, template = eks_template_rules.specification(call, parameters["launchTemplate"])
        data = version["LaunchTemplateData"]
        eks_template_rules.check(data)
        _check_with_template(parameters, data)
    group = _new_group(call, record, data, template)
    record["nodegroups"][name] = group
    children.put(call, group, data)
    progress.start(call, record, group, {"what": "nodegroup created"})
    return {"nodegroup": copy.deepcopy(group)}


def _check_with_template(parameters, data):
    """Source: EKS API reference, CreateNodegroup, launchTemplate and the parameters that exclude it."""
    if "diskSize" in parameters:
        # Reported in crossplane-contrib/provider-upjet-aws#866.
        raise AwsError("InvalidParameterException", "Disk size must be specified within the launch template.")
    if "remoteAccess" in parameters:
        # Reported in terraform-aws-modules/terraform-aws-eks#2219.
        raise AwsError(
            "InvalidParameterException", "Remote access configuration cannot be specified with a launch template."
        )
    if data.get("InstanceType") and parameters.get("instanceTypes"):
        # Reported in terraform-aws-modules/terraform-aws-eks#1386.
        raise AwsError("InvalidRequestException", "Cannot specify instance types in launch template and API request")
    if data.get("ImageId"):
        if parameters.get("amiType", "CUSTOM") != "CUSTOM":
            # Reported in pulumi/pulumi-eks#1463.
            raise AwsError(
                "InvalidParameterException",
                "You cannot specify an AMI Type other than CUSTOM, when specifying an image id in your launch "
                "template.",
            )
        _check_no_versions(parameters)


def _check_no_versions(parameters):
    # Reported in eksctl-io/eksctl#5999 and crossplane-contrib/provider-upjet-aws#976.
    for member, shown in (("version", "kubernetesVersion"), ("releaseVersion", "releaseVersion")):
        if member in parameters:
            raise AwsError("InvalidParameterException", f"You cannot specify the field {shown} when using custom AMIs.")


def _latest_release(call, version):
    return f"{version}.0-{call.settings['latest_release']}"


def _new_group(call, record, data, template):
    parameters, cluster = call.parameters, record["cluster"]
    version = parameters.get("version") or cluster["version"]
    release = data.get("ImageId") or parameters.get("releaseVersion") or _latest_release(call, version)
    kinds = parameters.get("instanceTypes") or (None if data.get("InstanceType") else ["t3.medium"])
    return {
        "nodegroupName": parameters["nodegroupName"],
        "nodegroupArn": call.arn(
            "eks", f"nodegroup/{cluster['name']}/{parameters['nodegroupName']}/{call.world.new_uid()}"
        ),
        "clusterName": cluster["name"],
        "version": version,
        "releaseVersion": release,
        "createdAt": int(time.time()),
        "modifiedAt": int(time.time()),
        "status": "CREATING",
        "capacityType": parameters.get("capacityType", "ON_DEMAND"),
        # EKS API reference, CreateNodegroup, scalingConfig: 2 nodes unless said otherwise.
        "scalingConfig": {"minSize": 1, "maxSize": 2, "desiredSize": 2, **parameters.get("scalingConfig", {})},
        "instanceTypes": kinds,
        "subnets": parameters["subnets"],
        "remoteAccess": parameters.get("remoteAccess"),
        "amiType": "CUSTOM" if data.get("ImageId") else parameters.get("amiType", "AL2023_x86_64_STANDARD"),
        "nodeRole": parameters["nodeRole"],
        "labels": parameters.get("labels", {}),
        "taints": parameters.get("taints"),
        "resources": {"autoScalingGroups": [{"name": f"eks-{parameters['nodegroupName']}-{call.world.new_uid()}"}]},
        "diskSize": None if template else parameters.get("diskSize", 20),
        "health": {"issues": []},
        "updateConfig": parameters.get("updateConfig", {"maxUnavailable": 1}),
        "launchTemplate": template,
        "tags": parameters.get("tags", {}),
    }


@operation("eks", "UpdateNodegroupVersion")
def update_nodegroup_version(call):
    return tokens.once(call, lambda: _update_version(call))


def _update_version(call):
    parameters, record = call.parameters, cluster_of(call)
    group = nodegroup_of(call, record)
    _needs_settled(group)
    done = {
        "what": "nodegroup updated",
        "version": group["version"],
        "release": group["releaseVersion"],
        "template": group["launchTemplate"],
    }
    data, shown = {}, []
    if "launchTemplate" in parameters:
        data = _other_template_version(call, group, done)
        shown += [
            ("LaunchTemplateName", done["template"]["name"]),
            ("LaunchTemplateVersion", done["template"]["version"]),
        ]
    elif group["amiType"] == "CUSTOM":
        # Reported in rancher/eks-operator#85.
        raise AwsError(
            "InvalidParameterException", "Launch template details can't be null for Custom ami type node group"
        )
    if data.get("ImageId"):
        _check_no_versions(parameters)
        done["release"] = data["ImageId"]
    else:
        done["version"] = parameters.get("version", group["version"])
        # EKS API reference, UpdateNodegroupVersion, releaseVersion: by default the latest available one is used.
        done["release"] = parameters.get("releaseVersion") or _latest_release(call, done["version"])
        # Releases of Bottlerocket and Windows count by their own versions, EKS User Guide, "Bottlerocket" and "Windows AMI versions".
        if group["amiType"].startswith("AL") and not done["release"].startswith(f"{done['version']}."):
            # Reported in hashicorp/terraform-provider-aws#14492.
            allowed = _latest_release(call, done["version"])
            raise AwsError(
                "InvalidParameterException",
                f"Requested Nodegroup release version {done['release']} is invalid. Allowed release version is "
                f"{allowed}",
            )
        shown += [("Version", done["version"]), ("ReleaseVersion", done["release"])]
    update = eks_update.start(call, record, group["nodegroupName"], "VersionUpdate", shown)
    group["status"] = "UPDATING"
    progress.start(call, record, group, {**done, "update": update["id"]})
    return {"update": copy.deepcopy(update)}


def _other_template_version(call, group, done):
    if not group["launchTemplate"]:
        # EKS User Guide, "Customize managed nodes with launch templates": groups without one cannot be updated to one.
        raise AwsError(
            "InvalidParameterException",
            "Cannot specify a launch template for a node group that was created without one.",
        )
    _, version, template = eks_template_rules.specification(call, call.parameters["launchTemplate"])
    if template["id"] != group["launchTemplate"]["id"]:
        # EKS API reference, UpdateNodegroupVersion, launchTemplate: only another version of the same template.
        raise AwsError(
            "InvalidParameterException",
            "Launch template cannot be replaced by another one; only its version can change.",
        )
    eks_template_rules.check(version["LaunchTemplateData"])
    was_custom, is_custom = group["amiType"] == "CUSTOM", bool(version["LaunchTemplateData"].get("ImageId"))
    if was_custom != is_custom:
        # EKS User Guide, "Update a managed node group": an AMI id can be neither added to nor taken from a group.
        raise AwsError(
            "InvalidParameterException", "You cannot change between a custom AMI and an Amazon EKS optimized AMI."
        )
    done["template"] = template
    return version["LaunchTemplateData"]


@operation("eks", "UpdateNodegroupConfig")
def update_nodegroup_config(call):
    return tokens.once(call, lambda: _update_config(call))


def _update_config(call):
    parameters, record = call.parameters, cluster_of(call)
    group = nodegroup_of(call, record)
    _needs_settled(group)
    labels, taints = parameters.get("labels", {}), parameters.get("taints", {})
    _check_labels(labels.get("addOrUpdateLabels"))
    scaling = {**group["scalingConfig"], **parameters.get("scalingConfig", {})}
    _check_scaling(scaling)
    update = eks_update.start(call, record, group["nodegroupName"], "ConfigUpdate", [])
    group["scalingConfig"] = scaling
    group["updateConfig"] = parameters.get("updateConfig", group["updateConfig"])
    kept = {key: value for key, value in group["labels"].items() if key not in labels.get("removeLabels", [])}
    group["labels"] = {**kept, **labels.get("addOrUpdateLabels", {})}
    gone = {
        (taint["key"], taint["effect"])
        for side in ("removeTaints", "addOrUpdateTaints")
        for taint in taints.get(side, [])
    }
    left = [taint for taint in group["taints"] or [] if (taint["key"], taint["effect"]) not in gone]
    group["taints"] = left + taints.get("addOrUpdateTaints", []) or None
    group["status"] = "UPDATING"
    progress.start(call, record, group, {"what": "nodegroup configured", "update": update["id"]})
    return {"update": copy.deepcopy(update)}


@operation("eks", "DeleteNodegroup")
def delete_nodegroup(call):
    record = cluster_of(call)
    group = nodegroup_of(call, record)
    roll.remove_nodes(call, group)
    children.remove(call, group)
    del record["nodegroups"][group["nodegroupName"]]
    return {"nodegroup": {**group, "status": "DELETING"}}


@progress.finisher("nodegroup created")
def _created(call, _, group, __):
    group["status"] = "ACTIVE"
    roll.replace_nodes(call, group)


@progress.finisher("nodegroup configured")
def _configured(_, record, group, done):
    group["status"] = "ACTIVE"
    record["updates"][done["update"]]["update"]["status"] = "Successful"


@progress.finisher("nodegroup updated")
def _updated(call, record, group, done):
    update = record["updates"][done["update"]]["update"]
    errors = call.settings["update_errors"].get(group["nodegroupName"])
    group["status"] = "ACTIVE"
    if errors:
        eks_update.fail(update, errors)
        return
    update["status"] = "Successful"
    group["version"], group["releaseVersion"], group["launchTemplate"] = (
        done["version"],
        done["release"],
        done["template"],
    )
    group["modifiedAt"] = int(time.time())
    children.follow(call, group)
    roll.replace_nodes(call, group)
