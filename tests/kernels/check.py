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
from event_checks import check_events, check_others, check_verifier, check_waits  # noqa: E402
from harness import chains, folded, metrics, recursion, situations  # noqa: E402

CHAIN = ("main", "alpha", "beta", "gamma", "spin")
INTERPRETED = ("toy_main", "outer", "bridge", "bounce", "ping", "bounce", "pong", "bounce", "ping", "bounce", "inner", "leaf", "run_leaf")
NESTED = ("main", "Service.handle", "outer", "mapped", "middle", "inner", "readSync")
GAP = "[native frames not known]"
METHODS = tuple("chains.Chains" + n for n in (".main", ".begin", *("$Even.step", "$Odd.step") * 4, "$Even.step", ".leaf"))
SECTION = re.compile(r"^=section=(\w+)=$", re.MULTILINE)
# 4 s at 199 Hz are 796 ticks; an emulated CPU may sleep through many of them.
LEAST_SAMPLES = 100
# Packets are received for as long as they are sent, and emulated that is not often.
LEAST_RECEIVED = 5
# Ten programs share what the chain has for itself.
LEAST_OF_EACH = 20
SHARE = 0.99
LEAST_MISSED = 10
# Of samples with a copy of the stack.
TOO_SHORT = "[truncated: stack copy too short]"
WITHOUT_COPY = "[truncated: unwind table not loaded]"
# comm → what unwind.sh has started it with.
RECURSIONS = {"shallow": ("mixed", 30), "aligned": ("aligned", 30), "deep": ("mixed", 200), "deep-static": ("mixed", 200)}


def sections(text):
    parts = SECTION.split(text)
    return {name: body.lstrip("\n") for name, body in zip(parts[1::2], parts[2::2])}


def check_chain(command, text):
    assert "exit 0" in command.splitlines(), command
    stacks = folded.parse(text)
    leaf = stacks.having("spin")
    exact = leaf.having_run(*CHAIN)
    print(f"    chain: {exact.total} of {leaf.total} samples show {';'.join(CHAIN)}")
    assert leaf.total >= LEAST_SAMPLES, stacks.show()
    assert exact.total >= 0.99 * leaf.total, leaf.show()


def check_hits(command, text):
    assert "exit 0" in command.splitlines(), command
    check_verifier(command)
    stacks = folded.parse(text)
    for caller, count in (("many", 60), ("few", 20)):
        hits = stacks.having_run("main", caller, "seek").total
        print(f"    hits of lseek from {caller}: {hits} of {count}")
        assert hits == count, stacks.show()


def check_interpreted(command, text):
    assert "exit 0" in command.splitlines(), command
    check_verifier(command)
    stacks = folded.parse(text).having("run_leaf")
    # Until its file was looked at, emulated that takes long.
    known = folded.Stacks(s for s in stacks if "interpret" not in s.frames or "toy_main" in s.frames)
    whole = known.having_run(*INTERPRETED)
    print(f"    interpreted: {whole.total} of {known.total} samples show {';'.join(INTERPRETED)}; {stacks.total - known.total} came before")
    assert known.total >= LEAST_SAMPLES, stacks.show()
    assert whole.total >= SHARE * known.total, known.show()
    # Its library was seen mapped before anything of it was sampled; emulated, looking at that may take longer than the program waits.
    of_library = folded.Stacks(s for s in stacks if s.frames[0] == "toyhost")
    whole = of_library.having_run(*INTERPRETED)
    print(f"    interpreted by a library: {whole.total} of {of_library.total}")
    assert whole.total >= 0.5 * of_library.total >= LEAST_OF_EACH, of_library.show()


def check_python(command, text):
    assert "exit 0" in command.splitlines(), command
    stacks = folded.parse(text)
    spun = stacks.having("__main__.spin")
    whole = spun.having_run("__main__.<module>", "__main__.Service.handle", "__main__.spin")
    print(f"    python: {whole.total} of {spun.total} samples of spin show its callers; {stacks.total} in all")
    assert spun.total >= LEAST_SAMPLES and spun.total >= 0.5 * stacks.total, stacks.show(4)
    assert whole.total >= SHARE * spun.total, spun.show(4)


