# SPDX-License-Identifier: Apache-2.0
"""Who may ask the agent what: web pages that talk to it, and clients that would hold it up."""
import json
import re
import socket
import threading
import time

import pytest

from harness.agent import config, fetch
from harness.metrics import parse
from harness.processes import free_port, wait_until

pytestmark = pytest.mark.agent

STORE = 'pyroscope.store "here" { }\n'
EVIL = "evil.example:12345"
PUSH = "/push.v1.PusherService/Push"


def ask(port, method, path, headers=(), body=b""):
    """(status, answer) of one request, byte by byte as it is said here."""
    lines = [f"{method} {path} HTTP/1.1", "Connection: close", *(f"{name}: {value}" for name, value in dict(headers).items())]
    if not any(line.startswith("Host:") for line in lines):
        lines.append(f"Host: 127.0.0.1:{port}")
    if body:
        lines.append(f"Content-Length: {len(body)}")
    with socket.create_connection(("127.0.0.1", port), timeout=10) as s:
        s.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        answer = b"".join(iter(lambda: s.recv(65536), b"")).decode(errors="replace")
    return int(answer.split()[1]), answer.partition("\r\n\r\n")[2]


def refused(agent, reason):
    return agent.metrics().get("xagent_http_requests_refused_total", reason=reason)


def ended(agent, reason):
    return agent.metrics().get("xagent_http_connections_ended_total", reason=reason)


def test_rebound_names(start_agent):
    """A page whose name was made to lead here asks by that name."""
    agent = start_agent(STORE).wait_ready()
    for method, path in (("GET", "/"), ("GET", "/metrics"), ("GET", "/api/v0/web/status"), ("GET", "/no"), ("POST", PUSH), ("POST", "/-/reload")):
        status, text = ask(agent.port, method, path, {"Host": EVIL, "Sec-Fetch-Site": "same-origin"})
        assert status == 403 and "--server.http.allowed-hosts" in text, (method, path)
    assert refused(agent, "foreign_host") == 6
    for host in (f"127.0.0.1:{agent.port}", "localhost", "[::1]:80", "10.1.2.3", socket.gethostname()):
        assert ask(agent.port, "GET", "/-/ready", {"Host": host})[0] == 200, host
    assert "reload requested" not in agent.log


def test_allowed_hosts(start_agent):
    agent = start_agent(STORE, "--server.http.allowed-hosts=agent.example, other.example").wait_ready()
    assert ask(agent.port, "GET", "/-/ready", {"Host": "Agent.Example:80"})[0] == 200
    assert ask(agent.port, "GET", "/-/ready", {"Host": "other.example."})[0] == 200
    assert ask(agent.port, "GET", "/-/ready", {"Host": "more.agent.example"})[0] == 403


def test_allowed_hosts_are_names(processes, tmp_path):
    from harness import paths
    run = processes.run(paths.XAGENT, "run", "a.alloy", "--server.http.allowed-hosts=http://agent.example", cwd=tmp_path, seconds=10)
    assert run.popen.returncode == 1 and "--server.http.allowed-hosts: host names are wanted" in run.err


def test_any_name_with_a_password(start_agent):
    agent = start_agent('http {\n\tauth {\n\t\tbasic {\n\t\t\tusername = "u"\n\t\t\tpassword = "p"\n\t\t}\n'
                        '\t\tfilter {\n\t\t\tpaths = ["/metrics"]\n\t\t}\n\t}\n}\n')
    wait_until(lambda: "xagent is running" in agent.log, 15, "it runs")
    right = {"Host": EVIL, "Authorization": "Basic dTpw"}
    assert ask(agent.port, "GET", "/metrics", right)[0] == 200
    assert ask(agent.port, "GET", "/metrics", {"Host": EVIL})[0] == 401
    # No password is wanted there.
    assert ask(agent.port, "GET", "/-/ready", right)[0] == 403


ANOTHER = ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.example"}, {"Origin": "null"},
           {"Origin": "http://127.0.0.1:1"}, {"Referer": "http://evil.example/page"})


