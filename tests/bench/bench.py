# SPDX-License-Identifier: Apache-2.0
"""Prints what the agent costs and delivers on a steady load of about 1.4 CPUs, beside perf on the same load.

usage: bench.py [SECONDS] [RATE]      (root; build/xagent must be built)

Nothing here fails on a figure: it prints. The aims stand beside them.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "integration")]

from harness import metrics, paths  # noqa: E402
from harness.agent import fetch  # noqa: E402
from harness.processes import Processes, free_port  # noqa: E402
from harness.standin import StandIn  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")
STATS = Path("/proc/sys/kernel/bpf_stats_enabled")
LOADS = ["burner", "worker", "server"]


def build_load(directory):
    programs = []
    for name in LOADS:
        program = directory / name
        subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-fno-omit-frame-pointer", "-o", program,
                        TOP / "tests" / "bench" / "load.c", "-lpthread"], check=True)
        programs.append(program)
    return programs


def start_load(processes, programs, seconds):
    """Six threads of a fifth of a CPU, a Python of as much, and 20 processes of a millisecond a second."""
    for program in programs:
        processes.start(program, str(seconds), "2", "30")
    processes.start(sys.executable, "-c", "import time\nend = time.time() + %d\n"
                    "while time.time() < end:\n"
                    " t = time.process_time() + .02\n"
                    " while time.process_time() < t: sum(i * i for i in range(2000))\n"
                    " time.sleep(.08)" % seconds)
    processes.start("/bin/sh", "-c", f"i=0; while [ $i -lt {seconds * 20} ]; do /bin/true; sleep .05; i=$((i+1)); done")


def busy_ticks():
    """Ticks that all CPUs were busy, from the first line of /proc/stat."""
    fields = list(map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9]))
    return sum(fields) - fields[3] - fields[4]


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def status_kib(pid, key):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    return 0


def row(name, value, aim, baseline=""):
    print(f"{name:<44} {value:>14} {aim:>12} {baseline:>14}")


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


def first_push_after(standin, begin):
    while not standin.stats().get("accepted") and not standin.pushes():
        if time.monotonic() - begin > 60:
            return None
        time.sleep(.05)
    return time.monotonic() - begin


def measure_agent(processes, directory, seconds, rate):
    standin = StandIn(processes, directory)
    config = directory / "bench.alloy"
    config.write_text(CONFIG % (rate, standin.url))
    port = free_port()
    begin = time.monotonic()
    agent = processes.start(paths.XAGENT, "run", config, f"--server.http.listen-addr=127.0.0.1:{port}")
    pid = agent.pid
    first = first_push_after(standin, begin)

    def scrape():
        status, body = fetch(f"http://127.0.0.1:{port}/metrics")
        assert status == 200
        return metrics.parse(body)

    before, busy, cpu, at = scrape(), busy_ticks(), cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    after, busy, cpu, took = scrape(), busy_ticks() - busy, cpu_seconds(pid) - cpu, time.monotonic() - at
    rss, peak = status_kib(pid, "VmRSS"), status_kib(pid, "VmHWM")
    os.kill(pid, signal.SIGTERM)
    agent.wait(30)

    def delta(name):
        return after.value(name) - before.value(name)

    runs = delta("xagent_bpf_runs_total")
    samples = delta("xagent_samples_received_total")
    return {
        "took": took, "busy": busy / TICK / took, "cpu": 100 * cpu / took, "rss": rss / 1024, "peak": peak / 1024,
        "bpf": 100 * delta("xagent_bpf_run_seconds_total") / took,
        "bpf_us": 1e6 * delta("xagent_bpf_run_seconds_total") / samples if samples else 0,
        "bpf_run_us": 1e6 * delta("xagent_bpf_run_seconds_total") / runs if runs else 0,
        "maps": after.value("xagent_bpf_map_bytes") / 2**20,
        "samples": samples / took, "expected": busy / TICK / took * rate,
        "lost": delta("xagent_kernel_lost_total"),
        "wire": delta("pyroscope_write_sent_bytes_total") / 1024 / took,
        "first": first, "log": agent.err,
    }


def attached_after(log):
    for word in log.split():
        if word.startswith("attached_after_s="):
            return float(word.split("=")[1])
    return None


def measure_perf(directory, seconds, rate):
    """perf with frame pointers: the cheapest recorder there is; it names nothing and pushes nothing."""
    output = directory / "perf.data"
    perf = subprocess.Popen(["perf", "record", "-a", "-F", str(rate), "-g", "-e", "cpu-clock", "-o", output],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(2)
    if perf.poll() is not None:
        return None
    cpu, at = cpu_seconds(perf.pid), time.monotonic()
    time.sleep(seconds)
    result = {"cpu": 100 * (cpu_seconds(perf.pid) - cpu) / (time.monotonic() - at),
              "peak": status_kib(perf.pid, "VmHWM") / 1024}
    perf.send_signal(signal.SIGINT)
    perf.wait(30)
    result["disk"] = output.stat().st_size / 1024 / (seconds + 2)
    return result


def with_bpf_stats(work):
    """BPF run times are counted only on request."""
    old = STATS.read_text()
    STATS.write_text("1")
    try:
        return work()
    finally:
        STATS.write_text(old)


def report(agent, perf, rate):
    def p(key, form):
        return form % perf[key] if perf else "-"

    print(f"\nload {agent['busy']:.2f} busy CPUs of {os.cpu_count()}, {rate} Hz, {agent['took']:.0f} s, "
          f"kernel {os.uname().release}\n")
    row("figure", "xagent", "aim", "perf -g")
    row("agent CPU, % of one core", "%.2f" % agent["cpu"], "<= 0.20", p("cpu", "%.2f"))
    row("RSS peak / end, MiB", "%.1f / %.1f" % (agent["peak"], agent["rss"]), "<= 20", p("peak", "%.1f"))
    row("BPF, % of one core", "%.3f" % agent["bpf"], "<= 0.08")
    row("BPF, us a sample (all ticks / samples)", "%.1f" % agent["bpf_us"], "<= 6")
    row("BPF, us a run (run_time_ns / run_cnt)", "%.1f" % agent["bpf_run_us"], "")
    row("BPF maps, MiB", "%.2f" % agent["maps"], "<= 8")
    row("attached after, s", "%.3f" % (attached_after(agent["log"]) or -1), "<= 0.2")
    row("first push after start, s", "%.1f" % (agent["first"] or -1), "15 + build")
    row("samples received / expected, 1/s", "%.1f / %.1f" % (agent["samples"], agent["expected"]), "equal")
    row("samples lost", "%d" % agent["lost"], "0")
    row("wire, KiB/s", "%.2f" % agent["wire"], "<= 2", p("disk", "%.0f (disk)"))
    row("binary, MiB", "%.2f" % (paths.XAGENT.stat().st_size / 2**20), "")


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    rate = int(sys.argv[2]) if len(sys.argv) > 2 else 97
    if os.geteuid() != 0:
        sys.exit("bench: root is needed")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        processes = Processes(directory)
        try:
            programs = build_load(directory)
            start_load(processes, programs, 2 * seconds + 60)
            agent = with_bpf_stats(lambda: measure_agent(processes, directory, seconds, rate))
            perf = measure_perf(directory, min(seconds, 30), rate) if _have("perf") else None
            report(agent, perf, rate)
        finally:
            processes.end_all()


def _have(tool):
    return subprocess.run(["sh", "-c", f"command -v {tool}"], stdout=subprocess.DEVNULL).returncode == 0


main()
