# SPDX-License-Identifier: Apache-2.0
"""Tasks of asyncio that await the one that runs, as frames: as the interpreter itself tells them, frame by frame."""
import json
import subprocess

import pytest

from harness import folded, paths, pythons
from harness.agent import config
from harness.processes import wait_until
from test_python import SEEKS, in_tmp, probed, profiled  # noqa: F401: a fixture

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

TASKS = (paths.TOP / "tests/fixtures/python/tasks.py").read_text()
# Where tasks are is said by a library of its own (3.14) and by the interpreter's file (3.15).
NAMES = ("debian 3.14", "debian 3.15") + tuple(n for n in pythons.NAMES if n.startswith("other"))


@pytest.fixture(params=NAMES, ids=lambda n: n.replace(" ", "_"))
def python(request):
    found, why = pythons.get(request.param)
    if not found:
        pytest.skip(why)
    run = subprocess.run([*found.command, "-c", "import sys; print(sys.version_info >= (3, 14))"], capture_output=True, text=True, check=True)
    if run.stdout.strip() != "True":
        pytest.skip("before 3.14 tasks do not say who awaits them")
    return found


@pytest.mark.parametrize("n_chains, n_links", [(200, 4), (60, 10)])
def test_stacks_are_those_of_the_interpreter(processes, tmp_path, in_tmp, python, n_chains, n_links):  # noqa: F811
    program, _ = python.place(in_tmp("tasks.py"), TASKS)
    report, report_here = python.place(in_tmp("report"))
    profile = profiled(processes, tmp_path / "o.pb.gz", "--lines", "--async-frames", "-F", "10000", "-e", SEEKS, "--", *python.command, program, report,
                       str(n_links), str(n_chains), str(n_links))
    seen = probed(profile)
    told = {number: frames for number, frames in map(json.loads, report_here.read_text().splitlines())}
    assert len(told) == n_chains
    whole = [frames for frames in told.values() if any(f[0] == "__main__.main" for f in frames)]
    assert len(whole) >= 0.4 * n_chains, "chains go up to the first task, but for one in ten"
    for number, frames in told.items():
        assert seen[number] == frames, number


LONG = """
import asyncio, os
fd = os.open("/dev/null", os.O_RDONLY)
def made(n):
    names = {"__name__": "__main__", "os": os, "fd": fd}
    exec("def probe_{}(): os.lseek(fd, 0, 0)".format(n), names)
    return names["probe_{}".format(n)]
def deeper(n, probe):
    deeper(n - 1, probe) if n else probe()
async def child(n):
    deeper(n, made(n))
async def waiting(k, n):
    if k:
        await waiting(k - 1, n)
    else:
        await asyncio.create_task(child(n))
async def main():
    for n in range(80, 140):
        await waiting(30, n)
asyncio.run(main())
"""


def test_chains_behind_long_runs(processes, tmp_path, in_tmp, python):  # noqa: F811
    """A run's first 128 frames are kept while its entry is looked for, those behind them are read once more: the chain may begin, end or lie on either side."""
    program, _ = python.place(in_tmp("long.py"), LONG)
    profile = profiled(processes, tmp_path / "o.pb.gz", "--async-frames", "-F", "10000", "-e", SEEKS, "--", *python.command, program)
    seen = probed(profile)
    for n in range(80, 140):
        names = [f[0].rsplit(".", 1)[-1] for f in seen[n]]
        assert names[1:n + 35] == ["deeper"] * (n + 1) + ["child"] + ["waiting"] * 31 + ["main"], (n, names)
        assert "run_until_complete" in names[n + 35:], (n, names)


BUSY = """
import asyncio, hashlib, sys, time
async def main(end):
    await asyncio.create_task(middle(end))
async def middle(end):
    await inner(end)
async def inner(end):
    await asyncio.gather(child(end), asyncio.sleep(0))
async def child(end):
    await leaf(end)
async def leaf(end):
    while time.process_time() < end:
        work()
        await asyncio.sleep(0)
def work():
    sorted(range(300), key=lambda v: -v)
    hashlib.sha256(BIG).digest()
    sum(i * i for i in range(300))
BIG = bytes(1 << 14)
time.sleep(1)
asyncio.run(main(time.process_time() + float(sys.argv[1])))
"""
AWAITING = ("__main__.main", "__main__.middle", "__main__.inner")
RUNNING = ("__main__.child", "__main__.leaf")


def of_program(stack):
    """Its functions, from the root to the leaf, and that the loop's own are at their place."""
    frames = stack.frames
    loop = frames.index("asyncio.events.Handle._run")
    assert frames.index("__main__.<module>") < loop < min(frames.index(n) for n in AWAITING + RUNNING if n in frames), frames
    return tuple(f for f in frames[:frames.index("__main__.leaf") + 1] if f.startswith("__main__."))


