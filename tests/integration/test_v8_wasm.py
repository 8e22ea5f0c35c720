# SPDX-License-Identifier: Apache-2.0
"""Functions of WebAssembly in Node.js, by the name section of their module: modules that are made here, each run by a JavaScript function of its own."""
import json

import pytest

from harness import folded, nodes, paths

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

# What V8 compiles with: both of its compilers by turns, or one of them. Turbofan makes one function of several that are small.
COMPILERS = {
    "both": (),
    "liftoff": ("--liftoff-only",),
    "turbofan": ("--no-liftoff", "--no-wasm-inlining"),
}


@pytest.fixture(params=nodes.NAMES if nodes.FULL else nodes.SAMPLE[-1:])
def node(request):
    return nodes.get_or_skip(request.param)


def number(n):
    """LEB128."""
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return number(len(s)) + s


def vector(items):
    return number(len(items)) + b"".join(items)


def section(which, body):
    return bytes([which]) + number(len(body)) + body


def function(n_locals, code):
    body = vector([number(n_locals) + b"\x7f"] if n_locals else []) + code + b"\x0b"
    return number(len(body)) + body


def names_of(names, module=None):
    own = section(0, text(module)) if module else b""
    return own + section(1, vector([number(i) + text(n) for i, n in names.items()]))


# do local1 = local1 * 3 + local0; while (--local0); return local1
LOOP = bytes.fromhex("0340 2001 4103 6c 2000 6a 2101 2000 4101 6b 2200 0d00 0b 2001")


def call(which):
    return function(0, b"\x20\x00\x10" + number(which))


def module(names=None):
    """Functions from i32 to i32: 0 is imported; 1 calls 2, and that 3, which works; 4 calls 5, and that the imported one. `names`: the content of its name section."""
    head = b"\0asm\1\0\0\0" + section(1, vector([b"\x60\x01\x7f\x01\x7f"])) + section(2, vector([text("e") + text("back") + b"\x00\x00"]))
    exports = section(7, vector([text("run") + b"\x00\x01", text("js") + b"\x00\x04"]))
    code = section(10, vector([call(2), call(3), function(1, LOOP), call(5), call(0)]))
    return head + section(3, vector([b"\x00"] * 5)) + exports + code + (section(0, text("name") + names) if names is not None else b"")


def numbered(*which):
    return {i: f"wasm-function[{i}]" for i in which}


NUMBERED = numbered(1, 2, 3, 4, 5)
FIRST = {1: "alpha", 2: "beta", 3: "gamma", 4: "out", 5: "further_out"}
SECOND = {1: "uno", 2: "due", 3: "tre"}
LONG = "x" * 5000
# What is in the name section, and the names of functions that have one there.
MODULES = {
    "first": (names_of({0: "imported", **FIRST}, "module"), FIRST),
    "second": (names_of(SECOND), SECOND),
    "other_letters": (names_of({1: "größe", 2: "数", 3: "tres"}, "größe 数"), {1: "größe", 2: "数", 3: "tres"}),
    "unnamed": (None, {}),
    "not_utf8": (names_of({1: b"\xff\xfe", 2: "fine", 3: b"\xc3"}), {2: "fine"}),
    "twice": (section(1, vector([number(1) + text("one"), number(1) + text("other"), number(3) + text("three")])), {3: "three"}),
    "forged_count": (section(1, number(2**32 - 1) + b"\x01\x04fine"), {1: "fine"}),
    "forged_length": (section(1, b"\x02\x02\x04fine\x03" + number(2**32 - 1)), {2: "fine"}),
    "long_names": (names_of({1: LONG, 2: "short", 3: LONG + "y"}), {1: LONG[:1024], 2: "short", 3: LONG[:1024]}),
    "others": (names_of({7: "seven", 2**32 - 1: "last"}), {}),
}

