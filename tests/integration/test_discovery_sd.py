# SPDX-License-Identifier: Apache-2.0
"""discovery.file, discovery.http and discovery.dns in a running agent: what is profiled follows what they say, at once."""
import ctypes
import http.server
import json
import os
import socket
import struct
import threading
from pathlib import Path

import pytest

from harness.agent import AUTH, Raw, config
from harness.processes import wait_until

RATE = 199
FILE = 'discovery.file "x" {{\n\tfiles = ["{path}"]\n}}\n'
HTTP = 'discovery.http "x" {{\n\turl = "{url}"\n\trefresh_interval = "1s"\n\tbearer_token = "secret"\n}}\n'
DNS = AUTH + 'discovery.dns "x" {\n\tnames = ["shop"]\n\ttype = "A"\n\tport = 8080\n\trefresh_interval = "1s"\n}\n'

# linux/sched.h, linux/mount.h
CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000


def group(process, name):
    return {"targets": [name], "labels": {"__process_pid__": str(process.pid), "service_name": name, "team": "shop"}}


def replace(path, groups):
    """As editors and configuration management do it."""
    new = path.with_suffix(".new")
    new.write_text(groups if isinstance(groups, str) else json.dumps(groups))
    new.rename(path)


def of(standin, kind, discovery):
    return config(standin.url, interval="1s", rate=RATE, before=discovery, targets=Raw(f"{kind}.x.targets"), targets_only=True)


@pytest.fixture
def burners(processes, programs):
    started = [processes.start(programs[name], 60) for name in ("chain", "deep")]
    started[0].wait_for_output("main")
    return started


def wait_pushes(standin, more=1, **labels):
    """So many more of these than there are now."""
    n = len(standin.pushes(**labels))
    wait_until(lambda: len(standin.pushes(**labels)) >= n + more, 20, f"pushes with {labels}")


def assert_has_ended(standin, other, **labels):
    """No more of these, while those of the other go on; one interval was under way."""
    n = len(standin.pushes(**labels))
    wait_pushes(standin, 3, **other)
    assert len(standin.pushes(**labels)) <= n + 1


@pytest.mark.bpf
@pytest.mark.beside
def test_file(start_agent, standin, burners, tmp_path):
    one, two = burners
    path = tmp_path / "targets.json"
    agent = start_agent(of(standin, "discovery.file", FILE.format(path=tmp_path / "t*.json"))).wait_ready()
    # The next look without a change is five minutes away.
    replace(path, [group(one, "first")])
    wait_pushes(standin, service_name="first", team="shop")
    replace(path, [group(one, "renamed"), group(two, "second")])
    wait_pushes(standin, service_name="renamed")
    assert_has_ended(standin, {"service_name": "second"}, service_name="first")
    # What is broken takes nothing away.
    replace(path, "[")
    wait_until(lambda: agent.log_lines(msg="cannot take targets from a file, its last ones stay"), 10, "the mistake is told")
    wait_pushes(standin, service_name="renamed")
    replace(path, [group(two, "second")])
    assert_has_ended(standin, {"service_name": "second"}, service_name="renamed")
    line, = agent.log_lines(msg="cannot take targets from a file, its last ones stay")
    assert line["path"] == str(path) and line["reason"].startswith("line 1, column 1: "), line
    assert agent.stop() == 0


