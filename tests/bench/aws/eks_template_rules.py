"""What EKS refuses of a launch template in a managed node group. Source: EKS User Guide, "Customize managed nodes
with launch
templates", the table of prohibited settings; messages, where they are quoted, as users report them (see each)."""

import base64

from aws import ec2_templates
from aws.ec2_template_rules import USER_DATA_LIMIT
from aws.errors import AwsError


def specification(call, sent):
    """The template record, its version and the resolved specification that a call names."""
    if bool(sent.get("id")) == bool(sent.get("name")):
        # Reported in aws-controllers-k8s/community#2645 and eksctl-io/eksctl#3104.
        raise AwsError(
            "InvalidParameterException", "Either provide launch template ID or launch template name in the request."
        )
    try:
        record = ec2_templates.template_of(call, sent.get("id"), sent.get("name"))
        version = ec2_templates.version_of(call, record, sent.get("version", "$Default"))
    except AwsError as error:
        # EKS hands EC2's words on.
        raise AwsError("InvalidRequestException", error.message) from error
    template = record["template"]
    resolved = {
        "id": template["LaunchTemplateId"],
        "name": template["LaunchTemplateName"],
        "version": str(version["VersionNumber"]),
    }
    return record, version, resolved


def check(data):
    """Raises for the first prohibited setting, as EKS does: one at a time."""
    interfaces = data.get("NetworkInterfaces", [])
    prohibited = [
        (
            "IamInstanceProfile" in data,
            "Launch template should not specify an instance profile. The noderole in your request will be used "
            "to construct an instance profile.",
        ),
        (
            any("SubnetId" in one for one in interfaces),
            "Launch template should not specify a subnet in its network interfaces.",
        ),
        (
            data.get("InstanceMarketOptions", {}).get("MarketType") == "spot",
            "Launch template should not specify spot options. Use the capacity type of the node group.",
        ),
        ("InstanceInitiatedShutdownBehavior" in data, "Launch template should not specify a shutdown behavior."),
        (data.get("HibernationOptions", {}).get("Configured"), "Launch template should not specify hibernation."),
        (
            interfaces and data.get("SecurityGroupIds"),
            "Launch template should not specify security groups both in network interfaces and in the instance "
            "settings.",
        ),
        (data.get("InstanceRequirements"), "Launch template should not specify instance requirements."),
    ]
    for wrong, message in prohibited:
        if wrong:
            raise AwsError("InvalidParameterException", message)
    if not data.get("ImageId"):
        _check_user_data(base64.b64decode(data.get("UserData", "")))


def _check_user_data(user_data):
    """EKS merges its own part in, so what is there must be mergeable and leave room. Source: EKS User Guide,
    "Specifying user data":
    MIME multi-part without an AMI id (TOML for Bottlerocket)."""
    if not user_data:
        return
    text = user_data.lstrip()
    is_mime = text[:200].lower().startswith((b"mime-version:", b"content-type:"))
    if not is_mime and (text.startswith(b"#!") or text.startswith(b"#cloud-config")):
        raise AwsError(
            "InvalidRequestException",
            "User data was not in the MIME multipart format.",
        )
    # EKS adds 2 to 3 KB; the sum has to stay below EC2's limit.
    if len(user_data) + 2_048 > USER_DATA_LIMIT:
        raise AwsError("InvalidRequestException", "User data is limited to 16384 bytes")
