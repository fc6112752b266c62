"""An IAM policy, evaluated for a call: actions, resources and the conditions on tags.

Source: IAM User Guide, "Policy evaluation logic"; Service Authorization Reference, "Actions, resources, and
condition keys for Amazon
EC2" and "… for Amazon EKS", for the resources of each action.
"""

import fnmatch

from aws.filters import tags_of

# Actions on one launch template; describing knows no resources.
ON_TEMPLATES = {
    "CreateLaunchTemplateVersion",
    "ModifyLaunchTemplate",
    "DeleteLaunchTemplate",
    "DeleteLaunchTemplateVersions",
}


def _as_list(value):
    return value if isinstance(value, list) else [value]


def wanted(call):
    """What a call needs: [(action, resource, tags of the resource, tags of the request, further keys)]."""
    parameters, service = call.parameters, call.service
    action = f"{service}:{call.action}"
    if service == "eks":
        return [(action, _eks_resource(call), {}, parameters.get("tags", {}), {})]
    if service != "ec2":
        return [(action, "*", {}, {}, {})]
    if call.action == "CreateLaunchTemplate":
        sent = _sent_tags(parameters)
        resource = call.arn("ec2", "launch-template/*")
        needs = [(action, resource, {}, sent, {})]
        if sent:
            # EC2 User Guide, "Grant permission to tag resources during creation".
            needs.append(("ec2:CreateTags", resource, {}, sent, {"ec2:CreateAction": "CreateLaunchTemplate"}))
        return needs
    if call.action in ON_TEMPLATES:
        template = _template(call)
        resource = call.arn("ec2", f"launch-template/{template['LaunchTemplateId']}") if template else "*"
        return [(action, resource, tags_of(template or {}), {}, {})]
    if call.action == "CreateTags":
        sent = {tag["Key"]: tag.get("Value", "") for tag in parameters.get("Tags", [])}
        return [
            (action, call.arn("ec2", f"launch-template/{one}"), {}, sent, {}) for one in parameters.get("Resources", [])
        ]
    return [(action, "*", {}, {}, {})]


def _sent_tags(parameters):
    return {
        tag["Key"]: tag.get("Value", "")
        for one in parameters.get("TagSpecifications", [])
        for tag in one.get("Tags", [])
    }


def _template(call):
    for record in call.region.launch_templates.values():
        template = record["template"]
        if (
            call.parameters.get("LaunchTemplateId", template["LaunchTemplateId"]) == template["LaunchTemplateId"]
            and call.parameters.get("LaunchTemplateName", template["LaunchTemplateName"])
            == template["LaunchTemplateName"]
        ):
            return template
    return None


def _eks_resource(call):
    parameters = call.parameters
    cluster = parameters.get("clusterName") or parameters.get("name")
    if not cluster:
        return "*"
    if parameters.get("nodegroupName"):
        return call.arn("eks", f"nodegroup/{cluster}/{parameters['nodegroupName']}/*")
    if parameters.get("addonName") and call.action != "CreateAddon":
        return call.arn("eks", f"addon/{cluster}/{parameters['addonName']}/*")
    return call.arn("eks", f"cluster/{cluster}")


def refused(document, call):
    """The first of the call's actions that the policy does not allow; None when it allows all."""
    for need in wanted(call):
        if not any(_allows(statement, *need) for statement in _as_list(document["Statement"])):
            return need[0]
    return None


def _allows(statement, action, resource, resource_tags, request_tags, keys):
    if statement.get("Effect") != "Allow":
        return False
    if not any(
        fnmatch.fnmatchcase(action.lower(), pattern.lower()) for pattern in _as_list(statement.get("Action", []))
    ):
        return False
    if not any(_covers(pattern, resource) for pattern in _as_list(statement.get("Resource", []))):
        return False
    known = {**keys, "aws:RequestedRegion": None}
    known.update({f"aws:ResourceTag/{key}": value for key, value in resource_tags.items()})
    known.update({f"ec2:ResourceTag/{key}": value for key, value in resource_tags.items()})
    known.update({f"aws:RequestTag/{key}": value for key, value in request_tags.items()})
    known["aws:TagKeys"] = list(request_tags)
    return all(
        _holds(operator, key, value, known)
        for operator, block in statement.get("Condition", {}).items()
        for key, value in block.items()
    )


def _covers(pattern, resource):
    """A call without a resource of its own needs `*`; one whose resource ends in `*` is met by a pattern for its
    beginning."""
    if pattern == "*":
        return True
    return resource != "*" and (fnmatch.fnmatchcase(resource, pattern) or pattern == resource)


def _holds(operator, key, value, known):
    have = known.get(key)
    wanted_values = _as_list(value)
    if operator == "Null":
        return (have is None) == (str(value).lower() == "true")
    if operator.startswith("ForAllValues:"):
        return all(any(_compare(operator.partition(":")[2], one, want) for want in wanted_values) for one in have or [])
    if operator.endswith("IfExists"):
        return have is None or _holds(operator.removesuffix("IfExists"), key, value, known)
    return have is not None and any(_compare(operator, have, want) for want in wanted_values)


def _compare(operator, have, want):
    if operator == "StringEquals":
        return have == want
    if operator == "StringLike":
        return fnmatch.fnmatchcase(have, want)
    raise ValueError(f"condition operator {operator} is not known to the bench")
