"""Single objects and lists: pages, label and field selectors, metadata only."""

import base64
import json
import re

from answer import Answer
from kube import kinds, rollout, status

METADATA_ONLY = re.compile(r"as=(PartialObjectMetadata(?:List)?);g=meta\.k8s\.io;v=v1")


def load(value, kind=None):
    """An object of the store; large seeds keep bytes, as lists send them."""
    if not isinstance(value, bytes):
        return value
    value = json.loads(value)
    return {"kind": kind.kind, "apiVersion": kind.api_version, **value} if kind else value


def get(call, kind, namespace, name):
    """One object."""
    value = call.store.objects[kind.key].get((namespace, name))
    if value is None:
        raise status.not_found(kind, name)
    if kind is kinds.DAEMON_SET:
        rollout.look(call.store, (namespace, name), value)
    if METADATA_ONLY.search(call.accept):
        return status.json_answer(200, _metadata_only(load(value)))
    return status.json_answer(200, load(value, kind))


def listed(call, kind, namespace):
    """A list, or a page of one."""
    store = call.store
    if kind is kinds.NODE and not call.query.get("continue"):
        store.arrive()
    keys = store.keys(kind)
    if namespace:
        keys = [key for key in keys if key[0] == namespace]
    limit = _limit(call)
    version, start = store.resource_version, None
    token = call.query.get("continue")
    if token:
        version, start = _decode(token, kind)
    selector = _label_selector(call.query.get("labelSelector", "")) + _field_selector(
        call.query.get("fieldSelector", "")
    )
    after = [key for key in store.keys_after(kind, start) if not namespace or key[0] == namespace] if start else keys
    chosen, rest = _page(store, kind, after, limit, selector)
    metadata = {}
    if rest:
        metadata["continue"] = _encode(version, chosen[-1][0], kind)
        if not selector:
            metadata["remainingItemCount"] = rest
    elif kind.custom:
        metadata["continue"] = ""
    metadata["resourceVersion"] = str(version)
    return _written(call, kind, metadata, [value for _, value in chosen])


def _limit(call):
    text = call.query.get("limit", "0")
    wanted = int(text) if text.isdigit() else 0
    most = call.settings["kube_page_size"]
    return min(wanted or most, most or wanted)


def _page(store, kind, keys, limit, selector):
    """The entries of a page and how many may follow."""
    objects = store.objects[kind.key]
    if not selector:
        end = limit or len(keys)
        return [(key, objects[key]) for key in keys[:end]], max(0, len(keys) - end)
    chosen = []
    for at, key in enumerate(keys):
        value = load(objects[key])
        if all(test(value) for test in selector):
            chosen.append((key, value))
            if limit and len(chosen) == limit:
                return chosen, len(keys) - at - 1
    return chosen, 0


def _written(call, kind, metadata, values):
    partial = METADATA_ONLY.search(call.accept)
    if partial:
        items = [_metadata_only(load(value)) for value in values]
        body = {
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            "items": items,
        }
        return status.json_answer(200, body)
    # Items of a built-in kind come without kind and apiVersion, those of a custom kind with both.
    head = {"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": metadata}
    text = json.dumps(head, separators=(",", ":")).encode()
    items = b",".join(value if isinstance(value, bytes) else _item(kind, value) for value in values)
    return Answer(200, text[:-1] + b',"items":[' + items + b"]}\n", "application/json")


def _item(kind, value):
    if not kind.custom:
        value = {name: inner for name, inner in value.items() if name not in ("kind", "apiVersion")}
    return json.dumps(value, separators=(",", ":")).encode()


def _metadata_only(value):
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": value["metadata"]}


def _encode(version, key, kind):
    # Source: apimachinery `pkg/.../storage/continue.go`: the key behind the kind's prefix, and one zero byte more.
    namespace, name = key
    start = f"{namespace}/{name}\0" if kind.namespaced else f"{name}\0"
    if kind.custom:
        start = f"/{start}"
    token = json.dumps({"v": "meta.k8s.io/v1", "rv": version, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


def _decode(token, kind):
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except ValueError as error:
        raise status.bad_request("continue key is not valid: illegal base64 data") from error
    try:
        content = json.loads(raw)
        start = content["start"].rstrip("\0").removeprefix("/")
        namespace, _, name = start.rpartition("/") if kind.namespaced else ("", "", start)
        return content["rv"], (namespace, name)
    except (ValueError, KeyError, TypeError) as error:
        first = chr(raw[0]) if raw else ""
        raise status.bad_request(
            f"invalid continue token: continue key is not valid: invalid character '{first}' looking for "
            "beginning of value"
        ) from error


def _label_selector(text):
    """Tests for `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`."""
    tests = []
    for part in (found.strip() for found in re.findall(r"[^,(]+(?:\([^)]*\))?", text)):
        if found := re.fullmatch(r"(\S+)\s+(in|notin)\s+\(([^)]*)\)", part):
            values = {value.strip() for value in found[3].split(",")}
            tests.append(_label_test(found[1], values.__contains__, found[2] == "notin"))
        elif "!=" in part:
            key, _, wanted = part.partition("!=")
            tests.append(_label_test(key.strip(), {wanted.strip()}.__contains__, True))
        elif "=" in part:
            key, _, wanted = part.replace("==", "=").partition("=")
            tests.append(_label_test(key.strip(), {wanted.strip()}.__contains__, False))
        elif part.startswith("!"):
            tests.append(_label_test(part[1:], lambda value: value is not None, True))
        elif part:
            tests.append(_label_test(part, lambda value: value is not None, False))
    return tests


def _label_test(key, accepts, negated):
    return lambda item: accepts((item["metadata"].get("labels") or {}).get(key)) != negated


def _field_selector(text):
    tests = []
    for part in filter(None, text.split(",")):
        path, _, wanted = part.replace("!=", "\1=").replace("==", "=").partition("=")
        negated = path.endswith("\1")
        names = path.rstrip("\1").split(".")
        tests.append(_field_test(names, wanted, negated))
    return tests


def _field_test(names, wanted, negated):
    def test(item):
        for name in names:
            item = item.get(name, "") if isinstance(item, dict) else ""
        return (str(item) == wanted) != negated

    return test
