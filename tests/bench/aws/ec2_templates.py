"""Launch templates and their versions: reading."""

import re

from aws import filters
from aws.errors import AwsError
from aws.filters import member
from aws.paging import ec2_page
from aws.registry import operation

TEMPLATE_FILTERS = {
    "launch-template-name": member("LaunchTemplateName"),
    "create-time": member("CreateTime"),
}

VERSION_FILTERS = {
    "create-time": member("CreateTime"),
    "ebs-optimized": member("LaunchTemplateData", "EbsOptimized"),
    "image-id": member("LaunchTemplateData", "ImageId"),
    "instance-type": member("LaunchTemplateData", "InstanceType"),
    "is-default-version": member("DefaultVersion"),
    "http-endpoint": member("LaunchTemplateData", "MetadataOptions", "HttpEndpoint"),
    "http-tokens": member("LaunchTemplateData", "MetadataOptions", "HttpTokens"),
    "iam-instance-profile": member("LaunchTemplateData", "IamInstanceProfile", "Arn"),
    "kernel-id": member("LaunchTemplateData", "KernelId"),
    "ram-disk-id": member("LaunchTemplateData", "RamDiskId"),
}


def is_template_id(text):
    """Whether the text has the form of an id."""
    return re.fullmatch(r"lt-[0-9a-f]{8,17}", text) is not None


def template_of(call, template_id=None, name=None):
    """The template that a call names, by id or by name and never by both."""
    if template_id and name:
        # EC2 API reference, CreateLaunchTemplateVersion: "You must specify either the launch template ID or the launch
        # template name, but not both."
        raise AwsError(
            "InvalidParameterCombination", "Either provide launch template ID or launch template name, but not both."
        )
    if not template_id and not name:
        raise AwsError("MissingParameter", "Either a launch template ID or a launch template name must be provided.")
    if template_id:
        # EC2 error codes: InvalidLaunchTemplateId.Malformed, .NotFound.
        if not is_template_id(template_id):
            raise AwsError(
                "InvalidLaunchTemplateId.Malformed", f"The specified launch template ID, {template_id}, is malformed."
            )
        record = call.region.launch_templates.get(template_id)
        if record is None:
            raise AwsError(
                "InvalidLaunchTemplateId.NotFound",
                f"The specified launch template, with template ID {template_id}, does not exist.",
            )
        return record
    record = by_name(call, name)
    if record is None:
        # EC2 error codes: InvalidLaunchTemplateName.NotFoundException.
        raise AwsError(
            "InvalidLaunchTemplateName.NotFoundException",
            f"The specified launch template, with template name {name}, does not exist.",
        )
    return record


def by_name(call, name):
    """The template of that name, or None."""
    for record in call.region.launch_templates.values():
        if record["template"]["LaunchTemplateName"] == name:
            return record
    return None


def version_number(call, record, text):
    """The number that a version's text means. Source: EC2 API reference, DescribeLaunchTemplateVersions."""
    template = record["template"]
    if text == "$Latest":
        return template["LatestVersionNumber"]
    if text == "$Default":
        return template["DefaultVersionNumber"]
    if not re.fullmatch(r"\d+", text):
        raise AwsError("InvalidLaunchTemplateId.VersionNotFound", f"Could not find launch template version {text}.")
    return int(text)


def version_of(call, record, text):
    """A version that must be there."""
    number = version_number(call, record, text)
    if number not in record["versions"]:
        # EC2 error codes: InvalidLaunchTemplateId.VersionNotFound.
        template_id = record["template"]["LaunchTemplateId"]
        raise AwsError(
            "InvalidLaunchTemplateId.VersionNotFound",
            f"Could not find the specified version {number} for the launch template with ID {template_id}.",
        )
    return record["versions"][number]


def shown(record, version):
    """A version as the API gives it."""
    template = record["template"]
    return {
        "LaunchTemplateId": template["LaunchTemplateId"],
        "LaunchTemplateName": template["LaunchTemplateName"],
        "VersionNumber": version["VersionNumber"],
        "VersionDescription": version.get("VersionDescription"),
        "CreateTime": version["CreateTime"],
        "CreatedBy": version["CreatedBy"],
        "DefaultVersion": version["VersionNumber"] == template["DefaultVersionNumber"],
        "LaunchTemplateData": version["LaunchTemplateData"],
    }


@operation("ec2", "DescribeLaunchTemplates")
def describe_launch_templates(call):
    parameters = call.parameters
    ids, names = parameters.get("LaunchTemplateIds"), parameters.get("LaunchTemplateNames")
    if ids and names:
        raise AwsError(
            "InvalidParameterCombination", "Either provide launch template IDs or launch template names, but not both."
        )
    if ids:
        found = [template_of(call, template_id=one)["template"] for one in ids]
    elif names:
        found = [template_of(call, name=one)["template"] for one in names]
    else:
        found = [record["template"] for record in call.region.launch_templates.values()]
    # EC2 API reference, DescribeLaunchTemplates: MaxResults from 1 to 200.
    return ec2_page(call, filters.apply(call, found, TEMPLATE_FILTERS), "LaunchTemplates", 200, maximum=200, minimum=1)


@operation("ec2", "DescribeLaunchTemplateVersions")
def describe_launch_template_versions(call):
    parameters = call.parameters
    wanted = parameters.get("Versions")
    if not parameters.get("LaunchTemplateId") and not parameters.get("LaunchTemplateName"):
        # EC2 API reference, DescribeLaunchTemplateVersions: without a template only $Latest, $Default or both.
        if not wanted or not set(wanted) <= {"$Latest", "$Default"}:
            raise AwsError(
                "MissingParameter", "Either a launch template ID or a launch template name must be provided."
            )
        versions = [
            shown(record, record["versions"][number])
            for record in call.region.launch_templates.values()
            for number in sorted({version_number(call, record, text) for text in wanted}, reverse=True)
        ]
    else:
        record = template_of(call, parameters.get("LaunchTemplateId"), parameters.get("LaunchTemplateName"))
        versions = [shown(record, version) for version in _chosen(call, record, wanted)]
    # EC2 API reference, DescribeLaunchTemplateVersions: MaxResults from 1 to 200.
    return ec2_page(
        call, filters.apply(call, versions, VERSION_FILTERS), "LaunchTemplateVersions", 200, maximum=200, minimum=1
    )


def _chosen(call, record, wanted):
    """Newest first, as EC2 lists them."""
    parameters = call.parameters
    bounds = parameters.get("MinVersion"), parameters.get("MaxVersion")
    if wanted and any(bounds):
        raise AwsError(
            "InvalidParameterCombination", "Versions may not be specified together with MinVersion or MaxVersion."
        )
    if wanted:
        numbers = {version_of(call, record, text)["VersionNumber"] for text in wanted}
    else:
        least = version_number(call, record, bounds[0]) if bounds[0] else 0
        most = version_number(call, record, bounds[1]) if bounds[1] else record["template"]["LatestVersionNumber"]
        numbers = {number for number in record["versions"] if least <= number <= most}
    return [record["versions"][number] for number in sorted(numbers, reverse=True)]
