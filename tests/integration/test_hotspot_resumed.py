# SPDX-License-Identifier: Apache-2.0
"""Virtual threads that have waited: their callers are on the heap, and in their stacks all the same, between the leaf and the frames of the thread that carries them."""
import platform

import pytest

from harness import folded, jvms, paths, pythons

pytestmark = [pytest.mark.bpf, pytest.mark.beside, pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64")]

HEAP = "[virtual thread: rest on the heap]"
OWN = "chains.Resumed."
RUN, ENTER = "jdk.internal.vm.Continuation.run", "jdk.internal.vm.Continuation.enterSpecial"
# What a virtual thread begins with, as the JDKs have it.
BEGINS = {(ENTER, "jdk.internal.vm.Continuation.enter", "jdk.internal.vm.Continuation.enter0", "java.lang.VirtualThread$VThreadContinuation$1.run", "java.lang.VirtualThread.run",
           "java.lang.Thread.runWith", *future, "java.util.concurrent.FutureTask.run", f"{OWN[:-1]}$$Lambda.call", f"{OWN}task")
          for future in ((), ("java.util.concurrent.ThreadPerTaskExecutor$ThreadBoundFuture.run",))}
NESTED = (RUN, ENTER, "jdk.internal.vm.Continuation.enter", "jdk.internal.vm.Continuation.enter0", f"{OWN[:-1]}$$Lambda.run", f"{OWN}lambda$outer$0", f"{OWN}nested")
DEPTH = 40
# 1,000 virtual threads on four carriers.
THREADS = 1000
EACH = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,chains.Resumed::*", "--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",
        "-Djdk.virtualThreadScheduler.parallelism=4", "-Djdk.virtualThreadScheduler.maxPoolSize=4", "-Xmx256m")
TIERS = {
    "interpreted": ("-Xint",),
    "c1": ("-XX:TieredStopAtLevel=1",),
    "c2": ("-XX:-TieredCompilation",),
    "tiered": (),
    # Every second frame is the interpreter's, every frame but the first, and the innermost alone.
    "odd interpreted": ("-XX:CompileCommand=exclude,chains.Resumed::odd",),
    "begin interpreted": ("-XX:CompileCommand=exclude,chains.Resumed::begin", "-XX:CompileCommand=exclude,jdk.internal.vm.Continuation::enter*"),
    "bottom interpreted": ("-XX:CompileCommand=exclude,chains.Resumed::bottom",),
}
COLLECTORS = ("-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseShenandoahGC", "-XX:+UseEpsilonGC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers",
              "-XX:+UseCompactObjectHeaders")
WAITS = ("sleep", "park", "locked", "nested", "pinned", "dirty")
FULL = pytest.mark.skipif(not pythons.FULL, reason="only in the full matrix")


@pytest.fixture
def jvm(request):
    found, why = jvms.packaged() if request.param == "packaged" else jvms.get(request.param)
    if not found:
        pytest.skip(why)
    return found


def resumed(processes, output, jvm, *options, how="sleep", seconds="2", n=THREADS):
    """The stacks whose leaf is work, and what of them is whole."""
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", "997", "-o", output, "--", *jvm.command, *EACH, *options, "-cp", jvm.classes, "chains.Resumed", seconds, str(n), how,
                        seconds=180)
    assert run.popen.returncode == 0, run.err
    stacks = folded.parse(output.read_text())
    at_work = folded.Stacks(s for s in stacks if s.frames[-1] == f"{OWN}leaf")
    return at_work, folded.Stacks(s for s in at_work if is_whole(s.frames, how))


def is_called(steps, how):
    """From begin() to the leaf: each by the one before, as deep as the program goes."""
    names = [f.removeprefix(OWN) for f in steps]
    n = next((i for i, f in enumerate(names) if f != ("even", "odd")[i % 2]), len(names))
    depth = DEPTH // 2 if how == "nested" else DEPTH
    return names[n:] == ["leaf"] and 0 < n <= depth + 1 or names[n:] == ["bottom", "leaf"] and n == depth + 1


