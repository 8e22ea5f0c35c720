# SPDX-License-Identifier: Apache-2.0
"""What a store of its own costs an agent: agents side by side on the same load, one of them the one before a change."""
import os
import statistics
import time
from pathlib import Path

import bench_agent
import bench_report
from harness import paths
from harness.processes import free_port

CONFIG = """pyroscope.ebpf "bench" {
	forward_to  = [%s]
	sample_rate = %d
}
"""
STORE = 'pyroscope.store "bench" { }\n'
RECEIVER = "pyroscope.store.bench.receiver"
# An agent of before, to be measured beside this one.
BASELINE = os.environ.get("XAGENT_BASELINE")
# Start-up is over after the first two intervals; a window has one of each agent.
START_S, WINDOW_S, WINDOWS = 40, 15, 9


class _Agent:
    def __init__(self, processes, directory, name, program, rate, stores):
        config = directory / f"{name}.alloy"
        config.write_text(CONFIG % (RECEIVER if stores else "", rate) + (STORE if stores else ""))
        self.process = processes.start(program, "run", config, f"--server.http.listen-addr=127.0.0.1:{free_port()}")
        self.pid = self.process.pid

    def cpu_ns(self):
        """Of all its threads: ticks of 10 ms are too coarse for what is to be seen."""
        tasks = Path(f"/proc/{self.pid}/task")
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir())


def _window(agents):
    """name → CPU in % of one core."""
    before, at = {name: a.cpu_ns() for name, a in agents.items()}, time.monotonic()
    time.sleep(WINDOW_S)
    took_ns = 1e9 * (time.monotonic() - at)
    return {name: 100 * (a.cpu_ns() - before[name]) / took_ns for name, a in agents.items()}


def measure(processes, directory, rate):
    """name → (CPU in % of one core, what of it is beyond that of the one that forwards nothing, RSS peak in MiB). Medians of windows: what else
    runs on the machine is the same for all within one."""
    wanted = {"store": (paths.XAGENT, True), "nothing": (paths.XAGENT, False)}
    if BASELINE:
        wanted["baseline"] = (Path(BASELINE).resolve(), True)
    agents = {name: _Agent(processes, directory, name, program, rate, stores) for name, (program, stores) in wanted.items()}
    time.sleep(START_S)
    windows = [_window(agents) for _ in range(WINDOWS)]
    result = {name: (statistics.median(w[name] for w in windows), statistics.median(w[name] - w["nothing"] for w in windows),
                     bench_agent.status_kib(a.pid, "VmHWM") / 1024) for name, a in agents.items()}
    for a in agents.values():
        a.process.end()
    return result


def report(r):
    bench_report.head("The agent with a store of its own, side by side on this load, median of %d windows" % WINDOWS, "XAGENT_BASELINE")
    for i, (what, form) in enumerate((("CPU, % of one core", "%.3f"), ("of it beyond an agent that forwards nothing", "%.3f"),
                                      ("RSS peak, MiB", "%.1f"))):
        bench_report.row(what, form % r["store"][i], "", form % r["baseline"][i] if BASELINE else "not set")
