# SPDX-License-Identifier: Apache-2.0
"""Interrupts that a CPU serves while it has no task to run are work of the kernel, not idleness."""
import os
from pathlib import Path

import pytest

from harness import folded, paths

pytestmark = pytest.mark.bpf

RECEIVERS = Path("/sys/class/net/lo/queues/rx-0/rps_cpus")
RATE = 997
TRIES = 5
LEAST = 20
# Of ten milliseconds, half of three seconds: less is a CPU that others have kept busy.
LEAST_IDLE = 150


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


def idle_of(cpu):
    line = next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith(f"cpu{cpu} "))
    return int(line.split()[4])


def profile(processes, tmp_path, *options, seconds=3):
    result = processes.run(paths.XAGENT, "profile", "-F", RATE, "-d", seconds, "-f", "folded", "-o", tmp_path / "folded", *options)
    assert result.popen.returncode == 0
    return folded.parse((tmp_path / "folded").read_text())


def ticks_of(processes, tmp_path, cpu):
    """Of a second, whatever the CPU does: some kernels deliver none while it is idle, not to perf either (xagent_kernel_ticks_missed_total)."""
    return profile(processes, tmp_path, "-I", "-c", cpu, seconds=1).total


def of_idle_cpus(stacks):
    """What is of no process at all, and was receiving packets."""
    return folded.Stacks(s for s in stacks if s.frames[0] == "kernel").having("net_rx_action")


def test_packets_received_by_an_idle_cpu(processes, programs, tmp_path, idle_receiver):
    sender, receiver = idle_receiver
    if ticks_of(processes, tmp_path, receiver) < RATE / 2:
        pytest.skip(f"the kernel delivers no ticks to CPU {receiver} while it is idle")
    processes.start(programs["softirqs"], 60, sender).wait_for_output("sending")
    was_idle = False
    for _ in range(TRIES):
        idle = idle_of(receiver)
        stacks = profile(processes, tmp_path)
        was_idle |= idle_of(receiver) - idle >= LEAST_IDLE
        if of_idle_cpus(stacks).total >= LEAST:
            return
    if not was_idle:
        pytest.skip(f"CPU {receiver} has other work: it is never idle")
    pytest.fail(stacks.show(5))
