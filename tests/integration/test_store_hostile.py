# SPDX-License-Identifier: Apache-2.0
"""Clients of the built-in store that mean harm: small requests that unpack to gigabytes, many at once. Meanwhile the agent goes on sampling, keeps
its own profiles, answers its probe, and ends when it is told to."""
import gzip
import json
import threading
import time
from collections import Counter

import pytest

from harness.agent import fetch
from harness.pyroscope import CPU
from harness.store_api import SERVICE, Server
from harness.store_data import PUSH, TICK, Pprof, cpu_labels, push_proto

pytestmark = pytest.mark.agent

MIB = 1 << 20
# What is kept (64), a message and a profile on their way (24 + 72), bodies that wait (16), and the program itself; see agent/store/README.md.
RSS_MIB = 300
CONFIG = '''pyroscope.ebpf "host" {
	forward_to       = [pyroscope.store.local.receiver]
	collect_interval = "1s"
}
pyroscope.store "local" { }
'''


def now_ms():
    return int(time.time() * 1000)


def varint(n):
    out = b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7f | 0x80]), n >> 7
    return out + bytes([n])


def text_profile(size):
    """A pprof of one text of that many bytes, which is cheap to make and to unpack."""
    return b"\x32" + varint(size) + bytes(size)


def bomb_of_profiles():
    """1,024 profiles of 4 MiB in two layers of gzip."""
    profile = gzip.compress(text_profile(4 * MIB - 16), 9)
    return gzip.compress(push_proto((cpu_labels("bomb"), *[profile] * 1024)), 9)


def bomb_of_series():
    """8 M empty series."""
    return gzip.compress(b"\x0a\x00" * (8 * MIB), 9)


def bomb_of_samples():
    """Profiles of two million empty samples each."""
    return gzip.compress(push_proto((cpu_labels("bomb"), *[gzip.compress(b"\x12\x00" * (2 * MIB), 9)] * 64)), 9)


def bomb_of_stacks():
    """A profile as large as it may be, of stacks that nobody has seen before: what is sound costs as well."""
    p = Pprof(now_ms() - 60_000)
    for leaf in range(400):
        p.add(" ".join(f"f{leaf}_{depth}" for depth in range(100)), TICK)
    return push_proto((cpu_labels("stacks"), p.bytes()))


def bomb_of_json():
    return gzip.compress(b'{"series":[' + b"{}," * (2 * MIB) + b"{}]}", 9)


def big_question():
    return json.dumps({"start": 1, "end": now_ms(), "profileTypeID": CPU, "labelSelector": "{}", "maxNodes": 1 << 20}).encode()


class Attacker(threading.Thread):
    """Sends the same request for as long as it may; counts what is answered."""

    def __init__(self, url, path, body, kind="application/proto", packed=True):
        super().__init__(daemon=True)
        self.url, self.path, self.body = url, path, body
        self.headers = {"Content-Type": kind, **({"Content-Encoding": "gzip"} if packed else {})}
        self.answers, self.ended = Counter(), False
        self.start()

    def run(self):
        server = Server(self.url)
        while not self.ended:
            try:
                self.answers[server.request("POST", self.path, self.body, **self.headers).status] += 1
            except OSError:
                return


def peak_rss_mib(agent):
    with open(f"/proc/{agent.process.pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024


def attack(agent):
    return ([Attacker(agent.url, PUSH, body) for body in (bomb_of_profiles(), bomb_of_series(), bomb_of_samples()) for _ in range(5)]
            + [Attacker(agent.url, PUSH, bomb_of_json(), "application/json")]
            + [Attacker(agent.url, PUSH, bomb_of_stacks(), packed=False) for _ in range(3)]
            + [Attacker(agent.url, SERVICE + "SelectMergeStacktraces", big_question(), "application/json", packed=False) for _ in range(3)])


def test_small_requests_that_unpack_to_much(start_agent):
    """One at a time: each is refused in the words of a ceiling, and counted by it."""
    agent = start_agent('pyroscope.store "local" { }\n').wait_ready()
    server = Server(agent.url)
    bombs = {"inflated_bytes": bomb_of_profiles(), "message_size": bomb_of_series()}
    assert len(bombs["inflated_bytes"]) < 8 << 10 and len(bombs["message_size"]) < 20 << 10
    for reason, body in bombs.items():
        answer = server.request("POST", PUSH, body, Content_Type="application/proto", Content_Encoding="gzip")
        assert (answer.status, answer.code) == (429, "resource_exhausted"), answer
        assert agent.metrics().value("xagent_store_refused_requests_total", reason=reason) == 1, reason
    half = gzip.compress(b"\x0a\x00" * (4 * MIB - 1), 9)
    assert server.request("POST", PUSH, half, Content_Type="application/proto", Content_Encoding="gzip").code == "resource_exhausted"
    assert agent.metrics().value("xagent_store_refused_requests_total", reason="elements") == 1
    m = agent.metrics()
    assert m.get("xagent_store_received_profiles_total") == m.get("xagent_store_refused_profiles_total") == 1024
    assert m.value("xagent_store_refused_profiles_total", reason="request_limit") > 1000
    assert peak_rss_mib(agent) < 150
    assert agent.stop() == 0


def test_too_many_pushes_wait(start_agent):
    """Beyond its share a client is told when to come again."""
    agent = start_agent('pyroscope.store "local" { }\n').wait_ready()
    attackers = [Attacker(agent.url, PUSH, bomb_of_profiles()) for _ in range(24)]
    agent.wait_metric(lambda m: m.get("xagent_store_refused_requests_total", reason="queue_full") > 0, 20, "a push finds no room")
    for attacker in attackers:
        attacker.ended = True
    for attacker in attackers:
        attacker.join(30)
    assert set().union(*(a.answers for a in attackers)) == {429}
    p = Pprof(now_ms() - 1000).add("main run", TICK)
    assert Server(agent.url).push((cpu_labels("good"), p.bytes())).status == 200
    assert agent.stop() == 0


@pytest.mark.bpf
def test_the_agent_goes_on_while_it_is_attacked(start_agent):
    agent = start_agent(CONFIG).wait_ready()
    agent.wait_metric(lambda m: m.get("xagent_store_profiles") > 0, 20, "profiles of its own are kept")
    before, attackers, slowest = agent.metrics(), attack(agent), 0
    begin = time.monotonic()
    while time.monotonic() - begin < 10:
        asked = time.monotonic()
        assert fetch(agent.url + "/-/ready", 5)[0] == 200
        slowest = max(slowest, time.monotonic() - asked)
    after = agent.metrics()
    print(f"/-/ready took {1e3 * slowest:.0f} ms at most, RSS {peak_rss_mib(agent):.0f} MiB at most, answers "
          f"{[dict(a.answers) for a in attackers]}")
    ticks = after.get("xagent_kernel_ticks_total") - before.get("xagent_kernel_ticks_total")
    assert ticks > 0.8 * 10 * 19 and after.get("xagent_store_received_profiles_total") > before.get("xagent_store_received_profiles_total")
    assert not agent.log_lines(msg="a profile is refused"), agent.log[-2000:]
    for reason in ("inflated_bytes", "message_size", "queue_full"):
        assert after.value("xagent_store_refused_requests_total", reason=reason) > 0, reason
    assert peak_rss_mib(agent) < RSS_MIB
    # It ends in the midst of it, and waits for none of them.
    asked = time.monotonic()
    assert agent.stop(seconds=10) == 0
    print(f"ended in {time.monotonic() - asked:.2f} s")
