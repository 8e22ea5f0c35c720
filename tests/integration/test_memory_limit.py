# SPDX-License-Identifier: Apache-2.0
"""
Hundreds of programs with much unwind information, none with a frame pointer, under the least memory limit there is: a tenth of the tables
has room. What has none is finished by the agent, so that stacks are as complete as with all the tables, and everything stays in bounds.

Prints what each limit has cost.
"""
import contextlib
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from harness import chains, nodes, paths, privileges, pythons
from harness.agent import config
from harness.burning import before_all_others, cpu_seconds
from harness.folded import Stack
from harness.processes import wait_until
from harness.standin import stacks_of

sys.path.append(str(paths.TESTS / "fixtures"))
import bigobjects  # noqa: E402

pytestmark = pytest.mark.bpf

N = 500
DEPTH = 13
LEAST_LIMIT = "8MiB"
AMPLE_LIMIT = "256MiB"
MIB = 1 << 20
INTERVAL_SECONDS = 4
RATE = 199
# More than the least limit has room for in an interval: intervals go out early, in parts.
HIGH_RATE = 499
SECONDS = 14
PROCESS_BYTES = 3072
# Of the intervals in which it knows all programs. Where the machine is too busy for the agent, some records come without their copy of the stack, and say so.
COMPLETE = 0.99
KNOWN_SECONDS = 90
# A file of which a page is not read within a second.
SAID_OF_BUSY_MACHINES = ("a read does not return; its process or file system is avoided until it does",)
# A table that a walk came by so recently is not withdrawn (OBJECT_TABLES_KEEP_NS).
KEEP_SECONDS = 10
# From the outermost frame on, below the functions that lead to main.
SPIN = re.compile(r"[a-z]{3}_spin")
BIG_STACK = re.compile(rf"main(;[a-z]{{3}}_\d+){{{DEPTH}}};[a-z]{{3}}_spin")
START_ALL = 'for program in "$@"; do "$program" "$0" & done; wait'


@contextlib.contextmanager
def programs_of(own_names):
    """There are some hundred MB of them: they go when they are not needed any more."""
    reason = privileges.why_no_tool(bigobjects.CC)
    if reason:
        pytest.skip(reason)
    # Two fixtures have them at a time, and each removes its own.
    paths.FIXTURES.mkdir(parents=True, exist_ok=True)
    directory = Path(tempfile.mkdtemp(prefix="bigobjects.", dir=paths.FIXTURES))
    try:
        yield bigobjects.copy(bigobjects.build_one(paths.FIXTURES), directory, N, own_names)
    finally:
        shutil.rmtree(directory)


@pytest.fixture(scope="module")
def objects():
    """The programs, named alike, as those of one program in several containers are."""
    with programs_of(own_names=False) as programs:
        yield programs


# What takes more is always tried; the other kind takes 43 s.
KINDS = {"own_names": True} | ({"names_alike": False} if pythons.FULL else {})


@pytest.fixture(scope="module", params=KINDS.values(), ids=KINDS)
def both_kinds(request):
    """Programs named alike, and programs each of which has names of its own, as those of a host with many programs do."""
    with programs_of(request.param) as programs:
        yield programs


class Cost(NamedTuple):
    """What the agent holds at one moment."""
    anonymous: int
    arena: int
    tables: int
    interval: int
    maps: int

    def __str__(self):
        return ", ".join(f"{name} {value / MIB:.1f}" for name, value in self._asdict().items()) + " MiB"


def anonymous_bytes(pid):
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no Anonymous in smaps_rollup")


def cost(agent):
    m = agent.metrics()
    return Cost(anonymous_bytes(agent.process.pid), *(int(m.value(f"xagent_{name}_bytes")) for name in
                                                      ("unwind_arena", "unwind_table", "interval", "bpf_map")))


def start_all(processes, programs, seconds):
    return processes.start("sh", "-c", START_ALL, seconds, *programs)


def start_idle(start_agent, standin, limit, rate=RATE, kernel=False):
    """An agent that has profiled, but none of the programs; what it holds."""
    text = config(standin.url, interval=f"{INTERVAL_SECONDS}s", rate=rate, memory_limit=limit, collect_kernel_profile=kernel, targets=[],
                  targets_only=False, default_target={"service_name": "all"})
    agent = start_agent(text, preexec_fn=before_all_others).wait_ready()
    standin.wait_pushes()
    return agent, cost(agent)


