# SPDX-License-Identifier: Apache-2.0
"""Waits for locks, of user code and of the kernel: what a program says it has waited for, by its own clock, is what is reported, by function."""
import math
import os
import pathlib
import re
import statistics
import subprocess
from typing import NamedTuple

import pytest

from harness import folded, paths, privileges
from harness.agent import config
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"


class Own(NamedTuple):
    """What the program says of one function: what its clock has seen, and for how much of that it had no CPU though it could have run. That lies before the wait,
    in it (from the wake-up on) or behind it."""
    ns: int
    ready_ns: int

    def has(self, ns, n_of=1):
        """Whether it can have waited so long: a part of what its clock says, and all of it where it never had to wait for a CPU."""
        return 0.97 * (self.ns - self.ready_ns) < n_of * ns < 1.03 * self.ns


def own_clock(run):
    return {name: Own(int(ns), int(ready or 0)) for name, ns, ready in re.findall(r"^(\w+) (\d+)(?: (\d+))?$", run.out, re.M)}


def profile(processes, path, *arguments):
    """Stacks, the nanoseconds that the program says by function, and what was said."""
    run = processes.start(paths.XAGENT, "profile", "-e", "locks", "-f", "folded", "-o", path, *arguments)
    assert run.wait(90) == 0, run.err
    return folded.parse(path.read_text()), own_clock(run), run


def test_waits_by_function(processes, programs, tmp_path):
    stacks, own, run = profile(processes, tmp_path / "f", "--", programs["locker"], "60")
    assert set(own) == {"mutex_5ms", "condition_3ms", "semaphore_4ms", "read_line", "rwlock_2ms"}
    for name, clock in own.items():
        mine = stacks.having(name)
        assert clock.has(mine.total), (name, mine.total, clock, stacks.show())
    # Of a user's lock the frames are the user's; of the kernel's the kernel is innermost, down to what has taken the lock.
    for name, waits in (("mutex_5ms", "lll_lock_wait|mutex_lock"), ("condition_3ms", "futex|cond_wait"), ("semaphore_4ms", "sem_wait|futex"),
                        ("rwlock_2ms", "rwlock_rdlock|futex")):
        mine = stacks.having("main", name)
        # A condition variable's wait may end with one for its mutex.
        assert all("_start" in s.frames and any(re.search(waits, f) for f in s.frames[s.frames.index(name) + 1:]) for s in mine), mine.show()
    # Of which kind it is tells the frame that waits.
    for name, kinds in (("mutex_5ms", {"[mutex]"}), ("condition_3ms", {"[condition variable]", "[mutex]"}), ("semaphore_4ms", {"[semaphore]"}),
                        ("rwlock_2ms", {"[rwlock]"})):
        by_kind = {leaf: sum(s.count for s in stacks.having("main", name) if s.frames[-1] == leaf) for leaf in {s.frames[-1] for s in stacks.having("main", name)}}
        assert set(by_kind) <= kinds, (name, by_kind)
        assert max(by_kind, key=by_kind.get) == {"condition_3ms": "[condition variable]"}.get(name, min(kinds)), (name, by_kind)
    assert all(re.search("mutex_lock", s.frames[-1]) and "n_tty_read" in s.frames for s in stacks.having("read_line")), stacks.show()
    assert "lost" not in run.err and "100.0% of user stacks complete" in run.err, run.err


@pytest.fixture
def bare_libc(tmp_path):
    """A folder with this machine's C library, of which no debug file is found."""
    why = privileges.why_no_tool("objcopy")
    maps = pathlib.Path("/proc/self/maps").read_text()
    libc = re.search(r"\S*/libc\.so\.6$", maps, re.M)
    if why or not libc:
        pytest.skip(why or "no glibc")
    folder = tmp_path / "lib"
    folder.mkdir()
    subprocess.run(["objcopy", "-R", ".note.gnu.build-id", "-R", ".gnu_debuglink", libc[0], folder / "libc.so.6"], check=True)
    return folder


