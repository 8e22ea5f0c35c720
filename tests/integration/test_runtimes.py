# SPDX-License-Identifier: Apache-2.0
"""Frames of an interpreter between native ones, in true order and with their names: a toy interpreter and an agent that knows it."""
import subprocess

import pytest

from harness import folded, paths, pprof
from harness.agent import config
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

RATE = 499
SHARE = 0.99
# Until the program's file has been looked at, once in the life of an agent. It is seen with its first sample, or before: a round of reading the ring at most.
MOST_EARLY = 0.1 * RATE
TOY = paths.BUILD / "tests" / "runtimes" / "toy" / "xagent"
FILE = "/app/program.toy"


@pytest.fixture(scope="module")
def toy_xagent():
    made = subprocess.run(["make", "--no-print-directory", "-C", paths.TOP, TOY.relative_to(paths.TOP)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    return TOY


def chain(depth):
    """What toy.c says that it calls."""
    bounces = [name for i in range(depth) for name in (("ping", "pong")[i % 2], "bounce")]
    return ("toy_main", "outer", "bridge", "bounce", *bounces, "inner", "leaf", "run_leaf")


def is_early(stack):
    """Native frames alone: its file was not known yet."""
    return "interpret" in stack.frames and not {"toy_main", "outer"} & set(stack.frames)


def check(stacks, depth, least=100):
    watched = stacks.having("run_leaf")
    known = folded.Stacks(s for s in watched if not is_early(s))
    whole = known.having_run(*chain(depth))
    assert watched.total - known.total <= MOST_EARLY, stacks.show()
    assert whole.total >= SHARE * known.total >= least, known.show()
    # Where the interpreter's own loop was it has given way.
    assert not whole.having("interpret"), whole.show()
    return whole


def profile(processes, xagent, path, *arguments, rate=RATE):
    run = processes.run(xagent, "profile", "-U", "-f", "folded", "-F", rate, "-o", path, *arguments)
    assert run.popen.returncode == 0, run.err
    return folded.parse(path.read_text())


@pytest.mark.parametrize("mode", ["plain", "moving", "faulting", "threads"])
def test_both_kinds_of_frames_in_order(processes, programs, toy_xagent, tmp_path, mode):
    """moving: a collector moves functions and names; faulting: names can only be read by who may wait for them."""
    stacks = profile(processes, toy_xagent, tmp_path / "f", "--", programs["toy"], "2", "3", mode)
    whole = check(stacks, 3)
    assert whole.having_run("main", "toy_main").total > 0
    assert (whole.having_run("start_thread", "thread", "toy_main").total > 0) == (mode == "threads")


def test_known_before_it_is_sampled(processes, programs, toy_xagent, tmp_path):
    """Its file is looked at when it is seen mapped: the very first sample of what it interprets has its frames."""
    stacks = profile(processes, toy_xagent, tmp_path / "f", "--", programs["toy"], "2", "2", "waiting")
    watched = stacks.having("run_leaf")
    assert watched.having_run(*chain(2)).total == watched.total >= 100, stacks.show()


def test_a_list_without_end(processes, programs, toy_xagent, tmp_path):
    """Nothing tells where its frames belong: the stack is what it is on the C stack, whole."""
    stacks = profile(processes, toy_xagent, tmp_path / "f", "--", programs["toy"], "2", "1", "looping")
    watched = stacks.having("run_leaf")
    native = watched.having_run("main", "interpret", "bridge", "bounce", "interpret", "bounce", "interpret", "run_leaf")
    assert native.total >= SHARE * watched.total > 100, stacks.show()


def test_a_list_that_another_thread_changes(processes, programs, toy_xagent, tmp_path):
    """Frames are lost then, and no other ones are shown: each is where it is when the list is whole, or native."""
    stacks = profile(processes, toy_xagent, tmp_path / "f", "--", programs["toy"], "3", "1", "spoiling")
    watched = stacks.having("run_leaf")
    interpreted = chain(1)
    native = ("interpret", "bridge", "bounce", "interpret", "bounce", "interpret", "run_leaf")
    known = {*interpreted, *native, "[toy: frames not readable]"}
    whole = watched.having_run(*interpreted)
    assert watched.total >= 100 and whole.total >= 0.2 * watched.total, stacks.show()
    for stack in watched:
        assert {"main", "run_leaf"} <= set(stack.frames), stack.frames
        between = stack.frames[stack.frames.index("main") + 1:stack.frames.index("run_leaf") + 1]
        assert set(between) <= known and len(between) <= len(interpreted) + len(native), stack.frames
        # In the order in which they are called.
        at = iter(interpreted)
        assert all(f in at for f in between if f in interpreted and f not in native), stack.frames


def test_generated_code_has_its_functions_name(processes, programs, toy_xagent, tmp_path):
    """It has a frame on the C stack, in memory without a file; who made it knows which function that is."""
    stacks = profile(processes, toy_xagent, tmp_path / "f", "--", programs["toy"], "3", "2", "generating")
    known = stacks.having("run_leaf").having("outer")
    whole = known.having_run("main", "toy_main", "outer", "compiled", *chain(2)[2:])
    # What is sampled before the process has a table is walked by the agent, which cannot ask.
    assert whole.total >= known.total - MOST_EARLY and whole.total >= 100, stacks.show()
    assert whole.total >= 0.9 * known.total, known.show()


@pytest.mark.parametrize("depth", [0, 60])
def test_recursion_between_both(processes, programs, toy_xagent, tmp_path, depth):
    stacks = profile(processes, toy_xagent, tmp_path / "f", "--", programs["toy"], "2", str(depth))
    check(stacks, depth)


def test_deeper_than_can_be_shown(processes, programs, toy_xagent, tmp_path):
    """A thousand frames of both kinds, and the reason why there are no more."""
    stacks = profile(processes, toy_xagent, tmp_path / "f", "--", programs["toy"], "2", "700")
    deep = stacks.having("leaf", "run_leaf")
    assert deep.total >= 100, stacks.show(2)
    for stack in deep:
        assert stack.frames[1] == "[truncated: too deep]" and len(stack.frames) <= 1002, stack.frames[:4]
        assert folded.contains_run(stack.frames, ("bounce", "ping", "bounce", "pong", "bounce", "ping")), stack.frames[-20:]


@pytest.mark.parametrize("mode", ["plain", "moving"])
def test_twenty_milliseconds(processes, programs, toy_xagent, tmp_path, mode):
    """
    Processes that have ended before anybody could look at them: who they run is known, and their names came with their samples, wherever a
    collector had moved these at that time.
    """
    script = f"i=0; while [ $i -lt 80 ]; do {programs['toy']} 0.02 2 {mode}; i=$((i+1)); done"
    stacks = profile(processes, toy_xagent, tmp_path / "f", "--", "sh", "-c", script)
    whole = check(stacks, 2, least=200)
    assert {s.frames[0] for s in whole} == {"toy"}


def test_a_library(processes, programs, toy_xagent, tmp_path):
    """An interpreter in a library, whose address differs from process to process."""
    stacks = profile(processes, toy_xagent, tmp_path / "f", "--", programs["toyhost"], "2", "2", "moving")
    check(stacks, 2)


def test_twenty_milliseconds_of_a_library(processes, programs, toy_xagent, tmp_path):
    """Where it is mapped the kernel half finds by itself: no process lives long enough to be looked at."""
    host = programs["toyhost"]
    script = f"{host} 0.7 2 waiting; i=0; while [ $i -lt 80 ]; do {host} 0.02 2; i=$((i+1)); done"
    stacks = profile(processes, toy_xagent, tmp_path / "f", "--", "sh", "-c", script)
    watched = stacks.having("run_leaf")
    whole = watched.having_run(*chain(2))
    assert whole.total >= SHARE * watched.total >= 200, stacks.show()
    assert not whole.having("interpret"), whole.show()


def test_children_of_a_library(processes, programs, toy_xagent, tmp_path):
    """Forked without exec: what is mapped is the parent's."""
    stacks = profile(processes, toy_xagent, tmp_path / "f", "--", programs["toyhost"], "0.02", "2", "forking")
    watched = stacks.having("run_leaf")
    assert watched.having_run(*chain(2)).total >= SHARE * watched.total >= 200, stacks.show()


def test_files_and_lines(processes, programs, toy_xagent, tmp_path):
    path = tmp_path / "p.pb.gz"
    run = processes.run(toy_xagent, "profile", "-U", "-F", RATE, "--lines", "-o", path, "--", programs["toy"], "2", "1")
    assert run.popen.returncode == 0, run.err
    places = {p for s in pprof.parse(path.read_bytes()).samples for p in s.places}
    leaf = {(f, line) for name, f, line in places if name == "leaf"}
    assert leaf == {(FILE, 61), (FILE, 62)}, places
    assert (FILE, 23) in {(f, line) for name, f, line in places if name == "outer"}, places


def test_hits_of_a_tracepoint(processes, programs, toy_xagent, tmp_path):
    stacks = profile(processes, toy_xagent, tmp_path / "f", "-e", "tracepoint:syscalls:sys_enter_madvise", "--", programs["toy"], "3", "1", "faulting")
    hits = stacks.having("safepoint")
    known = folded.Stacks(s for s in hits if not is_early(s))
    assert known.having_run(*chain(1), "safepoint").total >= SHARE * known.total >= 100, stacks.show()


def test_an_agent_that_knows_none(processes, programs, tmp_path):
    """The program's own build shows the same stacks as they are on the C stack."""
    stacks = profile(processes, paths.XAGENT, tmp_path / "f", "--", programs["toy"], "2", "1")
    watched = stacks.having("run_leaf")
    assert watched.having_run("main", "interpret", "bridge", "bounce", "interpret", "bounce", "interpret", "run_leaf").total >= SHARE * watched.total > 100


def counts(m, names):
    return {n: m.value(f"xagent_kernel_{n}_total", event="cpu") for n in names}


def test_an_agent_counts_them(start_agent, standin, processes, programs, toy_xagent):
    agent = start_agent(config(standin.url, interval="1s", rate=RATE), program=toy_xagent).wait_ready()
    toys = [processes.start(programs["toy"], "60", "2", mode) for mode in ("moving", "faulting")]

    def whole():
        return sum(1 for p in standin.pushes() for s in p.profile.samples if folded.contains_run(s.frames, chain(2)))
    wait_until(lambda: whole() >= 10, 30, "profiles with interpreted frames are pushed")
    m = agent.metrics()
    seen = counts(m, ("runtime_frames", "names_told", "names_not_told", "ticks", "emitted", "idle", "filtered", "lost"))
    assert seen["runtime_frames"] > 100 and seen["names_told"] > 10 and seen["names_not_told"] > 0, seen
    assert seen["ticks"] == seen["emitted"] + seen["idle"] + seen["filtered"] + seen["lost"], seen
    # Of the names that ticks could not read each was read by a reader.
    assert m.get("xagent_code_names_read_total") > 0
    for never in ("code_names_malformed", "code_names_dropped", "code_names_missing"):
        assert m.get(f"xagent_{never}_total") == 0, never
    for toy in toys:
        toy.end()
    assert agent.stop() == 0
