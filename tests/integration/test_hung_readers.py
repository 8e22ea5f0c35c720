# SPDX-License-Identifier: Apache-2.0
"""
A file system that does not answer holds up nobody but who uses it: the agent goes on sampling all others, answers requests, says what it gave
up, and ends when it is told to. The file system is `deadfs` of tests/fixtures, which answers until it is told not to.
"""
import os
import re
import shutil
import signal
import stat
import subprocess
from pathlib import Path

import pytest

from harness import inspect, paths, privileges
from harness.agent import config
from harness.kubelet import Node
from harness.processes import TimedOut, wait_until
from harness.standin import services_with

pytestmark = pytest.mark.bpf

USER = 65534
# Numbers of execve(2) on x86-64 and AArch64.
EXECVE = ("59", "221")
RATE = 97
REASONS = ("memory", "stat", "maps", "arguments", "open", "names", "file", "record", "close")


class DeadFs:
    """`deadfs` on a directory. Whatever waits for it is let go when it is killed."""

    def __init__(self, processes, programs, how, directory, file):
        directory.mkdir()
        self.directory = directory
        self.process = processes.start(programs["deadfs"], how, directory, file, USER)
        try:
            self.process.wait_for_output("serving")
        except AssertionError as error:
            pytest.skip(f"no FUSE here: {error}")
        self.program = directory / "program"

    def be_silent(self):
        self.process.send(signal.SIGUSR1)
        self.process.wait_for_output("silent")

    def end(self):
        self.process.end()
        os.system(f"umount -l {self.directory}")


@pytest.fixture
def deadfs(processes, programs, tmp_path):
    reason = privileges.why_no_tool("umount")
    if reason or not os.path.exists("/dev/fuse"):
        pytest.skip(reason or "no /dev/fuse")
    started = []

    def start(how, file):
        started.append(DeadFs(processes, programs, how, tmp_path / f"dead{len(started)}", file))
        return started[-1]
    yield start
    for one in started:
        one.end()


