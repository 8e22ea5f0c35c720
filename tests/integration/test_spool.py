# SPDX-License-Identifier: Apache-2.0
"""What a server does not take waits on disk: through kill -9 and SIGTERM in the middle of an outage, and without a disk."""
import os
import shutil
import signal

import pytest

from harness.agent import config

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

FULL = os.environ.get("XAGENT_TEST_MATRIX") == "full"
SPOOLED = "xagent_push_spool_profiles"
FOUND = "xagent_push_spool_found_profiles_total"
SENT = "pyroscope_write_sent_profiles_total"


def in_outage(start_agent, standin, processes, programs):
    """An agent whose server takes nothing, with some profiles on disk."""
    processes.start(programs["chain"], 60, 2)
    standin.set_mode("503-html")
    agent = start_agent(config(standin.url, interval="1s", rate=97)).wait_ready()
    agent.wait_metric(lambda m: m.get(SPOOLED) >= 5, 30, "profiles are on disk")
    return agent


def sent_by_next_run(start_agent, standin, at_least):
    """What a second agent finds, after it has sent all of it."""
    standin.set_mode("ok")
    agent = start_agent(config(standin.url, interval="1s", rate=97)).wait_ready()
    m = agent.wait_metric(lambda m: m.get(FOUND) >= at_least and m.get(SPOOLED) == 0 and m.get(SENT) >= m.get(FOUND), 20,
                          "what was found is sent")
    assert m.get("pyroscope_write_dropped_profiles_total") == 0
    found = int(m.get(FOUND))
    assert agent.stop() == 0
    assert len(standin.pushes()) >= found
    return found


def test_killed_in_an_outage(start_agent, standin, processes, programs):
    agent = in_outage(start_agent, standin, processes, programs)
    on_disk = agent.metrics().get(SPOOLED)
    agent.stop(signal.SIGKILL)
    assert sent_by_next_run(start_agent, standin, on_disk) >= on_disk


def test_ended_in_an_outage(start_agent, standin, processes, programs, tmp_path):
    agent = in_outage(start_agent, standin, processes, programs)
    on_disk = agent.metrics().get(SPOOLED)
    assert agent.stop() == 0
    # All of it, and what came on the way to the end.
    assert not agent.log_lines(msg="profiles could not be pushed before the end")
    kept = int(agent.log_lines(msg="profiles wait on disk for the next start")[-1]["profiles"])
    assert kept >= on_disk
    assert sent_by_next_run(start_agent, standin, kept) == kept
    files = list(tmp_path.glob("data-xagent/spool/*/*"))
    assert all(f.stat().st_mode & 0o777 == 0o600 for f in files)


@pytest.mark.skipif(not FULL, reason="XAGENT_TEST_MATRIX=full runs it: it waits for a disk to be left alone and tried again")
@pytest.mark.parametrize("before, after", [("size=64k", "size=8m"), ("ro", "rw")], ids=["full", "read-only"])
def test_a_disk_that_cannot_be_written(start_agent, standin, processes, programs, tmp_path, before, after):
    """A file system of 64 KiB, or one that is read alone: memory takes the rest, one line says so, and the disk is used again when it can be."""
    disk = tmp_path / "disk"
    disk.mkdir()
    assert processes.run("mount", "-t", "tmpfs", "-o", f"mode=700,{before}", "tmpfs", disk).popen.returncode == 0
    try:
        standin.set_mode("503-html")
        processes.start(programs["chain"], 60, 2)
        agent = start_agent(config(standin.url, interval="1s", rate=97), f"--storage.path={disk}").wait_ready()
        agent.wait_metric(lambda m: m.get("xagent_push_spool_failing") == 1 and m.get("pyroscope_write_queue_profiles") > 3,
                          60, "the disk takes nothing")
        assert len(agent.log_lines(msg="profiles are kept in memory alone: the spool cannot be used")) == 1
        assert processes.run("mount", "-o", f"remount,{after}", disk).popen.returncode == 0
        agent.wait_metric(lambda m: m.get("xagent_push_spool_failing") == 0 and m.get("pyroscope_write_queue_profiles") <= 1,
                          20, "the disk is used again")
        standin.set_mode("ok")
        m = agent.wait_metric(lambda m: m.get(SPOOLED) == 0 and m.get(SENT) > 5, 20, "everything is sent")
        assert m.get("pyroscope_write_dropped_profiles_total") == 0
        assert agent.stop() == 0
    finally:
        processes.run("umount", "-l", disk)


@pytest.mark.skipif(not FULL, reason="XAGENT_TEST_MATRIX=full runs it: it waits for a disk that hangs")
def test_a_disk_that_hangs(start_agent, standin, processes, programs, tmp_path):
    """A file system that is frozen: what writes to it waits until it is thawed. Memory takes the rest meanwhile, the agent answers, and nothing is lost."""
    missing = [tool for tool in ("mkfs.ext4", "fsfreeze", "losetup") if not shutil.which(tool)]
    if missing:
        pytest.skip(f"no {', '.join(missing)}")
    image, disk = tmp_path / "image", tmp_path / "disk"
    disk.mkdir()
    with image.open("wb") as f:
        f.truncate(32 << 20)
    assert processes.run("mkfs.ext4", "-q", image).popen.returncode == 0
    mounted = processes.run("mount", "-o", "loop", image, disk)
    if mounted.popen.returncode != 0:
        pytest.skip(f"no loop device: {mounted.err.strip()}")
    disk.chmod(0o700)
    try:
        standin.set_mode("503-html")
        processes.start(programs["chain"], 60, 2)
        agent = start_agent(config(standin.url, interval="1s", rate=97), f"--storage.path={disk}").wait_ready()
        on_disk = agent.wait_metric(lambda m: m.get(SPOOLED) >= 3, 30, "profiles are on disk").get(SPOOLED)
        assert processes.run("fsfreeze", "-f", disk).popen.returncode == 0
        try:
            # Metrics are answered, and intervals go on, while a write waits.
            m = agent.wait_metric(lambda m: m.get("pyroscope_write_queue_profiles") >= 5, 30, "memory takes what the disk does not")
            assert m.get(SPOOLED) <= on_disk + 1
        finally:
            assert processes.run("fsfreeze", "-u", disk).popen.returncode == 0
        agent.wait_metric(lambda m: m.get(SPOOLED) > on_disk + 3, 30, "the disk takes them")
        standin.set_mode("ok")
        m = agent.wait_metric(lambda m: m.get(SPOOLED) == 0 and m.get("pyroscope_write_queue_profiles") <= 1, 30, "everything is sent")
        assert m.get("pyroscope_write_dropped_profiles_total") == 0
        assert agent.stop() == 0
        assert len(standin.pushes()) >= m.get(SENT)
    finally:
        processes.run("umount", "-l", disk)
