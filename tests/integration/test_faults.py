# SPDX-License-Identifier: Apache-2.0
"""Page faults by stack: as many as the system counts of the program, in user code and in its system calls."""
import os
import platform
import re

import pytest

from harness import folded, paths
from harness.agent import config
from harness.processes import wait_until

pytestmark = [pytest.mark.bpf, pytest.mark.skipif(platform.machine() != "x86_64", reason="the tracepoints are x86's")]

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"


def own_counts(run):
    return {name: int(n) for name, n in re.findall(r"^(\w+) (\d+)$", run.out, re.M)}


def profile(processes, path, *arguments):
    run = processes.start(paths.XAGENT, "profile", "-e", "faults", "-f", "folded", "-o", path, *arguments)
    assert run.wait(60) == 0, run.err
    return folded.parse(path.read_text()), own_counts(run), run


def test_each_fault_is_a_sample(processes, programs, tmp_path):
    stacks, own, run = profile(processes, tmp_path / "f", "-F", "10000", "--", programs["faulter"], "40", "30")
    assert own["touches_pages"] >= 1200 and own["reads_zeros"] >= 600, own
    for name, n in own.items():
        assert abs(stacks.having("main", name).total / n - 1) < 0.03, (name, own, stacks.show())
    # In user code the function that touches is innermost; in a call the kernel's that writes is below the exception.
    touches = [s for s in stacks.having("main", "touches_pages") if s.frames[-1] == "touches_pages"]
    assert sum(s.count for s in touches) >= 0.97 * own["touches_pages"], stacks.show()
    reads = stacks.having("main", "reads_zeros", "read").having("vfs_read")
    assert reads.total >= 0.97 * own["reads_zeros"], stacks.show()
    assert "lost" not in run.err, run.err


def test_beyond_the_limit_sums_stay(processes, programs, tmp_path):
    stacks, own, run = profile(processes, tmp_path / "f", "--", programs["faulter"], "20000", "10")
    found = {name: stacks.having("main", name).total for name in own}
    assert abs(sum(found.values()) / sum(own.values()) - 1) < 0.03, (own, found, run.err)
    assert 0.55 < found["touches_pages"] / sum(found.values()) < 0.78, (own, found)
    assert int(re.search(r"(\d+) samples", run.err)[1]) < 20000, run.err


EVENTS = """
	events {
		faults { }
	}
	sample_rate"""


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_of_an_agent(start_agent, standin, processes, programs):
    """Of the whole machine, which may take any number of faults: a type of its own, and each scrape balances."""
    agent = start_agent(config(standin.url, interval="1s", rate=199).replace("\n\tsample_rate", EVENTS, 1)).wait_ready()
    run = processes.start(programs["faulter"], "40", "100")
    assert run.wait(30) == 0

    def mine():
        return [p for p in standin.pushes() if p.labels["__name__"] == "page_faults" and "faulter" in p.labels["service_name"]]
    wait_until(lambda: any("touches_pages" in s.frames for p in mine() for s in p.profile.samples), 20, "faults are pushed")
    assert {(*p.profile.sample_types, p.profile.period_type) for p in mine()} == {(("faults", "count"), ("page_faults", "count"))}
    m = agent.metrics()
    for event in ("cpu", "faults"):
        counts = {name: m.value(f"xagent_kernel_{name}_total", event=event) for name in ("ticks", "emitted", "idle", "filtered", "lost")}
        assert counts["ticks"] == sum(counts.values()) - counts["ticks"] > 0, counts
    assert agent.stop() == 0
