# SPDX-License-Identifier: Apache-2.0
"""Functions of JavaScript programs: as V8 itself tells them, frame by frame, between the native frames around them."""
import collections
import json
import os
import re
import shutil
import subprocess
from typing import NamedTuple

import pytest

from harness import folded, nodes, paths, pprof
from harness.agent import config
from harness.processes import wait_until

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

CHAINS = paths.TOP / "tests/fixtures/node/chains.js"
LINE_ENDS = paths.TOP / "tests/fixtures/node/lines.js"
READS = "tracepoint:syscalls:sys_enter_pread64"
# Kinds of code, or none; the last two of optimized code: each function by itself, and with others in it.
TIERS = {
    "interpreted": ("--no-opt", "--no-maglev", "--no-sparkplug"),
    "jitless": ("--jitless",),
    "baseline": ("--no-opt", "--no-maglev", "--always-sparkplug"),
    "optimized": ("--no-turbo-inlining", "--no-maglev-inlining"),
    "inlined": (),
}
ROUNDS = {"optimized": 30, "maglev": 60, "turbofan": 60, "inlined": 60}
# Of versions but the last one a run tries what their code decides: how builtins and optimized code are found. The rest of the step is the same for all.
FEW = ("inlined", "moving")
# All inlined functions are shown for these; of those of TRANSLATED all lines are known, too, wherever optimized code calls anything.
INLINED = ("17", "18", "19", "20", "21", "22", "23", "24", "25", "26")
TRANSLATED = INLINED[3:]


class Node(NamedTuple):
    name: str  # its major version
    path: str


@pytest.fixture(params=nodes.NAMES)
def node(request):
    found = nodes.get_or_skip(request.param)
    return Node(request.param, found)


def is_of_v8(place):
    """(function, file, line): native code has other files, or none; code that was made of a text has none either."""
    return place[1].startswith(("node:", "file:", "/probes/")) or place[1].endswith(".js") or place[0].startswith("evaled_")


def same(name):
    """Without the place of one that has no name. Some functions get their name when they are made: with a prefix, or of a computed key. V8's backtrace shows that one, or does not."""
    name = re.sub(r"^<anonymous> \(.*\)$", "", re.sub(r"^(\w+\.)?[gs]et ", r"\1", name))
    return "<anonymous>" if not name or name.startswith("[") else name


def same_in(name, file):
    """V8's backtrace shows no class of some methods of node's own, which are called on other objects (traceSync of TracingChannel, Node.js 23)."""
    return same(name).rpartition(".")[2] if file.startswith("node:") else same(name)


def classes_of(program):
    """name of the class at each of its lines."""
    found = {}
    of = None
    for number, line in enumerate(program.read_text().splitlines(), 1):
        of = line.split()[1] if line.startswith("class ") else None if line == "}" else of
        found[number] = of
    return found


CLASSES = classes_of(CHAINS)


def told_name(name, file, line):
    """V8 tells the class of the receiver, which may be another one's: the method's is where it is written. Constructors are called as their class."""
    of = CLASSES[line] if os.path.basename(file) == CHAINS.name else None
    name = same_in(name, file)
    return f"{of}.{name}" if of and name not in ("<anonymous>", of) else name


def told_place(name, file, line, column):
    """A probe is read from behind where it tells of itself."""
    behind = len("report(); ") if name.startswith("probe_") else 0
    return told_name(name, file, line), file, line, column + behind


def profiled(processes, output, *arguments):
    run = processes.run(paths.XAGENT, "profile", "-U", "-o", output, *arguments, seconds=120)
    assert run.popen.returncode == 0, run.err
    return pprof.parse(output.read_bytes()) if str(output).endswith(".pb.gz") else folded.parse(output.read_text())


