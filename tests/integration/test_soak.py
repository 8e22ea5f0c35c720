# SPDX-License-Identifier: Apache-2.0
"""
A host that never comes to rest: hundreds of programs a second, each a file of its own that nobody has seen before and that is gone before
anybody could look. What the agent holds must not grow with it.

SOAK_SECONDS makes it as long as one likes: the figures to look at are in hours, the defects show in a minute.
"""
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from harness import paths
from harness.agent import config

sys.path.append(str(paths.TESTS / "fixtures"))
import mark  # noqa: E402

pytestmark = pytest.mark.bpf

SECONDS = float(os.environ.get("SOAK_SECONDS", 20))
A_SECOND = 200
RATE = 499
# The first part fills what is to be filled.
FILL = 0.4
MIB = 1 << 20
LIMIT = 16
# Of files that nobody maps any more so many are remembered (OBJECT_TABLES_MAX_IDLE), and so many descriptors (FILE_TABLE_MAX_IDLE_FDS);
# besides, what an interval and the one before it speak of.
MAX_IDLE, MAX_IDLE_DESCRIPTORS, LATELY_SECONDS = 512, 512, 6
# By then all caches are full, also that of files, which are kept for two minutes.
FULL_SECONDS = 120
BUILD_ID = bytes.fromhex("50a7ed1d" * 5)


class State(NamedTuple):
    """What the agent holds at one moment."""
    at: float
    rss: int
    anonymous: int
    descriptors: int
    files: int
    processes: int
    held: int  # by tables and the open interval


@pytest.fixture(scope="module")
def template():
    """A static program that burns 3 ms."""
    cc = os.environ.get("CC", "gcc")
    if not shutil.which(cc):
        pytest.skip(f"no {cc}")
    paths.FIXTURES.mkdir(parents=True, exist_ok=True)
    product = paths.FIXTURES / "soaked"
    source = paths.TESTS / "fixtures" / "soaked.c"
    subprocess.run([cc, "-std=gnu17", "-O1", "-static", "-nostdlib", f"-I{paths.TOP}", f"-Wl,--build-id=0x{BUILD_ID.hex()}", "-o", product, source], check=True)
    return mark.check(product.read_bytes(), BUILD_ID)


class Storm(threading.Thread):
    """Writes program after program, each with a build id and an unwind table of its own, runs it and removes it."""

    def __init__(self, template, directory, seconds):
        super().__init__()
        self.template, self.directory, self.seconds, self.n, self.failed = template, Path(directory), seconds, 0, 0

    def run_one(self):
        path = self.directory / f"soak{self.n % 64}"
        path.unlink(missing_ok=True)
        path.write_bytes(mark.copy(self.template, BUILD_ID, self.n))
        path.chmod(0o755)
        return os.posix_spawn(path, [str(path)], {})

    def run(self):
        begin, living = time.monotonic(), []
        while time.monotonic() < begin + self.seconds:
            self.n += 1
            living.append(self.run_one())
            while len(living) > 8:
                self.failed += os.waitpid(living.pop(0), 0)[1] != 0
            time.sleep(max(0, begin + self.n / A_SECOND - time.monotonic()))
        self.failed += sum(os.waitpid(pid, 0)[1] != 0 for pid in living)


def state(agent, begin):
    pid, m = agent.process.pid, agent.metrics()
    sizes = {k: int(v.split()[0]) * 1024 for k, v in (line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])}
    return State(time.monotonic() - begin, sizes["Rss"], sizes["Anonymous"], len(os.listdir(f"/proc/{pid}/fd")),
                 int(m.value("xagent_unwind_files")), int(m.value("xagent_processes")),
                 int(m.value("xagent_unwind_arena_bytes") + m.value("xagent_interval_bytes")))


def slope(points):
    """Of the straight line through (x, y) with the least squares."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def watch(agent, storm):
    begin, states = time.monotonic(), []
    while storm.is_alive():
        states.append(state(agent, begin))
        storm.join(max(.5, SECONDS / 300))
    return states


def test_programs_without_end(start_agent, standin, template, tmp_path, capsys):
    agent = start_agent(config(standin.url, interval="2s", rate=RATE, memory_limit=f"{LIMIT}MiB", targets=[], targets_only=False,
                               default_target={"service_name": "all"})).wait_ready()
    standin.wait_pushes()
    storm = Storm(template, tmp_path, SECONDS)
    storm.start()
    states = watch(agent, storm)
    m = agent.metrics()
    assert agent.stop() == 0 and storm.failed == 0
    late = [s for s in states if s.at >= FILL * SECONDS]
    half = len(late) // 2
    grows = slope([(s.at, s.anonymous) for s in late])
    with capsys.disabled():
        print(f"\n    {storm.n} programs in {SECONDS:.0f} s: anonymous {states[0].anonymous / MIB:.1f} → {late[0].anonymous / MIB:.1f} → "
              f"{late[-1].anonymous / MIB:.1f} MiB ({60 * grows / MIB:+.2f} MiB a minute in the last three fifths), RSS {late[-1].rss / MIB:.1f} MiB, "
              f"descriptors {max(s.descriptors for s in late)}, files {max(s.files for s in late)}, processes {max(s.processes for s in late)}")
    assert storm.n >= A_SECOND / 4 * SECONDS, "this machine is too slow for the test"
    assert m.dropped_samples() == 0
    lately = LATELY_SECONDS * A_SECOND
    assert max(s.descriptors for s in states) <= MAX_IDLE + MAX_IDLE_DESCRIPTORS + lately
    assert max(s.files for s in states) <= MAX_IDLE + lately
    assert max(s.processes for s in late[half:]) <= max(s.processes for s in late[:half]) + 64
    assert max(s.anonymous for s in states) - states[0].anonymous <= LIMIT * MIB
    if late[0].at >= FULL_SECONDS:
        assert grows <= MIB / 60, f"{60 * grows / MIB:.2f} MiB a minute"
