# SPDX-License-Identifier: Apache-2.0
"""What each event costs beside none: what is profiled gets slower by, and what a hit takes in the kernel half, at rates of switches and system calls."""
import re
import subprocess

import bench_agent
import bench_report
from bench_load import _cc
from harness import paths
from harness.agent import Agent

SECONDS = 3
# name of the load, hits a second (0: as many as there can be)
LOADS = [("switches", 100000), ("switches", 1000000), ("calls", 100000), ("calls", 0)]
EVENTS = ["off_cpu", "wall", "run_queue", "locks", "syscalls", "tcp", "block_io", "faults", "rss"]
WAKERS = "off_cpu with wakers"
ALL = "all of these"
# As on kernels where no program runs when a task is back.
PREDICTED = {f"{event}, decided when a wait begins": [event] for event in ("off_cpu", "run_queue")}
PREDICTED_XAGENT = paths.BUILD / "tests/events/predicted/xagent"
CONFIG = """
pyroscope.ebpf "bench" {
	forward_to      = []
	event_cpu_limit = 0
	off_cpu_waker   = %s
	events {
%s	}
}
"""


def _hits(program, load, hz):
    """What the load says: hits a second, CPU time of one."""
    out = subprocess.run([program, load, str(hz), str(SECONDS)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.]+)$", out, re.M)}


def _runs(agent):
    m = agent.metrics()
    return 1e9 * m.value("xagent_bpf_run_seconds_total"), m.value("xagent_bpf_runs_total")


def _cost(program, load, hz, agent):
    """As the load sees it, and then, with the kernel's clock around each run, as the kernel half sees it."""
    result = _hits(program, load, hz)

    def counted():
        before = _runs(agent)
        _hits(program, load, hz)
        return [after - old for after, old in zip(_runs(agent), before)]
    ns, runs = bench_agent.with_bpf_stats(counted)
    return {**result, "run_ns": ns / max(runs, 1), "runs_hz": runs / SECONDS}


def measure(processes, directory):
    """(load, rate) → event → figures; event None: CPU time alone."""
    _cc(directory, "hits", "hits.c", "-lpthread")
    subprocess.run(["make", "-s", "-C", paths.TOP, PREDICTED_XAGENT.relative_to(paths.TOP)], check=True)
    found = {load: {} for load in LOADS}
    for name, events in {None: [], **{event: [event] for event in EVENTS}, WAKERS: ["off_cpu"], ALL: EVENTS, **PREDICTED}.items():
        text = CONFIG % ("true" if name == WAKERS else "false", "".join(f"\t\t{event} {{ }}\n" for event in events))
        agent = Agent(processes, directory, text, name="events.alloy", program=PREDICTED_XAGENT if name in PREDICTED else None).wait_ready()
        for load in LOADS:
            found[load][name] = _cost(directory / "hits", *load, agent)
        agent.process.end()
    return found


def report(found):
    for (load, hz), events in found.items():
        none = events.pop(None)
        wanted = f"{hz:,}" if hz else "all there can be"
        bench_report.head(f"Events, {wanted} {load} a second wanted, {none['hits_hz']:,.0f} reached with CPU time alone: ns of a CPU for each, and more than "
                          f"without ({none['hit_ns']:.0f}); runs a hit, ns a run", "slow-down of the load; share of one CPU at the rate reached; that rate, a second")
        for event, one in events.items():
            more = one["hit_ns"] - none["hit_ns"]
            bench_report.row(event, f"{one['hit_ns']:.0f}, {more:+.0f}; {one['runs_hz'] / one['hits_hz']:.1f}, {one['run_ns']:.0f}", "",
                             f"{100 * more / none['hit_ns']:.0f} %; {100 * more * one['hits_hz'] / 1e9:.1f} %; {one['hits_hz']:,.0f}")
    print("Of each run 106 ns are a program that does nothing, where this was written (a virtual machine, Linux 6.18); on bare metal those are 5 to 15 ns.")
