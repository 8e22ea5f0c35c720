# SPDX-License-Identifier: Apache-2.0
"""The agent on the load: what it costs, what it delivers, how soon."""
import os
import re
import signal
import time
from pathlib import Path

from harness import metrics, paths
from harness.agent import fetch
from harness.processes import free_port
from harness.standin import StandIn

TICK = os.sysconf("SC_CLK_TCK")
STATS = Path("/proc/sys/kernel/bpf_stats_enabled")
COMPLETE = ("root", "no_user")

CONFIG = """
pyroscope.ebpf "bench" {
	forward_to  = [pyroscope.write.bench.receiver]
	sample_rate = %d
}
pyroscope.write "bench" {
	endpoint {
		url = "%s"
	}
}
"""


def with_bpf_stats(work):
    """BPF run times are counted only on request."""
    old = STATS.read_text()
    STATS.write_text("1")
    try:
        return work()
    finally:
        STATS.write_text(old)


def busy_ticks():
    """Ticks that all CPUs were busy, from the first line of /proc/stat."""
    fields = list(map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9]))
    return sum(fields) - fields[3] - fields[4]


def cpu_seconds(pid):
    """Of all threads, ended ones too, to the nanosecond: the clock that clock_getcpuclockid(3) gives."""
    return time.clock_gettime(~pid << 3 | 2)


def status_kib(pid, key):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    return 0


def bpf_memory(pid):
    """Bytes of the programs, and of the maps that were made with them, by descriptor. The arena's segments have none."""
    sums = {"prog": 0, "map": 0}
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        try:
            kind = re.fullmatch(r"anon_inode:bpf-(prog|map)", os.readlink(fd))
            info = Path(f"/proc/{pid}/fdinfo/{fd.name}").read_text() if kind else ""
        except OSError:
            continue
        memlock = re.search(r"^memlock:\s*(\d+)", info, re.M)
        if memlock:
            sums[kind[1]] += int(memlock[1])
    return sums["prog"], sums["map"]


class Agent:
    """A running `xagent run`."""

    def __init__(self, processes, directory, url, rate, program=paths.XAGENT):
        config = directory / "bench.alloy"
        config.write_text(CONFIG % (rate, url))
        self.port = free_port()
        self.begin = time.monotonic()
        self.process = processes.start(program, "run", config,
                                       f"--server.http.listen-addr=127.0.0.1:{self.port}")
        self.pid = self.process.pid

    def scrape(self):
        status, body = fetch(f"http://127.0.0.1:{self.port}/metrics")
        assert status == 200
        return metrics.parse(body)

    def try_scrape(self):
        try:
            return self.scrape()
        except OSError:
            return None

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        self.process.wait(30)

    def attached_after(self):
        """Seconds, as its log says; None when it does not."""
        found = re.search(r"attached_after_s=([0-9.]+)", self.process.err)
        return float(found[1]) if found else None


def _complete(scrape):
    return sum(scrape.get("xagent_user_stacks_total", end=end) for end in COMPLETE[:1])


def measure_start(processes, directory, rate, seconds=10):
    """Seconds from exec to the first complete stack; kernel memory that does not depend on what runs. A server is not needed."""
    agent = Agent(processes, directory, "http://127.0.0.1:9", rate)
    own = seen = None
    while seen is None and time.monotonic() - agent.begin < seconds:
        scrape = agent.try_scrape()
        if scrape and _complete(scrape):
            seen = time.monotonic() - agent.begin
            own = scrape.get("xagent_first_complete_stack_seconds") or None
        time.sleep(.002)
    programs, maps = bpf_memory(agent.pid)
    result = {"first_stack": own, "first_stack_counted": seen, "attached": agent.attached_after(),
              "start_cpu": cpu_seconds(agent.pid), "fixed": programs + maps}
    agent.end()
    return result


def _first_push(standin, begin):
    while not standin.stats().get("accepted") and not standin.pushes():
        if time.monotonic() - begin > 60:
            return None
        time.sleep(.05)
    return time.monotonic() - begin


def _ends(before, after):
    """How the walks of user stacks ended: reason → number."""
    result = {}
    for labels, value in after.series("xagent_user_stacks_total"):
        count = value - before.get("xagent_user_stacks_total", end=labels["end"])
        if count:
            result[labels["end"]] = result.get(labels["end"], 0) + int(count)
    return result


