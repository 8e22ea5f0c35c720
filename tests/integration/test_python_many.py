# SPDX-License-Identifier: Apache-2.0
"""Many interpreters: fifty a second that live for twenty milliseconds, and a hundred at once. Each stack of theirs is walked, and no sample is lost."""
import subprocess
import time

import pytest

from harness import pythons
from harness.agent import config
from harness.folded import contains_run
from harness.processes import wait_until
from harness.standin import stacks_of

pytestmark = pytest.mark.bpf

COMMAND = (*pythons.get("host 3")[0].command, "-S", "-E")
RATE = 499
BRIEF_S, BRIEF_A_SECOND, N_BRIEF = 0.02, 50, 250
N_AT_ONCE, AT_ONCE_S = 100, 6

# By its own CPU time, so that it has as many ticks on a busy machine.
BRIEF = f"""
import time
def brief(n):
    return sum([i * i for i in range(n)])
def repeat_brief(end):
    while time.process_time() < end:
        brief(2000)
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


def results(metrics):
    """What was found of the stacks of Python: result → number."""
    return {labels["result"]: int(n) for labels, n in metrics.series("xagent_runtime_stacks_total") if labels["runtime"] == "python" and n}


def assert_none_lost(metrics, n):
    """n: interpreters that were started. The first millisecond of each, before it has its thread, and its last are native code of no thread of Python's."""
    assert metrics.kernel("lost") == 0 and metrics.dropped_samples() == 0
    for name in ("code_names_dropped", "process_evictions", "sideband_lost"):
        assert metrics.agent(name) == 0, name
    found = results(metrics)
    print(found)
    no_thread = found.pop("no_thread", 0)
    assert no_thread <= n * 0.003 * RATE, no_thread
    # Other programs of this host are among them, whose threads change what is walked.
    assert found["walked"] + found.get("idle", 0) >= 0.999 * total(found), found


def having(stacks, name):
    return {frames: n for frames, n in stacks.items() if name in frames}


def total(stacks):
    return sum(stacks.values())


def functions(standin):
    return {f for frames in stacks_of(standin.pushes()) for f in frames}


def spawn(command, n, a_second):
    """Start n of it, that many a second where the machine can."""
    begin, running = time.monotonic(), []
    for i in range(n):
        time.sleep(max(0, begin + i / a_second - time.monotonic()))
        running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))
    codes = {p.wait(60) for p in running}
    assert codes == {0}
    return n / (time.monotonic() - begin)


def test_fifty_a_second(start_agent, standin, processes, tmp_path):
    program = tmp_path / "brief.py"
    program.write_text(BRIEF)
    agent = start_agent(config(standin.url, interval="1s", rate=RATE)).wait_ready()
    # The interpreter's file is looked at when it is first mapped.
    processes.run(*COMMAND, "-c", "import time; time.sleep(1)")
    a_second = spawn((*COMMAND, program), N_BRIEF, BRIEF_A_SECOND)
    least = 0.8 * N_BRIEF * BRIEF_S * RATE
    stacks = wait_until(lambda: (found := having(stacks_of(standin.pushes()), "__main__.repeat_brief")) and total(found) >= least and found, 20, "their functions are shown")
    brief = having(stacks, "__main__.brief")
    print(f"{a_second:.0f} a second, {total(stacks)} samples of their programs, {total(brief)} of their function")
    assert total(brief) >= 0.95 * total(stacks)
    whole = {frames: n for frames, n in brief.items() if contains_run(frames, ("__main__.<module>", "__main__.repeat_brief", "__main__.brief"))}
    assert total(whole) >= 0.999 * total(brief), set(brief) - set(whole)
    assert_none_lost(agent.metrics(), N_BRIEF)


def test_hundred_at_once(start_agent, standin, processes, tmp_path):
    program = tmp_path / "one_of_many.py"
    program.write_text(ONE_OF_MANY)
    agent = start_agent(config(standin.url, interval="1s", rate=RATE)).wait_ready()
    processes.run(*COMMAND, "-c", "import time; time.sleep(1)")
    for number in range(N_AT_ONCE):
        processes.start(*COMMAND, program, number, AT_ONCE_S + N_AT_ONCE / 25)
    expected = {f"__main__.work_{number}" for number in range(N_AT_ONCE)}
    wait_until(lambda: expected <= functions(standin), 60, "the function of each is shown")
    assert_none_lost(agent.metrics(), N_AT_ONCE)
