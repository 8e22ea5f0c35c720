# SPDX-License-Identifier: Apache-2.0
"""
gdb as the judge: real programs are stopped at random moments, and gdb and `xagent inspect stack` look at the very same state.

Whole stacks are compared, pc by pc. A difference is explained only where there is no unwind information for the last frame on which both
agree, so that each has to guess, or where gdb gives up. Everything else fails. Also: that gdb sees in the fixture programs what the other
tests expect of xagent.
"""
import collections
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import frameless
import pytest

from harness import burning, chains, fde, gdb, inspect, privileges, recursion, situations
from harness.folded import Stack
from harness.processes import wait_until

pytestmark = pytest.mark.agent

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"
STOPS = 12 if FULL else 5
# Of all stacks of a program, so many must agree in full, or nothing has been judged.
LEAST_SAME = 0.5
# A return address, or the call before it.
CALL = (0, -1)
# A system call that is to be restarted: before its instruction, or after.
SYSCALL_BYTES = 2

PYTHON = """
import json, re, time
data = [{'k%d' % i: [i, str(i), {'x': i / 3}]} for i in range(300)]
def fold(n):
    return n if n < 1 else fold(n - 1) + 1
while True:
    text = json.dumps(data, indent=1)
    re.sub(r'(\\d+)', lambda m: m.group(1) + '0', text)
    sorted(json.loads(text), key=lambda d: str(d))
    fold(200)
"""
PERL = 'my %h; while (1) { my @a = sort { $h{$a} <=> $h{$b} } map { my $k = $_ x 3; $k =~ s/1(\\d)/$1/g; $h{$k}++; $k } 1..500; }'
NODE = """
function fold(n) { return n < 1 ? 0 : fold(n - 1) + n % 7 }
for (;;) { const o = []; for (let i = 0; i < 2000; i++) o.push({ i, s: String(i), f: fold(20) });
           JSON.stringify(o.sort((a, b) => a.s < b.s ? -1 : 1)).replace(/1/g, 'x') }
"""
BASH = 'f() { local n=$1; if ((n > 0)); then f $((n - 1)); fi; }; while :; do f 40; s=${RANDOM//1/22}; printf -v t "%s-%d" "$s" 7; done'
AWK = 'BEGIN { while (1) { for (i = 0; i < 1000; i++) { s = s i; a[i % 50] = length(s); gsub(/1/, "x", s) } s = "" } }'


def source_for_compiler():
    """Enough to keep a compiler busy for a minute."""
    functions = (f"int f{i}(int *a, int n) {{ int s = 0; for (int j = 0; j < n; j++) for (int k = j; k < n; k++) "
                 f"s += a[j] * a[k] / (a[(j + {i}) % n] | 1); switch (s & 7) {{ case 0: return f{i - 1}(a, n - 1) + s; default: return s; }} }}"
                 for i in range(1, 6000))
    return "int f0(int *a, int n) { return a[n]; }\n" + "\n".join(functions)


def compiler(name):
    result = subprocess.run([name, "-print-prog-name=cc1"], capture_output=True, text=True, check=False)
    return result.stdout.strip()


def command_of(what, directory):
    """The program and its arguments; the first must be installed."""
    if what == "cc1":
        source = directory / "source.c"
        source.write_text(source_for_compiler())
        return [compiler("gcc"), "-quiet", "-O3", source, "-o", "/dev/null"]
    if what == "clang":
        source = directory / "source.c"
        source.write_text(source_for_compiler())
        # In one process: the driver would start another.
        return ["clang", "-fintegrated-cc1", "-O2", "-c", source, "-o", "/dev/null"]
    return {
        "python3": ["/usr/bin/python3", "-c", PYTHON],
        "perl": ["perl", "-e", PERL],
        "node": ["node", "-e", NODE],
        "bash": ["bash", "-c", BASH],
        "awk": ["awk", AWK],
        "xz": ["bash", "-c", "exec xz -9 -T1 -c </dev/zero >/dev/null"],
        "openssl": ["openssl", "speed", "-seconds", "60", "rsa2048"],
        "sort": ["bash", "-c", "exec sort --parallel=2 -S 64M /dev/fd/3 3< <(while :; do echo $RANDOM$RANDOM; done) >/dev/null"],
    }[what]


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: all(state == "T" for state in states(pid)), 20, "all threads stop")


