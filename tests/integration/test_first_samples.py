# SPDX-License-Identifier: Apache-2.0
"""
The first samples of a thread that runs on one stack and was called from another, or from two: nobody knows the process yet, so all of them have to be in what the
kernel half copies.
"""
import pytest

from harness import folded, paths

pytestmark = pytest.mark.bpf

TOO_SHORT = "[truncated: stack copy too short]"
# Each begins with samples of a process that is not known: one or two, and there is nothing else to be seen in them.
RUNS = 10
# None knows of another: each has its own program, a CPU long.
AT_ONCE = 2
SECONDS = 1
# What is not known of a stack at the instruction that leaves it. Without the second stack it is one sample of fifty, without the third one of a thousand.
SHARE_CUT = 0.003
PROGRAMS = {
    "alternate": ("fsignals", "alternate"),
    "inner": ("fsignals", "inner"),
    "fault": ("fsignals", "fault"),
    "cgo": ("go-cgo",),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_samples_are_whole(processes, frameless_programs, tmp_path, name):
    program, *arguments = PROGRAMS[name]
    built = frameless_programs(program)
    if program not in built:
        pytest.skip(f"{program} could not be built")
    total, cut = 0, folded.Stacks()
    for _ in range(RUNS // AT_ONCE):
        outputs = [tmp_path / f"folded{i}" for i in range(AT_ONCE)]
        runs = [processes.start(paths.XAGENT, "profile", "-U", "-f", "folded", "-o", output, "--", built[program], SECONDS, *arguments)
                for output in outputs]
        for run, output in zip(runs, outputs):
            assert run.wait(60) == 0, run.err
            stacks = folded.parse(output.read_text())
            total += stacks.total
            cut.extend(stacks.having(TOO_SHORT))
    assert total >= 20 * RUNS
    assert cut.total <= SHARE_CUT * total, f"{cut.total} of {total}\n{cut.show()}"
