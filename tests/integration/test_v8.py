# SPDX-License-Identifier: Apache-2.0
"""Functions of JavaScript programs: as V8 itself tells them, frame by frame, between the native frames around them."""
import json
import subprocess

import pytest

from harness import folded, nodes, paths, pprof

pytestmark = pytest.mark.bpf

CHAINS = paths.TOP / "tests/fixtures/node/chains.js"
READS = "tracepoint:syscalls:sys_enter_pread64"
# Each function by itself: those that were inlined are not shown.
TIERS = {
    "interpreted": ("--no-opt", "--no-sparkplug"),
    "baseline": ("--no-opt", "--always-sparkplug"),
    "optimized": ("--no-turbo-inlining", "--no-maglev-inlining"),
}


@pytest.fixture(params=nodes.NAMES)
def node(request):
    found, why = nodes.get(request.param)
    if not found:
        pytest.skip(why)
    return found


def has_flag(node, flag):
    return subprocess.run([node, flag, "-e", ""], capture_output=True, check=False).returncode == 0


def is_of_v8(place):
    """(function, file, line): native code has other files, or none; code that was made of a text has none either."""
    return place[1].startswith(("node:", "file:", "/probes/")) or place[1].endswith(".js") or place[0].startswith("evaled_")


def same(name):
    """Some functions get their name when they are made: with a prefix, or of a computed key. V8's backtrace shows that one, or does not."""
    name = name.removeprefix("get ").removeprefix("set ")
    return "<anonymous>" if not name or name.startswith("[") else name


def profiled(processes, output, *arguments):
    run = processes.run(paths.XAGENT, "profile", "-U", "-o", output, *arguments, seconds=120)
    assert run.popen.returncode == 0, run.err
    return pprof.parse(output.read_bytes()) if str(output).endswith(".pb.gz") else folded.parse(output.read_text())


def probed(profile):
    """number of the probe → frames from it on, innermost first."""
    stacks = {}
    for sample in profile.samples:
        frames = [(same(name), file) for name, file, line in reversed(sample.places) if is_of_v8((name, file, line))]
        for i, (name, _) in enumerate(frames):
            if name.startswith("probe_"):
                stacks[int(name[6:])] = frames[i:]
    return stacks


def first_difference(seen, told):
    at = next((i for i, (a, b) in enumerate(zip(seen, told)) if a != b), min(len(seen), len(told)))
    return at, "seen", seen[max(at - 1, 0):at + 2], "told", told[max(at - 1, 0):at + 2]


def check_chains(processes, tmp_path, node, flags, n_chains, n_links, n_rounds, seed, n_threads=1):
    report = tmp_path / "report"
    profile = profiled(processes, tmp_path / "o.pb.gz", "-F", "10000", "-e", READS, "--", node, *flags, CHAINS, report, str(seed), str(n_chains), str(n_links),
                       str(n_rounds), str(n_threads))
    seen = probed(profile)
    told = {number: [(same(f[0]), f[1]) for f in frames if is_of_v8(f)] for number, frames in map(json.loads, report.read_text().splitlines())}
    assert len(told) == n_chains * n_threads
    missing = sorted(set(told) - set(seen))
    assert not missing, f"{len(missing)} of {len(told)} are missing, as {missing[:5]}"
    wrong = [(n, first_difference(seen[n], frames)) for n, frames in told.items() if seen[n] != frames]
    assert not wrong, f"{len(wrong)} of {len(told)} are wrong, as {wrong[:5]}"


@pytest.mark.parametrize("tier", TIERS)
def test_stacks_are_those_of_v8(processes, tmp_path, node, tier):
    """Names, files and order of calls of every kind."""
    flags = [f for f in TIERS[tier] if has_flag(node, f)]
    check_chains(processes, tmp_path, node, flags, 300, 8, 30 if tier == "optimized" else 1, seed=8)