def start_bare(start_agent, standin, limit):
    """What an agent holds that profiles nothing: libraries, programs, rings."""
    agent = start_agent(config(standin.url, interval="1s", memory_limit=limit, targets=[], targets_only=True)).wait_ready()
    time.sleep(2)
    bare = cost(agent)
    assert agent.stop() == 0
    return bare


def knows_all(agent):
    """It has looked at the file of each program. Before that a stack may be cut for want of it, for as long as the machine gives the agent too little time."""
    m = agent.metrics("xagent_unwind_files")
    return sum(m.get("xagent_unwind_files", state=state) for state in ("loaded", "no_room")) >= N


def watch(agent, seconds):
    """The most that it held until it has known all programs for two intervals, and for so long at least, member by member; what CPU time it has used; since when it
    knows all, in nanoseconds since 1970."""
    begin, before, seen, known_ns = time.monotonic(), cpu_seconds(agent.process.pid), [], 0
    until = begin + seconds
    while not known_ns or time.monotonic() < until:
        assert known_ns or time.monotonic() < begin + KNOWN_SECONDS, "it does not know all programs"
        time.sleep(0.5)
        seen.append(cost(agent))
        if not known_ns and knows_all(agent):
            known_ns = time.time_ns()
            until = max(until, time.monotonic() + 2.25 * INTERVAL_SECONDS)
    return Cost(*map(max, zip(*seen))), cpu_seconds(agent.process.pid) - before, known_ns


def big_stacks(standin, since_ns=0):
    """Of the intervals that have begun since then."""
    pushes = [p for p in standin.pushes() if p.profile.time_nanos - p.profile.duration_nanos >= since_ns]
    return [(Stack(("all", *frames), n)) for frames, n in stacks_of(pushes).items() if any(map(SPIN.fullmatch, frames))]


def is_exact(stack):
    return ("main" in stack.frames and chains.root_of_main(stack) and
            BIG_STACK.fullmatch(";".join(chains.from_function(stack, "main"))) is not None)


def judge_stacks(stacks):
    """The share of the exact ones. Those that are not must say that they are cut."""
    total, exact = sum(s.count for s in stacks), sum(s.count for s in stacks if is_exact(s))
    wrong = [s for s in stacks if not is_exact(s) and chains.is_complete(s)]
    cut = {}
    for s in stacks:
        if not is_exact(s):
            cut[s.frames[1]] = cut.get(s.frames[1], 0) + s.count
    assert not wrong, f"{len(wrong)} stacks are wrong and do not say so: {wrong[:3]}"
    return total, exact / total, cut


def judge_accounts(agent):
    m = agent.metrics()
    assert m.kernel("lost") == 0 and m.dropped_samples() == 0
    for name in ("process_evictions", "mapping_table_full", "push_queue_dropped_profiles"):
        assert m.agent(name) == 0, name
    return m


def judge_pace(standin):
    """Intervals follow each other, as long as they are asked to be. The last one is closed early, by the end."""
    spans = sorted((p.profile.time_nanos, p.profile.duration_nanos) for p in standin.pushes(service_name="all"))
    # Parts of one interval are a millisecond apart.
    spans = [b for a, b in zip([(0, 0), *spans], spans) if b[0] - a[0] > 1e8][:-1]
    assert all(0.9 < nanos / 1e9 / INTERVAL_SECONDS < 1.5 for _, nanos in spans), spans
    gaps = [(b[0] - a[0]) / 1e9 for a, b in zip(spans, spans[1:])]
    assert len(gaps) >= SECONDS / INTERVAL_SECONDS - 1 and all(abs(g - INTERVAL_SECONDS) < INTERVAL_SECONDS / 4 for g in gaps), gaps


def judge_log(agent):
    """One line an interval, and nothing said of what is normal."""
    others = [line for line in agent.log_lines() if line["msg"] not in SAID_OF_BUSY_MACHINES and line["msg"] != "interval profiled"]
    assert len(others) <= 10 and not any(line["level"] in ("warn", "error") for line in others), agent.log[-4000:]


def profile_all(start_agent, standin, processes, objects, limit):
    """All the programs under a limit: (what it held when idle, at most), metrics, the number of their stacks, the share of exact ones."""
    agent, idle = start_idle(start_agent, standin, limit)
    begin = time.monotonic()
    load = start_all(processes, objects, 10 * SECONDS)
    most, used, known_ns = watch(agent, SECONDS)
    m = judge_accounts(agent)
    seconds = time.monotonic() - begin
    load.end()
    assert agent.stop() == 0
    judge_log(agent)
    judge_pace(standin)
    total = judge_stacks(big_stacks(standin))[0]
    n_known, share, cut = judge_stacks(big_stacks(standin, known_ns))
    said = (f"\n    {limit}: {total} stacks, {100 * share:.2f} % of {n_known} exact {cut or ''}; {100 * used / seconds:.1f} % of a CPU; "
            f"idle {idle}; most {most}; tables {m.value('xagent_unwind_tables'):.0f}, no room {m.agent('unwind_tables_no_room')}, "
            f"withdrawn {m.agent('unwind_table_evictions')}")
    return idle, most, m, total, share, said


