"""Objects as fields, and merges of objects: what server-side apply, merge patches and updates need.

Source: kubernetes-sigs/structured-merge-diff, `typed` and `merge`.
"""

import copy
import json

from kube import schema


def key_element(item, keys):
    """`k:{…}` of an item of a keyed list."""
    chosen = {key: item[key] for key in keys if key in item}
    return f"k:{json.dumps(chosen, separators=(',', ':'), sort_keys=True)}"


def leaves(kind, value):
    """Every field of an object and its value: leaves, and items of keyed lists (with None). What an apply owns."""
    return dict(_walk(kind, schema.owned_part(kind, value), (), None, False))


def fields(kind, value):
    """The same, and maps and keyed lists themselves: what an update owns when it adds them."""
    return {
        path: inner
        for path, inner in _walk(kind, schema.owned_part(kind, value), (), None, True)
        if path not in kind.always
    }


def _walk(kind, value, path, name, parents):
    if isinstance(value, dict) and value and not (name and schema.is_atomic(kind, name)):
        if path and parents:
            yield path, None
        for inner_name, inner in value.items():
            yield from _walk(kind, inner, (*path, f"f:{inner_name}"), inner_name, parents)
        return
    keys = schema.keys_of(kind, name) if isinstance(value, list) and value else None
    if keys:
        if parents:
            yield path, None
        for item in value:
            item_path = (*path, key_element(item, keys))
            yield item_path, None
            for inner_name, inner in item.items():
                yield from _walk(kind, inner, (*item_path, f"f:{inner_name}"), inner_name, parents)
        return
    if isinstance(value, list) and name in schema.SETS:
        for item in value:
            yield (*path, f"v:{json.dumps(item)}"), None
        return
    yield path, json.dumps(value, sort_keys=True)


def changed(old, new):
    """(added, modified, removed) between two results of `leaves` or `fields`."""
    added = {path for path in new if path not in old}
    modified = {path for path in new if path in old and new[path] != old[path]}
    removed = {path for path in old if path not in new}
    return added, modified, removed


def apply(kind, live, config):
    """`live` with `config` merged over it: maps and keyed lists by member, everything else replaced."""
    return _merge(kind, live, config, None)


def _merge(kind, live, config, name):
    if isinstance(live, dict) and isinstance(config, dict) and not (name and schema.is_atomic(kind, name)):
        result = dict(live)
        for inner_name, inner in config.items():
            result[inner_name] = _merge(kind, live.get(inner_name), inner, inner_name)
        return result
    keys = schema.keys_of(kind, name) if isinstance(live, list) and isinstance(config, list) else None
    if keys:
        by_key = {key_element(item, keys): item for item in config}
        result = [_merge(kind, item, by_key.pop(key_element(item, keys), {}), None) for item in live]
        return result + [copy.deepcopy(item) for item in by_key.values()]
    return copy.deepcopy(config)


def without(value, paths):
    """The object without the fields of these paths; deepest first, so that an item goes after its members."""
    for path in sorted(paths, key=len, reverse=True):
        _drop(value, path)
    return value


def _drop(node, path):
    *outer, last = path
    for element in outer:
        node = _child(node, element)
        if node is None:
            return
    if last.startswith("f:"):
        if isinstance(node, dict):
            node.pop(last[2:], None)
    elif isinstance(node, list):
        item = _child(node, last)
        if item in node:
            node.remove(item)


def _child(node, element):
    kind, _, rest = element.partition(":")
    if kind == "f":
        return node.get(rest) if isinstance(node, dict) else None
    if not isinstance(node, list):
        return None
    wanted = json.loads(rest)
    if kind == "v":
        return wanted if wanted in node else None
    return next((item for item in node if all(item.get(key) == inner for key, inner in wanted.items())), None)


def json_merge_patch(value, patch):
    """RFC 7396."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(value) if isinstance(value, dict) else {}
    for name, inner in patch.items():
        if inner is None:
            result.pop(name, None)
        else:
            result[name] = json_merge_patch(result.get(name), inner)
    return result


def strategic_merge_patch(kind, value, patch, name=None):
    """A JSON merge patch that merges keyed lists by key; `$patch: delete` takes an item away."""
    if isinstance(patch, dict) and isinstance(value, dict):
        result = dict(value)
        for inner_name, inner in patch.items():
            if inner is None:
                result.pop(inner_name, None)
            elif not inner_name.startswith("$"):
                result[inner_name] = strategic_merge_patch(kind, result.get(inner_name), inner, inner_name)
        return result
    keys = schema.keys_of(kind, name) if isinstance(patch, list) else None
    if not keys:
        return json_merge_patch({}, patch) if isinstance(patch, dict) else copy.deepcopy(patch)
    result = list(value or [])
    for item in patch:
        at = next((i for i, one in enumerate(result) if key_element(one, keys) == key_element(item, keys)), None)
        if item.get("$patch") == "delete":
            if at is not None:
                del result[at]
        elif at is None:
            result.append(copy.deepcopy(item))
        else:
            result[at] = strategic_merge_patch(kind, result[at], item)
    return result
