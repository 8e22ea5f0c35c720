# SPDX-License-Identifier: Apache-2.0
"""What JavaScript costs beside native code of as many frames: a stack in the kernel half and in the agent."""
import bench_agent
import bench_python
import bench_report
from bench_python import FRAMES, RATE
from harness import nodes

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
    return bench_agent.with_bpf_stats(lambda: {name: bench_python.measure_stack(processes, directory, c) for name, c in commands.items()})


def report(r):
    if not r:
        return
    node, native = r["node"], r["native"]
    bench_report.head("A stack of %d functions of JavaScript, on one CPU, %d Hz" % (FRAMES, RATE), "as many native frames")
    bench_report.row("kernel half: ns a sample", "%.0f" % node["bpf_ns"], "10000", "%.0f" % native["bpf_ns"])
    bench_report.row("agent: ns a sample", "%.0f" % node["user_ns"], "", "%.0f" % native["user_ns"])
