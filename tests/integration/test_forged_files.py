# SPDX-License-Identifier: Apache-2.0
"""Files that claim to be others. What one user's file says must not decide how another's stacks are unwound."""
import os
import shutil
import signal
import subprocess
import threading

import pytest

from harness import burning, chains, paths, privileges, situations
from harness.folded import Stacks

pytestmark = pytest.mark.bpf

NOBODY = 65534
ID = "f0" + "1d" * 19
BUILD_ID = f"0x{ID}"
TWIN = situations.exactly("main", "twin_outer", "twin_inner", "twin_spin")
LEAST = 50


def build_twin(path, frame_bytes):
    subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-builtin", f"-I{paths.TOP}", f"-DTWIN_FRAME={frame_bytes}",
                    f"-Wl,--build-id={BUILD_ID}", "-o", path, paths.TESTS / "fixtures" / "twin.c"], check=True)
    path.chmod(0o755)
    return path


def text_segment(path):
    """Where its code lies, as readelf tells."""
    lines = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split() for line in lines if line.lstrip().startswith("LOAD") and " R E " in line]


@pytest.mark.parametrize("first", ["forged", "honest"])
def test_forged_build_id(processes, open_directory, first):
    """
    Two programs of one build id, with their code at the same place and other frames; the forged one is a stranger's, and runs as that
    stranger. Both are seen as they are, whoever came first.
    """
    reason = privileges.why_no_tool("gcc", "readelf")
    if reason:
        pytest.skip(reason)
    honest = build_twin(open_directory / "honest", 400)
    forged = build_twin(open_directory / "forged", 640)
    os.chown(forged, NOBODY, NOBODY)
    assert text_segment(honest) == text_segment(forged)
    order = [(honest, {}), (forged, {"user": NOBODY, "group": NOBODY, "extra_groups": []})]
    if first == "forged":
        order.reverse()
    started = []
    for program, options in order:
        process = processes.start(program, burning.SECONDS, **options)
        process.wait_for_output("main")
        started.append(process)
    # One agent sees both: the tables of the first are in use when the second one's are wanted.
    stacks = burning.profile(processes, open_directory, [p.pid for p in started], enough=2)
    for program in ("honest", "forged"):
        chains.assert_all(stacks[program], TWIN, LEAST, program)


def run_as_nobody_in_own_root(processes, directory, program, forged):
    """As any user can: in a mount namespace where /usr/lib/debug is theirs."""
    debug = directory / "debug" / ".build-id" / ID[:2]
    debug.mkdir(parents=True)
    shutil.copy(forged, debug / f"{ID[2:]}.debug")
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", directory / "debug"], check=True)
    (directory / "stranger").symlink_to(program)
    script = f"mount --bind {directory}/debug /usr/lib/debug && exec {directory}/stranger {burning.SECONDS}"
    process = processes.start("unshare", "-r", "-m", "sh", "-c", script, user=NOBODY, group=NOBODY, extra_groups=[])
    try:
        process.wait_for_output("main")
    except AssertionError as e:
        pytest.skip(f"users may have no namespaces here: {e}")
    return process


def test_forged_debug_file(processes, open_directory):
    """A stranger runs everybody's program where it seems to have a debug file, of its build id and with other names. Nobody is named by it."""
    reason = privileges.why_no_tool("gcc", "objcopy", "unshare", "mount")
    if reason:
        pytest.skip(reason)
    if not os.path.isdir("/usr/lib/debug"):
        pytest.skip("no /usr/lib/debug to mount over")
    program = build_twin(open_directory / "honest", 400)
    forged = open_directory / "forged.debug"
    subprocess.run(["objcopy", "--only-keep-debug", *(f"--redefine-sym=twin_{n}=forged_{n}" for n in ("outer", "inner", "spin")), program, forged],
                   check=True)
    subprocess.run(["strip", program], check=True)
    stranger = run_as_nobody_in_own_root(processes, open_directory, program, forged)
    honest = processes.start(program, burning.SECONDS)
    honest.wait_for_output("main")
    # The stranger comes first.
    honest.send(signal.SIGSTOP)
    timer = threading.Timer(3, honest.send, [signal.SIGCONT])
    timer.start()
    try:
        stacks = burning.profile(processes, open_directory, [stranger.pid, honest.pid])
    finally:
        timer.cancel()
    named = Stacks(s for s in stacks["honest"] if any(f.startswith("forged_") for f in s.frames))
    assert not named, named.show(3)
    assert stacks["honest"].total >= LEAST and stacks["stranger"].total >= LEAST
