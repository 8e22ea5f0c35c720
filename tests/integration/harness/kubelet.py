# SPDX-License-Identifier: Apache-2.0
"""A kubelet that lists pods over TLS to whoever has its token; and the cgroups in which a node keeps their containers."""
import http.server
import json
import os
import secrets
import signal
import ssl
import subprocess
import threading

from .processes import wait_until

FORBIDDEN = "Forbidden (user=system:serviceaccount:mon:xagent, verb=get, resource=nodes, subresource=proxy)"


def pod(name, *containers, namespace="shop", ip="10.0.0.7", **metadata):
    """A running Pod; each container is a name, or (name, id)."""
    names = [c if isinstance(c, str) else c[0] for c in containers]
    statuses = [{"name": c[0], "containerID": f"containerd://{c[1]}"} for c in containers if not isinstance(c, str)]
    return {"metadata": {"name": name, "namespace": namespace, "uid": f"uid-of-{name}", **metadata},
            "spec": {"nodeName": "node-a", "containers": [{"name": n, "image": "registry/image:1"} for n in names]},
            "status": {"phase": "Running", "podIP": ip, "hostIP": "192.168.0.1",
                       "conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": statuses}}


class Kubelet:
    """What it answers are its attributes; they may change while it runs."""

    def __init__(self, directory):
        self.cert = directory / "kubelet.cert"
        key = directory / "kubelet.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=node-a", "-addext", "subjectAltName=DNS:node-a", "-keyout", key, "-out", self.cert],
                       check=True, capture_output=True)
        self.token = "good"
        self.allowed = True
        self.pods = []
        self.n_asked = 0
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, key)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, authorization):
        """(status, body)"""
        self.n_asked += 1
        if authorization != f"Bearer {self.token}":
            return 401, "Unauthorized"
        if not self.allowed:
            return 403, FORBIDDEN
        if path != "/pods":
            return 404, "404 page not found"
        # In another order each time, as a kubelet does.
        pods = self.pods if self.n_asked % 2 else self.pods[::-1]
        return 200, json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": pods})

    def wait_asked(self, more=2):
        """Until it has answered so many requests that began after now."""
        enough = self.n_asked + more
        wait_until(lambda: self.n_asked >= enough, 10, "the kubelet is asked")

    def _handler(self):
        kubelet = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                status, body = kubelet.answer(self.path, self.headers.get("Authorization"))
                self.send_response(status)
                self.send_header("Content-Type", "application/json" if status == 200 else "text/plain; charset=utf-8")
                self.send_header("Content-Length", str(len(body.encode())))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass
        return Handler


class Node:
    """Containers' cgroups below the unified hierarchy, as containerd and the kubelet's systemd driver lay them out."""

    def __init__(self, root):
        self.root = root
        self.made = []

    def container(self):
        """A new one without processes: (id, path of its cgroup)."""
        identity = secrets.token_hex(32)
        return identity, self._make("kubepods.slice", "kubepods-burstable.slice", f"kubepods-burstable-pod{secrets.token_hex(16)}.slice",
                                    f"cri-containerd-{identity}.scope")

    def rootless_container(self, uid):
        """The same of a user's own Podman."""
        identity = secrets.token_hex(32)
        return identity, self._make("user.slice", f"user-{uid}.slice", f"user@{uid}.service", "user.slice", f"libpod-{identity}.scope")

    def _make(self, *parts):
        path = self.root
        for part in parts:
            path /= part
            if not path.exists():
                path.mkdir()
                self.made.append(path)
        return path

    @staticmethod
    def enter(path):
        """For Popen's preexec_fn: begin life there."""
        def move():
            (path / "cgroup.procs").write_text(str(os.getpid()))
        return move

    def end(self):
        for path in reversed(self.made):
            for pid in (path / "cgroup.procs").read_text().split():
                os.kill(int(pid), signal.SIGKILL)
            wait_until(lambda p=path: _removed(p), 5, f"{path} is removed")


def _removed(path):
    try:
        path.rmdir()
    except OSError:
        return False
    return True
