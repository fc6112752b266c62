"""The HTTP end of both halves: one thread a connection, kept open between calls, and closed on demand in a call's
middle."""

import contextlib
import http.server
import re
import socket
import socketserver
import sys
import time

from faults import ANSWERING


class Request:
    """One request as it came."""

    def __init__(self, method, target, headers, body, connection):
        self.method = method
        # A request through a proxy without TLS names the whole address.
        self.path, _, self.query_text = re.sub(r"^https?://[^/]+", "", target).partition("?")
        self.headers = headers
        self.body = body
        self.connection = connection


class Handler(http.server.BaseHTTPRequestHandler):
    """Reads a request, lets `self.server.half` answer it."""

    protocol_version = "HTTP/1.1"
    server_version = "eniplan-bench"
    disable_nagle_algorithm = True
    wbufsize = -1

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        request = Request(self.command, self.path, self.headers, body, self.connection)
        self.server.half.handle(request, self)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def do_CONNECT(self):
        """A proxy's part: the bench is every host that a client asks for, with a certificate of its own authority."""
        host = self.path.rpartition(":")[0]
        self.send_response(200, "Connection established")
        self.end_headers()
        self.wfile.flush()
        self.connection = self.server.authority.context(host).wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb", self.rbufsize)
        self.wfile = self.connection.makefile("wb", -1)
        self.close_connection = False

    def send(self, answer):
        """Sends an answer."""
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
        self.wfile.flush()

    def send_half(self, answer):
        """Sends the head and half of the body, then closes."""
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(max(len(answer.body), 2)))
        self.end_headers()
        self.wfile.write(answer.body[: len(answer.body) // 2])
        self.wfile.flush()
        self.cut()

    def cut(self):
        """Closes the connection without a further word."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_):
        """The journal says it."""


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Listens on 127.0.0.1, on a port of the system's choice."""

    daemon_threads = True
    request_queue_size = 256
    allow_reuse_address = True

    def __init__(self, half, authority, tls=False, port=0):
        self.half = half
        self.authority = authority
        self.tls = authority.context() if tls else None
        super().__init__(("127.0.0.1", port), Handler)

    def server_bind(self):
        # HTTPServer asks the resolver for its own name here, which can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def finish_request(self, request, client_address):
        # The handshake belongs into the connection's thread: a client that stalls must not keep others out.
        if self.tls is not None:
            try:
                request = self.tls.wrap_socket(request, server_side=True)
            except OSError:
                return
        super().finish_request(request, client_address)

    def handle_error(self, request, client_address):
        """A client that goes away is no news; anything else is a defect and goes to standard error."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def serve(bench, handler, request, call):
    """Runs one journalled call through its fault, if it has one. `call` has: service, action, mutating, dry_run,
    resources, journal (what to write down), act() and fault_answer(rule)."""
    entry = bench.journal.begin(
        service=call.service, action=call.action, mutating=call.mutating, dry_run=call.dry_run, **call.journal
    )
    changes = call.mutating and not call.dry_run
    rule = bench.faults.take(call.service, call.action, changes, call.resources)
    if rule is None and not bench.allows(call.service, call.action):
        rule = {"kind": "deny"}
    entry["fault"] = rule["kind"] if rule else None
    try:
        answer, leave = _answer(bench, request, call, entry, rule)
    finally:
        # Before the answer goes out, so that whoever has it finds the entry complete.
        bench.journal.end(entry)
    if leave:
        leave(handler, answer)
    else:
        handler.send(answer)


def _answer(bench, request, call, entry, rule):
    """The answer, and how it is sent when it is not sent whole."""
    kind = rule["kind"] if rule else None
    if kind == "cut_before":
        return None, _cut
    if kind == "delay":
        time.sleep(rule.get("seconds", 1))
    if kind == "withhold_before" and not bench.held.wait(entry["seq"], _shown(call, kind), request.connection):
        return None, _cut
    if kind in ANSWERING:
        answer, code = call.fault_answer(rule)
        entry.update(status=answer.status, code=code)
        return answer, None
    with bench.lock:
        for method, name, body in bench.later.due(call.service, call.action):
            bench.control(method, name, body)
        answer, code = call.act()
        entry.update(status=answer.status, code=code, acted=code is None)
    if kind == "withhold_after" and not bench.held.wait(entry["seq"], _shown(call, kind), request.connection):
        return None, _cut
    return answer, {"cut_after": _cut, "cut_middle": Handler.send_half}.get(kind)


def _cut(handler, _):
    handler.cut()


def _shown(call, kind):
    return {"service": call.service, "action": call.action, "kind": kind}
