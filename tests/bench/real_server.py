"""A real API server, given by ENIPLAN_TEST_KUBECONFIG, that answers in the bench's place. It must be one to throw
away: the recording
makes and deletes a DaemonSet in kube-system and a node."""

import base64
import json
import os
import pathlib
import ssl
import tempfile
import urllib.error
import urllib.request

import yaml

VARIABLE = "ENIPLAN_TEST_KUBECONFIG"


def real_server():
    """The server of the variable's file; None without the variable."""
    path = os.environ.get(VARIABLE)
    return RealServer(path) if path else None


def _named(entries, name, member):
    return next(entry[member] for entry in entries if entry["name"] == name)


class RealServer:
    """Requests with the credentials of a kubeconfig: a token or a client certificate."""

    def __init__(self, path):
        config = yaml.safe_load(pathlib.Path(path).read_text())
        context = _named(config["contexts"], config["current-context"], "context")
        cluster, user = (
            _named(config["clusters"], context["cluster"], "cluster"),
            _named(config["users"], context["user"], "user"),
        )
        self.server = cluster["server"].rstrip("/")
        self.tls = ssl.create_default_context(cadata=self._text(cluster, "certificate-authority"))
        self.bearer = user.get("token")
        if "client-certificate" in user or "client-certificate-data" in user:
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(self._text(user, "client-certificate") + self._text(user, "client-key"))
                file.flush()
                self.tls.load_cert_chain(file.name)
        elif not self.bearer:
            raise ValueError(f"{path}: the user has neither a token nor a client certificate")

    def _text(self, entry, member):
        if f"{member}-data" in entry:
            return base64.b64decode(entry[f"{member}-data"]).decode()
        return pathlib.Path(entry[member]).read_text() if member in entry else None

    def kube(
        self, method, path, body=None, content_type=None, accept="application/json", token=None, agent=None, user=None
    ):
        """(status, content type, body), as `client.Bench.kube` gives them. `user` is impersonated."""
        headers = {"Accept": accept}
        if token or self.bearer:
            headers["Authorization"] = f"Bearer {token or self.bearer}"
        for name, value in (("Content-Type", content_type), ("User-Agent", agent), ("Impersonate-User", user)):
            if value:
                headers[name] = value
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.server + path, method=method, data=data, headers=headers)
        try:
            answer = urllib.request.urlopen(request, context=self.tls)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            raw, kind = answer.read(), answer.headers["Content-Type"]
            return answer.status, kind, json.loads(raw) if kind == "application/json" else raw.decode()
