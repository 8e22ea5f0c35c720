# SPDX-License-Identifier: Apache-2.0
"""JVMs whose methods are replaced while they run, who stop at safepoints all the time, of which there are many, or which are over soon: no wrong method, and hardly a missing one."""
import platform
import re
import shlex

import pytest

from harness import folded, jvms, paths, pythons
from harness.agent import config
from harness.processes import wait_until
from harness.standin import stacks_of

pytestmark = [pytest.mark.bpf, pytest.mark.beside, pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64")]

FULL = pytest.mark.skipif(not pythons.FULL, reason="only in the full matrix")
TIERS = {"interpreted": ("-Xint",), "c1": ("-XX:TieredStopAtLevel=1",), "c2": ("-XX:-TieredCompilation",), "tiered": ()}
REDEFINED = [(name, tier) for name in jvms.NAMES for tier in TIERS] if pythons.FULL else [("host", "tiered")]
MAIN, STEP, WORK = "chains.Redefine.main", "chains.Redefine$Body.step", "chains.Redefine$Ends.work"
CHAIN = re.compile(rf"{re.escape(MAIN)};{re.escape(STEP)};chains\.Redefine\$Ends\.calls(\d);chains\.Redefine\$Ends\.works\1;{re.escape(WORK)}(;|$)")
# What is not inlined: it tells of what was. Whatever is called often enough is compiled at once.
GIVEN_UP = ("-XX:-BackgroundCompilation", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,chains.Deopts$Chain::run",
            *(f"-XX:CompileCommand=dontinline,chains.Deopts::work{n}" for n in range(4)))
RATE = 499
N_MANY, MANY_S = 20, 15


@pytest.fixture
def jvm(request):
    found, why = jvms.get(request.param)
    if not found:
        pytest.skip(why)
    return found


def profiled(processes, output, rate, *command):
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", rate, "-o", output, "--", *command, seconds=120)
    assert run.popen.returncode == 0, run.err
    return folded.parse(output.read_text())


@pytest.mark.parametrize(("jvm", "tier"), REDEFINED, indirect=["jvm"])
def test_redefined(processes, tmp_path, jvm, tier):
    """The body of a method is another one every few milliseconds, and its old one runs on. Whom it calls is told by the callee's own callee."""
    stacks = profiled(processes, tmp_path / "o", "997", *jvm.command, f"-javaagent:{jvm.classes}/{jvms.AGENT}", *TIERS[tier], "-XX:CompileCommand=quiet",
                      "-XX:CompileCommand=dontinline,chains.Redefine$Ends::work", "-cp", jvm.classes, "chains.Redefine", "5" if pythons.FULL else "2")
    begun = stacks.having(WORK)
    other = folded.Stacks(s for s in begun if not CHAIN.search(";".join(s.frames)))
    assert begun.total > 100 and other.total <= 0.001 * begun.total, other.show()
    assert {CHAIN.search(";".join(s.frames))[1] for s in begun if s not in other} == set("0123"), begun.show()
    of_two = [s.frames for s in stacks if len({f[-1] for f in s.frames if re.search(r"Ends\.(calls|works)\d$", f)}) > 1]
    assert not of_two, of_two


def is_of_given_up(frames):
    """Whether they are what the program calls: all of it, by its number, or the first of it."""
    names = [f.removeprefix("chains.Deopts") for f in frames if f.startswith("chains.Deopts")]
    number = next((n[-1] for n in reversed(names) if n[-1].isdigit()), "")
    chain = [".main", ".round", "$Chain.run", *(f"$Chain.{name}{number}" for name in ("first", "second", "third")), "$One.hop", ".work", f".work{number}", ".burn"]
    return names == chain[:len(names)] or names == [*chain[:6], "$Chain.branch"]


def given_up(processes, output, jvm, tier, way, seconds):
    return profiled(processes, output, "997", *jvm.command, f"-javaagent:{jvm.classes}/{jvms.AGENT}", *TIERS[tier], *GIVEN_UP, "-cp", jvm.classes, "chains.Deopts", way, seconds)


@pytest.mark.parametrize("way", ["loads", "redefined", "traps"])
@pytest.mark.parametrize(("jvm", "tier"), REDEFINED, indirect=["jvm"])
def test_given_up_code(processes, tmp_path, jvm, tier, way):
    """Code that is not valid any more, or finds that it is not: what was inlined into it is told until it is left, and who has called it, when it becomes frames of the interpreter."""
    stacks = given_up(processes, tmp_path / "o", jvm, tier, way, "5" if pythons.FULL else "3")
    begun = folded.Stacks(s for s in stacks if any(f.startswith(("chains.Deopts$Chain.", "chains.Deopts$One.", "chains.Deopts.work")) for f in s.frames)
                          and not any(f.endswith("init>") for f in s.frames))
    whole = begun.having("chains.Deopts.main", "chains.Deopts.round")
    wrong = folded.Stacks(s for s in whole if not is_of_given_up(s.frames))
    assert begun.total > 100 and begun.total - whole.total <= 1 + 0.001 * begun.total, folded.Stacks(s for s in begun if s not in whole).show()
    assert not wrong, wrong.show()
    # They are filled from the outermost one on.
    assert not [s.frames for s in begun if re.search(r";Interpreter;chains\.", ";".join(s.frames))]


@pytest.mark.parametrize("jvm", jvms.NAMES if pythons.FULL else [jvms.HOST], indirect=True)
def test_adapters(processes, tmp_path, jvm):
    """Compiled code that calls what is not compiled any more: at each instruction in between the caller is known. While the JVM is called there, it is not."""
    stacks = given_up(processes, tmp_path / "o", jvm, "c2", "traps", "6")
    adapters = folded.Stacks(s for s in stacks if s.frames[-1] == "I2C/C2I adapters" and "[jit]" not in s.frames)
    lost = folded.Stacks(s for s in adapters if s.frames[1].startswith("[truncated"))
    assert adapters.total >= 10 and lost.total <= 0.01 * adapters.total, lost.show()


@FULL
@pytest.mark.parametrize("jvm", jvms.NAMES, indirect=True)
def test_safepoints(processes, tmp_path, jvm):
    """A safepoint every millisecond: threads stop at polls, and go on by the stubs that they lead to."""
    stacks = profiled(processes, tmp_path / "o", "997", *jvm.command, "-XX:+UnlockDiagnosticVMOptions", "-XX:GuaranteedSafepointInterval=1",
                      "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,chains.Chains::leaf", "-cp", jvm.classes, "chains.Chains", "3")
    begun = stacks.having("chains.Chains.leaf")
    whole = begun.having("chains.Chains.main", "chains.Chains.begin")
    assert begun.total > 300 and whole.total >= 0.999 * begun.total, folded.Stacks(s for s in begun if s not in whole).show()


def results(metrics):
    return {labels["result"]: int(n) for labels, n in metrics.series("xagent_runtime_stacks_total") if labels["runtime"] == "hotspot" and n}


@FULL
def test_many(start_agent, standin, processes):
    jvm, why = jvms.get(jvms.HOST)
    if not jvm:
        pytest.skip(why)
    agent = start_agent(config(standin.url, interval="1s", rate=RATE)).wait_ready()
    for number in range(N_MANY):
        processes.start(*jvm.command, "-XX:+UseSerialGC", "-Xmx32m", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,T*::step", "-cp", jvm.classes,
                        "chains.Many", number, MANY_S)
    expected = {f"T{number:03d}.run" for number in range(N_MANY)}

    def seen():
        return {f for frames in stacks_of(standin.pushes()) for f in frames if re.match(r"T\d\d\d\.", f)}
    wait_until(lambda: expected <= seen(), 90, "the class of each is shown")
    classes = [{f.split(".")[0] for f in frames if re.match(r"T\d\d\d\.", f)} for frames in stacks_of(standin.pushes())]
    assert not [c for c in classes if len(c) > 1]
    metrics = agent.metrics()
    found = results(metrics)
    print(found)
    assert metrics.kernel("lost") == 0 and metrics.agent("process_evictions") == 0
    # A thread of the JVM's own runs no method; nothing is lost of those that do.
    assert found.get("unreadable", 0) <= max(5, 0.005 * found["walked"]) and set(found) <= {"walked", "idle", "unreadable", "unsupported"}, found


@FULL
@pytest.mark.parametrize("jvm", jvms.NAMES, indirect=True)
def test_young(processes, tmp_path, jvm):
    """JVMs of two seconds, one after another: the first one's file is new to the agent."""
    line = shlex.join((*jvm.command, "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,chains.Chains::leaf", "-cp", jvm.classes, "chains.Chains", "1"))
    stacks = profiled(processes, tmp_path / "o", "997", "sh", "-c", f"for i in $(seq 5); do {line}; done")
    begun = stacks.having("chains.Chains.leaf")
    whole = begun.having("chains.Chains.main", "chains.Chains.begin")
    assert begun.total > 300 and whole.total >= 0.999 * begun.total, folded.Stacks(s for s in begun if s not in whole).show()
    # Java that is not named is none of theirs but what ran before the file was known.
    unknown = folded.Stacks(s for s in stacks if "[jit]" in s.frames and "JavaMain" in s.frames)
    assert unknown.total <= 0.02 * begun.total, unknown.show()