def test_kinds_without_debug_files(processes, programs, tmp_path, bare_libc):
    """What sem_wait() jumps to has no symbol, and leaves no frame of sem_wait() itself."""
    stacks, own, run = profile(processes, tmp_path / "f", "--", "env", f"LD_LIBRARY_PATH={bare_libc}", programs["locker"], "20")
    for name, kind in (("mutex_5ms", "[mutex]"), ("semaphore_4ms", "[semaphore]"), ("rwlock_2ms", "[rwlock]")):
        mine = stacks.having("main", name)
        assert {s.frames[-1] for s in mine} == {kind} and own[name].has(mine.total), (name, own, mine.show())
    assert "[end of a thread]" in {s.frames[-1] for s in stacks.having("main")}, stacks.show()
    assert not [f for s in stacks for f in s.frames if f.startswith("__lll_lock_wait")], "its debug file was found"


def test_nothing_where_nobody_waits(processes, programs, tmp_path):
    """A lock that is free makes no system call, and other calls are no waits."""
    run = processes.start(paths.XAGENT, "profile", "-e", "locks", "-f", "folded", "-o", tmp_path / "f", "--", programs["seeker"], "1000", "10")
    assert run.wait(30) == 0, run.err
    assert "0 samples: seeker had no locks" in run.err, run.err


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_short_waits_are_unbiased(processes, programs, tmp_path):
    """With few samples the mean of many windows lies in its own interval of 99 %, but for the time between the clock and the call."""
    ratios = []
    for i in range(200):
        stacks, own, _ = profile(processes, tmp_path / str(i), "-F", "10", "--", programs["locker"], "storm", "1000")
        ratios.append(stacks.having("storm").total / own["storm"].ns)
    mean, error = statistics.mean(ratios), statistics.stdev(ratios) / math.sqrt(len(ratios))
    assert abs(mean - 1) < 2.6 * error + 0.03, (mean, error, ratios)


EVENTS = """
	events {
		locks { sample_rate = 10000 }
	}
	event_cpu_limit = 0
	sample_rate"""


def test_of_an_agent(start_agent, standin, processes, programs, container):
    """The types that Go's own profiles have, and how often as well; each scrape balances."""
    # Who is not profiled takes no samples from the limit: each wait is one.
    agent = start_agent(config(standin.url, interval="1s", rate=199, **container.only("locker")).replace("\n\tsample_rate", EVENTS, 1)).wait_ready()
    run = processes.start(programs["locker"], "60", preexec_fn=container.enter)
    assert run.wait(60) == 0
    own = own_clock(run)

    def sums(function):
        mine = [p for p in standin.pushes() if p.labels["__name__"] == "mutex"]
        return [sum(s.values[i] for p in mine for s in p.profile.samples if function in s.frames) for i in (0, 1)]
    wait_until(lambda: sums("mutex_5ms")[1] >= 57 and sums("semaphore_4ms")[1] >= 57, 20, "all waits are pushed")
    for function in ("mutex_5ms", "semaphore_4ms"):
        ns, contentions = sums(function)
        # One wait may be over before the agent has heard of the process.
        assert own[function].has(ns, 60 / contentions) and 57 <= contentions <= 62, (function, ns, contentions, own)
    types = {(p.labels["__name__"], *p.profile.sample_types, p.profile.period_type) for p in standin.pushes() if p.labels["__name__"] == "mutex"}
    assert types == {("mutex", ("delay", "nanoseconds"), ("contentions", "count"), ("contentions", "count"))}, types
    m = agent.metrics()
    for event in ("cpu", "locks"):
        counts = {name: m.value(f"xagent_kernel_{name}_total", event=event) for name in ("ticks", "emitted", "idle", "filtered", "lost")}
        assert counts["ticks"] == sum(counts.values()) - counts["ticks"] > 0, counts
    assert agent.stop() == 0
