# SPDX-License-Identifier: Apache-2.0
"""
A stand-in for the API server of Kubernetes: lists with pages, watches with bookmarks, tokens, TLS; and what goes wrong with them, when a
test asks for it. Written from the public description of the API.

Pods, nodes and namespaces live in a history of events: a version is a place in it. A compacted history answers what is older by 410.
"""
import base64
import copy
import json
import socket
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from .kube_objects import matches

KINDS = {"pods": "Pod", "nodes": "Node", "namespaces": "Namespace"}


class Event(NamedTuple):
    version: int
    resource: str
    before: dict  # None: it is new
    after: dict  # None: it is gone


class Request(NamedTuple):
    path: str
    query: dict
    token: str


class Refusal(Exception):
    def __init__(self, code, reason, message, **headers):
        super().__init__(message)
        self.code, self.headers = code, headers
        self.body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message, "code": code}


def gone(message="The provided continue parameter is too old"):
    return Refusal(410, "Expired", message)


class KubeApi:
    """A running server. All that a test sets may be set while it runs."""

    def __init__(self, directory, tls=True):
        self.lock = threading.Condition()
        self.objects = {resource: {} for resource in KINDS}
        self.history, self.version, self.oldest = [], 100, 0
        self.tokens = {"token-1"}
        self.requests = []
        self.forbidden = set()  # (verb, resource)
        self.refuse = []  # refusals for the next requests, whatever they ask for
        self.page_bytes_a_second = None  # slow answers
        self.bookmark_every = 0.5
        self.watch_errors = []  # Status objects for the watches, each once
        self.epoch = 0  # what ends all watches when it changes
        self.cut = False  # … in the middle, without a word
        self.directory, self.tls = directory, tls
        self.server, self.port = None, 0
        if tls:
            _certificates(directory)
        self.start()

    # What a test does

    @property
    def url(self):
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}"

    @property
    def ca_file(self):
        return self.directory / "ca.crt"

    def put(self, item, resource="pods"):
        """Add it, or another version of it."""
        key = (item["metadata"].get("namespace", ""), item["metadata"]["name"])
        with self.lock:
            self.version += 1
            item = copy.deepcopy(item)
            item["metadata"]["resourceVersion"] = str(self.version)
            self.history.append(Event(self.version, resource, self.objects[resource].get(key), item))
            self.objects[resource][key] = item
            self.lock.notify_all()

    def delete(self, name, namespace="", resource="pods"):
        with self.lock:
            self.version += 1
            before = copy.deepcopy(self.objects[resource].pop((namespace, name)))
            before["metadata"]["resourceVersion"] = str(self.version)
            self.history.append(Event(self.version, resource, before, None))
            self.lock.notify_all()

    def compact(self):
        """Forget all that was: older versions are gone."""
        with self.lock:
            self.version += 1
            self.oldest = self.version
            self.history.clear()
            self.lock.notify_all()

    def end_watches(self, cut=False):
        with self.lock:
            self.epoch += 1
            self.cut = cut
            self.lock.notify_all()

    def stop(self):
        """Nobody listens any more, and nobody is listened to."""
        if self.server:
            self.end_watches(cut=True)
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def start(self):
        """On the same port as before."""
        self.server = _Server(("127.0.0.1", self.port), _Handler)
        self.server.api = self
        self.port = self.server.server_address[1]
        self._load_certificates()
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def _load_certificates(self):
        if self.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.directory / "server.crt", self.directory / "server.key")
            self.server.context = context

    def rotate_ca(self):
        """Another CA, in the same file, and a server's certificate by it for new connections."""
        _certificates(self.directory)
        self._load_certificates()

    def asked(self, verb, resource="pods", **query):
        """The requests so far that listed or watched, with these parameters."""
        with self.lock:
            return [r for r in self.requests if r.path.endswith(f"/{resource}") and ("watch" in r.query) == (verb == "watch") and
                    query.items() <= r.query.items()]

    # What it answers: (items, version, continue), or a Refusal

    def admit(self, request, verb, resource):
        with self.lock:
            self.requests.append(request)
            if self.refuse:
                raise self.refuse.pop(0)
            if self.tokens and request.token not in self.tokens:
                raise Refusal(401, "Unauthorized", "Unauthorized")
            if (verb, resource) in self.forbidden:
                raise Refusal(403, "Forbidden", f'{resource} is forbidden: User "system:serviceaccount:x:agent" cannot {verb} '
                              f'resource "{resource}" in API group "" at the cluster scope')

    def list(self, resource, namespace, query):
        with self.lock:
            version, at = self.version, 0
            if "continue" in query:
                version, at = json.loads(base64.urlsafe_b64decode(query["continue"]))
                if version < self.oldest:
                    raise gone()
            limit = int(query.get("limit", 0)) or None
            items = [i for key, i in sorted(self.objects[resource].items()) if namespace in ("", key[0]) and _chosen(i, query)]
            page = items[at:at + limit] if limit else items[at:]
            more = at + len(page) < len(items)
            return page, version, base64.urlsafe_b64encode(json.dumps([version, at + len(page)]).encode()).decode() if more else ""

    def events_after(self, version, resource, namespace, query):
        """[(type, object)] and the version up to which they go. Within the lock."""
        if version < self.oldest:
            raise gone(f"too old resource version: {version} ({self.oldest})")
        result = []
        for event in self.history:
            if event.version > version and event.resource == resource:
                result += _seen(event, namespace, query)
        return result, self.version


