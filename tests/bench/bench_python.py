# SPDX-License-Identifier: Apache-2.0
"""What Python costs beside native code of as many frames: a stack in the kernel half and in the agent, memory for each process, and how long a process has no names."""
import os
import subprocess
import time

import bench_agent
import bench_report
from harness import folded, metrics, paths
from harness.agent import fetch
from harness.processes import free_port

FRAMES, RATE, SECONDS = 30, 997, 12
# So many processes of one program, for what each takes of memory.
PROCESSES = 100
# What is counted before a name is there are ticks: of a fifth of a millisecond.
FINE_RATE = 4999
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


# It ends without the interpreter's end, which is native code.
BRIEF_PYTHON = """
import time
begun = time.process_time()
def brief(end):
    while time.process_time() < end:
        sum([i for i in range(1000)])
brief(begun + 0.3)
import os
print(begun, flush=True)
os._exit(0)
"""
BRIEF_NATIVE = """
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static volatile int sum;
int main(void)
{
	for (clock_t begun = clock(), end = begun + CLOCKS_PER_SEC * 3 / 10; clock() < end;)
		for (int i = 0; i < 1000; i++)
			sum += i;
	_exit(0);
}
"""


def native(directory):
    (directory / "deeper.c").write_text(NATIVE % FRAMES)
    subprocess.run(["gcc", "-O2", "-fno-optimize-sibling-calls", "-o", directory / "deeper", directory / "deeper.c"], check=True)
    return (directory / "deeper",)


def _build(directory):
    (directory / "deeper.py").write_text(PYTHON % FRAMES)
    return {"native": native(directory), "python": ("/usr/bin/python3", "-S", "-E", directory / "deeper.py")}


def _counts(port):
    m = metrics.parse(fetch(f"http://127.0.0.1:{port}/metrics")[1])
    return {"ns": 1e9 * m.value("xagent_bpf_run_seconds_total"), "samples": m.value("xagent_kernel_emitted_total", event="cpu"),
            "map_bytes": m.value("xagent_bpf_map_bytes")}


def measure_stack(processes, directory, command):
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


def _without(stacks, process, function):
    """Milliseconds of CPU time in which a process was seen without a function of that name."""
    return sum(s.count for s in stacks if s.frames[0] == process and function not in s.frames) * 1000 / FINE_RATE


def _until_named(processes, directory):
    """A process's CPU time until it shows functions: of the first one whose executable an agent sees, and of a later one. The third is what Python itself
    takes until the program's first line, by its own clock."""
    (directory / "brief.c").write_text(BRIEF_NATIVE)
    (directory / "brief.py").write_text(BRIEF_PYTHON)
    subprocess.run(["gcc", "-O2", "-o", directory / "native", directory / "brief.c"], check=True)
    times = {"native": (directory / "native",), "python": (os.path.realpath("/usr/bin/python3"), "-S", "-E", directory / "brief.py")}
    functions = {"native": "main", "python": "__main__.<module>"}
    result = {}
    for name, (program, *arguments) in times.items():
        for called in ("first", "later"):
            (directory / called).unlink(missing_ok=True)
            (directory / called).symlink_to(program)
        words = " ".join(map(str, arguments))
        run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", FINE_RATE, "-o", directory / "brief", "--", "sh", "-c",
                            f"{directory}/first {words}; sleep 1; {directory}/later {words}", seconds=60)
        stacks = folded.parse((directory / "brief").read_text())
        own = [float(word) for word in run.out.split()]
        result[name] = tuple(_without(stacks, called, functions[name]) for called in ("first", "later")) + (1000 * own[-1] if own else 0,)
    return result


def until_generated_is_named(processes, directory, program, *arguments):
    """CPU milliseconds in which code that a runtime has generated was seen without a name: of the first process that an agent sees, and of a later one."""
    for called in ("first", "later"):
        (directory / called).unlink(missing_ok=True)
        (directory / called).symlink_to(os.path.realpath(program))
    words = " ".join(map(str, arguments))
    processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", FINE_RATE, "-o", directory / "young", "--", "sh", "-c",
                  f"timeout 1.5 {directory}/first {words}; timeout 1.5 {directory}/later {words}; true", seconds=60)
    stacks = folded.parse((directory / "young").read_text())
    return tuple(folded.Stacks(s for s in stacks if s.frames[0] == called and "[jit]" in s.frames).total * 1000 / FINE_RATE for called in ("first", "later"))


def measure_many(processes, directory, command, most=PROCESSES):
    """Bytes of the agent and of its maps for each process, beyond those for one."""
    config, port = directory / "python.alloy", free_port()
    config.write_text(CONFIG)
    agent = processes.start(paths.XAGENT, "run", config, f"--server.http.listen-addr=127.0.0.1:{port}")
    load = [processes.start(*command)]
    figures = []
    for n in (1, most):
        load += [processes.start(*command) for _ in range(n - len(load))]
        # Each is sampled some hundred times, and intervals are over.
        time.sleep(SECONDS)
        figures.append((1024 * bench_agent.status_kib(agent.pid, "VmRSS"), _counts(port)["map_bytes"]))
    agent.end()
    for process in load:
        process.end()
    return tuple((many - one) / (most - 1) for one, many in zip(*figures))


def measure(processes, directory):
    commands = _build(directory)
    result = bench_agent.with_bpf_stats(lambda: {name: measure_stack(processes, directory, c) for name, c in commands.items()})
    until = _until_named(processes, directory)
    for name, command in commands.items():
        result[name]["until_named"] = until[name]
        result[name]["memory"] = measure_many(processes, directory, command)
    return result


def report(r):
    python, native = r["python"], r["native"]
    bench_report.head("A stack of %d functions of Python, on one CPU, %d Hz" % (FRAMES, RATE), "as many native frames")
    bench_report.row("kernel half: ns a sample", "%.0f" % python["bpf_ns"], "10000", "%.0f" % native["bpf_ns"])
    bench_report.row("kernel half: ns a frame", "%.0f" % (python["bpf_ns"] / FRAMES), "", "%.0f" % (native["bpf_ns"] / FRAMES))
    bench_report.row("agent: ns a sample", "%.0f" % python["user_ns"], "", "%.0f" % native["user_ns"])
    bench_report.row("kernel memory of maps, MiB", "%.1f" % (python["map_bytes"] / 2**20), "5", "%.1f" % (native["map_bytes"] / 2**20))
    bench_report.head(f"Processes of Python, {FINE_RATE} Hz", "native ones")
    bench_report.row("first ever of an agent: ms until its first line is seen", "%.1f" % python["until_named"][0], "", "%.1f" % native["until_named"][0])
    bench_report.row("a later one: the same", "%.1f" % python["until_named"][1], "", "%.1f" % native["until_named"][1])
    bench_report.row("what Python takes to come there, by its own clock", "%.1f" % python["until_named"][2])
    bench_report.row(f"agent: KiB a process, of {PROCESSES} of one program", "%.1f" % (python["memory"][0] / 1024), "256", "%.1f" % (native["memory"][0] / 1024))
    bench_report.row("maps: KiB a process", "%.1f" % (python["memory"][1] / 1024), "", "%.1f" % (native["memory"][1] / 1024))
