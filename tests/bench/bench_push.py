# SPDX-License-Identifier: Apache-2.0
"""What a profile costs on its way to a server, by each way there is, and what an outage takes in memory."""
import shutil
import subprocess
import tempfile
from pathlib import Path

import bench_report
from harness import paths, sending
from harness.processes import Processes, free_port
from harness.sending import Sending
from harness.standin import StandIn

# As a busy host has them: some 120 samples a profile.
LOAD = {"services": 300, "stacks": 60, "depth": 30}
RUN = {"intervals": 10, "interval_ms": 1000, "spread_ms": 500}
# Half an hour of these services, every 15 seconds.
OUTAGE = {"intervals": 120, "interval_ms": 200}


def _figures(send):
    """Of a run that has ended: CPU of a profile in µs, to encode it and to send it; bytes of requests a sample."""
    m, cost = send.metrics(), send.state("cost")
    sent = m.value("pyroscope_write_sent_profiles_total")
    assert sent == cost["profiles"], (sent, cost)
    return (cost["encode_ns"] / sent / 1000, cost["push_ns"] / sent / 1000,
            m.value("xagent_push_request_bytes_total") / m.value("xagent_push_sent_samples_total"))


def _push(processes, directory):
    send = Sending(processes, StandIn(processes, directory).url, **LOAD, **RUN)
    send.end(120)
    return _figures(send)


def _spool(processes, directory):
    """All of it by way of the disk."""
    server = StandIn(processes, directory)
    server.set_mode("503-html")
    send = Sending(processes, server.url, **LOAD, **{**RUN, "interval_ms": 100}, spool=directory / "spool")
    send.wait_intervals(RUN["intervals"])
    send.wait(lambda s: s["failures"] and not s["memory"], 60, "all is on disk")
    server.set_mode("ok")
    send.end(120)
    return _figures(send)


def _otlp(processes, directory, protocol):
    go = shutil.which("go") or "/usr/local/go/bin/go"
    program, port = directory / "answers", free_port()
    if subprocess.run([go, "build", "-o", program, paths.TESTS / "otlp" / "answers.go"], stderr=subprocess.DEVNULL, check=False).returncode:
        return None
    processes.start(program, f"127.0.0.1:{port}").wait_for_output("listening")
    send = Sending(processes, f"http://127.0.0.1:{port}/well", protocol=protocol, **LOAD, **RUN)
    send.end(120)
    return _figures(send)


def _outage_mib(processes, directory):
    send = Sending(processes, f"http://127.0.0.1:{free_port()}", **LOAD, **OUTAGE, spool=directory / "spool")
    send.wait_intervals(2)
    before = send.memory_kib("VmRSS")
    send.wait_intervals(OUTAGE["intervals"], 120)
    send.wait(lambda s: s["failures"] and not s["memory"], 60, "all is on disk")
    return (send.memory_kib("VmHWM") - before) / 1024


WAYS = {"push": _push, "OTLP/HTTP": lambda p, d: _otlp(p, d, "otlp_http"), "OTLP/gRPC": lambda p, d: _otlp(p, d, "otlp_grpc"),
        "push, by the spool": _spool, "outage": _outage_mib}


def measure():
    """way → its figures, None where it could not be gone."""
    result = {}
    sending.build()
    for name, way in WAYS.items():
        with tempfile.TemporaryDirectory() as directory:
            processes = Processes(Path(directory))
            try:
                result[name] = way(processes, Path(directory))
            finally:
                processes.end_all()
    return result


def report(result):
    bench_report.head("A profile of some 120 samples in 60 stacks of 30 frames, to a server on this machine", "")
    for name, figures in result.items():
        if name != "outage":
            bench_report.row(f"{name}: CPU to encode, to send: \u00b5s", "%.0f, %.0f" % figures[:2] if figures else "no Go")
            bench_report.row(f"{name}: bytes a sample on the wire", "%.1f" % figures[2] if figures else "no Go")
    bench_report.row("memory in an outage, 36,000 profiles on disk: MiB more", "%.1f" % result["outage"], "<= 16")
