"""What a node makes of its user data: the labels and max pods that its kubelet registers with.

Our own shell parts are really run, in an empty folder and against a stand-in for the metadata service; foreign
parts are not, since they
would do to the test machine what they are meant to do to a node.
"""

import email
import functools
import gzip
import os
import re
import shlex
import subprocess
import tempfile
import threading
import tomllib
from http.server import ThreadingHTTPServer
from pathlib import Path

import yaml

import imds

OWN_PART = b"# eniplan.dev/part:"
# The first AL2023 AMI release whose nodeadm-run reads /etc/eks/nodeadm.d. Source: amazon-eks-ami CHANGELOG, v20251023.
READS_FOLDER_SINCE = 20251023
SYSTEMCTL = """#!/bin/sh
[ "$1 $2" != "cat nodeadm-run.service" ] || echo 'ExecStart=/usr/bin/nodeadm init {sources}'
"""
BOOTSTRAP = """#!/bin/bash
printf '%s\\0' "$@" >"$ENIPLAN_ROOT/bootstrap-arguments"
"""


class Outcome:
    """What came of it."""

    def __init__(self):
        self.labels = {}
        self.max_pods = None
        self.console = ""


@functools.cache
def _metadata_service():
    """The port of a metadata service in this process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), imds.Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server.server_address[1]


def boot(user_data, machine, release_date, cluster):
    """Boots a machine: {"instance_id", "mac", "zone", "subnet_id", "subnet_cidr", "ami_type", "merged"}.
    `release_date` is that of its AMI
    (0 when it has none), `merged` says that EKS adds its own part."""
    outcome = Outcome()
    if user_data[:2] == b"\x1f\x8b":
        user_data = gzip.decompress(user_data)
    if machine["ami_type"].startswith("BOTTLEROCKET"):
        _bottlerocket(user_data, outcome)
        return outcome
    scripts, configs = _parts(user_data)
    for config in configs:
        _node_config(config, outcome)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _run(root, [script for script in scripts if OWN_PART in script], machine, release_date, cluster, outcome)
        _left_behind(root, outcome)
    return outcome


def _parts(user_data):
    """Shell scripts and NodeConfigs, in their order."""
    if not user_data.lstrip()[:200].lower().startswith((b"mime-version:", b"content-type:")):
        return ([user_data] if user_data.startswith(b"#!") else []), []
    scripts, configs = [], []
    for part in email.message_from_bytes(user_data).walk():
        if part.is_multipart():
            continue
        body = part.get_payload(decode=True)
        if part.get_content_type() == "application/node.eks.aws":
            configs.append(body)
        elif part.get_content_type() == "text/x-shellscript":
            scripts.append(body)
    return scripts, configs


def _bottlerocket(user_data, outcome):
    settings = tomllib.loads(user_data.decode()).get("settings", {}).get("kubernetes", {})
    outcome.labels.update(settings.get("node-labels", {}))
    outcome.max_pods = settings.get("max-pods")


def _node_config(text, outcome):
    kubelet = (yaml.safe_load(text) or {}).get("spec", {}).get("kubelet", {})
    outcome.max_pods = kubelet.get("config", {}).get("maxPods", outcome.max_pods)
    _flags(kubelet.get("flags", []), outcome)


def _flags(flags, outcome):
    for flag in flags:
        if flag.startswith("--node-labels="):
            pairs = flag.removeprefix("--node-labels=").split(",")
            outcome.labels.update(pair.split("=", 1) for pair in pairs if "=" in pair)
        elif flag.startswith("--max-pods="):
            outcome.max_pods = int(flag.removeprefix("--max-pods="))


def _run(root, scripts, machine, release_date, cluster, outcome):
    port = _metadata_service()
    mac = machine["mac"]
    with imds.lock:
        imds.nodes[machine["instance_id"]] = imds.Node(
            {
                "answers": {
                    "mac": mac,
                    "instance-id": machine["instance_id"],
                    "placement/availability-zone": machine["zone"],
                    f"network/interfaces/macs/{mac}/subnet-id": machine["subnet_id"],
                    f"network/interfaces/macs/{mac}/subnet-ipv4-cidr-block": machine["subnet_cidr"],
                }
            }
        )
    _executable(
        root / "bin/systemctl",
        SYSTEMCTL.format(
            sources="--config-source file:///etc/eks/nodeadm.d/" if release_date >= READS_FOLDER_SINCE else ""
        ),
    )
    is_al2 = machine["ami_type"].startswith("AL2_")
    if is_al2:
        _executable(root / "etc/eks/bootstrap.sh", BOOTSTRAP)
    environment = {
        "PATH": f"{root}/bin:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "ENIPLAN_ROOT": str(root),
        "ENIPLAN_IMDS": f"http://127.0.0.1:{port}/{machine['instance_id']}",
    }
    for at, script in enumerate(scripts):
        path = root / f"part-{at}"
        path.write_bytes(script)
        _one(["bash", str(path)], environment, outcome)
    if is_al2 and machine["merged"]:
        # EKS's own part of an AL2 group calls bootstrap.sh behind ours.
        command = [
            str(root / "etc/eks/bootstrap.sh"),
            cluster,
            "--kubelet-extra-args",
            "--node-labels=eks.amazonaws.com/sourced-by=eks",
        ]
        _one(["bash", *command], environment, outcome)


def _executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _one(command, environment, outcome):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    outcome.console += done.stdout + done.stderr


def _left_behind(root, outcome):
    """What nodeadm and kubelet find after the scripts."""
    for path in sorted((root / "etc/eks/nodeadm.d").glob("*.yaml")):
        _node_config(path.read_text(), outcome)
    for path in sorted((root / "etc/systemd/system/kubelet.service.d").glob("*.conf")):
        for line in path.read_text().splitlines():
            if found := re.match(r"ExecStart=(.+)", line):
                _flags(shlex.split(found[1].replace("$", "")), outcome)
    arguments = root / "bootstrap-arguments"
    if arguments.exists():
        words = arguments.read_text().split("\0")
        for at, word in enumerate(words[:-1]):
            if word == "--kubelet-extra-args":
                _flags(shlex.split(words[at + 1]), outcome)
