# SPDX-License-Identifier: Apache-2.0
"""Methods of Java programs: whole chains of calls between the native frames around them, wherever the program is interrupted."""
import platform
import re

import pytest

from harness import folded, jvms, paths, pprof, pythons

pytestmark = [pytest.mark.bpf, pytest.mark.beside, pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64")]

# Each method by itself, or as the compilers will.
EACH = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,chains.Chains*::*")
TIERS = {
    "interpreted": ("-Xint",),
    "c1": ("-XX:TieredStopAtLevel=1",),
    "c2": ("-XX:-TieredCompilation",),
    "tiered": (),
}
# Each of them on every JDK, or what differs most.
EVERY = [(name, tier) for name in jvms.NAMES for tier in TIERS] if pythons.FULL else [("host", "interpreted"), ("host", "c2"), ("8", "tiered")]
MAIN, BEGIN, LEAF, MIX, NEXT = (f"chains.Chains.{name}" for name in ("main", "begin", "leaf", "mix", "next"))
STEPS = ["chains.Chains$Even.step", "chains.Chains$Odd.step"] * 5
DEPTH = 9


@pytest.fixture
def jvm(request):
    found, why = jvms.get(request.param)
    if not found:
        pytest.skip(why)
    return found


def is_whole(frames):
    """From the stub that the JVM calls Java by to the leaf, nothing but what the program's text can have called; methods of the JVM's own library end it."""
    at = frames.index(MAIN)
    if not frames[at - 1].startswith("StubRoutines") or frames[0].startswith("[truncated"):
        return False
    of_chain = [f for f in frames[at + 1:] if f.startswith("chains.")]
    if not of_chain:
        return True
    steps = of_chain[1:1 + DEPTH]
    n = next((i for i, f in enumerate(steps) if f not in STEPS), len(steps))
    ends = ([], [LEAF], [LEAF, MIX], [NEXT]) if n == DEPTH else ([], [NEXT])
    return of_chain[0] == BEGIN and steps[:n] == STEPS[:n] and of_chain[1 + n:] in ends


def chains(processes, output, jvm, options, program="chains.Chains"):
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", "997", "-o", output, "--", *jvm.command, *options, *EACH[:1], "-cp", jvm.classes, program, "2",
                        seconds=120)
    assert run.popen.returncode == 0, run.err
    return folded.parse(output.read_text())


@pytest.mark.parametrize(("jvm", "tier"), EVERY, indirect=["jvm"])
def test_every_timer_tick(processes, tmp_path, jvm, tier):
    """In the interpreter, in prologues and epilogues, in stubs, while methods are compiled and replaced."""
    stacks = chains(processes, tmp_path / "o", jvm, TIERS[tier] + EACH)
    # main is not in those of static initialisers.
    begun = folded.Stacks(s for s in stacks if any(f in (MAIN, BEGIN, LEAF, MIX, *STEPS) for f in s.frames))
    whole = folded.Stacks(s for s in begun if MAIN in s.frames and is_whole(s.frames))
    assert begun.total > 300, stacks.show()
    assert whole.total >= 0.999 * begun.total, folded.Stacks(s for s in begun if s not in whole).show()


@pytest.mark.parametrize(("jvm", "tier"), [e for e in EVERY if e[1] != "interpreted"], indirect=["jvm"])
def test_inlined(processes, tmp_path, jvm, tier):
    """Methods that were inlined into others are frames of their own, in the same chains; a leaf's innermost need not be told."""
    stacks = chains(processes, tmp_path / "o", jvm, TIERS[tier])
    compiled = folded.Stacks(s for s in stacks if any(f in STEPS for f in s.frames))
    assert compiled.total > 300, stacks.show()
    whole = folded.Stacks(s for s in compiled if MAIN in s.frames and is_whole(s.frames))
    assert whole.total >= 0.999 * compiled.total, folded.Stacks(s for s in compiled if s not in whole).show()
    deep = folded.Stacks(s for s in whole if sum(f in STEPS for f in s.frames) == DEPTH)
    assert deep.total >= 0.9 * whole.total, whole.show()


@pytest.mark.skipif(not pythons.FULL, reason="only in the full matrix")
@pytest.mark.parametrize("options", ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseZGC", "-XX:+UseShenandoahGC", "-XX:+UseEpsilonGC",
                                     "-Xcomp", "-XX:ReservedCodeCacheSize=3m", "-XX:+PreserveFramePointer"])
