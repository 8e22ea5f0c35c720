# SPDX-License-Identifier: Apache-2.0
"""Block I/O: how much a program asks of a disk, and how long that takes, by stack; of which disk and for what as labels."""
import ctypes
import fcntl
import os
import re
import signal
import struct

import pytest

from harness import paths, pprof
from harness.agent import config
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"

# include/uapi/linux/loop.h
LOOP_CONFIGURE, LOOP_CLR_FD, LOOP_CTL_GET_FREE = 0x4C0A, 0x4C01, 0x4C82
LO_FLAGS_READ_ONLY, LO_FLAGS_AUTOCLEAR = 1, 4
ROUNDS = 20


class Loop:
    """A loop device over a file."""

    def __init__(self, file, read_only=False):
        with open("/dev/loop-control", "rb") as control, open(file, "rb" if read_only else "r+b") as f:
            self.name = f"loop{fcntl.ioctl(control, LOOP_CTL_GET_FREE)}"
            self.path = f"/dev/{self.name}"
            self.device = open(self.path, "rb" if read_only else "r+b")
            flags = LO_FLAGS_AUTOCLEAR | (LO_FLAGS_READ_ONLY if read_only else 0)
            # struct loop_config: fd, block_size, struct loop_info64 with lo_flags at 52, reserved.
            fcntl.ioctl(self.device, LOOP_CONFIGURE, struct.pack("=II52xI252x", f.fileno(), 4096, flags).ljust(304, b"\0"))

    def close(self):
        self.device.close()


@pytest.fixture
def loop():
    made = []

    def make(*arguments, **options):
        try:
            made.append(Loop(*arguments, **options))
        except OSError as e:
            pytest.skip(f"no loop device: {e}")
        return made[-1]
    yield make
    for one in made:
        one.close()


@pytest.fixture
def slow_disk(processes, programs, tmp_path, loop):
    """A disk whose reads take so many milliseconds: a loop device over a file that a program serves."""
    mounted = []

    def make(milliseconds):
        directory, file = tmp_path / "fs", tmp_path / "image"
        directory.mkdir()
        file.write_bytes(bytes(1 << 20))
        server = processes.start(programs["deadfs"], "reads", directory, file, env={"DEADFS_READ_MS": str(milliseconds)})
        try:
            server.wait_for_output("serving")
        except AssertionError as error:
            pytest.skip(f"no FUSE here: {error}")
        mounted.append((directory, server))
        return loop(directory / "program", read_only=True), server
    yield make
    for directory, server in mounted:
        server.end()
        ctypes.CDLL(None).umount2(os.fsencode(directory), 2)  # MNT_DETACH


def own_clock(run):
    return {name: tuple(map(int, rest)) for name, *rest in re.findall(r"^(\w+) (\d+) (\d+) (\d+)$", run.out, re.M)}


def profile(processes, path, *arguments):
    run = processes.start(paths.XAGENT, "profile", "-e", "block_io", "-F", "10000", "-o", path, *arguments)
    assert run.wait(60) == 0, run.err
    assert "lost" not in run.err, run.err
    return own_clock(run), pprof.parse(path.read_bytes())


def total(samples):
    return tuple(sum(s.values[v] for s in samples) for v in range(3))


@pytest.mark.beside
def test_each_kind(processes, programs, tmp_path, loop):
    file = tmp_path / "image"
    file.write_bytes(bytes(4 << 20))
    disk = loop(file)
    functions = ("reads_direct", "writes_direct", "syncs", "discards")
    own, found = profile(processes, tmp_path / "p.pb.gz", "--", programs["disk"], disk.path, ROUNDS, *functions)
    assert found.sample_types == [("latency", "nanoseconds"), ("bytes", "bytes"), ("ios", "count")] and found.period_type == ("block_io", "count")

    def mine(function, operation):
        return [s for s in found.samples if function in s.frames and s.labels.get("operation") == operation]
    for function, operation in (("reads_direct", "read"), ("writes_direct", "write"), ("discards", "discard")):
        samples = mine(function, operation)
        latency, n_bytes, ios = total(samples)
        assert (ios, n_bytes) == own[function][:2], (function, own, samples)
        assert 0 < latency < own[function][2], (function, own, samples)
        assert {s.labels["device"] for s in samples} == {disk.name}, samples
        assert all("_start" in s.frames and s.frames[-1].startswith("submit_bio") for s in samples), samples
    assert total(mine("syncs", "flush"))[1:] == (0, ROUNDS), found.samples
    assert total(mine("syncs", "write"))[1:] == (ROUNDS * 4096, ROUNDS), found.samples


@pytest.mark.beside
def test_latency(processes, programs, tmp_path, slow_disk):
    """At least what the disk takes, and no more than the program waits."""
    disk, _ = slow_disk(20)
    own, found = profile(processes, tmp_path / "p.pb.gz", "--", programs["disk"], disk.path, ROUNDS, "reads_direct")
    reads = [s for s in found.samples if "reads_direct" in s.frames]
    latency, n_bytes, ios = total(reads)
    assert (ios, n_bytes) == own["reads_direct"][:2] == (ROUNDS, ROUNDS * 4096), (own, reads)
    assert ROUNDS * 20e6 <= latency <= own["reads_direct"][2], (own, reads)
    if FULL:
        assert latency / own["reads_direct"][2] > 0.97, (own, reads)


EVENTS = """
	events {
		block_io { sample_rate = 10000 }
	}
	sample_rate"""


@pytest.mark.skipif(not FULL, reason="in the full matrix")
def test_of_an_agent(start_agent, standin, processes, programs, slow_disk):
    """A read that never ends is in each interval, with the time that has passed; each scrape balances."""
    disk, server = slow_disk(5)
    agent = start_agent(config(standin.url, interval="1s", rate=97).replace("\n\tsample_rate", EVENTS, 1)).wait_ready()
    run = processes.start(programs["disk"], disk.path, "100", "reads_direct")
    assert run.wait(30) == 0
    own = own_clock(run)["reads_direct"]

    def mine():
        return [s for p in standin.pushes() if p.labels["__name__"] == "block_io" and "disk" in p.labels["service_name"]
                for s in p.profile.samples if "reads_direct" in s.frames]
    wait_until(lambda: total(mine())[2] == 100, 20, "reads are pushed")
    wait_until(lambda: 0.9 * own[2] < total(mine())[0] <= own[2], 5, "and how long they took")
    types = {(*p.profile.sample_types, p.profile.period_type) for p in standin.pushes() if p.labels["__name__"] == "block_io"}
    assert types == {(("latency", "nanoseconds"), ("bytes", "bytes"), ("ios", "count"), ("block_io", "count"))}, types

    server.send(signal.SIGUSR1)
    server.wait_for_output("silent")
    before = total(mine())
    processes.start(programs["disk"], disk.path, "200", "reads_direct")
    wait_until(lambda: total(mine())[0] - before[0] > 3e9, 20, "time passes")
    assert total(mine())[2] - before[2] <= 101, mine()
    m = agent.metrics()
    for event in ("cpu", "block_io"):
        counts = {name: m.value(f"xagent_kernel_{name}_total", event=event) for name in ("ticks", "emitted", "idle", "filtered", "lost")}
        assert counts["ticks"] == sum(counts.values()) - counts["ticks"] > 0, counts
    for never in ("ends_malformed", "ends_missing"):
        assert m.value(f"xagent_{never}_total") == 0, never
    server.end()
    assert agent.stop() == 0
