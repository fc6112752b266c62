"""Requests off the wire, strictly: what the service's model does not know is an error, not something to skip.

moto skips it, and so a misspelt member passes silently.
"""

import base64
import json
import re
import urllib.parse

from aws.errors import AwsError


def ec2_or_query(model, fields):
    """Parameters of a form-encoded call. `fields` are the decoded pairs of the body."""
    tree = {}
    for name, value in fields:
        if name in ("Action", "Version"):
            continue
        node = tree
        *path, last = name.split(".")
        for part in path:
            node = node.setdefault(part, {})
            if not isinstance(node, dict):
                raise _unknown_parameter(name)
        node[last] = value
    shape = model.input_shape
    ec2 = model.service_model.metadata["protocol"] == "ec2"
    return _form_structure(shape, tree, "", ec2) if shape else {}


def _unknown_parameter(name):
    # EC2 API reference, "Common client errors": UnknownParameter.
    return AwsError("UnknownParameter", f"The parameter {name} is not recognized")


def _form_name(member, shape, ec2):
    # botocore.serialize.EC2Serializer: queryName, else locationName with a capital first letter, else the member's
    # name.
    query_name = shape.serialization.get("queryName")
    if query_name:
        return query_name
    name = shape.serialization.get("name", member)
    return name[:1].upper() + name[1:] if ec2 else name


def _form_structure(shape, node, path, ec2):
    if not isinstance(node, dict):
        raise _unknown_parameter(path)
    by_name = {_form_name(member, of, ec2): (member, of) for member, of in shape.members.items()}
    result = {}
    for name, value in node.items():
        here = f"{path}.{name}" if path else name
        if name not in by_name:
            raise _unknown_parameter(here)
        member, of = by_name[name]
        result[member] = _form_value(of, value, here, ec2)
    return result


def _form_value(shape, node, path, ec2):
    kind = shape.type_name
    if kind == "structure":
        return _form_structure(shape, node, path, ec2)
    if kind == "list":
        if node == "":
            return []
        if not ec2 and not shape.serialization.get("flattened") and isinstance(node, dict):
            node = node.get(shape.member.serialization.get("name", "member"), node)
        if not isinstance(node, dict) or not all(key.isdigit() for key in node):
            raise _unknown_parameter(path)
        return [_form_value(shape.member, node[key], f"{path}.{key}", ec2) for key in sorted(node, key=int)]
    if isinstance(node, dict):
        raise _unknown_parameter(path)
    return _scalar(kind, node, path)


def _scalar(kind, text, path):
    if kind in ("integer", "long"):
        if not re.fullmatch(r"-?\d+", text):
            # EC2 answers so for a word where a number belongs.
            raise AwsError(
                "InvalidParameterValue", f"Value ({text}) for parameter {path} is invalid. Must be an integer."
            )
        return int(text)
    if kind in ("float", "double"):
        return float(text)
    if kind == "boolean":
        if text.lower() not in ("true", "false"):
            raise AwsError(
                "InvalidParameterValue", f"Value ({text}) for parameter {path} is invalid. Must be true or false."
            )
        return text.lower() == "true"
    if kind == "blob":
        return base64.b64decode(text)
    return text


def rest_json(model, path_values, query, headers, body):
    """Parameters of a REST call: from the path, the query, the headers and the JSON body."""
    shape = model.input_shape
    if shape is None:
        return {}
    result, in_body = {}, {}
    known_query = set()
    for member, of in shape.members.items():
        location = of.serialization.get("location")
        name = of.serialization.get("name", member)
        if location == "uri":
            if name in path_values:
                result[member] = urllib.parse.unquote(path_values[name])
        elif location == "querystring":
            known_query.add(name)
            if name in query:
                values = query[name]
                result[member] = values if of.type_name == "list" else _scalar(of.type_name, values[-1], name)
        elif location in ("header", "headers"):
            if headers.get(name) is not None:
                result[member] = headers[name]
        else:
            in_body[name] = (member, of)
    for name in query:
        if name not in known_query:
            raise AwsError("InvalidParameterException", f"Unknown query parameter {name}")
    if body:
        try:
            document = json.loads(body)
        except ValueError as error:
            raise AwsError("SerializationException", "The request body is not JSON") from error
        if not isinstance(document, dict):
            raise AwsError("SerializationException", "Start of structure or map found where not expected.")
        for name, value in document.items():
            if name not in in_body:
                raise AwsError("SerializationException", f"Unrecognized member {name}")
            member, of = in_body[name]
            if value is not None:
                result[member] = _json_value(of, value, name)
    return result


def _json_value(shape, value, path):
    kind = shape.type_name
    wanted = {
        "structure": dict,
        "map": dict,
        "list": list,
        "string": str,
        "boolean": bool,
        "integer": int,
        "long": int,
        "float": (int, float),
        "double": (int, float),
    }.get(kind, object)
    if not isinstance(value, wanted) or (kind in ("integer", "long") and isinstance(value, bool)):
        raise AwsError("SerializationException", f"{type(value).__name__} can not be converted to {kind}: {path}")
    if kind == "structure":
        by_name = {of.serialization.get("name", member): (member, of) for member, of in shape.members.items()}
        result = {}
        for name, inner in value.items():
            if name not in by_name:
                raise AwsError("SerializationException", f"Unrecognized member {path}.{name}")
            member, of = by_name[name]
            if inner is not None:
                result[member] = _json_value(of, inner, f"{path}.{name}")
        return result
    if kind == "map":
        return {key: _json_value(shape.value, inner, f"{path}.{key}") for key, inner in value.items()}
    if kind == "list":
        return [_json_value(shape.member, inner, f"{path}[{at}]") for at, inner in enumerate(value)]
    return value
