"""Parameters against botocore's shapes: required members, enumerations, patterns, lengths and ranges.

Unknown and wrongly typed members are refused earlier, in `parse.py`. botocore itself checks only required members,
types
and lower bounds, and the services check the rest.
"""

import re

from aws.errors import AwsError

# Enumerations whose strangers have an error of their own.
ANSWERED_BY_HANDLERS = {"InstanceType"}


def check(service, model, params):
    """Raises the service's own error for the first thing that is wrong."""
    shape = model.input_shape
    if shape is not None:
        _structure(service, shape, params, "")


def _missing(service, path):
    if service == "ec2":
        # EC2 API reference, "Common client errors": MissingParameter.
        return AwsError("MissingParameter", f"The request must contain the parameter {path}")
    if service == "sts":
        return AwsError(
            "ValidationError", f"Value null at '{path}' failed to satisfy constraint: Member must not be null"
        )
    return AwsError("InvalidParameterException", f"{path} is required")


def _invalid(service, path, value, why):
    if service == "ec2":
        # EC2 API reference, "Common client errors": InvalidParameterValue.
        return AwsError("InvalidParameterValue", f"Value ({value}) for parameter {path} is invalid. {why}")
    if service == "sts":
        return AwsError("ValidationError", f"Value '{value}' at '{path}' failed to satisfy constraint: {why}")
    return AwsError("InvalidParameterException", f"Value '{value}' at '{path}' failed to satisfy constraint: {why}")


def _structure(service, shape, value, path):
    for member in shape.required_members:
        if member not in value:
            raise _missing(service, f"{path}.{member}" if path else member)
    for member, inner in value.items():
        _value(service, shape.members[member], inner, f"{path}.{member}" if path else member)


def _value(service, shape, value, path):
    kind = shape.type_name
    if kind == "structure":
        _structure(service, shape, value, path)
        return
    if kind == "map":
        for key, inner in value.items():
            _value(service, shape.key, key, f"{path} key")
            _value(service, shape.value, inner, f"{path}.{key}")
        return
    limits = shape.metadata
    if kind == "list":
        _size(service, limits, len(value), path, f"list of {len(value)}", "size")
        for at, inner in enumerate(value):
            _value(service, shape.member, inner, f"{path}.{at + 1}")
        return
    if kind == "string":
        if shape.enum and value not in shape.enum and shape.name not in ANSWERED_BY_HANDLERS:
            raise _invalid(service, path, value, f"Member must satisfy enum value set: [{', '.join(shape.enum)}]")
        _size(service, limits, len(value), path, value, "length")
        pattern = limits.get("pattern")
        if pattern and not _matches(pattern, value):
            raise _invalid(service, path, value, f"Member must satisfy regular expression pattern: {pattern}")
        return
    if kind in ("integer", "long", "float", "double"):
        _size(service, limits, value, path, value, "value")


def _size(service, limits, size, path, shown, what):
    if size < limits.get("min", size):
        raise _invalid(service, path, shown, f"Member must have {what} greater than or equal to {limits['min']}")
    if size > limits.get("max", size):
        raise _invalid(service, path, shown, f"Member must have {what} less than or equal to {limits['max']}")


def _matches(pattern, value):
    try:
        return re.fullmatch(pattern, value) is not None
    except re.error:
        # A few of the models' patterns are Java's, not Python's.
        return True
