# SPDX-License-Identifier: Apache-2.0
"""
What another user has put at the paths where the agent looks is looked at, and never opened when it is no plain file. A program of another
user, in a user and mount namespace of its own, plants links to a device where its debug file and its names are looked for.
"""
import os
import shutil
import subprocess

import pytest

from harness import burning, paths, privileges
from harness.folded import Stacks
from harness.opens import Opens

pytestmark = pytest.mark.bpf

USER = 65534
RATE = 997
LEAST = 50


@pytest.fixture
def device(tmp_path):
    """A device that tells nobody of its opening but inotify: /dev/zero under another name."""
    path = tmp_path / "zero"
    try:
        os.mknod(path, 0o666 | 0o020000, os.makedev(1, 5))
        path.chmod(0o666)
        path.open("rb").close()
    except OSError as error:
        pytest.skip(f"no devices here: {error}")
    return path


@pytest.fixture
def place(tmp_path):
    """A directory of the other user, reached by everybody."""
    for directory in (tmp_path, *tmp_path.parents):
        if directory.stat().st_uid == 0 and directory.stat().st_mode & 0o001 == 0:
            directory.chmod(0o711)
    path = tmp_path / "place"
    path.mkdir()
    os.chown(path, USER, USER)
    return path


def start_as_user(processes, script, *argv):
    reason = privileges.why_no_tool("setpriv", "unshare", "mount")
    if reason:
        pytest.skip(reason)
    return processes.start("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "unshare", "--user", "--map-root-user",
                           "--mount", "/bin/sh", "-ec", script, "sh", *argv)


def wait_for_main(process):
    try:
        process.wait_for_output("main")
    except AssertionError:
        if "unshare:" in process.err or "mount:" in process.err:
            pytest.skip(process.err)
        raise


def profile_and_inspect(processes, tmp_path, pid):
    stacks = Stacks(s for all_of in burning.profile(processes, tmp_path, [pid], 0.3).values() for s in all_of)
    for what in ("stack", "process", "symbols"):
        processes.run(paths.XAGENT, "inspect", what, pid)
    return stacks


def with_debug_link(program, path):
    """`program` stripped, without a build id, and with the name of a debug file that is to be beside it."""
    reason = privileges.why_no_tool("objcopy")
    if reason:
        pytest.skip(reason)
    debug = path.parent / "program.debug"
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["objcopy", "--strip-all", "--remove-section=.note.gnu.build-id", f"--add-gnu-debuglink={debug}", program, path], check=True)
    debug.unlink()
    path.chmod(0o755)


@pytest.mark.parametrize("where", ["program.debug", ".debug/program.debug", "in its own root"])
def test_links_to_a_device_for_debug_files(processes, programs, tmp_path, place, device, where):
    with_debug_link(programs["chain"], place / "program")
    script = 'exec "$1/program" 60'
    if where == "in its own root":
        # Only seen through the process: the host has nothing there.
        shutil.copy(place / "program", tmp_path / "place.program")
        script = 'mount -t tmpfs none "$1"; cp "$3" "$1/program"; ln -s "$2" "$1/program.debug"; exec "$1/program" 60'
    else:
        (place / where).parent.mkdir(exist_ok=True)
        (place / where).symlink_to(device)
    process = start_as_user(processes, script, place, device, tmp_path / "place.program")
    wait_for_main(process)
    opens = Opens(device)
    stacks = profile_and_inspect(processes, tmp_path, process.pid)
    assert opens.count() == 0
    assert stacks.total >= LEAST, stacks.show()
    # The watch sees what it is meant to see.
    device.open("rb").close()
    assert opens.count() == 1
    opens.close()


def test_link_to_a_device_for_a_perf_map(processes, programs, tmp_path, place, device):
    """In its own /tmp, under its own pid. The program itself opens it once, to write."""
    shutil.copy(programs["jitcode"], place / "code")
    # The place is below /tmp itself: it is carried along, with the device.
    script = ('mkdir "$1/tmp" "$1/tmp/carried"; mount --bind "$1/.." "$1/tmp/carried"; mount --rbind "$1/tmp" /tmp; '
              'ln -s /tmp/carried/zero "/tmp/perf-$$.map"; exec /tmp/carried/place/code left 60 nobody')
    process = start_as_user(processes, script, place)
    try:
        process.wait_for_output(" code")
    except AssertionError:
        pytest.skip(process.err)
    opens = Opens(device)
    profile_and_inspect(processes, tmp_path, process.pid)
    assert opens.count() == 0
    opens.close()
