# SPDX-License-Identifier: Apache-2.0
"""CPython in the versions that can be had: this host's, those of pyenv, and those of Debian's suites in folders of their own (build/roots). XAGENT_TEST_PYTHONS names
further executables (A:B:…), as a free-threaded build of one's own."""
import contextlib
import fcntl
import functools
import glob
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from . import paths

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"
ROOTS = paths.BUILD / "roots"

# Debian's builds are static, stripped, with profile-guided optimization; what the host has may be shared.
SUITES = {"3.9": "bullseye", "3.13": "trixie", "3.14": "sid", "3.15": "sid"}
OF_HOST = {"3": "/usr/bin/python3"} | {".".join(Path(p).parent.parent.name.split(".")[:2]): p
                                       for p in sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))}
OTHERS = [p for p in os.environ.get("XAGENT_TEST_PYTHONS", "").split(":") if p]
# A run of all others takes ten seconds; unpacking a suite as long.
SAMPLE = ("host 3", "host 3.6", "host 3.10", "host 3.12", "debian 3.9", "debian 3.15")
ALL = tuple([f"host {v}" for v in OF_HOST] + [f"debian {v}" for v in SUITES])
# One of each way in which activations are told, where a version makes no other difference.
FEW = ALL if FULL else tuple(n for n in SAMPLE if n in ("host 3.10", "debian 3.9", "debian 3.15") and (n.startswith("debian") or n.split()[1] in OF_HOST))
NAMES = (ALL if FULL else tuple(n for n in SAMPLE if n.startswith("debian") or n.split()[1] in OF_HOST)) + tuple(f"other {p}" for p in OTHERS)


class Python(NamedTuple):
    command: tuple  # that runs it
    root: Path      # which it sees as /

    def place(self, path, text=None):
        """A file that it sees at the name that is returned, and where we see it."""
        seen = Path("/tmp") / path
        here = self.root / seen.relative_to("/")
        if text is not None:
            here.write_text(text)
        return str(seen), here


@contextlib.contextmanager
def made_once(folder):
    """For whoever else makes it at the same time: what it is made in is its own until it is left."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f".{folder.name}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@functools.lru_cache(maxsize=None)
def unpacked(suite, name, *packages):
    """(a folder that chroot runs, None), or (None, why there is none)."""
    root = ROOTS / name
    made = root / "made"
    with made_once(root):
        if not made.exists():
            subprocess.run(["rm", "-rf", root], check=True)
            run = subprocess.run([paths.TOP / "tests/runtimes/root.sh", suite, root, *packages], capture_output=True, text=True, timeout=300, check=False)
            if run.returncode != 0:
                return None, run.stderr.strip()
            made.touch()
    return root, None


@functools.lru_cache(maxsize=None)
def installed(python, package):
    """(the folder of the programs of a package of PyPI, None), or (None, why it cannot be had). The interpreter's own packages stay as they are."""
    folder = paths.BUILD / "packages" / f"{package}-{Path(python).parent.parent.name}"
    made = folder / "made"
    with made_once(folder):
        if made.exists():
            return folder / "bin", None
        subprocess.run(["rm", "-rf", folder], check=True)
        for command in ([python, "-m", "venv", folder], [folder / "bin/pip", "install", "-q", "--disable-pip-version-check", package]):
            run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if run.returncode != 0:
                return None, f"no {package}: " + (run.stderr.strip() or run.stdout.strip()).splitlines()[-1]
        made.touch()
    return folder / "bin", None


def get(name):
    """(Python, None), or (None, why there is none)."""
    kind, version = name.split(" ", 1)
    if kind != "debian":
        path = OF_HOST[version] if kind == "host" else version
        return (Python((path,), Path("/")), None) if os.path.exists(path) else (None, f"no {path}")
    root, why = unpacked(SUITES[version], f"python{version}", f"python{version}-minimal", f"libpython{version}-stdlib")
    return (Python(("chroot", str(root), f"/usr/bin/python{version}"), root), None) if root else (None, why)
