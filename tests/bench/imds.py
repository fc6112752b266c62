"""A stand-in for the EC2 instance metadata service, for many nodes at once, on a free port of 127.0.0.1.

It speaks version 2 only, as a launch template with HttpTokens=required makes the real one do: a token costs a PUT with a
TTL header and without X-Forwarded-For, and every other request must carry one. Source: EC2 user guide, "Use the Instance
Metadata Service".

Driven over standard input and output, one JSON document a line. The first line it prints is {"port": N}. It reads

    {"node": NAME, "answers": {PATH: TEXT, ...}, ...}   a node, served under http://127.0.0.1:PORT/NAME -> {}
    {"log": NAME}                                       what the node asked: [["PUT", "api/token", 200], ...]

and ends with its input. A node may have faults: {"first": N, "status": CODE} answers the first N requests with this status
(N < 0: all of them), {"first": N, "empty": true} with an empty body, {"first": N, "delay": SECONDS} late, {"first": N,
"body": TEXT} with this text; "path" limits the fault to one path.
"""

import json
import secrets
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TTL_HEADER = "X-aws-ec2-metadata-token-ttl-seconds"
TOKEN_HEADER = "X-aws-ec2-metadata-token"
MAX_TTL = 21600

nodes = {}
lock = threading.Lock()


class Node:
    def __init__(self, spec):
        self.answers = spec.get("answers", {})
        self.faults = [dict(fault) for fault in spec.get("faults", [])]
        self.tokens = {}
        self.log = []

    def fault(self, path):
        """The fault that this request meets, if any; counts it."""
        for fault in self.faults:
            if fault.get("path", path) == path and fault["first"] != 0:
                fault["first"] -= 1
                return fault
        return None


class Handler(BaseHTTPRequestHandler):
    def do_PUT(self):
        self.serve()

    def do_GET(self):
        self.serve()

    def serve(self):
        _, name, latest, path = (self.path.split("/", 3) + ["", "", ""])[:4]
        with lock:
            node = nodes.get(name)
            fault = node.fault(path) if node else None
        if node is None or latest != "latest":
            return self.answer(404, "")
        status, body = self.respond(node, path)
        if fault:
            time.sleep(fault.get("delay", 0))
            status = fault.get("status", status)
            body = "" if fault.get("empty") else fault.get("body", body)
        with lock:
            node.log.append([self.command, path, status])
        self.answer(status, body)

    def respond(self, node, path):
        now = time.monotonic()
        if self.command == "PUT":
            ttl = self.headers.get(TTL_HEADER, "")
            if path != "api/token":
                return 405, ""
            if "X-Forwarded-For" in self.headers:
                return 403, ""
            if not ttl.isdigit() or not 1 <= int(ttl) <= MAX_TTL:
                return 400, ""
            token = secrets.token_urlsafe(40) + "=="
            with lock:
                node.tokens[token] = now + int(ttl)
            return 200, token
        with lock:
            valid_until = node.tokens.get(self.headers.get(TOKEN_HEADER), 0)
        if now >= valid_until:
            return 401, ""
        text = node.answers.get(path.removeprefix("meta-data/"))
        return (404, "") if text is None else (200, text)

    def answer(self, status, body):
        data = body.encode()
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the node gave up waiting

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        with lock:
            if "log" in request:
                reply = nodes[request["log"]].log
            else:
                nodes[request["node"]] = Node(request)
                reply = {}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
