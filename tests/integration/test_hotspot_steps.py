# SPDX-License-Identifier: Apache-2.0
"""Each instruction of methods, of the stubs and adapters between them and of the interpreter, one after another: the callers are always told."""
import platform
import re

import pytest

from harness import jvms, pythons, stepping
from harness.agent import config
from harness.folded import Stack, Stacks
from harness.processes import wait_until
from harness.standin import stacks_of

pytestmark = [
    pytest.mark.bpf, pytest.mark.beside,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64"),
    pytest.mark.skipif(not pythons.FULL, reason="only in the full matrix"),
]

# Each step makes two events: its own signal, and that of who waits for it; each of them is a sample, or counts twice.
N_STEPS, EVENTS = 20000, 2
# The first ones of an event come before the agent has what it takes.
N_FIRST = 50
MOST_COPIED = 0.0005
STEPS = f"""
	events {{
		tracepoint "steps" {{
			event       = "{stepping.EVENT}"
			sample_rate = 10000
		}}
	}}
	sample_rate"""
TIERS = {
    "interpreted": ("-Xint",),
    "c1": ("-XX:TieredStopAtLevel=1",),
    "c1_profiled": ("-XX:TieredStopAtLevel=3",),
    "c2": ("-XX:-TieredCompilation",),
    "frame_pointers": ("-XX:-TieredCompilation", "-XX:+PreserveFramePointer"),
}
MAIN, BEGIN, LEAF, MIX, NEXT = (f"chains.Chains.{name}" for name in ("main", "begin", "leaf", "mix", "next"))
EVEN, ODD = "chains.Chains$Even.step", "chains.Chains$Odd.step"
CHAIN = (MAIN, BEGIN) + (EVEN, ODD) * 4 + (EVEN, LEAF, MIX)


@pytest.fixture
def jvm(request):
    found, why = jvms.get(request.param)
    if not found:
        pytest.skip(why)
    return found


def is_whole(frames):
    """From the thread's first function on: the chain, as far as it goes, and next() beside what a step calls."""
    if any(re.match(r"\[(truncated|jit|unknown|hotspot)", f) for f in frames) or MAIN not in frames:
        return False
    own = tuple(f for f in frames if f.startswith("chains."))
    return own == CHAIN[:len(own)] or (own[-1] == NEXT and own[:-1] == CHAIN[:len(own) - 1])


def steps_of(standin, behind=0):
    return Stacks(Stack(frames, n) for frames, n in stacks_of(p for p in standin.pushes()[behind:] if p.labels["__name__"] == "steps").items())


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("jvm", jvms.NAMES, indirect=True)
def test_every_instruction(start_agent, standin, processes, jvm, tier):
    java = processes.start(*jvm.command, *TIERS[tier], "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,chains.Chains*::*", "-cp", jvm.classes,
                           "chains.Chains", "300")
    targets = [{"__process_pid__": str(java.pid), "service_name": "java"}]
    agent = start_agent(config(standin.url, interval="1s", rate=199, targets=targets, targets_only=True).replace("\n\tsample_rate", STEPS, 1)).wait_ready()
    # By its ticks the agent knows the JVM before there is any step.
    wait_until(lambda: sum(n for frames, n in stacks_of(standin.pushes()).items() if MIX in frames or LEAF in frames) > 500, 60, "its methods are shown")
    thread = stepping.thread_of(java.pid, "java")
    stepping.step(thread, N_FIRST)
    wait_until(lambda: steps_of(standin).total >= EVENTS * N_FIRST, 30, "the first steps are pushed")
    n_pushes = len(standin.pushes())
    stepping.step(thread, N_STEPS)
    wait_until(lambda: steps_of(standin, n_pushes).total >= EVENTS * N_STEPS, 30, "all steps are pushed")
    java.end()
    stacks = steps_of(standin, n_pushes)
    other = Stacks(s for s in stacks if not is_whole(s.frames))
    # While the JVM maps memory the agent walks a copy of the stack, without the JVM's frames.
    copied = Stacks(s for s in other if "[jit]" in s.frames and not any(f.startswith(("chains.", "StubRoutines")) for f in s.frames))
    assert other.total == copied.total <= MOST_COPIED * stacks.total, f"{other.total} of {stacks.total}\n{other.show()}"
    assert {LEAF, MIX, EVEN, ODD, BEGIN} <= stacks.frames()
    assert agent.metrics().value("xagent_kernel_thinned_total", event="tracepoint") == 0
