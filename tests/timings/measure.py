#!/usr/bin/env python3
"""Measures what a user and a node wait for. Not a test, and not part of the test command.

    tests/setup
    cargo build --release --no-default-features
    python3 tests/timings/measure.py target/release/eniplan

Prints Markdown: start-up and offline generate (wall clock, CPU, peak memory of the process), then processes and CPU time of
the boot script beside those of the lookup that it replaces, over tables of 3, 12 and 40 node subnets.
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MAC = "0a:1b:2c:3d:4e:5f"
RUNS = 30


def tools():
    """Where tests/setup puts the tools."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    target = os.environ.get("CARGO_TARGET_DIR") or os.path.join(cache, "eniplan/target")
    folder = pathlib.Path(os.environ.get("ENIPLAN_TOOLS") or os.path.join(target, "eniplan-tools"))
    if not (folder / "complete").is_file():
        sys.exit(f"no tools in {folder}: run tests/setup")
    return folder


def timed(command, env=None):
    """Runs a command to its end: wall seconds, CPU seconds with its children's, peak bytes.

    The peak is never below that of this program, from which the command was started.
    """
    start = time.perf_counter()
    pid = os.posix_spawn(
        command[0],
        command,
        os.environ if env is None else env,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ],
    )
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{command} ended with {status}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def median_of(command, env=None, runs=RUNS):
    walls, cpus, peaks = zip(*(timed(command, env) for _ in range(runs)))
    return statistics.median(walls), statistics.median(cpus), max(peaks)


def processes(command, env, folder):
    """How many processes a command takes, itself included."""
    report = folder / "strace"
    traced = ["strace", "-f", "-qq", "-e", "trace=clone,clone3,fork,vfork", "-o", str(report), *command]
    subprocess.run(traced, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = report.read_text().splitlines()
    made = [line for line in lines if re.search(r"= [1-9][0-9]*$", line) and "CLONE_THREAD" not in line]
    return 1 + len(made)


def widened(rows):
    """The quickstart inventory with this many node subnets under the group `batch`, and their CIDRs with zone letter."""
    inventory = json.loads((ROOT / "fixtures/quickstart/inventory.json").read_text())
    group = next(group for group in inventory["node_groups"] if group["name"] == "batch")
    templates = [subnet for subnet in inventory["subnets"] if subnet["subnet_id"] in group["subnets"]]
    subnets = []
    for number in range(rows):
        subnet = dict(templates[number % len(templates)])
        subnet["subnet_id"] = f"subnet-{number:017x}"
        subnet["cidr_block"] = f"172.31.{64 + number}.0/24"
        subnet["available_ip_address_count"] = 251
        subnets.append(subnet)
    inventory["subnets"] += subnets
    group["subnets"] = [subnet["subnet_id"] for subnet in subnets]
    return inventory, [(subnet["cidr_block"], subnet["availability_zone"][-1]) for subnet in subnets]


def generate(binary, inventory, folder):
    """The boot script of the group `batch`."""
    inventory_file = folder / "inventory.json"
    inventory_file.write_text(json.dumps(inventory))
    config = str(ROOT / "fixtures/quickstart/eniplan.yaml")
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    command = [binary, "generate", "--inventory", str(inventory_file), "--config", config, "--out-dir", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    mime = (out / "node-groups/batch/user-data.mime").read_text()
    start = mime.index("#!/bin/bash")
    script = folder / "boot.sh"
    script.write_text(mime[start : mime.index("\n--", start)])
    script.chmod(0o755)
    return str(script)


class Imds:
    def __init__(self, python):
        command = [python, str(ROOT / "tests/bench/imds.py")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = json.loads(self.process.stdout.readline())["port"]

    def call(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def node(self, cidr):
        subnet = f"network/interfaces/macs/{MAC}/subnet-ipv4-cidr-block"
        self.call({"node": "timed", "answers": {"mac": MAC, "instance-id": "i-0123456789abcdef0", subnet: cidr}})
        return f"http://127.0.0.1:{self.port}/timed"

    def requests(self):
        return len(self.call({"log": "timed"}))


def lookups(binary, folder):
    """One row of figures for each table size: the boot script, and the lookup by hand, over five of the rows."""
    python = str(tools() / "python/bin/python")
    ipcalc = tools() / "ipcalc-ng/usr/bin/ipcalc-ng"
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "ipcalc").symlink_to(ipcalc)
    imds = Imds(python)
    for rows in (3, 12, 40):
        inventory, table = widened(rows)
        script = generate(binary, inventory, folder)
        ours, theirs = [], []
        for cidr, zone in table[:: max(1, rows // 5)]:
            name = f"pod-1{zone}-subnet-3"
            root = folder / "root"
            shutil.rmtree(root, ignore_errors=True)
            (root / "etc/eks/nodeadm.d").mkdir(parents=True)
            env = {"PATH": os.environ["PATH"], "ENIPLAN_ROOT": str(root), "ENIPLAN_IMDS": imds.node(cidr)}
            count = processes([script], env, folder)
            requests = imds.requests()
            _, cpu, _ = median_of([script], env, runs=5)
            assert name in (root / "etc/eks/nodeadm.d/zz-eniplan.yaml").read_text()
            ours.append((count, requests, cpu))

            env = {"PATH": f"{bin_folder}:{os.environ['PATH']}"}
            arguments = [f"{row}=pod-1{letter}-subnet-3" for row, letter in table]
            address = cidr.replace(".0/24", ".77")
            command = ["/bin/bash", str(HERE / "article_lookup.sh"), address, *arguments]
            found = subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout.strip()
            assert found == name, found
            _, cpu, _ = median_of(command, env, runs=3)
            theirs.append((processes(command, env, folder), cpu))
        mean = lambda values: statistics.mean(values)  # noqa: E731
        yield (
            rows,
            mean([count for count, _, _ in ours]),
            mean([requests for _, requests, _ in ours]),
            1000 * mean([cpu for _, _, cpu in ours]),
            mean([count for count, _ in theirs]),
            max(count for count, _ in theirs),
            1000 * mean([cpu for _, cpu in theirs]),
        )
    imds.process.stdin.close()
    imds.process.wait()


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print("| the program | wall ms | CPU ms | peak MB, at most |")
        print("|---|---|---|---|")
        for label, arguments in (("start-up (`--version`)", ["--version"]), ("`--help`", ["--help"])):
            wall, cpu, peak = median_of([binary, *arguments])
            print(f"| {label} | {1000 * wall:.1f} | {1000 * cpu:.1f} | {peak / 1e6:.0f} |")
        for fixture in ("quickstart", "three-zones"):
            source = ROOT / "fixtures" / fixture
            command = [binary, "generate", "--inventory", str(source / "inventory.json")]
            command += ["--config", str(source / "eniplan.yaml"), "--out-dir", str(folder / f"out-{fixture}")]
            wall, cpu, peak = median_of(command)
            print(f"| offline `generate` of {fixture} | {1000 * wall:.1f} | {1000 * cpu:.1f} | {peak / 1e6:.0f} |")
        print()
        print("| node subnets | boot script: processes | requests | CPU ms | by hand: processes, mean | most | CPU ms |")
        print("|---|---|---|---|---|---|---|")
        for rows, count, requests, cpu, by_hand, most, by_hand_cpu in lookups(binary, folder):
            print(f"| {rows} | {count:.0f} | {requests:.0f} | {cpu:.0f} | {by_hand:.0f} | {most} | {by_hand_cpu:.0f} |")


if __name__ == "__main__":
    main()