@pytest.mark.skipif(not pythons.FULL, reason="in the full matrix")
def test_everything_has_room(start_agent, standin, processes, objects, capsys):
    _, _, m, total, share, said = profile_all(start_agent, standin, processes, objects, AMPLE_LIMIT)
    with capsys.disabled():
        print(said)
    assert total >= N
    assert m.value("xagent_unwind_files", state="loaded") >= N
    assert m.agent("unwind_tables_no_room") == 0 and m.agent("unwind_table_evictions") == 0
    assert share >= COMPLETE, said


def test_a_tenth_has_room(start_agent, standin, processes, both_kinds, capsys):
    idle, most, m, total, share, said = profile_all(start_agent, standin, processes, both_kinds, LEAST_LIMIT)
    limit = m.value("xagent_memory_limit_bytes")
    with capsys.disabled():
        print(said)
    assert total >= N
    # Nearly all are unwound in the agent, and nearly all are complete.
    assert 0 < m.value("xagent_unwind_tables") <= N / 5
    assert m.value("xagent_unwind_files", state="no_room") >= N / 2
    assert m.agent("unwind_tables_no_room") >= N / 2
    assert share >= COMPLETE, said
    # The others have not been built twice.
    assert m.agent("unwind_tables_no_room") <= m.value("xagent_unwind_files") * 1.1
    # Tables in use stay: at most what had run before has made room.
    assert m.agent("unwind_table_evictions") <= N / 10
    assert limit == 8 * MIB
    assert most.tables <= most.arena <= limit * 5 / 16
    assert most.interval <= limit * 3 / 16 and most.maps <= limit
    # The process table is on top: agent/profile/budget.h.
    assert most.anonymous - idle.anonymous - PROCESS_BYTES * m.value("xagent_processes") <= limit


