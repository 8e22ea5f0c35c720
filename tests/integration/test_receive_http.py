# SPDX-License-Identifier: Apache-2.0
"""
pyroscope.receive_http: every format that SDKs send, to the stand-in behind it; clients that mean harm, a hundred at once, a receiver that fails. With
XAGENT_TEST_MATRIX=full also against what the real server makes of the same bytes, and Pyroscope's own SDK of Go as client.
"""
import base64
import gzip
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.parse
from collections import Counter

import pytest

from harness import paths, pyroscope
from harness.agent import ENDPOINT, fetch
from harness.processes import free_port, wait_until
from harness.standin import StandIn
from harness.store_data import MEMORY, PUSH, TICK, Frame, Pprof, cpu_labels, push_json, push_proto

pytestmark = [pytest.mark.agent, pytest.mark.beside]
FULL = pytest.mark.skipif(os.environ.get("XAGENT_TEST_MATRIX") != "full", reason="XAGENT_TEST_MATRIX=full has it")
MIB = 1 << 20

RECEIVE = """
pyroscope.receive_http "in" {{
	http {{
		listen_address      = "127.0.0.1"
		listen_port         = {port}
		server_read_timeout = "2s"
	}}
	forward_to = [{to}]
}}
"""
TRIE = b"\0\0\1\x02a;\0\2\1b\1\0\1c\2\0"
TREE = b"\0\0\1\x01a\0\2\1b\1\0\1c\2\0"
FRAMES = [{"name": name} for name in "abc"]


def now_ns():
    return time.time_ns()


def speedscope(*profiles):
    return json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": FRAMES},
                       "profiles": profiles}).encode()


def sampled(name, unit, weights):
    return {"type": "sampled", "name": name, "unit": unit, "startValue": 0, "endValue": 3, "samples": [[0, 1], [0, 2]], "weights": weights}


def multipart(**parts):
    body = b"".join(b'--bound\r\nContent-Disposition: form-data; name="%s"; filename="x"\r\n\r\n%s\r\n' % (name.encode(), content)
                    for name, content in parts.items())
    return body + b"--bound--\r\n", {"Content-Type": "multipart/form-data; boundary=bound"}


