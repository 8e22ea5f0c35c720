# SPDX-License-Identifier: Apache-2.0
"""Native images of GraalVM: Java that was compiled ahead, without a JVM and without a table for its methods. What cannot be walked ends with the reason, and nothing is made up."""
import platform
import subprocess

import pytest

from harness import folded, paths, pythons

pytestmark = [pytest.mark.bpf, pytest.mark.skipif(not pythons.FULL, reason="only in the full matrix: the image is 46 MB"),
              pytest.mark.skipif(platform.machine() != "x86_64", reason="the image is for x86-64")]

PACKAGE = "google-closure-compiler-linux"
REASON = "[truncated: no unwind information]"
SOURCE = "function f%d(a) { var b = a + %d; for (let i = 0; i < 10; i++) b += i * f%d.length; return b; }\nconsole.log(f%d(%d));\n"


@pytest.fixture
def image():
    folder = paths.BUILD / "packages" / PACKAGE
    program = folder / "package/compiler"
    with pythons.made_once(folder):
        if not program.exists():
            try:
                subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, capture_output=True, timeout=600)
                subprocess.run(["sh", "-c", "tar -xzf ./*.tgz && rm ./*.tgz"], cwd=folder, check=True, timeout=60)
            except (OSError, subprocess.SubprocessError) as e:
                pytest.skip(f"no {PACKAGE}: {e}")
    return program


def test_native_image(processes, tmp_path, image):
    (tmp_path / "in.js").write_text("".join(SOURCE % ((n,) * 5) for n in range(3000)))
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", "997", "-o", tmp_path / "o", "--", image, "-O", "ADVANCED", "--js", tmp_path / "in.js",
                        "--js_output_file", tmp_path / "out.js", seconds=120)
    assert run.popen.returncode == 0, run.err
    stacks = folded.parse((tmp_path / "o").read_text())
    own = folded.Stacks(s for s in stacks if s.frames[-1].startswith("compiler+"))
    assert own.total > 300, stacks.show()
    # Its methods keep no frame pointers: what was one by chance would be a caller that is none.
    made_up = folded.Stacks(s for s in own if REASON not in s.frames and "[unknown]" not in s.frames and len(s.frames) > 2)
    assert made_up.total <= 0.02 * own.total, made_up.show()
    ended = own.having(REASON)
    assert ended.total >= 0.95 * own.total, own.show()