@pytest.fixture
def start_victim(processes, programs, tmp_path):
    """Start something as the other user: what it holds up is his fault, and nobody else's."""
    reason = privileges.why_no_tool("setpriv")
    if reason:
        pytest.skip(reason)
    for directory in (tmp_path, *tmp_path.parents):
        if directory.stat().st_mode & 0o001 == 0:
            directory.chmod(0o711)
    shutil.copy(programs["hungmem"], tmp_path / "hungmem")

    def begin(*argv, before=(), **options):
        victim = processes.start(*before, "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *argv, **options)
        victim.wait_for_output("ready")
        return victim
    return begin


def large_copy(program, path):
    """With its symbols behind some MiB that nobody reads at its start."""
    path.write_bytes(program.read_bytes())
    os.system(f"head -c 8388608 /dev/zero > {path}.padding; objcopy --add-section .padding={path}.padding {path}")
    path.chmod(0o755)
    return path


def link_debug_file(program, target, directory):
    """A copy of the program whose debug file is a link to `target`."""
    os.system(f"cd {directory} && cp {program} linked && cp linked linked.debug && "
              "objcopy --strip-all --remove-section=.note.gnu.build-id --add-gnu-debuglink=linked.debug linked && rm linked.debug")
    (directory / "linked.debug").symlink_to(target)
    return directory / "linked"


def given_up(m):
    return sum(m.value("xagent_reads_given_up_total", reason=reason) for reason in REASONS)



def check_goes_on(agent, standin, processes, programs, *reasons):
    """Some read is given up, of these reasons; meanwhile and afterwards everything else goes on, and it ends when it is told to."""
    m = agent.wait_metric(lambda m: any(m.value("xagent_reads_given_up_total", reason=r) for r in reasons), 20, f"given up: {reasons}")
    assert m.value("xagent_readers_lost") >= 1
    assert "reads of" in agent.get("/-/healthy")[1]
    wait_until(lambda: any("does not return" in line.get("msg", "") for line in agent.log_lines()), 20, "what hangs is said")
    check_others(agent, standin, processes, programs)


def check_others(agent, standin, processes, programs):
    # Somebody who comes now is sampled and named as ever.
    busy = processes.start(programs["chain"], 60)
    busy.wait_for_output("main")
    before = agent.metrics()
    agent.wait_metric(lambda m: m.agent("samples_in_profiles") >= before.agent("samples_in_profiles") + RATE, 20, "samples in profiles")
    wait_until(lambda: "chain" in services_with(standin.pushes(), "main", "alpha", "beta", "gamma", "spin"), 20, "chain is pushed with names")
    assert agent.get("/-/ready")[0] == 200
    after = agent.metrics()
    assert after.value("xagent_readers_lost") <= 3, "one who is to blame has two"
    assert after.types["xagent_reads_avoided_total"] == "counter"
    assert agent.stop() == 0


def start(start_agent, standin):
    return start_agent(config(standin.url, interval="1s", rate=RATE)).wait_ready()


@pytest.mark.parametrize("how, reasons", [("all", ("open", "names", "file", "arguments")), ("reads", ("file", "open"))])
def test_program_on_it(start_agent, standin, processes, programs, deadfs, start_victim, tmp_path, how, reasons):
    """It runs while the file system falls silent; or its unread pages are what does not come."""
    fs = deadfs(how, large_copy(programs["hungmem"], tmp_path / "large"))
    start_victim(fs.program, "spin", 60)
    fs.be_silent()
    agent = start(start_agent, standin)
    check_goes_on(agent, standin, processes, programs, *reasons)


def test_debug_link_into_it(start_agent, standin, processes, programs, deadfs, start_victim, tmp_path):
    fs = deadfs("all", programs["chain"])
    fs.be_silent()
    start_victim(link_debug_file(programs["hungmem"], fs.program, tmp_path), "spin", 60)
    agent = start(start_agent, standin)
    check_goes_on(agent, standin, processes, programs, "names")


def test_perf_map_on_it(start_agent, standin, processes, programs, deadfs, start_victim, tmp_path):
    """The process's own /tmp is such a mount."""
    reason = privileges.why_no_tool("unshare", "mount")
    if reason:
        pytest.skip(reason)
    fs = deadfs("all", programs["chain"])
    # The place is below /tmp itself: it is reached by a descriptor.
    start_victim("/proc/self/fd/9", "code", 60,
                 before=("unshare", "-m", "--propagation", "private", "/bin/sh", "-ec",
                         'exec 9<"$1"; mount --bind "$2" /tmp; shift 2; exec "$@"', "sh", tmp_path / "hungmem", fs.directory))
    fs.be_silent()
    agent = start(start_agent, standin)
    check_goes_on(agent, standin, processes, programs, "names")


def test_lock_of_its_mappings_is_held(start_agent, standin, processes, programs, deadfs, start_victim, tmp_path):
    """As every page fault on such a file may: then its arguments cannot be read, nor what it has mapped."""
    fs = deadfs("all", programs["chain"])
    victim = start_victim(tmp_path / "hungmem", "lock", 60, fs.program)
    fs.be_silent()
    victim.send(signal.SIGUSR1)
    victim.wait_for_output("held")
    agent = start(start_agent, standin)
    check_goes_on(agent, standin, processes, programs, "maps", "arguments", "open")


def state_cannot_be_read(processes, pid):
    """Linux before it waited for the lock of credentials there (between 6.12 and 6.18) answers."""
    reader = processes.start("cat", f"/proc/{pid}/stat")
    try:
        wait_until(lambda: not reader.running(), 2, "cat")
    except TimedOut:
        return True
    return False


def test_it_is_stuck_in_execve(start_agent, standin, processes, programs, deadfs, start_victim, tmp_path):
    """… closing such a file: then not even its state and its program can be read. Who starts then is ready, and who knew it goes on."""
    fs = deadfs("all", programs["chain"])
    victim = start_victim(tmp_path / "hungmem", "exec", 60, fs.program)
    events = "\n\tevents {\n\t\twall { }\n\t}\n\tsample_rate"
    text = config(standin.url, interval="1s", rate=RATE).replace("\n\tsample_rate", events, 1)
    before = start_agent(text).wait_ready()
    wait_until(lambda: any("hung_work" in s.frames for p in standin.pushes() for s in p.profile.samples), 20, "the program is seen")
    fs.be_silent()
    victim.send(signal.SIGUSR1)
    victim.wait_for_output("held")
    if not state_cannot_be_read(processes, victim.pid):
        pytest.skip("this kernel does not wait for the lock")
    check_others(before, standin, processes, programs)
    after = start(start_agent, standin)
    # A page that looks at every process.
    assert after.get("/api/v0/web/process?name=hungmem")[0] == 200
    check_goes_on(after, standin, processes, programs, "stat")


def thread_states(pid, name):
    """Of the process's threads with that name: D is who waits in the kernel and is not interrupted."""
    tasks = [task for task in Path(f"/proc/{pid}/task").iterdir() if (task / "comm").read_text().strip() == name]
    return {(task / "stat").read_text().rpartition(")")[2].split()[0] for task in tasks}


def test_look_at_open_waits_is_stuck(start_agent, standin, processes, programs, deadfs, start_victim, tmp_path):
    """The stack of a thread that waits is read through its memory's lock, which is held: waits that are over count all the same."""
    fs = deadfs("all", programs["chain"])
    victim = start_victim(tmp_path / "hungmem", "lock", 60, fs.program)
    fs.be_silent()
    victim.send(signal.SIGUSR1)
    victim.wait_for_output("held")
    text = config(standin.url, interval="1s", rate=RATE).replace("\n\tsample_rate", "\n\tevents {\n\t\toff_cpu { }\n\t}\n\tsample_rate", 1)
    agent = start_agent(text).wait_ready()
    wait_until(lambda: thread_states(agent.process.pid, "xagent-waits") == {"D"}, 20, "the look waits for the lock")
    waiter = processes.start(programs["waiter"], 50)
    assert waiter.wait(60) == 0
    wait_until(lambda: [p for p in standin.pushes() if p.labels["__name__"] == "offcpu" and
                        any("sleeps_10ms" in s.frames for s in p.profile.samples)], 20, "waits are pushed")
    assert thread_states(agent.process.pid, "xagent-waits") == {"D"}
    check_others(agent, standin, processes, programs)
    assert agent.stop() == 0


# $1: deadfs, $2: how, $3: where, $4: the file, then what to run.
IN_A_NAMESPACE = """
"$1" "$2" "$3" "$4" &
program=$3/program
shift 4
while [ ! -e "$program" ]; do sleep 0.1; done
exec "$@"
"""


@pytest.fixture
def start_in_namespace(programs, start_victim, tmp_path):
    """Start something of an ordinary user who is root of a user namespace of his own, with a silent mount that he has made there. (process,
    function that makes it silent)"""
    reason = privileges.why_no_tool("setpriv", "unshare")
    if reason or not os.path.exists("/dev/fuse"):
        pytest.skip(reason or "no /dev/fuse")
    mounts = subprocess.run(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "unshare", "--user", "--map-root-user", "--mount",
                             "true"], capture_output=True, text=True, check=False)
    if mounts.returncode:
        pytest.skip(f"users may have no user namespaces with mounts of their own: {mounts.stderr.strip()}")
    device, directory = tmp_path / "fuse", tmp_path / "own"
    os.mknod(device, 0o666 | stat.S_IFCHR, os.stat("/dev/fuse").st_rdev)
    device.chmod(0o666)
    directory.mkdir()
    os.chown(directory, USER, USER)

    def begin(how, file, *argv):
        victim = start_victim("env", f"DEADFS_DEVICE={device}", "unshare", "--user", "--map-root-user", "--mount", "--propagation", "private",
                              "/bin/sh", "-ec", IN_A_NAMESPACE, "sh", programs["deadfs"], how, directory, file, *argv)
        # Nobody outside sees the mount but through his processes.
        assert not (directory / "program").exists()

        def be_silent():
            (server,) = Path(f"/proc/{victim.pid}/task/{victim.pid}/children").read_text(encoding="ascii").split()
            os.kill(int(server), signal.SIGUSR1)
            wait_until(lambda: "silent" in victim.out, 10, "it is silent")
        return victim, be_silent
    begin.program = directory / "program"
    return begin