def check_young(command, text):
    """AArch64's kernel does not know the thread pointer of a program that has not waited for anything."""
    assert "exit 0" in command.splitlines(), command
    of = folded.Stacks(s for s in folded.parse(text) if s.frames[0] == "young")
    named, native = of.having("__main__.spin"), of.having_run("PyEval_EvalCode", "_PyEval_EvalFrameDefault")
    print(f"    young python: {named.total} samples of spin, {native.total} of the interpreter without a function")
    assert named.total >= LEAST_SAMPLES, of.show(4)
    assert native.total <= max(1, (1 - SHARE) * named.total), native.show(4)


def check_node(text):
    """Each read, from when the process has its tables on: before, no frame of a function has a name. Some that were inlined may be missing."""
    runs = re.findall(r"^flags (.*)\nexit (\d+)\n((?:.+;.+\n)*)", text, re.MULTILINE)
    assert len(runs) == (4 if text else 0), text[:2000]
    for flags, status, body in runs:
        assert status == "0", flags
        reads = folded.Stacks(folded.Stack(tuple(f for f in s.frames if f in NESTED), s.count) for s in folded.parse(body) if "main" in s.frames)
        whole = sum(s.count for s in reads if s.frames == NESTED)
        print(f"    node {flags or 'as it is'}: {whole} of {reads.total} reads show {';'.join(NESTED)}")
        assert whole >= LEAST_SAMPLES and whole >= 0.95 * reads.total, reads.show()
        assert all(in_order(s.frames, NESTED) for s in reads), reads.show()


def check_java(text):
    """Each tick in the innermost method but one, or in what that calls."""
    runs = re.findall(r"^flags (.*)\nexit (\d+)\n((?:.+;.+\n)*)", text, re.MULTILINE)
    assert len(runs) == (4 if text else 0), text[:2000]
    for flags, status, body in runs:
        assert status == "0", flags
        ticks = folded.parse(body).having(METHODS[-1])
        whole = sum(s.count for s in ticks if tuple(f for f in s.frames if f.startswith("chains."))[:len(METHODS)] == METHODS)
        print(f"    java {flags}: {whole} of {ticks.total} samples of {METHODS[-1]} show its callers")
        assert ticks.total >= LEAST_SAMPLES and whole >= SHARE * ticks.total, ticks.show()


def check_anchors(text):
    """Behind native code that cannot be walked come the methods that call it, all of them. Before the tables are on nothing does."""
    runs = re.findall(r"^flags (.*)\nexit (\d+)\n((?:.+;.+\n)*)", text, re.MULTILINE)
    assert len(runs) == (2 if text else 0), text[:2000]
    for flags, status, body in runs:
        assert status == "0", flags
        ticks = folded.parse(body).having("poor_work")
        resumed = ticks.having(GAP)
        whole = sum(s.count for s in resumed if is_below(tuple(f for f in s.frames if f.startswith("chains."))))
        print(f"    java {flags}: {whole} of {ticks.total} samples of native code that cannot be walked show the methods that call it")
        assert resumed.total >= LEAST_SAMPLES and whole == resumed.total, resumed.show()


def is_below(methods):
    """main, begin, and down and up in turn, which ends in the native one."""
    return methods[:2] == ("chains.Poor.main", "chains.Poor.begin") and methods[2:] == (("chains.Poor.down", "chains.Poor.up") * 3)[:len(methods) - 2] \
        and methods[-1] == "chains.Poor.down"


def in_order(names, of):
    rest = iter(of)
    return all(name in rest for name in names)


