# SPDX-License-Identifier: Apache-2.0
"""A program that says that it is V8, and has strings that are made of themselves, lengths without end, memory that is not there: native frames, or a reason, and nothing else."""
import pytest

from harness import folded, nodes, paths

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

NOT_READABLE = "[v8: name not readable]"
# What it lies about, and what stands for its function then. scope: flags that tell of no name. source: the name is right, and the line is not known.
LIES = {
    "nothing": "told_by_the_liar",
    "cons": NOT_READABLE,
    "thin": NOT_READABLE,
    "sliced": NOT_READABLE,
    "external": NOT_READABLE,
    "length": NOT_READABLE,
    "scope": "<anonymous> (liar.js)",
    "source": "told_by_the_liar",
    "moved": "lie_builtin",
    "type": "lie_builtin",
    "function": "lie_builtin",
}
DEFAULT = ("nothing", "cons", "function")
MOST_FRAMES = 1024


def stacks_of(processes, programs, tmp_path, lie):
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", "299", "-o", tmp_path / "o", "--", "sh", "-c",
                        f"timeout 1.5 {programs['liar_v8']} {lie}; true", seconds=60)
    assert run.popen.returncode == 0, run.err
    return folded.parse((tmp_path / "o").read_text())


@pytest.mark.parametrize("lie", LIES if nodes.FULL else DEFAULT)
def test_lie(processes, programs, tmp_path, lie):
    stacks = stacks_of(processes, programs, tmp_path, lie).having("lie_spin", "main")
    chains = {s.frames[s.frames.index("lie_spin") + 1:] for s in stacks}
    # Before its file was looked at it is any program.
    assert chains <= {(LIES[lie],) * n for n in range(4)} | {("lie_builtin",) * n for n in range(4)}, stacks.show()
    as_told = folded.Stacks(s for s in stacks if s.frames[-3:] == (LIES[lie],) * 3)
    assert as_told.total >= 0.7 * stacks.total and stacks.total > 20, stacks.show()


def test_endless_stack(processes, programs, tmp_path):
    stacks = stacks_of(processes, programs, tmp_path, "deep")
    deep = stacks.having("told_by_the_liar")
    assert deep.total > 20 and all(len(s.frames) <= MOST_FRAMES and "[truncated: too deep]" in s.frames for s in deep), deep.show(1)
