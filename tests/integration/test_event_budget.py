# SPDX-License-Identifier: Apache-2.0
"""What events may cost: they get fewer samples, sums stay right, and what was not looked at is counted. In counts, not in times."""
import collections
import os
import pathlib
import re
import signal
import sys

import pytest

from harness import paths
from harness.agent import config
from harness.processes import wait_until
from test_event_accounting import SEEKS, kernel, with_tracepoints
from test_off_cpu import FULL

pytestmark = pytest.mark.bpf

N_SEEKS = 400000
ALL = """
	events {
		wall { }
		off_cpu { }
		locks { }
		faults { }
		run_queue { }
		syscalls { }
		tcp { }
		block_io { }
		rss { }
	}
	sample_rate"""
MADE_OF_OTHERS = {"wall"}
# BPF_MAP_TYPE_TASK_STORAGE, include/uapi/linux/bpf.h: what events that last have of each task
TASK_STORAGE = "29"


def test_a_flood_within_a_budget(start_agent, standin, processes, programs):
    """A limit that nothing can keep: the fewest samples there are, which stand for all hits."""
    text = with_tracepoints(config(standin.url, interval="1s", rate=97), SEEKS)
    text = text.replace("\n\tsample_rate", "\n\tevent_cpu_limit = 0.00001\n\tsample_rate", 1)
    agent = start_agent(text).wait_ready()
    before = processes.start(programs["seeker"], "2000000000", "0")
    m = agent.wait_metric(lambda m: m.value("xagent_sample_limit_hz", event="tracepoint") == 10, 20, "fewer samples")
    assert m.value("xagent_sample_limit_hz", event="cpu") == 97
    for event in ("cpu", "tracepoint"):
        assert m.value("xagent_event_hits_per_second", event=event) > 0
        cost = m.value("xagent_event_hits_per_second", event=event) * m.value("xagent_event_hit_seconds", event=event)
        assert abs(m.value("xagent_event_cpu_ratio", event=event) - cost) < 0.001 * cost
    before.end()
    seeker = processes.start(programs["seeker"], str(N_SEEKS), "0")
    assert seeker.wait(60) == 0

    def hits():
        return sum(s.values[0] for p in standin.pushes() if p.labels["__name__"] == "seeks" and p.labels["service_name"].endswith("seeker")
                   for s in p.profile.samples)

    def all_hits(m):
        """Those that a sample has not told of yet are the CPUs' last ones."""
        return m.value("xagent_kernel_ticks_total", event="tracepoint")
    m = wait_until(lambda: (lambda m: m if m.kernel("emitted") == m.agent("samples_received") and m.value("xagent_samples_waiting") < 50 else None)(
        agent.metrics()), 20, "all is pushed")
    ends = {name: kernel(m, name, "tracepoint") for name in ("emitted", "filtered", "lost", "idle")}
    assert sum(ends.values()) == all_hits(m), ends
    assert kernel(m, "thinned", "tracepoint") > 0.9 * all_hits(m)
    wait_until(lambda: hits() > 0.9 * all_hits(m), 20, "hits in profiles")
    assert hits() <= agent.metrics().value("xagent_kernel_ticks_total", event="tracepoint")
    assert "what an event costs" in agent.process.err and "an event has fewer samples" in agent.process.err
    assert agent.stop() == 0


CONNECTS = """
import socket, time
with socket.create_server(("127.0.0.1", 0)) as server:
    for _ in range(3000):
        with socket.create_connection(server.getsockname()), server.accept()[0]:
            time.sleep(0.01)
"""


WRITES = """
import os, sys, tempfile
with tempfile.TemporaryFile(dir=sys.argv[1], buffering=0) as f:
    for at in range(100000):
        os.pwrite(f.fileno(), bytes(4096), at % 100 * 4096)
        os.fsync(f.fileno())
"""


