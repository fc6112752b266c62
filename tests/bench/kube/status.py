"""What the API server says when it does not give an object: `Status` bodies as recorded in answers.json."""

import json

from answer import Answer


class KubeError(Exception):
    """An answer other than the one asked for."""

    def __init__(self, answer, reason):
        super().__init__(reason)
        self.answer = answer
        self.reason = reason


def json_answer(status, body):
    """An answer with a JSON body, as the API server writes it: with a newline at its end."""
    return Answer(status, json.dumps(body, separators=(",", ":")).encode() + b"\n", "application/json")


def failure(code, reason, message, details=None):
    """A `Status` of failure."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
    }
    if details:
        body["details"] = details
    body["code"] = code
    return KubeError(json_answer(code, body), reason)


def details_of(kind, name=None, **more):
    """`details`, without what is empty."""
    details = {"name": name, "group": kind.group, "kind": kind.plural, **more}
    return {key: value for key, value in details.items() if value}


def page_not_found():
    """A path that the server does not have: plain text."""
    return KubeError(Answer(404, b"404 page not found\n", "text/plain; charset=utf-8"), "404 page not found")


def unauthorized():
    return failure(401, "Unauthorized", "Unauthorized")


def not_found(kind, name):
    return failure(404, "NotFound", f'{kind.qualified} "{name}" not found', details_of(kind, name))


def already_exists(kind, name):
    return failure(409, "AlreadyExists", f'{kind.qualified} "{name}" already exists', details_of(kind, name))


def forbidden(user, verb, kind, namespace, name):
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    shown = f'{kind.qualified} "{name}"' if name else kind.qualified
    what = f'cannot {verb} resource "{kind.plural}" in API group "{kind.group}"'
    message = f'{shown} is forbidden: User "{user}" {what} {where}'
    return failure(403, "Forbidden", message, details_of(kind, name))


def modified(kind, name):
    """Another resourceVersion than the one sent."""
    message = (
        f'Operation cannot be fulfilled on {kind.qualified} "{name}": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    return failure(409, "Conflict", message, details_of(kind, name))


def precondition(kind, name, field, sent, found):
    """A delete's precondition that does not hold; the kind is spelt as a kind here, not as a resource."""
    message = (
        f'Operation cannot be fulfilled on {kind.qualified_kind} "{name}": the {field} in the precondition ({sent}) '
        f"does not match the {field} in record ({found}). The object might have been modified"
    )
    details = {"name": name, "group": kind.group, "kind": kind.kind}
    return failure(409, "Conflict", message, {key: value for key, value in details.items() if value})


def invalid(group, kind, name, causes):
    """A 422. `causes` are (reason, field, message)."""
    shown = "; ".join(f"{field}: {message}" for _, field, message in causes)
    text = shown if len(causes) == 1 else f"[{', '.join(f'{field}: {message}' for _, field, message in causes)}]"
    details = {"name": name, "group": group, "kind": kind}
    details = {key: value for key, value in details.items() if value}
    details["causes"] = [{"reason": reason, "message": message, "field": field} for reason, field, message in causes]
    qualified = f"{kind}.{group}" if group else kind
    return failure(422, "Invalid", f'{qualified} "{name}" is invalid: {text}', details)


def bad_request(message):
    return failure(400, "BadRequest", message)


def success(kind, name, uid):
    """What a delete answers."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {**details_of(kind, name), "uid": uid},
    }
    return json_answer(200, body)
