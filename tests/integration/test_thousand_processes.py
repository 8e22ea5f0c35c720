# SPDX-License-Identifier: Apache-2.0
"""A host with a thousand processes, each of which is sampled once or twice: nothing evicted, nothing unnamed, one series."""
import pytest

from harness import folded
from harness.agent import config
from harness.processes import wait_until
from harness.standin import stacks_of

pytestmark = pytest.mark.bpf

N = 1000
CHAIN = ("main", "child_main", "many_main", "many_spin")


def test_thousand_processes(start_agent, standin, processes, programs):
    agent = start_agent(config(standin.url, interval="2s", rate=499)).wait_ready()
    run = processes.run(programs["manyprocs"], 5, N, seconds=50)
    assert (run.popen.returncode, run.out.split()) == (0, ["started", str(N)]), run.err
    m = agent.metrics()
    assert m.kernel("lost") == 0
    assert m.agent("process_evictions") == 0 and m.agent("mapping_table_full") == 0
    assert agent.stop() == 0
    spins = {frames: n for frames, n in stacks_of(standin.pushes(service_name="manyprocs")).items() if "many_spin" in frames}
    total = sum(spins.values())
    assert total >= N, spins
    exact = sum(n for frames, n in spins.items() if folded.contains_run(frames, CHAIN))
    assert exact >= 0.99 * total, spins


def test_processes_that_are_gone_are_forgotten(start_agent, standin, processes, programs):
    """Thousands of pids come and go within one run; what the agent knows of them does not pile up."""
    agent = start_agent(config(standin.url, interval="1s", rate=199)).wait_ready()
    run = processes.run(programs["shortlived"], 8, programs["tiny"])
    assert int(run.out.split()[0]) >= 100
    wait_until(lambda: standin.pushes(service_name="tiny"), 10, "they are profiled")
    m = agent.metrics()
    assert m.agent("process_evictions") == 0 and m.agent("sideband_lost") == 0
    assert agent.stop() == 0
