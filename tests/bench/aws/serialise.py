"""Answers onto the wire, by botocore's output shapes. Members that the model does not know are a defect of the
bench."""

import datetime
import json
from xml.sax.saxutils import escape

EC2_NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"
STS_NAMESPACE = "https://sts.amazonaws.com/doc/2011-06-15/"


def ec2(action, model, result, request_id):
    """The body of an EC2 answer."""
    out = [
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<{action}Response xmlns="{EC2_NAMESPACE}"><requestId>{request_id}</requestId>'
    ]
    if model.output_shape is not None:
        _xml_members(model.output_shape, result, out)
    elif not result:
        out.append("<return>true</return>")
    out.append(f"</{action}Response>")
    return "".join(out).encode()


def ec2_error(error, request_id):
    """The body of an EC2 error."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<Response><Errors><Error><Code>{escape(error.code)}</Code><Message>{escape(error.message)}</Message></Error></Errors>"
        f"<RequestID>{request_id}</RequestID></Response>"
    ).encode()


def query(action, model, result, request_id):
    """The body of an STS answer."""
    out = [f'<{action}Response xmlns="{STS_NAMESPACE}"><{action}Result>']
    _xml_members(model.output_shape, result, out)
    out.append(
        f"</{action}Result><ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata></{action}Response>"
    )
    return "".join(out).encode()


def query_error(error, request_id):
    """The body of an STS error."""
    return (
        f'<ErrorResponse xmlns="{STS_NAMESPACE}"><Error><Type>Sender</Type><Code>{escape(error.code)}</Code>'
        f"<Message>{escape(error.message)}</Message></Error><RequestId>{request_id}</RequestId></ErrorResponse>"
    ).encode()


def _xml_members(shape, value, out):
    members = shape.members
    for member, inner in value.items():
        if inner is None:
            continue
        of = members[member]
        _xml(of, inner, of.serialization.get("name", member), out)


def _xml(shape, value, name, out):
    kind = shape.type_name
    if kind == "structure":
        out.append(f"<{name}>")
        _xml_members(shape, value, out)
        out.append(f"</{name}>")
    elif kind == "list":
        item = shape.member.serialization.get("name", "member")
        out.append(f"<{name}>")
        for inner in value:
            _xml(shape.member, inner, item, out)
        out.append(f"</{name}>")
    elif kind == "boolean":
        out.append(f"<{name}>{'true' if value else 'false'}</{name}>")
    elif kind == "timestamp":
        out.append(f"<{name}>{_iso(value)}</{name}>")
    else:
        out.append(f"<{name}>{escape(str(value))}</{name}>")


def _iso(value):
    if isinstance(value, str):
        return value
    return datetime.datetime.fromtimestamp(value, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def rest_json(model, result):
    """The body of an EKS answer."""
    return json.dumps(_json(model.output_shape, result)).encode() if model.output_shape is not None else b"{}"


def rest_json_error(error):
    """The body of an EKS error; its code goes into the header x-amzn-errortype."""
    return json.dumps({**error.fields, "message": error.message}).encode()


def _json(shape, value):
    if value is None:
        return None
    kind = shape.type_name
    if kind == "structure":
        members = shape.members
        return {
            members[member].serialization.get("name", member): _json(members[member], inner)
            for member, inner in value.items()
            if inner is not None
        }
    if kind == "list":
        return [_json(shape.member, inner) for inner in value]
    if kind == "map":
        return {key: _json(shape.value, inner) for key, inner in value.items()}
    return value
