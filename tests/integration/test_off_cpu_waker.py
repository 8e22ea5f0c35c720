# SPDX-License-Identifier: Apache-2.0
"""Who ends waits: behind the wait's innermost frame its name, and its stack from the innermost frame on."""
import os
import re

import pytest

from harness import folded, paths, pprof
from harness.agent import config
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"
ROUNDS = 60
# Of what the program says.
WITHIN = 0.05


def profile(processes, path, *arguments):
    run = processes.start(paths.XAGENT, "profile", "-e", "off_cpu", "-o", path, *arguments)
    assert run.wait(90) == 0, run.err
    return run


def of_waker(frames):
    """What follows the frame that tells who it was, with that frame; nothing where there is none."""
    at = [i for i, frame in enumerate(frames) if frame.startswith("[woken ")]
    assert len(at) <= 1, frames
    return frames[at[0]:] if at else ()


def wakers(stacks, name):
    """Of waits in the function: the waker's frames → nanoseconds. The part that it could have run is nobody's."""
    found = {}
    for stack in stacks.having(name):
        waker = of_waker(stack.frames)
        assert not (waker and "[ready]" in stack.frames), stack
        if waker:
            found[waker] = found.get(waker, 0) + stack.count
    return found


def assert_ended_by(stacks, waits, comms, wakes, outer):
    """Waits in the function were ended by `wakes`, which `outer` has called, of a process of that name, but for what the end of the program wakes up."""
    found = wakers(stacks, waits)
    right = {frames: ns for frames, ns in found.items() if wakes in frames}
    assert right and sum(right.values()) > 0.5 * sum(found.values()), (waits, found)
    assert {frames[0] for frames in found} <= {f"[woken by {comm}]" for comm in comms}, (waits, found)
    for frames in right:
        # Upside down: from the kernel's function that wakes up out to the first one of the program.
        assert frames[1] == "try_to_wake_up" and frames.index(wakes) < frames.index(outer) < frames.index("main"), frames


def test_who_ends_a_wait(processes, programs, tmp_path):
    """A lock and a pipe, by another thread; a pipe, by another process; a sleep, by a timer."""
    profile(processes, tmp_path / "f", "-f", "folded", "--off-cpu-waker", "--", programs["waker"], str(ROUNDS))
    stacks = folded.parse((tmp_path / "f").read_text())
    assert_ended_by(stacks, "on_sem", {"waker"}, "wake_sem", "wake_all")
    assert_ended_by(stacks, "on_own_pipe", {"waker"}, "wake_pipe", "wake_all")
    # It has another name once it has been looked at.
    assert_ended_by(stacks, "on_others_pipe", {"waker", "elsewhere"}, "wake_pipe", "wake_from_elsewhere")
    timers = wakers(stacks, "on_timer")
    assert timers, stacks.show()
    for frames in timers:
        assert frames[0] == "[woken by interrupt]" and frames[1] == "try_to_wake_up", frames
        # And nothing of what was interrupted.
        assert "interrupt" in frames[-1] or "irq" in frames[-1], frames
    # What is woken up is the leaf, for who asks where time was waited.
    assert not [s for s in stacks if s.frames[-1].startswith("[woken ")], stacks.show()


def test_sums_are_the_same(processes, programs, tmp_path):
    """Each wait lasts as long as without the option (test_off_cpu_reason.py)."""
    run = profile(processes, tmp_path / "p.pb.gz", "--off-cpu-waker", "--", programs["reasons"], "8")
    found = pprof.parse((tmp_path / "p.pb.gz").read_bytes())
    own = {line.split()[0]: int(line.split()[1]) for line in run.out.splitlines()}
    mine = [s for s in found.samples if "on_poll" in s.frames]
    assert abs(sum(s.values[0] for s in mine) / own["on_poll"] - 1) < WITHIN, (own, mine)
    assert any(of_waker(s.frames) for s in mine), mine


