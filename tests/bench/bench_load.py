# SPDX-License-Identifier: Apache-2.0
"""The load: eight programs, each thread 20 ms of CPU time in every 100 ms or less. What this machine cannot build is left out, and said."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "load"
CFLAGS = ["-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls"]
GO = [shutil.which("go"), "/usr/local/go/bin/go"]


def _cc(directory, product, source, *flags, compiler=None):
    compiler = compiler or os.environ.get("CC", "gcc")
    subprocess.run([compiler, *CFLAGS, "-o", directory / product, HERE / source, *flags], check=True)


def _build_c(directory):
    _cc(directory, "native", "native.c", "-lpthread")
    _cc(directory, "libcallee.so", "caller.c", "-fPIC", "-shared", "-DCALLEE")
    _cc(directory, "caller", "caller.c", "-rdynamic", directory / "libcallee.so", "-Wl,-rpath,$ORIGIN")
    _cc(directory, "spawner", "spawner.c")
    _cc(directory, "programs", "programs.c")


def _build_go(directory):
    go = next((g for g in GO if g and Path(g).exists()), None)
    if not go:
        return False
    environment = {**os.environ, "GOCACHE": str(directory / "gocache"), "GOFLAGS": "", "GO111MODULE": "off",
                   "CGO_ENABLED": "0"}
    return subprocess.run([go, "build", "-o", directory / "gopher", HERE / "gopher.go"], env=environment,
                          cwd=directory).returncode == 0


def build(directory):
    """name → argv without the seconds; the names of what is missing."""
    _build_c(directory)
    programs = {name: [directory / name] for name in ("native", "caller", "spawner", "programs")}
    missing = []
    if shutil.which("g++"):
        _cc(directory, "shapes", "shapes.cc", compiler="g++")
        programs["shapes"] = [directory / "shapes"]
    else:
        missing.append("shapes (no g++)")
    if _build_go(directory):
        programs["gopher"] = [directory / "gopher"]
    else:
        missing.append("gopher (no go)")
    programs["snake"] = [sys.executable, "-B", HERE / "snake.py"]
    if shutil.which("node"):
        programs["nodes"] = [shutil.which("node"), HERE / "nodes.js"]
    else:
        missing.append("nodes (no node)")
    return programs, missing


def start(processes, programs, seconds):
    return {name: processes.start(*argv, str(seconds)) for name, argv in programs.items()}