@pytest.mark.parametrize("how", ["all", "reads"])
def test_program_on_a_mount_of_a_user_namespace(start_agent, standin, processes, programs, start_in_namespace, tmp_path, how):
    """The kernel refuses to ask such a server for anybody outside of the namespace: the file cannot be opened, and is counted."""
    large = large_copy(programs["hungmem"], tmp_path / "large")
    _, be_silent = start_in_namespace(how, large, start_in_namespace.program, "spin", 60)
    be_silent()
    agent = start(start_agent, standin)
    agent.wait_metric(lambda m: m.agent("files_open_errors") + given_up(m) > 0, 20, "it cannot be read")
    check_others(agent, standin, processes, programs)


def test_lock_held_by_a_mount_of_a_user_namespace(start_agent, standin, processes, programs, start_in_namespace, tmp_path):
    """Page faults ask it for whoever causes them; and they hold the lock of all mappings."""
    victim, be_silent = start_in_namespace("all", programs["chain"], tmp_path / "hungmem", "lock", 60, start_in_namespace.program)
    be_silent()
    victim.send(signal.SIGUSR1)
    victim.wait_for_output("held")
    agent = start(start_agent, standin)
    check_goes_on(agent, standin, processes, programs, "maps", "arguments", "open")


def test_container_record_on_it(start_agent, standin, processes, programs, deadfs, start_victim, tmp_path):
    """A user's own container, of which records would be below his home; and that is such a mount."""
    reason = privileges.why_no_tool("unshare", "mount") or privileges.why_no_cgroup2()
    if reason:
        pytest.skip(reason)
    fs = deadfs("all", programs["chain"])
    fs.be_silent()
    passwd = tmp_path / "passwd"
    passwd.write_text(f"root:x:0:0::/root:/bin/sh\nhungry:x:{USER}:{USER}::{fs.directory}:/bin/sh\n")
    node = Node(privileges.cgroup2_root())
    try:
        _, place = node.rootless_container(USER)
        start_victim(tmp_path / "hungmem", "spin", 60, preexec_fn=node.enter(place))
        agent = start_agent(config(standin.url, interval="1s", rate=RATE),
                            prefix=("unshare", "-m", "--propagation", "private", "/bin/sh", "-ec",
                                    'mount --bind "$1" /etc/passwd; shift; exec "$@"', "sh", passwd)).wait_ready()
        check_goes_on(agent, standin, processes, programs, "record")
        # It is not known by the name of its container, but it is profiled.
        assert any(push.labels["service_name"] == "hungmem" for push in standin.pushes())
    finally:
        node.end()


