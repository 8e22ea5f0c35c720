# SPDX-License-Identifier: Apache-2.0
"""
Nothing is lost on the way to the real server under its default limits: not of 300 services, not of a profile of 40,000 stacks, not when the
server is restarted, nor when the sender is killed while it is away.
"""
import os
import random
import signal
import time

import pytest

from harness import pyroscope, sending
from harness.processes import free_port
from harness.sending import Sending

pytestmark = pytest.mark.beside
FULL = pytest.mark.skipif(os.environ.get("XAGENT_TEST_MATRIX") != "full", reason="XAGENT_TEST_MATRIX=full has it")


@pytest.fixture
def start_server(processes, tmp_path):
    program, reason = pyroscope.build()
    if reason:
        pytest.skip(reason)
    sending.build()
    return lambda *flags: pyroscope.Pyroscope(processes, tmp_path, program, *flags)


@pytest.fixture
def server(start_server):
    return start_server()


def last_hour(**request):
    now = int(time.time() * 1000)
    return {"profileTypeID": pyroscope.CPU, "start": now - 3_600_000, "end": now + 60_000, **request}


def stored(server):
    """Samples that the server has. A flame graph of all services would have it read the symbols of each."""
    series = server.query("SelectSeries", 60, **last_hour(labelSelector="{}", step=15))["series"]
    total = sum(int(point["value"]) for one in series for point in one["points"])
    assert total % sending.PERIOD_NS == 0
    return total // sending.PERIOD_NS


def stacks(server, service):
    graph = server.query("SelectMergeStacktraces", 60, **last_hour(labelSelector=f'{{service_name="{service}"}}', maxNodes=1_000_000))
    return len(pyroscope.flame_stacks(graph["flamegraph"]))


def stop_in_pause(server, send, n_intervals):
    """What the server takes while it ends, it says 200 to, and may lose: so nothing is under way then."""
    send.wait(lambda s: send.n_intervals() == n_intervals and s["queued"] == 0, 60, "nothing is under way")
    server.stop()
    send.process.send(signal.SIGUSR1)


def in_outage(send):
    """Everything that waits is on disk."""
    send.wait(lambda s: s["failures"] > 0 and s["memory"] == 0 and s["queued"] > 0, 20, "all that waits is on disk")


def test_totals(server, processes, tmp_path):
    """300 services; in the middle the server goes, and then the sender, by force. What the next run sends besides is one profile of 40,000 stacks."""
    first = Sending(processes, server.url, services=300, stacks=4, depth=10, intervals=3, pause_every=2, interval_ms=500, spread_ms=250,
                    spool=tmp_path / "spool")
    stop_in_pause(server, first, 2)
    first.wait_intervals(3)
    in_outage(first)
    made = first.made()
    first.stop(signal.SIGKILL)
    server.start()
    second = Sending(processes, server.url, services=1, stacks=40_000, depth=12, intervals=1, spool=tmp_path / "spool")
    m = second.end()
    assert m.get("xagent_push_spool_found_profiles_total") > 0
    assert m.get("pyroscope_write_dropped_profiles_total") == 0
    assert stored(server) == made + second.made()
    # Four of the first run end as four of these do, and begin otherwise.
    assert stacks(server, "service-000") == 40_004


@FULL
def test_300_services_for_some_intervals(server, processes, tmp_path):
    """The server restarts twice: nothing is lost, nothing comes twice."""
    send = Sending(processes, server.url, services=300, stacks=40, depth=30, intervals=12, pause_every=4, interval_ms=3000, spread_ms=1500,
                   spool=tmp_path / "spool")
    for n in (4, 8):
        stop_in_pause(server, send, n)
        time.sleep(4)
        server.start()
    m = send.end(180)
    assert m.get("pyroscope_write_dropped_profiles_total") == 0
    assert m.get("pyroscope_write_sent_profiles_total") == 300 * 12
    assert stored(server) == send.made()


