# SPDX-License-Identifier: Apache-2.0
"""What Java costs beside native code of as many frames: a stack in the kernel half and in the agent, memory for each process, and how long a process has no names."""
import subprocess

import bench_agent
import bench_python
import bench_report
from bench_python import FINE_RATE, FRAMES, RATE
from harness import jvms

# Each takes as much memory as a hundred interpreters.
PROCESSES = 12
PROGRAM = """
public final class Deeper {
	static volatile long count;

	static long deeper(int n) {
		if (n > 0) {
			return deeper(n - 1) + 1;
		}
		for (long i = 0; i < 100000; i++) {
			count++;
		}
		return count;
	}

	public static void main(String[] args) {
		for (;;) {
			deeper(%d);
		}
	}
}
"""
# What each kind of frames costs: the compilers inline what they may.
KINDS = {
    "interpreted": ("-Xint",),
    "compiled": ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Deeper::*"),
    "inlined": (),
}
JVM = ("-XX:+UseSerialGC", "-Xmx32m", "-Xshare:auto")


def measure(processes, directory):
    """None: there is no Java here."""
    jvm, _ = jvms.get(jvms.HOST)
    if not jvm:
        return None
    (directory / "Deeper.java").write_text(PROGRAM % FRAMES)
    subprocess.run(["javac", "-d", directory, directory / "Deeper.java"], check=True)
    commands = {kind: (*jvm.command, *JVM, *options, "-cp", directory, "Deeper") for kind, options in KINDS.items()}
    stacks = {"native": bench_python.native(directory), **commands}
    result = bench_agent.with_bpf_stats(lambda: {name: bench_python.measure_stack(processes, directory, c) for name, c in stacks.items()})
    result["until_named"] = bench_python.until_generated_is_named(processes, directory, *commands["compiled"])
    result["memory"] = bench_python.measure_many(processes, directory, commands["inlined"], PROCESSES)
    return result


def report(r):
    if not r:
        return
    native = r["native"]
    bench_report.head("A stack of %d methods of Java, on one CPU, %d Hz" % (FRAMES, RATE), "as many native frames")
    for kind in KINDS:
        bench_report.row(f"kernel half: ns a sample, {kind}", "%.0f" % r[kind]["bpf_ns"], "10000", "%.0f" % native["bpf_ns"])
        bench_report.row(f"kernel half: ns a frame, {kind}", "%.0f" % (r[kind]["bpf_ns"] / FRAMES), "", "%.0f" % (native["bpf_ns"] / FRAMES))
        bench_report.row(f"agent: ns a sample, {kind}", "%.0f" % r[kind]["user_ns"], "", "%.0f" % native["user_ns"])
    bench_report.head(f"Processes of Java, {FINE_RATE} Hz", "")
    bench_report.row("first ever of an agent: CPU ms without names", "%.1f" % r["until_named"][0])
    bench_report.row("a later one: the same", "%.1f" % r["until_named"][1])
    bench_report.row(f"agent: KiB a process, of {PROCESSES} of one program", "%.1f" % (r["memory"][0] / 1024), "512")
    bench_report.row("maps: KiB a process", "%.1f" % (r["memory"][1] / 1024))
