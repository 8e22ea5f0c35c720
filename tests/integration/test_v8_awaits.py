# SPDX-License-Identifier: Apache-2.0
"""Functions that await the one that runs, as frames: as V8 itself tells them, frame by frame, as far as it does."""
import json

import pytest

from harness import nodes, paths
from test_v8 import READS, classes_of, is_of_v8, probed, profiled, same

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

AWAITS = paths.TOP / "tests/fixtures/node/awaits.js"
KINDS = {
    "interpreted": ("--no-opt", "--no-maglev", "--no-sparkplug"),
    "baseline": ("--no-opt", "--no-maglev", "--always-sparkplug"),
    "optimized": (),
    "moving": ("--semi-space-growth-factor=1", "--max-semi-space-size=1", "--gc-interval=2000"),
}
ROUNDS = {"optimized": 15, "moving": 3}
# How many lines of awaits are known at least: those of functions whose bytecode is all that there is of them.
LINES = {"interpreted": 0.9}


# Versions before do not follow Promise.allSettled() in their own backtraces.
FOLLOWS_SETTLED = 18
CLASSES = classes_of(AWAITS)


def told_name(name, file, line):
    of = CLASSES[line] if file == str(AWAITS) else None
    name = same(name)
    return f"{of}.{name}" if of and name != "<anonymous>" else name


def run_awaits(processes, tmp_path, node, flags, n_chains, n_links, n_rounds, *arguments):
    """What V8 has told of each chain, and what was seen of it: {number: frames} each, without node's own functions: V8 has those that run before those that wait."""
    report = tmp_path / "report"
    flags = [f for f in flags if nodes.has_flag(node, f)]
    profile = profiled(processes, tmp_path / "o.pb.gz", *arguments, "-F", "10000", "-e", READS, "--", node, *flags, AWAITS, report, "8", str(n_chains), str(n_links), str(n_rounds))
    seen = {number: [f for f in frames if not f[1].startswith("node:")] for number, frames in probed(profile, with_lines=True).items()}
    told = {number: [(told_name(*f[:3]), *f[1:]) for f in frames if is_of_v8(f) and not f[1].startswith("node:")] for number, frames in map(json.loads, report.read_text().splitlines())}
    assert len(told) == n_chains
    missing = sorted(set(told) - set(seen))
    assert len(missing) <= 0.01 * n_chains, f"{len(missing)} are missing, as {missing[:5]}"
    return {n: told[n] for n in seen}, seen


def names(frames):
    return [f[:2] for f in frames]


def is_right(major, told, seen):
    """What runs in a callback of then() has no chain: it is not resumed."""
    if any(name == "inCallback" for name, *_ in told):
        return names(seen) == names(told)[:1]
    if int(major) < FOLLOWS_SETTLED and len(seen) > len(told):
        return names(seen)[:len(told)] == names(told) and seen[len(told)][0] == "settled"
    return names(seen) == names(told)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("major", nodes.NAMES if nodes.FULL else nodes.SAMPLE[-1:])
def test_stacks_are_those_of_v8(processes, tmp_path, major, kind):
    node = nodes.get_or_skip(major)
    if not nodes.FULL and kind != "interpreted":
        pytest.skip("in the full matrix")
    told, seen = run_awaits(processes, tmp_path, node, KINDS[kind], 300 if nodes.FULL else 100, 6, ROUNDS.get(kind, 1), "--lines", "--async-frames")
    wrong = [(n, told[n], seen[n]) for n in told if not is_right(major, told[n], seen[n])]
    assert not wrong, f"{len(wrong)} of {len(told)} are wrong, as {wrong[:3]}"
    assert sum(len(frames) for frames in seen.values()) > 6 * len(seen)
    # The line of the await, or none.
    pairs = [(a, b) for n in told for a, b in zip(told[n], seen[n]) if a[3]]
    wrong = [(a, b) for a, b in pairs if b[2] not in (a[2], 0)]
    known = sum(b[2] != 0 for _, b in pairs)
    assert not wrong, f"{len(wrong)} of {len(pairs)} lines are wrong, as {wrong[:5]}"
    assert known >= LINES.get(kind, 0) * len(pairs) or int(major) < 18, f"{known} of {len(pairs)} are known"


def test_only_where_it_is_wanted(processes, tmp_path):
    if not nodes.FULL:
        pytest.skip("in the full matrix")
    node = nodes.get_or_skip(nodes.SAMPLE[-1])
    told, seen = run_awaits(processes, tmp_path, node, (), 40, 4, 1)
    for n, frames in told.items():
        running = [f for f in frames if not f[3]]
        assert names(seen[n]) == names(running), n
