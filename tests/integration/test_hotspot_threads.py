# SPDX-License-Identifier: Apache-2.0
"""What samples of a JVM tell of their threads: names, which are true for each sample; how the innermost method is run; what compilers compile."""
import platform
import re

import pytest

from harness import jvms, paths, pprof, pythons

pytestmark = [pytest.mark.bpf, pytest.mark.beside, pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64")]

C1 = ("-XX:TieredStopAtLevel=1",)
# Collectors move objects, each in its own way; references and classes have other forms.
WAYS = {
    "g1": ("-XX:+UseG1GC",),
    "serial": ("-XX:+UseSerialGC",),
    "parallel": ("-XX:+UseParallelGC",),
    "shenandoah": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseShenandoahGC"),
    "wide": ("-XX:+UseSerialGC", "-XX:-UseCompressedOops"),
    "wide classes": ("-XX:+UseSerialGC", "-XX:-UseCompressedClassPointers"),
    "compact": ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"),
}
ZGC = ("-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC")
EVERY = [(name, way) for name in jvms.NAMES for way in WAYS] if pythons.FULL else [("host", "serial")]
# C2 leaves nothing in a loop that is part of its caller that would tell of which method it is.
APART = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,chains.Named::*")
CALL = "__x64_sys_sched_yield"
WHOLE = re.compile("(red|blue \u84dd) and then some more, of thread [12]")
COMPILED = re.compile(r"\[compiling [\w.$<>]+ \(tier [1-4]\)\]")


@pytest.fixture
def jvm(request):
    found, why = jvms.get(request.param)
    if not found:
        pytest.skip(why)
    return found


def profiled(processes, output, jvm, *options, seconds="2"):
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", "997", "--thread-names", "--hotspot-tiers", "-f", "pprof", "-o", output, "--", *jvm.command, *options,
                        *APART, "-cp", jvm.classes, "chains.Named", seconds, seconds=120)
    assert run.popen.returncode == 0, run.err
    return pprof.parse(output.read_bytes())


def n_samples(profile, samples):
    return sum(s.values[0] for s in samples) // profile.period


def in_method(profile, method):
    return [s for s in profile.samples if f"chains.Named.{method}" in s.frames]


def shown(samples):
    return sorted({(s.labels.get("thread_name"), s.labels.get("tier"), s.frames[-1]) for s in samples}, key=str)


@pytest.mark.parametrize(("jvm", "way"), EVERY, indirect=["jvm"])
def test_names_and_tiers(processes, tmp_path, jvm, way):
    """Whoever is in a method has the name that it was given before, whole or as the kernel has it; and the collector moves all of it."""
    if not jvm.has(*WAYS[way]):
        pytest.skip("this JDK has no such option")
    profile = profiled(processes, tmp_path / "o", jvm, *C1, "-Xmx48m", *WAYS[way])
    both = []
    for method in ("red", "blue"):
        samples = in_method(profile, method)
        assert n_samples(profile, samples) > 100, shown(profile.samples)
        wrong = [s for s in samples if not s.labels.get("thread_name", method).startswith(method)]
        assert not wrong, shown(wrong)
        both += samples
    whole = [s for s in both if WHOLE.fullmatch(s.labels.get("thread_name", ""))]
    assert n_samples(profile, whole) > 0.5 * n_samples(profile, both), shown(both)
    # Without C2 there is no tier above.
    assert {s.labels["tier"] for s in both} <= {"interpreted", "tier 1", "native"}, shown(both)
    compiled = [s for s in both if s.labels["tier"] == "tier 1"]
    assert n_samples(profile, compiled) > 0.5 * n_samples(profile, both), shown(both)
    assert not [s for s in profile.samples if "tier" in s.labels and not any("." in f for f in s.frames)]


