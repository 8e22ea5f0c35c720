# SPDX-License-Identifier: Apache-2.0
"""
Names and unwind information from the very file that is mapped, wherever it is by now: replaced, written anew, in a mount namespace, on an
overlay, cut short while it is read. And what is no file is never opened.
"""
import os
import shutil
import signal
import subprocess
import threading
import time

import pytest

from harness import burning, chains, folded, paths, privileges, situations
from harness.agent import config
from harness.folded import Stacks
from harness.opens import Opens
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

CHAIN = situations.exactly("main", "alpha", "beta", "gamma", "spin")
BOUNCE = situations.SITUATIONS["bounce"].good
RATE = 997
LEAST = 50
ENOUGH = 0.3


def profile_one(processes, tmp_path, pid):
    return Stacks(s for stacks in burning.profile(processes, tmp_path, [pid], ENOUGH).values() for s in stacks)


def profile_command(processes, tmp_path, *argv):
    path = tmp_path / "out.folded"
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", RATE, "-o", path, "--", *argv)
    assert run.popen.returncode == 0, run.err
    return folded.parse(path.read_text())


def write_in_place(path, content):
    """The inode stays; nobody may be executing it."""
    with open(path, "r+b") as file:
        file.truncate(0)
        file.write(content)


# Replaced

@pytest.mark.parametrize("how", ["replaced", "written in place"])
def test_program_that_is_another_at_its_next_start(processes, programs, tmp_path, how):
    """As compilers and package managers do between two runs: what was known of the first file is not said of the second."""
    program, other = tmp_path / "program", tmp_path / "other"
    shutil.copy(programs["relay_a"], program)
    shutil.copy(programs["relay_b"], other)
    change = f"mv {other} {program}" if how == "replaced" else f"cat {other} > {program}"
    stacks = profile_command(processes, tmp_path, "/bin/sh", "-c", f"{program} 400; {change}; {program} 400")
    first, second = (stacks.having_run("main", f"relay_{letter}_spin").total for letter in "ab")
    # 400 ms of CPU time each. Nobody has the first content any more when names are looked up: it has an address, and no name of the second.
    if how == "written in place":
        first += sum(s.count for s in stacks if s.frames[-1].startswith("program+0x"))
    for spins in (first, second):
        assert 0.6 * 0.4 * RATE <= spins <= 1.4 * 0.4 * RATE, stacks.show()


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_library_that_was(processes, frameless_programs, tmp_path, how):
    built = frameless_programs("fbounce", "fbounce.so", "fplugin_a.so")
    library = tmp_path / "library.so"
    shutil.copy(built["fbounce.so"], library)
    process = processes.start(built["fbounce"], 60, library, situations.BOUNCES)
    process.wait_for_output("main")
    library.unlink()
    if how == "replaced":
        shutil.copy(built["fplugin_a.so"], library)
    chains.assert_all(profile_one(processes, tmp_path, process.pid), BOUNCE, LEAST, how)


# Where the host does not see it

def start_in_namespace(processes, script, *argv):
    """A shell script in a mount namespace of its own; it says `main` when the program burns."""
    reason = privileges.why_no_tool("unshare", "mount")
    if reason:
        pytest.skip(reason)
    return processes.start("unshare", "-m", "--propagation", "private", "/bin/sh", "-ec", script, "sh", *argv)


def test_file_that_the_host_does_not_see(processes, frameless_programs, tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    process = start_in_namespace(processes, 'mount -t tmpfs hidden "$1"; cp "$2" "$1/program"; exec "$1/program" 60', hidden,
                                 frameless_programs("fchain")["fchain"])
    process.wait_for_output("main")
    assert not (hidden / "program").exists()
    chains.assert_all(profile_one(processes, tmp_path, process.pid), CHAIN, LEAST, "hidden")


def test_processes_of_a_moment_that_the_host_does_not_see(processes, programs, frameless_programs, tmp_path):
    """Each is gone before its file can be opened through it; who started it is in the same place."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    stacks = profile_command(processes, tmp_path, "unshare", "-m", "--propagation", "private", "/bin/sh", "-ec",
                             'mount -t tmpfs hidden "$1"; cp "$2" "$1/ftiny"; exec "$3" 2 "$1/ftiny"', "sh", hidden,
                             frameless_programs("ftiny")["ftiny"], programs["shortlived"])
    own = Stacks(s for s in stacks if s.frames[0] == "ftiny")
    spins = own.having_run("main", "tiny_main", "tiny_spin")
    assert spins.total >= 0.9 * own.total > LEAST, own.show()


def test_namespace_that_is_gone_when_names_are_looked_up(processes, programs, tmp_path):
    """The file was opened while its process lived. The profile is made when nobody can reach it any more."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    stacks = profile_command(processes, tmp_path, "/bin/sh", "-ec",
                             'unshare -m --propagation private /bin/sh -ec \'mount -t tmpfs h "$1"; cp "$2" "$1/p"; exec "$1/p" 600\' sh "$1" "$2"; sleep 0.3',
                             "sh", hidden, programs["relay_a"])
    spins = stacks.having_run("main", "relay_a_spin")
    assert spins.total >= 0.6 * 0.6 * RATE, stacks.show()


@pytest.fixture
def overlay(tmp_path):
    """A mounted overlay: (lower directory, merged directory). On a tmpfs, whose files an overlay always takes."""
    base = tmp_path / "overlay"
    base.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "xagent-test", base], capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a tmpfs")
    for name in ("lower", "upper", "work", "merged"):
        (base / name).mkdir()
    options = ",".join(f"{k}dir={base / k}" for k in ("lower", "upper", "work"))
    mounted = subprocess.run(["mount", "-t", "overlay", "xagent-test", "-o", options, base / "merged"], capture_output=True, check=False)
    try:
        if mounted.returncode:
            pytest.skip(f"cannot mount an overlay: {mounted.stderr.decode()}")
        yield base / "lower", base / "merged"
    finally:
        subprocess.run(["umount", "-l", base / "merged"], capture_output=True, check=False)
        subprocess.run(["umount", "-l", base], capture_output=True, check=False)


