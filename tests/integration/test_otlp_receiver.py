# SPDX-License-Identifier: Apache-2.0
"""
otelcol.receiver.otlp: what one agent samples and sends by OTLP, over HTTP or gRPC, another one has in its store, to the last sample; and names
are those that the real Pyroscope gives to the same requests.
"""
import gzip
import os
import struct
import subprocess
import time

import pytest
from test_otlp import collector_program  # noqa: F401  a fixture
from test_pyroscope import CHAIN, OTLP_GRPC, OTLP_HTTP, assert_shape, last_hour, otlp_config, profile_until_gone
from test_pyroscope import server as real  # noqa: F401  a fixture
from test_receive_http import RECEIVE

from harness import otlp, pyroscope
from harness.agent import fetch
from harness.certificates import certificates
from harness.processes import free_port, wait_until
from harness.store_api import Server, flamegraph
from harness.store_data import MEMORY, PUSH, TICK, Pprof, push_proto

FULL = pytest.mark.skipif(os.environ.get("XAGENT_TEST_MATRIX") != "full", reason="XAGENT_TEST_MATRIX=full has it")
RECEIVER = """
pyroscope.store "local" {{ }}
otelcol.receiver.otlp "in" {{
	http {{ endpoint = "127.0.0.1:{port}" }}
	grpc {{
		endpoint = "127.0.0.1:{grpc}"
		{tls}
	}}
	output {{ profiles = [pyroscope.store.local.receiver] }}
}}
"""


class Receiver:
    """An agent whose store takes OTLP, as tests of servers have it."""

    def __init__(self, start_agent, tls=""):
        port, grpc = free_port(), free_port()
        self.agent = start_agent(RECEIVER.format(port=port, grpc=grpc, tls=tls)).wait_ready()
        self.url, self.grpc = f"http://127.0.0.1:{port}", f"127.0.0.1:{grpc}"
        self.store = Server(self.agent.url)


