# SPDX-License-Identifier: Apache-2.0
"""
Where unwind information comes from when the file is not simply there: libraries that come and go at the same address, programs that were
replaced, removed, never had a file, were started by the loader, or have copied their code to other memory. None has a frame pointer.
"""
import os
import shutil
import subprocess

import pytest

from harness import burning, chains, folded, inspect, paths, situations
from harness.folded import Stack, Stacks
from harness.processes import cpu_seconds

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

CHAIN = situations.exactly("main", "alpha", "beta", "gamma", "spin")
REMAPPED = situations.exactly("main", "remap_outer", "remap_inner", "remap_spin")
BOUNCE = situations.SITUATIONS["bounce"].good
LOADER = "/lib64/ld-linux-x86-64.so.2"
LEAST = 50
RATE = 499
# Long enough for the first moments to be a hundredth.
SECONDS = 10


def profile_command(processes, tmp_path, *argv, rate=RATE):
    """The stacks (user half) of a command, and the process that wrote them."""
    path = tmp_path / "out.folded"
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", rate, "-o", path, "--", *argv)
    assert run.popen.returncode == 0, run.err
    return folded.parse(path.read_text()), run


def assert_whole(stacks, exact):
    """99 of 100 end in the outermost frame and, where they burn, are exactly what is expected."""
    def whole(stack):
        burns = "main" in stack.frames and stack.frames[-1].endswith(("_spin", "spin_a", "spin_b"))
        return not any(f.startswith("[truncated") for f in stack.frames) and (not burns or exact(stack))

    bad = Stacks(s for s in stacks if not whole(s))
    assert stacks.total >= 10 * LEAST, stacks.show()
    assert bad.total <= 0.01 * stacks.total, f"{bad.total} of {stacks.total}:\n{bad.show(8)}"


def profile_one(processes, tmp_path, pid):
    """All stacks of one process, whatever it is called."""
    return Stacks(s for stacks in burning.profile(processes, tmp_path, [pid]).values() for s in stacks)


def judge(processes, tmp_path, pid, good):
    """In a profile and in a glance, every stack is good."""
    chains.assert_all(profile_one(processes, tmp_path, pid), good, LEAST, "profile")
    for thread in inspect.stacks(processes, pid).values():
        stack = Stack(("inspected", *([thread.reason] if thread.reason else []), *reversed(thread.names)), 1)
        assert good(stack), thread.show()


# Libraries in each other's place

def profile_plugins(processes, frameless_programs, tmp_path, host):
    """The stacks of a program that loads two libraries in turn, at the same address; how often they have changed places."""
    built = frameless_programs(host, "fplugin_a.so", "fplugin_b.so")
    stacks, run = profile_command(processes, tmp_path, built[host], SECONDS, built["fplugin_a.so"], built["fplugin_b.so"], rate=997)
    same = int(run.out.split()[1])
    bad = Stacks(s for s in stacks if not situations.own_plugin_only(s))
    assert not bad, f"{bad.total} of {stacks.total} samples show a library that was not there:\n{bad.show(8)}"
    return stacks, same


@pytest.mark.parametrize("host, least_same", [("fhost-slow", 10), ("fhost", 20), ("fhost-fast", 100)])
def test_library_in_place_of_another_is_unwound_by_its_own_table(processes, frameless_programs, tmp_path, host, least_same):
    """
    The two have frames of different sizes, so the other's table would lead astray. However fast they change, stacks are whole: but for the
    first of a tenth of a second, until the agent knows what kind of process it is.
    """
    stacks, same = profile_plugins(processes, frameless_programs, tmp_path, host)
    assert same >= least_same
    for letter in "ab":
        spins = stacks.having(f"plugin_{letter}_spin")
        exact = sum(s.count for s in spins if situations.of_plugin(s, letter))
        assert exact >= LEAST, stacks.show()
    assert_whole(stacks, lambda s: any(situations.of_plugin(s, letter) for letter in "ab"))


def test_library_that_was_removed(processes, frameless_programs, tmp_path):
    built = frameless_programs("fbounce", "fbounce.so")
    library = tmp_path / "removed.so"
    shutil.copy(built["fbounce.so"], library)
    process = processes.start(built["fbounce"], 60, library, situations.BOUNCES)
    process.wait_for_output("main")
    library.unlink()
    judge(processes, tmp_path, process.pid, BOUNCE)


# Programs whose file is another

@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_program_that_was(processes, frameless_programs, tmp_path, how):
    built = frameless_programs("fchain", "fclocks")
    program = tmp_path / "program"
    shutil.copy(built["fchain"], program)
    process = processes.start(program, 60)
    process.wait_for_output("main")
    if how == "removed":
        program.unlink()
    else:
        # As package managers do: another file takes the name.
        shutil.copy(built["fclocks"], tmp_path / "new")
        os.replace(tmp_path / "new", program)
    judge(processes, tmp_path, process.pid, CHAIN)


def test_program_without_a_file(processes, frameless_programs, tmp_path):
    built = frameless_programs("memexec", "fchain")
    process = processes.start(built["memexec"], built["fchain"], 60)
    process.wait_for_output("main")
    judge(processes, tmp_path, process.pid, CHAIN)


def test_program_started_by_the_loader(processes, frameless_programs, tmp_path):
    if not os.access(LOADER, os.X_OK):
        pytest.skip(f"no {LOADER}")
    process = processes.start(LOADER, frameless_programs("fchain")["fchain"], 60)
    process.wait_for_output("main")
    judge(processes, tmp_path, process.pid, CHAIN)


