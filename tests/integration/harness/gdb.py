# SPDX-License-Identifier: Apache-2.0
"""gdb as the judge of stacks: it unwinds by the same tables, with none of our code."""
import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from . import privileges

SCRIPT = Path(__file__).with_name("gdb_stacks.py")


class Frame(NamedTuple):
    pc: int      # of callers, the return address
    name: str    # empty where gdb knows none
    kind: str    # "signal" for the frame between a handler and what it has interrupted


class Stack(NamedTuple):
    frames: list  # leaf first
    stop: str     # gdb's words why it went no further; "outermost" is an end that the unwind information marks

    @property
    def names(self):
        return tuple(f.name for f in self.frames)

    def show(self):
        lines = [f"#{i:<3} {f.pc:#x} {f.name or '??'}{' <signal>' if f.kind == 'signal' else ''}" for i, f in enumerate(self.frames)]
        return "\n".join([*lines, f"[{self.stop}]"])


def why_not():
    return privileges.why_no_tool("gdb")


def stacks(pid, program=None, seconds=60):
    """TID → Stack of a process, which is as before when this returns. `program` names its file where /proc does not."""
    environment = {**os.environ, "HOME": "/nonexistent", "DEBUGINFOD_URLS": ""}
    result = subprocess.run(["gdb", "-batch", "-nx", *([str(program)] if program else []), "-p", str(pid), "-x", str(SCRIPT)],
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=seconds, env=environment)
    for line in result.stdout.splitlines():
        if line.startswith("STACKS "):
            return {int(tid): _stack(s) for tid, s in json.loads(line[len("STACKS "):]).items()}
    raise AssertionError(f"gdb said nothing about {pid}:\n{result.stdout[-1000:]}\n{result.stderr[-2000:]}")


def _stack(data):
    """gdb takes a return address of zero for one more frame."""
    frames = [Frame(pc, name or "", kind) for pc, name, kind in data["frames"]]
    stop = data["stop"]
    while len(frames) > 1 and frames[-1].pc == 0:
        frames.pop()
        stop = "a return address of zero"
    return Stack(frames, stop)
