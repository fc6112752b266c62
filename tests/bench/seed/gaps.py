"""The gaps of an inventory file become faults, so that reading the cluster has the same gaps."""

# What services answer when the caller may not. Gaps of other kinds, such as an API server that cannot be reached,
# follow from the rest.
DENIALS = {"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "403", "Forbidden"}


def rules(gaps):
    """One standing fault for each read that was denied."""
    return [_rule(gap) for gap in gaps if gap.get("code") in DENIALS]


def _rule(gap):
    action = gap["action"]
    service, _, name = action.partition(":") if ":" in action else ("kube", "", action)
    rule = {"service": service, "action": name, "kind": "deny"}
    if service != "kube":
        rule["message"] = gap["message"]
    if gap.get("resource"):
        rule["resource"] = gap["resource"]
    return rule
