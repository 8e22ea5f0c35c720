# SPDX-License-Identifier: Apache-2.0
"""Shares of Python's functions as another profiler tells them, of the same process in the same seconds: py-spy, and the profiler that comes with CPython 3.15."""
import collections
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from harness import folded, paths, pythons
from harness.processes import wait_until

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

MIX = (paths.TOP / "tests/fixtures/python/mix.py").read_text()
# The shares of two profilers differ by a point or two.
RATE, SECONDS, LEAST_SAMPLES, POINTS = 997, 15 if pythons.FULL else 10, 2000, 0.03
# Other profilers look at a process whether or not it has a CPU, the agent only while it has one. Where others take that, for moments that fall on any function, shares
# differ by some of what they took.
OF_TIME_WITHOUT_CPU = 0.2
# py-spy knows versions up to 3.13.
SPIED = ("host 3.8", "host 3.9", "host 3.10", "host 3.11", "host 3.12", "host 3.13") if pythons.FULL else ("host 3.12",)


class Shares(NamedTuple):
    n: int
    own: dict    # function → share of the samples in which it is the last one of Python
    total: dict  # function → share of those that it is in


def shares_of(stacks, named=str):
    """[(functions of the program, outermost first), samples]"""
    n, own, total = 0, collections.Counter(), collections.Counter()
    for functions, count in stacks:
        functions = list(map(named, functions))
        if not functions:
            continue
        n += count
        own[functions[-1]] += count
        total.update(dict.fromkeys(functions, count))
    return Shares(n, {f: c / n for f, c in own.items()}, {f: c / n for f, c in total.items()})


def lines_of(path, pattern):
    """Folded stacks; the functions are what the pattern finds."""
    for line in path.read_text().splitlines():
        text, _, count = line.rpartition(" ")
        yield [m[1] for m in map(re.compile(pattern).fullmatch, text.split(";")) if m], int(count)


def without_class(function):
    """Up to 3.10 py-spy has no more of a name."""
    return function.rsplit(".", 1)[-1]


def of_agent(path):
    return [([f.removeprefix("__main__.") for f in s.frames if f.startswith("__main__.")], s.count) for s in folded.parse(path.read_text())]


def differences(ours, theirs):
    for what in ("own", "total"):
        a, b = getattr(ours, what), getattr(theirs, what)
        for function in sorted({*a, *b}):
            yield abs(a.get(function, 0) - b.get(function, 0)), what, function, round(a.get(function, 0), 3), round(b.get(function, 0), 3)


def assert_agree(ours, theirs):
    assert min(ours.n, theirs.n) >= LEAST_SAMPLES, (ours.n, theirs.n)
    worst = sorted(differences(ours, theirs), reverse=True)
    without_cpu = max(0, 1 - ours.n / (RATE * SECONDS))
    print(f"without a CPU for {without_cpu:.2f} of the time, {ours.n} and {theirs.n} samples of {len(ours.own)} functions; the largest differences:", *worst[:3], sep="\n")
    assert len(theirs.own) >= 10, theirs.own
    assert worst[0][0] <= POINTS + OF_TIME_WITHOUT_CPU * without_cpu, worst[:5]


def go_first():
    """It is to have one of two CPUs. Not in real time: what is throttled at each second's end falls on the same functions again and again."""
    os.setpriority(os.PRIO_PROCESS, 0, -15)
    autogroup = Path("/proc/self/autogroup")
    if autogroup.exists():
        autogroup.write_text("-15", encoding="ascii")


def profile_beside(processes, output, pid, judge):
    """The agent and the judge, which is a command, at the same time."""
    other = processes.start(*judge)
    agent = processes.start(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", RATE, "-d", str(SECONDS), "-p", str(pid), "-o", output)
    assert agent.wait(SECONDS + 30) == 0, agent.err
    assert other.wait(SECONDS + 60) == 0, other.out + other.err
    return of_agent(output)


@pytest.mark.parametrize("name", SPIED, ids=lambda n: n.replace(" ", "_"))
@pytest.mark.usefixtures("two_cpus")
def test_py_spy(processes, tmp_path, name):
    executable = pythons.OF_HOST.get(name.split()[1])
    if not executable:
        pytest.skip(f"no {name}")
    python, _ = pythons.get(name)
    spy, why = pythons.installed(executable, "py-spy")
    if not spy:
        pytest.skip(why)
    (tmp_path / "mix.py").write_text(MIX)
    process = processes.start(*python.command, tmp_path / "mix.py", 4 * SECONDS, preexec_fn=go_first)
    wait_until(lambda: "python" in os.readlink(f"/proc/{process.pid}/exe"), 5, "it runs")
    ours = profile_beside(processes, tmp_path / "ours", process.pid, (spy / "py-spy", "record", "-f", "raw", "-F", "-r", "250", "-d", str(SECONDS), "-p", str(process.pid),
                                                                     "-o", tmp_path / "theirs"))
    named = without_class if name in ("host 3.8", "host 3.9", "host 3.10") else str
    assert_agree(shares_of(ours, named), shares_of(lines_of(tmp_path / "theirs", r"(.+) \(mix\.py:\d+\)"), named))


@pytest.mark.skipif(not pythons.FULL, reason="XAGENT_TEST_MATRIX=full runs it")
@pytest.mark.usefixtures("two_cpus")
def test_profiler_of_the_library(processes, tmp_path):
    """It reads /proc, and files of the process by the names there: both run in one mount namespace and root."""
    python, why = pythons.get("debian 3.15")
    if not python or not (python.root / "usr/lib/python3.15/profiling/sampling").exists() or not shutil.which("nsenter"):
        pytest.skip(why or "no profiling.sampling in Debian's 3.15, or no nsenter")
    folder = python.root / "tmp" / f"xagent-test-{os.getpid()}"
    folder.mkdir()
    try:
        (folder / "mix.py").write_text(MIX)
        inside, environment = f"/tmp/{folder.name}", {**os.environ, "LC_ALL": "C"}
        process = processes.start("unshare", "--mount", "sh", "-c", f'mount -t proc proc {python.root}/proc && exec "$@"', "sh", *python.command, f"{inside}/mix.py",
                                  4 * SECONDS, env=environment, preexec_fn=go_first)
        wait_until(lambda: "python" in os.readlink(f"/proc/{process.pid}/exe"), 5, "it runs")
        ours = profile_beside(processes, tmp_path / "ours", process.pid, ("env", "LC_ALL=C", "nsenter", "--mount", "--target", str(process.pid), *python.command, "-m",
                                                                         "profiling.sampling", "attach", "--collapsed", "--blocking", "--no-gc", "-r", "500", "-d",
                                                                         str(SECONDS), "-o", f"{inside}/theirs", str(process.pid)))
        assert_agree(shares_of(ours), shares_of(lines_of(folder / "theirs", r"mix\.py:(.+):\d+")))
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)
