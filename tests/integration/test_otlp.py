# SPDX-License-Identifier: Apache-2.0
"""OTLP over HTTP and gRPC with a server that answers as servers and proxies do; each exporter is a receiver that holds nobody else back."""
import json
import os
import shutil
import subprocess

import pytest

from harness import paths
from harness.agent import EBPF, fetch
from harness.processes import TimedOut, free_port, wait_until

pytestmark = [pytest.mark.bpf, pytest.mark.skipif(os.environ.get("XAGENT_TEST_MATRIX") != "full", reason="XAGENT_TEST_MATRIX=full has it")]

EXPORTER = """
otelcol.exporter.{kind} "{name}" {{
	client {{
		endpoint    = "{url}/{mode}"
		compression = "{compression}"
		{timeout}
	}}
	{top}
	retry_on_failure {{
		initial_interval = "100ms"
		max_interval     = "200ms"
	}}
}}
"""
# Mode → what becomes of a profile.
SENT, DROPPED, KEPT = "sent", "dropped", "kept"
HTTP = {"well": SENT, "redirected": SENT, "away at first": SENT, "partial": DROPPED, "refused": DROPPED, "a page": DROPPED,
        "away": KEPT, "compressed": KEPT, "hung": KEPT, "reset": KEPT, "no status": KEPT}
GRPC = {mode: fate for mode, fate in HTTP.items() if mode != "redirected"}


@pytest.fixture
def server(processes, tmp_path):
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not os.path.exists(go):
        pytest.skip("no Go")
    program = tmp_path / "answers"
    built = subprocess.run([go, "build", "-o", program, paths.TESTS / "otlp" / "answers.go"], capture_output=True, text=True, check=False)
    if built.returncode != 0 and "SetUnencryptedHTTP2" in built.stderr:
        pytest.skip("Go is older than 1.24")
    assert built.returncode == 0, built.stderr
    port = free_port()
    processes.start(program, f"127.0.0.1:{port}").wait_for_output("listening")
    return f"http://127.0.0.1:{port}"


def exporters(url):
    """Each mode of each protocol, gzip'd and not: (name, kind, mode, what becomes of profiles)."""
    for kind, modes in (("otlphttp", HTTP), ("otlp", GRPC)):
        for number, (mode, fate) in enumerate(modes.items()):
            yield f"{kind}_{number}", kind, mode, fate


def configuration(url):
    text, inputs = "", []
    for number, (name, kind, mode, _) in enumerate(exporters(url)):
        timeout = 'timeout = "300ms"'
        text += EXPORTER.format(kind=kind, name=name, url=url, mode=mode.replace(" ", "_"), compression=("gzip", "none")[number % 2],
                                timeout=timeout if kind == "otlphttp" else "", top=timeout if kind == "otlp" else "")
        inputs.append(f"otelcol.exporter.{kind}.{name}.input")
    ebpf = EBPF.format(interval="500ms", rate=97, body="")
    return ebpf.replace("pyroscope.write.endpoint.receiver", ", ".join(inputs)) + text


def numbers(m, kind, name):
    labels = {"component_id": f"otelcol.exporter.{kind}.{name}"}
    return {fate: m.get(f"pyroscope_write_{metric}", **labels) for fate, metric in
            ((SENT, "sent_profiles_total"), (DROPPED, "dropped_profiles_total"), (KEPT, "queue_profiles"))}


def test_answers(start_agent, server):
    agent = start_agent(configuration(server)).wait_ready()
    well = [("otlphttp", "otlphttp_0"), ("otlp", "otlp_0")]

    def enough():
        m = agent.metrics()
        return m if all(numbers(m, *who)[SENT] >= 10 for who in well) else None
    wait_until(enough, 30, "profiles where all is well")

    rest = []

    # Who had a bad start comes after.
    def settled():
        m = agent.metrics()
        rest.clear()
        rest.extend((kind, mode, fate) for name, kind, mode, fate in exporters(server) if not numbers(m, kind, name)[fate] > 0)
        return not rest
    try:
        wait_until(settled, 20, "the same where it is not")
    except TimedOut as e:
        raise AssertionError(f"{rest}: {[line for line in agent.process.err.splitlines() if 'cannot reach' in line]}") from e
    m = agent.metrics()
    for name, kind, mode, fate in exporters(server):
        others = {f: n for f, n in numbers(m, kind, name).items() if n and f not in (fate, KEPT)}
        assert not others, (kind, mode, fate, numbers(m, kind, name))
    counts = json.loads(fetch(f"{server}/counts")[1])
    assert {*HTTP, *(f"grpc {mode}" for mode in GRPC)} == set(counts), counts
    assert counts["away"] > 1 and counts["grpc away"] > 1, "they are tried again"
    assert agent.stop() == 0
