# SPDX-License-Identifier: Apache-2.0
"""What events say of programs, beside what these say of themselves; for check.py."""
import base64
import re
from collections import Counter

from harness import folded, pprof

WAITS = {"sleeps_10ms": ("pause_us", "[sleep]"), "lock_5ms": ("pthread_mutex_lock", "[lock]"), "slow_pipe": ("read", "[pipe]")}
WAITED = re.compile(r"^(\w+) (\d+)$", re.MULTILINE)
# AArch64's 6.1.
CANNOT_ATTACH = "this kernel lets no BPF program be attached to its functions"
IO = {"reads_direct": "read", "writes_direct": "write", "discards": "discard", "syncs": "flush"}
# What a flush has.
FLUSHED = {0}
# Two rounds of faulter.
GROWTH = {"touches_pages": 4000, "reads_zeros": 2000}
BATCH = 2 * 2 * 64
PROGRAM = re.compile(r"^verifier program=(\S+) instructions=(\d+)$", re.MULTILINE)


def check_verifier(text):
    programs = PROGRAM.findall(text)
    for name, instructions in programs:
        print(f"    {name}: {instructions} instructions processed")
        assert 0 < int(instructions) < 1_000_000
    assert programs, f"no verifier statistics:\n{text}"


def check_waits(command, text):
    """Waits by function and reason, beside the program's own clock. Emulated, some come before the tables, and a switch takes long:
    the way from where the task's CPU time begins to where schedule() returns is part of both. AArch64's 6.1 decides when they begin."""
    assert "exit 0" in command.splitlines(), command
    check_verifier(command)
    stacks = folded.parse(text)
    own = {name: int(ns) for name, ns in WAITED.findall(command) if name in WAITS}
    assert set(own) == set(WAITS), command
    for name, (function, reason) in WAITS.items():
        mine = stacks.having("main", name)
        leaves = {s.frames[-1] for s in mine.having(function)}
        seen = mine.having(function).total if name == "lock_5ms" else mine.total
        print(f"    off-CPU time of {name}: {seen / own[name]:.2f} of its own clock's")
        assert 0.8 * own[name] < seen < 1.4 * own[name], stacks.show(6)
        assert reason in leaves and leaves <= {reason, "[ready]"}, stacks.show(6)


# Who calls a program at a tracepoint, or at a function: none of the thread's functions.
TRACING = ("__traceiter_", "__bpf_trace_", "bpf_trace_run", "bpf_trampoline_", "__bpf_prog_", "bpf_prog_")


def check_leaves(profiles):
    for name, found in profiles.items():
        leaves = {s.frames[-1] for s in found.samples}
        print(f"    {name} ends in {', '.join(sorted(leaves)[:6])}")
        assert not [f for f in leaves if f.startswith(TRACING)], leaves


def check_io(found, own):
    """Each I/O once, with its bytes; where the disk is asked in another way than the program says, as by fsync, the number."""
    for function, operation in IO.items():
        mine = [s for s in found.samples if function in s.frames and s.labels["operation"] == operation]
        n_bytes, ios = (sum(s.values[v] for s in mine) for v in (1, 2))
        print(f"    {operation} by {function}: {ios} of {n_bytes} bytes")
        assert ios == own[function][0] and n_bytes in ({own[function][1]} if own[function][1] else FLUSHED), (function, mine, own)
        assert {s.labels["device"] for s in mine} == {"nvme0n1"} and 0 < sum(s.values[0] for s in mine) <= own[function][2], mine


def of_function(found, function):
    """The sum of what it did; and of its call, where the sample came before the table of the program."""
    return sum(s.values[0] for s in found.samples if function in s.frames or
               (function == "reads_zeros" and "vfs_read" in s.frames and s.frames[0].startswith("[truncated")))


def check_growth(found, page_bytes):
    """What is in no sum yet is a batch on each CPU, before and after each round; up to 6.1 it is what a thread has counted."""
    for function, pages in GROWTH.items():
        grown = of_function(found, function) / page_bytes
        print(f"    growth by {function}: {grown:.0f} pages of {pages}")
        assert abs(grown - pages) <= 2 * BATCH, (function, grown)


def check_faults(found, own):
    for function in GROWTH:
        n = of_function(found, function)
        print(f"    faults in {function}: {n} of {own[function][0]}")
        assert abs(n / own[function][0] - 1) < 0.03, (function, n, own)


