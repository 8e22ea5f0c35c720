# SPDX-License-Identifier: Apache-2.0
"""What a stack must look like from its outermost frame on, and what is wrong with those that do not."""
import re

from .folded import Stacks

# What a stripped libc shows of itself: __libc_start_main's helpers, start_thread, clone3.
LIBC = re.compile(r"^(__libc_start_\w+|_?_?libc_start_main\w*|start_thread|_?_?clone3?|(libc\.so(\.6)?|ld-musl-.*)\+0x[0-9a-f]+)$")


def is_reason(frame):
    """Not a function: why the stack is cut."""
    return frame.startswith("[truncated")


# How stacks end that were sampled before the tables of a process were there. Said, and rare but for the first moments.
EARLY = ("[truncated: unwind table not loaded]", "[truncated: stack copy too short]")
# A program is looked at for a fraction of a second of CPU time from its first sample on. How many stacks of all are complete is what
# test_completeness.py asks.
EARLY_SHARE = 0.5


def is_early(stack):
    return stack.frames[1] in EARLY


def is_complete(stack):
    return not is_reason(stack.frames[1])


def from_function(stack, name):
    """The frames from the first `name` on."""
    return stack.frames[stack.frames.index(name):]


def outside_of(stack, name):
    """The frames that called the first `name`, without the process."""
    return stack.frames[1:stack.frames.index(name)]


def root_of_main(stack):
    """True for a glibc program's stack whose main was called by nothing but the start of the program."""
    outer = outside_of(stack, "main")
    return outer[:1] == ("_start",) and all(LIBC.match(f) for f in outer[1:])


def root_of_thread(stack, entry):
    """True for a stack whose thread was made by glibc."""
    outer = outside_of(stack, entry)
    return bool(outer) and all(LIBC.match(f) for f in outer)


def without_early(stacks):
    """Those that were not sampled too early; these must be few."""
    early = Stacks(s for s in stacks if is_early(s))
    assert early.total <= EARLY_SHARE * stacks.total, f"{early.total} of {stacks.total} samples came too early:\n{shorten(early.show(6))}"
    return Stacks(s for s in stacks if not is_early(s))


def assert_all(stacks, good, least, what):
    """Each stack is good, and there are so many samples."""
    late = without_early(stacks)
    bad = Stacks(s for s in late if not good(s))
    assert not bad, f"{bad.total} of {stacks.total} samples: {what}\n{shorten(bad.show(6))}"
    assert late.total >= least, f"only {late.total} samples: {what}\n{shorten(stacks.show(6))}"


def shorten(text, most=3000):
    return text if len(text) <= most else text[:most] + " …"
