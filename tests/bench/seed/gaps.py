"""The gaps of an inventory file become faults, so that reading the cluster has the same gaps."""


def rules(gaps):
    """One standing fault for each gap."""
    return [_rule(gap) for gap in gaps]


def _rule(gap):
    action = gap["action"]
    service, _, name = action.partition(":") if ":" in action else ("kube", "", action)
    rule = {"service": service, "action": name, "kind": "deny"}
    if service != "kube":
        rule["message"] = gap["message"]
    if gap.get("resource"):
        rule["resource"] = gap["resource"]
    return rule