def probed(profile, with_lines=False):
    """number of the probe → frames from it on, innermost first: (function, file), and the line and the column."""
    stacks = {}
    for sample in profile.samples:
        places = [(*place, column) for place, column in zip(sample.places, sample.columns) if is_of_v8(place)]
        frames = [(same_in(name, file), file, *rest) if with_lines else (same_in(name, file), file) for name, file, *rest in reversed(places)]
        for i, (name, *_) in enumerate(frames):
            if name.startswith("probe_"):
                stacks[int(name[6:])] = frames[i:]
    return stacks


def first_difference(seen, told):
    at = next((i for i, (a, b) in enumerate(zip(seen, told)) if a != b), min(len(seen), len(told)))
    return at, "seen", seen[max(at - 1, 0):at + 2], "told", told[max(at - 1, 0):at + 2]


def skip_unless_wanted(node, what):
    if not nodes.FULL and node.name != nodes.SAMPLE[-1] and what not in FEW:
        pytest.skip("with this version in the full matrix")


def run_chains(processes, tmp_path, node, flags, n_chains, n_links, n_rounds, seed, n_threads=1, lines=(), program=CHAINS, folder=None):
    """What V8 has told of each chain, and what was seen of it: {number: frames} each. `program` is CHAINS as `node` sees it: if that is elsewhere, it is in `folder`."""
    report = (folder or tmp_path) / "report"
    seen_report = program.parent / report.name if folder else report
    profile = profiled(processes, tmp_path / "o.pb.gz", *lines, "-F", "10000", "-e", READS, "--", *node, *flags, program, seen_report, str(seed), str(n_chains), str(n_links),
                       str(n_rounds), str(n_threads))
    seen = probed(profile, bool(lines))
    told = {number: [told_place(*f)[:4 if lines else 2] for f in frames if is_of_v8(f)] for number, frames in map(json.loads, report.read_text().splitlines())}
    assert len(told) == n_chains * n_threads
    missing = sorted(set(told) - set(seen))
    # One at which the agent was publishing the process anew: new pages of code are new mappings.
    assert len(missing) <= 0.005 * len(told), f"{len(missing)} of {len(told)} are missing, as {missing[:5]}"
    return told, seen


@pytest.mark.parametrize("tier", TIERS)
def test_stacks_are_those_of_v8(processes, tmp_path, node, tier):
    """Names, files and order of calls of every kind. Of inlined functions a few may be missing, but there is no wrong one."""
    skip_unless_wanted(node, tier)
    flags = [f for f in TIERS[tier] if nodes.has_flag(node.path, f)]
    told, seen = run_chains(processes, tmp_path, (node.path,), flags, 300, 8, ROUNDS.get(tier, 1), seed=8)
    differ = {n: frames for n, frames in told.items() if n in seen and seen[n] != frames}
    wrong = [(n, first_difference(seen[n], frames)) for n, frames in differ.items() if tier != "inlined" or not in_order(frames, *seen[n])]
    assert not wrong, f"{len(wrong)} of {len(told)} are wrong, as {wrong[:3]}"
    if node.name in INLINED:
        short = [(n, first_difference(seen[n], frames)) for n, frames in differ.items()]
        assert len(short) <= 0.005 * len(told), f"{len(short)} of {len(told)} are short, as {short[:3]}"


# Kinds of code whose lines are looked at: of each how many are known at least.
LINES = {"interpreted": 0.995, "jitless": 0.995, "baseline": 0.995, "maglev": 0.998, "turbofan": 0.998, "inlined": 0.998}
OTHER_TIERS = {"maglev": ("--maglev", "--no-turbofan", "--no-sparkplug"), "turbofan": ("--no-maglev", "--no-sparkplug")}


