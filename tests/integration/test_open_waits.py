# SPDX-License-Identifier: Apache-2.0
"""Waits that are not over, of runtimes: each interval has the functions of a thread that sleeps for an hour, as it has those of waits that have ended."""
import os
import re
import subprocess

import pytest

from harness import folded, jvms, nodes, paths, privileges
from harness.agent import config
from harness.processes import wait_until
from test_off_cpu import EVENTS, FULL

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

PYTHON = """
import threading, time
def inner():
    time.sleep(3600)
def outer():
    inner()
threading.Thread(target=outer, daemon=True).start()
outer()
"""
NODE = """
const { Worker, isMainThread } = require("worker_threads");
function inner() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }
function outer() { inner(); }
if (isMainThread) new Worker(__filename);
outer();
"""
JAVA = """
public class Sleeps {
    static void inner() throws Exception { Thread.sleep(3600000); }
    static void outer() { try { inner(); } catch (Exception e) { } }
    public static void main(String[] args) { new Thread(Sleeps::outer).start(); outer(); }
}
"""
# It waits in a call that has begun before the agent, and is looked at over and over.
INTERVALS = 3


def python(folder):
    (folder / "sleeps.py").write_text(PYTHON)
    return ["/usr/bin/python3", folder / "sleeps.py"], "__main__.outer", "__main__.inner"


def node(folder):
    found = nodes.get_or_skip(nodes.SAMPLE[0])
    (folder / "sleeps.js").write_text(NODE)
    return [found, folder / "sleeps.js"], "outer", "inner"


def java(folder):
    found, why = jvms.get("host")
    if not found:
        pytest.skip(why)
    if privileges.why_no_tool("javac"):
        pytest.skip("no javac")
    (folder / "Sleeps.java").write_text(JAVA)
    subprocess.run(["javac", "-d", folder, folder / "Sleeps.java"], check=True)
    return [*found.command, "-cp", folder, "Sleeps"], "Sleeps.outer", "Sleeps.inner"


def kernel_can():
    """bpf_task_from_pid(), of 6.2: without it stacks of waits that go on are copied, and native frames are all that is told."""
    return tuple(int(n) for n in os.uname().release.split(".")[:2]) >= (6, 2)


@pytest.mark.skipif(not kernel_can(), reason="the kernel finds no task by its number for BPF")
@pytest.mark.parametrize("program", [python] + ([node, java] if FULL else []))
def test_functions_of_a_wait_that_goes_on(start_agent, standin, processes, tmp_path, program):
    argv, outer, inner = program(tmp_path)
    sleeper = processes.start(*argv)
    targets = [{"__process_pid__": str(sleeper.pid), "service_name": "sleeps"}]
    agent = start_agent(config(standin.url, interval="1s", rate=97, targets=targets, targets_only=True).replace("\n\tsample_rate", EVENTS, 1)).wait_ready()

    def whole():
        """time of each interval in which both threads have their functions, and these are all that have any"""
        times = set()
        for p in standin.pushes():
            if p.labels["__name__"] == "offcpu":
                mine = [s for s in p.profile.samples if inner in s.frames]
                assert all(s.frames[s.frames.index(inner) - 1] == outer for s in mine), mine
                # Two threads, each for as long as the interval is; their stacks differ where they begin.
                if len({s.frames for s in mine}) == 2:
                    times.add(p.profile.time_nanos)
        return times
    wait_until(lambda: len(whole()) >= INTERVALS, 60, "functions in each interval")
    m = agent.metrics()
    assert m.value("xagent_kernel_lost_unseen_total", event="off_cpu") == 0
    counts = {name: m.value(f"xagent_kernel_{name}_total", event="off_cpu") for name in ("ticks", "emitted", "idle", "filtered", "lost")}
    assert counts["ticks"] == sum(counts.values()) - counts["ticks"] > 0, counts
    sleeper.end()
    assert agent.stop() == 0


@pytest.mark.skipif(not kernel_can(), reason="the kernel finds no task by its number for BPF")
@pytest.mark.parametrize("whose", ["its", *(["the host's"] if FULL else [])])
def test_functions_of_a_run_of_one_look(processes, tmp_path, whose):
    """Both threads sleep for all of it, so they are seen at its end alone, with their functions."""
    argv, outer, inner = python(tmp_path)
    sleeper = processes.start(*argv)
    wait_until(lambda: len(os.listdir(f"/proc/{sleeper.pid}/task")) == 2, 20, "both threads")
    run = processes.start(paths.XAGENT, "profile", "-e", "off_cpu", "-d", "2", "-f", "folded", "-o", tmp_path / "f", *(["-p", sleeper.pid] if whose == "its" else []))
    assert run.wait(60) == 0, run.err
    found = folded.Stacks(s for s in folded.parse((tmp_path / "f").read_text()) if inner in s.frames)
    seconds = float(re.search(r"samples? in ([\d.]+) s", run.err)[1])
    assert found.having_run(outer, inner).total == found.total, found.show()
    if whose == "its":
        assert abs(found.total / 2e9 - seconds) < 0.3, (run.err, found.show())
    assert len(found) >= 2, found.show()
    sleeper.end()
