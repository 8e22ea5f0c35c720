# SPDX-License-Identifier: Apache-2.0
"""A whole agent with its store full: what it takes beyond the bound, and what questions cost from the request to the last byte."""
import statistics
import tempfile
import time
from pathlib import Path

import bench_agent
import bench_report
from harness import paths
from harness.agent import Agent
from harness.processes import Processes, free_port, wait_until
from harness.pyroscope import CPU, Querier

CONFIG = """pyroscope.ebpf "host" {
	forward_to = [pyroscope.store.local.receiver]
}
pyroscope.store "local" { }
"""
# Stacks of a profile whose names are all its own: they fill the store quickly. A profile as a service has them.
FILLING, USUAL, DEPTH = 2000, 60, 30
TICK_NS, INTERVAL_S, HOUR_S = 10_309_278, 15, 3600
FULL = 0.9
ASKED = 20


def _filling(data, number, time_ms):
    p = data.Pprof(time_ms)
    for leaf in range(FILLING):
        p.add(f"main service_{number} function_{leaf} one_of_number_{number * FILLING + leaf}_with_a_long_name", TICK_NS)
    return data.cpu_labels(f"filling-{number % 20}"), p.bytes()


def _usual(data, number, time_ms):
    p = data.Pprof(time_ms)
    for leaf in range(USUAL):
        stack = ["main", *(f"level_{level}_of_{leaf % (level + 1)}" for level in range(DEPTH)), f"leaf_{(leaf + number) % 200}"]
        p.add(" ".join(stack), TICK_NS * (1 + leaf % 3))
    return data.cpu_labels("web"), p.bytes()


def _fill(data, agent, server, now_ms):
    """The filling lies in the hours before the last one, so that the newest hour stays."""
    for number in range(2000):
        server.push(_filling(data, number, now_ms - 5 * HOUR_S * 1000 + number * 5000))
        if number % 20 == 0:
            m = agent.metrics()
            if m.value("xagent_store_bytes") > FULL * m.value("xagent_store_max_bytes"):
                break
    for number in range(HOUR_S // INTERVAL_S):
        server.push(_usual(data, number, now_ms - HOUR_S * 1000 + number * INTERVAL_S * 1000))


def _answers_ms(server, now_ms, service):
    times = []
    for _ in range(ASKED):
        begin = time.perf_counter()
        answer = server.ask("SelectMergeStacktraces", profileTypeID=CPU, labelSelector=f'{{service_name="{service}"}}',
                            start=now_ms - HOUR_S * 1000, end=now_ms)
        times.append((time.perf_counter() - begin) * 1e3)
        assert answer.status == 200, answer.body
    return times, len(answer.body)


def full():
    """{rss_mib, bound_mib, store_mib, hour_ms: [ms], hour_bytes}, or the reason why there is none."""
    try:
        from harness import store_api, store_data
    except BaseException as missing:  # pytest's way to say what is not installed
        return str(missing)
    with tempfile.TemporaryDirectory() as name:
        processes = Processes(Path(name))
        try:
            agent = Agent(processes, Path(name), CONFIG).wait_ready()
            server, now_ms = store_api.Server(agent.url), int(time.time() * 1000)
            _fill(store_data, agent, server, now_ms)
            times, n_bytes = _answers_ms(server, now_ms, "web")
            m = agent.metrics()
            return {"rss_mib": bench_agent.status_kib(agent.process.pid, "VmRSS") / 1024,
                    "bound_mib": m.value("xagent_store_max_bytes") / 2**20, "store_mib": m.value("xagent_store_bytes") / 2**20,
                    "hour_ms": times, "hour_bytes": n_bytes}
        finally:
            processes.end_all()


def first_flame_graph_s():
    """From the command to the first answer that is not empty, of `xagent run` without a file."""
    with tempfile.TemporaryDirectory() as name:
        processes = Processes(Path(name))
        port, begin = free_port(), time.monotonic()
        try:
            processes.start(paths.XAGENT, "run", f"--server.http.listen-addr=127.0.0.1:{port}", cwd=name)
            wait_until(lambda: _has_profile(f"http://127.0.0.1:{port}"), 60, "a flame graph")
            return time.monotonic() - begin
        finally:
            processes.end_all()


def _has_profile(url):
    try:
        now_ms = int(time.time() * 1000)
        answer = Querier(url).query("SelectMergeStacktraces", profileTypeID=CPU, labelSelector="{}", start=now_ms - HOUR_S * 1000, end=now_ms)
        return int(answer["flamegraph"].get("total", 0)) > 0
    except (OSError, AssertionError):
        return False


def report(r, first_s):
    bench_report.head("`xagent run` without a file", "")
    bench_report.row("first flame graph after the command, s", "%.1f" % first_s, "< 10")
    bench_report.head("A whole agent with its store full", "")
    if isinstance(r, str):
        return bench_report.row("not measured", "-", "", r)
    bench_report.row("RSS beyond the bound, MiB", "%.1f" % (r["rss_mib"] - r["bound_mib"]), "<= 30",
                     "%.1f, of it the store %.1f of %.0f" % (r["rss_mib"], r["store_mib"], r["bound_mib"]))
    bench_report.row("one hour of one service over HTTP, ms: median, slowest",
                     "%.1f, %.1f" % (statistics.median(r["hour_ms"]), max(r["hour_ms"])), "< 50", "%.0f KiB of JSON" % (r["hour_bytes"] / 1024))
    return None
