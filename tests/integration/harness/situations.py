# SPDX-License-Identifier: Apache-2.0
"""
Programs that bring stacks into unusual shapes, and what every stack of theirs must look like.

The judgement is on names from the outermost frame on, so it is the same for a profile, for `xagent inspect stack` and for gdb.
"""
import re
from typing import Callable, NamedTuple

from . import chains
from .chains import from_function, outside_of, root_of_main, root_of_thread

# A function of libc's that a stripped libc has no name for, or the linkage table in front of one.
UNNAMED = r"[\w.-]+\+0x[0-9a-f]+"
TRAMPOLINE = rf"(__restore_rt|__kernel_rt_sigreturn|{UNNAMED})"
SETTING_TIMERS = rf"(\w*timer_settime\w*(@plt)?|{UNNAMED})"

# What signal handlers return to has no name in musl, and the symbol before it, which says nothing of its size, reaches up to the next one.
MUSL_TRAMPOLINE = "setjmp"


def interrupted(trampoline):
    return re.compile(
        rf"main;interrupted(;(busy|{SETTING_TIMERS}))*"
        rf"(;{trampoline}(;on_outer(;(outer_spin|{SETTING_TIMERS}))*(;{trampoline}(;on_inner(;inner_spin)?)?)?)?)?")


INTERRUPTED = interrupted(TRAMPOLINE)
FAULTED = re.compile(rf"main;call_trap;trap_at_start;{TRAMPOLINE};on_fault;inner_spin")
BOUNCES = 12


class Situation(NamedTuple):
    program: str
    arguments: tuple
    good: Callable          # stack → bool: all of them must be
    seen: dict              # name → stack → bool: what must be among them
    share: float = 1.0      # of the samples that must be good


def joined(stack, first):
    return ";".join(from_function(stack, first)) if first in stack.frames else ""


def below_main(pattern):
    """main as the program's start has called it, and what it called matches."""
    return lambda s: "main" in s.frames and root_of_main(s) and bool(pattern.fullmatch(joined(s, "main")))


def exactly(*names):
    return lambda s: "main" in s.frames and root_of_main(s) and from_function(s, "main") == names


def ends_in(*names):
    return lambda s: s.frames[-len(names):] == names


def nested(stack):
    return "inner_spin" in stack.frames and "on_outer" in stack.frames and "interrupted" in stack.frames


# Functions that align their stack

REALIGNED = re.compile(rf"main(;work(;(few|many|counted|outer(;inner(\.\d+)?)?))?)?(;{TRAMPOLINE}(;on_timer(;timer_spin)?)?)?")
REALIGNED_SEEN = {name: lambda s, name=name: name in s.frames for name in ("few", "many", "counted", "outer")}


def realigned(level, mode="spin"):
    """Before main has begun, and after it, nobody has realigned anything: a sample of hundreds."""
    seen = REALIGNED_SEEN if mode == "spin" else {"handler": ends_in("on_timer", "timer_spin")}
    return Situation(f"frealign-{level}", (mode,), below_main(REALIGNED), seen, share=0.995)


# Coroutines

def coroutine_good(stack):
    """A root of libc's, a body with its own work, and nothing else."""
    for name in ("a", "b"):
        if f"body_{name}" in stack.frames:
            outer, inner = outside_of(stack, f"body_{name}"), from_function(stack, f"body_{name}")
            return (len(outer) <= 1 and all(re.fullmatch(rf"__start_context|{UNNAMED}", f) for f in outer) and
                    inner[:2] == (f"body_{name}", f"work_{name}") and
                    all(re.fullmatch(rf"co_spin|swapcontext(@plt)?|{UNNAMED}", f) for f in inner[2:]))
    return False


COROUTINES_SEEN = {"a": ends_in("body_a", "work_a", "co_spin"), "b": ends_in("body_b", "work_b", "co_spin")}


# Jumps

# Functions of glibc's, by whatever name. A jump that is under way is already where it leads.
IN_JUMP = rf"\w*(longjmp|setjmp|sigjmp|cleanup_upto)\w*(@plt)?|{UNNAMED}"
JUMPING = re.compile(rf"main(;catcher(;thrower)?(;({IN_JUMP})){{0,4}})?")


