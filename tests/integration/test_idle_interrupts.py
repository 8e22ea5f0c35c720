# SPDX-License-Identifier: Apache-2.0
"""Interrupts that a CPU serves while it has no task to run are work of the kernel, not idleness."""
import os
from pathlib import Path

import pytest

from harness import folded, paths

pytestmark = pytest.mark.bpf

RECEIVERS = Path("/sys/class/net/lo/queues/rx-0/rps_cpus")
RATE = 997
TRIES = 3
LEAST = 20
# Ticks, for half of three seconds: less is a CPU that others have kept busy.
LEAST_IDLE = RATE * 3 // 2


@pytest.fixture
def idle_receiver():
    """(a CPU that sends, one that receives what comes over loopback)"""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2 or not RECEIVERS.exists():
        pytest.skip("needs two CPUs and receive packet steering")
    before = RECEIVERS.read_text()
    RECEIVERS.write_text(f"{1 << cpus[1]:x}")
    yield cpus[0], cpus[1]
    RECEIVERS.write_text(before)


def profile_both(processes, tmp_path, cpu):
    """What is seen of a CPU without its idleness and, by another profiler at the same time, with it."""
    paths_of = [tmp_path / "without", tmp_path / "with"]
    runs = [processes.start(paths.XAGENT, "profile", "-F", RATE, "-d", 3, "-f", "folded", "-c", cpu, "-o", path, *option)
            for path, option in zip(paths_of, ((), ("-I",)))]
    assert [run.wait(40) for run in runs] == [0, 0]
    return [folded.parse(path.read_text()) for path in paths_of]


def of_idle_cpus(stacks):
    """What is of no process at all, and was receiving packets."""
    return folded.Stacks(s for s in stacks if s.frames[0] == "kernel").having("net_rx_action")


def test_packets_received_by_an_idle_cpu(processes, programs, tmp_path, idle_receiver):
    sender, receiver = idle_receiver
    processes.start(programs["softirqs"], 60, sender).wait_for_output("sending")
    for _ in range(TRIES):
        stacks, with_idle = profile_both(processes, tmp_path, receiver)
        if of_idle_cpus(stacks).total >= LEAST:
            return
        n_idle = folded.Stacks(s for s in with_idle if s.frames[0] == "idle").total
        # For that long it could have received something.
        assert n_idle < LEAST_IDLE, stacks.show(5)
    pytest.skip(f"CPU {receiver} has other work, or the kernel delivers no ticks to it while it is idle (xagent_kernel_ticks_missed_total), not to perf either")
