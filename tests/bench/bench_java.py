# SPDX-License-Identifier: Apache-2.0
"""
What Java costs beside native code of as many frames: a stack in the kernel half and in the agent, memory for each process, and how long a process has no names. And what the
program itself loses for a sample, beside async-profiler, which walks in the program's own threads.
"""
import subprocess

import bench_agent
import bench_python
import bench_report
from bench_python import FINE_RATE, FRAMES, RATE
from harness import folded, jvms, paths

# Each takes as much memory as a hundred interpreters.
PROCESSES = 12
# What both programs do, as deep as they are told.
DEEPER = """
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
"""
PROGRAM = """
public final class Deeper {
%s
	public static void main(String[] args) {
		for (;;) {
			deeper(%d);
		}
	}
}
"""
# As often as both can: what one sample takes is more than what two runs differ in. The best of some runs counts.
PACED_RATE, N_PACED = 9973, 3
# Prints its main thread's CPU time in ns: for each round, and all of it.
PACED = """
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public final class Paced {
%s
	public static void main(String[] args) {
		ThreadMXBean threads = ManagementFactory.getThreadMXBean();
		long warm = System.nanoTime() + 1000000000L, end = warm + 3000000000L, n = 0;
		while (System.nanoTime() < warm) {
			deeper(%d);
		}
		long began = threads.getCurrentThreadCpuTime();
		for (; System.nanoTime() < end; n++) {
			deeper(%d);
		}
		long ended = threads.getCurrentThreadCpuTime();
		System.out.println((ended - began) / n + " " + ended);
	}
}
"""
APART = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Paced::*")
# What each kind of frames costs: the compilers inline what they may.
KINDS = {
    "interpreted": ("-Xint",),
    "compiled": ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Deeper::*"),
    "inlined": (),
}
JVM = ("-XX:+UseSerialGC", "-Xmx32m", "-Xshare:auto")


def _paced(processes, directory, jvm, *before, options=()):
    """(ns a round, ns in all) of the run that was least disturbed, and the stacks that were written meanwhile."""
    found = []
    for _ in range(N_PACED):
        (directory / "paced").write_text("")
        run = processes.run(*before, *jvm.command, *JVM, *APART, *options, "-cp", directory, "Paced", seconds=60)
        said = next(line.split() for line in run.out.splitlines() if line.count(" ") == 1 and line.replace(" ", "").isdigit())
        # A stack comes twice where it is another one to async-profiler.
        stacks = (folded.parse_line(line) for line in (directory / "paced").read_text().splitlines())
        found.append((int(said[0]), int(said[1]), sum(s.count for s in stacks if "Paced.main" in s.frames)))
    return min(found)


def _lost(alone, beside):
    """ns that the program loses for each sample."""
    ns, in_all, n = beside
    return (ns - alone[0]) / ns * in_all / n if n else 0


def measure_loss(processes, directory, jvm):
    """None in place of async-profiler's: it cannot be had."""
    library, _ = jvms.async_profiler()
    (directory / "Paced.java").write_text(PACED % (DEEPER, FRAMES, FRAMES))
    subprocess.run(["javac", "-d", directory, directory / "Paced.java"], check=True)
    output = directory / "paced"
    alone = _paced(processes, directory, jvm)
    ours = _paced(processes, directory, jvm, paths.XAGENT, "profile", "-f", "folded", "-F", PACED_RATE, "-o", output, "--")
    theirs = library and _paced(processes, directory, jvm, options=(
        f"-agentpath:{library}=start,event=cpu-clock,interval={10**9 // PACED_RATE},cstack=vmx,collapsed,file={output}",))
    return {"ours": _lost(alone, ours), "theirs": theirs and _lost(alone, theirs)}


def measure(processes, directory):
    """None: there is no Java here."""
    jvm, _ = jvms.get(jvms.HOST)
    if not jvm:
        return None
    (directory / "Deeper.java").write_text(PROGRAM % (DEEPER, FRAMES))
    subprocess.run(["javac", "-d", directory, directory / "Deeper.java"], check=True)
    commands = {kind: (*jvm.command, *JVM, *options, "-cp", directory, "Deeper") for kind, options in KINDS.items()}
    stacks = {"native": bench_python.native(directory), **commands}
    result = bench_agent.with_bpf_stats(lambda: {name: bench_python.measure_stack(processes, directory, c) for name, c in stacks.items()})
    result["until_named"] = bench_python.until_generated_is_named(processes, directory, *commands["compiled"])
    result["memory"] = bench_python.measure_many(processes, directory, commands["inlined"], PROCESSES)
    result["lost"] = measure_loss(processes, directory, jvm)
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
    lost = r["lost"]
    bench_report.head("A program of %d methods, of which every %d us a sample is taken" % (FRAMES, 10**6 // PACED_RATE), "async-profiler")
    bench_report.row("ns of its CPU time a sample", "%.0f" % lost["ours"], "", "%.0f" % lost["theirs"] if lost["theirs"] else "-")
    bench_report.head(f"Processes of Java, {FINE_RATE} Hz", "")
    bench_report.row("first ever of an agent: CPU ms without names", "%.1f" % r["until_named"][0])
    bench_report.row("a later one: the same", "%.1f" % r["until_named"][1])
    bench_report.row(f"agent: KiB a process, of {PROCESSES} of one program", "%.1f" % (r["memory"][0] / 1024), "512")
    bench_report.row("maps: KiB a process", "%.1f" % (r["memory"][1] / 1024))
