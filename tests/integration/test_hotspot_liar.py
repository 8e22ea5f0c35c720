# SPDX-License-Identifier: Apache-2.0
"""A program that says that it is the JVM, and has tables without end, lengths of 2^63, memory that is not there: native frames, or a reason, and nothing else."""
import platform

import pytest

from harness import folded, paths, pythons
from harness.agent import config

pytestmark = [pytest.mark.bpf, pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64")]

TOLD = "told.Liar.told"
OTHER = "told.Liar.other"
STUB = "StubRoutines (liar)"
UNREAD = "[hotspot: frames not readable]"
UNNAMED = "[hotspot: name not readable]"
CODE = "[jit]"
# What it lies about, and what stands for its method then. CODE alone: its code is that of no runtime.
LIES = {
    "nothing": TOLD,
    "scopes": TOLD,
    "places": TOLD,
    "method": UNREAD,
    "constants": UNREAD,
    "pool": UNREAD,
    "index": UNREAD,
    "class": UNNAMED,
    "length": UNNAMED,
    "segments": CODE,
    "heaps": CODE,
    "bounds": CODE,
    "reversed": CODE,
    "frame": CODE,
}
DEFAULT = ("scopes", "index")
# What its stacks are counted as: a name that cannot be read is told in its place.
COUNTED = {TOLD: "walked", UNNAMED: "walked", UNREAD: "unreadable", CODE: "idle"}
MOST_FRAMES = 1024


def stacks_of(processes, programs, tmp_path, lie):
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", "299", "-o", tmp_path / "o", "--", "sh", "-c",
                        f"timeout 1.5 {programs['liar_hotspot']} {lie}; true", seconds=60)
    assert run.popen.returncode == 0, run.err
    return folded.parse((tmp_path / "o").read_text())


@pytest.mark.parametrize("lie", LIES if pythons.FULL else DEFAULT)
def test_lie(processes, programs, tmp_path, lie):
    stacks = stacks_of(processes, programs, tmp_path, lie).having("lie_spin", "main")
    told = (CODE,) if LIES[lie] == CODE else (STUB,) + (LIES[lie],) * 3
    chains = {s.frames[s.frames.index("lie_spin") + 1:] for s in stacks}
    # Before its file was looked at it is any program; and it calls three times before it stays where it is.
    assert chains <= {told[:n] for n in range(5)} | {(CODE,)}, stacks.show()
    as_told = folded.Stacks(s for s in stacks if s.frames[-len(told):] == told)
    assert as_told.total >= 0.7 * stacks.total and stacks.total > 20, stacks.show()


@pytest.mark.parametrize("how", ["freed", "taken"])
def test_reused(processes, programs, tmp_path, how):
    """What was freed and has its number still is not what lies there: what is remembered of its callers' addresses is forgotten."""
    stacks = stacks_of(processes, programs, tmp_path, how)
    before, after = stacks.having("lie_spin", "main"), stacks.having("reused_spin", "main")
    assert folded.Stacks(s for s in before if s.frames[-3:] == (TOLD,) * 3).total > 20, stacks.show()
    assert folded.Stacks(s for s in after if s.frames[-3:] == (OTHER,) * 3).total > 20, stacks.show()
    assert not [s for s in after if TOLD in s.frames], after.show()


def test_endless_stack(processes, programs, tmp_path):
    stacks = stacks_of(processes, programs, tmp_path, "deep")
    deep = folded.Stacks(s for s in stacks if TOLD in s.frames)
    assert deep.total > 20 and all(len(s.frames) <= MOST_FRAMES and "[truncated: too deep]" in s.frames for s in deep), deep.show(1)


@pytest.mark.parametrize("lie", LIES if pythons.FULL else DEFAULT[1:])
def test_counted(start_agent, standin, processes, programs, lie):
    """Each stack has one result, and almost all the same: before its file is looked at it is none of the JVM's."""
    liar = processes.start(programs["liar_hotspot"], lie)
    targets = [{"__process_pid__": str(liar.pid), "service_name": "liar"}]
    agent = start_agent(config(standin.url, interval="1s", rate=499, targets=targets, targets_only=True)).wait_ready()
    expected = COUNTED[LIES[lie]]
    metrics = agent.wait_metric(lambda m: m.value("xagent_runtime_stacks_total", runtime="hotspot", result=expected) > 300, 20, f"{expected} is counted")
    found = {labels["result"]: n for labels, n in metrics.series("xagent_runtime_stacks_total") if labels["runtime"] == "hotspot"}
    assert found[expected] >= 0.9 * sum(found.values()), found
