# SPDX-License-Identifier: Apache-2.0
"""An independent count of samples: perf's, while a command runs."""
import collections
import re
import subprocess

from . import privileges

FORK = re.compile(r"PERF_RECORD_FORK\((\d+):\d+\):\((\d+):\d+\)")
LINE = re.compile(r"^\s*(.*?)\s+(\d+)\s*$")


def why_not():
    """None, or why perf cannot count here."""
    reason = privileges.why_no_tool("perf")
    if reason:
        return reason
    # The distribution's wrapper knows only the kernels that it has tools for.
    tried = subprocess.run(["perf", "--version"], capture_output=True, check=False)
    return "perf does not run" if tried.returncode else None


def record(processes, directory, rate, *command, seconds=60):
    """Run a command while perf samples all CPUs; the ended process, and task name → samples of what descends from the command. None where
    perf cannot read what it has written, as it happens when BPF programs of others come and go."""
    data = directory / "perf.data"
    run = processes.run("perf", "record", "-q", "-e", "cpu-clock", "-a", "-F", rate, "-o", data, "--", *command, seconds=seconds)
    script = processes.run("perf", "script", "-i", data, "-F", "comm,pid", "--show-task-events", seconds=seconds)
    data.unlink()
    return run, count_descendants(script.out, command[0]) if script.popen.returncode == 0 else None


def count_descendants(script, program):
    """Samples by name, of the processes that descend from the first one that became `program`; itself left out."""
    first = re.search(rf"PERF_RECORD_COMM exec: {re.escape(task_name(program))}:(\d+)/", script)
    assert first, f"perf has not seen {program} start"
    root = int(first[1])
    wanted, counts = set(), collections.Counter()
    for line in script[first.end():].splitlines():
        fork = FORK.search(line)
        if fork:
            follow(wanted, root, *map(int, fork.groups()))
            continue
        sample = LINE.match(line)
        # Its own readers are tasks that it has forked, too.
        if sample and int(sample[2]) in wanted and sample[1] != "xagent-reader":
            counts[sample[1]] += 1
    return counts


def follow(wanted, root, child, parent):
    """A new process, or a new thread of one, whose pid may have been another's."""
    if child == parent:
        return
    wanted.discard(child)
    if parent == root or parent in wanted:
        wanted.add(child)


def task_name(program):
    """As the kernel cuts it."""
    return str(program).rsplit("/", 1)[-1][:15]
