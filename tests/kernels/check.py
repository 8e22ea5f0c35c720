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
from harness import chains, folded, metrics, recursion, situations  # noqa: E402

CHAIN = ("main", "alpha", "beta", "gamma", "spin")
SECTION = re.compile(r"^=section=(\w+)=$", re.MULTILINE)
PROGRAM = re.compile(r"^verifier program=(\S+) instructions=(\d+)$", re.MULTILINE)
# 4 s at 199 Hz are 796 ticks; an emulated CPU may sleep through many of them.
LEAST_SAMPLES = 100
N_CPUS = 2
# Six programs share what the chain has for itself.
LEAST_OF_EACH = 20
SHARE = 0.99
# comm → what unwind.sh has started it with.
RECURSIONS = {"shallow": ("mixed", 30), "aligned": ("aligned", 30), "deep": ("mixed", 200), "deep-static": ("mixed", 200)}


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


def check_share(what, stacks, good):
    """Emulated, the agent takes long to have its tables: what was sampled before is only counted."""
    early = sum(s.count for s in stacks if chains.is_cold(s) or s.frames[1] == situations.REPLACED)
    warm = folded.Stacks(s for s in stacks if not chains.is_cold(s) and s.frames[1] != situations.REPLACED)
    right = sum(s.count for s in warm if good(s))
    print(f"    {what}: {right} of {warm.total} samples show the whole stack; {early} came before the tables")
    assert warm.total >= LEAST_OF_EACH, f"{what}:\n{chains.shorten(stacks.show(4))}"
    bad = folded.Stacks(s for s in warm if not good(s))
    assert right >= SHARE * warm.total, f"{what}:\n{chains.shorten(bad.show(4))}"


def check_unwinding(command, text):
    assert "exit 0" in command.splitlines(), command
    stacks = folded.parse(text)
    of = {name: folded.Stacks(s for s in stacks if s.frames[0] == name) for name in {s.frames[0] for s in stacks}}
    for name, (shape, depth) in RECURSIONS.items():
        frames = recursion.frames_of(shape, depth)
        check_share(name, of.get(name, folded.Stacks()).having("leaf_spin"), lambda s, f=frames: recursion.is_exact(s, f))
    check_share("signals", of.get("signals", folded.Stacks()).having("inner_spin"), situations.SITUATIONS["sig-alternate"].good)
    for letter in "ab":
        spins = of.get("host", folded.Stacks()).having(f"plugin_{letter}_spin")
        check_share(f"plugin {letter}", spins, lambda s, c=letter: situations.of_plugin(s, c))


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
        check_unwinding(parts["unwind"], parts["unwound"])
        check_accounting(parts["agent"], parts["metrics"])
    except (AssertionError, KeyError) as error:
        print(f"check.py: {type(error).__name__}: {error}\n--- the machine printed:\n{text[-6000:]}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