def _chosen(item, query):
    return matches(item, query.get("fieldSelector", ""), query.get("labelSelector", ""))


def _seen(event, namespace, query):
    """What a watch with selectors makes of it: to leave the selection is to be deleted."""
    def inside(item):
        return item is not None and namespace in ("", item["metadata"].get("namespace", "")) and _chosen(item, query)
    before, after = inside(event.before), inside(event.after)
    if after:
        return [("MODIFIED" if before else "ADDED", event.after)]
    return [("DELETED", event.after or event.before)] if before else []


def _certificates(directory):
    """A CA of its own, and a server's certificate for 127.0.0.1."""
    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=30)
    ca, key = directory / "ca.crt", directory / "ca.key"
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    openssl("req", "-x509", *curve, "-subj", "/CN=stand-in CA", "-keyout", key, "-out", ca)
    openssl("req", *curve, "-subj", "/CN=kube-apiserver", "-keyout", directory / "server.key", "-out", directory / "server.csr")
    (directory / "server.ext").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", directory / "server.csr", "-CA", ca, "-CAkey", key, "-CAcreateserial", "-days", "2",
            "-extfile", directory / "server.ext", "-out", directory / "server.crt")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    context = None

    def get_request(self):
        connection, address = super().get_request()
        connection.settimeout(20)
        # The handshake is left to the connection's own thread.
        if self.context:
            connection = self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def handle_error(self, request, client_address):
        """Clients come and go."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def api(self):
        return self.server.api

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urlsplit(self.path)
        query = {k: v[-1] for k, v in parse_qs(url.query).items()}
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        parts = url.path.strip("/").split("/")
        namespace = parts[3] if len(parts) == 5 and parts[2] == "namespaces" else ""
        resource = parts[-1]
        try:
            if parts[:2] != ["api", "v1"] or resource not in KINDS:
                raise Refusal(404, "NotFound", "the server could not find the requested resource")
            self.api.admit(Request(url.path, query, token), "watch" if "watch" in query else "list", resource)
            if "watch" in query:
                self._watch(resource, namespace, query)
            else:
                self._list(resource, namespace, query)
        except Refusal as refusal:
            self._answer(refusal.code, refusal.body, refusal.headers)
        except (OSError, ValueError):
            self.close_connection = True

    def _answer(self, code, body, headers=None):
        data = json.dumps(body).encode()
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self._write_slowly(data)

    def _write_slowly(self, data):
        pace = self.api.page_bytes_a_second
        step = max(1, pace // 20) if pace else len(data)
        for at in range(0, len(data), step):
            self.wfile.write(data[at:at + step])
            if pace:
                time.sleep(0.05)

    def _list(self, resource, namespace, query):
        items, version, more = self.api.list(resource, namespace, query)
        metadata = {"resourceVersion": str(version), **({"continue": more, "remainingItemCount": 1} if more else {})}
        self._answer(200, {"kind": KINDS[resource] + "List", "apiVersion": "v1", "metadata": metadata, "items": items})

    def _watch(self, resource, namespace, query):
        api, version = self.api, int(query["resourceVersion"])
        with api.lock:
            epoch = api.epoch
            if version < api.oldest:
                raise gone(f"too old resource version: {version} ({api.oldest})")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        end = time.monotonic() + int(query.get("timeoutSeconds", 3600))
        while time.monotonic() < end:
            with api.lock:
                events, version = self._next(resource, namespace, query, version, epoch)
                over = api.epoch != epoch
            if over and api.cut:
                self._cut()
                return
            for kind, item in events:
                self._chunk(json.dumps({"type": kind, "object": item}).encode() + b"\n")
            if over or any(kind == "ERROR" for kind, _ in events):
                break
        self._chunk(b"")

    def _next(self, resource, namespace, query, version, epoch):
        """Waits for something to tell, or for the time of a bookmark. Within the lock."""
        api = self.api
        api.lock.wait_for(lambda: api.version > version or api.epoch != epoch or api.watch_errors, api.bookmark_every)
        if api.watch_errors:
            return [("ERROR", api.watch_errors.pop(0))], version
        try:
            events, now = api.events_after(version, resource, namespace, query)
        except Refusal as refusal:
            return [("ERROR", refusal.body)], version
        if not events and query.get("allowWatchBookmarks") == "true":
            events = [("BOOKMARK", {"kind": KINDS[resource], "apiVersion": "v1", "metadata": {"resourceVersion": str(now)}})]
        return events, now

    def _chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _cut(self):
        """Half of an event, and half of the connection."""
        self.wfile.write(b'40\r\n{"type":"ADDED","object":{"metad')
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_WR)
        self.close_connection = True