def states(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found.append((task / "stat").read_text().rsplit(") ", 1)[1][0])
        except OSError:
            pass
    return [s for s in found if s not in "ZX"]


def pcs_agree(i, ours, theirs):
    """Callers are named by their call, or by what it returns to."""
    if i == 0:
        return ours in (theirs, theirs - SYSCALL_BYTES, theirs + SYSCALL_BYTES)
    return any(ours == theirs + delta for delta in CALL)


def verdict(process, ours, theirs):
    """(kind, is it explained) of one thread's two stacks."""
    same = 0
    most = min(len(ours.frames), len(theirs.frames))
    while same < most and pcs_agree(same, ours.frames[same].pc, theirs.frames[same].pc):
        same += 1
    if same == len(ours.frames) == len(theirs.frames):
        return ("same" if not ours.reason else "same, and both are cut"), True
    if same == 0:
        return "the leaf differs", False
    known = process.covers(theirs.frames[same - 1].pc - (1 if same > 1 else 0))
    if same == len(theirs.frames) and theirs.stop != "outermost":
        return f"gdb gives up: {theirs.stop.split(':')[0][:60]}", True
    if not known:
        path, _ = process.where(theirs.frames[same - 1].pc)
        return f"no unwind information in {os.path.basename(path) or 'memory without a file'}", True
    if same == len(ours.frames):
        return f"xagent stops first: {ours.reason or 'complete'}", False
    if same == len(theirs.frames):
        return "xagent goes on behind gdb's outermost frame", False
    return "another caller", False


def look(processes, pid):
    """Both views of one state: TID → Thread, TID → gdb.Stack; None when it has changed in between."""
    before = inspect.stacks(processes, pid)
    judged = gdb.stacks(pid)
    after = inspect.stacks(processes, pid)
    pcs = [{tid: [f.pc for f in t.frames] for tid, t in view.items()} for view in (before, after)]
    return (before, judged) if pcs[0] == pcs[1] else None


def judge(processes, pid, tally, failures):
    stop(pid)
    try:
        views = look(processes, pid)
        assert all(state == "T" for state in states(pid)), "a stopped process stays stopped"
        if not views:
            tally["the state changed while it was looked at"] += 1
            return
        mapped = fde.Process(pid)
        assert set(views[0]) == set(views[1])
        for tid, ours in views[0].items():
            kind, explained = verdict(mapped, ours, views[1][tid])
            tally[kind] += 1
            if not explained:
                failures.append(f"{kind}\n{ours.show()}\ngdb:\n{views[1][tid].show()}")
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("what", ["python3", "perl", "node", "bash", "awk", "xz", "openssl", "sort", "cc1", "clang"])
def test_real_program(processes, tmp_path, what, capsys):
    command = command_of(what, tmp_path)
    missing = gdb.why_not() or privileges.why_no_tool(str(command[0]), *([what] if what in ("xz", "sort") else []))
    if missing:
        pytest.skip(missing)
    process = processes.start(*command)
    wait_until(lambda: burning.cpu_seconds(process.pid) > 0.3 or not process.running(), 30, f"{what} works")
    assert process.running(), process.err
    chance = random.Random(what)
    tally, failures = collections.Counter(), []
    for _ in range(STOPS):
        time.sleep(chance.uniform(0.01, 0.2))
        judge(processes, process.pid, tally, failures)
    with capsys.disabled():
        print(f"\n    {what}: " + ", ".join(f"{n} {kind}" for kind, n in tally.most_common()))
    assert not failures, f"{len(failures)} of {sum(tally.values())} stacks:\n" + chains.shorten("\n\n".join(failures), 6000)
    if what != "node":
        assert tally["same"] >= LEAST_SAME * sum(tally.values()), tally


# That the fixtures are what they are said to be

def as_seen_by_gdb(name, stack):
    """As a profile would show it."""
    frames = ["__restore_rt" if f.kind == "signal" else f.name or f"libc.so.6+0x{f.pc:x}" for f in stack.frames]
    return Stack((name, *reversed(frames)), 1)


# musl: gdb does not know its signal frames; a program whose leader is dead cannot be attached to; where a coroutine goes on with another
# context, glibc's unwind information invents a caller.
LOOKS = 3
NOT_FOR_GDB = ("sig-musl", "dead-main", "coroutine-link", "coroutine-stat")


@pytest.mark.parametrize("name", [n for n in situations.SITUATIONS if n not in NOT_FOR_GDB])
def test_fixture_is_what_it_says(processes, frameless_programs, tmp_path, name):
    if gdb.why_not():
        pytest.skip(gdb.why_not())
    situation = situations.SITUATIONS[name]
    _, pid = situations.start(processes, tmp_path, frameless_programs(*situations.programs_of([name])), name)
    # While an exception lands, the stack is being rewritten, and no debugger can tell it: it may be so at one moment, not at each.
    seen = []
    for _ in range(LOOKS):
        time.sleep(0.1)
        stacks = [as_seen_by_gdb(name, s) for s in gdb.stacks(pid).values()]
        if situation.good is situations.threads_good:
            stacks = [s for s in stacks if "main" not in s.frames]
        if stacks and all(map(situation.good, stacks)):
            return
        seen.append(stacks)
    assert False, seen


VARIANTS = [("gcc", "O2", "pie"), ("clang", "Os", "stat"), ("gcc", "O0", "dbgf"), ("gcc", "O2", "musl")]


@pytest.mark.parametrize("shape", ["mixed", "aligned"])
def test_recursion_is_what_it_says(processes, frameless_programs, shape):
    if gdb.why_not():
        pytest.skip(gdb.why_not())
    names = list(frameless.matrix()) if FULL else [frameless.variant_name(*v) for v in VARIANTS]
    for name, path in frameless_programs(*names).items():
        process = processes.start(path, 60, 30, shape)
        process.wait_for_output("main")
        stack = as_seen_by_gdb(name, gdb.stacks(process.pid)[process.pid])
        assert recursion.is_exact_from_main(stack, recursion.frames_of(shape, 30)), stack
        # gdb has nothing to go by in musl's own functions.
        assert name.endswith(("-musl", "-mstat")) or chains.root_of_main(stack), stack
        process.end()
