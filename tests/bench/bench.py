# SPDX-License-Identifier: Apache-2.0
"""Prints the figures: the walk, the tables, the start, and what the agent costs and delivers on a steady load of about 1.4 CPUs.

usage: bench.py [SECONDS] [RATE]      (root; build/xagent and the programs of build/tests/bench must be built)

XAGENT_BASELINE names another agent, of before a change: it runs beside on the same load, and its figures stand beside.

Nothing here fails on a figure: it prints. The aims and the baselines stand beside them. Micro benchmarks take the best of many runs;
the rest is measured once, so the machine should have nothing else to do.
"""
import os
import signal
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "integration")]

import bench_agent  # noqa: E402
import bench_events  # noqa: E402
import bench_java  # noqa: E402
import bench_load  # noqa: E402
import bench_micro  # noqa: E402
import bench_node  # noqa: E402
import bench_own  # noqa: E402
import bench_page  # noqa: E402
import bench_push  # noqa: E402
import bench_python  # noqa: E402
import bench_report as report  # noqa: E402
import bench_store  # noqa: E402
from harness import paths  # noqa: E402
from harness.processes import Processes  # noqa: E402


def bench_on_load(directory, seconds, rate):
    processes = Processes(directory)
    try:
        programs, missing = bench_load.build(directory)
        bench_load.start(processes, programs, 2 * seconds + 300)
        start = bench_agent.measure_start(processes, directory, rate)
        report.start(start, bench_micro.verifier_instructions())
        agents = {"agent": paths.XAGENT}
        if bench_own.BASELINE:
            agents["baseline"] = Path(bench_own.BASELINE).resolve()
        runs = bench_agent.with_bpf_stats(lambda: bench_agent.measure_runs(processes, directory, seconds, rate, agents))
        agent = runs["agent"]
        perf = bench_micro.perf(directory, min(seconds, 30), rate, bench_agent.cpu_seconds, bench_agent.status_kib)
        report.run(agent, runs.get("baseline"), perf, rate, os.cpu_count(), os.uname().release)
        report.stacks(agent, missing)
        report.named(agent)
        bench_own.report(bench_own.measure(processes, directory, rate))
    finally:
        processes.end_all()


def bench_of_events(directory):
    processes = Processes(directory)
    try:
        bench_events.report(bench_events.measure(processes, directory))
    finally:
        processes.end_all()


def bench_of_runtimes(directory):
    processes = Processes(directory)
    try:
        bench_python.report(bench_python.measure(processes, directory))
        bench_node.report(bench_node.measure(processes, directory))
        bench_java.report(bench_java.measure(processes, directory))
    finally:
        processes.end_all()


def main():
    # A load that outlives its bench is in the next one's figures.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: terminated"))
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    rate = int(sys.argv[2]) if len(sys.argv) > 2 else 97
    if os.geteuid() != 0:
        sys.exit("bench: root is needed")
    report.walk(bench_micro.walk())
    report.tables(bench_micro.tables())
    report.names(bench_micro.names())
    report.river(bench_micro.river())
    report.targets(bench_micro.targets())
    report.store(bench_micro.store())
    bench_store.report(bench_store.full(), bench_store.first_flame_graph_s())
    bench_page.report(bench_page.page())
    bench_push.report(bench_push.measure())
    with tempfile.TemporaryDirectory() as name:
        bench_of_events(Path(name))
        bench_of_runtimes(Path(name))
        bench_on_load(Path(name), seconds, rate)


main()
