"""The control requests of a test: everything under /bench/ on the AWS port. See README.md."""

import json
import traceback
import urllib.parse

import seed
from answer import Answer
from kube import kinds, merge, reading
from seed import large


def run(bench, method, name, body, query=None):
    """Runs a control request from inside."""
    return ACTIONS[(method, name)](bench, body, query or {})


def answer(bench, request):
    """The answer to a control request; what the bench does not understand is a 400 with the reason."""
    name = request.path.removeprefix("/bench/")
    action = ACTIONS.get((request.method, name))
    if action is None:
        return _json(
            404,
            {"error": f"no {request.method} {request.path}", "known": sorted(f"{m} /bench/{n}" for m, n in ACTIONS)},
        )
    query = dict(urllib.parse.parse_qsl(request.query_text))
    try:
        body = json.loads(request.body) if request.body else None
        return _json(200, action(bench, body, query))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return _json(400, {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()})


def _json(status, body):
    return Answer(status, json.dumps(body).encode() + b"\n")


def _journal(bench, _, query):
    entries = bench.journal.entries()
    if query.get("mutating") == "true":
        entries = [entry for entry in entries if entry["mutating"] and not entry["dry_run"]]
    if "service" in query:
        entries = [entry for entry in entries if entry["service"] == query["service"]]
    return entries


def _clear_journal(bench, *_):
    bench.journal.reset()
    return {}


def _get_faults(bench, *_):
    return bench.faults.rules()


def _put_faults(bench, body, _):
    bench.faults.put(body)
    return {}


def _add_faults(bench, body, _):
    bench.faults.add(body)
    return {}


def _get_settings(bench, *_):
    return bench.settings


def _change_settings(bench, body, _):
    unknown = set(body) - set(bench.settings)
    if unknown:
        raise ValueError(f"unknown settings: {sorted(unknown)}")
    with bench.lock:
        bench.settings.update(body)
    return bench.settings


def _seed(bench, body, _):
    with bench.lock:
        return seed.seed(bench, body)


def _seed_large(bench, body, _):
    with bench.lock:
        return large.seed_large(bench, body or {})


def _snapshot(bench, _, query):
    bench.keep(query.get("name", "default"))
    return {}


def _restore(bench, _, query):
    bench.put_back(query.get("name", "default"))
    return {}


def _reset(bench, *_):
    bench.reset()
    return {}


def _release(bench, *_):
    bench.held.release()
    return {}


def _held(bench, _, query):
    return bench.held.calls(int(query.get("at_least", 0)), float(query.get("timeout", 0)))


def _refused_tokens(bench, *_):
    return list(bench.refused_tokens)


def _plain_tokens(bench, body, _):
    bench.plain_tokens = set(body)
    return {}


def _state(bench, *_):
    return bench.shown()


def _consoles(bench, *_):
    return bench.world.consoles


def _objects(bench, body, _):
    with bench.lock:
        for value in body:
            seed.put_plain(bench, value)
    return {}


def _patch(bench, body, _):
    """Merge patches without the API's rules and owners: [{"kind": "nodes", "namespace", "name", "patch"}]; a null
    patch deletes."""
    with bench.lock:
        for one in body:
            kind = kinds.KINDS[one["kind"]]
            key = (one.get("namespace", ""), one["name"])
            if one["patch"] is None:
                bench.world.kube.remove(kind, key)
                continue
            value = merge.json_merge_patch(reading.load(bench.world.kube.objects[kind.key][key], kind), one["patch"])
            value["metadata"]["resourceVersion"] = bench.world.kube.next_version()
            bench.world.kube.put(kind, key, value)
    return {}


def _patch_aws(bench, body, _):
    """Merge patches of AWS objects: [{"store": "subnets", "id", "patch", "region"}]; a null patch deletes. A store
    is that of `seed`; of
    clusters also "nodegroups" and "addons" as {"store": "clusters", "id": "demo", "patch": {"nodegroups": {...}}}."""
    with bench.lock:
        for one in body:
            store = getattr(bench.world.region(one.get("region", bench.default_region)), one["store"])
            if one["patch"] is None:
                del store[one["id"]]
            else:
                _merge_in_place(store[one["id"]], one["patch"])
    return {}


def _merge_in_place(value, patch):
    """Keeps the objects themselves: what is in progress refers to them."""
    for name, inner in patch.items():
        if inner is None:
            value.pop(name, None)
        elif isinstance(inner, dict) and isinstance(value.get(name), dict):
            _merge_in_place(value[name], inner)
        else:
            value[name] = inner


def _put_later(bench, body, _):
    bench.later.put(body)
    return {}


ACTIONS = {
    ("GET", "journal"): _journal,
    ("DELETE", "journal"): _clear_journal,
    ("GET", "faults"): _get_faults,
    ("PUT", "faults"): _put_faults,
    ("POST", "faults"): _add_faults,
    ("GET", "settings"): _get_settings,
    ("POST", "settings"): _change_settings,
    ("POST", "seed"): _seed,
    ("POST", "seed-large"): _seed_large,
    ("POST", "snapshot"): _snapshot,
    ("POST", "restore"): _restore,
    ("POST", "reset"): _reset,
    ("POST", "release"): _release,
    ("GET", "held"): _held,
    ("GET", "refused-tokens"): _refused_tokens,
    ("PUT", "plain-tokens"): _plain_tokens,
    ("GET", "state"): _state,
    ("POST", "objects"): _objects,
    ("GET", "consoles"): _consoles,
    ("POST", "patch"): _patch,
    ("POST", "patch-aws"): _patch_aws,
    ("PUT", "later"): _put_later,
}
