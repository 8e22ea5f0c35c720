# SPDX-License-Identifier: Apache-2.0
"""xagent top: tables in a pipe, a screen in a terminal of 80×24, keys, and a terminal that is as before when it ends."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from harness import paths

pytestmark = pytest.mark.bpf

SERVICE = re.compile(r"^ *([0-9.]+)% +([0-9.]+)  (\S+)")
FUNCTION = re.compile(r"^ *([0-9.]+)% +([0-9.]+)%  (\S+)")


class Terminal:
    """A program on a terminal of its own, and what it has written there."""

    def __init__(self, *command, rows=24, columns=80):
        self.fd, theirs = pty.openpty()
        self.resize(rows, columns)
        self.before = termios.tcgetattr(theirs)
        self.theirs, self.text = theirs, ""
        self.popen = subprocess.Popen([str(c) for c in command], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, start_new_session=True,
                                      env={**os.environ, "TERM": "xterm", "TZ": "UTC"})

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                self.text += os.read(self.fd, 65536).decode()

    def screens(self):
        """What was drawn, each a list of lines; the last one may not have been read to its end."""
        drawn = [s for s in self.text.split("\x1b[?1049l")[0].split("\x1b[H")[1:] if s.endswith("\x1b[J")]
        return [re.sub(r"\x1b\[[KJ]", "", s).replace("\r", "").split("\n") for s in drawn]

    def wait_for(self, what, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(0.2)
            if any(what(s) for s in self.screens()):
                return next(s for s in reversed(self.screens()) if what(s))
        raise AssertionError(f"never seen in {seconds} s:\n" + "\n".join(self.screens()[-1] if self.screens() else [self.text]))

    def press(self, key):
        self.text = ""
        os.write(self.fd, key.encode())

    def close(self):
        self.popen.kill()
        self.popen.wait()
        os.close(self.fd)
        os.close(self.theirs)


@pytest.fixture
def terminal():
    opened = []

    def make(*command, **options):
        opened.append(Terminal(*command, **options))
        return opened[-1]
    yield make
    for t in opened:
        t.close()


def has_rows(screen):
    return any(FUNCTION.match(line) for line in screen)


def test_tables_in_a_pipe(processes, programs):
    """What a program does is half a CPU: the rest of a machine's load is not its own."""
    chain = processes.start(programs["chain"], 30)
    run = processes.run(paths.XAGENT, "top", "-p", chain.pid, "-i", "1", "-d", "3.5", "-n", "4")
    assert run.popen.returncode == 0 and "\x1b" not in run.out, run.err
    tables = run.out.strip().split("\n\n\n") if "\n\n\n" in run.out else re.split(r"\n\n(?=\d\d:\d\d:\d\d )", run.out.strip())
    assert len(tables) == 3, run.out
    for table in tables[1:]:
        lines = table.split("\n")
        services = [m for m in map(SERVICE.match, lines) if m and "%" not in m[0].split("%", 1)[1]]
        functions = [m for m in map(FUNCTION.match, lines) if m]
        assert [m[3] for m in services] == ["chain"] and float(services[0][1]) == 100.0, table
        assert 0 < float(services[0][2]) <= 1.2, table
        assert functions[0][3] == "spin" and float(functions[0][1]) > 80, table
        assert len(functions) <= 4
    # It ends with the process that was asked for.
    started = processes.start(paths.XAGENT, "top", "-p", chain.pid)
    time.sleep(1)
    chain.popen.kill()
    assert started.wait(10) == 0


def test_screen(processes, programs, terminal):
    processes.start(programs["chain"], 60)
    t = terminal(paths.XAGENT, "top", "-i", "0.5")
    screen = t.wait_for(has_rows)
    assert len(screen) == 24 and all(len(line) <= 80 for line in screen), screen
    assert any(line.startswith("  SHARE") for line in screen) and any("SELF" in line for line in screen)
    assert screen[-1] == "q ends  s services  f functions  b both  p holds"
    t.press("f")
    screen = t.wait_for(lambda s: has_rows(s) and not any(line.startswith("  SHARE") for line in s))
    t.press("s")
    t.wait_for(lambda s: any(line.startswith("  SHARE") for line in s) and not any("TOTAL" in line for line in s))
    # Held, it is drawn for keys only.
    t.press("p")
    held = t.wait_for(lambda s: s[0].endswith("[held]"))
    t.text = ""
    t.read(1.5)
    assert not t.screens() or t.screens()[-1][0] == held[0]
    t.press("p")
    t.wait_for(lambda s: s[0] != held[0] and not s[0].endswith("[held]"))
    # Another size is another layout, at once.
    t.press("b")
    t.resize(10, 30)
    os.killpg(t.popen.pid, signal.SIGWINCH)
    small = t.wait_for(lambda s: len(s) == 10)
    assert all(len(line) <= 30 for line in small), small
    assert termios.tcgetattr(t.theirs)[3] != t.before[3]
    t.press("q")
    t.popen.wait(10)
    t.read(0.3)
    assert t.popen.returncode == 0 and t.text.endswith("\x1b[?25h\x1b[?1049l"), repr(t.text[-80:])
    assert termios.tcgetattr(t.theirs) == t.before


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
def test_the_terminal_is_given_back(terminal, how):
    t = terminal(paths.XAGENT, "top", "-i", "0.5")
    t.wait_for(lambda s: bool(s))
    t.popen.send_signal(how)
    t.popen.wait(10)
    t.read(0.3)
    assert t.popen.returncode == 0 and t.text.endswith("\x1b[?25h\x1b[?1049l"), repr(t.text[-80:])
    assert termios.tcgetattr(t.theirs) == t.before


def test_names_that_are_escapes(processes, programs, terminal, tmp_path):
    """A process may call itself what it likes: nothing of it gets to the terminal's interpreter."""
    evil = tmp_path / "a\x1b[2Jb\x9bc"
    os.link(programs["chain"], evil) if os.stat(programs["chain"]).st_dev == os.stat(tmp_path).st_dev else evil.write_bytes(programs["chain"].read_bytes())
    evil.chmod(0o755)
    processes.start(evil, 30)
    t = terminal(paths.XAGENT, "top", "-i", "0.5")
    screen = t.wait_for(lambda s: any("a?[2Jb" in line for line in s))
    assert "\x1b[2J" not in t.text and "\x9b" not in t.text, screen


def test_waiting(processes, programs, tmp_path):
    sleeper = processes.start("sleep", 30)
    run = processes.run(paths.XAGENT, "top", "-e", "off_cpu", "-p", sleeper.pid, "-i", "1", "-d", "3.5")
    assert run.popen.returncode == 0, run.err
    assert re.search(r"^1\.0\d threads did not run$", run.out, re.M) and re.search(r"^ *100\.0% +1\.0\d  sleep ", run.out, re.M), run.out
    assert re.search(r"^for: sleep (100\.0|99\.\d)%", run.out, re.M) and "[sleep]" not in run.out, run.out


def test_who_reads_goes_away(processes):
    """No message, and no error's code that would end a script."""
    run = subprocess.run(["bash", "-o", "pipefail", "-c", f"'{paths.XAGENT}' top -i 0.3 -d 20 | head -1"], capture_output=True, text=True, timeout=30, check=False)
    assert "CPU time" in run.stdout and run.stderr == "", run.stderr