@pytest.mark.parametrize("layer", ["lower", "upper", "removed from upper", "copied up since"])
def test_program_on_an_overlay(processes, frameless_programs, tmp_path, overlay, layer):
    lower, merged = overlay
    program = merged / "program"
    shutil.copy(frameless_programs("fchain")["fchain"], program if "upper" in layer else lower / "program")
    process = processes.start(program, 60)
    process.wait_for_output("main")
    if layer.startswith("removed"):
        program.unlink()
    elif layer.startswith("copied"):
        # Changing the mode is enough: the path leads to another inode from then on.
        program.chmod(0o700)
    chains.assert_all(profile_one(processes, tmp_path, process.pid), CHAIN, LEAST, layer)


# Cut short

class Shrinking:
    """A thread that empties a file and writes it again, over and over."""

    def __init__(self, path):
        self.path, self.content = path, path.read_bytes()
        self.rounds, self.stopped = 0, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        sizes = (0, 64, 4096, len(self.content) // 2, len(self.content) - 1)
        while not self.stopped:
            with open(self.path, "r+b") as file:
                file.truncate(sizes[self.rounds % len(sizes)])
                time.sleep(0.003)
                file.seek(0)
                file.write(self.content)
            time.sleep(0.002)
            self.rounds += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped = True
        self.thread.join()


def test_file_that_is_truncated_while_it_is_read(start_agent, standin, processes, frameless_programs, tmp_path):
    """
    The agent maps no file, so it cannot be killed by what others cut. The program's stack goes through the library, whose code does not run
    meanwhile; each start is a new file to the agent, read anew.
    """
    built = frameless_programs("fbounce", "fbounce.so")
    agent = start_agent(config(standin.url, interval="500ms", rate=RATE, collect_kernel_profile=False)).wait_ready()
    rounds = 0
    for i in range(6):
        library = tmp_path / f"library{i}.so"
        shutil.copy(built["fbounce.so"], library)
        process = processes.start(built["fbounce"], 60, library, situations.BOUNCES)
        process.wait_for_output("main")
        with Shrinking(library) as shrinking:
            until = burning.cpu_seconds(process.pid) + ENOUGH
            wait_until(lambda: not process.running() or burning.cpu_seconds(process.pid) >= until, 30, "it has burned")
            processes.run(paths.XAGENT, "inspect", "stack", process.pid)
        rounds += shrinking.rounds
        assert process.running(), process.popen.returncode
        process.end()
    assert rounds > 100
    m = agent.wait_metric(lambda m: m.agent("samples_in_profiles") > 100, 10, "samples in profiles")
    assert m.kernel("lost") == 0 and m.agent("samples_dropped_memory") == 0 and m.agent("samples_dropped_malformed") == 0
    assert agent.stop() == 0, agent.log[-2000:]
    stacks = Stacks(folded.Stack(("fbounce", *s.frames), s.values[0] // p.profile.period)
                    for p in standin.pushes(service_name="fbounce") for s in p.profile.samples)
    spins = stacks.having("host_spin")
    # Cut, or without a name, but nothing invented.
    invented = {f for f in spins.frames() if not f.startswith(("[", "_start", "__libc_start", "libc.so", "library"))}
    assert spins.total > LEAST and invented <= {"main", "host_bounce", "plugin_bounce", "host_spin"}, spins.show()


# No files at all

def test_device_is_not_opened(processes, programs, tmp_path):
    device = tmp_path / "zero"
    try:
        os.mknod(device, 0o666 | 0o020000, os.makedev(1, 5))
        device.open("rb").close()
    except OSError as error:
        pytest.skip(f"no devices here: {error}")
    opens = Opens(device)
    process = processes.start(programs["devicecode"], 60, device)
    process.wait_for_output("main")
    assert opens.count() == 1, "the program itself opens it"
    stacks = profile_one(processes, tmp_path, process.pid)
    processes.run(paths.XAGENT, "inspect", "stack", process.pid)
    assert opens.count() == 0
    opens.close()
    # Whatever is called so, by whom is known.
    code = Stacks(s for s in stacks if s.frames[-2] == "main" and s.frames[-1].startswith(("zero+0x", "[jit]")))
    assert code.total >= 0.98 * stacks.total >= LEAST, stacks.show()


@pytest.mark.parametrize("trap", ["fifo", "device"])
def test_trap_in_place_of_the_program(processes, frameless_programs, tmp_path, trap):
    """In a mount namespace of its own, a path that was a program's is a FIFO by now; opening that would wait for ever."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    make = {"fifo": 'mkfifo "$1/program"', "device": 'mknod "$1/program" c 1 5'}[trap]
    script = f'mount -t tmpfs hidden "$1"; cp "$2" "$1/program"; "$1/program" 60 & sleep 0.3; rm "$1/program"; {make}; echo ready $!; wait'
    process = start_in_namespace(processes, script, hidden, frameless_programs("fchain")["fchain"])
    pid = int(process.wait_for_output("ready").rsplit("ready", 1)[1].split()[0])
    opens = Opens(f"/proc/{pid}/root{hidden}/program")
    stacks = profile_one(processes, tmp_path, pid)
    assert opens.count() == 0
    opens.close()
    os.kill(pid, signal.SIGKILL)
    chains.assert_all(stacks, CHAIN, LEAST, trap)
