# SPDX-License-Identifier: Apache-2.0
"""Under which name a sample goes: before and after an exec, in children that never exec, and where a pid is another process's again."""
import pytest

from harness import folded, paths, situations
from harness.folded import Stacks

pytestmark = pytest.mark.bpf

RATE = 997
LEAST = 50
CANNOT_CHOOSE_PIDS = 77


def profile(processes, tmp_path, *argv, rate=RATE):
    """The stacks (user half) of a command and all that it starts, and how it ended."""
    path = tmp_path / "out.folded"
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", rate, "-o", path, "--", *argv)
    return folded.parse(path.read_text()) if run.popen.returncode in (0, CANNOT_CHOOSE_PIDS) else Stacks(), run


def assert_under(stacks, function, name):
    """The function is seen in processes of that name alone, called by main; so many samples."""
    found = stacks.having(function)
    wrong = Stacks(s for s in found if s.frames[0] != name)
    assert not wrong, f"{wrong.total} of {found.total} samples of {function} under another name:\n{wrong.show()}"
    assert found.having_run("main", function).total >= 0.98 * found.total >= LEAST, stacks.show()
    return found.total


def assert_relay(stacks):
    for letter in "ab":
        assert_under(stacks, f"relay_{letter}_spin", f"relay_{letter}")


def test_exec_keeps_samples_before_and_after_apart(processes, programs, tmp_path):
    """One process that becomes one program, then the other, every five milliseconds."""
    a, b = programs["relay_a"], programs["relay_b"]
    stacks, run = profile(processes, tmp_path, a, 5, 200, b, a)
    assert run.popen.returncode == 0, run.err
    assert_relay(stacks)


def test_pid_of_another_process(processes, programs, tmp_path):
    """Both programs in turn under one pid, five milliseconds each: neither the name nor the mappings of the one before."""
    stacks, run = profile(processes, tmp_path, programs["samepid"], 3, 5, programs["relay_a"], programs["relay_b"])
    if run.popen.returncode == CANNOT_CHOOSE_PIDS:
        pytest.skip("the kernel does not let us choose a pid (CONFIG_CHECKPOINT_RESTORE)")
    assert run.popen.returncode == 0, run.err
    assert int(run.out) > 20
    assert_relay(stacks)


def test_child_that_never_execs_has_its_parents_name(processes, frameless_programs, tmp_path):
    stacks, run = profile(processes, tmp_path, frameless_programs("fforker")["fforker"], 1)
    assert run.popen.returncode == 0, run.err
    spins = stacks.having("child_spin")
    assert spins.total >= LEAST and {s.frames[0] for s in spins} == {"fforker"}, stacks.show()


def test_vfork_child_has_its_parents_name_and_stack(processes, frameless_programs, tmp_path):
    stacks, run = profile(processes, tmp_path, frameless_programs("fvforker")["fvforker"], 1)
    assert run.popen.returncode == 0, run.err
    spins = stacks.having("child_spin")
    assert spins.total >= LEAST and {s.frames[0] for s in spins} == {"fvforker"}, stacks.show()
    good = situations.SITUATIONS["vfork"].good
    assert all(good(s) for s in spins), spins.show()


def test_children_of_a_shell_that_waits(processes, tmp_path):
    """A shell forked in sight that never runs itself: nobody has read what it has mapped. Its subshells are gone within milliseconds."""
    script = ("(i=0; while [ $i -lt 40 ]; do (j=0; while [ $j -lt 3000 ]; do j=$((j + 1)); done); i=$((i + 1)); done); true")
    stacks, run = profile(processes, tmp_path, "/bin/sh", "-c", script)
    assert run.popen.returncode == 0, run.err
    own = Stacks(s for s in stacks if s.frames[0] == "sh" and len(s.frames) > 2)
    unknown = Stacks(s for s in own if "[unknown]" in s.frames)
    assert own.total >= LEAST and unknown.total <= 0.02 * own.total, stacks.show()