@pytest.mark.parametrize("headers", ANOTHER, ids=lambda headers: " ".join(f"{k} {v}" for k, v in headers.items()))
def test_nothing_is_changed_for_another_site(start_agent, headers):
    agent = start_agent(STORE).wait_ready()
    for path, body in (("/-/reload", b""), (PUSH, b"{}"), ("/querier.v1.QuerierService/LabelNames", b"{}")):
        status, text = ask(agent.port, "POST", path, {"Content-Type": "application/json", **headers}, body)
        assert status == 403 and "another site's page" in text, path
    status, _ = ask(agent.port, "GET", "/-/reload", headers)
    assert status == 403
    assert "reload requested" not in agent.log
    assert refused(agent, "other_site") + refused(agent, "browser") == 4


def test_changes_by_programs_and_the_own_page(start_agent):
    agent = start_agent(STORE).wait_ready()
    assert ask(agent.port, "GET", "/-/reload") == (200, "config reloaded\n")
    assert ask(agent.port, "POST", "/-/reload") == (200, "config reloaded\n")
    own = {"Origin": agent.url, "Referer": agent.url + "/", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    assert ask(agent.port, "POST", "/-/reload", own)[0] == 200
    json_body = {"Content-Type": "application/json"}
    for headers in ({}, own, {"Origin": agent.url}):
        status, text = ask(agent.port, "POST", PUSH, {**json_body, **headers}, b"{}")
        assert status == 400 and json.loads(text)["code"] == "invalid_argument", headers


@pytest.mark.parametrize("header", ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"])
def test_get_reload_is_refused_to_browsers(start_agent, header):
    agent = start_agent(STORE).wait_ready()
    status, text = ask(agent.port, "GET", "/-/reload", [header.split(": ")])
    assert status == 403 and "send a POST" in text
    assert refused(agent, "browser") == 1 and "reload requested" not in agent.log


def test_reads_by_another_site(start_agent):
    agent = start_agent(STORE).wait_ready()
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Accept": "text/html"}
    status, text = ask(agent.port, "GET", "/", link)
    assert status == 200 and "<html" in text
    for path in ("/metrics", "/-/healthy", "/api/v0/web/status", "/page/app.js", "/api/v0/web/process?name=a"):
        assert ask(agent.port, "GET", path, link)[0] == 403, path
        assert ask(agent.port, "GET", path, {"Sec-Fetch-Site": "cross-site"})[0] == 403, path
    assert ask(agent.port, "GET", "/", {**link, "Sec-Fetch-Dest": "iframe"})[0] == 403
    assert ask(agent.port, "GET", "/", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"})[0] == 403
    assert refused(agent, "other_site") == 12


def test_probes_have_their_own_address(start_agent):
    port = free_port()
    agent = start_agent('http {\n\tauth {\n\t\tbasic {\n\t\t\tusername = "u"\n\t\t\tpassword = "p"\n\t\t}\n\t}\n}\n',
                        f"--server.http.probe-addr=127.0.0.1:{port}")
    wait_until(lambda: "xagent is running" in agent.log, 15, "it runs")
    assert ask(port, "GET", "/-/ready") == (200, "xagent is ready.\n")
    assert ask(port, "GET", "/-/healthy") == (200, "All xagent components are healthy.\n")
    assert parse(ask(port, "GET", "/metrics")[1]).get("xagent_build_info") == 1
    for path in ("/", "/page/app.js", "/-/support", "/api/v0/web/status", "/api/v0/web/components", "/api/v0/web/process?pid=1"):
        assert ask(port, "GET", path)[0] == 404, path
        assert ask(agent.port, "GET", path)[0] == 401, path
    for method in ("GET", "POST"):
        assert ask(port, method, "/-/reload")[0] == 404
    assert ask(port, "GET", "/metrics", {"Host": EVIL})[0] == 403
    assert ask(port, "POST", "/metrics", body=b"x")[0] == 405


def test_probe_address_in_use(processes, tmp_path):
    from harness import paths
    (tmp_path / "a.alloy").write_text(STORE)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = processes.run(paths.XAGENT, "run", "a.alloy", "--server.http.listen-addr=127.0.0.1:0",
                            f"--server.http.probe-addr=127.0.0.1:{port}", cwd=tmp_path, seconds=10)
    assert run.popen.returncode == 1 and f"failed to listen on 127.0.0.1:{port}: Address already in use" in run.err
    assert "--server.http.probe-addr=HOST:PORT" in run.err


# A client that would hold it up

class Hostile:
    """Connections that are opened and left as they are."""

    def __init__(self, port):
        self.port = port
        self.sockets = []

    def begin(self, text=b""):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        self.sockets.append(s)
        try:
            s.sendall(text)
        except OSError:
            pass
        return s

    def close(self):
        for s in self.sockets:
            s.close()


@pytest.fixture
def profiling(start_agent):
    """An agent that samples."""
    agent = start_agent(config("http://127.0.0.1:1", interval="1s") + STORE).wait_ready()
    hostile = Hostile(agent.port)
    yield agent, hostile
    hostile.close()


def meanwhile(agent):
    """It is ready, and samples: the ticks."""
    assert fetch(agent.url + "/-/ready", seconds=10) == (200, "xagent is ready.\n")
    return agent.metrics().get("xagent_kernel_ticks_total")


def assert_goes_on(agent, before):
    wait_until(lambda: meanwhile(agent) > before, 10, "ticks are counted")


@pytest.mark.bpf
@pytest.mark.parametrize("text", [b"", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ",
                                  b"POST " + PUSH.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\nx"],
                         ids=["idle", "headers", "body"])
def test_many_connections(profiling, text):
    """200 that say nothing, or not all: whoever comes next is answered."""
    agent, hostile = profiling
    before = meanwhile(agent)
    for _ in range(200):
        hostile.begin(text)
    assert_goes_on(agent, before)
    assert ended(agent, "crowded") >= 200 - 64


@pytest.mark.bpf
def test_a_byte_at_a_time(profiling):
    """What is never complete ends, however often a byte comes; nobody waits for it."""
    agent, hostile = profiling
    before = meanwhile(agent)
    for _ in range(40):
        hostile.begin(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n")
    stop = threading.Event()

    def drip():
        while not stop.wait(0.5):
            for s in hostile.sockets:
                try:
                    s.send(b"X: y\r\n")
                except OSError:
                    pass
    thread = threading.Thread(target=drip)
    thread.start()
    try:
        assert_goes_on(agent, before)
        wait_until(lambda: ended(agent, "late_request") >= 40, 30, "the slow ones have ended")
        assert_goes_on(agent, meanwhile(agent))
    finally:
        stop.set()
        thread.join()


@pytest.mark.bpf
@pytest.mark.parametrize("path", ["/metrics", "/-/ready", "/no", "/-/reload"])
def test_bodies_that_nobody_takes(profiling, path):
    """64 bodies of 4 MiB: not received at all."""
    agent, hostile = profiling
    before, chunk = meanwhile(agent), b"x" * (1 << 20)
    agent.metrics()
    resident = agent.metrics().get("process_resident_memory_max_bytes")

    def send():
        s = hostile.begin(f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {4 << 20}\r\n\r\n".encode())
        try:
            for _ in range(4):
                s.sendall(chunk)
        except OSError:
            pass
    threads = [threading.Thread(target=send) for _ in range(64)]
    for thread in threads:
        thread.start()
    assert_goes_on(agent, before)
    for thread in threads:
        thread.join()
    grown = agent.metrics().get("process_resident_memory_max_bytes") - resident
    assert grown < 48 << 20, f"{grown / (1 << 20):.0f} MiB"


def test_most_memory_is_the_agents_own(start_agent):
    """Not what its parent had when it started the agent."""
    parents = bytearray(b"x") * (256 << 20)
    agent = start_agent(STORE).wait_ready()
    m = agent.metrics()
    assert len(parents) > 2 * m.get("process_resident_memory_max_bytes") >= m.get("process_resident_memory_bytes")


def is_taken(agent, body):
    """Whether the store has looked at it. Who sends too much may be cut off before it has read why."""
    try:
        return json.loads(fetch(agent.url + PUSH, data=body, headers={"Content-Type": "application/json"})[1])["code"] == "invalid_argument"
    except (OSError, ValueError):
        return False


@pytest.mark.bpf
def test_bodies_together(profiling):
    """64 that send nearly all of 4 MiB to where it is taken: a budget for all of them, and room again when they are gone."""
    agent, hostile = profiling
    before = meanwhile(agent)
    resident = agent.metrics().get("process_resident_memory_max_bytes")
    head = f"POST {PUSH} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {4 << 20}\r\n\r\n".encode()

    def send():
        s = hostile.begin(head)
        try:
            s.sendall(b" " * ((4 << 20) - 1))
        except OSError:
            pass
    threads = [threading.Thread(target=send) for _ in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert_goes_on(agent, before)
    assert refused(agent, "bodies_full") > 0
    grown = agent.metrics().get("process_resident_memory_max_bytes") - resident
    assert grown < 80 << 20, f"{grown / (1 << 20):.0f} MiB"
    hostile.close()
    wait_until(lambda: is_taken(agent, b"{}" + b" " * (3 << 20)), 10, "there is room again")


@pytest.mark.bpf
def test_readers_that_do_not_read(profiling):
    agent, hostile = profiling
    before = meanwhile(agent)
    for _ in range(100):
        s = hostile.begin()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        try:
            s.sendall(b"GET /page/app.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        except OSError:
            pass
    assert_goes_on(agent, before)
    time.sleep(0.5)
    assert_goes_on(agent, meanwhile(agent))


N_SLEEPERS = 2000
# Each looks at all processes, all series, or all components.
COSTLY = ("/api/v0/web/process?name=sleep", "/api/v0/web/process?name=no-such-name", "/api/v0/web/status", "/api/v0/web/components", "/metrics")


def n_found(answer):
    return int(re.search(r"of (\d+)$", answer.get("why", "of 0"))[1])


@pytest.mark.bpf
def test_answers_that_cost(profiling, processes):
    """Asked for by many at once, with thousands of processes: no turn of the loop gets long, probes and samples go on, and answers are as ever."""
    agent, _ = profiling
    crowd = processes.start("/bin/sh", "-c", f"i=0; while [ $i -lt {N_SLEEPERS} ]; do sleep 120 & i=$((i+1)); done; echo started; wait")
    crowd.wait_for_output("started")
    wait_until(lambda: n_found(json.loads(agent.get(COSTLY[0])[1])) >= N_SLEEPERS, 60, "all sleep")
    answers, stop, lock = {path: [] for path in COSTLY}, threading.Event(), threading.Lock()
    begin, before = agent.metrics(), meanwhile(agent)

    def go_on_asking(path):
        while not stop.is_set():
            try:
                answer = ask(agent.port, "GET", path)
            except (OSError, IndexError):
                continue  # crowded out
            with lock:
                answers[path].append(answer)
    threads = [threading.Thread(target=go_on_asking, args=(path,)) for path in COSTLY * 4]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            assert_goes_on(agent, before)
            before = meanwhile(agent)
        wait_until(lambda: all(sum(status == 200 for status, _ in got) >= 5 for got in answers.values()), 120, "all are answered")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    after = agent.metrics()
    assert after.get("xagent_loop_turns_total") > begin.get("xagent_loop_turns_total")
    assert after.get("xagent_loop_long_turns_total") == begin.get("xagent_loop_long_turns_total")
    assert {status for got in answers.values() for status, _ in got} <= {200, 503}
    found = [json.loads(text) for status, text in answers[COSTLY[0]] if status == 200]
    assert all(n_found(f) >= N_SLEEPERS and len(f["processes"]) == 50 for f in found)
    none = [json.loads(text) for status, text in answers[COSTLY[1]] if status == 200]
    assert all(f["processes"] == [] for f in none)


@pytest.mark.bpf
def test_more_ask_than_may_wait(profiling, processes):
    """Then who comes last is refused, and counted; counters are still answered."""
    agent, hostile = profiling
    before = meanwhile(agent)
    for _ in range(50):
        hostile.begin(b"GET /api/v0/web/process?name=e HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4)
    wait_until(lambda: refused(agent, "queue_full") > 0, 30, "one is refused")
    assert_goes_on(agent, before)


def test_reasons_are_in_the_metrics_from_the_beginning(start_agent):
    text = start_agent(STORE).wait_ready().get("/metrics")[1]
    assert set(re.findall(r'xagent_http_requests_refused_total{reason="(\w+)"} 0', text)) == {
        "foreign_host", "other_site", "browser", "password", "body_too_long", "bodies_full", "answers_full", "queue_full"}
    assert set(re.findall(r'xagent_http_connections_ended_total{reason="(\w+)"} 0', text)) == {
        "idle", "gone", "late_request", "late_body", "late_reader", "crowded", "flooding"}
