# SPDX-License-Identifier: Apache-2.0
"""Wall-clock time: what threads do and what they wait for, by stack, is together the time for which they were there."""
import os
import re

import pytest

from harness import folded, paths
from harness.agent import config
from harness.processes import wait_until
from test_off_cpu import FULL

pytestmark = pytest.mark.bpf


def profile(processes, path, *arguments):
    """Stacks, and what the program says of its threads: how long they were there, and how much of that they computed."""
    run = processes.start(paths.XAGENT, "profile", "-e", "wall", "-F", "997", "-f", "folded", "-o", path, *arguments)
    assert run.wait(90) == 0, run.err
    own = {name: int(ns) for name, ns in re.findall(r"^(\w+) (\d+)$", run.out, re.M)}
    return folded.parse(path.read_text()), own, run


def is_cut_thread(stack):
    """Of any thread but the first."""
    return stack.frames[0] == "lives" and stack.frames[1].startswith("[truncated") and "main" not in stack.frames


# Of each row at least.
WITHIN = 0.0


# With few waits that are shorter than a millisecond, each is taken. 8,000 of 0.3 ms are not: their sum is known to 1.4 % (the root of 1 ms by 5 s), in itself.
@pytest.mark.parametrize("n_threads, ms, work_us, sleep_us, within", [
    (1, 2500, 5000, 10000, 0.01),
    (8, 2000, 400, 20000, 0.01),
    (200, 1500, 0, 0, 0.01),
    *([(1, 10000, 5000, 10000, 0.01), (1, 10000, 0, 0, 0.01), (8, 10000, 2000, 30000, 0.01), (200, 10000, 100, 100000, 0.01),
       (2000, 10000, 0, 0, 0.01), (8, 5000, 50, 300, 0.02)] if FULL else []),
])
def test_sum_is_threads_by_time(processes, programs, tmp_path, n_threads, ms, work_us, sleep_us, within):
    stacks, own, run = profile(processes, tmp_path / "f", "--", programs["lives"], n_threads, ms, work_us, sleep_us)
    # Beside it there is what the program does before and after. Where 200 threads of a process that was never sampled wake up at once, not all of their
    # stacks find room to be copied: these are cut, and have the functions of the C library that wait.
    lives = sum(s.count for s in stacks if {"live", "sleeps", "computes"} & set(s.frames) or is_cut_thread(s))
    assert abs(lives / own["lives"] - 1) < max(within, WITHIN), (lives, own, run.err, stacks.show())
    # Each part by its own stack: ticks have no reason, waits have.
    ready, sleeps = stacks.having("[ready]").total, stacks.having("[sleep]").total
    assert sleeps > 0.95 * (own["lives"] - own["computes"] - ready), (own, stacks.show())
    if work_us >= 400:
        computes = sum(s.count for s in stacks.having("computes") if not s.frames[-1].startswith("["))
        assert abs(computes - own["computes"]) < 0.02 * own["lives"], (own, stacks.show())
    assert "lost" not in run.err, run.err


def parts(m):
    return {part: m.value("xagent_wall_seconds_total", part=part) for part in ("cpu", "ready", "waiting")}


def test_component_counts_each_sample_once(start_agent, standin, processes, programs):
    """CPU time and wall-clock time: ticks are in both, and the sums of the latter are those of its threads."""
    run = processes.start(programs["lives"], "20", "60000", "1000", "40000")
    targets = [{"__process_pid__": str(run.pid), "service_name": "lives"}]
    text = config(standin.url, interval="1s", rate=97, targets=targets, targets_only=True)
    text = text.replace("\n\tsample_rate", "\n\tevents {\n\t\twall { }\n\t}\n\tevent_cpu_limit = 0\n\tsample_rate", 1)
    agent = start_agent(text).wait_ready()
    m = agent.wait_metric(lambda m: m.value("xagent_wall_thread_seconds_total") > 60, 20, "three seconds of twenty threads")
    threads, all_parts = m.value("xagent_wall_thread_seconds_total"), parts(m)
    # An open interval holds what is not yet in the threads' sum.
    assert all(all_parts.values()), all_parts
    assert -0.01 * threads < sum(all_parts.values()) - threads < 0.01 * threads + 25, (threads, all_parts)
    assert m.agent("samples_received") == m.agent("samples_in_profiles") + m.dropped_samples() + m.value("xagent_samples_waiting")
    assert m.get("pyroscope_ebpf_pprof_samples_total") == m.agent("samples_in_profiles")
    assert m.kernel("emitted") >= m.agent("samples_received")
    assert agent.stop() == 0
    assert {p.labels["__name__"] for p in standin.pushes()} == {"process_cpu", "wall"}
    wall = [p for p in standin.pushes() if p.labels["__name__"] == "wall"]
    assert {t for p in wall for t, _ in p.profile.sample_types} == {"wall"}
    seconds = sum(sum(s.values) for p in wall for s in p.profile.samples) / 1e9
    assert seconds > 60 and len(wall) >= 3