def check_share(what, stacks, good):
    """Emulated, the agent takes long to have its tables: what was sampled before is only counted."""
    early = sum(s.count for s in stacks if chains.is_early(s))
    late = folded.Stacks(s for s in stacks if not chains.is_early(s))
    right = sum(s.count for s in late if good(s))
    print(f"    {what}: {right} of {late.total} samples show the whole stack; {early} came before the tables")
    assert late.total >= LEAST_OF_EACH, f"{what}:\n{chains.shorten(stacks.show(4))}"
    bad = folded.Stacks(s for s in late if not good(s))
    assert bad.total <= max(1, (1 - SHARE) * late.total), f"{what}:\n{chains.shorten(bad.show(4))}"


def check_unwinding(command, text):
    assert "exit 0" in command.splitlines(), command
    stacks = folded.parse(text)
    of = {name: folded.Stacks(s for s in stacks if s.frames[0] == name) for name in {s.frames[0] for s in stacks}}
    for name, (shape, depth) in RECURSIONS.items():
        frames = recursion.frames_of(shape, depth)
        check_share(name, of.get(name, folded.Stacks()).having("leaf_spin"), lambda s, f=frames: recursion.is_exact(s, f))
    if "signed" in of:
        frames = recursion.frames_of("mixed", 30)
        check_share("signed", of["signed"].having("leaf_spin"), lambda s: recursion.is_exact(s, frames))
    check_share("jit", of.get("jit", folded.Stacks()).having("jit_spin"), is_through_jit)
    check_share("signals", of.get("signals", folded.Stacks()).having("inner_spin"), situations.SITUATIONS["sig-alternate"].good)
    check_share("coroutine", of.get("coroutine", folded.Stacks()).having("co_spin"), situations.SITUATIONS["coroutine"].good)
    check_share("clocks", of.get("clocks", folded.Stacks()).having("read_clocks"), situations.SITUATIONS["clocks"].good)
    for letter in "ab":
        spins = of.get("host", folded.Stacks()).having(f"plugin_{letter}_spin")
        check_share(f"plugin {letter}", spins, lambda s, c=letter: situations.of_plugin(s, c))


def check_go(command, text):
    """C called from Go, and Go called from that: both on other stacks than what called them."""
    assert "exit 0" in command.splitlines(), command
    if not text:
        return
    stacks = folded.Stacks(s for s in folded.parse(text) if s.frames[0] == "go-cgo")
    into_c = ("main.main", "main.intoC", "main._Cfunc_c_outer", "runtime.cgocall", "runtime.asmcgocall")

    def plain(stack):
        return tuple(f.removesuffix(".abi0") for f in stack.frames[1:])

    def whole(stack, *leaf):
        names = plain(stack)
        return names[:1] == ("runtime.goexit",) and folded.contains_run(names, into_c) and names[-len(leaf):] == leaf

    check_share("C called from Go", stacks.having("c_spin"), lambda s: whole(s, "c_outer", "c_inner", "c_spin"))
    leaves = folded.Stacks(s for s in stacks if s.frames[-1] == "main.goSpin")
    check_share("Go called from C", leaves,
                lambda s: whole(s, "main.backInGo", "main.goSpin") and folded.contains_run(plain(s), ("c_outer", "c_inner")))


def check_first(text):
    """As `profile` wrote them, one run behind the other."""
    assert "exit 0" in text.splitlines() and not re.search(r"^exit [^0]", text, re.MULTILINE), text[:2000]
    stacks = folded.Stacks(s for run in re.split(r"^exit 0\n", text, flags=re.MULTILINE) for s in folded.parse(run))
    for name in sorted({s.frames[0] for s in stacks}):
        of = folded.Stacks(s for s in stacks if s.frames[0] == name)
        copied = folded.Stacks(s for s in of if WITHOUT_COPY not in s.frames)
        cut = copied.having(TOO_SHORT)
        print(f"    first samples of {name}: {cut.total} of {copied.total} are cut where the copy ends; {of.total - copied.total} had none")
        assert copied.total >= LEAST_SAMPLES, of.show()
        expected = (1 - SHARE) * copied.total
        assert cut.total <= expected + 3 * expected ** 0.5, f"{name}:\n{chains.shorten(cut.show(6))}"


