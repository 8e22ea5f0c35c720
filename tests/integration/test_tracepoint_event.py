# SPDX-License-Identifier: Apache-2.0
"""Hits of a tracepoint by stack: each of them up to a limit, beyond it their sums; from the command line, from the configuration, on the page."""
import json
import os

import pytest

from harness import folded, paths
from harness.agent import config, fetch
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

EVENT = "syscalls:sys_enter_lseek"
ENDS = ("emitted", "idle", "filtered", "lost")
# Between two samples beyond the limit: twice this is what the last ones may leave.
MOST_LEFT = 0.02


def profile(processes, path, *arguments):
    run = processes.start(paths.XAGENT, "profile", "-e", f"tracepoint:{EVENT}", "-f", "folded", "-o", path, *arguments)
    assert run.wait(60) == 0, run.err
    return folded.parse(path.read_text()), run


def test_each_hit_is_a_sample(processes, programs, tmp_path):
    stacks, run = profile(processes, tmp_path / "f", "--", programs["seeker"], "200", "50", "3000")
    mine = stacks.having("main")
    assert stacks.having_run("main", "many", "seek").total == 200, stacks.show()
    assert stacks.having_run("main", "few", "seek").total == 50, stacks.show()
    assert all(s.frames[0] == "seeker" and "_start" in s.frames for s in mine), mine.show()
    assert "250 samples" in run.err and "100.0% of user stacks complete" in run.err, run.err
    assert " Hz" not in run.err


def test_beyond_the_limit_sums_stay(processes, programs, tmp_path):
    stacks, run = profile(processes, tmp_path / "f", "--", programs["seeker"], "3000000", "1000000")
    many = stacks.having_run("main", "many", "seek").total
    few = stacks.having_run("main", "few", "seek").total
    assert 4000000 * (1 - MOST_LEFT) <= many + few <= 4000000, stacks.show()
    assert 0.70 <= many / (many + few) <= 0.80, stacks.show()
    samples = int(run.err.split(" samples")[0].rsplit(" ", 1)[1])
    # Of the thousands a second that one CPU may take; without a limit there were as many as hits.
    assert samples < 100000, run.err


def test_limit_of_the_command(processes, programs, tmp_path):
    """-F is what may be sampled of a tracepoint: of as many hits there are fewer samples, and the sums are the same."""
    samples = {}
    for hz in (20, 2000):
        stacks, run = profile(processes, tmp_path / str(hz), "-F", str(hz), "--", programs["seeker"], "3000000", "1000000")
        seeks = stacks.having_run("main", "many", "seek").total + stacks.having_run("main", "few", "seek").total
        assert 4000000 * (1 - 5 * MOST_LEFT) <= seeks <= 4000000, stacks.show()
        samples[hz] = int(run.err.split(" samples")[0].rsplit(" ", 1)[1])
    assert 5 * samples[20] < samples[2000], samples


def test_after_a_flood_each_hit_is_a_sample(processes, programs, tmp_path):
    """What the flood left to be skipped is not skipped of who comes later, on the same CPU."""
    seeker = programs["seeker"]
    stacks, _ = profile(processes, tmp_path / "f", "--", "taskset", "-c", str(min(os.sched_getaffinity(0))), "sh", "-c", f"{seeker} 1000000 0; sleep 0.5; {seeker} 0 40 3000")
    assert stacks.having_run("main", "few", "seek").total >= 40, stacks.show()
    many = stacks.having_run("main", "many", "seek").total
    assert many <= 1000000, stacks.show()


def test_filters_are_the_same(processes, programs, tmp_path):
    other = processes.start(programs["seeker"], "100000", "1", "200")
    mine = processes.start(programs["seeker"], "5000", "50", "2000")
    stacks, _ = profile(processes, tmp_path / "f", "-p", str(mine.pid))
    other.end()
    assert 100 <= stacks.having_run("main", "many", "seek").total <= 5000, stacks.show()
    assert stacks.having_run("main", "few", "seek").total == 50, stacks.show()


def test_what_a_flame_graph_says(processes, programs, tmp_path):
    path = tmp_path / "graph.svg"
    run = processes.start(paths.XAGENT, "profile", "-e", f"tracepoint:{EVENT}", "-o", path, "--", programs["seeker"], "40", "5", "2000")
    assert run.wait(30) == 0, run.err
    text = path.read_text()
    assert f"Hits of {EVENT} of seeker" in text and "45 hits in" in text and "CPU time" not in text


@pytest.mark.parametrize("event, said", [("tracepoint:syscalls:sys_enter_nonsense", "this kernel has no tracepoint syscalls:sys_enter_nonsense"),
                                         ("tracepoint:lseek", "wants cpu, off_cpu, wall, locks, faults, run_queue, syscalls, tcp, block_io, rss, or tracepoint:GROUP:NAME"),
                                         ("tracepoint:../../etc:passwd", "wants cpu, off_cpu, wall, locks, faults, run_queue, syscalls, tcp, block_io, rss, or tracepoint:GROUP:NAME"),
                                         ("off", "wants cpu, off_cpu, wall, locks, faults, run_queue, syscalls, tcp, block_io, rss, or tracepoint:GROUP:NAME")])
def test_mistakes(processes, event, said):
    run = processes.start(paths.XAGENT, "profile", "-e", event, "-d", "1")
    assert run.wait(20) != 0
    assert said in run.err


