# SPDX-License-Identifier: Apache-2.0
"""Reads `xagent inspect stack PID`: "thread TID NAME", then "#N  0xPC function (object)" a frame, leaf first, then perhaps "[reason]"."""
import re
from typing import NamedTuple

from . import paths

THREAD = re.compile(r"^thread (\d+) (.*)$")
FRAME = re.compile(r"^#(\d+)\s+0x([0-9a-f]+)\s+(.*?)(?: \(([^()]*)\))?$")
REASON = re.compile(r"^\[.*\]$")


class Frame(NamedTuple):
    pc: int
    name: str
    object: str


class Thread(NamedTuple):
    tid: int
    name: str
    frames: list  # leaf first
    reason: str   # why the walk went no further; empty at the outermost frame

    @property
    def names(self):
        return tuple(f.name for f in self.frames)

    def show(self):
        lines = [f"#{i:<3} {f.pc:#x} {f.name} ({f.object})" for i, f in enumerate(self.frames)]
        return "\n".join([f"thread {self.tid} {self.name}", *lines, self.reason])


def parse(text):
    """TID → Thread. Every line must be one that the command's text promises."""
    threads = {}
    current = None
    for line in filter(None, map(str.strip, text.splitlines())):
        thread, frame = THREAD.match(line), FRAME.match(line)
        if thread:
            current = Thread(int(thread[1]), thread[2], [], "")
        elif frame:
            assert current and not current.reason and int(frame[1]) == len(current.frames), f"{line!r} in:\n{text}"
            current.frames.append(Frame(int(frame[2], 16), frame[3], frame[4] or ""))
        else:
            assert REASON.match(line) and current, f"{line!r} in:\n{text}"
            current = current._replace(reason=line)
        threads[current.tid] = current
    return threads


def stacks(processes, pid):
    """The present stacks of all threads of a process."""
    run = processes.run(paths.XAGENT, "inspect", "stack", pid, seconds=20)
    assert run.popen.returncode == 0, run.err
    return parse(run.out)
