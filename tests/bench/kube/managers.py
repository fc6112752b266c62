"""`managedFields`: who owns which field, and what a write changes about that.

Source: kubernetes-sigs/structured-merge-diff `merge/update.go`; apimachinery `managedfields/internal`.
"""

import json

from kube import merge, status
from kube.fields import decode, encode, shown


class Owner:
    """One entry of `managedFields`."""

    def __init__(self, entry):
        self.manager = entry["manager"]
        self.operation = entry["operation"]
        self.api_version = entry["apiVersion"]
        self.subresource = entry.get("subresource", "")
        self.time = entry["time"]
        self.fields = decode(entry.get("fieldsV1", {}))

    def is_same(self, manager, operation, subresource):
        return (self.manager, self.operation, self.subresource) == (manager, operation, subresource)

    def entry(self):
        """As it is written."""
        entry = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": encode(self.fields),
        }
        if self.subresource:
            entry["subresource"] = self.subresource
        return entry

    def name_in_conflict(self):
        """An update is named with its version, an apply is not."""
        text = json.dumps(self.manager)
        if self.subresource:
            text += f" with subresource {json.dumps(self.subresource)}"
        return f"{text} using {self.api_version}" if self.operation == "Update" else text


def owners_of(value):
    """The owners of an object's fields."""
    return [Owner(entry) for entry in value.get("metadata", {}).get("managedFields", [])]


def write(value, owners):
    """Puts the owners into an object, in the API server's order; those who own nothing are left out."""
    owners = [owner for owner in owners if owner.fields]
    owners.sort(key=lambda owner: (owner.operation, owner.time, owner.manager, owner.api_version, owner.subresource))
    if owners:
        value["metadata"]["managedFields"] = [owner.entry() for owner in owners]
    else:
        value["metadata"].pop("managedFields", None)


def _find_or_make(owners, kind, manager, operation, subresource, now):
    for owner in owners:
        if owner.is_same(manager, operation, subresource):
            return owner
    owner = Owner(
        {
            "manager": manager,
            "operation": operation,
            "apiVersion": kind.api_version,
            "time": now,
            "subresource": subresource,
        }
    )
    owners.append(owner)
    return owner


def after_update(kind, old, new, manager, subresource, now):
    """Gives the fields that an update adds or changes to its manager, and takes them from all others."""
    owners = owners_of(old or {})
    before, after = merge.fields(kind, old or {}), merge.fields(kind, new)
    added, modified, removed = merge.changed(before, after)
    if added or modified or removed:
        mine = _find_or_make(owners, kind, manager, "Update", subresource, now)
        for owner in owners:
            owner.fields -= removed
            if owner is not mine:
                owner.fields -= added | modified
        mine.fields |= added | modified
        mine.time = now
    write(new, owners)


def after_apply(kind, live, config, manager, force, now):
    """The merged object of a server-side apply; raises the conflict when others own what it changes."""
    owners = owners_of(live)
    applied = set(merge.leaves(kind, config))
    mine = _find_or_make(owners, kind, manager, "Apply", "", now)
    others = [owner for owner in owners if owner is not mine]
    merged = merge.apply(kind, live, config)
    # What was applied before and is not any more goes, unless somebody else owns it too.
    given_up = mine.fields - applied
    kept = set().union(*(owner.fields for owner in others)) if others else set()
    orphans = {
        path
        for path in given_up - kept
        if not any(len(other) > len(path) and other[: len(path)] == path for other in kept | applied)
    }
    merge.without(merged, {path for path in orphans if not _is_key_of_item_that_stays(path, orphans)})
    before, after = merge.leaves(kind, live), merge.leaves(kind, merged)
    added, modified, removed = merge.changed(before, after)
    touched = added | modified
    conflicts = [(owner, path) for owner in others for path in sorted(owner.fields & touched)]
    if conflicts and not force:
        raise _conflict(conflicts)
    for owner in others:
        owner.fields -= touched | removed
    if mine.fields != applied or touched or removed:
        mine.time = now
    mine.fields = applied
    write(merged, owners)
    return merged


def _is_key_of_item_that_stays(path, orphans):
    """An item of a keyed list never loses its key before it goes itself."""
    return (
        len(path) > 1
        and path[-2].startswith("k:")
        and path[-1][2:] in json.loads(path[-2][2:])
        and path[:-1] not in orphans
    )


def _conflict(conflicts):
    """Source: apimachinery `managedfields/internal/conflict.go`."""
    named = [(owner.name_in_conflict(), shown(path)) for owner, path in conflicts]
    if len(named) == 1:
        text = f"Apply failed with 1 conflict: conflict with {named[0][0]}: {named[0][1]}"
    else:
        lines = []
        for manager in sorted({manager for manager, _ in named}):
            lines.append(f"conflicts with {manager}:")
            lines += [f"- {path}" for owner, path in named if owner == manager]
        text = f"Apply failed with {len(named)} conflicts: " + "\n".join(lines)
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": path}
        for manager, path in named
    ]
    return status.failure(409, "Conflict", text, {"causes": causes})
