# SPDX-License-Identifier: Apache-2.0
"""Runtimes that say which code they have made: PHP, Erlang and wasmtime, as the table in deploy/README.md has them switched on. Their functions have names, and their stacks are whole."""
import glob

import pytest

from harness import folded, paths, pythons

pytestmark = [pytest.mark.bpf, pytest.mark.skipif(not pythons.FULL, reason="XAGENT_TEST_MATRIX=full runs it: each is unpacked first")]

SECONDS = 3

PHP = """<?php
function leaf($n) { $s = 0; for ($i = 0; $i < $n; $i++) { $s = ($s * 31 + $i) %% 65537; } return $s; }
function middle($n) { $s = 0; for ($i = 0; $i < 20; $i++) { $s += leaf($n); } return $s; }
$end = microtime(true) + %d;
while (microtime(true) < $end) { middle(20000); }
"""

ERLANG = """
-module(spin).
-export([main/1, middle/2, leaf/2]).
leaf(0, S) -> S;
leaf(N, S) -> leaf(N - 1, (S * 31 + N) rem 65537).
middle(0, S) -> S;
middle(N, S) -> X = leaf(20000, S), Y = middle(N - 1, X), Y + 1.
main(End) ->
    X = middle(20, 1),
    case erlang:monotonic_time(millisecond) < End of true -> main(End); false -> X end.
"""

WASM = """
import sys, time
import wasmtime
config = wasmtime.Config()
config.profiler = "perfmap"
engine = wasmtime.Engine(config)
store = wasmtime.Store(engine)
module = wasmtime.Module(engine, '''(module
  (func $leaf (param $n i32) (result i32) (local $s i32)
    (loop $again
      (local.set $s (i32.add (i32.mul (local.get $s) (i32.const 31)) (local.get $n)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $s))
  (func $middle (export "middle") (param $n i32) (result i32)
    (i32.add (call $leaf (local.get $n)) (i32.const 1))))''')
middle = wasmtime.Instance(store, module, []).exports(store)["middle"]
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    middle(store, 3000000)
"""


def profiled(processes, output, *command):
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", "499", "-o", output, "--", *command, seconds=120)
    assert run.popen.returncode == 0, run.err
    return folded.parse(output.read_text())


def check(stacks, leaf, callers):
    """Those in the function that works, and of them those below its callers."""
    in_leaf = folded.Stacks(s for s in stacks if any(leaf in f for f in s.frames))
    assert in_leaf.total > 0.5 * SECONDS * 499, stacks.show()
    whole = folded.Stacks(s for s in in_leaf if all(any(c in f for f in s.frames) for c in callers) and not s.frames[1].startswith("[truncated"))
    assert whole.total >= 0.99 * in_leaf.total, folded.Stacks(s for s in in_leaf if s not in whole).show()


def test_php(processes, tmp_path):
    root, why = pythons.unpacked("trixie", "php8.4", "php8.4-cli", "php8.4-opcache")
    if not root:
        pytest.skip(why)
    (root / "tmp/work.php").write_text(PHP % SECONDS)
    opcache = glob.glob(f"{root}/usr/lib/php/*/opcache.so")[0][len(str(root)):]
    options = ("zend_extension=" + opcache, "opcache.enable_cli=1", "opcache.jit_buffer_size=64M", "opcache.jit=function", "opcache.file_update_protection=0", "opcache.jit_debug=0x10")
    stacks = profiled(processes, tmp_path / "o", "chroot", root, "/usr/bin/php8.4", "-n", *(x for o in options for x in ("-d", o)), "/tmp/work.php")
    # Calls between functions of PHP leave nothing on the C stack.
    check(stacks, "JIT$leaf", ["zend_execute"])


def test_erlang(processes, tmp_path):
    root, why = pythons.unpacked("trixie", "erlang27", "erlang-base", "dash", "coreutils", "sed")
    if not root:
        pytest.skip(why)
    (root / "tmp/spin.erl").write_text(ERLANG)
    code = f'{{ok,_}} = compile:file("/tmp/spin", [{{outdir,"/tmp"}}]), spin:main(erlang:monotonic_time(millisecond) + {SECONDS}000), halt().'
    stacks = profiled(processes, tmp_path / "o", "chroot", root, "/usr/bin/erl", "+JPperf", "true", "-noshell", "-pa", "/tmp", "-eval", code)
    check(stacks, "spin:leaf/2", ["spin:middle/2", "spin:main/1"])


def test_wasmtime(processes, tmp_path):
    programs, why = pythons.installed("/usr/bin/python3", "wasmtime")
    if not programs:
        pytest.skip(why)
    (tmp_path / "work.py").write_text(WASM)
    stacks = profiled(processes, tmp_path / "o", programs / "python3", tmp_path / "work.py", SECONDS)
    check(stacks, "leaf", ["middle", "__main__.<module>"])
