#!/usr/bin/env python3
"""Measures `eniplan inventory --for verify` on a large cluster of the bench. Not a test.

    tests/setup
    cargo build --release
    $CARGO_TARGET_DIR/eniplan-tools/python/bin/python tests/timings/large.py target/release/eniplan

Prints Markdown: whole-process wall clock, CPU and peak memory for 5,000 nodes, 100,000 pods and 20,000 interfaces, beside the
same for planning, and the calls of each. Most of the wall clock is the bench's own: one Python process makes the answers.
Ends with 1 when the peak is above 300 MB.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

from measure import timed

HERE = pathlib.Path(__file__).resolve().parent
MOST = 300e6


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bench = subprocess.Popen(
            [sys.executable, HERE.parent / "bench" / "server.py", "--port-file", folder / "ports.json"],
            stdin=subprocess.PIPE,
        )
        while not (folder / "ports.json").exists():
            time.sleep(0.01)
        ports = json.loads((folder / "ports.json").read_text())
        size = control(ports, "POST", "seed-large", {})
        environment = {**os.environ, **ports["environment"], "AWS_REGION": "eu-west-1", "AWS_CONFIG_FILE": os.devnull}
        print(f"{size['nodes']:,} nodes, {size['pods']:,} pods, {size['interfaces']:,} interfaces\n")
        print("| | calls | wall s | CPU s | peak MB | file MB |\n|---|---|---|---|---|---|")
        above = False
        for flags in (["--for", "plan"], ["--for", "verify"], ["--for", "verify", "--redact"]):
            control(ports, "DELETE", "journal", None)
            out = folder / "inventory.json"
            command = [program, "inventory", "--cluster", "large", *flags, "--quiet", "--out", str(out)]
            wall, cpu, peak = timed(command, environment)
            calls = len(control(ports, "GET", "journal", None))
            row = (f"`inventory {' '.join(flags)}`", calls, wall, cpu, peak / 1e6, out.stat().st_size / 1e6)
            print("| {} | {} | {:.1f} | {:.1f} | {:.0f} | {:.0f} |".format(*row))
            above |= peak > MOST
        bench.stdin.close()
        bench.wait()
    if above:
        sys.exit(f"the peak is above {MOST / 1e6:.0f} MB")


def control(ports, method, what, body):
    """A control request of the bench."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{ports['aws_port']}/bench/{what}", data=data, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())


if __name__ == "__main__":
    main()