def test_every_timer_tick(processes, tmp_path, in_tmp, python):  # noqa: F811
    """The chain of tasks is the only possible one, wherever the interpreter is interrupted."""
    program, _ = python.place(in_tmp("busy.py"), BUSY)
    stacks = profiled(processes, tmp_path / "o", "-F", "499", "--async-frames", "--", *python.command, program, "3")
    begun = stacks.having("__main__.leaf")
    whole = folded.Stacks(s for s in begun if of_program(s) == ("__main__.<module>", *AWAITING, *RUNNING))
    assert begun.total > 500 and whole.total >= 0.995 * begun.total, begun.show(5)
    # Nowhere else is one of them shown: not in a callback that the loop runs, nor in a task that nobody awaits.
    for name in AWAITING:
        others = stacks.having(name).without("__main__.leaf")
        assert others.total <= 0.02 * stacks.total, others.show(5)


def test_only_on_request(processes, tmp_path, in_tmp, python):  # noqa: F811
    program, _ = python.place(in_tmp("busy.py"), BUSY)
    stacks = profiled(processes, tmp_path / "o", "-F", "199", "--", *python.command, program, "1")
    begun = stacks.having("__main__.leaf")
    assert begun.total > 50
    assert all(of_program(s) == ("__main__.<module>", *RUNNING) for s in begun), begun.show(5)


def test_both_kinds_of_frames_beside_it(processes, tmp_path, in_tmp, python):  # noqa: F811
    program, _ = python.place(in_tmp("busy.py"), BUSY)

    def between(*options):
        """How many native frames lie between the loop's function and those of tasks."""
        stacks = profiled(processes, tmp_path / "o", "-F", "199", "--async-frames", *options, "--", *python.command, program, "1")
        begun = stacks.having("__main__.leaf")
        assert begun.total > 100
        assert begun.having_run(*AWAITING, *RUNNING).total >= 0.99 * begun.total, begun.show(5)
        numbers = [s.frames.index(AWAITING[0]) - s.frames.index("asyncio.events.Handle._run") for s in begun.having(*AWAITING)]
        return max(numbers, key=numbers.count)
    # The interpreter's loop is one of them.
    assert between("--interpreter-frames") > between()


def test_switch_and_its_reload(start_agent, standin, processes, in_tmp, python):  # noqa: F811
    program, _ = python.place(in_tmp("busy.py"), BUSY)
    processes.start(*python.command, program, "60")
    without = config(standin.url, interval="1s", rate=199)
    on_request = without.replace("\n\tsample_rate", "\n\tasync_frames = true\n\tsample_rate", 1)
    assert without != on_request
    agent = start_agent(without).wait_ready()

    def runs():
        return folded.Stacks(s for p in standin.pushes() for s in p.profile.samples)
    wait_until(lambda: runs().having("__main__.leaf"), 20, "the program's functions are shown")
    assert not runs().having("__main__.main", "__main__.leaf")
    agent.config_path.write_text(on_request)
    assert agent.get("/-/reload")[0] == 200
    wait_until(lambda: runs().having_run(*AWAITING, *RUNNING), 20, "those of the tasks that await it, too")


# How often "running" and "waiting" are shown. Honest are one function that runs, two that wait, and one that has called all: it is in the thread's own list. Of a chain
# without end 64 tasks are shown, or 256 coroutines as far as they are those of whole tasks of fifty.
LIES = {
    "honest": (1, 3), "cycle": (1, 65), "itself": (1, 1), "long": (1, 251), "future": (1, 1), "unmapped": (1, 2), "stack": (1, 3), "code": (1, 2),
    "holder": (1, 1), "nameless": (1, 3), "table": (1, 2), "empty": (1, 2), "caller": (1, 3),
}


@pytest.mark.parametrize("program, lie", [("liar_parted", "honest")] + [("liar_tasks", lie) for lie in LIES])
def test_a_program_that_lies(start_agent, standin, processes, programs, program, lie):
    """Chains without end, sets without members, memory that is not there: what is in the thread's own list of frames is shown all the same."""
    text = config(standin.url, interval="1s", rate=499)
    agent = start_agent(text.replace("\n\tsample_rate", "\n\tasync_frames = true\n\tsample_rate", 1)).wait_ready()
    processes.start(programs[program], lie)
    agent.wait_metric(lambda m: m.value("xagent_runtime_stacks_total", runtime="python", result="walked") > 200, 20, "its stacks are walked")

    def lying():
        return folded.Stacks(s for p in standin.pushes() for s in p.profile.samples).having("main", "lie_spin", "running")

    def counts(stack):
        return stack.frames.count("running"), stack.frames.count("waiting")
    wait_until(lambda: any(counts(s) == LIES[lie] for s in lying()), 20, "its functions are shown")
    for stack in lying():
        # What a library tells is known some moments after the program: until then the list has what is in it.
        assert counts(stack) == LIES[lie] or program == "liar_parted" and counts(stack) == (1, 1), (counts(stack), stack.frames[:9])
        assert stack.frames.index("main") < stack.frames.index("waiting") < stack.frames.index("lie_spin")
        assert not any(f.startswith("[") for f in stack.frames[1:]), "each frame has a name"
    assert agent.stop() == 0
