# SPDX-License-Identifier: Apache-2.0
"""tests/push/send: profiles of made-up services, sent as an agent sends them; what it says of them."""
import signal
import subprocess

from . import metrics, paths
from .processes import wait_until

PROGRAM = paths.BUILD / "tests" / "push" / "send"
PERIOD_NS = 10_000_000


def build():
    target = PROGRAM.relative_to(paths.TOP)
    made = subprocess.run(["make", "-s", "-C", paths.TOP, target], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr


class Sending:
    """One run of it."""

    def __init__(self, processes, url, **options):
        self.process = processes.start(PROGRAM, f"url={url}", *(f"{name}={value}" for name, value in options.items()))

    def _lines(self, word):
        lines = self.process.out.splitlines(keepends=True)
        return [line[len(word) + 1:] for line in lines if line.startswith(word + " ") and line.endswith("\n")]

    def made(self):
        """Samples in all profiles that were made."""
        lines = self._lines("made")
        return int(lines[-1]) if lines else 0

    def n_intervals(self):
        return len(self._lines("made"))

    def state(self, word="state"):
        """What became of its profiles, as it said last."""
        lines = self._lines(word)
        return {name: int(value) for name, value in (pair.split("=") for pair in lines[-1].split())} if lines else {}

    def wait(self, condition, seconds, what):
        def holds():
            state = self.state()
            assert self.process.running(), self.process.err[-2000:]
            return state and condition(state)
        wait_until(holds, seconds, what)

    def wait_intervals(self, n, seconds=30):
        self.wait(lambda _: self.n_intervals() >= n, seconds, f"{n} intervals")

    def end(self, seconds=60):
        """Its own end, when everything is sent or lost; its metrics."""
        assert self.process.wait(seconds) == 0, self.process.err[-2000:]
        return self.metrics()

    def metrics(self):
        """What it said at its end."""
        return metrics.parse("".join(line for line in self.process.out.splitlines(keepends=True)
                                     if line.split()[0] not in ("made", "state", "cost", "end")))

    def stop(self, signo=signal.SIGTERM):
        self.process.send(signo)
        return self.process.wait(20)

    def memory_kib(self, field):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(field + ":"))
