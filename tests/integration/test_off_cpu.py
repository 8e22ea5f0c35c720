# SPDX-License-Identifier: Apache-2.0
"""Off-CPU time: what a program says it has waited for, by its own clock, is what is reported, by function."""
import math
import os
import re
import statistics

import pytest

from harness import folded, paths
from harness.agent import config
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"
# Of what the program says.
WITHIN = 0.03
# Returns that are not told.
UNSEEN = 0


def profile(processes, path, *arguments):
    """Stacks, the seconds that the program says by function, and what was said."""
    run = processes.start(paths.XAGENT, "profile", "-e", "off_cpu", "-f", "folded", "-o", path, *arguments)
    assert run.wait(90) == 0, run.err
    own = {name: int(ns) for name, ns in re.findall(r"^(\w+) (\d+)$", run.out, re.M)}
    return folded.parse(path.read_text()), own, run


@pytest.mark.parametrize("program", ["waiter", "waiter_frameless"])
def test_waits_by_function(processes, programs, tmp_path, program):
    """… each with its whole chain, with frame pointers and without."""
    stacks, own, run = profile(processes, tmp_path / "f", "--", programs[program], "60")
    assert set(own) == {"sleeps_10ms", "lock_5ms", "slow_pipe"}
    for name, ns in own.items():
        mine = stacks.having("main", name)
        # lock_5ms waits for the helper, too, which its own clock leaves out.
        mine = mine.having("pthread_mutex_lock") or mine.having("___pthread_mutex_lock") if name == "lock_5ms" else mine
        assert abs(mine.total / ns - 1) < WITHIN, (name, mine.total, ns, stacks.show())
        assert all("_start" in s.frames and s.frames[-2] in ("__schedule", "schedule") for s in mine), mine.show()
        assert not [f for s in mine for f in s.frames[:-1] if f.startswith("[")], mine.show()
    assert stacks.having("start_thread", "help").total > 0
    assert "lost" not in run.err, run.err


def test_another_profiler_looks_too(start_agent, standin, processes, programs, tmp_path):
    """The kernel calls several programs at a tracepoint by a function of its own, which is none of the thread's."""
    start_agent(config(standin.url).replace("\n\tsample_rate", EVENTS, 1)).wait_ready()
    stacks, own, _ = profile(processes, tmp_path / "f", "--", programs["waiter"], "hop", "100", "8000")
    assert abs(stacks.having("hop").total / own["hop"] - 1) < WITHIN, (own, stacks.show())
    assert not [s for s in stacks if any("trace" in f for f in s.frames)], stacks.show()


def test_migration_at_every_wake(processes, programs, tmp_path):
    stacks, own, _ = profile(processes, tmp_path / "f", "--", programs["waiter"], "hop", "100", "8000")
    assert abs(stacks.having("hop").total / own["hop"] - 1) < WITHIN, (own, stacks.show())


def test_many_threads(processes, programs, tmp_path):
    # All are back at once: by the usual limit some are samples, and their sum has a standard error of 1 %.
    stacks, own, _ = profile(processes, tmp_path / "f", "-F", "10000", "--", programs["waiter"], "threads", "2000", "500")
    assert abs(stacks.having("sleep_once").total / own["sleep_once"] - 1) < WITHIN, (own, stacks.show())


def test_short_waits_are_unbiased(processes, programs, tmp_path):
    """With few samples the mean of many windows lies in its own interval of 99 %."""
    ratios = []
    for i in range(200 if FULL else 5):
        stacks, own, _ = profile(processes, tmp_path / str(i), "-F", "10", "--", programs["waiter"], "hop", "200")
        ratios.append(stacks.having("hop").total / own["hop"])
    mean, error = statistics.mean(ratios), statistics.stdev(ratios) / math.sqrt(len(ratios))
    # Student's t for 4 degrees of freedom; and what the clocks differ by.
    assert abs(mean - 1) < (2.6 if FULL else 4.6) * error + 0.02, (mean, error, ratios)


def test_a_wait_that_goes_on(processes, tmp_path):
    """A sleep of a minute, of which two seconds are looked at: it has begun before and ends afterwards."""
    sleeper = processes.start("sleep", "60")
    stacks, _, run = profile(processes, tmp_path / "f", "-d", "2", "-p", str(sleeper.pid))
    sleeper.end()
    seconds = float(re.search(r"samples? in ([\d.]+) s", run.err)[1])
    assert abs(stacks.total / 1e9 - seconds) < 0.15, (run.err, stacks.show())
    assert all("__libc_start_main" in s.frames for s in stacks), stacks.show()


def assert_seen_to_the_end(stacks, run):
    """One thread slept for all that was profiled."""
    sleeps = folded.Stacks(s for s in stacks if s.frames[0] == "sleep")
    seconds = float(re.search(r"samples? in ([\d.]+) s", run.err)[1])
    assert abs(sleeps.total / 1e9 - seconds) < 0.15, (run.err, stacks.show())


def test_a_wait_that_goes_on_in_a_cgroup(processes, tmp_path, cgroup):
    """Below the directory that was asked for, beside others who sleep."""
    inner = cgroup / "inner"
    inner.mkdir()
    try:
        others = processes.start("sleep", "61")
        sleeper = processes.start("sleep", "60", preexec_fn=lambda: (inner / "cgroup.procs").write_text(str(os.getpid())))
        stacks, _, run = profile(processes, tmp_path / "f", "-d", "2", "--cgroup", cgroup)
        assert {s.frames[0] for s in stacks} == {"sleep"}, stacks.show()
        assert_seen_to_the_end(stacks, run)
        for process in (others, sleeper):
            process.end()
    finally:
        wait_until(lambda: not (inner / "cgroup.procs").read_text(), 10, "nobody is in it")
        inner.rmdir()