@pytest.mark.parametrize("jvm", jvms.NAMES if pythons.FULL else ("host",), indirect=True)
def test_native_below(processes, tmp_path, jvm):
    """The innermost method is the native one, however often its code was met as a caller; it is interpreted until it is compiled."""
    run = processes.run(paths.XAGENT, "profile", "-F", "997", "--hotspot-tiers", "-f", "pprof", "-o", tmp_path / "o", "--", *jvm.command, *APART[:1],
                        "-XX:CompileCommand=dontinline,chains.Yields::*", "-cp", jvm.classes, "chains.Yields", "2", seconds=120)
    assert run.popen.returncode == 0, run.err
    profile = pprof.parse((tmp_path / "o").read_bytes())
    below = [s for s in profile.samples if CALL in s.frames and any(f.startswith("java.lang.Thread.yield") for f in s.frames)]
    assert n_samples(profile, below) > 300, shown(profile.samples)
    native = [s for s in below if s.labels.get("tier") == "native"]
    assert n_samples(profile, native) > 0.8 * n_samples(profile, below), shown(below)
    assert {s.labels.get("tier") for s in below} <= {"native", "interpreted"}, shown(below)


@pytest.mark.parametrize("jvm", jvms.NAMES if pythons.FULL else ("host",), indirect=True)
def test_compilers(processes, tmp_path, jvm):
    """What a compiler's thread compiles is its outermost frame, and nobody else's; without a request there are no labels."""
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", "997", "--thread-names", "-f", "pprof", "-o", tmp_path / "o", "--", *jvm.command, *C1, "-Xcomp",
                        "-cp", jvm.classes, "chains.Named", "0", seconds=120)
    assert run.popen.returncode == 0, run.err
    profile = pprof.parse((tmp_path / "o").read_bytes())
    compiling = [s for s in profile.samples if any(f.startswith("[compiling") for f in s.frames)]
    assert n_samples(profile, compiling) > 20, shown(profile.samples)
    for s in compiling:
        assert COMPILED.fullmatch(s.frames[0]) and s.frames[0].endswith("(tier 1)]"), s
        assert sum(f.startswith("[compiling") for f in s.frames) == 1
        assert s.labels["thread_name"].startswith("C1 Comp"), s
    assert len({s.frames[0] for s in compiling}) > 5
    assert not [s for s in profile.samples if "tier" in s.labels]


@pytest.mark.skipif(not pythons.FULL, reason="only in the full matrix")
@pytest.mark.parametrize("jvm", jvms.NAMES, indirect=True)
def test_interpreter(processes, tmp_path, jvm):
    profile = profiled(processes, tmp_path / "o", jvm, "-Xint")
    both = in_method(profile, "red") + in_method(profile, "blue")
    assert n_samples(profile, both) > 300
    assert {s.labels["tier"] for s in both} <= {"interpreted", "native"}, shown(both)


@pytest.mark.skipif(not pythons.FULL, reason="only in the full matrix")
@pytest.mark.parametrize("jvm", jvms.NAMES, indirect=True)
def test_c2(processes, tmp_path, jvm):
    profile = profiled(processes, tmp_path / "o", jvm, "-XX:-TieredCompilation")
    both = in_method(profile, "red") + in_method(profile, "blue")
    assert {s.labels["tier"] for s in both} <= {"interpreted", "tier 4", "native"}, shown(both)
    assert n_samples(profile, [s for s in both if s.labels["tier"] == "tier 4"]) > 300, shown(both)


@pytest.mark.skipif(not pythons.FULL, reason="only in the full matrix")
@pytest.mark.parametrize("jvm", jvms.NAMES, indirect=True)
def test_zgc(processes, tmp_path, jvm):
    """Its references are not followed: threads have the kernel's names, which are true, too."""
    if not jvm.has(*ZGC):
        pytest.skip("this JDK has no ZGC")
    profile = profiled(processes, tmp_path / "o", jvm, *ZGC)
    both = in_method(profile, "red") + in_method(profile, "blue")
    assert n_samples(profile, both) > 300
    for method in ("red", "blue"):
        assert all(s.labels["thread_name"].startswith(method) for s in in_method(profile, method)), shown(both)
    assert not [s for s in both if WHOLE.fullmatch(s.labels["thread_name"])], shown(both)
