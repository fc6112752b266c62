"""The Kubernetes half: which object a request means, whether the caller may, and who answers."""

import json
import re
import urllib.parse

import yaml

from answer import Answer
from http_end import serve
from kube import discovery, kinds, reading, rules, status, token, writing
from kube.status import KubeError

PATH = re.compile(
    r"^/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/]+))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<subresource>[^/]+))?)?$"
)
NAMESPACE_ITSELF = re.compile(r"^/api/v1/namespaces(?:/(?P<name>[^/]+))?$")


class Call:
    """One request to the API server on its way through the bench."""

    service = "kube"

    def __init__(self, bench, request):
        self.bench = bench
        self.request = request
        self.query = dict(urllib.parse.parse_qsl(request.query_text, keep_blank_values=True))
        self.accept = request.headers.get("Accept") or ""
        self.content_type = (request.headers.get("Content-Type") or "").split(";")[0].strip()
        self.kind, self.namespace, self.name, self.subresource, self._path_found = _parse_path(request.path)
        self.verb = self._verb()
        self.action = f"{self.verb} {self.kind.plural}" if self.kind else f"{request.method.lower()} {request.path}"
        self.mutating = request.method not in ("GET", "HEAD") and self.kind is not None
        self.body, self._body_error = _read_body(request.body)
        options = self.body if request.method == "DELETE" and isinstance(self.body, dict) else {}
        self.dry_run = self.query.get("dryRun") == "All" or options.get("dryRun") == ["All"]
        self.resources = {self.name, self.namespace} - {None, ""}
        self.journal = {
            "region": None,
            "host": request.headers.get("Host"),
            "params": {
                "method": request.method,
                "path": request.path,
                "query": self.query,
                "name": self.name,
                "namespace": self.namespace,
                "content_type": self.content_type or None,
                "body": self.body,
            },
        }

    @property
    def store(self):
        return self.bench.world.kube

    @property
    def settings(self):
        return self.bench.settings

    def _verb(self):
        method = self.request.method
        if method == "GET":
            if self.query.get("watch") in ("1", "true"):
                return "watch"
            return "get" if self.name else "list"
        return {
            "POST": "create",
            "PUT": "update",
            "PATCH": "patch",
            "DELETE": "delete" if self.name else "deletecollection",
        }.get(method, "get")

    def act(self):
        """The answer and, when it is a failure, its reason."""
        try:
            self._authenticate()
            if self.kind is not None and self.request.headers.get("Impersonate-User"):
                # Nobody has been given rights but the caller.
                raise status.forbidden(
                    self.request.headers["Impersonate-User"], self.verb, self.kind, self.namespace, self.name
                )
            if self.kind is not None and not rules.permitted(self, self.verb):
                raise status.forbidden(self.settings["kube_user"], self.verb, self.kind, self.namespace, self.name)
            if self.kind is None:
                return discovery.answer(self.bench, self.request.path), None
            return self._object(), None
        except KubeError as error:
            return error.answer, error.reason

    def _authenticate(self):
        if self.request.path in ("/version", "/readyz", "/livez", "/healthz"):
            # RBAC's default role system:public-info-viewer lets anyone see these.
            return
        scheme, _, bearer = (self.request.headers.get("Authorization") or "").partition(" ")
        why = token.why_not(bearer, self.store.cluster, self.settings) if scheme == "Bearer" else "no bearer token"
        if why and bearer not in self.bench.plain_tokens:
            self.bench.refused_tokens.append(why)
            raise status.unauthorized()

    def _object(self):
        if not self._path_found or not self.store.serves(self.kind) or (self.namespace and not self.kind.namespaced):
            raise status.page_not_found()
        if self._body_error:
            raise status.bad_request(self._body_error)
        if self.verb == "list":
            return reading.listed(self, self.kind, self.namespace)
        if self.verb == "get":
            return reading.get(self, self.kind, self.namespace or "", self.name)
        if self.verb == "watch":
            raise status.failure(405, "MethodNotAllowed", "the bench has no watches", status.details_of(self.kind))
        return writing.answer(self)

    def fault_answer(self, rule):
        """The answer that a fault rule gives instead."""
        kind = rule["kind"]
        if kind == "garbage":
            return Answer(
                rule.get("status", 200), rule.get("body", "<<<not an answer").encode(), "text/html"
            ), "garbage"
        if kind == "answer":
            body = rule.get("body", "")
            return Answer(rule.get("status", 200), body.encode(), rule.get("content_type", "text/plain")), "answer"
        if kind == "deny" and self.kind:
            error = status.forbidden(self.settings["kube_user"], self.verb, self.kind, self.namespace, self.name)
        elif kind == "throttle":
            error = status.failure(
                429, "TooManyRequests", "Too many requests, please try again later.", {"retryAfterSeconds": 1}
            )
            error.answer.headers["Retry-After"] = "1"
        elif kind == "refuse":
            error = status.failure(rule.get("status", 400), rule["code"], rule.get("message", ""))
        elif kind == "error" and rule.get("status") == 503:
            error = status.failure(503, "ServiceUnavailable", "the server is currently unable to handle the request")
        elif kind == "error":
            error = status.failure(
                500,
                "InternalError",
                "Internal error occurred: etcdserver: request timed out",
                {"causes": [{"message": "etcdserver: request timed out"}]},
            )
        else:
            error = status.unauthorized()
        return error.answer, error.reason


def _parse_path(path):
    """(kind, namespace, name, subresource, whether this is a path the server has)."""
    itself = NAMESPACE_ITSELF.match(path)
    if itself:
        return kinds.KINDS["namespaces"], None, itself["name"], None, True
    found = PATH.match(path)
    if not found:
        return None, None, None, None, False
    group, version = (found["group"] or "", found["version"] or found["core"])
    kind = kinds.find(group, version, found["plural"])
    if kind:
        return kind, found["namespace"], found["name"], found["subresource"], True
    # Another version of a kind that is known: the caller's wish can be named, and answered with 404.
    for other in kinds.KINDS.values():
        if other.group == group and other.plural == found["plural"]:
            return other, found["namespace"], found["name"], found["subresource"], False
    return None, None, None, None, False


def _read_body(body):
    if not body:
        return None, None
    try:
        return json.loads(body), None
    except ValueError:
        pass
    try:
        return yaml.safe_load(body), None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        return None, f"error decoding the body: {error}"


class KubeHalf:
    """Answers what comes in over TLS."""

    def __init__(self, bench):
        self.bench = bench

    def handle(self, request, handler):
        serve(self.bench, handler, request, Call(self.bench, request))
