# SPDX-License-Identifier: Apache-2.0
"""Many interpreters: fifty a second that live for twenty milliseconds, and a hundred at once. Each stack of theirs is walked, and no sample is lost."""
import subprocess
import time

import pytest

from harness import pythons
from harness.agent import config
from harness.burning import before_all_others
from harness.folded import contains_run
from harness.processes import wait_until
from harness.standin import stacks_of

pytestmark = pytest.mark.bpf

COMMAND = (*pythons.get("host 3")[0].command, "-S", "-E")
RATE = 499
BRIEF_S, BRIEF_A_SECOND, N_BRIEF = 0.02, 50, 250
N_AT_ONCE, AT_ONCE_S = 100, 6
SERVICE = "ours"
# What interprets: where its functions are known they stand in its place.
LOOP = "_PyEval_EvalFrameDefault"

# By its own CPU time, so that it has as many ticks on a busy machine.
BRIEF = f"""
import time
def brief(n):
    return sum([i * i for i in range(n)])
def repeat_brief(end):
    while time.process_time() < end:
        brief(20000)
repeat_brief(time.process_time() + {BRIEF_S})
"""

# A function of a name of its own each, for a hundredth of the time.
ONE_OF_MANY = """
import sys, time
number, seconds = int(sys.argv[1]), float(sys.argv[2])
exec("def work_%d(end):\\n    while time.process_time() < end: sum(range(50))\\n" % number)
work = globals()["work_%d" % number]
last = time.time() + seconds
while time.time() < last:
    work(time.process_time() + 0.008)
    time.sleep(0.8)
"""


@pytest.fixture
def agent(start_agent, standin, processes, container):
    # The interpreters want every CPU there is, and would keep the agent from reading what the kernel tells of them.
    started = start_agent(config(standin.url, interval="1s", rate=RATE, **container.only(SERVICE) | {"targets_only": False},
                                 default_target={"service_name": "others"}), preexec_fn=before_all_others).wait_ready()
    # The interpreter's file is looked at when it is first mapped.
    processes.run(*COMMAND, "-c", "import time; time.sleep(1)")
    return started


def of_ours(standin):
    """frames → ticks of the interpreters that a test has started."""
    return stacks_of(standin.pushes(service_name=SERVICE))


def is_function(frame):
    return ".<module>" in frame or "importlib" in frame or frame.startswith("__main__.")


def assert_none_lost(agent, standin):
    """No sample of this host, and of the interpreters that the test has started no function: none is interpreting without one. Where the kernel's records of
    processes are lost (sideband_lost) they are those of the whole host; what it leads to of ours is in their stacks."""
    metrics = agent.metrics()
    assert metrics.kernel("lost") == 0 and metrics.dropped_samples() == 0
    for name in ("code_names_dropped", "process_evictions"):
        assert metrics.agent(name) == 0, name
    ours = of_ours(standin)
    walked = {frames: n for frames, n in ours.items() if any(map(is_function, frames))}
    bare = {frames: n for frames, n in ours.items() if LOOP in frames and frames not in walked}
    print(f"{total(ours)} samples, {total(walked)} with functions, {total(bare)} without")
    assert total(bare) <= 0.001 * total(walked), bare
    # Which are of those that the agent says it has walked.
    assert metrics.value("xagent_runtime_stacks_total", runtime="python", result="walked") >= total(walked)


def having(stacks, name):
    return {frames: n for frames, n in stacks.items() if name in frames}


def total(stacks):
    return sum(stacks.values())


def functions(standin):
    return {f for frames in of_ours(standin) for f in frames}


def spawn(command, n, a_second, container):
    """Start n of it, that many a second where the machine can."""
    begin, running = time.monotonic(), []
    for i in range(n):
        time.sleep(max(0, begin + i / a_second - time.monotonic()))
        running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=container.enter))
    codes = {p.wait(60) for p in running}
    assert codes == {0}
    return n / (time.monotonic() - begin)


def test_fifty_a_second(agent, standin, container, tmp_path):
    program = tmp_path / "brief.py"
    program.write_text(BRIEF)
    a_second = spawn((*COMMAND, program), N_BRIEF, BRIEF_A_SECOND, container)
    least = 0.8 * N_BRIEF * BRIEF_S * RATE
    stacks = wait_until(lambda: (found := having(of_ours(standin), "__main__.repeat_brief")) and total(found) >= least and found, 20, "their functions are shown")
    brief = having(stacks, "__main__.brief")
    print(f"{a_second:.0f} a second, {total(stacks)} samples of their programs, {total(brief)} of their function")
    assert total(brief) >= 0.95 * total(stacks)
    whole = {frames: n for frames, n in brief.items() if contains_run(frames, ("__main__.<module>", "__main__.repeat_brief", "__main__.brief"))}
    assert total(whole) >= 0.999 * total(brief), set(brief) - set(whole)
    assert_none_lost(agent, standin)


def test_hundred_at_once(agent, standin, processes, container, tmp_path):
    program = tmp_path / "one_of_many.py"
    program.write_text(ONE_OF_MANY)
    for number in range(N_AT_ONCE):
        processes.start(*COMMAND, program, number, AT_ONCE_S + N_AT_ONCE / 25, preexec_fn=container.enter)
    expected = {f"__main__.work_{number}" for number in range(N_AT_ONCE)}
    wait_until(lambda: expected <= functions(standin), 60, "the function of each is shown")
    assert_none_lost(agent, standin)