def test_answers_again(start_agent, standin, processes, programs, deadfs, start_victim, tmp_path):
    """What was lost comes back when the file system ends, and nothing is avoided any more."""
    fs = deadfs("all", programs["hungmem"])
    start_victim(fs.program, "spin", 60)
    fs.be_silent()
    agent = start(start_agent, standin)
    agent.wait_metric(lambda m: m.value("xagent_readers_lost") >= 1, 20, "one is lost")
    fs.process.end()
    m = agent.wait_metric(lambda m: m.value("xagent_readers_lost") == 0, 20, "none is lost")
    assert given_up(m) >= 1
    assert "reads of" not in agent.get("/-/healthy")[1]
    assert agent.stop() == 0


def test_ends_at_once_although_reads_are_lost(start_agent, standin, processes, programs, deadfs, start_victim, tmp_path):
    """Its parent sees it end, whoever of it still waits; that one ends with the file system."""
    # Those of the test before end with its file system, but not at once.
    of_others = readers_left()
    fs = deadfs("all", programs["hungmem"])
    start_victim(fs.program, "spin", 60)
    fs.be_silent()
    agent = start(start_agent, standin)
    agent.wait_metric(lambda m: m.value("xagent_readers_lost") >= 1, 20, "one is lost")
    agent.process.send(signal.SIGKILL)
    assert agent.process.wait(10) == -signal.SIGKILL
    assert readers_left() - of_others
    fs.process.end()
    wait_until(lambda: readers_left() <= of_others, 10, "all readers are gone")


def test_inspect_says_so(processes, programs, deadfs, start_victim, tmp_path):
    """And ends."""
    fs = deadfs("all", programs["hungmem"])
    victim = start_victim(fs.program, "spin", 60)
    fs.be_silent()
    run = processes.run(paths.XAGENT, "inspect", "process", victim.pid, seconds=20)
    assert run.popen.returncode == 0, run.err
    assert f"process {victim.pid}" in run.out and "did not answer in time" in run.out, run.out


def inspect_stack(processes, pid):
    """What it says on standard error; it ends, with a failure."""
    run = processes.run(paths.XAGENT, "inspect", "stack", pid, seconds=60)
    assert run.popen.returncode == 1, run.out + run.err
    return run


