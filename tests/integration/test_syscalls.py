# SPDX-License-Identifier: Apache-2.0
"""System calls: how long and how often a program says that it was in them, by its own clock, is what is reported, by stack and name."""
import os
import re

import pytest

from harness import paths, pprof
from harness.agent import config
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"


def own_clock(run):
    return {name: (int(n), int(ns)) for name, n, ns in re.findall(r"^(\w+) (\d+) (\d+)$", run.out, re.M)}


def profile(processes, path, *arguments):
    run = processes.start(paths.XAGENT, "profile", "-e", "syscalls", "-o", path, *arguments)
    assert run.wait(60) == 0, run.err
    assert "lost" not in run.err, run.err
    return own_clock(run)


@pytest.mark.beside
def test_calls_by_function(processes, programs, tmp_path):
    own = profile(processes, tmp_path / "p.pb.gz", "--", programs["caller"], "40")
    found = pprof.parse((tmp_path / "p.pb.gz").read_bytes())
    assert found.sample_types == [("duration", "nanoseconds"), ("calls", "count")] and found.period_type == ("syscalls", "count")

    def mine(function, call):
        return [s for s in found.samples if function in s.frames and s.frames[-1] == call]
    for function, call, error in (("reads_pipe", "sys_read", None), ("is_interrupted", "sys_clock_nanosleep", "EINTR")):
        n, ns = own[function]
        samples = mine(function, call)
        # Long calls are each a sample; the clock is read around them and what else the function does.
        assert sum(s.values[1] for s in samples) == n == 40, (function, own, samples)
        assert abs(sum(s.values[0] for s in samples) / ns - 1) < 0.03, (function, own, samples)
        assert {s.labels.get("error") for s in samples} == {error} and all("_start" in s.frames for s in samples)
    assert {s.labels.get("error") for s in found.samples if "is_refused" in s.frames} <= {"EBADF"}
    assert not [s for s in mine("is_interrupted", "sys_rt_sigreturn") if "error" in s.labels]


@pytest.mark.beside
def test_short_calls_are_counted_without_a_bias(processes, programs, tmp_path):
    """A tenth of a microsecond each: of 160,000 some thousand are samples, which stand for all."""
    own = profile(processes, tmp_path / "p.pb.gz", "-F", "10000", "--", programs["caller"], "40")
    found = pprof.parse((tmp_path / "p.pb.gz").read_bytes())
    calls = [s for s in found.samples if "asks_often" in s.frames and s.frames[-1] == "sys_getppid"]
    n = sum(s.values[1] for s in calls)
    assert abs(n / own["asks_often"][0] - 1) < 0.1, (n, own)
    # Of the time around them the calls are a part.
    assert sum(s.values[0] for s in calls) < own["asks_often"][1], (calls, own)
    refused = [s for s in found.samples if "is_refused" in s.frames]
    assert {s.labels.get("error") for s in refused} == {"EBADF"} and {s.frames[-1] for s in refused} == {"sys_read"}, refused


EVENTS = """
	events {
		syscalls { }
	}
	sample_rate"""


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_of_an_agent(start_agent, standin, processes, programs):
    """A type of its own, the label of errors as well; each scrape balances."""
    agent = start_agent(config(standin.url, interval="1s", rate=97).replace("\n\tsample_rate", EVENTS, 1)).wait_ready()
    run = processes.start(programs["caller"], "100")
    assert run.wait(30) == 0

    def mine():
        return [s for p in standin.pushes() if p.labels["__name__"] == "syscalls" and "caller" in p.labels["service_name"] for s in p.profile.samples]
    wait_until(lambda: sum(s.values[1] for s in mine() if "is_interrupted" in s.frames and s.frames[-1] == "sys_clock_nanosleep") >= 95, 20, "calls are pushed")
    assert {s.labels.get("error") for s in mine() if s.frames[-1] == "sys_clock_nanosleep" and "is_interrupted" in s.frames} == {"EINTR"}
    types = {(*p.profile.sample_types, p.profile.period_type) for p in standin.pushes() if p.labels["__name__"] == "syscalls"}
    assert types == {(("duration", "nanoseconds"), ("calls", "count"), ("syscalls", "count"))}, types
    m = agent.metrics()
    for event in ("cpu", "syscalls"):
        counts = {name: m.value(f"xagent_kernel_{name}_total", event=event) for name in ("ticks", "emitted", "idle", "filtered", "lost")}
        assert counts["ticks"] == sum(counts.values()) - counts["ticks"] > 0, counts
    assert agent.stop() == 0