@pytest.mark.bpf
@pytest.mark.beside
@pytest.mark.parametrize("exporter,compression", [
    pytest.param(OTLP_HTTP, "gzip", id="http"),
    pytest.param(OTLP_GRPC, "gzip", id="grpc", marks=FULL),
    pytest.param(OTLP_HTTP, "none", id="http without compression", marks=FULL),
    pytest.param(OTLP_GRPC, "none", id="grpc without compression", marks=FULL),
])
def test_what_an_agent_sends(start_agent, processes, programs, exporter, compression):
    receiver = Receiver(start_agent)
    url = receiver.url if exporter is OTLP_HTTP else f"http://{receiver.grpc}"
    chain = processes.start(programs["chain"], 3, 2)
    chain.wait_for_output("thread_a")
    m = profile_until_gone(start_agent, receiver, chain,
                           lambda _, **arguments: otlp_config(exporter, url, compression, **arguments))
    expected = m.agent("samples_in_profiles") * (10**9 // 197)
    selector = {"profileTypeID": pyroscope.CPU, "labelSelector": '{service_name="known_chain", region="north"}'}
    graph = receiver.store.json("SelectMergeStacktraces", **last_hour(**selector))["flamegraph"]
    assert int(graph["total"]) == expected > 0
    stacks = pyroscope.flame_stacks(graph)
    assert_shape(stacks)
    assert any(CHAIN[-1] in stack for stack in stacks)
    assert pyroscope.profile_stacks(receiver.store.json("SelectMergeProfile", **last_hour(**selector))) == stacks
    assert [t["ID"] for t in receiver.store.json("ProfileTypes", **last_hour())["profileTypes"]] == [pyroscope.CPU]


# Requests: what each says besides its samples.
LIKE = {
    "plain": {}, "a service": {"resource": {"service.name": "svc"}},
    "resource and scope": {"resource": {"service.name": "res", "k8s.pod.name": "p-1", "process.pid": 77}, "scope": {"scope.x": "y"}},
    "samples": {"resource": {"service.name": "samples"}, "attributes": {"thread.name": "t 1", "thread.id": 5}},
    "an executable": {"resource": {"process.executable.name": "exe"}},
    "off_cpu": {"resource": {"service.name": "off"}, "kind": ("off_cpu", "nanoseconds"), "period": None},
    "by the period": {"resource": {"service.name": "locks"}, "kind": ("delay", "nanoseconds"), "period": ("contentions", "count", 1)},
    "other memory": {"resource": {"service.name": "heap"}, "kind": ("growth", "bytes"), "period": ("space", "bytes", 1)},
    "locks of a program": {"resource": {"service.name": "cpu"}, "kind": ("lock_count", "count")},
}


COLLECTOR = """
receivers:
  otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}}}}}
exporters:
  {exporter}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines:
    profiles: {{receivers: [otlp], exporters: [{name}]}}
"""
# How it sends them on.
EXPORTERS = {
    "http": 'otlphttp: {{endpoint: "{url}"}}',
    "http, JSON": 'otlphttp: {{endpoint: "{url}", encoding: json}}',
    "grpc": 'otlp: {{endpoint: "{grpc}", tls: {{insecure: true}}}}',
    "grpc without compression": 'otlp: {{endpoint: "{grpc}", compression: none, tls: {{insecure: true}}}}',
    "grpc by TLS": 'otlp: {{endpoint: "{grpc}", tls: {{ca_file: "{folder}/ca.pem", cert_file: "{folder}/client.pem", '
                   'key_file: "{folder}/client.key"}}}}',
}
TLS = """tls {{
			cert_file = "{folder}/server.pem"
			key_file = "{folder}/server.key"
			client_ca_file = "{folder}/ca.pem"
			min_version = "1.2"
			reload_interval = "1h"
		}}"""


@pytest.mark.agent
@FULL
@pytest.mark.parametrize("way", EXPORTERS)
def test_collector_in_between(collector_program, start_agent, processes, tmp_path, way):
    """It writes requests anew: names of attributes become references."""
    certificates(tmp_path)
    receiver = Receiver(start_agent, TLS.format(folder=tmp_path) if "TLS" in way else "")
    port, now = free_port(), time.time_ns()
    exporter = EXPORTERS[way].format(url=receiver.url, grpc=receiver.grpc, folder=tmp_path)
    (tmp_path / "collector.yaml").write_text(COLLECTOR.format(port=port, exporter=exporter, name=exporter.split(":")[0]))
    collector = processes.start(collector_program, "--config", f"file:{tmp_path}/collector.yaml", "--feature-gates=service.profilesSupport")
    wait_until(lambda: "Everything is ready" in collector.err, 30, "the collector is ready")
    direct = Receiver(start_agent)
    for name, request in LIKE.items():
        body = otlp.request(now - 5 * 10**9, **request)
        assert otlp.post(f"http://127.0.0.1:{port}", body)[0] == otlp.post(direct.url, body)[0] == 200, name
    begin = now // 10**6 - 3_600_000
    wanted = series_of(direct.store, begin)
    assert len(wanted) == len(LIKE)
    wait_until(lambda: len(series_of(receiver.store, begin)) == len(wanted), 20, "all of it")
    assert series_of(receiver.store, begin) == wanted
    assert list(totals_of(receiver.store, begin, wanted)) == list(totals_of(direct.store, begin, wanted))


def series_of(server, begin):
    """(labels, type) of all that it has, without what one server alone adds."""
    answer = server.json("Series", matchers=[], labelNames=[], start=begin, end=begin + 3_700_000)
    return sorted((tuple(sorted((pair["name"], pair["value"]) for pair in one["labels"]))) for one in answer.get("labelsSet", []))


def totals_of(server, begin, series):
    """Of each series the flame graph."""
    for labels in series:
        found = dict(labels)
        yield flamegraph(server.json("SelectMergeStacktraces", profileTypeID=found["__profile_type__"],
                                     labelSelector=f'{{service_name="{found["service_name"]}"}}', start=begin, end=begin + 3_700_000))


@pytest.mark.agent
@FULL
def test_names_are_those_of_the_server(start_agent, real):  # noqa: F811
    receiver = Receiver(start_agent)
    now = time.time_ns()
    for name, request in LIKE.items():
        body = otlp.request(now - 5 * 10**9, **request)
        for url in (real.url, receiver.url):
            assert otlp.post(url, body)[0] == 200, name
    begin = now // 10**6 - 3_600_000
    wanted = series_of(Server(real.url), begin)
    assert series_of(receiver.store, begin) == wanted and len(wanted) == len(LIKE)
    assert list(totals_of(receiver.store, begin, wanted)) == list(totals_of(Server(real.url), begin, wanted))


# Profiles of Go, by name: their types, what is between their samples, and what the server calls them when they come by OTLP.
CONTENTIONS = [("contentions", "count"), ("delay", "nanoseconds")]
OF_GO = {
    "mutex": (CONTENTIONS, ("contentions", "count", 1), ("mutex", "count")),
    "block": (CONTENTIONS, ("contentions", "count", 1), ("block", "count")),
    "memory": (MEMORY, ("space", "bytes", 524_288), ("memory", "bytes")),
    "process_cpu": ([("cpu", "nanoseconds")], ("cpu", "nanoseconds", TICK), ("cpu", "nanoseconds")),
}


def ids(server):
    return {t["ID"] for t in server.json("ProfileTypes", **last_hour())["profileTypes"]}


@pytest.mark.agent
@FULL
def test_names_of_profiles_of_a_program(start_agent, real):  # noqa: F811
    """What a program pushes goes on by OTLP, to the real server and to an agent: no two profiles become one, and the agent's have the names of a push."""
    receiver, port = Receiver(start_agent), free_port()
    text = RECEIVE.format(port=port, to="otelcol.exporter.otlphttp.endpoint.input, otelcol.exporter.otlphttp.agent.input")
    for name, url in (("endpoint", real.url), ("agent", receiver.url)):
        text += OTLP_HTTP.format(url=url, compression="gzip").replace('"endpoint"', f'"{name}"', 1)
    agent = start_agent(text).wait_ready()
    now_ms = time.time_ns() // 10**6
    for name, (types, period, _) in OF_GO.items():
        body = Pprof(now_ms - 5000, types, period).add("main work", *[TICK] * len(types)).bytes()
        push = push_proto(({"__name__": name, "service_name": "program"}, body))
        assert fetch(f"http://127.0.0.1:{port}{PUSH}", data=push, headers={"Content-Type": "application/proto"})[0] == 200
    wanted = {"real": set(), "agent": set()}
    for name, (types, period, by_otlp) in OF_GO.items():
        wanted["real"] |= {":".join((name, *kind, *by_otlp)) for kind in types}
        wanted["agent"] |= {":".join((name, *kind, *period[:2])) for kind in types}
    wait_until(lambda: agent.metrics().get("pyroscope_write_sent_profiles_total") == 2 * len(OF_GO), 20, "all are sent")
    assert ids(Server(real.url)) == wanted["real"]
    assert ids(receiver.store) == wanted["agent"]


def call(server, body, compressed, *tls, who=""):
    """What curl says of a call by gRPC; over TLS with its arguments for that; `who` is what it says of itself."""
    message = gzip.compress(body) if compressed else body
    done = subprocess.run(
        ["curl", "-siS", "--max-time", "20", *(tls or ["--http2-prior-knowledge"]), "-H", "content-type: application/grpc", "-H", "te: trailers", *(["-H", f"authorization: {who}"] if who else []),
         "-H", f"grpc-encoding: {'gzip' if compressed else 'identity'}", "--data-binary", "@-",
         f"http{'s' if tls else ''}://{server}/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"],
        input=struct.pack(">BI", compressed, len(message)) + message, capture_output=True, check=not tls)
    return done.stdout.decode(errors="replace")


@pytest.mark.agent
def test_grpc_is_as_http(start_agent):
    receiver, now = Receiver(start_agent), time.time_ns()
    begin = now // 10**6 - 3_600_000
    for number, (name, request) in enumerate(LIKE.items()):
        assert "grpc-status: 0" in call(receiver.grpc, otlp.request(now - 5 * 10**9, **request), number % 2), name
    by_grpc = series_of(receiver.store, begin)
    totals = list(totals_of(receiver.store, begin, by_grpc))
    direct = Receiver(start_agent)
    for name, request in LIKE.items():
        assert otlp.post(direct.url, otlp.request(now - 5 * 10**9, **request))[0] == 200, name
    assert series_of(direct.store, begin) == by_grpc and len(by_grpc) == len(LIKE)
    assert list(totals_of(direct.store, begin, by_grpc)) == totals
    assert "grpc-status: 3" in call(receiver.grpc, b"\xff\xff", False)
    m = receiver.agent.metrics()
    assert m.get("xagent_received_profiles_total", format="otlp", transport="grpc") == len(LIKE)
    assert m.get("xagent_received_profiles_total", format="otlp", transport="http") == 0


@pytest.mark.agent
def test_who_has_no_certificate(start_agent, tmp_path):
    """Where a client's certificate can be checked it has to be shown, as the collector has it."""
    certificates(tmp_path)
    receiver = Receiver(start_agent, TLS.format(folder=tmp_path))
    server = ["--http2", "--cacert", tmp_path / "ca.pem"]
    client = ["--cert", tmp_path / "client.pem", "--key", tmp_path / "client.key"]
    body = otlp.request(time.time_ns())
    assert "grpc-status" not in call(receiver.grpc, body, False, *server)
    assert "grpc-status: 0" in call(receiver.grpc, body, False, *server, *client)
    assert receiver.agent.stop() == 0


WITH_PASSWORD = """
pyroscope.store "local" {{ }}
otelcol.auth.basic "who" {{
	username = "u"
	password = "p"
}}
otelcol.auth.bearer "who" {{ token = "{token}" }}
otelcol.receiver.otlp "in" {{
	http {{
		endpoint = "127.0.0.1:{port}"
		auth     = otelcol.auth.basic.who.handler
	}}
	grpc {{
		endpoint = "127.0.0.1:{grpc}"
		auth     = otelcol.auth.bearer.who.handler
	}}
	output {{ profiles = [pyroscope.store.local.receiver] }}
}}
"""
WRONG = "grpc-status: 16"
RIGHT = "grpc-status: 0"


@pytest.mark.agent
def test_who_has_no_password(start_agent):
    """A name and its password over HTTP, a token over gRPC, which becomes another."""
    port, grpc = free_port(), free_port()
    agent = start_agent(WITH_PASSWORD.format(port=port, grpc=grpc, token="one")).wait_ready()
    url, server, body = f"http://127.0.0.1:{port}", f"127.0.0.1:{grpc}", otlp.request(time.time_ns())
    for who, status in (({}, 401), ({"Authorization": "Basic dTp4"}, 401), ({"Authorization": "Bearer one"}, 401), ({"Authorization": "Basic dTpw"}, 200)):
        assert otlp.post(url, body, **who)[0] == status, who
    for who, status in (("", WRONG), ("Basic dTpw", WRONG), ("Bearer two", WRONG), ("Bearer one", RIGHT)):
        assert status in call(server, body, False, who=who), who
    agent.config_path.write_text(WITH_PASSWORD.format(port=port, grpc=grpc, token="two"))
    assert fetch(f"{agent.url}/-/reload")[0] == 200
    wait_until(lambda: RIGHT in call(server, body, False, who="Bearer two"), 10, "the other token is right")
    assert WRONG in call(server, body, False, who="Bearer one")
    assert agent.stop() == 0


# What is refused, and how: (status, words); each is one change of a request that is right.
REFUSED = {
    "garbage": (b"\xff\xff", {}, 400, b"not a request"), "no gzip": (b"abc", {"Content-Encoding": "gzip"}, 400, b"not gzip"),
    "zstd": (b"abc", {"Content-Encoding": "zstd"}, 415, b"gzip or identity"),
    "text": (b"{}", {"Content-Type": "text/json"}, 415, b"Content-Type must be"),
    "no JSON": (b"{", {"Content-Type": "application/json"}, 400, b"line 1"),
}


@pytest.mark.agent
def test_refusals(start_agent):
    receiver = Receiver(start_agent)
    for name, (body, headers, status, words) in REFUSED.items():
        answer = otlp.post(receiver.url, body, **headers)
        assert answer[0] == status and words in answer[1], (name, answer)
    message = otlp.messages.ExportProfilesServiceRequest.FromString(otlp.request(time.time_ns()))
    message.dictionary.stack_table[1].location_indices[0] = 77
    assert otlp.post(receiver.url, message.SerializeToString())[0] == 400
    assert receiver.store.json("GetProfileStats") == {}
    assert otlp.post(receiver.url, otlp.request(time.time_ns()))[0] == 200
    assert receiver.agent.stop() == 0