def ticks_of(start_agent, standin, processes, programs, text):
    """Under a load of switches, faults, system calls, connections and I/O: ticks that came, and those that were due and did not."""
    agent = start_agent(text).wait_ready()
    load = [processes.start(programs["waiter"], "turns", "2000000"), processes.start(programs["faulter"], "2000", "1000"), processes.start(programs["chain"], 60),
            processes.start(sys.executable, "-c", CONNECTS), processes.start(sys.executable, "-c", WRITES, paths.BUILD)]
    before = agent.metrics()
    wait_until(lambda: agent.metrics().value("xagent_kernel_ticks_total", event="cpu") >
               before.value("xagent_kernel_ticks_total", event="cpu") + 1000, 30, "a thousand ticks")
    m = agent.metrics()
    for process in load:
        process.end()
    ticks = m.value("xagent_kernel_ticks_total", event="cpu") - before.value("xagent_kernel_ticks_total", event="cpu")
    cpu = [p for p in standin.pushes() if p.labels["__name__"] == "process_cpu"]
    assert agent.stop() == 0 and cpu
    return ticks, m.kernel("ticks_missed") - before.kernel("ticks_missed"), m


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_cpu_profiles_lose_no_tick(start_agent, standin, processes, programs):
    """With all events on as many of the ticks that are due come as with none: their programs do not take the guard that a tick's needs."""
    text = config(standin.url, interval="1s", rate=199)
    alone, missed_alone, _ = ticks_of(start_agent, standin, processes, programs, text)
    ticks, missed, m = ticks_of(start_agent, standin, processes, programs, text.replace("\n\tsample_rate", ALL, 1))
    events = set(re.findall(r"(\w+) { }", ALL)) - MADE_OF_OTHERS
    for event in events:
        assert m.value("xagent_kernel_ticks_total", event=event) > 0, event
    assert missed / ticks <= missed_alone / alone + 0.01, (ticks, missed, alone, missed_alone)


class Kernel:
    """What an agent has in the kernel for events: programs and links, and its maps by what they are."""

    def __init__(self, agent):
        self.programs, self.links, self.maps = 0, 0, collections.Counter()
        folder = pathlib.Path("/proc") / str(agent.process.pid)
        for fd in (folder / "fd").iterdir():
            try:
                kind = os.readlink(fd)
            except FileNotFoundError:
                continue
            self.programs += kind == "anon_inode:bpf-prog"
            self.links += kind == "anon_inode:bpf_link"
            if kind == "anon_inode:bpf-map":
                facts = dict(line.split(":\t") for line in (folder / "fdinfo" / fd.name).read_text().splitlines() if ":\t" in line)
                self.maps[tuple(facts[name] for name in ("map_type", "key_size", "value_size", "max_entries"))] += 1

    @property
    def facts(self):
        return self.programs, self.links, self.maps

    @property
    def has_storage(self):
        return any(kind == TASK_STORAGE for kind, *_ in self.maps)


def test_no_event_is_nothing_in_the_kernel(start_agent, standin):
    """With CPU time alone there is the program of the timer's ticks, and nothing is kept of tasks."""
    agent = start_agent(config(standin.url, interval="1s", rate=97)).wait_ready()
    alone = Kernel(agent)
    assert alone.programs == 1 and alone.links == 0 and not alone.has_storage, alone.facts
    assert agent.stop() == 0


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_events_that_are_gone_leave_nothing(start_agent, standin):
    """Not a program, link or map more than before."""
    text = config(standin.url, interval="1s", rate=97)
    agent = start_agent(text).wait_ready()
    before = Kernel(agent)

    def change(to):
        agent.config_path.write_text(to)
        agent.process.send(signal.SIGHUP)
    change(text.replace("\n\tsample_rate", ALL, 1))
    during = wait_until(lambda: (lambda k: k if k.programs > 10 and k.links > 10 else None)(Kernel(agent)), 60, "programs of events")
    assert during.has_storage, during.facts
    change(text)
    wait_until(lambda: Kernel(agent).facts == before.facts, 60, "what there was before")
    assert agent.stop() == 0