def test_the_limit_holds_for_everything(start_agent, standin, processes, both_kinds, capsys):
    """Kernel symbols too, and ten times the stacks that an interval has room for."""
    base = start_bare(start_agent, standin, LEAST_LIMIT)
    agent, idle = start_idle(start_agent, standin, LEAST_LIMIT, HIGH_RATE, kernel=True)
    load = start_all(processes, both_kinds, 10 * SECONDS)
    # BPF programs come and go meanwhile: the kernel's symbols are read again.
    processes.start(paths.XAGENT, "profile", "-d", SECONDS * 3 // 4, "-o", os.devnull)
    until, most = time.monotonic() + SECONDS, Cost(0, 0, 0, 0, 0)
    while time.monotonic() < until:
        time.sleep(0.1)
        most = max(most, cost(agent), key=lambda c: c.anonymous + c.arena)
    m = judge_accounts(agent)
    used = cpu_seconds(agent.process.pid)
    load.end()
    assert agent.stop() == 0
    total = sum(s.count for s in big_stacks(standin))
    # The process table is on top: agent/profile/budget.h.
    table = PROCESS_BYTES * m.value("xagent_processes")
    with capsys.disabled():
        print(f"\n    {LEAST_LIMIT}, {HIGH_RATE} Hz: {total} stacks in {len(standin.pushes())} profiles; bare {base}; idle {idle}; most {most}; "
              f"beyond the bare agent and {m.value('xagent_processes'):.0f} processes, with the arena: "
              f"{(most.anonymous - base.anonymous + most.arena - table) / MIB:.1f} MiB; "
              f"{m.agent('symbol_cache_evictions')} indices put out, {used:.1f} s of a CPU")
    assert total >= N
    limit = m.value("xagent_memory_limit_bytes")
    # What malloc adds is in it: it lies where the maps of the kernel have a share that is not counted here.
    assert most.anonymous - base.anonymous + most.arena - table <= limit


# Scripts of 60 KiB, each with a class of its own whose methods take turns.
SCRIPTS = """
'use strict';
const vm = require('vm');
const made = [];
for (let i = 0; i < 100; i++) {
  let text = `(class Script${process.pid}_${i} {\\n`;
  for (let k = 0; k < 40; k++)
    text += `  method_${i}_${k}(n) { let s = ${k}; for (let x = 0; x < n; x++) s = (s * 31 + x) % 65537; return s; } // ${'-'.repeat(1400)}\\n`;
  const C = vm.runInThisContext(text + '})', { filename: `script_${process.pid}_${i}.js` });
  made.push(new C());
}
for (const end = Date.now() + 60000; Date.now() < end;)
  for (let i = 0; i < 100; i++)
    for (let k = 0; k < 40; k++) made[i][`method_${i}_${k}`](3000);
"""


@pytest.mark.skipif(not nodes.FULL, reason="XAGENT_TEST_MATRIX=full has it")
def test_sources_of_scripts(start_agent, standin, processes, tmp_path, capsys):
    """More scripts than there is room to know: what is kept of them, and what reading one takes, is within the limit, and what goes is counted."""
    node = nodes.get_or_skip(nodes.SAMPLE[-1])
    (tmp_path / "scripts.js").write_text(SCRIPTS)
    base = start_bare(start_agent, standin, LEAST_LIMIT)
    agent, _ = start_idle(start_agent, standin, LEAST_LIMIT)
    for _ in range(8):
        processes.start(node, tmp_path / "scripts.js")
    before, until, most = cpu_seconds(agent.process.pid), time.monotonic() + 20, Cost(0, 0, 0, 0, 0)
    while time.monotonic() < until:
        time.sleep(0.2)
        most = max(most, cost(agent), key=lambda c: c.anonymous + c.arena)
    used = cpu_seconds(agent.process.pid) - before
    m = judge_accounts(agent)
    table = PROCESS_BYTES * m.value("xagent_processes")
    beyond = most.anonymous - base.anonymous + most.arena - table
    limit = m.value("xagent_memory_limit_bytes")
    with capsys.disabled():
        print(f"\n    {LEAST_LIMIT}, 800 scripts: {beyond / MIB:.1f} MiB beyond the bare agent; {m.agent('sources_dropped')} sources forgotten, "
              f"{used:.1f} s of a CPU")
    assert m.agent("sources_dropped") > 0
    # What reading a source takes comes on top: agent/profile/budget.h.
    assert beyond <= limit + limit / 32
    assert agent.stop() == 0


def test_tables_of_what_has_ended_make_room(start_agent, standin, processes, objects):
    first, second = objects[:N // 5], objects[N // 5:2 * N // 5]
    agent, _ = start_idle(start_agent, standin, LEAST_LIMIT)
    load = start_all(processes, first, 60)
    m = agent.wait_metric(lambda m: m.agent("unwind_tables_no_room") >= len(first) / 4, 20, "there is no room left")
    load.end()
    time.sleep(KEEP_SECONDS + 1)
    assert agent.metrics().agent("unwind_table_evictions") <= m.agent("unwind_table_evictions") + 10
    before = agent.metrics().agent("unwind_table_evictions")
    start_all(processes, second, 60)
    agent.wait_metric(lambda m: m.agent("unwind_table_evictions") >= before + 10, 20, "tables of the first are withdrawn")
    assert agent.metrics().value("xagent_unwind_table_bytes") <= 5 / 16 * 8 * MIB
    judge_accounts(agent)
    assert agent.stop() == 0


def test_another_limit_loses_nothing(start_agent, standin, processes, programs):
    """A reload begins a new session; what the one before has seen goes out first."""
    chain = processes.start(programs["chain"], 60)
    chain.wait_for_output("main")

    def text(limit):
        return config(standin.url, interval="1s", rate=199, targets=[{"__process_pid__": str(chain.pid), "service_name": "known"}],
                      targets_only=True, memory_limit=limit)
    agent = start_agent(text("64MiB")).wait_ready()
    standin.wait_pushes()
    assert agent.metrics().value("xagent_memory_limit_bytes") == 64 * MIB
    agent.config_path.write_text(text("9000KiB"))
    agent.process.send(signal.SIGHUP)
    agent.wait_metric(lambda m: m.get("xagent_memory_limit_bytes") == 9000 * 1024, 10, "the other limit")
    before = standin.samples()
    wait_until(lambda: standin.samples() > before + 100, 10, "it goes on profiling")
    m = agent.metrics()
    assert m.kernel("lost") == 0 and m.value("pyroscope_ebpf_profiling_sessions_failing_total") == 0
    assert agent.stop() == 0
    used = [p.profile for p in standin.pushes(service_name="known")]
    missing = [b.time_nanos - b.duration_nanos - a.time_nanos for a, b in zip(used, used[1:])]
    assert max(missing) < 1e9, missing
    assert standin.samples() >= m.agent("samples_in_profiles")
