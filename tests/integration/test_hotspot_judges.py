# SPDX-License-Identifier: Apache-2.0
"""Shares of Java's methods as others tell them, of the same run: the program by its thread's clock, async-profiler, which lies in the JVM and looks at each thread's CPU time, and the
JVM's Flight Recorder."""
import collections
import json
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import folded, jvms, paths, pythons

pytestmark = [
    pytest.mark.bpf, pytest.mark.beside,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="frames of HotSpot are known on x86-64"),
    pytest.mark.skipif(not pythons.FULL, reason="only in the full matrix"),
]

# Seconds are of CPU time. Others than the program are asked when the kernel's clock ticks, and have more of methods that call none: up to 2.5 points in the interpreter.
RATE, SECONDS, POINTS, POINTS_OF_PROGRAM = 997, 20, 0.03, 0.015
# Whoever waits for a CPU in the middle of a method is met there again and again by a judge that looks by the clock.
FIRST = ("nice", "-n", "-19")
# The host's, and one whose compiled code has its tables elsewhere.
PROFILED = (jvms.HOST, "25")
BY_CPU_TIME = "25"
MAIN = "chains.Mix.all"
# One method of each kind of work, and those that it calls where none of them is part of its caller.
KINDS = {name: (MAIN,) for name in (f"chains.Mix${name}.work" for name in ("Half", "Third", "Strings", "Maps", "Sort"))}
CALLED = {"chains.Mix.burn": ("chains.Mix$Half.work", "chains.Mix$Third.work"), "chains.Mix$Third.recurse": ("chains.Mix$Third.work",)}
INLINING = {
    "whole": ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,chains.Mix*::*"),
    "inlined": ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,chains.Mix*::work"),
    "interpreted": ("-Xint",),
}


def shares(stacks, methods):
    """Of the stacks below those that call it, in how many each method is; and how many there are below MAIN."""
    counts, below = collections.Counter(), collections.Counter()
    for frames, n in stacks:
        below[MAIN] += n * (MAIN in frames)
        for name, callers in methods.items():
            is_below = MAIN in frames and any(c in frames for c in callers)
            below[name] += n * is_below
            counts[name] += n * (is_below and name in frames)
    return {name: counts[name] / below[name] for name in methods}, below[MAIN]


def run_beside(processes, output, jvm, options, *judge):
    """Our stacks, which are of the kinds of work as often as the program itself has measured."""
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", RATE, "-o", output, "--", *FIRST, *jvm.command, *options, *judge, "-cp", jvm.classes, "chains.Mix", SECONDS,
                        seconds=300)
    assert run.popen.returncode == 0, run.err
    ours = [(s.frames, s.count) for s in folded.parse(output.read_text())]
    taken = {name: int(ns) for name, ns in re.findall(r"^(chains\.Mix\S+) (\d+)$", run.out, re.M)}
    mine, n = shares(ours, KINDS)
    both = {name: (round(mine[name], 3), round(taken[name] / sum(taken.values()), 3)) for name in KINDS}
    print(n, both)
    assert n > 0.5 * RATE * SECONDS and all(abs(a - b) <= POINTS_OF_PROGRAM for a, b in both.values()), both
    return ours


def assert_agree(ours, theirs, options, least, n_lost=0):
    """n_lost: samples that they do not have, of any method."""
    methods = KINDS | (CALLED if "inlined" not in options else {})
    mine, _ = shares(ours, methods)
    other, n_theirs = shares(theirs, methods)
    lost = n_lost / (n_theirs + n_lost)
    both = {name: (round(mine[name], 3), round(other[name], 3)) for name in methods}
    print(n_theirs, n_lost, both)
    assert n_theirs > least and lost < 0.05
    assert all(other[name] > 0.01 for name in KINDS), both
    assert all(-POINTS <= mine[name] - other[name] * (1 - lost) <= lost + POINTS for name in methods), both


def seen_by(jvm, tmp_path, given, written):
    """Where the JVM sees the file that it is given and what it writes, and where we see the latter."""
    if not jvm.root:
        return given, tmp_path / written, tmp_path / written
    inside, output = Path("tmp") / given.name, Path("tmp") / f"{tmp_path.name}.{written}"
    shutil.copy(given, jvm.root / inside)
    return Path("/") / inside, Path("/") / output, jvm.root / output


@pytest.mark.parametrize("options", INLINING)
@pytest.mark.parametrize("version", PROFILED)
def test_async_profiler(processes, tmp_path, version, options):
    jvm, why = jvms.get(version)
    found, why_none = jvms.async_profiler()
    if not jvm or not found:
        pytest.skip(why or why_none)
    library, file, output = seen_by(jvm, tmp_path, found, "theirs")
    ours = run_beside(processes, tmp_path / "ours", jvm, INLINING[options],
                      f"-agentpath:{library}=start,event=ctimer,interval=1ms,cstack=vmx,collapsed,file={file}")
    # A stack comes twice where it is another one to it.
    lines = [folded.parse_line(line) for line in output.read_text().splitlines()]
    theirs = [(tuple(f.replace("/", ".") for f in s.frames), s.count) for s in lines]
    assert_agree(ours, theirs, options, 2000)


# By CPU time, as often as the kernel's timers go off: 250 times a second with Debian's.
SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0" label="o" description="o" provider="o">
<event name="jdk.CPUTimeSample"><setting name="enabled">true</setting><setting name="throttle">1000/s</setting></event>
<event name="jdk.CPUTimeSamplesLost"><setting name="enabled">true</setting></event>
</configuration>
"""


def recorded(path, event):
    run = subprocess.run(["jfr", "print", "--json", "--stack-depth", "64", "--events", event, path], capture_output=True, check=True, timeout=120)
    return [e["values"] for e in json.loads(run.stdout)["recording"]["events"]]


def stack_of(event):
    """From the root on."""
    frames = (event["stackTrace"] or {}).get("frames", [])
    return tuple(f["method"]["type"]["name"].replace("/", ".") + "." + f["method"]["name"] for f in reversed(frames))


@pytest.mark.parametrize("options", INLINING)
def test_flight_recorder(processes, tmp_path, options):
    """
    Since JDK 25 it looks at CPU time. What it has lost may be of any method, and is told: 3 % in the interpreter. Before, it looks by the clock, and not at what it finds in the JVM, in
    native code or between two methods of the interpreter, which it does not count.
    """
    jvm, why = jvms.get(BY_CPU_TIME)
    if not jvm or not shutil.which("jfr"):
        pytest.skip(why or "no jfr")
    (tmp_path / "often.jfc").write_text(SETTINGS)
    settings, file, output = seen_by(jvm, tmp_path, tmp_path / "often.jfc", "theirs.jfr")
    ours = run_beside(processes, tmp_path / "ours", jvm, INLINING[options], f"-XX:StartFlightRecording:filename={file},settings={settings}")
    theirs = [(stack_of(e), 1) for e in recorded(output, "jdk.CPUTimeSample")]
    assert_agree(ours, theirs, options, 3000, sum(e["lostSamples"] for e in recorded(output, "jdk.CPUTimeSamplesLost")))
