"""What the API server refuses in an object, and what follows from a write."""

import copy
import re

from kube import kinds, rbac, status

SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an "
    "alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
LABEL_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an "
    "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


def check(call, kind, name, body):
    """Raises for the first of: no object, another name than the path's, another kind, invalid names and values."""
    if not isinstance(body, dict):
        raise status.bad_request("the object provided is unrecognized (must be of type Object)")
    metadata = body.get("metadata") or {}
    if call.name and metadata.get("name") not in (None, call.name):
        raise status.bad_request(
            f"the name of the object ({metadata['name']}) does not match the name on the URL ({call.name})"
        )
    if body.get("kind") not in (None, kind.kind) or body.get("apiVersion") not in (None, kind.api_version):
        raise status.bad_request(
            f"the API version in the data ({body.get('apiVersion')}) does not match the expected API version "
            f"({kind.api_version})"
        )
    if call.namespace and metadata.get("namespace") not in (None, call.namespace):
        raise status.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    causes = list(_causes(kind, name, metadata, body, call))
    if causes:
        raise status.invalid(kind.group, kind.kind, name, causes)


def _causes(kind, name, metadata, body, call):
    if not name:
        yield "FieldValueRequired", "metadata.name", "Required value: name or generateName is required"
    elif len(name) > 253:
        yield "FieldValueInvalid", "metadata.name", f'Invalid value: "{name}": must be no more than 253 characters'
    elif not SUBDOMAIN.fullmatch(name):
        yield "FieldValueInvalid", "metadata.name", f'Invalid value: "{name}": {SUBDOMAIN_TEXT}'
    for value in (metadata.get("labels") or {}).values():
        if len(value) > 63:
            yield (
                "FieldValueInvalid",
                "metadata.labels",
                f'Invalid value: "{value}": must be no more than 63 characters',
            )
        elif not LABEL_VALUE.fullmatch(value):
            yield "FieldValueInvalid", "metadata.labels", f'Invalid value: "{value}": {LABEL_TEXT}'
    if kind is kinds.ENI_CONFIG and _has_schema(call.store):
        yield from _eni_config(body.get("spec"))


def _has_schema(store):
    crd = store.objects[kinds.CRD.key].get(("", kinds.ENI_CONFIG.key))
    return bool(crd) and "spec" in crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].get("properties", {})


def _eni_config(spec):
    """The schema of the definition: `spec.subnet` is required and a string, `spec.securityGroups` is a list of
    strings."""
    if spec is None:
        return
    if not isinstance(spec, dict):
        yield (
            "FieldValueTypeInvalid",
            "spec",
            f'Invalid value: "{_type(spec)}": spec in body must be of type object: "{_type(spec)}"',
        )
        return
    if "subnet" not in spec:
        yield "FieldValueRequired", "spec.subnet", "Required value"
    elif not isinstance(spec["subnet"], str):
        shown = _type(spec["subnet"])
        yield (
            "FieldValueTypeInvalid",
            "spec.subnet",
            f'Invalid value: "{shown}": spec.subnet in body must be of type string: "{shown}"',
        )
    groups = spec.get("securityGroups", [])
    if not isinstance(groups, list):
        shown = _type(groups)
        yield (
            "FieldValueTypeInvalid",
            "spec.securityGroups",
            f'Invalid value: "{shown}": spec.securityGroups in body must be of type array: "{shown}"',
        )
        return
    for at, group in enumerate(groups):
        if not isinstance(group, str):
            shown = _type(group)
            path = f"spec.securityGroups[{at}]"
            yield (
                "FieldValueTypeInvalid",
                path,
                f'Invalid value: "{shown}": {path} in body must be of type string: "{shown}"',
            )


def _type(value):
    for python, shown in (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
        (dict, "object"),
    ):
        if isinstance(value, python):
            return shown
    return "null"


def permitted(call, verb):
    """Whether the setting `rbac` permits a verb on the request's object."""
    granted = call.settings["rbac"]
    return granted is None or rbac.allows(granted, verb, call.kind, call.namespace, call.name)


def may_create(call):
    """An apply that makes an object needs the right to create too. Source: apiserver `endpoints/handlers/patch.go`,
    applyPatcher."""
    rule = call.bench.faults.take("kube", f"create {call.kind.plural}", True, call.resources)
    allowed = call.bench.allows("kube", f"create {call.kind.plural}") and permitted(call, "create")
    if (rule and rule["kind"] == "deny") or not allowed:
        raise status.forbidden(call.settings["kube_user"], "create", call.kind, call.namespace, call.name)


def after_write(call, value):
    """A definition makes its kind appear."""
    if call.kind is kinds.CRD and value["metadata"]["name"] in kinds.KINDS:
        call.store.installed.add(value["metadata"]["name"])


def after_delete(call):
    """A definition takes its kind and all its objects along."""
    if call.kind is kinds.CRD and call.name in kinds.KINDS:
        call.store.installed.discard(call.name)
        call.store.clear(kinds.KINDS[call.name])


def json_patch(value, operations):
    """RFC 6902: add, replace, remove and test, which is what kubectl sends."""
    result = copy.deepcopy(value)
    for operation in operations:
        *outer, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        node = result
        for part in outer:
            node = node[int(part)] if isinstance(node, list) else node.setdefault(part, {})
        last = (len(node) if last == "-" else int(last)) if isinstance(node, list) else last
        _one_operation(node, last, operation)
    return result


def _one_operation(node, last, operation):
    name = operation["op"]
    if name == "test":
        if (node[last] if isinstance(node, list) else node.get(last)) != operation["value"]:
            raise status.failure(422, "Invalid", "the server rejected our request due to an error in our request")
    elif name == "remove":
        del node[last]
    elif name == "add" and isinstance(node, list):
        node.insert(last, operation["value"])
    else:
        node[last] = operation["value"]