def made(types=None, age_s=1):
    p = Pprof((now_ns() - age_s * 10**9) // 10**6, *([types] if types else []))
    p.add("main f", *([TICK] if not types else range(1, len(types) + 1)))
    return p.bytes()


def with_files():
    """Functions of files, as those who sample scripts have them: a path that is absolute, others, none, and a call inside of another."""
    p = Pprof(now_ns() // 10**6 - 1000)
    p.add([Frame("main", "/srv/app.py", 3), Frame("f", "lib/x.py", 7), Frame("f", "lib/x.py", 9), Frame("g"), Frame("", "y.rb", 2),
           Frame("<module>", "a/b.py", 2, (Frame("inner", "c.py", 11), Frame("innermost", "/srv/c.py", 12)))], TICK)
    p.add([Frame("main", "/srv/app.py", 3), Frame("q", "C:\\y.py", 7)], 2 * TICK)
    return p.bytes()


class Receiver:
    """An agent's address for profiles."""

    def __init__(self, url):
        self.url = url

    def ingest(self, name, body, headers=None, **query):
        return fetch(f"{self.url}/ingest?{urllib.parse.urlencode({'name': name, **query})}", data=body,
                     headers={"Content-Type": "text/plain", **(headers or {})})

    def push(self, body, kind="application/proto", **headers):
        return fetch(f"{self.url}{PUSH}", data=body, headers={"Content-Type": kind, **headers})


@pytest.fixture
def receive(start_agent):
    """An agent that hands on to these addresses; (agent, its receiver)."""
    def start(*urls, more=""):
        port = free_port()
        text = "".join(ENDPOINT.format(url=url, timeout="5s").replace('"endpoint"', f'"w{i}"', 1) for i, url in enumerate(urls))
        to = ", ".join(f"pyroscope.write.w{i}.receiver" for i in range(len(urls)))
        agent = start_agent(text + RECEIVE.format(port=port, to=to) + more).wait_ready()
        return agent, Receiver(f"http://127.0.0.1:{port}")
    return start


def raw_pushes(standin):
    """(labels, the very bytes) of all that was accepted."""
    return [(p["labels"], base64.b64decode(p["profile"])) for p in json.loads(fetch(f"{standin.url}/_pushes")[1])]


def formats():
    """name → (body, headers, query) of one profile: a;b once, a;c twice."""
    folded = b"a;b 1\na;c 2\n"
    return {
        "groups": (folded, {}, {}),
        "lines": (b"a;b\na;c\na;c\n", {}, {"format": "lines"}),
        "trie": (TRIE, {}, {"format": "trie"}),
        "tree": (TREE, {}, {"format": "tree"}),
        "oldtrie": (TRIE, {"Content-Type": "binary/octet-stream+trie"}, {}),
        "speedscope": (speedscope(sampled("one", "none", [1, 2])), {}, {"format": "speedscope"}),
        "packed": (gzip.compress(folded), {"Content-Encoding": "gzip"}, {}),
    }


def test_every_format(receive, standin):
    agent, receiver = receive(standin.url)
    for name, (body, headers, query) in formats().items():
        assert receiver.ingest(f"{name}{{x=1,__y__=2}}", body, headers, spyName="s", **query) == (200, ""), name
    for name in formats():
        (push,) = standin.wait_pushes(service_name=name)
        expected = {"__name__": "process_cpu", "service_name": name, "x": "1", "pyroscope_spy": "s", "__delta__": "false"}
        assert push.labels == {**expected, **({"profile_name": "one"} if name == "speedscope" else {})}
        assert {s.frames: s.values[0] for s in push.profile.samples} == {("a", "b"): TICK, ("a", "c"): 2 * TICK}, name
        assert push.profile.period == TICK
    m = agent.metrics()
    assert m.get("xagent_received_profiles_total", format="groups") == 2
    assert m.get("xagent_received_profiles_total", format="trie") == 2
    assert receiver.ingest("app", b"a;b x")[0] == 422
    assert agent.metrics().get("xagent_received_requests_refused_total", reason="malformed") == 1


def test_bytes_that_go_on_are_those_that_came(receive, standin):
    _, receiver = receive(standin.url)
    cpu, heap = made(), made(MEMORY)
    body, headers = multipart(profile=heap, sample_type_config=b"{}")
    assert receiver.ingest("cpu", cpu, format="pprof")[0] == 200
    assert receiver.ingest("heap", body, headers)[0] == 200
    assert receiver.push(push_proto((cpu_labels("proto"), cpu)))[0] == 200
    assert receiver.push(push_json((cpu_labels("json"), cpu)), "application/json") == (200, "{}")
    assert receiver.push(gzip.compress(push_proto((cpu_labels("gzip"), cpu))), **{"Content-Encoding": "gzip"})[0] == 200
    wait_until(lambda: len(raw_pushes(standin)) == 5, 15, "all of them")
    found = {labels["service_name"]: (labels["__name__"], body) for labels, body in raw_pushes(standin)}
    assert found == {"cpu": ("process_cpu", cpu), "heap": ("memory", heap), **{s: ("process_cpu", cpu) for s in ("proto", "json", "gzip")}}


def test_a_hundred_at_once(receive, standin):
    _, receiver = receive(standin.url)
    answers, barrier = Counter(), threading.Barrier(100)

    def client(number):
        barrier.wait()
        answers[receiver.ingest(f"app{number}", b"a;b 1\n")[0]] += 1
    threads = [threading.Thread(target=client, args=(i,)) for i in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {200: 100}
    wait_until(lambda: len(standin.pushes()) == 100, 15, "all of them")
    assert {p.labels["service_name"] for p in standin.pushes()} == {f"app{i}" for i in range(100)}


def test_one_that_fails_holds_nobody_back(receive, standin, processes, tmp_path):
    """The second has no server, the third one that does not answer."""
    (tmp_path / "hung").mkdir()
    hung = StandIn(processes, tmp_path / "hung")
    hung.set_mode("hang")
    agent, receiver = receive(standin.url, f"http://127.0.0.1:{free_port()}", hung.url)
    for number in range(20):
        assert receiver.ingest(f"app{number}", b"a;b 1\n")[0] == 200
    wait_until(lambda: len(standin.pushes()) == 20, 15, "all of them")
    waiting = agent.metrics().get("pyroscope_write_queue_profiles", component_id="pyroscope.write.w2")
    assert waiting == 20


def test_reload(receive, standin):
    agent, receiver = receive(standin.url)
    port = free_port()
    assert receiver.ingest("before", b"a;b 1\n")[0] == 200
    text = agent.config_path.read_text()
    agent.config_path.write_text(text.replace(f"= {receiver.url.rsplit(':', 1)[1]}", f"= {port}"))
    agent.process.send(signal.SIGHUP)
    after = Receiver(f"http://127.0.0.1:{port}")

    def answers():
        try:
            return after.ingest("after", b"a;b 1\n")[0] == 200
        except OSError:
            return False
    wait_until(answers, 10, "the new address answers")
    with pytest.raises(OSError):
        receiver.ingest("late", b"a;b 1\n")
    assert standin.wait_pushes(service_name="before") and standin.wait_pushes(service_name="after")


def slow(receiver, seconds):
    """Bytes of a body, one a quarter of a second; whether the connection was ended."""
    with socket.create_connection(("127.0.0.1", int(receiver.url.rsplit(":", 1)[1]))) as s:
        s.sendall(b"POST /ingest?name=slow HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        s.settimeout(0.25)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                s.sendall(b"a")
                if s.recv(1) == b"":
                    return True
            except TimeoutError:
                continue
            except OSError:
                return True
    return False


def endless(receiver):
    """A body that never ends; how many MiB were taken of it."""
    piece, sent = b"10000\r\n" + bytes(65536) + b"\r\n", 0
    with socket.create_connection(("127.0.0.1", int(receiver.url.rsplit(":", 1)[1]))) as s:
        s.sendall(b"POST /ingest?name=endless HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        s.settimeout(5)
        try:
            while sent < 100 * MIB:
                s.sendall(piece)
                sent += 65536
        except OSError:
            pass
    return sent / MIB


def too_long(receiver):
    """Announced, and not sent."""
    c = http.client.HTTPConnection("127.0.0.1", int(receiver.url.rsplit(":", 1)[1]), timeout=5)
    c.putrequest("POST", "/ingest?name=long")
    c.putheader("Content-Length", str(100 * MIB))
    c.endheaders()
    status = c.getresponse().status
    c.close()
    return status


def peak_rss_mib(agent):
    with open(f"/proc/{agent.process.pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024


def test_clients_that_mean_harm(receive, standin):
    agent, receiver = receive(standin.url)
    bomb = gzip.compress(bytes(200 * MIB), 9)
    assert too_long(receiver) == 413
    assert endless(receiver) < 40
    assert receiver.ingest("bomb", bomb, {"Content-Encoding": "gzip"})[0] == 413
    assert receiver.ingest("bomb", bomb, format="pprof")[0] == 422
    assert receiver.push(bomb, **{"Content-Encoding": "gzip"})[0] == 429
    assert receiver.push(b"\x0a\x00" * (4 * MIB - 1))[0] == 429
    assert receiver.push(b"nonsense")[0] == 400
    assert receiver.push(b"{", "application/json")[0] == 400
    threads = [threading.Thread(target=lambda: ended.append(slow(receiver, 8))) for _ in range(20)]
    ended = []
    for thread in threads:
        thread.start()
    assert receiver.ingest("well", b"a;b 1\n")[0] == 200
    for thread in threads:
        thread.join()
    assert ended == [True] * 20
    assert standin.wait_pushes(service_name="well")
    assert peak_rss_mib(agent) < 200


# ---- what the real server makes of the same ----

def mixture():
    """name → (body, headers, query), of all that a server of /ingest may be sent."""
    folded = b"a;b 1\na;c 2\n"
    form, form_headers = multipart(profile=made(), sample_type_config=b'{"cpu":{"display-name":"wall_clock"}}')
    block, _ = multipart(profile=made([("contentions", "count"), ("delay", "nanoseconds")]),
                         sample_type_config=b'{"contentions":{"display-name":"block_count"}}')
    result = {name: request for name, request in formats().items() if name != "packed"}
    result.update({f"app.{suffix}": (folded, {}, {}) for suffix in
                   ("cpu", "wall", "alloc_space", "inuse_objects", "goroutines", "mutex_count", "mutex_duration", "block_count", "block_duration",
                    "lock_count", "lock_duration", "live", "exceptions", "itimer", "alloc_in_new_tlab_bytes", "unknown")})
    result.update({
        "rate": (folded, {}, {"sampleRate": "1000"}),
        "norate": (folded, {}, {"sampleRate": "0"}),
        "bare{}": (folded, {}, {}),
        "labels{a=1, b = x y ,c=2": (folded, {}, {}),
        "named{service_name=other}": (folded, {}, {}),
        "private{__x__=1,__session_id__=2}": (folded, {}, {}),
        "two": (speedscope(sampled("one", "seconds", [1, 2]), sampled("two", "milliseconds", [3, 4])), {}, {"format": "speedscope"}),
        "cpuprofile": (made(), {}, {"format": "pprof"}),
        "heap": (made(MEMORY), {}, {"format": "pprof"}),
        "goroutine": (made([("goroutine", "count")]), {}, {"format": "pprof"}),
        "mutex": (made([("contentions", "count"), ("delay", "nanoseconds")]), {}, {"format": "pprof"}),
        "form": (form, form_headers, {}),
        "block": (block, form_headers, {}),
        "dotnet": (made([("cpu", "nanoseconds")]), {}, {"format": "pprof", "spyName": "dotnetspy"}),
        **{f"files{spy}": (with_files(), {}, {"format": "pprof", "spyName": spy}) for spy in ("pyspy", "rbspy", "scripting", "gospy")},
        "filesform": (*multipart(profile=with_files(), sample_type_config=b"{}"), {"spyName": "pyspy"}),
        "empty": (b"", {}, {}),
        "odd": (b"a b;c d 3\r\nx\n\n 7\n", {}, {}),
        "count": (b"a;b x\n", {}, {}),
        "": (folded, {}, {}),
        "a b!": (folded, {}, {}),
        "key{x-y=1}": (folded, {}, {}),
        "cut": (TRIE[:5], {}, {"format": "trie"}),
        "garbage": (b"garbage", {}, {"format": "pprof"}),
        "noschema": (b"{}", {}, {"format": "speedscope"}),
        "noform": (b"x", {"Content-Type": "multipart/form-data"}, {}),
    })
    return result


BURN = """
public class Burn {
	public static void main(String[] a) {
		long n = 1;
		for (long end = System.currentTimeMillis() + 3000; System.currentTimeMillis() < end;) n += n * end;
		System.out.println(n);
	}
}
"""


def recording(tmp_path):
    """One of JFR; None without Java."""
    if not shutil.which("java"):
        return None
    (tmp_path / "Burn.java").write_text(BURN)
    made = subprocess.run(["java", f"-XX:StartFlightRecording:filename={tmp_path}/r.jfr,settings=profile", tmp_path / "Burn.java"],
                          capture_output=True, text=True, check=False)
    return (tmp_path / "r.jfr").read_bytes() if made.returncode == 0 else None


def contents(server):
    """(type, labels) → stacks, of all that it has."""
    now = int(time.time() * 1000)
    times = {"start": now - 3600_000, "end": now + 60_000}
    series = server.query("Series", matchers=["{}"], labelNames=[], **times).get("labelsSet", [])
    result = {}
    for one in series:
        labels = {pair["name"]: pair["value"] for pair in one["labels"]}
        selector = "{" + ",".join(f'{k}="{v}"' for k, v in labels.items() if not k.startswith("__")) + "}"
        answer = server.query("SelectMergeStacktraces", profileTypeID=labels["__profile_type__"], labelSelector=selector, **times)
        result[json.dumps(labels, sort_keys=True)] = pyroscope.flame_stacks(answer["flamegraph"])
    return result


@FULL
def test_as_the_real_server(receive, processes, tmp_path):
    """Statuses, series and stacks equal, whether it is sent there or comes by an agent."""
    program, reason = pyroscope.build()
    if reason:
        pytest.skip(reason)
    (tmp_path / "straight").mkdir()
    (tmp_path / "behind").mkdir()
    straight = pyroscope.Pyroscope(processes, tmp_path / "straight", program)
    behind = pyroscope.Pyroscope(processes, tmp_path / "behind", program)
    _, receiver = receive(behind.url)
    requests, jfr = mixture(), recording(tmp_path)
    if jfr:
        form, headers = multipart(jfr=jfr)
        requests["java{a=b}"] = (form, headers, {"format": "jfr", "spyName": "javaspy"})
        requests["raw"] = (jfr, {"Content-Type": "application/octet-stream"}, {"format": "jfr", "spyName": "javaspy"})
    for name, (body, headers, query) in requests.items():
        ours, theirs = (Receiver(url).ingest(name, body, headers, **query) for url in (receiver.url, straight.url))
        assert ours[0] == theirs[0], (name, ours, theirs)
    expected = contents(straight)
    assert len(expected) > 30
    wait_until(lambda: len(contents(behind)) >= len(expected), 20, "as many series")
    assert contents(behind) == expected


@FULL
def test_larger_than_a_server_takes(receive, processes, tmp_path):
    """3 MB before compression, of which a server with its default of a burst says "too many" forever: it has them in parts, to the last sample."""
    program, reason = pyroscope.build()
    if reason:
        pytest.skip(reason)
    server = pyroscope.Pyroscope(processes, tmp_path, program)
    agent, receiver = receive(server.url)
    dice, large = random.Random(22), Pprof(now_ns() // 10**6 - 1000)
    for _ in range(6000):
        large.add([Frame("main"), Frame(dice.randbytes(100).hex())], TICK)
    body = large.bytes()
    assert 2 * MIB < len(gzip.decompress(body)) < 4 * MIB
    for _ in range(2):
        assert receiver.push(push_proto((cpu_labels("large"), body)))[0] == 200
    m = agent.wait_metric(lambda m: m.get("pyroscope_write_sent_profiles_total") == 4, 60, "all are sent")
    assert m.get("xagent_received_profiles_divided_total") == 2 and m.get("pyroscope_write_dropped_profiles_total") == 0
    now = int(time.time() * 1000)
    answer = server.query("SelectMergeStacktraces", profileTypeID=pyroscope.CPU, labelSelector='{service_name="large"}', start=now - 3600_000,
                          end=now + 60_000)
    # What was sent again has the same milliseconds, and counts once.
    assert int(answer["flamegraph"]["total"]) == 6000 * TICK


MERGED = """
pyroscope.relabel "one" {{
	forward_to = [pyroscope.write.w0.receiver{store}]
	rule {{
		action = "labeldrop"
		regex  = "instance"
	}}
}}
"""


@FULL
def test_series_that_become_one(receive, start_agent, processes, tmp_path):
    """Clients whose profiles are of the same millisecond, and whose labels are equal afterwards: nothing is lost, and nothing counted twice."""
    program, reason = pyroscope.build()
    if reason:
        pytest.skip(reason)
    real = pyroscope.Pyroscope(processes, tmp_path, program)
    port = free_port()
    text = (ENDPOINT.format(url=real.url, timeout="5s").replace('"endpoint"', '"w0"', 1) + MERGED.format(store=", pyroscope.store.s.receiver")
            + RECEIVE.format(port=port, to="pyroscope.relabel.one.receiver") + 'pyroscope.store "s" { }\n')
    agent = start_agent(text).wait_ready()
    receiver, body, seconds = Receiver(f"http://127.0.0.1:{port}"), made(), int(time.time()) - 20
    for i in range(20):
        labels = {**cpu_labels("pushed"), "instance": str(i)}
        # Once more, as clients do who have had no answer.
        for _ in range(2):
            assert receiver.push(push_proto((labels, body)))[0] == 200
        assert receiver.ingest(f"folded{{instance={i}}}", b"a;b 1\n", **{"from": str(seconds), "until": str(seconds + 10)})[0] == 200
    agent.wait_metric(lambda m: m.get("pyroscope_write_sent_profiles_total") == 60, 20, "all are sent")
    now = int(time.time() * 1000)
    for service in ("pushed", "folded"):
        for server in (real, pyroscope.Querier(agent.url)):
            answer = server.query("SelectMergeStacktraces", profileTypeID=pyroscope.CPU, labelSelector=f'{{service_name="{service}"}}',
                                  start=now - 3600_000, end=now + 60_000)
            assert int(answer["flamegraph"]["total"]) == 20 * TICK, (service, server.url)
    assert agent.metrics().get("xagent_received_profiles_moved_total", result="moved") == 19 * 2 + 19


@FULL
def test_sdk_of_go(receive, processes, tmp_path, standin):
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not os.path.exists(go):
        pytest.skip("no Go")
    built = subprocess.run([go, "build", "-mod=readonly", "-o", tmp_path / "sdk", "."], cwd=paths.TESTS / "sdk", capture_output=True, text=True,
                           check=False)
    if built.returncode != 0:
        pytest.skip(f"the SDK could not be built: {built.stderr[-300:]}")
    agent, receiver = receive(standin.url)
    processes.start(tmp_path / "sdk", receiver.url).wait_for_output("running")
    wanted = {"process_cpu": "main.burn", "memory": "main.allocate", "mutex": "sync.(*Mutex).Unlock", "block": "sync.(*Mutex).Lock",
              "goroutines": "main.main"}

    def seen():
        found = {}
        for push in standin.pushes(service_name="sdk.example", region="north", pyroscope_spy="gospy"):
            names = {name for sample in push.profile.samples for name in sample.frames}
            found.setdefault(push.labels["__name__"], set()).update(names)
        return found if all(function in found.get(name, ()) for name, function in wanted.items()) else None
    wait_until(seen, 40, f"all of {wanted}")
    assert agent.metrics().get("xagent_received_requests_refused_total", reason="malformed") == 0
