# SPDX-License-Identifier: Apache-2.0
"""TCP: as many connections as a program makes and accepts, by the function that does and by peer, over IPv4 and IPv6."""
import os
import re
import signal
from collections import Counter

import pytest

from harness import folded, paths, pprof
from harness.agent import config
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"


def ports(run):
    return {name: int(port) for name, port in re.findall(r"^(\w+) (\d+)$", run.out, re.M)}


def frames(ports_of):
    """What each function does, once a round."""
    return {"connects_v4": f"connect 127.0.0.1:{ports_of['v4']}", "connects_v6": f"connect [::1]:{ports_of['v6']}",
            "accepts_v4": f"accept 127.0.0.1 on {ports_of['v4']}", "accepts_v6": f"accept [::1] on {ports_of['v6']}",
            "is_refused": f"connect 127.0.0.1:{ports_of['refused']} ECONNREFUSED"}


@pytest.mark.beside
def test_each_connection_is_a_sample(processes, programs, tmp_path):
    run = processes.start(paths.XAGENT, "profile", "-e", "tcp", "-F", "10000", "-f", "folded", "-o", tmp_path / "f", "--", programs["connector"], "50")
    assert run.wait(30) == 0, run.err
    stacks = folded.parse((tmp_path / "f").read_text())
    for function, leaf in frames(ports(run)).items():
        mine = stacks.having("_start", "main", function)
        assert {s.frames[-1] for s in mine} == {leaf} and mine.total == 50, (function, stacks.show())
    assert stacks.total == 250 and "250 samples" in run.err and "lost" not in run.err, (stacks.show(), run.err)


@pytest.mark.beside
def test_labels(processes, programs, tmp_path):
    run = processes.start(paths.XAGENT, "profile", "-e", "tcp", "-o", tmp_path / "p.pb.gz", "--", programs["connector"], "3")
    assert run.wait(30) == 0, run.err
    found = pprof.parse((tmp_path / "p.pb.gz").read_bytes())
    assert found.sample_types == [("events", "count")] and found.period_type == ("tcp", "count")
    errors = {(f, s.labels.get("error")) for s in found.samples for f in frames({"v4": 0, "v6": 0, "refused": 0}) if f in s.frames}
    assert errors == {(f, "ECONNREFUSED" if f == "is_refused" else None) for f in frames({"v4": 0, "v6": 0, "refused": 0})}, errors


def test_lines_of_top(processes, programs):
    """One line for each connection, with both ends; of segments that are sent again as well."""
    top = processes.start(paths.XAGENT, "top", "-e", "tcp", "-i", "0.5", "-n", "200")
    top.wait_for_output("hits a second", 20)
    run = processes.start(programs["connector"], "3", "1.5")
    assert run.wait(20) == 0
    own, by = ports(run), rf"by connector\[{run.pid}\]"

    def lines(text):
        """What follows the text in a line, and how often in all tables."""
        found = Counter()
        for times, rest in re.findall(rf"^ +(\d+)  {text}$", top.out, re.M):
            found[rest] += int(times)
        return found
    # The queue has room for one or two.
    wait_until(lambda: 2 <= len(lines(rf"retransmit 127\.0\.0\.1:(\d+) -> 127\.0\.0\.1:{own['again']}")) <= 4, 5, "segments are sent again")
    top.send(signal.SIGINT)
    assert top.wait(10) == 0, top.err
    for of, host in (("v4", r"127\.0\.0\.1"), ("v6", r"\[::1\]")):
        for kind in ("connect", "accept"):
            mine = lines(f"{kind} {host}:(\\d+) -> {host}:{own[of]} {by}")
            assert len(mine) == 3 and set(mine.values()) == {1} and all(int(port) > 1024 for port in mine), (of, kind, top.out)
    assert lines(rf"connect (127\.0\.0\.1:{own['refused']}) ECONNREFUSED {by}").total() == 3, top.out


EVENTS = """
	events {
		tcp { sample_rate = 10000 }
	}
	sample_rate"""


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_of_an_agent(start_agent, standin, processes, programs):
    """A type of its own; each scrape balances."""
    agent = start_agent(config(standin.url, interval="1s", rate=97).replace("\n\tsample_rate", EVENTS, 1)).wait_ready()
    run = processes.start(programs["connector"], "100", "2")
    assert run.wait(30) == 0
    leaf = frames(ports(run))

    def count(function):
        return sum(s.values[0] for p in standin.pushes() if p.labels["__name__"] == "tcp" and "connector" in p.labels["service_name"]
                   for s in p.profile.samples if function in s.frames and s.frames[-1] == leaf[function])
    for function in leaf:
        # The first ones may be over before the agent has heard of the process.
        wait_until(lambda: 90 <= count(function) <= 100, 20, f"{function} is pushed")
    types = {(*p.profile.sample_types, p.profile.period_type) for p in standin.pushes() if p.labels["__name__"] == "tcp"}
    assert types == {(("events", "count"), ("tcp", "count"))}, types
    m = agent.metrics()
    for event in ("cpu", "tcp"):
        counts = {name: m.value(f"xagent_kernel_{name}_total", event=event) for name in ("ticks", "emitted", "idle", "filtered", "lost")}
        assert counts["ticks"] == sum(counts.values()) - counts["ticks"] > 0, counts
    assert agent.stop() == 0
