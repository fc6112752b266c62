"""Writes: create, update, patch in its four kinds, delete."""

import copy
import datetime

from kube import defaults, managers, merge, reading, rollout, rules, status

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"


def answer(call):
    """The answer to a request that changes something."""
    return {"create": create, "update": update, "patch": patch, "delete": delete, "deletecollection": _no_collections}[
        call.verb
    ](call)


def _no_collections(call):
    raise status.failure(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
        status.details_of(call.kind),
    )


def now():
    """As the API server writes times."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _manager(call):
    """Without fieldManager it is the user agent up to the first slash. Source: apiserver
    `endpoints/handlers/create.go`."""
    agent = call.request.headers.get("User-Agent") or "unknown"
    return call.query.get("fieldManager") or agent.split("/")[0]


def create(call):
    """POST."""
    kind, body = call.kind, call.body
    name = (body.get("metadata") or {}).get("name", "")
    rules.check(call, kind, name, body)
    key = (call.namespace or "", name)
    if key in call.store.objects[kind.key]:
        raise status.already_exists(kind, name)
    value = copy.deepcopy(body)
    return _put_new(call, key, value, lambda made: managers.after_update(kind, None, made, _manager(call), "", now()))


def _put_new(call, key, value, own):
    kind = call.kind
    metadata = value.setdefault("metadata", {})
    metadata["name"] = key[1]
    if kind.namespaced:
        metadata["namespace"] = key[0]
    metadata.pop("resourceVersion", None)
    metadata.pop("managedFields", None)
    metadata["uid"] = call.bench.world.new_uid()
    metadata["creationTimestamp"] = now()
    if kind.generation:
        metadata["generation"] = 1
    _template_generation(kind, value, 1)
    # What the server fills in belongs to the one who made the object, but for what admission adds to a new node.
    if kind.key != "nodes":
        defaults.apply(kind, value, True)
    own(value)
    defaults.apply(kind, value, True)
    return _store(call, key, value, 201)


def _template_generation(kind, value, generation):
    # Source: kubernetes `pkg/registry/apps/daemonset/strategy.go`: kept in an annotation since apps/v1.
    if kind.kind == "DaemonSet":
        value["metadata"].setdefault("annotations", {})["deprecated.daemonset.template.generation"] = str(generation)


def _store(call, key, value, code):
    if call.dry_run:
        value["metadata"].setdefault("resourceVersion", "")
        if code == 201:
            value["metadata"].pop("resourceVersion")
        return status.json_answer(code, value)
    value["metadata"]["resourceVersion"] = call.store.next_version()
    call.store.put(call.kind, key, value)
    rules.after_write(call, value)
    return status.json_answer(code, value)


def _live(call):
    key = (call.namespace or "", call.name)
    value = call.store.objects[call.kind.key].get(key)
    return key, reading.load(value, call.kind) if value is not None else None


def _put_over(call, key, live, value, own):
    """Stores a change of an object; one that changes nothing keeps its resourceVersion."""
    kind = call.kind
    _keep_identity(kind, live, value)
    defaults.apply(kind, value, False)
    if call.subresource != "status" and kind.generation and _content(kind, value) != _content(kind, live):
        value["metadata"]["generation"] = live["metadata"].get("generation", 1) + 1
    if kind.kind == "DaemonSet" and value["spec"]["template"] != live["spec"]["template"]:
        annotations = live["metadata"].get("annotations", {})
        _template_generation(kind, value, int(annotations.get("deprecated.daemonset.template.generation", 1)) + 1)
    if own:
        # The annotation is the server's: nobody becomes its owner by changing the template.
        own(value)
    if value == live:
        return status.json_answer(200, live)
    if kind.kind == "DaemonSet" and value["spec"] != live["spec"] and not call.dry_run:
        rollout.start(call.store, key, value, call.settings["polls"])
    return _store(call, key, value, 200)


def _content(kind, value):
    apart = ("metadata", "status") if kind.status_apart else ("metadata",)
    return {name: inner for name, inner in value.items() if name not in apart}


def _keep_identity(kind, live, value):
    for member in ("uid", "creationTimestamp", "generation", "resourceVersion", "namespace"):
        if member in live["metadata"]:
            value["metadata"][member] = live["metadata"][member]
        else:
            value["metadata"].pop(member, None)
    value["kind"], value["apiVersion"] = kind.kind, kind.api_version


def _check_version(call, live, body):
    metadata = (body or {}).get("metadata") or {}
    sent = metadata.get("resourceVersion")
    if sent and sent != live["metadata"]["resourceVersion"]:
        raise status.modified(call.kind, call.name)
    uid = metadata.get("uid")
    if uid and uid != live["metadata"]["uid"]:
        # Source: apiserver `registry/generic/registry/store.go`: the object was made anew in between.
        raise status.failure(
            409,
            "Conflict",
            f'Operation cannot be fulfilled on {call.kind.qualified} "{call.name}": '
            f"Precondition failed: UID in precondition: {uid}, "
            f"UID in object meta: {live['metadata']['uid']}",
            status.details_of(call.kind, call.name),
        )


def update(call):
    """PUT."""
    kind, body = call.kind, call.body
    rules.check(call, kind, call.name, body)
    key, live = _live(call)
    if live is None:
        raise status.not_found(kind, call.name)
    _check_version(call, live, body)
    value = copy.deepcopy(body)
    if call.subresource == "status":
        value = {**copy.deepcopy(live), "status": body.get("status", {})}
    elif kind.status_apart and "status" in live:
        value["status"] = live["status"]
    return _put_over(
        call,
        key,
        live,
        value,
        lambda made: managers.after_update(kind, live, made, _manager(call), call.subresource or "", now()),
    )


def patch(call):
    """PATCH, by its content type."""
    if call.content_type == APPLY:
        return _apply(call)
    kind, body = call.kind, call.body
    key, live = _live(call)
    if live is None:
        raise status.not_found(kind, call.name)
    if call.content_type == STRATEGIC and kind.custom:
        raise _unsupported(call)
    if call.content_type == MERGE:
        value = merge.json_merge_patch(live, body)
    elif call.content_type == STRATEGIC:
        value = merge.strategic_merge_patch(kind, live, body)
    elif call.content_type == JSON_PATCH:
        value = rules.json_patch(live, body)
    else:
        raise _unsupported(call)
    _check_version(call, live, body if isinstance(body, dict) else None)
    value = copy.deepcopy(value)
    rules.check(call, kind, call.name, value)
    return _put_over(
        call,
        key,
        live,
        value,
        lambda made: managers.after_update(kind, live, made, _manager(call), call.subresource or "", now()),
    )


def _unsupported(call):
    return status.failure(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
        f"{', '.join([JSON_PATCH, MERGE, APPLY] if call.kind.custom else [JSON_PATCH, MERGE, STRATEGIC, APPLY])}",
    )


def _apply(call):
    kind, body = call.kind, call.body
    manager = call.query.get("fieldManager")
    if not manager:
        raise status.invalid(
            "meta.k8s.io",
            "PatchOptions",
            "",
            [("FieldValueRequired", "fieldManager", "Required value: is required for apply patch")],
        )
    if "managedFields" in (body.get("metadata") or {}):
        raise status.bad_request("metadata.managedFields must be nil")
    rules.check(call, kind, call.name, body)
    key, live = _live(call)
    config = copy.deepcopy(body)
    if live is None:
        return _apply_new(call, key, config, manager)
    _check_version(call, live, body)
    merged = managers.after_apply(kind, live, config, manager, call.query.get("force") in ("true", "1"), now())
    rules.check(call, kind, call.name, merged)
    return _put_over(call, key, live, merged, None)


def _apply_new(call, key, config, manager):
    kind = call.kind
    rules.may_create(call)
    sent = (config.get("metadata") or {}).get("resourceVersion")
    if sent:
        # An apply with a resourceVersion never makes an object. Source: apiserver `registry/generic/registry/store.go`.
        raise status.modified(kind, call.name)
    applied = copy.deepcopy(config)

    def own(made):
        base = {"metadata": dict(made["metadata"])}
        merged = managers.after_apply(kind, base, applied, manager, True, now())
        if "managedFields" in merged["metadata"]:
            made["metadata"]["managedFields"] = merged["metadata"]["managedFields"]

    return _put_new(call, key, config, own)


def delete(call):
    """DELETE, with its preconditions."""
    kind = call.kind
    key, live = _live(call)
    if live is None:
        raise status.not_found(kind, call.name)
    wanted = (call.body or {}).get("preconditions") or {}
    for member, shown in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        if wanted.get(member) and wanted[member] != live["metadata"][member]:
            raise status.precondition(kind, call.name, shown, wanted[member], live["metadata"][member])
    if not call.dry_run:
        call.store.next_version()
        call.store.remove(kind, key)
        rules.after_delete(call)
    return status.success(kind, call.name, live["metadata"]["uid"])