def check_idle(command, text):
    """What no process did, and was work all the same."""
    assert "exit 0" in command.splitlines(), command
    received = folded.Stacks(s for s in folded.parse(text) if s.frames[0] == "kernel").having("net_rx_action")
    print(f"    idle: {received.total} samples of an idle CPU that received packets")
    assert received.total >= LEAST_RECEIVED, folded.parse(text).show()


def is_through_jit(stack):
    """Two pieces of code without a name, each between the functions that enter it and that it calls."""
    names = situations.from_function(stack, "main") if "main" in stack.frames else ()
    return (len(names) == 8 and situations.root_of_main(stack) and
            (*names[:2], *names[3:5], *names[6:]) == ("main", "enter_first", "back_first", "enter_second", "back_second", "jit_spin"))


def check_inspect(text):
    """The frames of each program's one thread, as `inspect stack` numbers them, innermost first."""
    shown = re.split(r"^program (\S+)\n", text, flags=re.MULTILINE)[1:]
    assert shown, f"no stacks:\n{text}"
    for name, said in zip(shown[::2], shown[1::2]):
        functions = re.findall(r"^\s*#\d+\s+\S+\s+(\S+)", said, re.MULTILINE)
        stack = folded.Stack((name, *reversed(functions)), 1)
        good = is_through_jit(stack) if name == "jit" else recursion.is_exact(stack, recursion.frames_of("mixed", 30))
        print(f"    inspect stack {name}: {len(functions)} frames")
        assert "exit 0" in said.splitlines() and good, f"inspect stack {name}:\n{chains.shorten(said)}"


def check_units(text):
    said = re.findall(r"^exit (\d+) (\S+)$", text, re.MULTILINE)
    for status, name in said:
        print(f"    {name}: exit {status}")
    assert all(status == "0" for status, _ in said), text


def check_accounting(agent, text):
    assert "exit 0" in agent.splitlines(), agent
    m = metrics.parse(text)
    ticks, ends = m.kernel("ticks"), sum(m.kernel(n) for n in ("emitted", "idle", "filtered", "lost"))
    waiting = m.agent("samples_received") - m.agent("samples_in_profiles") - m.dropped_samples()
    print(f"    ticks: {ticks}, ended: {ends}; emitted: {m.kernel('emitted')}, received: {m.agent('samples_received')}, "
          f"in profiles: {m.agent('samples_in_profiles')}, dropped: {m.dropped_samples()}")
    print(f"    missed: {m.kernel('ticks_missed')}")
    assert ticks == ends
    # For twelve seconds one of the CPUs had a BPF map changed: a few ticks a second, by 6.12.
    assert m.kernel("ticks_missed") >= LEAST_MISSED
    assert m.agent("samples_in_profiles") > 0
    assert 0 <= waiting <= m.agent("samples_received")
    assert m.agent("samples_received") <= m.kernel("emitted")


def main():
    text = sys.stdin.read()
    try:
        parts = sections(text)
        print(f"    kernel: {parts['kernel'].strip()}")
        check_verifier(parts["command"])
        check_chain(parts["command"], parts["folded"])
        check_hits(parts["tracepoint"], parts["hits"])
        check_waits(parts["off_cpu"], parts["waits"])
        check_events(parts["events"], parts["profiles"])
        check_others(parts["others"], parts["found"])
        check_interpreted(parts["interpreted"], parts["both"])
        check_python(parts["python"], parts["functions"])
        check_young(parts["young"], parts["youngs"])
        check_node(parts["node"])
        check_java(parts["java"])
        check_anchors(parts["anchors"])
        check_units(parts["unit"])
        check_inspect(parts["inspect"])
        check_unwinding(parts["unwind"], parts["unwound"])
        check_go(parts["go"], parts["called"])
        check_first(parts["first"])
        check_idle(parts["idle"], parts["received"])
        check_accounting(parts["agent"], parts["metrics"])
    except (AssertionError, KeyError) as error:
        said = text.split("=section=metrics=")[0][-6000:]
        print(f"check.py: {type(error).__name__}: {error}\n--- the machine printed:\n{said}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