@pytest.mark.parametrize("tier", LINES)
def test_lines_are_those_of_v8(processes, tmp_path, node, tier):
    """The line and the column that each function is at, or none."""
    if not nodes.FULL and (node.name != nodes.SAMPLE[-1] or tier not in ("interpreted", "baseline", "inlined")):
        pytest.skip("in the full matrix")
    least = LINES[tier]
    if node.name not in TRANSLATED:
        least = min(least, 0.99)
    # Where a frame has its bytecode it does not tell.
    if node.name not in INLINED:
        least = 0
    flags = [f for f in (TIERS.get(tier) or OTHER_TIERS.get(tier, ())) if nodes.has_flag(node.path, f)]
    if tier == "maglev" and "--maglev" not in flags:
        pytest.skip("it has none")
    told, seen = run_chains(processes, tmp_path, (node.path,), flags, 300, 8, ROUNDS.get(tier, 1), seed=5, lines=("--lines", "--columns"))
    pairs = [(n, *pair) for n, frames in told.items() if len(seen.get(n, ())) == len(frames) for pair in zip(seen[n], frames)]
    wrong = [p for p in pairs if p[1] != p[2] and p[1] != (*p[2][:2], 0, 0)]
    known = sum(seen_at[2] != 0 for _, seen_at, _ in pairs)
    assert not wrong, f"{len(wrong)} of {len(pairs)} are wrong, as {wrong[:5]}"
    assert len(pairs) > 3000 and known >= least * len(pairs), f"{known} of {len(pairs)} are known"


LEAF = """'use strict';
function dead(a) { return a; }
function spin(rounds, never) {
	let a = 1, b = 2;
	for (let i = 0; i < rounds; i++) {		// 5
		if (never) {				// 6
			dead(a);
			a = 1; b = 2;
		} else {
			a = 3; b = 4; a = 5; b = 6; a = 7; b = 8; a = 9; b = 10; a = 11; b = 12; a = 13; b = 14; a = 15; b = 16; a = 17; b = 18;	// 10
		}
		a = never				// 12
			? dead(a)
			: b;
	}
	return a + b;
}
for (const end = Date.now() + 2500; Date.now() < end;) spin(1000000, false);
"""
RUN = {5, 6, 10, 12}


def test_lines_of_the_leaf(processes, tmp_path, node):
    """Of baseline code a bytecode that has a position of its own; no line has those that are not run, though what follows them in the code has none."""
    if not nodes.FULL and node.name != nodes.SAMPLE[-1] or node.name not in INLINED:
        pytest.skip("in the full matrix, and where lines of baseline code are known")
    program = tmp_path / "leaf.js"
    program.write_text(LEAF)
    profile = profiled(processes, tmp_path / "o.pb.gz", "--lines", "-F", "4999", "--", node.path, *TIERS["baseline"][:1], *(f for f in TIERS["baseline"][1:] if nodes.has_flag(node.path, f)), program)
    lines = collections.Counter()
    for s in profile.samples:
        if s.places and s.places[-1][0] == "spin":
            lines[s.places[-1][2]] += s.values[0]
    assert set(lines) <= RUN | {0} and lines[5] > 0 and lines[10] > 0, lines
    assert {line for s in profile.samples for name, _, line in s.places if name == "spin"} <= RUN | {0}


def test_ends_of_lines(processes, tmp_path, node):
    """Whatever ends them, in characters of one byte and of two, with what the script was told to begin at; and columns of long lines."""
    if not nodes.FULL and node.name != nodes.SAMPLE[-1] or node.name not in INLINED:
        pytest.skip("in the full matrix, and where lines are known")
    report = tmp_path / "report"
    profile = profiled(processes, tmp_path / "o.pb.gz", "--lines", "--columns", "-F", "10000", "-e", READS, "--", node.path, LINE_ENDS, report, "7", "300")
    told = {number: tuple(frames[0]) for number, frames in map(json.loads, report.read_text().splitlines())}
    seen = {number: frames[0] for number, frames in probed(profile, True).items()}
    wrong = [(seen[n], frame) for n, frame in told.items() if n in seen and seen[n] != frame]
    assert not wrong, f"{len(wrong)} of {len(told)} are wrong, as {wrong[:5]}"
    assert len(told) == 300 and len(set(told) - set(seen)) <= 2


