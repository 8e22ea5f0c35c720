# SPDX-License-Identifier: Apache-2.0
"""Each way in which Java calls a method: by reflection, method handles, lambdas, proxies, hidden classes, native code and up again, with a lock that others want, …"""
import platform
import re

import pytest

from harness import folded, jvms, paths, pythons

pytestmark = [pytest.mark.bpf, pytest.mark.beside, pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64")]

LEAF, TARGET, LAMBDA, HIDDEN = "leaf", "target", "$$Lambda", "$Hidden.of"
# The method of each way, and what it leads to, before the leaf. Numbers of lambdas are javac's.
WAYS = {
    "byReflection": (TARGET,),
    "byConstructor": ("$Made.<init>",),
    "byConstantHandle": (TARGET,),
    "byVariableHandle": (TARGET,),
    "byLambda": (f"{LAMBDA}.applyAsLong", "lambda$byLambda"),
    "byReference": (f"{LAMBDA}.applyAsLong", TARGET),
    "byProxy": (f"{LAMBDA}.invoke", "lambda$static", TARGET),
    "byHidden": (HIDDEN, TARGET),
    "bySort": (f"{LAMBDA}.compare", "lambda$bySort", TARGET),
    "byThrow": (TARGET,),
    "byUnicode": ("$Wide.überall_漢字_𝒳",),
    "byLoader": (HIDDEN, TARGET),
    "byLock": (TARGET,),
    "byNative": ("down", "up") * 4 + (TARGET,),
}
THROWN = ("byThrow", "thrower", LEAF)
BEGIN = ("main", "repeat", f"{LAMBDA}.go")
CONTENDER = (f"{LAMBDA}.run", "lambda$contend", "repeat", f"{LAMBDA}.go", "byLock", TARGET, LEAF)
# biased: locks that are their first owner's until others want them, JDK 8 to 17.
TIERS = {
    "interpreted": ("-Xint",),
    "c1": ("-XX:TieredStopAtLevel=1",),
    "c2": ("-XX:-TieredCompilation",),
    "tiered": (),
    "biased": ("-XX:+UseBiasedLocking", "-XX:BiasedLockingStartupDelay=0"),
}
EVERY = [(name, tier) for name in jvms.NAMES for tier in TIERS] if pythons.FULL else [("host", "tiered")]
JIT = "[jit]"
EARLY = 10
# The method that the work is in is a frame of its own.
WHOLE = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,chains.Ways::leaf")
# What lies around a frame of Java that is not known.
UNKNOWN = re.compile(r"\[jit|\[hotspot|\[truncated|\[unknown|native nmethod|nmethod")


@pytest.fixture
def jvm(request):
    found, why = jvms.get(request.param)
    if not found:
        pytest.skip(why)
    return found


def has_no_hidden_classes(jvm):
    """Those came with JDK 15."""
    return "chroot" in " ".join(jvm.command) and ("jdk8" in " ".join(jvm.command) or "jdk11" in " ".join(jvm.command))


def own(stack):
    """Its methods of chains.Ways, from the root on."""
    return tuple(re.sub(r"^(lambda\$\w+)\$\d+$", r"\1", f.removeprefix("chains.Ways").removeprefix(".")) for f in stack.frames if f.startswith("chains.Ways"))


def is_whole(stack):
    names = own(stack)
    if UNKNOWN.search(";".join(stack.frames[1:])):
        return False
    if names == CONTENDER:
        return True
    way = names[3] if len(names) > 3 else ""
    return names in (BEGIN + THROWN, (*BEGIN, way, *WAYS.get(way, ()), LEAF))


@pytest.mark.parametrize(("jvm", "tier"), EVERY, indirect=["jvm"])
def test_way(processes, tmp_path, jvm, tier):
    output = tmp_path / "o"
    if pythons.FULL and not jvm.has(*TIERS[tier]):
        pytest.skip(f"it does not know {TIERS[tier]}")
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", "997", "-o", output, "--", *jvm.command, *TIERS[tier], *WHOLE, "-cp", jvm.classes, "chains.Ways",
                        "6" if pythons.FULL else "2", f"{jvm.classes}/{jvms.LIBRARY}", seconds=120)
    assert run.popen.returncode == 0, run.err
    stacks = folded.parse(output.read_text())
    begun = folded.Stacks(s for s in stacks if LEAF in own(s))
    whole = folded.Stacks(s for s in begun if is_whole(s))
    other = folded.Stacks(s for s in begun if s not in whole)
    # The library of native methods has its rules a few samples after the first one that meets it: what lies above it is walked without the JVM until then.
    early = other.having("Java_chains_Ways_down", JIT)
    assert early.total <= EARLY and other.total - early.total <= 0.001 * begun.total, other.show()
    seen = {way for s in whole for way in WAYS if way in own(s)}
    assert set(WAYS) - seen <= ({"byHidden"} if has_no_hidden_classes(jvm) else set()), stacks.show()
