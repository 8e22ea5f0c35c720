# SPDX-License-Identifier: Apache-2.0
"""What JavaScript costs beside native code of as many frames: a stack in the kernel half and in the agent, memory for each process, and how long a process has no names."""
import bench_agent
import bench_python
import bench_report
from bench_python import FINE_RATE, FRAMES, RATE
from harness import nodes

# Each takes as much memory as a dozen interpreters of Python.
PROCESSES = 12
PROGRAM = """
function deeper(n) {
	if (n)
		return deeper(n - 1) + 1;
	for (;;)
		count++;
}
let count = 0;
deeper(%d);
"""


def measure(processes, directory):
    """None: there is no Node.js here."""
    node, _ = nodes.get(nodes.SAMPLE[-1])
    if not node:
        return None
    (directory / "deeper.js").write_text(PROGRAM % FRAMES)
    commands = {"native": bench_python.native(directory), "node": (node, directory / "deeper.js")}
    result = bench_agent.with_bpf_stats(lambda: {name: bench_python.measure_stack(processes, directory, c) for name, c in commands.items()})
    result["until_named"] = bench_python.until_generated_is_named(processes, directory, *commands["node"])
    result["memory"] = bench_python.measure_many(processes, directory, commands["node"], PROCESSES)
    return result


def report(r):
    if not r:
        return
    node, native = r["node"], r["native"]
    bench_report.head("A stack of %d functions of JavaScript, on one CPU, %d Hz" % (FRAMES, RATE), "as many native frames")
    bench_report.row("kernel half: ns a sample", "%.0f" % node["bpf_ns"], "10000", "%.0f" % native["bpf_ns"])
    bench_report.row("kernel half: ns a frame", "%.0f" % (node["bpf_ns"] / FRAMES), "", "%.0f" % (native["bpf_ns"] / FRAMES))
    bench_report.row("agent: ns a sample", "%.0f" % node["user_ns"], "", "%.0f" % native["user_ns"])
    bench_report.head(f"Processes of Node.js, {FINE_RATE} Hz", "")
    bench_report.row("first ever of an agent: CPU ms without names", "%.1f" % r["until_named"][0])
    bench_report.row("a later one: the same", "%.1f" % r["until_named"][1])
    bench_report.row(f"agent: KiB a process, of {PROCESSES} of one program", "%.1f" % (r["memory"][0] / 1024), "256")
    bench_report.row("maps: KiB a process", "%.1f" % (r["memory"][1] / 1024))
