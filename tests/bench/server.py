#!/usr/bin/env python3
"""Starts the bench: AWS over HTTP and Kubernetes over HTTPS, both on 127.0.0.1 and ports of the system's choice.

Writes the port file when both listen, and ends when its standard input is closed, which happens when its parent ends.
"""

import argparse
import json
import os
import pathlib
import signal
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# Handlers register themselves on import.
import seed  # noqa: E402
import tls  # noqa: E402
from aws import (  # noqa: E402, F401
    ec2_images,
    ec2_instances,
    ec2_network,
    ec2_network_writes,
    ec2_template_writes,
    ec2_templates,
    eks_addon,
    eks_addon_writes,
    eks_cluster,
    eks_nodegroup,
    eks_nodegroup_writes,
    eks_update,
    sts,
)
from aws.front import AwsHalf  # noqa: E402
from bench import Bench  # noqa: E402
from http_end import Server  # noqa: E402
from kube.front import KubeHalf  # noqa: E402
from settings import ACCESS_KEY_ID, SECRET_ACCESS_KEY  # noqa: E402


def main():
    arguments = _arguments()
    authority = tls.Authority()
    bench = Bench(authority.pem)
    aws = Server(AwsHalf(bench), authority, port=arguments.aws_port)
    aws_tls = Server(AwsHalf(bench), authority, tls=True)
    kube = Server(KubeHalf(bench), authority, tls=True, port=arguments.kube_port)
    bench.kube_endpoint = f"https://127.0.0.1:{kube.server_port}"
    for server in (aws, aws_tls, kube):
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    for path in arguments.inventory or []:
        seed.seed(bench, json.loads(pathlib.Path(path).read_text()))
    ports = {
        "pid": os.getpid(),
        "aws_endpoint_url": f"http://127.0.0.1:{aws.server_port}",
        "aws_port": aws.server_port,
        "aws_tls_endpoint_url": f"https://127.0.0.1:{aws_tls.server_port}",
        "proxy": f"http://127.0.0.1:{aws.server_port}",
        "kube_endpoint": bench.kube_endpoint,
        "kube_port": kube.server_port,
        "certificate_authority": bench.certificate_authority,
        "certificate_authority_pem": authority.pem.decode(),
        "access_key_id": ACCESS_KEY_ID,
        "secret_access_key": SECRET_ACCESS_KEY,
        "control": f"http://127.0.0.1:{aws.server_port}/bench",
        "environment": {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{aws.server_port}",
            "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
            "AWS_EC2_METADATA_DISABLED": "true",
        },
    }
    _write(arguments.port_file, ports)
    if arguments.stay:
        signal.pause()
    else:
        _until_input_closes()


def _arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port-file", required=True, type=pathlib.Path, help="JSON with everything a client needs")
    parser.add_argument("--inventory", action="append", help="seed from this inventory file at the start")
    parser.add_argument("--aws-port", type=int, default=0)
    parser.add_argument("--kube-port", type=int, default=0)
    parser.add_argument("--stay", action="store_true", help="stay when standard input is closed; for use by hand")
    return parser.parse_args()


def _write(path, content):
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(content, indent=1) + "\n")
    temporary.replace(path)


def _until_input_closes():
    while os.read(0, 4096):
        pass


if __name__ == "__main__":
    main()
