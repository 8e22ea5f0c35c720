# SPDX-License-Identifier: Apache-2.0
"""What a stack of Python costs beside a native one of as many frames: in the kernel half, and in the agent."""
import subprocess
import time

import bench_agent
import bench_report
from harness import metrics, paths
from harness.agent import fetch
from harness.processes import free_port

FRAMES, RATE, SECONDS = 30, 997, 12
CONFIG = 'pyroscope.ebpf "bench" {\n\tforward_to = []\n\tsample_rate = %d\n\tcollect_interval = "5s"\n}\n' % RATE
PYTHON = """
def deeper(n):
    if n:
        deeper(n - 1)
    else:
        while True:
            pass
deeper(%d)
"""
NATIVE = """
static volatile int forever = 1;
static int __attribute__((noipa)) deeper(int n)
{
	while (n == 0 && forever) { }
	return n ? deeper(n - 1) + 1 : 0;
}
int main(void) { return deeper(%d); }
"""


def _build(directory):
    (directory / "deeper.c").write_text(NATIVE % FRAMES)
    (directory / "deeper.py").write_text(PYTHON % FRAMES)
    subprocess.run(["gcc", "-O2", "-fno-optimize-sibling-calls", "-o", directory / "deeper", directory / "deeper.c"], check=True)
    return {"native": (directory / "deeper",), "python": ("/usr/bin/python3", "-S", "-E", directory / "deeper.py")}


def _counts(port):
    m = metrics.parse(fetch(f"http://127.0.0.1:{port}/metrics")[1])
    return {"ns": 1e9 * m.value("xagent_bpf_run_seconds_total"), "samples": m.value("xagent_kernel_emitted_total", event="cpu"),
            "map_bytes": m.value("xagent_bpf_map_bytes")}


def _measure(processes, directory, command):
    config, port = directory / "python.alloy", free_port()
    config.write_text(CONFIG)
    load = processes.start(*command)
    agent = processes.start(paths.XAGENT, "run", config, f"--server.http.listen-addr=127.0.0.1:{port}")
    time.sleep(6)
    before, cpu = _counts(port), bench_agent.cpu_seconds(agent.pid)
    time.sleep(SECONDS)
    after, cpu = _counts(port), bench_agent.cpu_seconds(agent.pid) - cpu
    agent.end()
    load.end()
    n = max(1, after["samples"] - before["samples"])
    return {"bpf_ns": (after["ns"] - before["ns"]) / n, "user_ns": 1e9 * cpu / n, "map_bytes": after["map_bytes"], "samples": n}


def measure(processes, directory):
    commands = _build(directory)
    return bench_agent.with_bpf_stats(lambda: {name: _measure(processes, directory, c) for name, c in commands.items()})


def report(r):
    python, native = r["python"], r["native"]
    bench_report.head("A stack of %d functions of Python, on one CPU, %d Hz" % (FRAMES, RATE), "as many native frames")
    bench_report.row("kernel half: ns a sample", "%.0f" % python["bpf_ns"], "10000", "%.0f" % native["bpf_ns"])
    bench_report.row("kernel half: ns a frame", "%.0f" % (python["bpf_ns"] / FRAMES), "", "%.0f" % (native["bpf_ns"] / FRAMES))
    bench_report.row("agent: ns a sample", "%.0f" % python["user_ns"], "", "%.0f" % native["user_ns"])
    bench_report.row("kernel memory of maps, MiB", "%.1f" % (python["map_bytes"] / 2**20), "5", "%.1f" % (native["map_bytes"] / 2**20))