def test_wakers_that_are_gone(processes, programs, tmp_path):
    """A process that ends right after it has woken up another one: whatever can be told of its stack, nobody else is named."""
    profile(processes, tmp_path / "f", "-f", "folded", "--off-cpu-waker", "--", programs["waker"], "ends", "150")
    stacks = folded.parse((tmp_path / "f").read_text())
    found = {frames: ns for frames, ns in wakers(stacks, "end_at_once").items() if "anon_pipe_write" in frames or "pipe_write" in frames}
    assert [frames for frames in found if "wake_and_end" in frames], stacks.show()
    assert {frames[0] for frames in found} == {"[woken by waker]"}, found


def test_line_of_top(processes, programs):
    """Beside what was waited for; a waker is no function."""
    waker = processes.start(programs["waker"], "600")
    run = processes.run(paths.XAGENT, "top", "-e", "off_cpu", "--off-cpu-waker", "-p", waker.pid, "-i", "1", "-d", "2.5", "-n", "200")
    assert run.popen.returncode == 0, run.err
    line = re.findall(r"^by: (.*)$", run.out, re.M)[-1]
    shares = {name: float(share) for name, share in re.findall(r"([^,]+?) ([\d.]+)%(?:, )?", line)}
    assert {"waker", "interrupt"} <= set(shares) and all(5 < shares[name] < 80 for name in ("waker", "interrupt")) and sum(shares.values()) <= 100.5, line
    assert "[woken" not in run.out and "wake_all" in run.out, run.out
    waker.end()


def agent_config(url, waker):
    return config(url, interval="1s", off_cpu_waker=waker).replace("\n\tsample_rate", "\n\tevents {\n\t\toff_cpu {}\n\t}\n\tsample_rate", 1)


def balance(m):
    """What was received of wakers is somewhere; no more are kept than there is room for."""
    left = m.agent("wakers_received") - m.agent("wakers_joined") - m.agent("wakers_unused") - m.agent("wakers_malformed")
    counts = {name: m.value(f"xagent_kernel_{name}_total", event="off_cpu") for name in ("ticks", "emitted", "idle", "filtered", "lost")}
    assert counts["ticks"] == sum(counts.values()) - counts["ticks"] > 0, counts
    assert 0 <= left <= 1024 and m.agent("wakers_malformed") == 0, left


def test_of_an_agent(start_agent, standin, processes, programs):
    """Under a flood of wake-ups: each stack of a waker ends in one counter, each hit of the event too; labels are those of who has waited."""
    agent = start_agent(agent_config(standin.url, True)).wait_ready()
    run = processes.start(programs["waker"], "flood", "4" if FULL else "1.5")
    assert run.wait(60) == 0 and int(run.out) > 100, run.out

    def with_wakers():
        return [(p, s) for p in standin.pushes() if p.labels["__name__"] == "offcpu" for s in p.profile.samples if of_waker(s.frames)]
    wait_until(lambda: [s for _, s in with_wakers() if "flood_back" in s.frames], 30, "waits with wakers are pushed")
    m = agent.metrics()
    balance(m)
    assert m.agent("wakers_joined") > 0 and m.agent("wakers_missing") < m.kernel("emitted")
    assert all("waker" in p.labels["service_name"] for p, s in with_wakers() if "flood_back" in s.frames)
    assert agent.stop() == 0


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_off_it_is_not_there(start_agent, standin, processes, programs):
    agent = start_agent(agent_config(standin.url, False)).wait_ready()
    assert processes.start(programs["waker"], "20").wait(30) == 0
    wait_until(lambda: [p for p in standin.pushes() if p.labels["__name__"] == "offcpu"], 20, "waits are pushed")
    assert agent.metrics().agent("wakers_received") == 0
    assert not [s for p in standin.pushes() for s in p.profile.samples if of_waker(s.frames)]
    assert agent.stop() == 0
