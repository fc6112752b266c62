"""Pages of a list, with a token that only the same list understands."""

import base64
import json

from aws.errors import AwsError


def ec2_page(call, items, member, limit, maximum=1000, minimum=5):
    """One page of an EC2 list. `limit` is what the service gives when the caller names none; the bounds are those
    of MaxResults
    in botocore's model or, where it has none, in the EC2 API reference."""
    parameters = call.parameters
    wanted = parameters.get("MaxResults")
    if wanted is not None and not minimum <= wanted <= maximum:
        raise AwsError(
            "InvalidParameterValue",
            f"Value ( {wanted} ) for parameter maxResults is invalid. Expecting a value greater than {minimum} "
            f"and less than {maximum}.",
        )
    start = _start(call, parameters.get("NextToken"))
    size = call.page_size(limit)
    result = {member: items[start : start + size]}
    if start + size < len(items):
        result["NextToken"] = _token(call, start + size)
    return result


def eks_page(call, items, member):
    """One page of an EKS list: 100 unless the caller wants fewer. Source: EKS API reference, ListNodegroups."""
    start = _start(call, call.parameters.get("nextToken"))
    size = call.page_size(100)
    result = {member: items[start : start + size]}
    if start + size < len(items):
        result["nextToken"] = _token(call, start + size)
    return result


def _token(call, start):
    return base64.b64encode(json.dumps([call.action, start]).encode()).decode()


def _start(call, token):
    if not token:
        return 0
    try:
        action, start = json.loads(base64.b64decode(token))
        if action == call.action:
            return start
    except (ValueError, TypeError):
        pass
    # EC2 error codes: InvalidNextToken; EKS calls it an invalid parameter.
    code = "InvalidParameterException" if call.service == "eks" else "InvalidNextToken"
    raise AwsError(code, "The specified next token is invalid")