class Lists(http.server.BaseHTTPRequestHandler):
    """A server of target groups."""
    groups, status, requests = [], 200, []

    def do_GET(self):
        body = json.dumps(type(self).groups).encode()
        type(self).requests.append(dict(self.headers))
        self.send_response(type(self).status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def lists():
    handler = type("OwnLists", (Lists,), {"requests": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    handler.url = f"http://127.0.0.1:{server.server_port}/targets"
    yield handler
    server.shutdown()
    server.server_close()


@pytest.mark.bpf
@pytest.mark.beside
def test_http(start_agent, standin, burners, lists):
    one, two = burners
    lists.groups = [group(one, "first")]
    agent = start_agent(of(standin, "discovery.http", HTTP.format(url=lists.url))).wait_ready()
    wait_pushes(standin, service_name="first", team="shop")
    headers = lists.requests[0]
    assert headers["Accept"] == "application/json" and headers["X-Prometheus-Refresh-Interval-Seconds"] == "1", headers
    assert headers["Authorization"] == "Bearer secret" and headers["User-Agent"].startswith("xagent/"), headers
    lists.groups = [group(one, "first"), group(two, "second")]
    wait_pushes(standin, service_name="second")
    # A server that is down takes nothing away.
    lists.status, lists.groups = 503, []
    health = wait_until(lambda: unhealthy(agent, "discovery.http.x"), 10, "the component is unhealthy")
    assert health["message"] == f"{lists.url}: server returned HTTP status 503"
    wait_pushes(standin, service_name="first")
    lists.status, lists.groups = 200, [group(two, "second")]
    assert_has_ended(standin, {"service_name": "second"}, service_name="first")
    assert agent.stop() == 0


def component(agent, name):
    status, body = agent.get_authorized(f"/api/v0/web/components/{name}")
    assert status == 200, body
    return json.loads(body)


def unhealthy(agent, name):
    health = component(agent, name)["health"]
    return health if health["state"] == "unhealthy" else None


def addresses(agent, name):
    targets, = (e["value"]["value"] for e in component(agent, name)["exports"] if e["name"] == "targets")
    return [next(m["value"]["value"] for m in t["value"] if m["key"] == "__address__") for t in targets]


class Names:
    """A name server on a loopback address of its own, at the port where resolv.conf has it."""

    def __init__(self, address):
        self.address = address
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        self.socket.settimeout(0.1)
        self.hosts = {}
        self.ended = False
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def end(self):
        self.ended = True
        self.thread.join()
        self.socket.close()

    def _serve(self):
        while not self.ended:
            try:
                question, client = self.socket.recvfrom(512)
            except TimeoutError:
                continue
            self.socket.sendto(self._answer(question), client)

    def _answer(self, question):
        labels, at = [], 12
        while question[at]:
            labels.append(question[at + 1:at + 1 + question[at]].decode())
            at += 1 + question[at]
        found = self.hosts.get(".".join(labels))
        records = b"".join(struct.pack(">HHHIH", 0xC00C, 1, 1, 1, 4) + socket.inet_aton(a) for a in found or [])
        return question[:2] + struct.pack(">HHHHH", 0x8183 if found is None else 0x8180, 1, len(found or []), 0, 0) + question[12:at + 5] + records


def with_resolv_conf(path):
    """Before the exec: a mount namespace in which this is /etc/resolv.conf."""
    def prepare():
        libc = ctypes.CDLL(None, use_errno=True)
        for failed in (libc.unshare(CLONE_NEWNS), libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None),
                       libc.mount(bytes(path), b"/etc/resolv.conf", None, MS_BIND, None)):
            if failed:
                raise OSError(ctypes.get_errno(), "a resolv.conf of our own")
    return prepare


@pytest.fixture
def names():
    if os.geteuid() != 0 or not Path("/etc/resolv.conf").exists():
        pytest.skip("needs root and /etc/resolv.conf to give the agent one of its own")
    server = Names(f"127.53.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 1}")
    yield server
    server.end()


@pytest.mark.agent
def test_dns(start_agent, names, tmp_path):
    path = tmp_path / "resolv.conf"
    path.write_text(f"nameserver {names.address}\nsearch example.test\noptions ndots:2\n")
    names.hosts = {"shop.example.test": ["10.0.0.2", "10.0.0.1"]}
    agent = start_agent(DNS, preexec_fn=with_resolv_conf(path)).wait_ready()
    wait_until(lambda: addresses(agent, "discovery.dns.x") == ["10.0.0.1:8080", "10.0.0.2:8080"], 10, "both addresses")
    names.hosts = {"shop.example.test": ["10.0.0.3"]}
    wait_until(lambda: addresses(agent, "discovery.dns.x") == ["10.0.0.3:8080"], 10, "the new address")
    names.hosts = {}
    wait_until(lambda: addresses(agent, "discovery.dns.x") == [], 10, "no such name")
    assert component(agent, "discovery.dns.x")["health"]["message"] == "0 targets of 1 names"
    assert agent.stop() == 0
