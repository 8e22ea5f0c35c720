# SPDX-License-Identifier: Apache-2.0
"""
OTLP over HTTP and gRPC: with a server that answers as servers and proxies do, where each exporter is a receiver that holds nobody else back,
and with OpenTelemetry's own collector, which has to read what a server of pprof reads.
"""
import json
import os
import shutil
import signal
import subprocess

import pytest

from harness import paths
from harness.agent import EBPF, ENDPOINT, fetch
from harness.certificates import certificates
from harness.processes import TimedOut, free_port, wait_until

pytestmark = [pytest.mark.bpf, pytest.mark.beside]
in_full_matrix = pytest.mark.skipif(os.environ.get("XAGENT_TEST_MATRIX") != "full", reason="XAGENT_TEST_MATRIX=full has it")

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
        "away": KEPT, "compressed": KEPT, "hung": KEPT, "reset": KEPT, "no status": KEPT,
        # Several are under way at a time, over both protocols: an answer is that of the request before which it stands.
        "slow well": SENT, "slow refused": DROPPED, "slow partial": DROPPED}
GRPC = {mode: fate for mode, fate in HTTP.items() if mode != "redirected"} | {"for another": SENT}
# Of a client over gRPC.
OWN = {"for another": 'authority = "another.example"'}


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
                                timeout=timeout if kind == "otlphttp" else OWN.get(mode, ""), top=timeout if kind == "otlp" else "")
        inputs.append(f"otelcol.exporter.{kind}.{name}.input")
    ebpf = EBPF.format(interval="500ms", rate=97, body="")
    return ebpf.replace("pyroscope.write.endpoint.receiver", ", ".join(inputs)) + text


def numbers(m, kind, name):
    labels = {"component_id": f"otelcol.exporter.{kind}.{name}"}
    kept = sum(m.get(name, **labels) for name in ("pyroscope_write_queue_profiles", "xagent_push_spool_profiles"))
    return {SENT: m.get("pyroscope_write_sent_profiles_total", **labels), DROPPED: m.get("pyroscope_write_dropped_profiles_total", **labels),
            KEPT: kept}


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


# ---- OpenTelemetry's collector -------------------------------------------------------------------------------------------------------

# A file for each protocol, and one for gRPC over TLS, where both sides show a certificate.
COLLECTOR = """
receivers:
  otlp/http: {{protocols: {{http: {{endpoint: "127.0.0.1:{http}"}}}}}}
  otlp/grpc: {{protocols: {{grpc: {{endpoint: "127.0.0.1:{grpc}"}}}}}}
  otlp/tls:
    protocols:
      grpc:
        endpoint: "127.0.0.1:{tls}"
        tls: {{cert_file: "{folder}/server.pem", key_file: "{folder}/server.key", client_ca_file: "{folder}/ca.pem"}}
exporters:
  file/http: {{path: "{folder}/http.json"}}
  file/grpc: {{path: "{folder}/grpc.json"}}
  file/tls: {{path: "{folder}/tls.json"}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines:
    profiles/http: {{receivers: [otlp/http], exporters: [file/http]}}
    profiles/grpc: {{receivers: [otlp/grpc], exporters: [file/grpc]}}
    profiles/tls: {{receivers: [otlp/tls], exporters: [file/tls]}}
"""


# Who knows the server and is known to it, who does not know it, and whom it does not know.
TLS = {
    "tls": 'tls {{\n\t\t\tca_file = "{folder}/ca.pem"\n\t\t\tcert_file = "{folder}/client.pem"\n\t\t\tkey_file = "{folder}/client.key"\n\t\t}}',
    "stranger": 'tls {{\n\t\t\tcert_file = "{folder}/client.pem"\n\t\t\tkey_file = "{folder}/client.key"\n\t\t}}',
    "nobody": 'tls {{\n\t\t\tca_file = "{folder}/ca.pem"\n\t\t}}',
}


@pytest.fixture
def collector_program():
    directory = paths.BUILD / "collector"
    made = subprocess.run([paths.TESTS / "collector" / "build.sh", directory], capture_output=True, text=True, check=False)
    if made.returncode == 77:
        pytest.skip(made.stderr.strip().splitlines()[-1])
    assert made.returncode == 0, made.stderr
    return directory / "collector"


