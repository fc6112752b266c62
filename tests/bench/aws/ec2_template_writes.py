"""Launch templates and their versions: writing."""

import copy
import re
import time

from aws import tokens
from aws.ec2_template_rules import check_data, check_name, inherited
from aws.ec2_templates import by_name, shown, template_of, version_of
from aws.errors import AwsError
from aws.filters import tags_of
from aws.registry import operation

# Service quotas of EC2: versions per launch template.
VERSIONS_LIMIT = 10_000


@operation("ec2", "CreateLaunchTemplate")
def create_launch_template(call):
    return tokens.once(call, lambda: _create(call))


def _create(call):
    parameters = call.parameters
    name = parameters["LaunchTemplateName"]
    check_name(name)
    if by_name(call, name):
        # EC2 error codes: InvalidLaunchTemplateName.AlreadyExistsException.
        raise AwsError("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
    for specification in parameters.get("TagSpecifications", []):
        if specification.get("ResourceType") != "launch-template":
            # EC2 API reference, CreateLaunchTemplate, TagSpecification: only launch-template may be tagged here.
            raise AwsError(
                "InvalidParameterValue",
                f"'{specification.get('ResourceType')}' is not a valid taggable resource type for this operation.",
            )
    check_data(parameters["LaunchTemplateData"])
    tags = [tag for specification in parameters.get("TagSpecifications", []) for tag in specification.get("Tags", [])]
    record = put_template(call, name, parameters["LaunchTemplateData"], tags, parameters.get("VersionDescription"))
    return {"LaunchTemplate": record["template"]}


def put_template(call, name, data, tags, description=None, created_by=None):
    """A new template with its first version."""
    template_id = call.world.new_id("lt")
    record = {
        "template": {
            "LaunchTemplateId": template_id,
            "LaunchTemplateName": name,
            "CreateTime": int(time.time()),
            "CreatedBy": created_by or call.caller,
            "DefaultVersionNumber": 1,
            "LatestVersionNumber": 0,
            "Tags": tags,
        },
        "versions": {},
    }
    call.region.launch_templates[template_id] = record
    put_version(call, record, data, description)
    return record


def put_version(call, record, data, description=None):
    """A further version. Numbers are never used twice."""
    number = record.get("highest", record["template"]["LatestVersionNumber"]) + 1
    record["highest"] = number
    record["template"]["LatestVersionNumber"] = number
    version = {
        "VersionNumber": number,
        "VersionDescription": description,
        "CreateTime": int(time.time()),
        "CreatedBy": call.caller,
        "LaunchTemplateData": copy.deepcopy(data),
    }
    record["versions"][number] = version
    return version


@operation("ec2", "CreateLaunchTemplateVersion")
def create_launch_template_version(call):
    return tokens.once(call, lambda: _create_version(call))


def _create_version(call):
    parameters = call.parameters
    record = template_of(call, parameters.get("LaunchTemplateId"), parameters.get("LaunchTemplateName"))
    sent = parameters["LaunchTemplateData"]
    check_data(sent)
    data = dict(sent)
    if "SourceVersion" in parameters:
        source = version_of(call, record, parameters["SourceVersion"])
        data = {**inherited(source["LaunchTemplateData"]), **sent}
    if len(record["versions"]) >= VERSIONS_LIMIT:
        raise AwsError("VersionLimitExceeded", f"The maximum number of versions, {VERSIONS_LIMIT}, was reached.")
    version = put_version(call, record, data, parameters.get("VersionDescription"))
    return {"LaunchTemplateVersion": shown(record, version)}


@operation("ec2", "ModifyLaunchTemplate")
def modify_launch_template(call):
    return tokens.once(call, lambda: _modify(call))


def _modify(call):
    parameters = call.parameters
    record = template_of(call, parameters.get("LaunchTemplateId"), parameters.get("LaunchTemplateName"))
    wanted = parameters.get("DefaultVersion")
    if wanted is not None:
        if not re.fullmatch(r"\d+", wanted):
            # EC2 API reference, ModifyLaunchTemplate, SetDefaultVersion: a version number.
            raise AwsError(
                "InvalidParameterValue",
                f"Value ({wanted}) for parameter SetDefaultVersion is invalid. Must be a version number.",
            )
        record["template"]["DefaultVersionNumber"] = version_of(call, record, wanted)["VersionNumber"]
    return {"LaunchTemplate": record["template"]}


@operation("ec2", "DeleteLaunchTemplate")
def delete_launch_template(call):
    parameters = call.parameters
    record = template_of(call, parameters.get("LaunchTemplateId"), parameters.get("LaunchTemplateName"))
    return {"LaunchTemplate": call.region.launch_templates.pop(record["template"]["LaunchTemplateId"])["template"]}


@operation("ec2", "DeleteLaunchTemplateVersions")
def delete_launch_template_versions(call):
    parameters = call.parameters
    record = template_of(call, parameters.get("LaunchTemplateId"), parameters.get("LaunchTemplateName"))
    template = record["template"]
    wanted = parameters["Versions"]
    if len(wanted) > 200:
        # EC2 API reference, DeleteLaunchTemplateVersions: up to 200 version numbers.
        raise AwsError(
            "InvalidParameterValue", "The maximum number of versions that can be deleted in one request is 200."
        )
    deleted, kept = [], []
    for text in wanted:
        entry = {"LaunchTemplateId": template["LaunchTemplateId"], "LaunchTemplateName": template["LaunchTemplateName"]}
        number = int(text) if text.isdigit() else None
        if number == template["DefaultVersionNumber"]:
            # EC2 API reference, DeleteLaunchTemplateVersions: the default version cannot be deleted.
            error = {
                "Code": "unexpectedError",
                "Message": "The default version of a launch template cannot be deleted.",
            }
        elif number not in record["versions"]:
            error = {
                "Code": "launchTemplateVersionDoesNotExist",
                "Message": f"Could not find the specified version {text}.",
            }
        else:
            del record["versions"][number]
            deleted.append({**entry, "VersionNumber": number})
            continue
        kept.append({**entry, "VersionNumber": number, "ResponseError": error})
    template["LatestVersionNumber"] = max(record["versions"])
    return {"SuccessfullyDeletedLaunchTemplateVersions": deleted, "UnsuccessfullyDeletedLaunchTemplateVersions": kept}


# Where an id's object is, and what EC2 calls it when it is missing.
TAGGED = {
    "vpc": ("vpcs", "InvalidVpcID.NotFound"),
    "subnet": ("subnets", "InvalidSubnetID.NotFound"),
    "sg": ("security_groups", "InvalidGroup.NotFound"),
    "rtb": ("route_tables", "InvalidRouteTableID.NotFound"),
    "i": ("instances", "InvalidInstanceID.NotFound"),
    "eni": ("network_interfaces", "InvalidNetworkInterfaceID.NotFound"),
    "lt": ("launch_templates", "InvalidLaunchTemplateId.NotFound"),
}


def _tagged(call, resource):
    store, code = TAGGED.get(resource.split("-")[0], ("other_tags", "InvalidID"))
    found = getattr(call.region, store).get(resource)
    if found is None:
        raise AwsError(code, f"The ID '{resource}' does not exist")
    return found["template"] if store == "launch_templates" else found


@operation("ec2", "CreateTags")
def create_tags(call):
    sent = {tag["Key"]: tag.get("Value", "") for tag in call.parameters["Tags"]}
    for key in sent:
        if key.startswith("aws:"):
            # EC2 User Guide, "Tag restrictions": the prefix is reserved.
            raise AwsError(
                "InvalidParameterValue",
                f"Value ( {key} ) for parameter key is invalid. Tag keys starting with 'aws:' are reserved for "
                "internal use",
            )
    objects = [_tagged(call, resource) for resource in call.parameters["Resources"]]
    for found in objects:
        found["Tags"] = [{"Key": key, "Value": value} for key, value in {**tags_of(found), **sent}.items()]
    return {}


@operation("ec2", "DeleteTags")
def delete_tags(call):
    for resource in call.parameters["Resources"]:
        found = _tagged(call, resource)
        tags = tags_of(found)
        for tag in call.parameters.get("Tags", [{"Key": key} for key in tags]):
            if tag.get("Value") is None or tags.get(tag["Key"]) == tag["Value"]:
                tags.pop(tag["Key"], None)
        found["Tags"] = [{"Key": key, "Value": value} for key, value in tags.items()]
    return {}
