# SPDX-License-Identifier: Apache-2.0
"""JavaScript programs whose code is made, optimized, moved and thrown away all the time, and processes that are over soon: no wrong function, and hardly a missing one."""
import json
import re

import pytest

from harness import folded, nodes, paths

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

STORMS = paths.TOP / "tests/fixtures/node/storms.js"
OWN = re.compile(r"(storm_(main|drive)|(outer|inner)_[0-9]+)$")
# The mode of the program, and flags of V8 that not every version has. moved: the collector compacts again and again. flushed: it drops the bytecode of functions that have
# not run between two collections.
KINDS = {
    "dropped": ("plain",),
    "deoptimized": ("deoptimized",),
    "flushed": ("plain", "--flush-bytecode", "--stress-flush-code", "--gc-interval=3000"),
    "moved": ("allocating", "--stress-compaction", "--max-semi-space-size=1", "--gc-interval=20000"),
    "generators": ("generators",),
    "asynchronous": ("asynchronous",),
    "workers": ("workers",),
    "cluster": ("cluster",),
}
DEFAULT = ("dropped",)


@pytest.fixture(params=nodes.NAMES if nodes.FULL else nodes.SAMPLE[-1:])
def node(request):
    return nodes.get_or_skip(request.param)


def profiled(processes, output, rate, *command):
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", rate, "-o", output, "--", *command, seconds=120)
    assert run.popen.returncode == 0, run.err
    return folded.parse(output.read_text())


def own(stack):
    return [f for f in stack.frames if OWN.match(f)]


def has_two_numbers(names):
    """Of functions that call nobody else: one of them is a wrong name."""
    return len({n.split("_")[1] for n in names if not n.startswith("storm_")}) > 1


def is_beginning(names):
    expected = ("storm_main", "storm_drive", "outer", "inner")
    return len(names) <= 4 and all(n.startswith(e) for n, e in zip(names, expected))


@pytest.mark.parametrize("kind", KINDS if nodes.FULL else DEFAULT)
def test_storm(processes, tmp_path, node, kind):
    mode, *flags = KINDS[kind]
    flags = [f for f in flags if nodes.has_flag(node, f)]
    stacks = profiled(processes, tmp_path / "o", "499", node, *flags, STORMS, mode, "3")
    begun = folded.Stacks(s for s in stacks if own(s))
    wrong = folded.Stacks(s for s in begun if has_two_numbers(own(s)))
    assert not wrong.total, wrong.show()
    other = folded.Stacks(s for s in begun if not is_beginning(own(s)))
    assert other.total <= 0.005 * begun.total, other.show()
    assert begun.total > 100 and folded.Stacks(s for s in begun if len(own(s)) >= 3).total >= 0.3 * begun.total, begun.show()


YOUNG = """
'use strict';
function young_work(n) { let s = 0; for (let i = 0; i < 2000; i++) s += (i * n) % 7; return s + [3, 1, 2].sort((a, b) => a - b)[0]; }
function young_main(end) { let n = 0; while (Date.now() < end) n += young_work(n); return n; }
young_main(Date.now() + 200);
"""


@pytest.mark.skipif(not nodes.FULL, reason="in the full matrix")
def test_young_processes(processes, tmp_path, node):
    """Scripts of 200 ms, one after another: their functions are shown but for the first sample or two of each, which the process had no table for."""
    program = tmp_path / "young.js"
    program.write_text(YOUNG)
    stacks = profiled(processes, tmp_path / "o", "499", "sh", "-c", f"for i in $(seq 25); do {node} {program}; done")
    running = folded.Stacks(s for s in stacks if "Builtins_JSEntry" in s.frames or "young_main" in s.frames)
    named = folded.Stacks(s for s in running if any(not re.match(r"\[|Builtins_|_|.*::", f) and f not in ("node", "main") for f in s.frames))
    assert named.total >= 0.97 * running.total and running.total > 300, folded.Stacks(s for s in running if s not in named).show()


SHARES = """
'use strict';
function half(n) { return burn(n * 50); }
function third(n) { return burn(n * 30); }
function fifth(n) { return burn(n * 20); }
function burn(n) { let s = 0; for (let i = 0; i < n * 100; i++) s += i % 7; return s; }
function shares() { let s = 0; for (let i = 0; i < 200; i++) s += half(10) + third(10) + fifth(10) + sorted(); return s; }
function sorted() { return Array.from({ length: 300 }, (_, i) => (i * 7919) % 300).sort((a, b) => a - b)[0]; }
while (process.cpuUsage().user < 8e6) shares();
"""


def told_by_v8(profile):
    """function → share of the samples below shares()."""
    by_id = {n["id"]: n for n in profile["nodes"]}
    parent = {c: n["id"] for n in profile["nodes"] for c in n.get("children", ())}
    counts, total = {}, 0
    for sample in profile["samples"]:
        names, at = set(), sample
        while at is not None:
            names.add(by_id[at]["callFrame"]["functionName"])
            at = parent.get(at)
        if "shares" in names:
            total += 1
            for name in names:
                counts[name] = counts.get(name, 0) + 1
    return {name: n / total for name, n in counts.items()}


@pytest.mark.skipif(not nodes.FULL, reason="in the full matrix")
def test_shares_are_those_of_cpu_prof(processes, tmp_path, node):
    program = tmp_path / "shares.js"
    program.write_text(SHARES)
    flags = [f for f in ("--no-turbo-inlining", "--no-maglev-inlining") if nodes.has_flag(node, f)]
    stacks = profiled(processes, tmp_path / "o", "997", node, *flags, "--cpu-prof", "--cpu-prof-interval=1000", f"--cpu-prof-dir={tmp_path}/prof", program)
    told = told_by_v8(json.loads(next((tmp_path / "prof").iterdir()).read_text()))
    # V8 tells what it does itself, as collecting garbage, apart from the function that it was called by.
    below = folded.Stacks(s for s in stacks if "shares" in s.frames and not any(f.startswith("v8::internal::Heap::") for f in s.frames))
    assert below.total > 5000
    names = ("half", "third", "fifth", "burn", "sorted")
    both = {name: (round(below.having(name).total / below.total, 3), round(told[name], 3)) for name in names}
    assert all(abs(seen - by_v8) <= 0.03 for seen, by_v8 in both.values()), both
