"""What EKS does in the cluster for the vpc-cni add-on: a server-side apply as the manager `eks`.

Source: EKS User Guide, "Determine fields you can customize for Amazon EKS add-ons", and UpdateAddon's
resolveConflicts: NONE fails on a
changed field, OVERWRITE sets it back, PRESERVE leaves it.
"""

import copy
import json

from aws import cni_addon
from kube import defaults, definition, kinds, managers, merge, rollout
from kube.status import KubeError
from kube.writing import now

KEY = ("kube-system", "aws-node")


def bring(call, addon, values_before, mode):
    """Brings environment, version and ENIConfigs to the cluster; an issue when that fails."""
    store, world = call.bench.world.kube, call.bench.world
    values = cni_addon.parse(addon["configurationValues"])
    live = store.objects[kinds.DAEMON_SET.key].get(KEY)
    image = f"602401143452.dkr.ecr.{call.region.name}.amazonaws.com/amazon-k8s-cni:{addon['addonVersion']}"
    if live is None:
        _make(world, image, {**cni_addon.DEFAULT_ENV, **values.get("env", {})})
    else:
        problem = _update(call, live, image, values.get("env", {}), cni_addon.parse(values_before).get("env", {}), mode)
        if problem:
            return problem
    _install_definition(world)
    for name, entry in sorted(values.get("eniConfig", {}).get("subnets", {}).items()):
        if values["eniConfig"]["create"]:
            _eni_config(world, name, entry)
    return None


def _config(image, env):
    container = {"name": "aws-node", "env": [{"name": name, "value": value} for name, value in sorted(env.items())]}
    if image:
        container["image"] = image
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "aws-node", "namespace": "kube-system"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


def _update(call, live, image, env, env_before, mode):
    kind, store = kinds.DAEMON_SET, call.bench.world.kube
    wanted = _wanted_env(live, env, env_before)
    for name in call.settings["addon_env_lost"]:
        wanted.pop(name, None)
    config = _config(image, wanted)
    try:
        merged = managers.after_apply(kind, copy.deepcopy(live), config, "eks", mode == "OVERWRITE", now())
    except KubeError as error:
        if mode != "PRESERVE":
            message = json.loads(error.answer.body)["message"]
            return {
                "code": "ConfigurationConflict",
                "resourceIds": [],
                "message": "Conflicts found when trying to apply. Will not continue due to resolve conflicts mode. "
                f"Conflicts: DaemonSet.apps aws-node - {message}",
            }
        config = _config(None if _is_foreign(error, ".image") else image, _without_foreign(wanted, error))
        merged = managers.after_apply(kind, copy.deepcopy(live), config, "eks", False, now())
    if merged != live:
        merged["metadata"]["generation"] = live["metadata"].get("generation", 1) + 1
        defaults.apply(kind, merged, False)
        merged["metadata"]["resourceVersion"] = store.next_version()
        store.put(kind, KEY, merged)
        rollout.start(store, KEY, merged, call.settings["polls"])
    return None


def _wanted_env(live, env, env_before):
    """The defaults, what EKS owns already, and the configured values; what was configured and is not any more goes
    back."""
    owned = set()
    for owner in managers.owners_of(live):
        if owner.manager == "eks" and owner.operation == "Apply":
            owned = {
                json.loads(path[-2][2:])["name"]
                for path in owner.fields
                if path[-1] == "f:value" and path[-3] == "f:env"
            }
    container = next(one for one in live["spec"]["template"]["spec"]["containers"] if one["name"] == "aws-node")
    present = {entry["name"]: entry.get("value", "") for entry in container.get("env", [])}
    kept = {name: present[name] for name in owned & set(present) if name not in env_before}
    return {**cni_addon.DEFAULT_ENV, **kept, **env}


def _is_foreign(error, end):
    return any(cause["field"].endswith(end) for cause in json.loads(error.answer.body)["details"]["causes"])


def _without_foreign(wanted, error):
    foreign = {cause["field"] for cause in json.loads(error.answer.body)["details"]["causes"]}
    return {
        name: value for name, value in wanted.items() if not any(f'env[name="{name}"]' in field for field in foreign)
    }


def _make(world, image, env):
    labels = {"k8s-app": "aws-node"}
    value = {
        **_config(image, env),
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _config(image, env)["spec"]["template"]["spec"]},
        },
    }
    value["metadata"].update(
        uid=world.new_uid(),
        creationTimestamp=now(),
        generation=1,
        labels={**labels, "app.kubernetes.io/name": "aws-node"},
    )
    applied = copy.deepcopy(value)
    merged = managers.after_apply(kinds.DAEMON_SET, {"metadata": dict(value["metadata"])}, applied, "eks", True, now())
    value["metadata"]["managedFields"] = merged["metadata"]["managedFields"]
    defaults.daemon_set(value)
    nodes = len(world.kube.objects[kinds.NODE.key])
    value["status"] = rollout.rolled_out(1, nodes)
    value["metadata"]["resourceVersion"] = world.kube.next_version()
    world.kube.put(kinds.DAEMON_SET, KEY, value)


def _install_definition(world):
    if kinds.ENI_CONFIG.key not in {name for _, name in world.kube.objects[kinds.CRD.key]}:
        definition.put(world, True)


def _eni_config(world, name, entry):
    kind, store = kinds.ENI_CONFIG, world.kube
    spec = {"subnet": entry["id"]}
    if entry.get("securityGroups"):
        spec["securityGroups"] = entry["securityGroups"]
    config = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "spec": spec}
    live = store.objects[kind.key].get(("", name))
    base = live or {"metadata": {"name": name, "uid": world.new_uid(), "creationTimestamp": now(), "generation": 0}}
    merged = managers.after_apply(kind, copy.deepcopy(base), config, "eks", True, now())
    if merged == live:
        return
    merged.update(apiVersion=kind.api_version, kind=kind.kind)
    if merge.leaves(kind, merged) != merge.leaves(kind, base):
        merged["metadata"]["generation"] = base["metadata"].get("generation", 1) + 1
    merged["metadata"]["resourceVersion"] = store.next_version()
    store.put(kind, ("", name), merged)
