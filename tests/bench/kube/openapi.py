"""As much of OpenAPI v3 as kubectl reads before it applies: that a patch takes fieldValidation and dryRun.
Source: kubernetes `staging/src/k8s.io/cli-runtime/pkg/resource/query_param_verifier_v3.go`."""

from kube import status

PREFIX = "/openapi/v3"


def answer(served, path):
    """The index, or the document of one group and version."""
    by_place = {}
    for kind in served:
        by_place.setdefault(f"apis/{kind.api_version}" if kind.group else "api/v1", []).append(kind)
    if path == PREFIX:
        places = {place: {"serverRelativeURL": f"{PREFIX}/{place}"} for place in by_place}
        return status.json_answer(200, {"paths": places})
    kinds = by_place.get(path.removeprefix(f"{PREFIX}/"))
    if kinds is None:
        raise status.page_not_found()
    return status.json_answer(
        200,
        {
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": "v1.36.2"},
            "paths": dict(_path(kind) for kind in kinds),
            "components": {"schemas": {}},
        },
    )


def _path(kind):
    base = f"/apis/{kind.api_version}" if kind.group else "/api/v1"
    scope = "/namespaces/{namespace}" if kind.namespaced else ""
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
        for name in ("dryRun", "fieldManager", "fieldValidation", "force")
    ]
    patch = {
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {"group": kind.group, "kind": kind.kind, "version": kind.version},
    }
    return f"{base}{scope}/{kind.plural}/{{name}}", {"patch": patch}
