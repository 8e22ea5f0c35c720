# SPDX-License-Identifier: Apache-2.0
"""Kernels that hide their names, and CPUs that come and go: the agent goes on, and says what is missing."""
import os
from pathlib import Path

import pytest

from harness import paths
from harness.agent import config
from harness.folded import parse
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

KPTR = Path("/proc/sys/kernel/kptr_restrict")


@pytest.fixture
def hidden_names():
    """Kernel addresses are hidden from everybody for the time of the test."""
    old = KPTR.read_text()
    try:
        KPTR.write_text("2")
    except OSError as e:
        pytest.skip(f"kernel.kptr_restrict cannot be set: {e}")
    yield
    KPTR.write_text(old)


def test_hidden_kernel_names_are_one_frame(processes, programs, tmp_path, hidden_names):
    path = tmp_path / "out.folded"
    run = processes.run(paths.XAGENT, "profile", "-f", "folded", "-o", path, "--", programs["syscalls"], 2)
    stacks = parse(path.read_text())
    kernel = stacks.having("[kernel]")
    assert kernel.total > 0, stacks.show()
    # User frames are named all the same, and the kernel half of a stack is one frame at its leaf end.
    assert kernel.having("reader").total > 0, stacks.show()
    for stack in kernel:
        assert stack.frames.count("[kernel]") == 1 and stack.frames[-1] == "[kernel]", stack
    assert "kernel.kptr_restrict" in run.err


def test_hidden_kernel_names_are_said_once(start_agent, standin, processes, programs, hidden_names):
    processes.start(programs["syscalls"], 20)
    agent = start_agent(config(standin.url, interval="1s"))
    agent.wait_ready()
    agent.wait_metric(lambda m: m.value("pyroscope_ebpf_profiling_sessions_total") >= 4, 20, "four intervals")
    assert agent.stop() == 0
    said = [line for line in agent.log_lines(level="warn") if "kernel function names are hidden" in line["msg"]]
    assert len(said) == 1, agent.log


def hotplug_file():
    """The switch of the last CPU, or None."""
    files = sorted(Path("/sys/devices/system/cpu").glob("cpu[0-9]*/online"))
    return files[-1] if files and os.access(files[-1], os.W_OK) else None


@pytest.fixture
def last_cpu():
    """A CPU that may be switched off; it is on again afterwards."""
    switch = hotplug_file()
    if not switch or (os.cpu_count() or 1) < 2:
        pytest.skip("no CPU here can be taken offline")
    try:
        switch.write_text("0")
        switch.write_text("1")
    except OSError as e:
        pytest.skip(f"{switch}: {e}")
    yield switch
    switch.write_text("1")


def test_a_cpu_that_comes_back_is_sampled(start_agent, standin, processes, programs, last_cpu):
    cpu = int(last_cpu.parent.name[3:])
    agent = start_agent(config(standin.url, interval="1s"))
    agent.wait_ready()
    last_cpu.write_text("0")
    before = agent.metrics().kernel("ticks")
    # The agent looks once a second; only one CPU ticks meanwhile.
    agent.wait_metric(lambda m: m.kernel("ticks") > before + 150, 20, "ticks of the other CPUs")
    last_cpu.write_text("1")
    pinned = processes.start("taskset", "-c", cpu, programs["chain"], 15)
    pinned.wait_for_output("main")
    wait_until(lambda: standin.samples(service_name="chain") > 50, 15, f"samples of what runs on CPU {cpu} alone")
    assert agent.stop() == 0