@FULL
@pytest.mark.parametrize("protocol, spool", [("pyroscope", True), ("pyroscope", False), ("otlp_http", True), ("otlp_grpc", False)])
def test_bursts_are_refused_and_come_again(start_server, processes, tmp_path, protocol, spool):
    """Four profiles of 40,000 stacks, 7 MB, for a server that takes one in a second: it says 429 to most, and has them all in the end."""
    server = start_server("-distributor.ingestion-rate-limit-mb=1")
    options = {"spool": tmp_path / "spool"} if spool else {}
    send = Sending(processes, server.url, protocol=protocol, services=4, stacks=40_000, depth=30, intervals=1, **options)
    m = send.end(240)
    assert m.get("pyroscope_write_retries_total") > 0
    assert m.get("pyroscope_write_dropped_profiles_total") == 0
    assert stacks(server, "service-003") == 40_000
    assert stored(server) == send.made()


@FULL
def test_killed_again_and_again(server, processes, tmp_path):
    """At any moment of an outage: what is lost is what had not come to the disk, of the interval that was made last."""
    server.stop()
    dice, made, may_be_lost = random.Random(22), 0, 0
    for _ in range(10):
        send = Sending(processes, server.url, services=300, stacks=4, intervals=100, interval_ms=300, spool=tmp_path / "spool")
        send.wait_intervals(3)
        time.sleep(dice.uniform(0, 0.4))
        send.stop(signal.SIGKILL)
        made += send.made()
        may_be_lost += send.made() // send.n_intervals()
    server.start()
    last = Sending(processes, server.url, services=1, intervals=1, spool=tmp_path / "spool")
    m = last.end(120)
    assert m.get("pyroscope_write_dropped_profiles_total") == 0
    samples = stored(server)
    # An interval that was handed over and not printed is more.
    assert made - may_be_lost <= samples - last.made() <= made + may_be_lost


def outage(processes, server, directory, *, seconds, window, **options):
    """A server that is away for longer than profiles may wait; the sender, and by how much its memory grew, in KiB."""
    server.stop()
    send = Sending(processes, server.url, interval_ms=500, max_age_s=window, spool=directory / "spool", **options)
    send.wait_intervals(2)
    before = send.memory_kib("VmRSS")
    most = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        most = max(most, send.memory_kib("VmRSS"))
        time.sleep(0.2)
    server.start()
    return send, most - before


@FULL
def test_outage_that_outlasts_the_window(server, processes, tmp_path, capsys):
    """A minute, where 30 seconds are the window: what is in it comes once, the rest is counted, and memory stays where it was."""
    send, growth_kib = outage(processes, server, tmp_path, seconds=60, window=30, services=50, stacks=20, depth=20, intervals=130)
    m = send.end(120)
    sent, lost = (m.get(f"pyroscope_write_{what}_profiles_total") for what in ("sent", "dropped"))
    with capsys.disabled():
        print(f"\noutage of a minute, 50 services twice a second: {growth_kib / 1024:.1f} MiB more; {sent:.0f} sent, {lost:.0f} too old")
    assert growth_kib <= 16 * 1024
    assert sent + lost == 50 * 130
    assert lost == m.get("xagent_push_dropped_profiles_total", cause="too_old") >= 50 * 2 * 25
    # What waited for 30 seconds; on a busy machine the server takes some of these to read it, in which more gets too old.
    assert sent >= 50 * 2 * 20
    assert stored(server) == m.get("xagent_push_sent_samples_total")


@FULL
def test_memory_in_an_outage(processes, tmp_path, capsys):
    """As many profiles as 300 services make in half an hour wait on disk."""
    sending.build()
    send = Sending(processes, f"http://127.0.0.1:{free_port()}", services=300, stacks=20, depth=20, intervals=120, interval_ms=200, spool=tmp_path / "spool")
    send.wait_intervals(2)
    before = send.memory_kib("VmRSS")
    send.wait_intervals(120, 120)
    in_outage(send)
    growth_kib = send.memory_kib("VmHWM") - before
    with capsys.disabled():
        print(f"\n36,000 profiles on disk: {growth_kib / 1024:.1f} MiB more")
    assert growth_kib <= 16 * 1024
    assert send.state()["queued"] == 36_000
