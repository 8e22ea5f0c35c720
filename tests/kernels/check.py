#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Judge what inside.sh printed.

usage: check.py < OUTPUT      prints the verifier's figures, and what is wrong; exits 1 when something is
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
sys.dont_write_bytecode = True
from harness import folded, metrics  # noqa: E402

CHAIN = ("main", "alpha", "beta", "gamma", "spin")
SECTION = re.compile(r"^=section=(\w+)=$", re.MULTILINE)
PROGRAM = re.compile(r"^verifier program=(\S+) instructions=(\d+)$", re.MULTILINE)
# 4 s at 199 Hz are 796 ticks; an emulated CPU may sleep through many of them.
LEAST_SAMPLES = 100
N_CPUS = 2


def sections(text):
    parts = SECTION.split(text)
    return {name: body.lstrip("\n") for name, body in zip(parts[1::2], parts[2::2])}


def check_verifier(text):
    programs = PROGRAM.findall(text)
    for name, instructions in programs:
        print(f"    {name}: {instructions} instructions processed")
        assert 0 < int(instructions) < 1_000_000
    assert programs, f"no verifier statistics:\n{text}"


def check_chain(command, text):
    assert "exit 0" in command.splitlines(), command
    stacks = folded.parse(text)
    leaf = stacks.having("spin")
    exact = leaf.having_run(*CHAIN)
    print(f"    chain: {exact.total} of {leaf.total} samples show {';'.join(CHAIN)}")
    assert leaf.total >= LEAST_SAMPLES, stacks.show()
    assert exact.total >= 0.99 * leaf.total, leaf.show()


def check_accounting(agent, text):
    assert "exit 0" in agent.splitlines(), agent
    m = metrics.parse(text)
    ticks, ends = m.kernel("ticks"), sum(m.kernel(n) for n in ("emitted", "idle", "filtered", "lost"))
    waiting = m.agent("samples_received") - m.agent("samples_in_profiles") - m.dropped_samples()
    print(f"    ticks: {ticks}, ended: {ends}; emitted: {m.kernel('emitted')}, received: {m.agent('samples_received')}, "
          f"in profiles: {m.agent('samples_in_profiles')}, dropped: {m.dropped_samples()}")
    # A scrape reads one CPU after the other, and each may be in the middle of a tick.
    assert 0 <= ticks - ends <= N_CPUS
    assert m.agent("samples_in_profiles") > 0
    assert 0 <= waiting <= m.agent("samples_received")
    assert m.agent("samples_received") <= m.kernel("emitted")


def main():
    text = sys.stdin.read()
    try:
        parts = sections(text)
        print(f"    kernel: {parts['kernel'].strip()}")
        check_verifier(parts["verifier"])
        check_chain(parts["command"], parts["folded"])
        check_accounting(parts["agent"], parts["metrics"])
    except (AssertionError, KeyError) as error:
        print(f"check.py: {type(error).__name__}: {error}\n--- the machine printed:\n{text[-6000:]}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