def check_events(command, text):
    """What a disk is asked for, which pages become resident, which are faulted in. All that these kernels cannot do is said in one line."""
    assert "exit 0" in command.splitlines(), command
    profiles = {name: pprof.parse(base64.b64decode(data)) for name, data in re.findall(r"^profile (\w+) (\S+)$", text, re.M)}
    own = {name: tuple(map(int, rest.split())) for name, rest in re.findall(r"^(\w+)((?: \d+)+)$", command, re.M)}
    check_leaves(profiles)
    check_growth(profiles["rss"], 1024 * own["page_kb"][0])
    if "reads_direct" in own:
        check_io(profiles["block_io"], own)
    if CANNOT_ATTACH in command:
        print(f"    faults: {CANNOT_ATTACH}")
    else:
        check_faults(profiles["faults"], own)


LOCKS = {"mutex_5ms": "[mutex]", "condition_3ms": "[condition variable]", "semaphore_4ms": "[semaphore]", "rwlock_2ms": "[rwlock]"}
ROUNDS = {"locks": 10, "tcp": 20}
NUMBERS = re.compile(r"^(\w+)((?: \d+)+)$", re.M)
PROFILE = re.compile(r"^profile (\w+) (\S+)$", re.M)
# Each program is new: one of the first may be over before the agent has heard of it.
MOST = 0.9


def having(found, function):
    return [s for s in found.samples if function in s.frames]


def sum_of(samples, value=0):
    return sum(s.values[value] for s in samples)


def check_locks(found, own):
    """Its clock has the way into the call and back as well, which is long here, and what it was ready for before the call and behind it."""
    for function, kind in LOCKS.items():
        mine = having(found, function)
        ns, ready_ns = own[function]
        n, share = sum_of(mine, 1), sum_of(mine) / ns
        kinds = Counter()
        for s in mine:
            kinds[s.frames[-1]] += s.values[0]
        print(f"    waits in {function}: {n}, {share:.2f} of its own clock's, {', '.join(kinds)}")
        # Who holds the lock may be through before it is waited for.
        assert n >= ROUNDS["locks"] / 2 and 0.5 * (ns - ready_ns) < sum_of(mine) < 1.1 * ns, (function, n, share, own)
        # A condition variable's wait may end with one for its mutex; one for a lock of the kernel's has no kind.
        assert kinds.most_common(1)[0][0] == kind and {k for k in kinds if k.startswith("[")} <= {kind, "[mutex]"}, (function, kinds)


def check_calls(found, own):
    for function, call, error in (("reads_pipe", "sys_read", None), ("is_interrupted", "sys_clock_nanosleep", "EINTR")):
        mine = [s for s in having(found, function) if s.frames[-1] == call]
        n, share = sum_of([s for s in mine if s.labels.get("error") == error], 1), sum_of(mine) / own[function][1]
        print(f"    {call} by {function}: {n} of {own[function][0]}, {share:.2f} of its own clock's")
        # A signal may come before the call that it is to end.
        assert MOST * own[function][0] <= n <= own[function][0] and 0.5 < share < 1.1, (function, n, share, own)


def check_connections(found, own):
    """IPv4 and IPv6, by peer and port."""
    v4, v6, refused = (own[name][0] for name in ("v4", "v6", "refused"))
    for function, leaf in (("connects_v4", f"connect 127.0.0.1:{v4}"), ("connects_v6", f"connect [::1]:{v6}"), ("accepts_v4", f"accept 127.0.0.1 on {v4}"),
                           ("accepts_v6", f"accept [::1] on {v6}"), ("is_refused", f"connect 127.0.0.1:{refused} ECONNREFUSED")):
        mine = having(found, function)
        print(f"    {function}: {sum_of(mine)} of {ROUNDS['tcp']}")
        assert {s.frames[-1] for s in mine} == {leaf} and MOST * ROUNDS["tcp"] <= sum_of(mine) <= ROUNDS["tcp"], (function, mine)


def check_ready(found, own):
    share = sum_of(having(found, "behind_neighbour")) / own["behind_neighbour"][0]
    print(f"    ready behind a neighbour: {share:.2f} of what the kernel says")
    assert 0.9 < share < 1.1, (share, own)


def check_lives(found, own):
    """Together the time of its threads, but for the first stacks, which are cut in one way or another."""
    lives = [s for s in found.samples if {"live", "sleeps", "computes"} & set(s.frames) or s.frames[0].startswith("[truncated")]
    share = sum_of(lives) / own["lives"][0]
    print(f"    wall-clock time: {share:.3f} of threads by time")
    assert 0.85 < share < 1.1, (share, own)


def check_others(command, text):
    assert "exit 0" in command.splitlines() and not re.search(r"^exit [^0]", command, re.M), command
    own = {name: tuple(map(int, rest.split())) for name, rest in NUMBERS.findall(command)}
    found = {name: pprof.parse(base64.b64decode(data)) for name, data in PROFILE.findall(text)}
    assert "an event is not profiled" not in command, command
    for name, check in (("locks", check_locks), ("syscalls", check_calls), ("tcp", check_connections), ("run_queue", check_ready), ("wall", check_lives)):
        check(found[name], own)
