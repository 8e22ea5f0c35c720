#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A small Pyroscope on loopback: it takes pushes by the server's rules, remembers them, and misbehaves on demand.

    standin.py [--port PORT] [--port-file FILE]
                                          prints "listening on http://127.0.0.1:PORT", writes PORT into the file

    POST /push.v1.PusherService/Push      as the server (also below any path prefix)
    GET  /ready                           200
    GET  /_pushes[?LABEL=VALUE…]          what was accepted, as JSON: labels, totals, stacks, warnings …,
                                          and the pprof itself as it came ("profile", base64)
    GET  /_stats                          requests, answers by status, refusals, duplicates
    POST /_mode {"mode": M, "times": N}   from now on (for N pushes, then ok); see MODES
    POST /_reset                          forgets everything, mode ok

As on the server, a push of several series stores the good ones although the answer is an error.
"""

import argparse
import base64
import collections
import dataclasses
import http.server
import json
import os
import socket
import struct
import sys
import threading
import time
import urllib.parse

from google.protobuf import json_format
from google.protobuf.message import DecodeError

import protos
import rules

PUSH_PATH = "/push.v1.PusherService/Push"
MAX_BODY_BYTES = 256 << 20

HTTP_STATUS = {"invalid_argument": 400, "unauthenticated": 401, "permission_denied": 403, "resource_exhausted": 429,
               "unknown": 500, "unimplemented": 501, "unavailable": 503}

# Answers that are given without looking at the request: Connect code, message, more headers.
CANNED = {
    "400": ("invalid_argument", "refused on demand", {}),
    "401": ("unauthenticated", "no org id", {}),
    "403": ("permission_denied", "refused on demand", {}),
    "429": ("resource_exhausted", "push rate limit (4.0 MiB) exceeded on demand", {}),
    "429-retry-after": ("resource_exhausted", "come back later", {"Retry-After": "1"}),
    "500": ("unknown", "failed on demand", {}),
    "503": ("unavailable", "failed on demand", {}),
}

# Of those not canned: 503-html answers as a proxy does; hang does not answer until the next order; reset resets; half-close takes the push and breaks
# off in the middle of the answer; slow takes it and answers late.
MODES = ("ok", "503-html", "hang", "reset", "half-close", "slow", *CANNED)


class State:
    """What the stand-in has seen; every access under the lock."""

    def __init__(self):
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.n_orders = 0
        self.clear()

    def clear(self):
        self.pushes = []
        self.keys = set()
        self.duplicates = []
        self.refusals = []
        self.statuses = collections.Counter()
        self.n_requests = 0
        self.last_headers = {}
        self.mode = "ok"
        self.times = None
        self.delay_s = 2.0

    def set_mode(self, mode, times=None, delay_s=None):
        if mode not in MODES:
            raise ValueError(f"unknown mode {mode!r}; one of {', '.join(MODES)}")
        with self.changed:
            self.mode, self.times = mode, times
            self.n_orders += 1
            self.delay_s = self.delay_s if delay_s is None else delay_s
            self.changed.notify_all()

    def next_mode(self):
        with self.lock:
            self.n_requests += 1
            mode = self.mode
            if mode != "ok" and self.times is not None:
                self.times -= 1
                if self.times <= 0:
                    self.mode, self.times = "ok", None
            return mode

    def store(self, profile):
        """A second profile of one series, type and millisecond is one that no query would show."""
        with self.changed:
            if not profile.stacks:
                self.refusals.append("accepted, but nothing was left to store")
            elif profile.key() in self.keys:
                self.duplicates.append(profile.labels)
            else:
                self.keys.add(profile.key())
                self.pushes.append(profile)
            self.changed.notify_all()

    def stats(self):
        with self.lock:
            return {"requests": self.n_requests, "statuses": dict(self.statuses), "refusals": list(self.refusals),
                    "duplicates": list(self.duplicates), "pushes": len(self.pushes), "headers": dict(self.last_headers),
                    "warnings": sorted({w for p in self.pushes for w in p.warnings})}

    def select(self, wanted):
        with self.lock:
            return [{**dataclasses.asdict(p), "profile": base64.b64encode(p.profile).decode()} for p in self.pushes
                    if all(p.labels.get(k) == v for k, v in wanted.items())]


def decode_request(body, content_type):
    request = protos.push.PushRequest()
    try:
        if content_type == "application/json":
            json_format.Parse(body, request)
        else:
            request.ParseFromString(body)
    except (DecodeError, json_format.ParseError, UnicodeDecodeError) as error:
        rules.refuse(f"cannot decode the request: {error}")
    return request


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def state(self):
        return self.server.state

    def log_message(self, *args):
        pass

    def answer(self, status, content_type, body, headers=None):
        with self.state.lock:
            self.state.statuses[str(status)] += 1
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def answer_json(self, value, status=200):
        self.answer(status, "application/json", json.dumps(value).encode())

    def answer_error(self, code, message, headers=None):
        body = json.dumps({"code": code, "message": message}).encode()
        self.answer(HTTP_STATUS[code], "application/json", body, headers)

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            pieces = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    # What a push may meet.

    def take(self, body):
        """Stores what is good; raises the first refusal afterwards."""
        content_type = self.headers.get("Content-Type", "").split(";")[0].strip().lower()
        plain = rules.decode_body(body, self.headers.get("Content-Encoding"))
        if len(plain) > MAX_BODY_BYTES:
            raise rules.Refused("resource_exhausted", "message too large")
        request = decode_request(plain, content_type)
        if not any(series.samples for series in request.series):
            rules.refuse("no profiles received")
        first = None
        for series in request.series:
            try:
                for profile in rules.check_series(series):
                    self.state.store(profile)
            except rules.Refused as refused:
                first = first or refused
        if first:
            raise first

    def answer_push(self, body):
        try:
            self.take(body)
        except rules.Refused as refused:
            with self.state.lock:
                self.state.refusals.append(str(refused))
            self.answer_error(refused.code, str(refused))
            return
        if self.headers.get("Content-Type", "").startswith("application/json"):
            self.answer_json({})
        else:
            self.answer(200, "application/proto", b"")

    def hang(self):
        with self.state.changed:
            n_orders = self.state.n_orders
            self.state.changed.wait_for(lambda: self.state.n_orders != n_orders or self.server.stopping)
        self.close_connection = True

    def reset(self):
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def half_close(self, body):
        self.close_connection = True
        try:
            self.take(body)
        except rules.Refused as refused:
            with self.state.lock:
                self.state.refusals.append(str(refused))
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nContent-Length: 100\r\n\r\nabc")
        self.connection.shutdown(socket.SHUT_WR)

    def misbehave(self, mode, body):
        if mode in CANNED:
            self.answer_error(*CANNED[mode])
        elif mode == "503-html":
            self.answer(503, "text/html", b"<html><body><h1>503 Service Unavailable</h1></body></html>")
        elif mode == "hang":
            self.hang()
        elif mode == "reset":
            self.reset()
        elif mode == "half-close":
            self.half_close(body)
        elif mode == "slow":
            time.sleep(self.state.delay_s)
            self.answer_push(body)

    def push(self):
        body = self.read_body()
        content_type = self.headers.get("Content-Type", "").split(";")[0].strip().lower()
        with self.state.lock:
            self.state.last_headers = {k.lower(): v for k, v in self.headers.items()}
        mode = self.state.next_mode()
        if content_type not in ("application/proto", "application/json"):
            self.answer(415, "text/plain", b"", {"Accept-Post": "application/json, application/proto"})
        elif mode == "ok":
            self.answer_push(body)
        else:
            self.misbehave(mode, body)

    # The other addresses.

    def set_mode(self):
        try:
            wanted = json.loads(self.read_body())
            self.state.set_mode(wanted["mode"], wanted.get("times"), wanted.get("delay_s"))
        except (ValueError, KeyError, TypeError) as error:
            self.answer_json({"error": str(error)}, 400)
            return
        self.answer_json({"mode": wanted["mode"]})

    def reset_state(self):
        self.read_body()
        with self.state.changed:
            self.state.clear()
            self.state.n_orders += 1
            self.state.changed.notify_all()
        self.answer_json({})

    def do_POST(self):
        path = urllib.parse.urlsplit(self.path).path
        if path.endswith(PUSH_PATH):
            self.push()
        elif path == "/_mode":
            self.set_mode()
        elif path == "/_reset":
            self.reset_state()
        else:
            self.read_body()
            self.answer(404, "text/plain", b"404 page not found\n")

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path.endswith(PUSH_PATH):
            self.answer(405, "text/plain", b"", {"Allow": "POST"})
        elif url.path == "/ready":
            self.answer(200, "text/plain", b"ready\n")
        elif url.path == "/_pushes":
            self.answer_json(self.state.select(dict(urllib.parse.parse_qsl(url.query))))
        elif url.path == "/_stats":
            self.answer_json(self.state.stats())
        else:
            self.answer(404, "text/plain", b"404 page not found\n")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # As many as an agent that starts with a full queue may open at once.
    request_queue_size = 64

    def __init__(self, port):
        self.state = State()
        self.stopping = False
        super().__init__(("127.0.0.1", port), Handler)

    def handle_error(self, request, client_address):
        """A client that goes away is what the tests do on purpose; anything else is a bug of the stand-in."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, ValueError)):
            super().handle_error(request, client_address)


class Standin:
    """The stand-in in a thread of the test's own process."""

    def __init__(self, port=0):
        self.server = Server(port)
        self.state = self.server.state
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exc):
        with self.state.changed:
            self.server.stopping = True
            self.state.changed.notify_all()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def set_mode(self, mode, times=None, delay_s=None):
        self.state.set_mode(mode, times, delay_s)

    def pushes(self, **labels):
        return self.state.select(labels)

    def stats(self):
        return self.state.stats()

    def wait_for_pushes(self, n, timeout_s=30):
        """True once n profiles were accepted."""
        with self.state.changed:
            return self.state.changed.wait_for(lambda: len(self.state.pushes) >= n, timeout_s)


def write_whole(path, text):
    """Nobody ever sees half of it."""
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.new", path)


def main():
    parser = argparse.ArgumentParser(description="a Pyroscope stand-in on loopback")
    parser.add_argument("--port", type=int, default=0, help="0: any (default)")
    parser.add_argument("--port-file", help="gets the port, once it can be reached")
    args = parser.parse_args()
    server = Server(args.port)
    port = server.server_address[1]
    if args.port_file:
        write_whole(args.port_file, f"{port}\n")
    print(f"listening on http://127.0.0.1:{port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