def assert_balances(m, event):
    counts = {name: m.value(f"xagent_kernel_{name}_total", event=event) for name in ("ticks", *ENDS)}
    assert counts["ticks"] == sum(counts[n] for n in ENDS), counts


EVENTS = f"""
	events {{
		tracepoint "seeks" {{
			event       = "{EVENT}"
			sample_rate = 10000
		}}
		tracepoint "sleeps" {{ event = "syscalls:sys_enter_clock_nanosleep" }}
	}}
	event_cpu_limit = 0
	sample_rate"""


def with_events(text):
    return text.replace("\n\tsample_rate", EVENTS, 1)


def test_both_events_of_an_agent(start_agent, standin, processes, programs):
    """CPU profiles are what they are without; each tracepoint is a profile type of its own; every scrape balances by event."""
    agent = start_agent(with_events(config(standin.url, interval="1s", rate=199))).wait_ready()
    burner = processes.start(programs["chain"], 50)
    seeker = processes.start(programs["seeker"], "400", "100", "5000")
    assert seeker.wait(30) == 0
    for _ in range(50):
        m = agent.metrics()
        assert_balances(m, "cpu")
        assert_balances(m, "tracepoint")

    def hits(name):
        return sum(s.values[0] for p in standin.pushes() if p.labels["__name__"] == name and "seeker" in p.labels["service_name"]
                   for s in p.profile.samples)
    wait_until(lambda: hits("seeks") >= 500, 20, "all hits are pushed")
    wait_until(lambda: hits("sleeps") >= 500, 20, "all sleeps are pushed")
    assert hits("seeks") == 500 and hits("sleeps") == 500
    for push in standin.pushes():
        assert push.profile.period == (1 if push.labels["__name__"] in ("seeks", "sleeps") else 10**9 // 199)
    assert {p.labels["__name__"] for p in standin.pushes()} == {"process_cpu", "seeks", "sleeps"}
    burner.end()
    assert agent.stop() == 0


def test_names_of_targets_are_those_of_cpu_profiles(start_agent, standin, processes, programs):
    """Targets that differ by __name__ alone: two profiles of CPU time, and one of a tracepoint, where two would replace each other at the server."""
    names = ("mine", "process_cpu", None)
    targets = [{"__process_pid__": str(processes.start(programs["seeker"], "2000000000", "0").pid), "service_name": "shop",
                **({"__name__": name} if name else {})} for name in names]
    agent = start_agent(with_events(config(standin.url, interval="1s", rate=199, targets=targets, targets_only=True))).wait_ready()

    def times():
        """name → the times of its profiles"""
        found = {}
        for push in standin.pushes():
            found.setdefault(push.labels["__name__"], []).append(push.profile.time_nanos)
        return found
    found = wait_until(lambda: times() if len(times().get("seeks", ())) >= 3 else None, 20, "three intervals")
    assert set(found) == {"mine", "process_cpu", "seeks"}
    assert all(len(set(of)) == len(of) for of in found.values()), found
    assert all(set(p.labels) == {"__name__", "service_name", "host"} for p in standin.pushes())
    assert agent.stop() == 0


def test_hits_beyond_the_limit_are_counted(start_agent, standin, processes, programs):
    """They are in the sums, and told apart from what was filtered for other reasons; CPU samples do not suffer."""
    agent = start_agent(with_events(config(standin.url, interval="1s", rate=199))).wait_ready()
    seeker = processes.start(programs["seeker"], "2000000", "0")
    assert seeker.wait(60) == 0
    m = agent.wait_metric(lambda m: m.get("xagent_kernel_ticks_total", event="tracepoint") >= 2000000, 20, "all hits")
    assert_balances(m, "tracepoint")
    assert m.get("xagent_kernel_thinned_total", event="tracepoint") >= 1900000
    assert m.get("xagent_kernel_filtered_total", event="tracepoint") >= m.get("xagent_kernel_thinned_total", event="tracepoint")
    assert m.get("xagent_kernel_lost_total", event="cpu") == 0

    def hits():
        return sum(s.values[0] for p in standin.pushes() if p.labels["__name__"] == "seeks" for s in p.profile.samples)
    wait_until(lambda: hits() >= 2000000 * (1 - MOST_LEFT), 20, "their sum is pushed")
    assert agent.stop() == 0


def test_profile_types_of_a_store(start_agent, processes, programs):
    text = with_events(config("http://127.0.0.1:1", interval="1s"))
    text = text.replace("[pyroscope.write.endpoint.receiver]", "[pyroscope.store.here.receiver]") + 'pyroscope.store "here" { }\n'
    agent = start_agent(text).wait_ready()
    seeker = processes.start(programs["seeker"], "300", "100", "2000")
    assert seeker.wait(30) == 0

    def types():
        status, text = fetch(f"{agent.url}/querier.v1.QuerierService/ProfileTypes", data=b"{}", headers={"Content-Type": "application/json"})
        assert status == 200, text
        return {t["ID"] for t in json.loads(text).get("profileTypes", [])}
    both = {"seeks:events:count:tracepoint:count", "process_cpu:cpu:nanoseconds:cpu:nanoseconds"}
    wait_until(lambda: both <= types(), 20, "the store has both types")
    assert agent.stop() == 0
