# SPDX-License-Identifier: Apache-2.0
"""Run-queue latency: how long a program says that it could have run and did not, by its own clocks, is what is reported."""
import os
import re

import pytest

from harness import folded, paths
from harness.agent import config
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"
# Of what the scheduler says.
WITHIN = 0.03

EVENTS = """
	events {
		off_cpu { }
		run_queue { sample_rate = 1000 }
	}
	sample_rate"""


def own_clock(run):
    return {name: int(ns) for name, ns in re.findall(r"^(\w+) (\d+)$", run.out, re.M)}


@pytest.mark.beside
def test_behind_a_neighbour(processes, programs, tmp_path):
    """Two processes spin on one CPU. What is waited for otherwise is not in it: only what passes from the wake-up on."""
    run = processes.start(paths.XAGENT, "profile", "-e", "run_queue", "-f", "folded", "-o", tmp_path / "f", "--", programs["reasons"], "10")
    assert run.wait(60) == 0, run.err
    own, stacks = own_clock(run), folded.parse((tmp_path / "f").read_text())
    mine = stacks.having("main", "behind_neighbour")
    assert own["behind_neighbour"] > 100e6, own
    assert abs(mine.total / own["behind_neighbour"] - 1) < WITHIN, (own, mine.show())
    # Behind the scheduler's function is what other tracers of this machine make it call.
    assert all("_start" in s.frames and [f for f in s.frames if re.search("schedule", f)] for s in mine), mine.show()
    assert all(re.search("schedule|trace", s.frames[-1]) for s in mine), mine.show()
    assert "lost" not in run.err, run.err
    # These sleep 8 ms ten times. On a busy machine some of it passes until they run again.
    sleeps = stacks.having("main", "on_sleep")
    assert sleeps.total < own["on_sleep"] - 10 * 7.9e6, (own, sleeps.show())


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_of_an_agent(start_agent, standin, processes, programs):
    """Beside off-CPU time, of which it is a part; each scrape balances."""
    agent = start_agent(config(standin.url, interval="1s", rate=97).replace("\n\tsample_rate", EVENTS, 1)).wait_ready()
    run = processes.start(programs["reasons"], "3")
    assert run.wait(30) == 0
    own = own_clock(run)

    def sums(name):
        mine = [p for p in standin.pushes() if p.labels["__name__"] == name and "reasons" in p.labels["service_name"]]
        return sum(s.values[0] for p in mine for s in p.profile.samples if "behind_neighbour" in s.frames)
    wait_until(lambda: sums("run_queue") > 0.9 * own["behind_neighbour"] and sums("offcpu") > 0.9 * own["behind_neighbour"], 20, "both are pushed")
    # One wait may be over before the agent has heard of the process.
    assert abs(sums("run_queue") / own["behind_neighbour"] - 1) < 0.1, (sums("run_queue"), own)
    types = {(*p.profile.sample_types, p.profile.period_type) for p in standin.pushes() if p.labels["__name__"] == "run_queue"}
    assert types == {(("delay", "nanoseconds"), ("waits", "count"), ("run_queue", "count"))}, types
    m = agent.metrics()
    for event in ("cpu", "off_cpu", "run_queue"):
        counts = {name: m.value(f"xagent_kernel_{name}_total", event=event) for name in ("ticks", "emitted", "idle", "filtered", "lost")}
        assert counts["ticks"] == sum(counts.values()) - counts["ticks"] > 0, counts
    assert agent.stop() == 0