PROGRAM = """
'use strict';
const modules = %s, exports_of = {}, calls = [];
function back(n) { for (let k = 0; k < 300000; k++) n = (n * 5 + k) & 1023; return n; }
function cpu() { const used = process.cpuUsage(); return (used.user + used.system) / 1000; }
for (const [name, hex] of Object.entries(modules))
	exports_of[name] = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(hex, 'hex')), { e: { back } }).exports;
%s
for (const end = cpu() + %d; cpu() < end;)
	for (const f of calls) f();
"""
# Of these it is asked as well how they call JavaScript.
OUT = ("first", "unnamed")


def program_of(path, milliseconds):
    calls = [f"calls.push(function call_{name}() {{ return exports_of.{name}.run(200000); }});" for name in MODULES]
    calls += [f"calls.push(function js_{name}() {{ return exports_of.{name}.js(1); }});" for name in OUT]
    modules = json.dumps({name: module(names).hex() for name, (names, _) in MODULES.items()})
    path.write_text(PROGRAM % (modules, "\n".join(calls), milliseconds))
    return path


def profiled(processes, output, *command):
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", "499", "-o", output, "--", *command, seconds=120)
    assert run.popen.returncode == 0, run.err
    return folded.parse(output.read_text())


NAMES = {n for _, named in MODULES.values() for n in named.values()}


def below(stack, outer):
    """Functions of modules, and those that they call: V8's own, which lie between, and what they call are left out."""
    frames = stack.frames[stack.frames.index(outer) + 1:]
    return [f for f in frames if f in NAMES or f == "back" or f.startswith(("name_", "wasm-function["))]


def expected_names(named):
    return {**NUMBERED, **named}


def is_beginning(names, which, expected):
    """Of the chain. A leaf has no frame of its own yet at its first instructions: then its caller is missing."""
    begun = [which[:n] for n in range(len(which) + 1)]
    begun += [which[:n - 2] + which[n - 1:n] for n in range(2, len(which) + 1)]
    return any(len(names) == len(b) and all(f in (expected[i], NUMBERED[i]) for f, i in zip(names, b)) for b in begun)


def check_chain(stacks, caller, which, named):
    """Until the agent has a table of the process it reads no module: then a function has its number. Samples of the whole chain, and those of them with all names."""
    expected, seen, n_named = expected_names(named), 0, 0
    for s in stacks.having(caller):
        wasm = [f for f in below(s, caller) if f != "back"]
        assert is_beginning(wasm, which, expected), folded.Stacks([s]).show()
        seen += s.count if len(wasm) == len(which) else 0
        n_named += s.count if wasm == [expected[i] for i in which] else 0
    return seen, n_named


def check_named(stacks, caller, which, named):
    seen, n_named = check_chain(stacks, caller, which, named)
    assert seen and n_named, f"{caller}: {seen} {n_named}\n" + stacks.having(caller).show()


@pytest.mark.parametrize("compiler", COMPILERS if nodes.FULL else ("both",))
def test_names(processes, tmp_path, node, compiler):
    flags = [f for f in COMPILERS[compiler] if nodes.has_flag(node, f)]
    if "--no-liftoff" in flags and nodes.has_flag(node, "--no-experimental-wasm-inlining"):
        flags.append("--no-experimental-wasm-inlining")
    stacks = profiled(processes, tmp_path / "o", node, *flags, program_of(tmp_path / "wasm.js", 4000 if nodes.FULL else 1500))
    assert stacks.having("[wasm]").total <= 0.01 * stacks.total, stacks.having("[wasm]").show()
    for name, (_, named) in MODULES.items():
        check_named(stacks, f"call_{name}", (1, 2, 3), named)
    for name in OUT:
        check_named(stacks, f"js_{name}", (4, 5), MODULES[name][1])
        out = folded.Stacks(s for s in stacks.having(f"js_{name}", "back") if below(s, f"js_{name}")[2:3] != ["back"])
        assert stacks.having(f"js_{name}", "back").total and not out.total, out.show()