def is_whole(frames, how):
    """The carrier's frames, the virtual thread's first ones and the program's, and nothing else."""
    if f"{OWN}begin" not in frames or RUN not in frames:
        return False
    at, begin = frames.index(RUN), len(frames) - 1 - frames[::-1].index(f"{OWN}begin")
    head = tuple(frames[at + 1:begin])
    is_begun = any(head[:len(b)] == b and (head[-len(NESTED):] == NESTED if how == "nested" else head == b) for b in BEGINS)
    return frames[at - 1] == "java.lang.VirtualThread.runContinuation" and HEAP not in frames and is_begun and is_called(frames[begin + 1:], how)


def is_named_end(frames):
    """… or what is on the stack, and a word: until the agent has looked at the JVM's threads, and while objects or frames are moved."""
    return HEAP in frames[:2] and any(f.startswith("StubRoutines (cont") for f in frames) and not [f for f in frames if "Continuation" in f]


def check(at_work, whole, at_least=0.9, most_early=0.05):
    ended = folded.Stacks(s for s in at_work if is_named_end(s.frames))
    wrong = folded.Stacks(s for s in at_work if s not in whole and s not in ended)
    # What is started with the JVM itself is sampled before its structures are known.
    early = folded.Stacks(s for s in wrong if not [f for f in s.frames if f.startswith(("jdk.internal.vm.", HEAP))])
    assert whole.total > 10, at_work.show()
    assert not wrong.total - early.total and early.total <= most_early * at_work.total, wrong.show()
    assert whole.total >= at_least * at_work.total, folded.Stacks(s for s in at_work if s not in whole).show()


@pytest.mark.parametrize("jvm", ["packaged"], indirect=True)
def test_virtual_threads(processes, tmp_path, jvm):
    """Much of this short run is the JVM's beginning."""
    check(*resumed(processes, tmp_path / "o", jvm, seconds="1", n=200), at_least=0.1, most_early=0.9)


@FULL
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("jvm", jvms.WITH_VIRTUAL_THREADS, indirect=True)
def test_tiers(processes, tmp_path, jvm, tier):
    check(*resumed(processes, tmp_path / "o", jvm, *TIERS[tier], seconds="4"))


@FULL
@pytest.mark.parametrize("how", WAITS)
@pytest.mark.parametrize("tier", ["interpreted", "tiered"])
@pytest.mark.parametrize("jvm", jvms.WITH_VIRTUAL_THREADS, indirect=True)
def test_waits(processes, tmp_path, jvm, tier, how):
    check(*resumed(processes, tmp_path / "o", jvm, *TIERS[tier], how=how, seconds="4"))


@FULL
@pytest.mark.parametrize("option", COLLECTORS)
@pytest.mark.parametrize("tier", ["interpreted", "tiered"])
@pytest.mark.parametrize("jvm", jvms.WITH_VIRTUAL_THREADS, indirect=True)
def test_collectors(processes, tmp_path, jvm, tier, option):
    """Chunks that collectors have moved, and frames in them whose references they have written in another form."""
    options = ("-XX:+UnlockExperimentalVMOptions", option)
    if not jvm.has(*options):
        pytest.skip(f"it does not know {option}")
    how = "sleep" if "Epsilon" in option else "dirty"
    check(*resumed(processes, tmp_path / "o", jvm, *options, *TIERS[tier], "-Xmx2g" if "Epsilon" in option else "-Xmx256m", how=how, seconds="4", n=200))


@FULL
@pytest.mark.parametrize("jvm", jvms.WITH_VIRTUAL_THREADS, indirect=True)
def test_zgc(processes, tmp_path, jvm):
    """Its references are not followed: the stack ends with a word, or all of it is on the carrier's."""
    at_work, whole = resumed(processes, tmp_path / "o", jvm, "-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC", how="dirty", seconds="4")
    ended = folded.Stacks(s for s in at_work if is_named_end(s.frames))
    assert ended.total > 100, at_work.show()
    assert ended.total + whole.total >= 0.99 * at_work.total, folded.Stacks(s for s in at_work if s not in whole and s not in ended).show()