def test_threads(processes, tmp_path, node):
    """Each Worker has a heap of its own."""
    told, seen = run_chains(processes, tmp_path, (node.path,), (), 60, 8, 1, seed=3, n_threads=8)
    assert [n for n, frames in told.items() if n in seen and seen[n] != frames] == []


def in_order(frames, *names):
    at = iter(frames)
    return all(n in at for n in names)


SPIN = """
'use strict';
const crypto = require('crypto');
class Service {
	handle(end) { return work(end); }
	static key(value) { return -value; }
}
function work(end) {
	let sum = 0;
	while (Date.now() < end) {
		sum += numbers.slice().sort((a, b) => Service.key(a) - Service.key(b))[0];
		sum += crypto.createHash('sha256').update(BIG).digest()[0];
		for (const i of squares(100)) sum += i;
		sum += 'a1b2c3'.replace(/[0-9]/g, (d) => d + d).length + JSON.stringify({ numbers }).length;
		sum += fresh(sum);
	}
	return sum;
}
function* squares(n) { for (let i = 0; i < n; i++) yield i * i; }
function fresh(n) { return new Function('n', 'return n % 7')(n); }
const numbers = Array.from({ length: 300 }, (_, i) => (i * 7919) % 300);
const BIG = Buffer.alloc(20000);
function main() {
	return new Service().handle(Date.now() + 1000 * Number(process.argv[2]));
}
main();
"""
# moving: a collector that moves objects again and again; in_place: the builtins are run where the file is mapped.
KINDS = {
    "interpreted": TIERS["interpreted"],
    "moving": (*TIERS["optimized"], "--semi-space-growth-factor=1", "--max-semi-space-size=1", "--gc-interval=20000"),
    "in_place": (*TIERS["optimized"], "--no-short-builtin-calls"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_timer_tick(processes, tmp_path, node, kind):
    """The chain of calls is the only possible one, wherever the program is interrupted: in builtins and what they call, in code of every kind, while objects are moved."""
    skip_unless_wanted(node, kind)
    program = tmp_path / "spin.js"
    program.write_text(SPIN)
    flags = [f for f in KINDS[kind] if nodes.has_flag(node.path, f)]
    stacks = profiled(processes, tmp_path / "o", "-F", "499", "--", node.path, *flags, program, "3")
    running = folded.Stacks(s for s in stacks if "node::Start" in s.frames)
    handles = [("main", name, "work") for name in ("Service.handle", "handle")]
    whole = folded.Stacks(s for s in running if any(in_order(s.frames, *names) for names in handles))
    begun = folded.Stacks(s for s in running if set(sum(handles, ())) & set(s.frames))
    # The rest is Node's beginning and end, and the time until the agent has a table of the process.
    assert begun.total >= 0.6 * running.total, running.without("main").show()
    assert whole.total >= 0.995 * begun.total and begun.total > 100, begun.show()
    # Until the agent has a table of the process it reads no source of it.
    assert whole.having("Service.handle").total >= 0.7 * whole.total, whole.show()


# Functions as small as can be, so that much of the time is spent before their frames are whole, and behind that.
SMALL = """
'use strict';
let n = 0;
function small_7(a) { return a + n; }
function small_6(a) { return small_7(a) + small_7(a + 1); }
function small_5(a) { return small_6(a) ^ small_6(a + 1); }
function small_4(a) { return small_5(a) + 1; }
function small_3(a, b) { return b ? small_4(a) : small_4(a, b) + 1; }
function small_2(a) { let s = 0; for (let i = 0; i < 3; i++) s += small_3(i); return s; }
function small_1(a) { return small_2(a) - small_2(a); }
function small_0(end) { while (Date.now() < end) for (let i = 0; i < 50; i++) n = (n + small_1(i)) & 0xffff; }
small_0(Date.now() + 3000);
"""


@pytest.mark.parametrize("tier", ["interpreted", "baseline", "optimized"])
def test_small_functions(processes, tmp_path, node, tier):
    """No function is missing between others, wherever its callee is interrupted; and optimized code has its function's name from its first instruction on to its last."""
    skip_unless_wanted(node, tier)
    program = tmp_path / "small.js"
    program.write_text(SMALL)
    flags = [f for f in TIERS[tier] if nodes.has_flag(node.path, f)]
    stacks = profiled(processes, tmp_path / "o", "-F", "2999", "--", node.path, *flags, program).having("small_0")
    chains = [(s, s.frames[s.frames.index("small_0"):]) for s in stacks]
    wrong = folded.Stacks(s for s, frames in chains if (at := [f for f in frames if f.startswith("small_")]) != [f"small_{i}" for i in range(len(at))] or list(frames[:len(at)]) != at)
    assert stacks.total > 500 and not wrong, wrong.show()
    unnamed = folded.Stacks(s for s, frames in chains if "[jit]" in frames)
    assert tier != "optimized" or unnamed.total <= 0.005 * stacks.total, unnamed.show()


# A module of two functions: run, which is exported, calls another one, which calls what was imported.
WASM = """
'use strict';
const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 2, 7, 1, 1, 0x65, 1, 0x66, 0, 0, 3, 3, 2, 0, 0, 7, 7, 1, 3, 0x72, 0x75, 0x6e, 0, 1,
	10, 11, 2, 4, 0, 0x10, 2, 0x0b, 4, 0, 0x10, 0, 0x0b];
function imported() { const end = Date.now() + 5; let n = 0; while (Date.now() < end) n++; return n; }
const instance = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(bytes)), { e: { f: imported } });
function caller() { instance.exports.run(); }
for (const end = Date.now() + 2500; Date.now() < end;) caller();
"""


def test_through_webassembly(processes, tmp_path, node):
    """Each of its functions is one frame, between those of the program. Of older versions what leads in and out is generated."""
    program = tmp_path / "wasm.js"
    program.write_text(WASM)
    stacks = profiled(processes, tmp_path / "o", "-F", "499", "--", node.path, program).having("imported")
    around = (0,) if int(node.name) >= 22 else (0, 1)
    chains = [["[jit]"] * into + ["wasm-function[1]", "wasm-function[2]"] + ["[jit]"] * out for into in around for out in around]
    calls = folded.Stacks(s for s in stacks if between(s.frames, "caller", "imported") in chains)
    assert stacks.total > 100 and calls.total >= 0.99 * stacks.total, stacks.show()


def between(frames, outer, inner):
    """Without V8's own."""
    if outer not in frames:
        return None
    return [f for f in frames[frames.index(outer) + 1:frames.index(inner)] if not f.startswith("Builtins_")]


IDLE = ("-e", "setTimeout(() => {}, 60000)")


def inspected(processes, executable, *arguments):
    process = processes.start(executable, *arguments)
    wait_until(lambda: os.path.samefile(f"/proc/{process.pid}/exe", executable), 10, "it runs")
    return processes.run(paths.XAGENT, "inspect", "process", process.pid).out


def test_inspect_tells_of_it(processes, tmp_path, node):
    assert ": its functions are shown" in inspected(processes, node.path, *IDLE)
    # Whatever it is called.
    renamed = tmp_path / "service"
    os.link(node.path, renamed) if os.stat(node.path).st_dev == os.stat(tmp_path).st_dev else shutil.copy(node.path, renamed)
    assert ": its functions are shown" in inspected(processes, renamed, *IDLE)


def test_stripped(processes, tmp_path):
    """What no symbol tells is found by what it holds; where that is another thing than it says, there are native frames, and the reason: part of the functions alone would be a
    chain of calls that never was."""
    found = nodes.get_or_skip(nodes.SAMPLE[-1])
    stripped = tmp_path / "node"
    subprocess.run(["strip", "-o", stripped, found], check=True)
    program = tmp_path / "spin.js"
    program.write_text(SPIN)
    assert ": its functions are shown" in inspected(processes, stripped, *IDLE)
    stacks = profiled(processes, tmp_path / "o", "-F", "199", "--", stripped, program, "2")
    assert stacks.total > 50 and stacks.having("Builtins_JSEntry", "main", "Service.handle", "work").total > 0.5 * stacks.total, stacks.show()
    changed = nodes.without_builtins(found, tmp_path / "changed")
    assert "no symbol tells where its builtins are, and they were not found" in inspected(processes, changed, *IDLE)
    stacks = profiled(processes, tmp_path / "o", "-F", "199", "--", changed, program, "2")
    assert stacks.total > 50 and not stacks.having("work")


def test_switch_and_its_reload(start_agent, standin, processes, tmp_path):
    found = nodes.get_or_skip(nodes.SAMPLE[-1])
    program = tmp_path / "spin.js"
    program.write_text(SPIN)
    processes.start(found, program, "60")
    with_v8 = config(standin.url, interval="1s", rate=199)
    without = with_v8.replace("\n\tsample_rate", "\n\tv8_enabled = false\n\tsample_rate", 1)
    assert without != with_v8
    agent = start_agent(without).wait_ready()

    def names_since(pushes):
        return {f for p in standin.pushes()[pushes:] for s in p.profile.samples for f in s.frames}
    wait_until(lambda: "Builtins_InterpreterEntryTrampoline" in names_since(0), 30, "the interpreter is shown")
    assert "work" not in names_since(0)
    agent.config_path.write_text(with_v8)
    assert agent.get("/-/reload")[0] == 200
    wait_until(lambda: {"main", "Service.handle", "work"} <= names_since(0), 30, "the program's functions are shown")
    assert agent.wait_metric(lambda m: m.value("xagent_runtime_stacks_total", runtime="v8", result="walked") > 50, 20, "stacks are counted")


def unnamed(file, line):
    """Where a function begins is not known of all."""
    short = file if file.startswith("node:") else os.path.basename(file)
    return f"<anonymous> ({short}:{line})" if line else f"<anonymous> ({short})"


def test_where_functions_begin(processes, tmp_path, node):
    program = tmp_path / "begins.js"
    program.write_text("'use strict';\n\n\nfunction begins_at_4(end) {\n\tbegins_at_8(end);\n}\n\nfunction begins_at_8(end) {\n\tlet n = 0;\n"
                       "\twhile (Date.now() < end) n += 'abc'.replace(/b/g, () => { for (let i = 0; i < 1000; i++) n++; return n; }).length;\n}\nbegins_at_4(Date.now() + 5000);\n")
    profile = profiled(processes, tmp_path / "o.pb.gz", "-F", "299", "--", node.path, "--no-opt", program)
    begins = {(name, line) for name, file, line in profile.functions if file == str(program)}
    assert {("begins_at_4", 4), ("begins_at_8", 8), (unnamed("begins.js", 10), 10), (unnamed("begins.js", 1), 1)} <= begins, begins
    # One that has no name is called by its place, and its place is where it begins.
    places = {(name, unnamed(file, line)) for name, file, line in profile.functions if name.startswith("<anonymous> ")}
    assert places and all(name == place for name, place in places), places
    # Nobody reads the source of node's own functions: what a tick has not found in memory the next one finds.
    loader = "node:internal/modules/cjs/loader"
    loaders = [(s.values[0], name) for s in profile.samples for name, file, _ in s.places if file == loader and name.startswith("<anonymous>")]
    placed, everything = sum(n for n, name in loaders if name != unnamed(loader, 0)), sum(n for n, _ in loaders)
    # Of older versions those that wait for the program have names.
    assert placed >= 0.9 * everything and (everything or int(node.name) < 22), (placed, everything)
