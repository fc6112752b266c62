"""EC2's Filters: values are alternatives, filters add up, `*` and `?` are wildcards; an unknown name is an error.
Source: EC2 User Guide, "List and filter using the CLI and API"."""

import fnmatch
import re

from aws.errors import AwsError


def tags_of(item, name="Tags"):
    """The tags of an EC2 object as a dictionary; network interfaces keep theirs under TagSet."""
    return {tag["Key"]: tag["Value"] for tag in item.get(name, ())}


def apply(call, items, known, tags="Tags"):
    """The items that pass. `known` maps a filter's name to a function that gives an item's values (a list of
    strings)."""
    for wanted in call.parameters.get("Filters", ()):
        name, values = wanted.get("Name"), wanted.get("Values", [])
        if not values:
            raise AwsError("InvalidParameterValue", f"The filter '{name}' has no values")
        match = _matcher(values)
        if name == "tag-key":
            items = [item for item in items if any(match(key) for key in tags_of(item, tags))]
        elif name and name.startswith("tag:"):
            key = name[4:]
            items = [item for item in items if (value := tags_of(item, tags).get(key)) is not None and match(value)]
        elif name in known:
            of = known[name]
            items = [item for item in items if any(match(value) for value in of(item))]
        else:
            raise AwsError("InvalidParameterValue", f"The filter '{name}' is invalid")
    return items


def _matcher(values):
    plain = {value for value in values if "*" not in value and "?" not in value}
    patterns = [re.compile(fnmatch.translate(value.replace("[", "[[]"))) for value in values if value not in plain]
    return lambda text: text in plain or any(pattern.match(text) for pattern in patterns)


def by_ids(items, ids, code, words, pattern):
    """Those of the ids, in the order of the store. EC2 checks form first, then names every one that is missing."""
    if not ids:
        return list(items.values())
    for one in ids:
        if not re.fullmatch(pattern, one):
            raise AwsError(f"{code}.Malformed", f'Invalid id: "{one}"')
    missing = [one for one in ids if one not in items]
    if missing:
        text = (
            f"The {words} ID '{missing[0]}' does not exist"
            if len(missing) == 1
            else f"The {words} IDs '{', '.join(missing)}' do not exist"
        )
        raise AwsError(f"{code}.NotFound", text)
    return [item for one, item in items.items() if one in set(ids)]


def member(*path):
    """A getter for a filter: the value at a path of members, as text; booleans as EC2 writes them."""

    def get(item):
        for name in path:
            item = item.get(name) if isinstance(item, dict) else None
            if item is None:
                return []
        if isinstance(item, bool):
            return ["true" if item else "false"]
        return [str(item)]

    return get


def members(outer, *path):
    """A getter for a filter over a list of structures."""
    inner = member(*path)
    return lambda item: [value for entry in item.get(outer, ()) for value in inner(entry)]
