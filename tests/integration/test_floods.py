# SPDX-License-Identifier: Apache-2.0
"""
A process of an unprivileged user makes the kernel tell of it as fast as it can. Others are seen as ever: one that burns, and the processes of
a millisecond, of which nothing is known but what the kernel has told.
"""
import os
import shutil
import subprocess

import pytest

from harness import burning, chains, folded, paths, privileges
from harness.agent import config
from harness.folded import Stacks

pytestmark = pytest.mark.bpf

NOBODY = 65534
RATE = 499
SECONDS = 60
TICKS = 2000
# One in fifty may be cut, of programs that live for milliseconds: while a CPU's ring overflows nobody is told of their birth. 0.9 to 1.2 in a
# hundred were, at worst.
LEAST_WHOLE = 0.98
# Of each victim's, at least.
LEAST = 300


@pytest.fixture
def flood(open_directory):
    reason = privileges.why_no_tool("gcc")
    if reason:
        pytest.skip(reason)
    path = open_directory / "flood"
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", f"-I{paths.TOP}", "-o", path, paths.TESTS / "fixtures" / "flood.c"], check=True)
    path.chmod(0o755)
    return path


@pytest.fixture
def victims(processes, programs, frameless_programs, tmp_path):
    """Starts them; their names."""
    def start():
        short = tmp_path / "truest"
        shutil.copy("/bin/true", short)
        processes.start(frameless_programs("fchain")["fchain"], 2 * SECONDS)
        processes.start(programs["spawner"], 2 * SECONDS, 300, short)
        return "fchain", "truest"
    return start


def stacks_by_name(pushes):
    stacks = {}
    for push in pushes:
        name = push.labels["service_name"]
        stacks.setdefault(name, Stacks()).extend(
            folded.Stack((name, *s.frames), s.values[0] // push.profile.period) for s in push.profile.samples)
    return stacks


def cut_of(stacks):
    return Stacks(s for s in stacks if len(s.frames) > 1 and chains.is_reason(s.frames[1]))


def is_whole(stacks):
    return cut_of(stacks).total <= max(1, (1 - LEAST_WHOLE) * stacks.total)


# Whether that process can be told from others by what it does, and its events left out.
@pytest.mark.parametrize("kind, is_blamed", [("map", True), ("many", True), ("rename", False), ("fork", False)])
def test_flood(start_agent, standin, processes, flood, victims, kind, is_blamed, capsys):
    agent = start_agent(config(standin.url, interval="1s", rate=RATE)).wait_ready()
    names = victims()
    flooder = processes.start(flood, kind, min(os.sched_getaffinity(0)), 2 * SECONDS, user=NOBODY, group=NOBODY, extra_groups=[])
    flooder.wait_for_output("floods")

    def wait_ticks(n):
        begin = agent.metrics().kernel("ticks")
        return agent.wait_metric(lambda m: m.kernel("ticks") >= begin + n, SECONDS, f"{n} ticks during the flood")
    # Within a second there are larger rings.
    before, spent = wait_ticks(RATE * len(os.sched_getaffinity(0)) * 2), burning.cpu_seconds(agent.process.pid)
    n_pushes, burnt, stacks = len(standin.pushes()), burning.cpu_seconds(flooder.pid), {}
    while flooder.running() and any(name not in stacks or stacks[name].total < LEAST for name in names):
        m = wait_ticks(TICKS)
        stacks = stacks_by_name(standin.pushes()[n_pushes:])
    spent, burnt = burning.cpu_seconds(agent.process.pid) - spent, burning.cpu_seconds(flooder.pid) - burnt
    assert flooder.running(), {n: s.total for n, s in stacks.items()}
    shares = {name: 1 - cut_of(stacks[name]).total / stacks[name].total for name in names}
    counts = {name: m.agent(name) - before.agent(name) for name in ("mapping_floods", "sideband_left_out", "sideband_lost")}
    with capsys.disabled():
        print(f"\n    {kind}: whole {', '.join(f'{n}: {100 * s:.2f} % of {stacks[n].total}' for n, s in shares.items())}; "
              f"{', '.join(f'{k} {v:.0f}' for k, v in counts.items())}; the agent: {spent:.2f} s of CPU while the flood took {burnt:.2f}")
    assert all(is_whole(stacks[name]) for name in names), "\n".join(cut_of(stacks[name]).show(8) for name in names)
    assert (counts["mapping_floods"] > 0) == is_blamed, counts
    assert (counts["sideband_left_out"] > 0) == is_blamed, counts
