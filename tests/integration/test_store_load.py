# SPDX-License-Identifier: Apache-2.0
"""The built-in store under load and through accidents: its bound, what goes first, a kill while it writes, damaged files, nonsense."""
import json
import os
import random
import signal
import socket
import threading
import time

import pytest

from harness import store_data, store_questions
from harness.agent import Agent
from harness.pyroscope import CPU
from harness.store_api import SERVICE, Server, flamegraph
from harness.store_data import PUSH, TICK, Pprof, cpu_labels, push_proto

pytestmark = pytest.mark.agent

MIB = 1 << 20
MINUTE = 60_000
SERIES, ROUNDS = 1000, 5


def store(**arguments):
    return 'pyroscope.store "local" {\n' + "".join(f"\t{k} = {json.dumps(str(v))}\n" for k, v in arguments.items()) + "}\n"


def now_ms():
    return int(time.time() * 1000)


def crowd(number, time_ms, n_stacks=14):
    """A profile of one of many series, with stacks of its own; (labels, bytes)."""
    p = Pprof(time_ms)
    for leaf in range(n_stacks):
        p.add(f"main service_of_number_{number}_begins at_{time_ms % 10_000_000}_a_function_with_a_long_name_{leaf}", TICK)
    return cpu_labels(f"service-{number % 20}", number=f"{number:04}"), p.bytes()


def total(server, begin, end, selector="{}"):
    graph = server.json("SelectMergeStacktraces", profileTypeID=CPU, labelSelector=selector, start=begin, end=end, maxNodes=1)["flamegraph"]
    return int(graph.get("total", 0))


def accounted(m):
    """What came is there, refused, repeated or evicted."""
    came = m.get("xagent_store_received_profiles_total")
    assert came == m.get("xagent_store_profiles") + m.get("xagent_store_evicted_profiles_total"), m.samples
    return came


def test_bound_holds_and_the_oldest_go_first(start_agent):
    agent = start_agent(store(max_bytes="4MiB")).wait_ready()
    server, begin = Server(agent.url), now_ms() - 55 * MINUTE
    rounds = [begin + number * 11 * MINUTE for number in range(ROUNDS)]
    for at in rounds:
        for first in range(0, SERIES, 100):
            body = push_proto(*(crowd(n, at + n) for n in range(first, first + 100)))
            assert server.post(PUSH, body, "application/proto").status == 200
            m = agent.metrics()
            assert 0 < m.value("xagent_store_bytes") <= m.value("xagent_store_max_bytes") == 4 * MIB
    assert accounted(m) == SERIES * ROUNDS and m.get("xagent_store_evicted_profiles_total", reason="bytes") > 0
    kept = [total(server, at, at + SERIES) for at in rounds]
    assert kept[0] == 0 and kept[-1] == SERIES * 14 * TICK, kept
    first_kept = next(i for i, value in enumerate(kept) if value)
    assert all(value == kept[-1] for value in kept[first_kept + 1:]), kept
    assert sum(kept) == m.value("xagent_store_profiles") * 14 * TICK
    stats = server.json("GetProfileStats")
    assert int(stats["newestProfileTime"]) == rounds[-1] + SERIES - 1
    assert rounds[0] < int(stats["oldestProfileTime"]) <= rounds[first_kept] + SERIES
    assert agent.stop() == 0


# ---- files ----------------------------------------------------------------------------------------------------------------------------


class Stream(threading.Thread):
    """Pushes for as long as the agent answers; remembers what it answered."""

    def __init__(self, url, begin):
        super().__init__(daemon=True)
        self.server, self.begin, self.acknowledged, self.tried = Server(url), begin, 0, 0
        self.start()

    def run(self):
        while True:
            first = self.tried * 50
            series = [crowd(n, self.begin + n * 7, n_stacks=30) for n in range(first, first + 50)]
            self.tried += 1
            try:
                assert self.server.post(PUSH, push_proto(*series), "application/proto").status == 200
            except (OSError, AssertionError):
                return
            self.acknowledged += 1


def files_of(directory):
    return sorted(p for p in directory.rglob("*") if p.is_file()) if directory.exists() else []



@pytest.fixture
def start_on_disk(start_agent, tmp_path):
    """Start an agent whose store is in the folder `profiles` of this test, and wait until it has read what is there: it answers before."""
    def start(**arguments):
        there = len([p for p in files_of(tmp_path / "profiles") if p.suffix == ".zst"])
        agent = start_agent(store(path=tmp_path / "profiles", **arguments)).wait_ready()
        agent.wait_metric(lambda m: m.get("xagent_store_disk_files") + m.get("xagent_store_disk_damaged_files_total") >= there, 20,
                          "the files are read")
        return agent
    return start


def test_what_was_kept_is_there_after_a_restart(start_on_disk):
    agent = start_on_disk()
    begin = now_ms() - 40 * MINUTE
    for series in store_data.everything(begin):
        assert Server(agent.url).push(series).status == 200
    names = ("flame of all", "series", "profile of all", "diff of hosts", "the first 3", "stats")
    questions = [q for q in store_questions.QUESTIONS if q.name in names]

    def answers():
        server = Server(agent.url)
        return [store_questions.FORMS[q.method](server.json(q.method, **q.at_time(begin))) for q in questions]
    before = answers()
    assert agent.stop() == 0
    agent = start_on_disk()
    after = answers()
    assert len(before) == 6 and after == before
    assert agent.metrics().get("xagent_store_disk_damaged_files_total") == 0