def test_inspect_of_memory_that_does_not_come(processes, programs, deadfs, start_victim, tmp_path):
    """A frame pointer leads into a page of it: the other thread's stack is whole, this one's ends there."""
    fs = deadfs("reads", programs["chain"])
    victim = start_victim(tmp_path / "hungmem", "frame", 60, fs.program)
    fs.be_silent()
    run = inspect_stack(processes, victim.pid)
    assert f"process {victim.pid}: not all of its memory was read" in run.err and "did not answer in time" in run.err, run.err
    threads = inspect.parse(run.out)
    assert "hung_thread" in threads[victim.pid].names and not threads[victim.pid].reason, run.out
    (other,) = (t for tid, t in threads.items() if tid != victim.pid)
    assert other.reason == "[truncated: stack not readable]", run.out
    # It goes on, and nobody traces it any more.
    with open(f"/proc/{victim.pid}/status", encoding="ascii") as file:
        assert "TracerPid:\t0\n" in file.read()


def test_inspect_of_an_execve_that_does_not_return(processes, programs, deadfs, start_victim, tmp_path):
    """ptrace(2) waits until it does."""
    fs = deadfs("reads", programs["hungmem"])
    fs.be_silent()
    victim = start_victim("/bin/sh", "-c", 'echo ready; exec "$0"', fs.program)
    wait_until(lambda: Path(f"/proc/{victim.pid}/syscall").read_text(encoding="ascii").split()[0] in EXECVE, 10, "it waits for its program")
    run = inspect_stack(processes, victim.pid)
    assert f"process {victim.pid} could not be stopped in time" in run.err, run.err


def test_inspect_of_a_debug_link_into_it(processes, programs, deadfs, start_victim, tmp_path):
    fs = deadfs("all", programs["chain"])
    fs.be_silent()
    victim = start_victim(link_debug_file(programs["hungmem"], fs.program, tmp_path), "spin", 60)
    run = processes.run(paths.XAGENT, "inspect", "process", victim.pid, seconds=60)
    assert run.popen.returncode == 0, run.err
    assert "did not answer in time" in run.out, run.out


def readers_left():
    """Of agents that have ended: their parent is somebody else by now."""
    pids = set()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            # Whoever is stuck in execve() has its name told all the same, and its stat never: the kernel's exec_update_lock is held.
            if read_text(name, "comm") != "xagent-reader":
                continue
            parent = read_text(read_text(name, "stat").rsplit(")", 1)[1].split()[1], "comm")
        except (OSError, IndexError):
            continue
        if parent != "xagent":
            pids.add(int(name))
    return pids


def read_text(pid, name):
    with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
        return file.read().strip()


# The names under which the loop must not look at what belongs to others.
OTHERS = re.compile(r'"(?:[^"]*/)?(?:maps|map_files[^"]*|mem|cmdline|environ|perf-\d+\.map|linked\.debug)"')


def tasks_of(pid):
    """The agent, and its readers, which are its children."""
    children = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            children += file.read().split()
    return [str(pid), *children]


def test_the_loop_opens_nothing_of_others(start_agent, standin, processes, programs, start_victim, tmp_path):
    """Every path of another process or user is opened by a reader: system call by system call."""
    reason = privileges.why_no_tool("strace", "objcopy")
    if reason:
        pytest.skip(reason)
    linked = tmp_path / "linked"
    shutil.copy(programs["hungmem"], linked)
    os.system(f"cd {tmp_path} && cp linked linked.debug && "
              "objcopy --strip-all --remove-section=.note.gnu.build-id --add-gnu-debuglink=linked.debug linked")
    agent = start(start_agent, standin)
    agent.wait_metric(lambda m: m.agent("samples_in_profiles") > 0, 20, "samples in profiles")
    log = tmp_path / "strace.log"
    pids = [word for pid in tasks_of(agent.process.pid) for word in ("-p", pid)]
    strace = processes.start("strace", "-f", "-o", log, "-e", "trace=%file", "-e", "signal=none", *pids)
    wait_until(lambda: "attached" in strace.err, 20, "strace is attached")
    start_victim(linked, "code", 60)
    wait_until(lambda: OTHERS.search(log.read_text()) and "linked.debug" in log.read_text() and "perf-" in log.read_text(), 30,
               "a process is looked at")
    # Told to end it would wait for the threads whose readers work for them.
    strace.end()
    main = str(agent.process.pid)
    calls = [line for line in log.read_text().splitlines() if OTHERS.search(line)]
    assert len(calls) >= 5
    assert [line for line in calls if line.split()[0] == main] == []
    assert agent.stop() == 0
