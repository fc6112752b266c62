#!/usr/bin/env python3
"""Stand-ins for `aws` and `kubectl` over the bench: they take the same words and print the same JSON.

    commands.py PORTS

Prints its port, and answers there until its standard input is closed. A question is Region, cluster, `aws` or `kubectl` and
the further words, each with a NUL behind it, and one NUL more. The answer is a line with the exit code, then what the command
prints: on standard output for 0, else on standard error.
"""

import datetime
import json
import pathlib
import socketserver
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))

import base64  # noqa: E402
import ssl  # noqa: E402

import jmespath  # noqa: E402
from botocore import xform_name  # noqa: E402
from botocore.exceptions import ClientError  # noqa: E402
from client import Bench  # noqa: E402

# Kinds that a command names, and where the API server has them.
PATHS = {
    "nodes": "/api/v1/nodes",
    "pods": "/api/v1/pods",
    "daemonsets": "/apis/apps/v1/daemonsets",
    "crds": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "eniconfigs": "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs",
    "cninodes": "/apis/vpcresources.k8s.aws/v1alpha1/cninodes",
    "securitygrouppolicies": "/apis/vpcresources.k8s.aws/v1beta1/securitygrouppolicies",
    "nodepools.karpenter.sh": "/apis/karpenter.sh/v1/nodepools",
    "ec2nodeclasses.karpenter.k8s.aws": "/apis/karpenter.k8s.aws/v1/ec2nodeclasses",
}


class Failed(Exception):
    """The command ends with this on standard error, and with nothing on standard output."""


class RunningBench(Bench):
    """A bench that somebody else has started."""

    def __init__(self, ports):
        self.ports = ports
        self.tls = ssl.create_default_context(cadata=base64.b64decode(ports["certificate_authority"]).decode())
        self._tokens = {}
        self.clients = {}

    def client(self, service, region):
        """A client, made once."""
        if (service, region) not in self.clients:
            self.clients[service, region] = self.aws(service, region=region)
        return self.clients[service, region]


def run(bench, region, cluster, words):
    """What a command prints."""
    program, *words = words
    if program == "aws":
        return aws(bench, region, words)
    assert program == "kubectl", program
    return kubectl(bench, region, cluster, words)


def aws(bench, region, words):
    """`aws SERVICE OPERATION --OPTION VALUE...`, with `--output` and `--query`."""
    service, operation, *words = words
    options = {}
    while words:
        name = words.pop(0).removeprefix("--")
        options[name] = []
        while words and not words[0].startswith("--"):
            options[name].append(words.pop(0))
    output = options.pop("output", ["json"])[0]
    query = options.pop("query", [None])[0]
    client = bench.client(service, region)
    method = operation.replace("-", "_")
    shape = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[method]).input_shape
    members = {xform_name(name, "-"): name for name in shape.members}
    # A misspelt option is an error of the test.
    request = {
        members[name]: _value(shape.members[members[name]], values) for name, values in options.items()
    }
    try:
        if client.can_paginate(method):
            answer = client.get_paginator(method).paginate(**request).build_full_result()
        else:
            answer = getattr(client, method)(**request)
            answer.pop("ResponseMetadata")
    except ClientError as error:
        raise Failed(str(error)) from error
    if query:
        answer = jmespath.search(query, answer)
    if output == "text":
        return "\t".join(map(str, answer if isinstance(answer, list) else [answer])) + "\n"
    assert output == "json", output
    # Times as version 2 writes them, `cli_timestamp_format = iso8601`.
    return json.dumps(answer, indent=4, default=datetime.datetime.isoformat, ensure_ascii=False) + "\n"


def _value(shape, values):
    """The value of an option. Source: AWS CLI user guide, "Shorthand syntax"."""
    if shape.type_name != "list":
        return values[0]
    return [_structure(value) if shape.member.type_name == "structure" else value for value in values]


def _structure(text):
    fields = {}
    name = None
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if equals:
            name = key
            fields[name] = value
        else:
            former = fields[name]
            fields[name] = [*(former if isinstance(former, list) else [former]), part]
    if isinstance(fields.get("Values"), str):
        fields["Values"] = [fields["Values"]]
    return fields


def kubectl(bench, region, cluster, words):
    """`kubectl get KIND --output json` and `kubectl get --raw PATH`."""
    assert words.pop(0) == "get"
    if words[0] == "--raw":
        return json.dumps(_get(bench, region, cluster, words[1]), separators=(",", ":"))
    path = PATHS[words.pop(0)]
    flags = {"--all-namespaces": False, "--show-managed-fields": False}
    options = {"--namespace": None, "--field-selector": None, "--output": None}
    while words:
        word = words.pop(0)
        if word in flags:
            flags[word] = True
        else:
            assert word in options, word
            options[word] = words.pop(0)
    assert options["--output"] == "json"
    if options["--namespace"]:
        parent, kind = path.rsplit("/", 1)
        path = f"{parent}/namespaces/{options['--namespace']}/{kind}"
    ask = f"?limit=500&fieldSelector={options['--field-selector'] or ''}"
    items, token = [], ""
    while token is not None:
        page = _get(bench, region, cluster, f"{path}{ask}{token}")
        kind = {"apiVersion": page["apiVersion"], "kind": page["kind"].removesuffix("List")}
        items += [{**kind, **item} for item in page["items"]]
        token = page["metadata"].get("continue") and f"&continue={page['metadata']['continue']}" or None
    if not flags["--show-managed-fields"]:
        for item in items:
            item["metadata"].pop("managedFields", None)
    # As kubectl joins the pages of a list, whatever the kind.
    whole = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
    return json.dumps(whole, indent=4, sort_keys=True, ensure_ascii=False) + "\n"


def _get(bench, region, cluster, path):
    status, _, body = bench.kube("GET", path, token=bench.token(cluster, region))
    if isinstance(body, str):
        raise Failed("error: the server doesn't have a resource type like that")
    if status != 200:
        raise Failed(f"Error from server: {body['message']}")
    return body


class Question(socketserver.StreamRequestHandler):
    """One command."""

    lock = threading.Lock()

    def handle(self):
        data = b""
        while not data.endswith(b"\0\0"):
            data += self.rfile.read1()
        region, cluster, *words = data[:-2].decode().split("\0")
        try:
            with self.lock:
                answer = "0\n" + run(self.server.bench, region, cluster, words)
        except Failed as failed:
            answer = f"1\n{failed}\n"
        self.wfile.write(answer.encode())


def main():
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Question)
    server.daemon_threads = True
    server.bench = RunningBench(json.loads(pathlib.Path(sys.argv[1]).read_text()))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
