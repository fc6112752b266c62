"""Client tokens: the same request again gets the same answer, another request with the token of one is refused.
Source: EC2 API reference, "Ensuring idempotency in Amazon EC2 API requests"; EKS documents the same for
clientRequestToken."""

import copy
import json

from aws.errors import AwsError

NAMES = {"ec2": "ClientToken", "eks": "clientRequestToken"}


def once(call, act):
    """Runs `act()` unless this very request was answered before under its token."""
    name = NAMES[call.service]
    token = call.parameters.get(name)
    if not token:
        return act()
    rest = json.dumps({key: value for key, value in call.parameters.items() if key != name}, sort_keys=True)
    known = call.region.client_tokens.get((call.action, token))
    if known is None:
        result = act()
        call.region.client_tokens[(call.action, token)] = (rest, copy.deepcopy(result))
        return result
    if known[0] != rest:
        if call.service == "ec2":
            # EC2 error codes: IdempotentParameterMismatch.
            raise AwsError(
                "IdempotentParameterMismatch",
                "Arguments on this idempotent request are inconsistent with arguments used in previous "
                f"request(s) with client token {token}.",
            )
        # EKS documents no code of its own for this; InvalidParameterException is the one for a parameter that will
        # not do.
        raise AwsError("InvalidParameterException", f"clientRequestToken {token} was used with other parameters")
    return copy.deepcopy(known[1])
