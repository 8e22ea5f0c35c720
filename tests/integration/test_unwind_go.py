# SPDX-License-Identifier: Apache-2.0
"""
Go: unwound by Go's own tables, through methods, closures and frames of all sizes, up to where a goroutine begins; and C called from Go,
which calls Go.
"""
import pytest

from harness import burning, chains
from harness.folded import Stacks, contains_run

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

# The last is the leaf, and has no frame.
CHAIN = ("main.g1", "main.g2", "main.(*step).g3", "main.g4", "main.g4.func1", "main.g5", "main.g6", "main.g7", "main.g8", "main.g9")
MAIN = ("runtime.goexit", "runtime.main", "main.main", *CHAIN)
GOROUTINE = ("runtime.goexit", "main.main.gowrap1", "main.worker", *CHAIN)
C_SIDE = ("c_outer", "c_inner", "c_spin")
BACK_IN_GO = ("main.backInGo", "main.goSpin")
LEAST = 50


@pytest.fixture(scope="module")
def built(frameless_programs):
    return frameless_programs("go-chain", "go-chain-strip", "go-chain-pie", "go-cgo")


@pytest.fixture
def profiled(processes, built, tmp_path):
    def run(name, *arguments):
        if name not in built:
            pytest.skip(f"{name} could not be built")
        stacks = burning.profile_running(processes, tmp_path, [(built[name], burning.SECONDS, *arguments)], enough=2)
        return stacks[burning.comm(name)]
    return run


def plain(stack):
    """The frames without the process, and without the mark that the linker gives assembly functions."""
    return tuple(f.removesuffix(".abi0") for f in stack.frames[1:])


@pytest.mark.parametrize("name", ["go-chain", "go-chain-pie"])
def test_goroutines_are_complete(profiled, name):
    stacks = profiled(name)
    leaves = Stacks(s for s in stacks if s.frames[-1] == "main.g9")
    chains.assert_all(leaves, lambda s: plain(s) in (MAIN, GOROUTINE), LEAST, "main.g9")
    for whole in (MAIN, GOROUTINE):
        assert any(plain(s) == whole for s in leaves), leaves.show()


def test_whatever_is_running_is_complete(profiled):
    """The scheduler's and the collector's stacks too, and ticks in the beginning of functions."""
    stacks = profiled("go-chain")
    cut = Stacks(s for s in stacks if not chains.is_complete(s))
    assert cut.total <= 0.002 * stacks.total, cut.show()


def test_stripped_program_is_complete(profiled):
    """Without a symbol table: the table that Go unwinds by cannot be stripped."""
    stacks = profiled("go-chain-strip")
    assert stacks.total >= LEAST, stacks.show()
    cut = Stacks(s for s in stacks if not chains.is_complete(s))
    assert cut.total <= 0.002 * stacks.total, cut.show()
    # main.g1 … main.g9 and what called them, even where they have no names.
    whole = sum(s.count for s in stacks if len(s.frames) - 1 == len(MAIN))
    assert whole >= 0.95 * stacks.total, stacks.show()


def test_c_called_from_go(profiled):
    stacks = profiled("go-cgo")
    spins = stacks.having("c_spin")
    chains.assert_all(spins, lambda s: s.frames[-len(C_SIDE):] == C_SIDE, LEAST, "c_spin")
    # Below C lies the thread's own stack; the goroutine that has called is on another.
    chains.assert_all(spins, lambda s: "runtime.asmcgocall" in plain(s), LEAST, "called through runtime.asmcgocall")
    through = [s for s in spins if contains_run(plain(s), ("main.main", "main.intoC")) and chains.is_complete(s)]
    assert sum(s.count for s in through) >= 0.98 * spins.total, spins.show()


def test_go_called_from_c(profiled):
    stacks = profiled("go-cgo")
    spins = Stacks(s for s in stacks if s.frames[-1] == "main.goSpin")
    chains.assert_all(spins, lambda s: contains_run(s.frames, BACK_IN_GO), LEAST, "main.goSpin")
    through = [s for s in spins if contains_run(s.frames, ("c_outer", "c_inner")) and contains_run(s.frames, ("main.main", "main.intoC"))]
    assert sum(s.count for s in through) >= 0.98 * spins.total, spins.show()