class Run:
    """An agent with a server of its own, and its figures over a window."""

    def __init__(self, processes, directory, rate, program):
        directory.mkdir()
        self.rate = rate
        self.standin = StandIn(processes, directory)
        self.agent = Agent(processes, directory, self.standin.url, rate, program)

    def wait_until_started(self):
        """The window begins when the first profile has been pushed: start-up is over."""
        self.first = _first_push(self.standin, self.agent.begin)

    def begin(self):
        self.before, self.at = self.agent.scrape(), time.monotonic()
        self.busy, self.cpu = busy_ticks(), cpu_seconds(self.agent.pid)

    def end(self):
        self.after, self.took = self.agent.scrape(), time.monotonic() - self.at
        self.busy, self.cpu = busy_ticks() - self.busy, cpu_seconds(self.agent.pid) - self.cpu
        self.rss, self.peak = (status_kib(self.agent.pid, key) / 1024 for key in ("VmRSS", "VmHWM"))

    def figures(self):
        self.agent.end()
        return {"took": self.took, "busy": self.busy / TICK / self.took, "first": self.first,
                "cpu": 100 * self.cpu / self.took, "rss": self.rss, "peak": self.peak,
                **_of_scrapes(self.before, self.after, self.took),
                "expected": self.busy / TICK / self.took * self.rate,
                "programs": by_program(self.standin.pushes()), **by_name(self.standin.pushes())}


def _of_scrapes(before, after, took):
    def delta(name):
        return after.get(name) - before.get(name)

    runs, samples = delta("xagent_bpf_runs_total"), delta("xagent_samples_received_total")
    bpf = delta("xagent_bpf_run_seconds_total")
    return {
        "bpf": 100 * bpf / took, "bpf_us": 1e6 * bpf / samples if samples else 0,
        "bpf_run_us": 1e6 * bpf / runs if runs else 0,
        "maps": after.value("xagent_bpf_map_bytes"), "arena": after.get("xagent_unwind_arena_bytes"),
        "tables": after.get("xagent_unwind_table_bytes"), "rows": after.get("xagent_unwind_rows"),
        "samples": samples / took, "lost": delta("xagent_kernel_lost_total"), "cold": delta("xagent_kernel_cold_total"),
        "kernel_read": delta("xagent_kernel_symbols_read_total") if after.series("xagent_kernel_symbols_read_total") else None,
        "ends": _ends(before, after), "wire": delta("pyroscope_write_sent_bytes_total") / 1024 / took,
    }


def measure_runs(processes, directory, seconds, rate, programs):
    """name → figures. All run at the same time, on the same load: what else the machine does is the same to them."""
    runs = {name: Run(processes, directory / name, rate, program) for name, program in programs.items()}
    for step in ("wait_until_started", "begin"):
        for run in runs.values():
            getattr(run, step)()
    time.sleep(seconds)
    for run in runs.values():
        run.end()
    return {name: run.figures() for name, run in runs.items()}


# What is shown where there is no function: a stripped file's address, generated code, the unknown. Reasons for a cut stack are no frames.
BARE = re.compile(r"(.+)\+0x[0-9a-f]+|(\[jit\]|\[unknown\]|\[kernel\])")


def by_name(pushes):
    """Frames by ticks: all, those without a function, and where most of these lie."""
    total, bare = 0, {}
    for push in pushes:
        for sample in push.profile.samples:
            ticks = sample.values[0] // push.profile.period
            for frame in sample.frames:
                total += ticks * (not frame.startswith("[truncated"))
                match = BARE.fullmatch(frame)
                if match:
                    where = match[1] or match[2]
                    bare[where] = bare.get(where, 0) + ticks
    return {"frames": (total, sum(bare.values()), sorted(bare.items(), key=lambda x: -x[1])[:4])}


def by_program(pushes):
    """Last word of the process's name or service → (samples, of them with a truncated stack)."""
    result = {}
    for push in pushes:
        name = push.labels.get("service_name", "?").rsplit("/", 1)[-1]
        for sample in push.profile.samples:
            n, bad = result.get(name, (0, 0))
            ticks = sample.values[0] // push.profile.period
            cut = sample.frames[0].startswith("[truncated")
            result[name] = (n + ticks, bad + ticks * cut)
    return result