def test_32_bit_program(processes, tmp_path):
    """It says what it is, and nothing is made up."""
    program = tmp_path / "compat"
    built = subprocess.run(["gcc", "-m32", "-O1", "-fno-pie", "-no-pie", "-nostdlib", "-static", "-o", program, paths.TESTS / "fixtures" / "compat.c"],
                           capture_output=True, text=True)
    if built.returncode != 0:
        pytest.skip(f"no 32-bit programs here: {built.stderr.splitlines()[:1]}")
    try:
        stacks, _ = profile_command(processes, tmp_path, program)
    except AssertionError as e:
        if "Exec format error" in str(e):
            pytest.skip("this kernel runs no 32-bit programs")
        raise
    assert stacks.total > 100, stacks.show()
    assert {s.frames for s in stacks} == {("compat", "[32-bit process]")}, stacks.show()


def test_code_in_memory_in_place_of_the_file(processes, frameless_programs, tmp_path):
    """The mappings beside it are still the file's, and so is the unwind information."""
    process = processes.start(frameless_programs("fremapped")["fremapped"], 60)
    process.wait_for_output("main")
    judge(processes, tmp_path, process.pid, REMAPPED)


def overtext(frameless_programs, what):
    built = frameless_programs("fovertext", "fplugin_a.so")
    return built["fovertext"], 4, built["fplugin_a.so"], what


def over_copy(stack):
    """Now and then a sample comes between two rounds."""
    chain = ("main", "over", "plugin_a_entry", "plugin_a_spin")
    return any(situations.exactly(*chain[:n])(stack) for n in (2, 3, 4))


def over_jit(stack):
    return stack.frames[-1] == "[jit]" and not any(f.startswith("plugin_a") for f in stack.frames)


@pytest.mark.parametrize("what, good", [("copy", over_copy), ("jit", over_jit)])
def test_memory_in_place_of_a_library(processes, frameless_programs, tmp_path, what, good):
    """A copy of its code is unwound and named as the library; other code at its very addresses is not."""
    stacks, run = profile_command(processes, tmp_path, *overtext(frameless_programs, what))
    assert "at its place" in run.out
    late = Stacks(s for s in stacks if s.frames[-1] in ("[jit]", "plugin_a_spin"))
    if what == "jit":
        chains.assert_all(late, good, LEAST, what)
    # What is looked at first may come before the comparison.
    assert sum(s.count for s in late if good(s)) >= 0.98 * late.total >= LEAST, late.show()


@pytest.mark.parametrize("what, good", [("copy", over_copy), ("jit", over_jit)])
def test_memory_that_was_in_place_of_a_library(processes, frameless_programs, tmp_path, what, good):
    """The same, seen by what is mapped and not by how it came about."""
    process = processes.start(*overtext(frameless_programs, what))
    process.wait_for_output("at its place")
    judge(processes, tmp_path, process.pid, good)


# Processes that come and go

def test_processes_of_twenty_milliseconds(processes, programs, frameless_programs, tmp_path):
    tiny = frameless_programs("ftiny")["ftiny"]
    stacks, run = profile_command(processes, tmp_path, programs["shortlived"], 4, tiny)
    spins = Stacks(s for s in stacks.having("tiny_spin") if s.frames[0] == "ftiny")
    assert spins.total >= 0.7 * cpu_seconds(run) * RATE > 100, f"{run.out}\n{stacks.show()}"
    exact = [s for s in spins if situations.exactly("main", "tiny_main", "tiny_spin")(s)]
    assert sum(s.count for s in exact) >= 0.98 * spins.total, spins.show()


def test_child_that_never_execs(processes, frameless_programs, tmp_path):
    path = tmp_path / "out.folded"
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", RATE, "-d", 3, "-o", path, "--",
                        frameless_programs("fforker")["fforker"], 2)
    assert run.popen.returncode == 0, run.err
    spins = folded.parse(path.read_text()).having("child_spin")
    chains.assert_all(spins, situations.exactly("main", "fork_point", "in_child", "child_spin"), LEAST, "child")


@pytest.mark.parametrize("start", [(), ("setarch", "-R")], ids=["moved", "not-moved"])
def test_process_that_is_another_program_every_few_milliseconds(processes, frameless_programs, tmp_path, start):
    """Both programs have the same addresses; without randomisation so have their libraries and stacks."""
    if start and not shutil.which(start[0]):
        pytest.skip(f"no {start[0]}")
    built = frameless_programs("freexec-a", "freexec-b")
    stacks, _ = profile_command(processes, tmp_path, *start, built["freexec-a"], built["freexec-b"], SECONDS, rate=997)
    stacks = Stacks(s for s in stacks if s.frames[0].startswith("freexec"))
    for letter in "ab":
        assert stacks.having(f"spin_{letter}").total >= LEAST, stacks.show()
    assert_whole(stacks, lambda s: any(situations.exactly("main", f"outer_{x}", f"spin_{x}")(s) for x in "ab"))


def test_exec_changes_the_tables_at_once(processes, frameless_programs, tmp_path):
    built = frameless_programs("fexecer", "fexeced")
    stacks, _ = profile_command(processes, tmp_path, built["fexecer"], 1, built["fexeced"])
    chains.assert_all(stacks.having("before_exec"), situations.exactly("main", "before_exec"), LEAST, "before")
    chains.assert_all(stacks.having("after_exec"), situations.exactly("main", "after_exec"), LEAST, "after")