def jumps(program):
    """Before main, or after it, is a sample of hundreds."""
    return Situation(program, (), below_main(JUMPING), {"thrower": lambda s: "thrower" in s.frames}, share=0.995)


# The clock

def clocks_good(stack):
    if "main" not in stack.frames or not root_of_main(stack):
        return False
    frames = from_function(stack, "main")
    return frames[:2] == ("main", "read_clocks") and len(frames) <= 5


def in_vdso(stack):
    """A frame further than libc's clock_gettime."""
    return len(from_function(stack, "main")) >= 4


# Exceptions

OUTER = ("main", "catch_all", "outer", "Inner::middle")


def plain_names(frames):
    """Without arguments, templates' arguments and compilers' remarks."""
    def plain(name):
        name = re.sub(r" ?\[clone [^\]]*\]", "", name)
        name = re.sub(r"\(.*\)$", "", name)
        return re.sub(r"<.*>", "", name).split(" ")[-1]
    return tuple(map(plain, frames))


def exceptions_good(stack):
    if "main" not in stack.frames or not root_of_main(stack):
        return False
    frames = plain_names(from_function(stack, "main"))
    same = next((i for i in range(len(OUTER)) if frames[i:i + 1] != OUTER[i:i + 1]), len(OUTER))
    # outer calls nothing but middle; what comes after the common part comes once.
    return (not set(OUTER) & set(frames[same:])) and not (same == 3 and len(frames) > 3)


def destroying(stack):
    return plain_names(stack.frames[-6:]) == (*OUTER, "Guard::~Guard", "cleanup_spin")


def throwing(stack):
    return chains_contains(plain_names(stack.frames), (*OUTER, "thrower", "__cxa_throw"))


def chains_contains(frames, names):
    return any(frames[i:i + len(names)] == names for i in range(len(frames)))


# Plugins in each other's place

def own_plugin_only(stack):
    """host_a calls plugin a and nothing of plugin b, and the other way round."""
    a = [f for f in stack.frames if f.startswith(("host_a", "plugin_a"))]
    b = [f for f in stack.frames if f.startswith(("host_b", "plugin_b"))]
    return not (a and b)


def of_plugin(stack, letter):
    """All the calls from the program's start to where the plugin burns."""
    return ("main" in stack.frames and root_of_main(stack) and
            ends_in(f"host_{letter}", f"plugin_{letter}_entry", f"plugin_{letter}_spin")(stack))


# Threads

def threads_good(stack):
    for name in ("thread_a", "thread_b"):
        if name in stack.frames:
            return root_of_thread(stack, name) and from_function(stack, name) == (name, "alpha", "beta", "gamma", "spin")
    return False


def of_thread(entry, *names):
    return lambda s: entry in s.frames and root_of_thread(s, entry) and from_function(s, entry) == (entry, *names)


def rawclone_good(stack):
    if "clone_entry" in stack.frames:
        return (len(outside_of(stack, "clone_entry")) == 1 and root_of_thread(stack, "clone_entry") and
                from_function(stack, "clone_entry") == ("clone_entry", "clone_spin"))
    if "raw_entry" in stack.frames:
        # Nothing says where this thread began: a reason is as good as an end, an invented caller is not.
        outer = [f for f in outside_of(stack, "raw_entry") if not chains.is_reason(f)]
        return outer in ([], ["raw_start"]) and from_function(stack, "raw_entry") == ("raw_entry", "raw_spin")
    return exactly("main", "main_spin")(stack)


