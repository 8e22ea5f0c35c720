# SPDX-License-Identifier: Apache-2.0
"""
Stacks of unusual shape, none with a frame pointer: signals in signals, coroutines, exceptions in flight, the vDSO, threads of every
make, a child on its parent's stack. What must be seen is in harness/situations.py; gdb agrees to it in test_gdb_judge.py.
"""
import os
import signal
from pathlib import Path

import pytest

from harness import burning, chains, inspect, situations
from harness.folded import Stack, Stacks
from harness.processes import Processes, wait_until
from harness.situations import SITUATIONS

pytestmark = pytest.mark.bpf

LEAST = 20
GLANCES = 4
# More programs at once than elsewhere, whose tables take longer to come.
ENOUGH_CPU_SECONDS = 0.8


@pytest.fixture(scope="module")
def burned(frameless_programs, tmp_path_factory):
    """One profile of all situations at once: name → Stacks."""
    directory = tmp_path_factory.mktemp("situations")
    processes = Processes(directory)
    built = frameless_programs(*situations.programs_of(SITUATIONS))
    possible = [n for n in SITUATIONS if set(situations.programs_of([n])) <= set(built)]
    try:
        pids = [situations.start(processes, directory, built, name)[1] for name in possible]
        found = burning.profile(processes, directory, pids, ENOUGH_CPU_SECONDS)
    finally:
        processes.end_all()
    return {name: found.get(name[:15], Stacks()) for name in possible}


def assert_situation(name, stacks, least):
    situation = SITUATIONS[name]
    stacks = chains.without_early(stacks)
    bad = Stacks(s for s in stacks if not situation.good(s))
    assert bad.total <= (1 - situation.share) * stacks.total, f"{bad.total} of {stacks.total}:\n{chains.shorten(bad.show(8))}"
    for what, is_so in {"any": lambda s: True, **situation.seen}.items():
        seen = sum(s.count for s in stacks if is_so(s))
        assert seen >= least, f"only {seen} of {stacks.total} samples: {what}\n{chains.shorten(stacks.show(8))}"


@pytest.mark.parametrize("name", SITUATIONS)
def test_profile(burned, name):
    if name not in burned:
        pytest.skip(f"{SITUATIONS[name].program} could not be built")
    assert_situation(name, burned[name], LEAST)


# The same, asked for one moment

def glance(processes, pid, name):
    """The present stacks of all threads as a profile shows them."""
    stacks = Stacks()
    for thread in inspect.stacks(processes, pid).values():
        reason = (thread.reason,) if thread.reason else ()
        stacks.append(Stack((name, *reason, *reversed(thread.names)), 1))
    return stacks


@pytest.mark.parametrize("name", SITUATIONS)
def test_inspect(processes, frameless_programs, tmp_path, name):
    built = frameless_programs(*situations.programs_of([name]))
    process, pid = situations.start(processes, tmp_path, built, name)
    stacks = Stacks()
    for _ in range(GLANCES):
        # main waits for its threads there, and is looked at below.
        stacks += [s for s in glance(processes, pid, name) if SITUATIONS[name].good is not situations.threads_good or "main" not in s.frames]
    assert stacks.total >= GLANCES
    bad = Stacks(s for s in stacks if not SITUATIONS[name].good(s))
    # The share is of many samples; of a handful, one may be in a bad place.
    assert bad.total <= (0 if SITUATIONS[name].share == 1 else 1), chains.shorten(bad.show())
    assert process.running()


def test_inspect_parent_that_returns_from_vfork(processes, frameless_programs, tmp_path):
    """It has just left the system call: its return address is in a register only."""
    process, child = situations.start(processes, tmp_path, frameless_programs("fvforker"), "vfork")
    process.send(signal.SIGSTOP)
    os.kill(child, signal.SIGKILL)
    wait_until(lambda: state_of(process.pid)[0] == "T", 10, "the parent stops")
    stack, = glance(processes, process.pid, "vfork")
    assert "main" in stack.frames and chains.root_of_main(stack), stack
    assert chains.from_function(stack, "main")[:2] == ("main", "vfork_point"), stack
    assert len(chains.from_function(stack, "main")) == 3, stack


def test_inspect_does_not_wait_for_a_thread_that_cannot_be_stopped(processes, frameless_programs, tmp_path):
    """A parent in vfork stops for nobody but its child. What there is to know without stopping it is shown."""
    process, child = situations.start(processes, tmp_path, frameless_programs("fvforker"), "vfork")
    thread = inspect.stacks(processes, process.pid)[process.pid]
    assert state_of(process.pid)[1] == 0 and state_of(child)[1] == 0
    assert thread.reason or "vfork_point" in thread.names, thread.show()
    assert not {"child_work", "child_spin"} & set(thread.names), thread.show()


def test_inspect_thread_that_waits(processes, frameless_programs, tmp_path):
    process, _ = situations.start(processes, tmp_path, frameless_programs("fchain"), "threads")
    waiting = [s for s in glance(processes, process.pid, "threads") if "main" in s.frames]
    assert len(waiting) == 1 and chains.root_of_main(waiting[0]), waiting


def state_of(pid):
    """(state letter, pid of the tracer)"""
    fields = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
    return fields["State"][0], int(fields["TracerPid"])


def test_inspect_leaves_a_process_as_it_was(processes, frameless_programs, tmp_path):
    process, pid = situations.start(processes, tmp_path, frameless_programs("fchain"), "threads")
    inspect.stacks(processes, pid)
    assert state_of(pid)[0] in "RS" and state_of(pid)[1] == 0
    used = burning.cpu_seconds(pid)
    wait_until(lambda: burning.cpu_seconds(pid) > used, 10, "the process goes on")
    process.send(signal.SIGSTOP)
    wait_until(lambda: state_of(pid)[0] == "T", 10, "the process stops")
    before = inspect.stacks(processes, pid)
    assert state_of(pid) == ("T", 0), "a stopped process stays stopped"
    assert inspect.stacks(processes, pid) == before, "nothing has moved"


def test_inspect_says_what_it_cannot_do(processes):
    for pid in ("4194305999", "x", str(os.getpid()) + "x"):
        run = processes.run(burning.paths.XAGENT, "inspect", "stack", pid)
        assert run.popen.returncode not in (0, None) and run.out == "" and pid in run.err, (run.popen.returncode, run.err)
