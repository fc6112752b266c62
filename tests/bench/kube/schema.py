"""How the values of a kind are merged: which lists are keyed, which maps and lists are one value.

Custom kinds have no list types in their definitions: maps are merged, every list is one value. For the built-in
kinds these are the
merge keys and atomic structures of the fields that the bench meets. Source: kubernetes `api/core/v1/types.go` and
`api/apps/v1/types.go`,
the markers listType, listMapKey, structType and mapType.
"""

KEYED_LISTS = {
    "containers": ("name",),
    "initContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "ports": ("containerPort", "protocol"),
    "conditions": ("type",),
    "addresses": ("type",),
    "imagePullSecrets": ("name",),
    "ownerReferences": ("uid",),
}
SETS = {"finalizers"}
ATOMIC = {
    "selector",
    "nodeSelector",
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "tolerations",
    "taints",
}
# Metadata that nobody owns. Source: apimachinery `managedfields/internal/stripmeta.go`.
UNOWNED_METADATA = {
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generateName",
}


def keys_of(kind, name):
    """The merge keys of a list of that name; None when the list is one value."""
    return None if kind.custom and name != "ownerReferences" else KEYED_LISTS.get(name)


def is_atomic(kind, name):
    """Whether a map of that name is one value."""
    return not kind.custom and name in ATOMIC


def owned_part(kind, value):
    """The part of an object whose fields have owners."""
    part = {name: inner for name, inner in value.items() if name not in ("apiVersion", "kind", "metadata")}
    if kind.status_apart:
        part.pop("status", None)
    metadata = {name: inner for name, inner in value.get("metadata", {}).items() if name not in UNOWNED_METADATA}
    if metadata:
        part["metadata"] = metadata
    return part
