# SPDX-License-Identifier: Apache-2.0
"""An event with two values, bytes and objects, from its program to every form of output, to a server and to a store: an agent that has one."""
import json
import re
import subprocess
import time

import pytest

from harness import folded, paths, pprof
from harness.agent import config
from harness.processes import wait_until
from harness.store_api import Server, flamegraph

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

XAGENT = paths.BUILD / "tests" / "events" / "allocation" / "xagent"
# On the whole host nobody else calls it: of a limit that others use up too, whose the sums are is an estimate.
EVENT = "syscalls:sys_enter_readahead"
# What fixtures/allocator.c takes: of bytes one function has most, of objects the other.
LARGE, SMALL = 50, 200
VALUES = {"large": (4096 * LARGE, LARGE), "small": (24 * SMALL, SMALL)}
BYTES, OBJECTS = (sum(v[i] for v in VALUES.values()) for i in (0, 1))
PAUSE_US = 3000
TYPES = [("alloc_space", "bytes"), ("alloc_objects", "count")]
PERIOD = ("space", "bytes")


@pytest.fixture(scope="module", autouse=True)
def allocation_xagent():
    made = subprocess.run(["make", "--no-print-directory", "-C", paths.TOP, XAGENT.relative_to(paths.TOP)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr


def profile(processes, programs, path, large=LARGE, small=SMALL, pause_us=PAUSE_US):
    run = processes.run(XAGENT, "profile", "-U", "-e", f"tracepoint:{EVENT}", "-o", path, "--", programs["allocator"], large, small, pause_us)
    assert run.popen.returncode == 0, run.err
    return run


def sums(profiles):
    """Function of allocator.c → both sums. Nothing else has any."""
    result = {}
    for sample in (s for p in profiles for s in p.samples):
        at = sample.frames.index("main")
        assert sample.frames[at + 2] == "take" and len(sample.values) == 2, sample
        before = result.get(sample.frames[at + 1], (0, 0))
        result[sample.frames[at + 1]] = tuple(a + b for a, b in zip(before, sample.values))
    return result


def test_pprof(processes, programs, tmp_path):
    profile(processes, programs, tmp_path / "p.pb.gz")
    p = pprof.parse((tmp_path / "p.pb.gz").read_bytes())
    assert p.sample_types == TYPES and p.period_type == PERIOD and p.period == 1
    assert sums([p]) == VALUES


def test_beyond_the_limit_both_sums_stay(processes, programs, tmp_path):
    """What a hit that is no sample is worth goes to the next sample, of each value."""
    profile(processes, programs, tmp_path / "p.pb.gz", large=1000000, small=0, pause_us=0)
    p = pprof.parse((tmp_path / "p.pb.gz").read_bytes())
    # So many at once that first stacks may come without a copy of the stack: cut, but with their values.
    size, count = (sum(s.values[i] for s in p.samples) for i in range(2))
    assert size == 4096 * count and 980000 <= count <= 1000000


def test_folded(processes, programs, tmp_path):
    """Of the first value."""
    profile(processes, programs, tmp_path / "p.folded")
    stacks = folded.parse((tmp_path / "p.folded").read_text())
    assert {name: stacks.having_run("main", name, "take").total for name in VALUES} == {n: v[0] for n, v in VALUES.items()}
    assert stacks.total == BYTES


def test_svg(processes, programs, tmp_path):
    profile(processes, programs, tmp_path / "p.svg")
    text = (tmp_path / "p.svg").read_text()
    assert f"Bytes of {EVENT} of allocator" in text and f"{BYTES} bytes in" in text
    for name, (size, _) in VALUES.items():
        assert f"<title>{name}: {size} bytes, " in text
    assert not re.search(r"\bhits?\b|\bsamples?\b|CPU time", text, re.IGNORECASE), text


def test_html(processes, programs, tmp_path):
    profile(processes, programs, tmp_path / "p.html")
    text = (tmp_path / "p.html").read_text()
    data = json.loads(re.search(r'id="xagent-profile">(\{"title":".*?)</script>', text, re.DOTALL)[1])
    assert data["title"].startswith(f"Bytes of {EVENT} of allocator: {BYTES} bytes in")
    assert data["unit"] == "bytes" and data["flamebearer"]["numTicks"] == BYTES


def test_speedscope(processes, programs, tmp_path):
    profile(processes, programs, tmp_path / "p.speedscope.json")
    (one,) = json.loads((tmp_path / "p.speedscope.json").read_text())["profiles"]
    assert one["unit"] == "bytes" and sum(one["weights"]) == one["endValue"] == BYTES


def with_event(text):
    return text.replace("\n\tsample_rate", f'\n\tevents {{\n\t\ttracepoint "allocations" {{ event = "{EVENT}" }}\n\t}}\n\tsample_rate', 1)


def run_allocator(processes, programs):
    assert processes.start(programs["allocator"], LARGE, SMALL, PAUSE_US).wait(30) == 0


def test_what_a_server_gets(start_agent, standin, processes, programs):
    agent = start_agent(with_event(config(standin.url, interval="1s")), program=XAGENT).wait_ready()
    run_allocator(processes, programs)

    def pushed():
        return [p.profile for p in standin.pushes() if p.labels["__name__"] == "allocations" and "allocator" in p.labels["service_name"]]
    wait_until(lambda: sum(s.values[1] for p in pushed() for s in p.samples) >= OBJECTS, 20, "all hits are pushed")
    assert all(p.sample_types == TYPES and p.period_type == PERIOD for p in pushed())
    assert sums(pushed()) == VALUES
    assert agent.stop() == 0


def test_what_a_store_has(start_agent, processes, programs):
    """Two types of profiles, each with its own sums."""
    text = with_event(config("http://127.0.0.1:1", interval="1s")).replace("[pyroscope.write.endpoint.receiver]", "[pyroscope.store.here.receiver]")
    agent = start_agent(text + 'pyroscope.store "here" { }\n', program=XAGENT).wait_ready()
    begin = int(time.time() * 1000) - 1000
    run_allocator(processes, programs)
    server = Server(agent.url)

    def stored(value):
        """The paths of all that was stored, each with its total."""
        answer = server.json("SelectMergeStacktraces", profileTypeID=f"allocations:{':'.join(value)}:{':'.join(PERIOD)}",
                             labelSelector='{service_name=~".*allocator.*"}', start=begin, end=int(time.time() * 1000) + 1000)
        return [(n.path, n.values[0]) for n in flamegraph(answer).get("nodes", [])]
    wait_until(lambda: ((), OBJECTS) in stored(TYPES[1]), 20, "all hits are stored")
    for i, value in enumerate(TYPES):
        takes = {path[-2]: total for path, total in stored(value) if path[-1:] == ("take",)}
        assert takes == {name: v[i] for name, v in VALUES.items()}
    types = server.json("ProfileTypes")["profileTypes"]
    assert {t["ID"] for t in types if t["name"] == "allocations"} == {f"allocations:{':'.join(v)}:space:bytes" for v in TYPES}
    assert agent.stop() == 0