SITUATIONS = {
    "sig-stack": Situation("fsignals", ("stack",), below_main(INTERRUPTED), {"nested": nested}),
    "sig-alternate": Situation("fsignals", ("alternate",), below_main(INTERRUPTED), {"nested": nested}),
    "sig-inner": Situation("fsignals", ("inner",), below_main(INTERRUPTED), {"nested": nested}),
    "sig-clang": Situation("fsignals-clang", ("alternate",), below_main(INTERRUPTED), {"nested": nested}),
    "sig-static": Situation("fsignals-stat", ("inner",), below_main(INTERRUPTED), {"nested": nested}),
    "sig-musl": Situation("fsignals-musl", ("alternate",), below_main(interrupted(MUSL_TRAMPOLINE)), {"nested": nested}),
    "sig-fault": Situation("fsignals", ("fault",), below_main(FAULTED), {"inner": ends_in("inner_spin")}),
    "sig-fault-clang": Situation("fsignals-clang", ("fault",), below_main(FAULTED), {"inner": ends_in("inner_spin")}),
    **{f"realign-{level}": realigned(level) for level in ("O0", "O1", "O2", "O3", "Os", "main", "avx2", "keepfp")},
    "realign-signal": realigned("O2", "signal"),
    # The few instructions that change stacks belong to neither.
    "coroutine": Situation("fcoroutine", (), coroutine_good, COROUTINES_SEEN, share=0.99),
    "coroutine-link": Situation("fcoroutine", ("link",), coroutine_good, COROUTINES_SEEN, share=0.99),
    "coroutine-stat": Situation("fcoroutine-stat", ("link",), coroutine_good, COROUTINES_SEEN, share=0.99),
    "jumps": jumps("fjumps"),
    "jumps-O0": jumps("fjumps-O0"),
    "jumps-static": jumps("fjumps-stat"),
    "jumps-checked": jumps("fjumps-checked"),
    "clocks": Situation("fclocks", (), clocks_good, {"in the vDSO": in_vdso}),
    "clocks-static": Situation("fclocks-stat", (), clocks_good, {"in the vDSO": in_vdso}),
    # Before the unwinder of the language leaves, it writes what it leaves for over its own frame: from there on nobody finds its caller,
    # gdb neither. Where hardly anything else is done, that is some percent.
    "exc-gcc": Situation("fexceptions", (), exceptions_good, {"destroying": destroying}, share=0.99),
    "exc-clang": Situation("fexceptions-cl", (), exceptions_good, {"destroying": destroying}, share=0.99),
    "exc-throw": Situation("fexceptions", ("throw",), exceptions_good, {"throwing": throwing}, share=0.95),
    "exc-static": Situation("fexceptions-st", ("throw",), exceptions_good, {"throwing": throwing}, share=0.95),
    "bounce": Situation("fbounce", ("fbounce.so", BOUNCES),
                        exactly("main", *["host_bounce", "plugin_bounce"] * (BOUNCES - 1), "host_bounce", "host_spin"), {}),
    "threads": Situation("fchain", (2,), threads_good, {"a": lambda s: "thread_a" in s.frames, "b": lambda s: "thread_b" in s.frames}),
    "threads-static": Situation("fchain-stat", (2,), threads_good, {"a": lambda s: "thread_a" in s.frames}),
    "dead-main": Situation("fdeadmain", (), of_thread("worker", "worker_spin"), {}),
    "rawclone": Situation("frawclone", (), rawclone_good,
                          {"main": ends_in("main_spin"), "clone": ends_in("clone_spin"), "raw": ends_in("raw_spin")}),
    "shifted": Situation("fshifted", (), exactly("main", "far_entry", "near_back", "far_spin"), {"far": ends_in("far_spin")}),
    "vfork": Situation("fvforker", (), exactly("main", "vfork_point", "child_work", "child_spin"), {}),
}


def programs_of(names):
    """What must be built for these."""
    found = {SITUATIONS[n].program for n in names}
    found |= {a for n in names for a in SITUATIONS[n].arguments if str(a).endswith(".so")}
    return sorted(found)


def start(processes, directory, built, name, seconds=60):
    """Start one, under the situation's name; the process, and the pid that burns."""
    situation = SITUATIONS[name]
    alias = directory / name
    if not alias.is_symlink():
        alias.symlink_to(built[situation.program])
    arguments = [built.get(a, a) for a in situation.arguments]
    process = processes.start(alias, seconds, *arguments)
    said = process.wait_for_output("\n")
    return process, int(said.split()[0]) if name == "vfork" else process.pid
