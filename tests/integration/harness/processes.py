# SPDX-License-Identifier: Apache-2.0
"""Processes that are always ended: each has a session of its own, and teardown kills the whole of it."""
import os
import signal
import socket
import subprocess
import time
from pathlib import Path


class TimedOut(AssertionError):
    """Something that must happen did not."""


def wait_until(condition, seconds, what):
    """Call `condition` until it gives something true, and return that."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise TimedOut(f"{what}: not within {seconds} s")
        time.sleep(0.05)


# Below the range from which the kernel takes ports for clients; never given twice by one run.
_candidates = iter(range(10000 + os.getpid() % 10000, 32000))


def free_port(consecutive=1):
    """The first of so many TCP ports of loopback in a row that nobody listens on now."""
    row = []
    for port in _candidates:
        row = [*row, port] if _port_is_free(port) else []
        if len(row) == consecutive:
            return row[0]
    raise TimedOut("no free port")


def _port_is_free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _hears_interrupts(more):
    """What a child does before its exec. A run in the background of a shell ignores SIGINT, and so would all that it starts."""
    def prepare():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if more:
            more()
    return prepare


class Process:
    """One running program with its output in files, so that it never blocks on a pipe."""

    def __init__(self, argv, directory, number, **options):
        self.argv = [a if isinstance(a, bytes) else str(a) for a in argv]
        stem = f"{number:02d}-{Path(self.argv[0]).name}"
        self.out_path = directory / f"{stem}.out"
        self.err_path = directory / f"{stem}.err"
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.popen = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                          start_new_session=True, preexec_fn=_hears_interrupts(options.pop("preexec_fn", None)), **options)
        self.pid = self.popen.pid

    @property
    def out(self):
        return self.out_path.read_text(errors="replace")

    @property
    def err(self):
        return self.err_path.read_text(errors="replace")

    def running(self):
        return self.popen.poll() is None

    def wait(self, seconds=30):
        """The exit code; a negative signal number where one ended it."""
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TimedOut(f"{self.argv} still runs after {seconds} s\n{self.err[-2000:]}") from None

    def wait_for_output(self, text, seconds=10):
        """Wait until it has printed `text` on stdout, and return what it has printed."""
        def printed():
            if text in self.out:
                return self.out
            if not self.running() and text not in self.out:
                raise AssertionError(f"{self.argv[0]} ended with {self.popen.returncode}: {self.err[-2000:]}")
            return None
        return wait_until(printed, seconds, f"{self.argv[0]} prints {text!r}")

    def send(self, signo):
        self.popen.send_signal(signo)

    def send_group(self, signo):
        """As a terminal does for ^C: everybody in the foreground gets it."""
        os.killpg(self.pid, signo)

    def end(self):
        """Kill the whole session's first group, whatever state it is in."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.popen.wait(10)


class Processes:
    """All processes of one test."""

    def __init__(self, directory):
        self.directory = directory
        self.all = []

    def start(self, *argv, **options):
        process = Process(argv, self.directory, len(self.all), **options)
        self.all.append(process)
        return process

    def run(self, *argv, seconds=40, **options):
        """Start, wait for the end; the ended process, its code in .popen.returncode."""
        process = self.start(*argv, **options)
        process.wait(seconds)
        return process

    def end_all(self):
        for process in reversed(self.all):
            process.end()


def cpu_seconds(process):
    """What an ended fixture says that it and its children have used; a tick is expected for each 1/rate of it."""
    return float(process.out.split()[-1])
