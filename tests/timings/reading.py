#!/usr/bin/env python3
"""Times `eniplan inventory` + `eniplan generate` beside the same reading by hand, on one bench. Not a test.

    tests/setup
    cargo build --release
    python3 tests/timings/reading.py target/release/eniplan

By hand means one process of the AWS CLI or kubectl for each value that a person copies, one after the other, as in the
EKS user guide's custom networking tutorial. Needs `aws` and `kubectl`. Prints Markdown with the ratio of the medians.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FIXTURE = ROOT / "fixtures" / "three-zones"
RUNS = 3


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    inventory = json.loads((FIXTURE / "inventory.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        bench = subprocess.Popen(
            [sys.executable, HERE.parent / "bench" / "server.py", "--port-file", folder / "ports.json",
             "--inventory", FIXTURE / "inventory.json"],
            stdin=subprocess.PIPE,
        )
        while not (folder / "ports.json").exists():
            time.sleep(0.01)
        ports = json.loads((folder / "ports.json").read_text())
        region, cluster = inventory["region"], inventory["cluster"]["name"]
        environment = {**os.environ, **ports["environment"], "AWS_REGION": region, "AWS_DEFAULT_REGION": region,
                       "AWS_CONFIG_FILE": os.devnull, "KUBECONFIG": str(folder / "kubeconfig"), "AWS_PAGER": ""}
        (folder / "kubeconfig").write_text(kubeconfig(ports, cluster))
        config = str(FIXTURE / "eniplan.yaml")
        ours = [
            [program, "inventory", "--cluster", cluster, "--config", config, "--quiet", "--out", "inventory.json"],
            [program, "generate", "--inventory", "inventory.json", "--config", config, "--quiet"],
        ]
        hand = by_hand(inventory)
        times = {"eniplan": [], "by hand": []}
        for _ in range(RUNS):
            times["eniplan"].append(timed(ours, folder, environment))
            times["by hand"].append(timed(hand, folder, environment))
        bench.stdin.close()
        bench.wait()
    medians = {name: statistics.median(values) for name, values in times.items()}
    print("| | processes | wall s, median of", RUNS, "|\n|---|---|---|")
    print(f"| eniplan inventory + generate | {len(ours)} | {medians['eniplan']:.2f} |")
    print(f"| aws and kubectl, reading only | {len(hand)} | {medians['by hand']:.2f} |")
    print(f"\nratio {medians['by hand'] / medians['eniplan']:.0f} : 1")


def by_hand(inventory):
    """The commands with which a person reads the same things."""
    cluster = inventory["cluster"]
    eks = lambda *words: ["aws", "eks", *words, "--output", "json"]
    ec2 = lambda *words: ["aws", "ec2", *words, "--output", "json"]
    vpc = ["--filters", f"Name=vpc-id,Values={cluster['vpc_id']}"]
    commands = [eks("describe-cluster", "--name", cluster["name"]), eks("list-nodegroups", "--cluster-name", cluster["name"])]
    for group in inventory["node_groups"]:
        commands.append(eks("describe-nodegroup", "--cluster-name", cluster["name"], "--nodegroup-name", group["name"]))
    commands += [ec2("describe-vpcs", "--vpc-ids", cluster["vpc_id"]), ec2("describe-subnets", *vpc), ec2("describe-route-tables", *vpc)]
    for template in inventory["launch_templates"]:
        commands.append(ec2("describe-launch-template-versions", "--launch-template-id", template["launch_template_id"], "--versions", "$Latest"))
    commands += [
        ec2("describe-security-groups", "--group-ids", *[group["group_id"] for group in inventory["security_groups"]]),
        ec2("describe-instance-types", "--instance-types", *[kind["instance_type"] for kind in inventory["instance_types"]]),
        ["kubectl", "get", "eniconfigs", "-o", "json"],
        ["kubectl", "get", "daemonset", "aws-node", "-n", "kube-system", "-o", "json"],
        ["kubectl", "get", "nodes", "-o", "json"],
    ]
    return commands


def kubeconfig(ports, cluster):
    """With the AWS CLI's token, as `aws eks update-kubeconfig` writes it."""
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "aws", "interactiveMode": "Never",
                     "args": ["eks", "get-token", "--cluster-name", cluster, "--output", "json"],
                     # The CLI would sign for the bench, which is not the region's STS.
                     "env": [{"name": "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "value": "true"}]}}
    return json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": ports["kube_endpoint"], "certificate-authority-data": ports["certificate_authority"]}}],
        "users": [{"name": "it", "user": user}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    })


def timed(commands, folder, environment):
    """Wall seconds of the commands, one after the other."""
    start = time.perf_counter()
    for command in commands:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{command} ended with {done.returncode}: {done.stderr}")
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
