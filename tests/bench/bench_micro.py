# SPDX-License-Identifier: Apache-2.0
"""The bench programs: the walk alone, and the unwind tables of the files of this machine."""
import os
import re
import subprocess
import time
from pathlib import Path

from harness import paths

PROGRAMS = paths.XAGENT.parent / "tests" / "bench"
# Where programs and libraries are installed.
FILES = ["/usr", "/opt"]


def _run(name, *arguments):
    """The lines "name value" that it prints; None when it is not built or fails."""
    program = PROGRAMS / name
    if not program.exists():
        print(f"{program} is not built")
        return None
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return None
    pairs = (line.split(" ", 1) for line in done.stdout.splitlines())
    return {key: float(value) if re.fullmatch(r"[0-9.]+", value) else value for key, value in pairs}


def walk():
    return _run("walk", PROGRAMS)


def tables():
    return _run("tables", *filter(os.path.isdir, FILES))


def names():
    return _run("names", *filter(os.path.isdir, FILES))


def river():
    return _run("river")


def targets():
    return _run("targets")


def store():
    return _run("store")


def verifier_instructions():
    """Processed ones, of the largest program."""
    done = subprocess.run([paths.XAGENT, "profile", "-d", "1", "-o", os.devnull, "--verifier-stats"],
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    return max(map(int, re.findall(r"instructions=(\d+)", done.stderr)), default=None)


def perf(directory, seconds, rate, cpu_seconds, status_kib):
    """perf with frame pointers: the cheapest recorder there is; it names nothing and pushes nothing."""
    output = Path(directory) / "perf.data"
    try:
        process = subprocess.Popen(["perf", "record", "-a", "-F", str(rate), "-g", "-e", "cpu-clock", "-o", output],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        return None
    time.sleep(2)
    if process.poll() is not None:
        return None
    cpu, at = cpu_seconds(process.pid), time.monotonic()
    time.sleep(seconds)
    result = {"cpu": 100 * (cpu_seconds(process.pid) - cpu) / (time.monotonic() - at),
              "peak": status_kib(process.pid, "VmHWM") / 1024}
    process.terminate()
    process.wait(30)
    result["disk"] = output.stat().st_size / 1024 / (seconds + 2)
    return result