def decode(path):
    """(service, end of the interval in ns, the period's type, type, unit) → {frames from the root on: value}, of the collector's file, by the names of pprof. CPU time is in
    samples, of a period; off-CPU time has none."""
    result = {}
    for line in path.read_text().splitlines():
        document = json.loads(line)
        tables = document["dictionary"]
        strings = tables["stringTable"]
        functions = [strings[f.get("nameStrindex", 0)] for f in tables["functionTable"]]
        locations = [[functions[line["functionIndex"]] for line in reversed(l.get("lines", []))] for l in tables["locationTable"]]
        stacks = [tuple(name for l in reversed(s.get("locationIndices", [])) for name in locations[l]) for s in tables["stackTable"]]
        for resource in document["resourceProfiles"]:
            service = next(_text(a, strings) for a in resource["resource"]["attributes"] if _key(a, strings) == "service.name")
            for profile in resource["scopeProfiles"][0]["profiles"]:
                kind = tuple(strings[profile["sampleType"][k]] for k in ("typeStrindex", "unitStrindex"))
                is_cpu = kind == ("samples", "count")
                kind = {("samples", "count"): ("cpu", "nanoseconds"), ("off_cpu", "nanoseconds"): ("offcpu", "nanoseconds")}.get(kind, kind)
                end = int(profile["timeUnixNano"]) + int(profile["durationNano"])
                key = (service, end, strings[profile.get("periodType", {}).get("typeStrindex", 0)] or kind[0], *kind)
                assert key not in result, "once"
                values = result.setdefault(key, {})
                for sample in profile["samples"]:
                    value, = sample["values"]
                    frames = stacks[sample["stackIndex"]]
                    values[frames] = values.get(frames, 0) + int(value) * (int(profile["period"]) if is_cpu else 1)
    return result


def _key(attribute, strings):
    return attribute.get("key") or strings[attribute["keyStrindex"]]


def _text(attribute, strings):
    value = attribute["value"]
    return value["stringValue"] if "stringValue" in value else strings[value["stringValueStrindex"]]


def decode_pushes(pushes):
    """The same of what was pushed as pprof."""
    result = {}
    for push in pushes:
        for column, kind in enumerate(push.profile.sample_types):
            period = (push.profile.period_type or ("",))[0] or kind[0]
            values = result.setdefault((push.labels["service_name"], push.profile.time_nanos, period, *kind), {})
            # A sample of OTLP has one value: where it is 0 there is none.
            for sample in push.profile.samples:
                if sample.values[column]:
                    values[sample.frames] = values.get(sample.frames, 0) + sample.values[column]
    return {key: values for key, values in result.items() if values}


EVENTS = "\tevents {\n%s\t}\n" % "".join(f"\t\t{name} {{ }}\n" for name in ("off_cpu", "wall", "locks", "faults", "run_queue", "syscalls", "tcp", "block_io", "rss"))


@in_full_matrix
def test_collector_reads_what_pprof_says(collector_program, start_agent, standin, processes, programs, tmp_path):
    http, grpc, tls = free_port(), free_port(), free_port()
    (tmp_path / "collector.yaml").write_text(COLLECTOR.format(http=http, grpc=grpc, tls=tls, folder=tmp_path))
    certificates(tmp_path)
    collector = processes.start(collector_program, "--config", f"file:{tmp_path}/collector.yaml", "--feature-gates=service.profilesSupport")
    wait_until(lambda: "Everything is ready" in collector.err, 30, "the collector is ready")
    processes.start(programs["chain"], 60, 2)
    text = EBPF.format(interval="1s", rate=197, body="\tlines = true\n" + EVENTS).replace(
        "pyroscope.write.endpoint.receiver", "pyroscope.write.endpoint.receiver, otelcol.exporter.otlphttp.c.input, otelcol.exporter.otlp.c.input, "
        "otelcol.exporter.otlp.tls.input, otelcol.exporter.otlp.stranger.input, otelcol.exporter.otlp.nobody.input")
    text += ENDPOINT.format(url=standin.url, timeout="5s")
    text += EXPORTER.format(kind="otlphttp", name="c", url=f"http://127.0.0.1:{http}", mode="", compression="gzip", timeout="", top="")
    text += EXPORTER.format(kind="otlp", name="c", url=f"http://127.0.0.1:{grpc}", mode="", compression="gzip", timeout="", top="")
    for name, block in TLS.items():
        text += EXPORTER.format(kind="otlp", name=name, url=f"https://127.0.0.1:{tls}", mode="", compression="gzip",
                                timeout=block.format(folder=tmp_path), top="")
    agent = start_agent(text).wait_ready()
    agent.wait_metric(lambda m: m.get("pyroscope_write_sent_profiles_total", component_id="otelcol.exporter.otlp.c") >= 20, 40, "profiles")
    for name in ("stranger", "nobody"):
        n = numbers(agent.metrics(), "otlp", name)
        assert n[SENT] == n[DROPPED] == 0 < n[KEPT], n
    assert agent.stop() == 0
    collector.send(signal.SIGTERM)
    assert collector.wait(20) == 0
    expected = decode_pushes(standin.pushes())
    assert len({key[2:] for key in expected}) >= 8, expected.keys()
    assert len(expected) >= 20 and sum(sum(stacks.values()) for stacks in expected.values()) > 0
    for protocol in ("http", "grpc", "tls"):
        assert decode(tmp_path / f"{protocol}.json") == expected, protocol