def test_a_wait_of_a_command_that_goes_on(processes, tmp_path):
    """It is left to end by itself, after what was profiled."""
    stacks, _, run = profile(processes, tmp_path / "f", "-d", "2", "--", "sleep", "4")
    assert_seen_to_the_end(stacks, run)


def test_a_process_that_ends_while_it_waits(processes, tmp_path):
    stacks, _, _ = profile(processes, tmp_path / "f", "--", "sh", "-c", "timeout -s KILL 1 sleep 60; true")
    sleeps = folded.Stacks(s for s in stacks if s.frames[0] == "sleep")
    assert 0.9e9 < sleeps.total < 1.1e9, stacks.show()


EVENTS = """
	events {
		off_cpu { sample_rate = 10000 }
	}
	event_cpu_limit = 0
	sample_rate"""


def test_of_an_agent(start_agent, standin, processes, programs, container):
    """A profile type of its own, with the name that other agents give it; CPU profiles are what they are, and each scrape balances."""
    # Who is not profiled takes no samples from the limit: each sleep is one.
    agent = start_agent(config(standin.url, interval="1s", rate=199, **container.only("waiter")).replace("\n\tsample_rate", EVENTS, 1)).wait_ready()
    run = processes.start(programs["waiter"], "60", preexec_fn=container.enter)
    assert run.wait(60) == 0
    own = {name: int(ns) for name, ns in re.findall(r"^(\w+) (\d+)$", run.out, re.M)}

    def sums():
        mine = [p for p in standin.pushes() if p.labels["__name__"] == "offcpu" and "waiter" in p.labels["service_name"]]
        sleeps = [s for p in mine for s in p.profile.samples if "sleeps_10ms" in s.frames]
        # Between its sleeps it may have been preempted, too.
        return sum(s.values[0] for s in sleeps), sum(s.values[1] for s in sleeps if s.frames[-1] == "[sleep]")
    wait_until(lambda: sums()[1] >= 57, 20, "all sleeps are pushed")
    ns, waits = sums()
    # Where an interval ends in a wait, what lies before is one of 512 samples of all that waits on this machine.
    assert abs(ns / own["sleeps_10ms"] - 1) < 0.15 and waits <= 65, (ns, waits, own)
    m = agent.metrics()
    for event in ("cpu", "off_cpu"):
        counts = {name: m.value(f"xagent_kernel_{name}_total", event=event) for name in ("ticks", "emitted", "idle", "filtered", "lost")}
        assert counts["ticks"] == sum(counts.values()) - counts["ticks"] > 0, counts
    assert m.value("xagent_kernel_lost_unseen_total", event="off_cpu") <= UNSEEN
    assert {p.labels["__name__"] for p in standin.pushes()} == {"process_cpu", "offcpu"}
    assert agent.stop() == 0


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_intervals_of_a_long_wait(start_agent, standin, processes, programs):
    """A wait that several intervals lie in is in each of them, and in all together once."""
    agent = start_agent(config(standin.url, interval="1s", rate=199).replace("\n\tsample_rate", EVENTS, 1)).wait_ready()
    run = processes.start(programs["waiter"], "threads", "3", "3500")
    assert run.wait(30) == 0
    own = int(run.out.split()[1])

    def sums():
        """time of the interval → its nanoseconds; waits"""
        found, waits = {}, 0
        for p in standin.pushes():
            if p.labels["__name__"] == "offcpu" and "waiter" in p.labels["service_name"]:
                mine = [s for s in p.profile.samples if "sleep_once" in s.frames]
                found[p.profile.time_nanos] = sum(s.values[0] for s in mine)
                waits += sum(s.values[1] for s in mine)
        return found, waits
    wait_until(lambda: sums()[1] >= 3, 20, "all waits are over")
    found, waits = sums()
    assert waits == 3 and len(found) >= 4, (found, waits)
    assert max(found.values()) < 3 * 1.2e9, found
    # All that waits on this machine shares 512 samples an interval.
    assert abs(sum(found.values()) / own - 1) < 0.15, (found, own)
    assert agent.stop() == 0


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_ticks_are_not_lost(start_agent, standin, processes, programs):
    """At 200,000 switches a second the programs take a tenth of a CPU: as many ticks there were dropped if they shared a guard with the timer's."""
    agent = start_agent(config(standin.url, interval="15s", rate=199).replace("\n\tsample_rate", EVENTS, 1)).wait_ready()
    m = agent.metrics()
    before = [m.value("xagent_kernel_ticks_total", event="cpu"), m.kernel("ticks_missed"), m.value("xagent_kernel_ticks_total", event="off_cpu")]
    run = processes.start(programs["waiter"], "turns", "600000")
    assert run.wait(60) == 0
    m = agent.metrics()
    ticks, missed, waits = (m.value("xagent_kernel_ticks_total", event="cpu") - before[0], m.kernel("ticks_missed") - before[1],
                            m.value("xagent_kernel_ticks_total", event="off_cpu") - before[2])
    assert waits >= 1000000 and missed <= 0.02 * ticks, (ticks, missed, waits)
    assert agent.stop() == 0


def test_exec_while_another_thread_waits(processes, programs, tmp_path):
    """The thread's wait ends with the exec; what it was is told by the image that it waited in."""
    stacks, own, _ = profile(processes, tmp_path / "f", "--", programs["waiter"], "exec", "500")
    waited = stacks.having("start_thread", "sleep_once")
    assert abs(waited.total / 1e6 - 500) < 100, (waited.total, stacks.show())
    assert abs(stacks.having("main", "hop").total / own["hop"] - 1) < max(WITHIN, 0.05), (own, stacks.show())
    assert not [s for s in stacks if "sleep_once" in s.frames and "hop" in s.frames], stacks.show()
