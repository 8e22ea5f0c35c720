# SPDX-License-Identifier: Apache-2.0
"""Reads folded stacks: `name;root;…;leaf COUNT` a line."""
from typing import NamedTuple


class Stack(NamedTuple):
    frames: tuple  # the first is the process or service, the last the leaf
    count: int


class Stacks(list):
    """A list of Stack with the questions that tests ask."""

    @property
    def total(self):
        return sum(s.count for s in self)

    def having(self, *names):
        """Those in which each of the names is a frame."""
        return Stacks(s for s in self if all(n in s.frames for n in names))

    def without(self, *names):
        return Stacks(s for s in self if not any(n in s.frames for n in names))

    def having_run(self, *names):
        """Those in which the names follow each other without a gap, from the root on."""
        return Stacks(s for s in self if contains_run(s.frames, names))

    def ending_in(self, *names):
        return Stacks(s for s in self if s.frames[-len(names):] == names)

    def frames(self):
        return {f for s in self for f in s.frames[1:]}

    def show(self, most=15):
        """The most frequent, for the text of a failed assertion."""
        top = sorted(self, key=lambda s: -s.count)[:most]
        return "\n".join(f"{s.count:6d} {';'.join(s.frames)}" for s in top) or "(no stacks)"


def contains_run(frames, names):
    """True when `names` stand in `frames` one after the other."""
    return any(frames[i:i + len(names)] == tuple(names) for i in range(len(frames) - len(names) + 1))


def parse_line(line):
    text, _, count = line.rpartition(" ")
    frames = tuple(text.split(";"))
    if not text or not count.isdigit() or int(count) == 0 or "" in frames:
        raise AssertionError(f"not a folded stack: {line!r}")
    return Stack(frames, int(count))


def parse(text):
    """Every line must be a stack, and none may come twice: tools that sum lines do not care, diffs do."""
    stacks = Stacks(parse_line(line) for line in text.splitlines())
    seen = [s.frames for s in stacks]
    if len(set(seen)) != len(seen):
        raise AssertionError("a stack comes twice:\n" + stacks.show())
    return stacks