def profile_of_v8(processes, folder, node, program):
    run = processes.run(node, "--cpu-prof", f"--cpu-prof-dir={folder}", program, seconds=60)
    assert run.popen.returncode == 0, run.err
    return json.loads(next(folder.glob("*.cpuprofile")).read_text())["nodes"]


@pytest.mark.skipif(not nodes.FULL, reason="in the full matrix")
def test_as_v8_names_them(processes, tmp_path, node):
    """Each of its functions by the same name as V8's own profiler has it, but for names that are cut, or are another function's as well."""
    called = {n["callFrame"]["functionName"] for n in profile_of_v8(processes, tmp_path, node, program_of(tmp_path / "wasm.js", 2000)) if n["callFrame"]["url"].startswith("wasm:")}
    names = {expected_names(named)[i] for name, (_, named) in MODULES.items() if name not in ("twice", "long_names") for i in (1, 2, 3)}
    loops = {expected_names(named)[3] for name, (_, named) in MODULES.items() if name not in ("twice", "long_names")}
    assert loops <= called, called
    assert called <= names | {"one", "other", "three", "short", "fine", "out", "further_out", LONG, LONG + "y"} | set(NUMBERED.values()), called


CHURN = """
'use strict';
const modules = %s, calls = modules.map((_, i) => new Function('exports', `return function call_${i}() { return exports.run(200000); }`));
let n = 0;
for (const end = Date.now() + %d; Date.now() < end; n++) {
	const i = n %% modules.length;
	const exports = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(modules[i], 'hex')), { e: { back() {} } }).exports;
	const call = calls[i](exports);
	for (let k = 0; k < 30; k++) call();
	if (n %% 4 == 0) gc();
}
"""


@pytest.mark.skipif(not nodes.FULL, reason="in the full matrix")
def test_modules_that_are_dropped(processes, tmp_path, node):
    """One after another, of the same size and at the addresses of those before: no function has a name of another module."""
    modules = [module(names_of({i: f"name_{k}_{i}" for i in range(1, 4)})).hex() for k in range(8)]
    program = tmp_path / "churn.js"
    program.write_text(CHURN % (json.dumps(modules), 6000))
    stacks = profiled(processes, tmp_path / "o", node, "--expose-gc", program)
    for k in range(8):
        seen, _ = check_chain(stacks, f"call_{k}", (1, 2, 3), {i: f"name_{k}_{i}" for i in range(1, 4)})
        assert seen, stacks.show()
    assert any(f.startswith("name_") for s in stacks for f in s.frames), stacks.show()


WORKERS = """
'use strict';
const { Worker, isMainThread, workerData } = require('worker_threads');
const modules = %s;
function work(k, end) {
	const exports = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(modules[k], 'hex')), { e: { back() {} } }).exports;
	function call_0() { while (Date.now() < end) exports.run(200000); }
	function call_1() { while (Date.now() < end) exports.run(200000); }
	[call_0, call_1][k]();
}
if (isMainThread) {
	const start = () => { if (Date.now() < end) for (let k = 0; k < 2; k++) new Worker(__filename, { workerData: k }).on('exit', k ? start : () => {}); };
	const end = Date.now() + %d;
	start();
} else {
	work(workerData, Date.now() + 400);
}
"""


@pytest.mark.skipif(not nodes.FULL, reason="in the full matrix")
def test_workers(processes, tmp_path, node):
    """Each has numbers of scripts of its own: those of two are the same, and so are the sizes of their modules."""
    modules = [module(names_of({i: f"name_{k}_{i}" for i in range(1, 4)})).hex() for k in range(2)]
    program = tmp_path / "workers.js"
    program.write_text(WORKERS % (json.dumps(modules), 5000))
    stacks = profiled(processes, tmp_path / "o", node, program)
    for k in range(2):
        check_named(stacks, f"call_{k}", (1, 2, 3), {i: f"name_{k}_{i}" for i in range(1, 4)})
