# SPDX-License-Identifier: Apache-2.0
"""Methods of Java below native code that cannot be walked: the JVM tells where they go on."""
import platform

import pytest

from harness import jvms, pythons
from harness.agent import config
from harness.folded import Stack, Stacks
from harness.processes import wait_until
from harness.standin import stacks_of

pytestmark = [pytest.mark.bpf, pytest.mark.beside, pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64")]

TIERS = {
    "interpreted": ("-Xint",),
    "c1": ("-XX:TieredStopAtLevel=1",),
    "c2": ("-XX:-TieredCompilation",),
    "tiered": (),
}
EVERY = [(name, tier) for name in jvms.NAMES for tier in TIERS] if pythons.FULL else [("host", "tiered")]
RATE, N_WHOLE, N_CHECKED = 499, 50, 500
CLASS = "chains.Poor."
GAP = "[native frames not known]"


@pytest.fixture
def jvm(request):
    found, why = jvms.get(request.param)
    if not found:
        pytest.skip(why)
    return found


def is_whole(frames, own):
    """The program's own methods as far as they go, then what they call; a gap behind each native one that has called something, and nowhere else."""
    methods = [f for f in frames if f.startswith(CLASS)]
    n = len(methods)
    chain = [*own, CLASS + "work"]
    if methods != chain[:n] or any(f.startswith(("[truncated", "[jit", "[unknown", "[hotspot")) for f in frames):
        return False
    for at, frame in enumerate(frames):
        if frame == GAP and (frames[at - 1] != CLASS + "down" or frames[at + 1] != "poor_call"):
            return False
        if frame == "poor_call" and frames[at - 1] != GAP:
            return False
    return True


def stacks(standin, behind=0):
    return Stacks(Stack(frames, n) for frames, n in stacks_of(standin.pushes()[behind:]).items() if any(f.startswith((CLASS, "poor_")) for f in frames))


@pytest.mark.parametrize(("jvm", "tier"), EVERY, indirect=["jvm"])
def test_native_code_that_cannot_be_walked(start_agent, standin, processes, jvm, tier):
    """Down into it three times, and up again, with frame pointers of the caller and with none. The program tells its own stack."""
    java = processes.start(*jvm.command, *TIERS[tier], "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,chains.Poor::*", "-cp", jvm.classes, "chains.Poor", "300",
                           f"{jvm.classes}/{jvms.POOR_LIBRARY}")
    targets = [{"__process_pid__": str(java.pid), "service_name": "java"}]
    agent = start_agent(config(standin.url, interval="1s", rate=RATE, targets=targets, targets_only=True)).wait_ready()
    # Until then the library's table is not loaded, and the agent walks copies of the stack.
    wait_until(lambda: stacks(standin).having(CLASS + "main", GAP).total > N_WHOLE, 60, "its methods are shown")
    n_pushes = len(standin.pushes()) + 1
    wait_until(lambda: stacks(standin, n_pushes).total > N_CHECKED, 60, "more of them are pushed")
    agent.wait_metric(lambda m: m.value("xagent_runtime_stacks_total", runtime="hotspot", result="resumed") > N_WHOLE, 20, "they are counted")
    java.end()
    own = [line for line in java.out.splitlines() if line.startswith(CLASS)]
    assert own == [CLASS + name for name in ("main", "begin", *("down", "up") * 3)]
    found = stacks(standin, n_pushes)
    whole = Stacks(s for s in found if is_whole(s.frames, own))
    # While the JVM maps memory the agent walks a copy of the stack.
    assert whole.total >= 0.99 * found.total, Stacks(s for s in found if s not in whole).show()
    depths = {sum(f == GAP for f in s.frames) for s in whole}
    assert depths >= {1, 2, 3}, whole.show()
