"""What is not an object: version, health, and the discovery that kubectl asks for."""

from answer import Answer
from kube import kinds, openapi, status

VERBS = ["create", "delete", "get", "list", "patch", "update"]
SHORT_NAMES = {
    "daemonsets": ["ds"],
    "deployments": ["deploy"],
    "nodes": ["no"],
    "pods": ["po"],
    "namespaces": ["ns"],
    "configmaps": ["cm"],
}


def answer(bench, path):
    """The answer to a path that names no object."""
    if path in ("/readyz", "/livez", "/healthz"):
        return Answer(200, b"ok", "text/plain; charset=utf-8")
    if path == "/version":
        return status.json_answer(
            200, {"major": "1", "minor": "36", "gitVersion": "v1.36.2-eks-bench", "platform": "linux/amd64"}
        )
    if path == "/api":
        return status.json_answer(200, {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
    served = [kind for kind in kinds.KINDS.values() if bench.world.kube.serves(kind)]
    if path.startswith(openapi.PREFIX):
        return openapi.answer(served, path)
    if path == "/apis":
        return status.json_answer(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": _groups(served)})
    for kind in served:
        base = f"/apis/{kind.api_version}" if kind.group else "/api/v1"
        if path == base:
            return status.json_answer(
                200, _resources(kind.api_version, [one for one in served if one.api_version == kind.api_version])
            )
    raise status.page_not_found()


def _groups(served):
    groups = {}
    for kind in served:
        if kind.group:
            versions = groups.setdefault(kind.group, [])
            if kind.version not in versions:
                versions.append(kind.version)
    return [
        {
            "name": group,
            "versions": [{"groupVersion": f"{group}/{version}", "version": version} for version in versions],
            "preferredVersion": {"groupVersion": f"{group}/{versions[0]}", "version": versions[0]},
        }
        for group, versions in groups.items()
    ]


def _resources(api_version, served):
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": api_version,
        "resources": [
            {
                "name": kind.plural,
                "singularName": kind.kind.lower(),
                "namespaced": kind.namespaced,
                "kind": kind.kind,
                "verbs": VERBS,
                "shortNames": SHORT_NAMES.get(kind.plural, []),
            }
            for kind in served
        ],
    }
