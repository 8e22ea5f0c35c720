# SPDX-License-Identifier: Apache-2.0
"""Many fixture programs that burn at the same time, and one profile of all of them: what each was seen to do."""
import contextlib
import os
import signal
import time
from pathlib import Path

from . import folded, paths
from .processes import wait_until

# Longer than any test looks; they are killed before.
SECONDS = 120
RATE = 997
# What each program must have used before a profile of them ends: some 350 samples, on however busy a machine.
ENOUGH_CPU_SECONDS = 0.35
TICKS = os.sysconf("SC_CLK_TCK")
AUTOGROUP = Path("/proc/self/autogroup")


def start(processes, programs, announce=" ", **options):
    """Start them all, each a list of arguments, and wait until each has said that it burns; the processes."""
    started = [processes.start(*argv, **options) for argv in programs]
    for process in started:
        process.wait_for_output(announce)
    return started


def cpu_seconds(pid):
    """What a process and its threads have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def before_all_others():
    """The programs want every CPU there is, and would keep the agent from reading their tables. Where each session has its own share of the CPUs (autogroup), a
    nice value counts among those of the session only, and the session has one of its own."""
    with contextlib.suppress(OSError):
        os.nice(-20)
        AUTOGROUP.write_text("-20")


def is_sampling(pid):
    """The events of a profiler are there. Until then it loads its programs, for seconds on a busy machine."""
    folder = f"/proc/{pid}/fd"
    with contextlib.suppress(FileNotFoundError):
        return any(os.readlink(f"{folder}/{name}") == "anon_inode:[perf_event]" for name in os.listdir(folder))
    return False


def profile(processes, directory, pids, enough=ENOUGH_CPU_SECONDS, rate=RATE):
    """comm → Stacks (user half only) of these processes, for so long that each has used CPU time enough."""
    path = directory / f"burning-{len(processes.all)}.folded"
    run = processes.start(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", rate, "-d", SECONDS, "-o", path,
                          "-p", ",".join(map(str, pids)), preexec_fn=before_all_others)
    wait_until(lambda: not run.running() or is_sampling(run.pid), SECONDS, "it samples")
    until = {pid: cpu_seconds(pid) + enough for pid in pids}
    wait_until(lambda: not run.running() or all(cpu_seconds(pid) >= until[pid] for pid in pids), SECONDS, "all have burned")
    time.sleep(0.1)
    if run.running():
        run.send(signal.SIGINT)
    assert run.wait(30) == 0, run.err
    return by_process(folded.parse(path.read_text()))


def by_process(stacks):
    result = {}
    for stack in stacks:
        result.setdefault(stack.frames[0], folded.Stacks()).append(stack)
    return result


def profile_running(processes, directory, programs, enough=ENOUGH_CPU_SECONDS, **options):
    """Start the programs, profile them, end them; comm → Stacks."""
    started = start(processes, programs, **options)
    stacks = profile(processes, directory, [p.pid for p in started], enough)
    for process in started:
        assert process.running(), f"{process.argv} ended with {process.popen.returncode}: {process.err}"
        process.end()
    return stacks


def comm(name):
    """As the kernel cuts it."""
    return os.path.basename(name)[:15]
