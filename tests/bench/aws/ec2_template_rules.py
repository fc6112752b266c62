"""What EC2 refuses in the data of a launch template. moto takes all of it."""

import base64
import binascii
import re

from aws.errors import AwsError

# EC2 User Guide, "Run commands when you launch an EC2 instance": 16 KB in raw form, before it is base64-encoded.
USER_DATA_LIMIT = 16_384


def check_name(name):
    """botocore's shape LaunchTemplateName, which CreateLaunchTemplate's own member does not refer to."""
    if not re.fullmatch(r"[a-zA-Z0-9().\-/_]{3,128}", name):
        raise AwsError(
            "InvalidLaunchTemplateName.MalformedException",
            "A launch template name must be between 3 and 128 characters, and may contain letters, numbers, and "
            "the following characters: - ( ) . / _.",
        )


def check_data(data):
    """Raises for the first thing that EC2 refuses."""
    if "UserData" in data:
        check_user_data(data["UserData"])
    image = data.get("ImageId", "")
    if image and not re.fullmatch(r"ami-[0-9a-f]{8,17}|resolve:ssm:.+", image):
        # EC2 error codes: InvalidAMIID.Malformed.
        raise AwsError("InvalidAMIID.Malformed", f'Invalid id: "{image}" (expecting "ami-...")')
    for group in data.get("SecurityGroupIds", []):
        if not re.fullmatch(r"sg-[0-9a-f]{8,17}", group):
            raise AwsError("InvalidGroupId.Malformed", f'Invalid id: "{group}" (expecting "sg-...")')
    hops = data.get("MetadataOptions", {}).get("HttpPutResponseHopLimit")
    if hops is not None and not 1 <= hops <= 64:
        # EC2 API reference, LaunchTemplateInstanceMetadataOptionsRequest: "Possible values: Integers from 1 to 64".
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({hops}) for parameter HttpPutResponseHopLimit is invalid. Must be between 1 and 64.",
        )


def check_user_data(text):
    """Base64, and not more than the limit when decoded."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        # EC2 error codes: InvalidUserData.Malformed.
        raise AwsError("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.") from error
    if len(decoded) > USER_DATA_LIMIT:
        # EC2 error codes: InvalidParameterValue; the text as users report it.
        raise AwsError("InvalidParameterValue", "User data is limited to 16384 bytes")


def inherited(source):
    """What a new version takes over from its source. EC2 API reference, CreateLaunchTemplateVersion, SourceVersion:
    snapshots
    applied to the block device mapping are ignored unless they are explicitly included."""
    kept = [mapping for mapping in source.get("BlockDeviceMappings", []) if "SnapshotId" not in mapping.get("Ebs", {})]
    data = {name: value for name, value in source.items() if name != "BlockDeviceMappings"}
    if kept:
        data["BlockDeviceMappings"] = kept
    return data
