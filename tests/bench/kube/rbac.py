"""RBAC rules, evaluated for a request. Source: Kubernetes documentation, "Using RBAC Authorization"."""


def allows(rules, verb, kind, namespace, name):
    """Whether one of the rules permits it. A rule with `namespace` is of a Role there, one without of a
    ClusterRole. A list or a create
    names no object, so `resourceNames` never permits it."""
    return any(_permits(rule, verb, kind, namespace, name) for rule in rules)


def _permits(rule, verb, kind, namespace, name):
    return (
        rule.get("namespace", namespace) == namespace
        and (kind.group in rule.get("apiGroups", []) or "*" in rule.get("apiGroups", []))
        and (kind.plural in rule.get("resources", []) or "*" in rule.get("resources", []))
        and (verb in rule.get("verbs", []) or "*" in rule.get("verbs", []))
        and (not rule.get("resourceNames") or (verb != "create" and name in rule["resourceNames"]))
    )
