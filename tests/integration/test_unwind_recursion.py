# SPDX-License-Identifier: Apache-2.0
"""
Recursion through frames of every kind, without frame pointers, as every compiler, level and way of linking makes them.

Each stack must show every call, in order, and end where the program began: one frame lost or invented breaks the cycle of names. The
default run has each compiler, level and way of linking at least once; XAGENT_TEST_MATRIX=full has all of them.
"""
import os

import frameless
import pytest

from harness import burning, chains, inspect
from harness.folded import Stack, Stacks
from harness.recursion import deep_stack, frames_of, is_exact, is_on_the_way

pytestmark = pytest.mark.bpf

CHOSEN = [
    ("gcc", "O0", "pie"), ("gcc", "O1", "nopie"), ("gcc", "O2", "stat"), ("gcc", "O3", "spie"), ("gcc", "Os", "nosep"),
    ("clang", "O0", "nohdr"), ("clang", "O1", "gold"), ("clang", "O2", "pie"), ("clang", "O3", "dbgf"), ("clang", "Os", "spie"),
    ("gcc", "O2", "pie"), ("gcc", "O2", "dbgz"), ("gcc", "O2", "dbgl"), ("gcc", "O2", "musl"), ("gcc", "Os", "mstat"),
]
DEEP = [("gcc", "O2", "pie"), ("clang", "O2", "pie"), ("gcc", "O2", "stat")]
FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"
# So few at a time that each gets samples enough.
BATCH = 16
LEAST = 20
# WIRE_MAX_USER_FRAMES: the server cuts there, too.
MOST_FRAMES = 1000


def chosen():
    return list(frameless.matrix()) if FULL else [frameless.variant_name(*v) for v in CHOSEN]


@pytest.fixture
def profiled(processes, frameless_programs, tmp_path):
    """Run these variants with these arguments; name → Stacks."""
    def run(names, *arguments):
        built = frameless_programs(*names)
        result = {}
        for at in range(0, len(names), BATCH):
            batch = [(built[name], burning.SECONDS, *arguments) for name in names[at:at + BATCH] if name in built]
            if batch:
                result |= burning.profile_running(processes, tmp_path, batch, preexec_fn=deep_stack)
        return {name: result.get(burning.comm(name), Stacks()) for name in built}
    return run


def compiler_is_wrong(name, stack):
    """
    gcc's own unwind information is wrong for an instruction or two where step_aligned_dynamic returns: it says that the caller's frame
    pointer lies where the frame pointer points, which is the caller's again. gdb goes astray there, too. Such a stack must say that it is cut.
    """
    return name.startswith("rgcc") and stack.frames[-1] == "step_aligned_dynamic" and chains.is_reason(stack.frames[1])


def wrong(stacks_of, is_right):
    """A line for each variant some of whose stacks are not right, or that was hardly seen."""
    lines = []
    for name, stacks in stacks_of.items():
        stacks = chains.without_early(stacks)
        bad = Stacks(s for s in stacks if not is_right(name, s))
        if bad:
            lines.append(f"{name}: {bad.total} of {stacks.total} samples are wrong, as\n{chains.shorten(bad.show(2), 1000)}")
        elif stacks.total < LEAST:
            lines.append(f"{name}: only {stacks.total} samples")
    return "\n".join(lines)


@pytest.mark.parametrize("shape, depth", [("plain", 5), ("mixed", 30), ("huge", 20), ("aligned", 30), ("arguments", 30)])
def test_every_frame_is_there(profiled, shape, depth):
    frames = frames_of(shape, depth)
    found = wrong(profiled(chosen(), depth, shape), lambda name, s: is_exact(s, frames))
    assert not found, found


@pytest.mark.parametrize("shape, depth", [("mixed", 20), ("huge", 4), ("aligned", 16), ("arguments", 8)])
def test_prologues_and_epilogues(profiled, shape, depth):
    """Ticks that hit frames while they are made and taken away."""
    frames = frames_of(shape, depth)
    stacks_of = profiled(chosen(), depth, shape, "churn")
    found = wrong(stacks_of, lambda name, s: is_on_the_way(s, frames) or compiler_is_wrong(name, s))
    assert not found, found
    excused = {name: sum(s.count for s in stacks if compiler_is_wrong(name, s) and not chains.is_early(s)) for name, stacks in stacks_of.items()}
    many = [name for name, n in excused.items() if n > 0.05 * stacks_of[name].total]
    assert not many, excused
    still = [name for name, stacks in stacks_of.items() if stacks.total == stacks.having("leaf_spin").total]
    assert not still, f"never seen on the way: {still}"


@pytest.mark.parametrize("shape, depth", [("mixed", 200), ("mixed", 900), ("huge", 150), ("aligned", 900)])
def test_depth(profiled, shape, depth):
    names = [frameless.variant_name(*v) for v in DEEP]
    frames = frames_of(shape, depth)
    found = wrong(profiled(names, depth, shape), lambda name, s: is_exact(s, frames))
    assert not found, found


@pytest.mark.parametrize("shape, depth", [("mixed", 30), ("aligned", 900)])
def test_inspect(processes, frameless_programs, shape, depth):
    """One moment of each variant."""
    frames, lines = frames_of(shape, depth), []
    for name, path in frameless_programs(*chosen()).items():
        process = processes.start(path, burning.SECONDS, depth, shape, preexec_fn=deep_stack)
        process.wait_for_output("main")
        thread = inspect.stacks(processes, process.pid)[process.pid]
        stack = Stack((name, *([thread.reason] if thread.reason else []), *reversed(thread.names)), 1)
        # It may still be on its way to the leaf.
        if not is_exact(stack, frames) and not is_on_the_way(stack, frames):
            lines.append(f"{name}: {thread.reason} {';'.join(reversed(thread.names))[:300]}")
        process.end()
    assert not lines, "\n".join(lines)


def test_too_deep_keeps_the_leaf_side(profiled):
    names = [frameless.variant_name(*v) for v in DEEP]
    frames = (*frames_of("mixed", 1500), "leaf_spin")[-MOST_FRAMES:]
    found = wrong(profiled(names, 1500, "mixed"),
                  lambda name, s: s.frames[1].startswith("[truncated: too deep") and s.frames[2:] == frames)
    assert not found, found


def test_chosen_variants_cover_the_matrix():
    for at, words in enumerate((["gcc", "clang"], frameless.LEVELS, frameless.LINKS)):
        assert {v[at] for v in CHOSEN} == set(words)