@pytest.mark.parametrize("jvm", jvms.NAMES, indirect=True)
def test_collectors_and_code_caches(processes, tmp_path, jvm, options):
    options = ("-XX:+UnlockExperimentalVMOptions", options)
    if not jvm.has(*options):
        pytest.skip(f"it does not know {options[1]}")
    stacks = chains(processes, tmp_path / "o", jvm, options)
    begun = folded.Stacks(s for s in stacks if any(f in (MAIN, BEGIN, LEAF, MIX, *STEPS) for f in s.frames))
    whole = folded.Stacks(s for s in begun if MAIN in s.frames and is_whole(s.frames))
    assert begun.total > 50, stacks.show()
    assert whole.total >= 0.999 * begun.total, folded.Stacks(s for s in begun if s not in whole).show()


@pytest.mark.parametrize("inlined", [False, True] if pythons.FULL else [False])
@pytest.mark.parametrize("jvm", jvms.NAMES if pythons.FULL else ["host"], indirect=True)
def test_unloaded_classes(processes, tmp_path, jvm, inlined):
    """A class that takes the place of one that was unloaded is not called as that one, nor code that takes the place of its code."""
    output = tmp_path / "o"
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", "997", "-o", output, "--", *jvm.command, "-XX:+UseSerialGC", *EACH[:1],
                        "-XX:CompileCommand=" + ("inline" if inlined else "dontinline") + ",T*::step", "-cp", jvm.classes, "chains.Unload", "3", seconds=120)
    assert run.popen.returncode == 0, run.err
    classes = [{f.split(".")[0] for f in s.frames if re.match(r"T\d\d\d\.", f)} for s in folded.parse(output.read_text())]
    assert not [c for c in classes if len(c) > 1]
    assert len({next(iter(c)) for c in classes if c}) > 50


# Where each of them calls the next one; and the lines that it has.
CALLS = {MAIN: 63, BEGIN: 55, "chains.Chains$Even.step": 18, "chains.Chains$Odd.step": 26}
LINES = {MAIN: range(59, 68), BEGIN: (55,), "chains.Chains$Even.step": (18, 19), "chains.Chains$Odd.step": (26, 27), LEAF: range(40, 46), MIX: range(49, 52), NEXT: (35,)}


@pytest.mark.parametrize(("jvm", "tier"), EVERY if pythons.FULL else [("host", "interpreted"), ("8", "tiered")], indirect=["jvm"])
def test_lines(processes, tmp_path, jvm, tier):
    """A caller is at its call. A leaf that was compiled lies between two places that the code tells of, and has no line."""
    output = tmp_path / "o.pb.gz"
    run = processes.run(paths.XAGENT, "profile", "-U", "--lines", "-F", "997", "-o", output, "--", *jvm.command, *TIERS[tier], *EACH[:1], "-cp", jvm.classes,
                        "chains.Chains", "2", seconds=120)
    assert run.popen.returncode == 0, run.err
    n_callers, n_leaves, n_told = 0, 0, 0
    for sample in pprof.parse(output.read_bytes()).samples:
        known = [p for p in sample.places if p[0] in LINES]
        assert all(file == "Chains.java" and (line == 0 or line in LINES[name]) for name, file, line in known), known
        n = round(sample.values[0] * 997 / 1e9)
        for name, _, line in known[:-1]:
            n_callers += n
            # The JVM's own library and its compiled code may have no scope at that very address.
            n_told += n * (name not in CALLS or line == CALLS[name])
            assert line in (0, CALLS.get(name, line)), known
        n_leaves += n * (sample.places[-1] in known and sample.places[-1][2] > 0)
    assert n_callers > 1000 and n_told >= 0.99 * n_callers, (n_callers, n_told)
    assert n_leaves > 300 or tier != "interpreted", n_leaves


@pytest.mark.parametrize("jvm", jvms.NAMES if pythons.FULL else [jvms.HOST], indirect=True)
def test_arguments(processes, tmp_path, jvm):
    output = tmp_path / "o"
    run = processes.run(paths.XAGENT, "profile", "-U", "--hotspot-arguments", "-F", "997", "-o", output, "--", *jvm.command, *EACH, "-cp", jvm.classes, "chains.Chains", "1",
                        seconds=120)
    assert run.popen.returncode == 0, run.err
    names = {f for s in folded.parse(output.read_text()) for f in s.frames if f.startswith("chains.")}
    expected = {f"{LEAF}(long, int, int, int, int, int, int, int): long", f"{MIX}(long): long", f"{MAIN}(String[])", f"{BEGIN}(int, long): long", f"{NEXT}(int): Chains$Step", *(f"{s}(int, long): long" for s in STEPS)}
    assert {f"{LEAF}(long, int, int, int, int, int, int, int): long", f"{MAIN}(String[])", f"{BEGIN}(int, long): long"} <= names, names
    assert not [n for n in names - expected if not re.match(r"chains\.Chains(\$(Even|Odd))?\.<(cl)?init>\(\)$", n)], names