def wait_for_half(directory, whole, seconds=5):
    """Whether, when there are so many whole files, another one was seen half written."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        suffixes = [os.path.splitext(name)[1] for name in os.listdir(directory)]
        if suffixes.count(".zst") >= whole and ".tmp" in suffixes:
            return True
    return False


def test_killed_while_it_writes(start_on_disk, tmp_path):
    """What was on disk is there afterwards, what was not is missing as a whole, and nothing comes twice."""
    directory = tmp_path / "profiles"
    agent = start_on_disk(max_bytes="16MiB")
    begin = now_ms() - 50 * MINUTE
    for n in range(200):
        assert Server(agent.url).push(crowd(n, begin + n)).status == 200
    assert agent.stop() == 0
    whole, caught = 200 * 14 * TICK, 0
    for number in range(3):
        agent = start_on_disk(max_bytes="16MiB")
        assert total(Server(agent.url), begin, begin + 200) == whole
        stream_begin = begin + (number + 1) * 5 * MINUTE
        stream = Stream(agent.url, stream_begin)
        caught += wait_for_half(directory, len(files_of(directory)) + 1)
        agent.process.send(signal.SIGKILL)
        agent.process.wait(10)
        stream.join(10)
    agent = start_on_disk(max_bytes="16MiB")
    server = Server(agent.url)
    assert total(server, begin, begin + 200) == whole
    graph = flamegraph(server.json("SelectMergeStacktraces", profileTypeID=CPU, labelSelector="{}", start=begin + 200, end=now_ms(),
                                   maxNodes=1_000_000))
    assert {node.values[1] for node in graph["nodes"]} <= {0, TICK}, "a profile is there twice, or in part"
    assert int(graph["total"]) > 0 and caught
    assert agent.metrics().get("xagent_store_disk_damaged_files_total") == 0 and "damaged" not in agent.log
    assert all(p.suffix == ".zst" for p in files_of(directory)), files_of(directory)


def test_damaged_files_are_named_and_the_others_are_read(start_on_disk, tmp_path):
    directory = tmp_path / "profiles"
    begin = now_ms() - 50 * MINUTE
    for number in range(4):
        agent = start_on_disk()
        assert Server(agent.url).push(crowd(number, begin + number * 12 * MINUTE)).status == 200
        assert agent.stop() == 0
    files = files_of(directory)
    assert len(files) == 4, files
    cut, flipped, emptied, good = files
    cut.write_bytes(cut.read_bytes()[:-20])
    data = bytearray(flipped.read_bytes())
    data[len(data) // 2] ^= 0x40
    flipped.write_bytes(data)
    emptied.write_bytes(b"")
    agent = start_on_disk()
    assert agent.metrics().get("xagent_store_disk_damaged_files_total") == 3
    assert all(p.name in agent.log for p in (cut, flipped, emptied)) and good.name not in agent.log
    assert total(Server(agent.url), begin, now_ms()) == 14 * TICK
    assert Server(agent.url).push(crowd(9, now_ms())).status == 200
    assert agent.stop() == 0


# ---- nonsense -------------------------------------------------------------------------------------------------------------------------


def mutated(random_, body):
    """One of the accidents that happen to bytes."""
    data = bytearray(body)
    for _ in range(random_.randrange(1, 6)):
        at = random_.randrange(len(data) or 1)
        data[at:at + random_.choice((0, 1, 1, 8))] = random_.choice((b"", b"\xff", b"\x00", random_.randbytes(3),
                                                                     bytes(data[at:at + 9]) * 2))
    return bytes(data)


def oversize(agent):
    """The answer to a request that says how long it is, before anything of it was sent."""
    with socket.create_connection(("127.0.0.1", agent.port), 10) as connection:
        head = ("Host: localhost", "Content-Type: application/proto", f"Content-Length: {1 << 40}")
        connection.sendall("\r\n".join((f"POST {PUSH} HTTP/1.1", *head, "", "")).encode())
        return int(connection.recv(100).split()[1])


def test_nonsense_does_not_end_it(start_agent):
    random_ = random.Random(8)
    agent = start_agent(store()).wait_ready()
    server, begin = Server(agent.url), now_ms() - 50 * MINUTE
    assert server.push(crowd(1, begin)).status == 200
    good = Pprof(begin + 1).add("main run", TICK)
    bodies = [(PUSH, push_proto((cpu_labels("nonsense"), good.message.SerializeToString())), "application/proto"),
              (PUSH, push_proto((cpu_labels("nonsense"), good.bytes())), "application/proto"),
              (PUSH, store_data.push_json((cpu_labels("nonsense"), good.bytes())), "application/json")]
    for question in store_questions.QUESTIONS[::5]:
        bodies.append((SERVICE + question.method, json.dumps(question.at_time(begin)).encode(), "application/json"))
    answers = [server.post(path, mutated(random_, body), kind).status for path, body, kind in bodies * 12]
    assert set(answers) <= {200, 400}, sorted(set(answers))
    assert {200, 400} <= set(answers)
    bomb = server.post(PUSH, push_proto((cpu_labels("bomb"), store_data.gzip.compress(bytes(300 * MIB), 1))), "application/proto")
    assert bomb.status == 400, bomb
    assert oversize(agent) in (413, 429)
    assert agent.process.running() and total(server, begin, begin, '{number="0001"}') == 14 * TICK
    assert agent.stop() == 0
