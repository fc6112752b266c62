"""Sets of fields, as `managedFields` holds them: a field is a tuple of `f:name`, `k:{…}` and `v:…` elements.
Source: kubernetes-sigs/structured-merge-diff, `fieldpath`."""

import json


def encode(fields):
    """FieldsV1 of a set: a leaf is an empty object, a member that has others below it carries a dot."""
    root = {}
    for path in sorted(fields):
        node = root
        for element in path:
            node = node.setdefault(element, {})
        node.setdefault(".", {})
    return _tidy(root)


def _tidy(node):
    children = {element: _tidy(inner) for element, inner in node.items() if element != "."}
    if "." in node and children:
        return {".": {}, **children}
    return children


def decode(fields_v1, prefix=()):
    """The set that a FieldsV1 holds."""
    found = set()
    for element, inner in fields_v1.items():
        if element == ".":
            found.add(prefix)
        elif inner:
            found |= decode(inner, (*prefix, element))
        else:
            found.add((*prefix, element))
    return found


def shown(path):
    """`.spec.template.spec.containers[name="aws-node"].image`, as conflicts print it."""
    text = ""
    for element in path:
        kind, _, rest = element.partition(":")
        if kind == "f":
            text += f".{rest}"
        elif kind == "k":
            keys = json.loads(rest)
            text += "[" + ",".join(f"{name}={json.dumps(value)}" for name, value in sorted(keys.items())) + "]"
        else:
            text += f"[={rest}]"
    return text
