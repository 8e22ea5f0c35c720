# SPDX-License-Identifier: Apache-2.0
"""What threads wait for: as the innermost frame, as a label, or not at all; sums are the same."""
import gzip
import re

import pytest

from harness import folded, paths, pprof

pytestmark = pytest.mark.bpf

REASONS = {"on_sleep": "sleep", "on_lock": "lock", "on_pipe": "pipe", "on_socket": "socket", "on_poll": "poll",
           "on_signal": "signal", "on_page": "page fault", "on_child": "child", "behind_neighbour": "ready"}
# Of what the program says.
WITHIN = 0.03
# Of three waits.
LEAST = 3


def profile(processes, program, rounds, path, *arguments):
    run = processes.start(paths.XAGENT, "profile", "-e", "off_cpu", "-o", path, *arguments, "--", program, rounds)
    assert run.wait(60) == 0, run.err
    return {name: int(ns) for name, ns in re.findall(r"^(\w+) (\d+)$", run.out, re.M)}


def test_reasons(processes, programs, tmp_path):
    """Each function waits for one thing, and then for a CPU: together as long as it says."""
    own = profile(processes, programs["reasons"], "30", tmp_path / "f", "-f", "folded")
    stacks = folded.parse((tmp_path / "f").read_text())
    assert len(own) >= len(REASONS) - 1 and set(own) <= set(REASONS), own
    for name, ns in own.items():
        mine = stacks.having("main", name)
        if name == "on_child":
            mine = folded.Stacks(s for s in mine if "wait_child" in s.frames and "pause_ms" not in s.frames)
        by_reason = {leaf: sum(s.count for s in mine if s.frames[-1] == leaf) for leaf in {s.frames[-1] for s in mine}}
        assert set(by_reason) <= {f"[{REASONS[name]}]", "[ready]"}, (name, by_reason)
        assert abs(mine.total / ns - 1) < WITHIN, (name, by_reason, ns, stacks.show())
        # 30 times 8 ms, less what passes before it is waited for: on a busy machine some.
        assert by_reason[f"[{REASONS[name]}]"] > 0.4 * 30 * 8e6, (name, by_reason, ns)


def test_without_reasons(processes, programs, tmp_path):
    profile(processes, programs["reasons"], "3", tmp_path / "f", "-f", "folded", "--off-cpu-reason", "none")
    stacks = folded.parse((tmp_path / "f").read_text())
    assert stacks.total > 0 and not [s for s in stacks if s.frames[-1].startswith("[")], stacks.show()


def test_labels(processes, programs, tmp_path):
    profile(processes, programs["reasons"], "3", tmp_path / "p.pb.gz", "--off-cpu-reason", "label")
    found = pprof.parse((tmp_path / "p.pb.gz").read_bytes())
    for name, reason in REASONS.items():
        mine = [s for s in found.samples if name in s.frames and "pause_ms" not in s.frames or name == "on_sleep" and name in s.frames]
        reasons = {s.labels.get("reason") for s in mine}
        assert reasons <= {reason, "ready"} and (reason in reasons or not mine and name == "on_page"), (name, reasons)
    assert not any(f.startswith("[ready") for s in found.samples for f in s.frames)
    # The wait is counted with what was waited for.
    assert {t for t, _ in found.sample_types} == {"offcpu", "waits"}
    assert sum(s.values[1] for s in found.samples if "on_sleep" in s.frames and s.labels["reason"] == "sleep") >= LEAST
