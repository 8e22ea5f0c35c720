# SPDX-License-Identifier: Apache-2.0
"""The real server: what the agent pushes can be queried, under the names of the program, and to the last sample."""
import os
import time

import pytest

from harness import pyroscope
from harness.agent import EBPF, ENDPOINT, config
from harness.folded import contains_run
from harness.processes import wait_until

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

RATE = 197
FULL = pytest.mark.skipif(os.environ.get("XAGENT_TEST_MATRIX") != "full", reason="XAGENT_TEST_MATRIX=full has it")
CHAIN = ("alpha", "beta", "gamma", "spin")


@pytest.fixture
def server(processes, tmp_path):
    program, reason = pyroscope.build()
    if reason:
        pytest.skip(reason)
    return pyroscope.Pyroscope(processes, tmp_path, program)


def last_hour(**request):
    now = int(time.time() * 1000)
    return {"start": now - 3_600_000, "end": now + 60_000, **request}


OTLP_HTTP = """
otelcol.exporter.otlphttp "endpoint" {{
	client {{
		endpoint = "{url}"
		compression = "{compression}"
	}}
}}
"""

OTLP_GRPC = """
otelcol.exporter.otlp "endpoint" {{
	client {{
		endpoint = "{url}"
		compression = "{compression}"
	}}
}}
"""


def otlp_config(exporter, url, compression, **arguments):
    """As config(), to an exporter of OTLP in place of pyroscope.write."""
    text = config(url, **arguments)
    head, _, _ = text.partition('\npyroscope.write "')
    kind = exporter.split('"')[0].strip()
    return head.replace("pyroscope.write.endpoint.receiver", f"{kind}.endpoint.input") + exporter.format(url=url, compression=compression)


def profile_until_gone(start_agent, server, process, make_config=config):
    """Profile the process to its end; the samples that are in profiles, all of them sent."""
    text = make_config(server.url, interval="2s", rate=RATE, targets_only=True,
                       targets=[{"__process_pid__": str(process.pid), "service_name": "known_chain", "region": "north"}])
    agent = start_agent(text).wait_ready()
    assert process.wait(30) == 0

    def settled():
        m = agent.metrics()
        waiting = m.agent("samples_received") - m.agent("samples_in_profiles") - m.dropped_samples()
        sent = m.get("pyroscope_write_sent_profiles_total")
        return m if waiting == 0 and sent and sent == m.get("pyroscope_ebpf_pprofs_total") else None
    wait_until(settled, 20, "everything is sent")
    # Its last samples may have lain in the ring at the first look.
    wait_until(settled, 20, "everything is sent")
    m = agent.metrics()
    assert agent.stop() == 0
    return m


def assert_shape(stacks):
    """Nearly all is spinning, and all that spins shows the chain of one thread or the other."""
    total = sum(stacks.values())
    spinning = {f: v for f, v in stacks.items() if "spin" in f}
    assert sum(spinning.values()) >= 0.95 * total, stacks
    for thread in ("thread_a", "thread_b"):
        value = sum(v for f, v in spinning.items() if contains_run(f, (thread, *CHAIN)))
        assert value >= 0.2 * total, stacks
    exact = sum(v for f, v in spinning.items() if contains_run(f, CHAIN))
    assert exact >= 0.99 * sum(spinning.values()), stacks


def test_flame_graph_of_a_known_program(start_agent, server, processes, programs):
    chain = processes.start(programs["chain"], 5, 2)
    chain.wait_for_output("thread_a")
    m = profile_until_gone(start_agent, server, chain)
    expected = m.agent("samples_in_profiles") * (10**9 // RATE)
    assert expected > 0
    selector = {"profileTypeID": pyroscope.CPU, "labelSelector": '{service_name="known_chain"}'}

    flamegraph = server.query("SelectMergeStacktraces", **last_hour(**selector))["flamegraph"]
    assert int(flamegraph["total"]) == expected
    flame = pyroscope.flame_stacks(flamegraph)
    assert sum(flame.values()) == expected
    assert_shape(flame)

    merged = server.query("SelectMergeProfile", **last_hour(**selector))
    stacks = pyroscope.profile_stacks(merged)
    assert sum(stacks.values()) == expected
    assert stacks == flame

    types = server.query("ProfileTypes", **last_hour())
    assert [t["ID"] for t in types["profileTypes"]] == [pyroscope.CPU]
    names = server.query("LabelValues", name="service_name", **last_hour())
    assert names["names"] == ["known_chain"]
    series = server.query("Series", matchers=[], labelNames=[], **last_hour())["labelsSet"]
    labels = {pair["name"]: pair["value"] for pair in series[0]["labels"]}
    assert len(series) == 1 and labels["region"] == "north", series


@FULL
@pytest.mark.parametrize("exporter", [None, OTLP_HTTP], ids=["push", "otlp"])
def test_series_that_become_one(start_agent, server, processes, programs, exporter):
    """Two programs whose labels are equal when a rule has dropped one: each interval has both, to the last sample."""
    chains = [processes.start(programs["chain"], 5, 1) for _ in range(2)]
    for chain in chains:
        chain.wait_for_output("thread_a")
    targets = [{"__process_pid__": str(c.pid), "service_name": "both", "pod": str(i)} for i, c in enumerate(chains)]
    text = config(server.url, interval="1s", rate=RATE, targets_only=True, targets=targets)
    if exporter:
        text = otlp_config(exporter, server.url, "gzip", interval="1s", rate=RATE, targets_only=True, targets=targets)
    receiver = "otelcol.exporter.otlphttp.endpoint.input" if exporter else "pyroscope.write.endpoint.receiver"
    text = text.replace(f"[{receiver}]", "[pyroscope.relabel.one.receiver]") + f"""
pyroscope.relabel "one" {{
	forward_to = [{receiver}]
	rule {{
		action = "labeldrop"
		regex  = "pod"
	}}
}}
"""
    agent = start_agent(text).wait_ready()
    for chain in chains:
        assert chain.wait(30) == 0

    def settled():
        m = agent.metrics()
        waiting = m.agent("samples_received") - m.agent("samples_in_profiles") - m.dropped_samples()
        return waiting == 0 and m.get("pyroscope_write_sent_profiles_total") == m.get("pyroscope_ebpf_pprofs_total") > 0
    for _ in range(2):
        wait_until(settled, 20, "everything is sent")
    expected = agent.metrics().agent("samples_in_profiles") * (10**9 // RATE)
    flamegraph = server.query("SelectMergeStacktraces", **last_hour(
        profileTypeID=pyroscope.CPU, labelSelector='{service_name="both"}'))["flamegraph"]
    assert int(flamegraph["total"]) == expected > 0
    series = server.query("Series", matchers=[], labelNames=[], **last_hour())["labelsSet"]
    assert len(series) == 1, series


@pytest.mark.parametrize("exporter, compression", [
    pytest.param(OTLP_HTTP, "gzip", id="http"),
    pytest.param(OTLP_GRPC, "gzip", id="grpc"),
    pytest.param(OTLP_HTTP, "none", id="http without compression", marks=FULL),
    pytest.param(OTLP_GRPC, "none", id="grpc without compression", marks=FULL),
])
def test_otlp(start_agent, server, processes, programs, exporter, compression):
    """What goes there as OTLP has the names and the sums of what is pushed."""
    chain = processes.start(programs["chain"], 3, 2)
    chain.wait_for_output("thread_a")
    m = profile_until_gone(start_agent, server, chain, lambda url, **arguments: otlp_config(exporter, url, compression, **arguments))
    expected = m.agent("samples_in_profiles") * (10**9 // RATE)
    flamegraph = server.query("SelectMergeStacktraces", **last_hour(
        profileTypeID=pyroscope.CPU, labelSelector='{service_name="known_chain", region="north"}'))["flamegraph"]
    assert int(flamegraph["total"]) == expected > 0
    assert_shape(pyroscope.flame_stacks(flamegraph))
    series = server.query("Series", matchers=[], labelNames=[], **last_hour())["labelsSet"]
    assert len(series) == 1, series
    types = server.query("ProfileTypes", **last_hour())
    assert [t["ID"] for t in types["profileTypes"]] == [pyroscope.CPU]


EVENTS = ("off_cpu", "wall", "locks", "faults", "run_queue", "syscalls", "tcp", "block_io", "rss")


def by_otlp(kind):
    """What the server calls by OTLP what is pushed as this: by the period's type, and without a period by its own."""
    name, sample, unit, period, period_unit = kind.split(":")
    if name == "process_cpu":
        return kind
    if sample == "offcpu":
        return "off_cpu:off_cpu:nanoseconds::"
    period, period_unit = (period, period_unit) if period else (sample, unit)
    return ":".join((period, sample, unit, period, period_unit))


def stacks_of(server, kind, way):
    """Of everything that came this way."""
    merged = server.query("SelectMergeProfile", 60, **last_hour(profileTypeID=kind, labelSelector=f'{{way="{way}"}}'))
    return pyroscope.profile_stacks(merged) if merged.get("sample") else {}


@FULL
@pytest.mark.parametrize("exporter", [OTLP_HTTP, OTLP_GRPC], ids=["http", "grpc"])
def test_otlp_of_every_event(start_agent, server, processes, programs, exporter):
    """The same profiles, pushed and by OTLP: under their names there each stack has the same sum."""
    for name in ("chain", "syscalls"):
        processes.start(programs[name], 60, *([2] if name == "chain" else []))
    events = "".join(f"\t\t{name} {{ }}\n" for name in EVENTS)
    text = EBPF.format(interval="2s", rate=RATE, body=f"\tevents {{\n{events}\t}}\n") + ENDPOINT.format(url=server.url, timeout="5s")
    other = f"otelcol.exporter.{'otlp' if exporter is OTLP_GRPC else 'otlphttp'}.endpoint.input"
    ways = {"push": "pyroscope.write.endpoint.receiver", "otlp": other}
    text = text.replace(f"[{ways['push']}]", "[%s]" % ", ".join(f"pyroscope.relabel.{way}.receiver" for way in ways)) + exporter.format(url=server.url, compression="gzip")
    for way, receiver in ways.items():
        text += f"""
pyroscope.relabel "{way}" {{
	forward_to = [{receiver}]
	rule {{
		target_label = "way"
		replacement  = "{way}"
	}}
}}
"""
    agent = start_agent(text).wait_ready()
    agent.wait_metric(lambda m: m.get("pyroscope_write_sent_profiles_total", component_id="pyroscope.write.endpoint") >= 150, 60, "profiles")
    assert agent.stop() == 0
    assert not agent.log_lines(msg="profiles could not be pushed before the end")
    types = {t["ID"] for t in server.query("ProfileTypes", **last_hour())["profileTypes"]}
    seen = 0
    for kind in sorted(types):
        pushed = stacks_of(server, kind, "push")
        if pushed:
            assert stacks_of(server, by_otlp(kind), "otlp") == pushed, kind
            seen += 1
    assert seen >= 8 and sum(1 for kind in types if stacks_of(server, kind, "otlp")) == seen, types


def test_whole_host_is_accepted(start_agent, server, processes, programs):
    """No profile of the real host is refused by the real server."""
    processes.start(programs["syscalls"], 50)
    agent = start_agent(config(server.url, interval="1s", rate=RATE)).wait_ready()
    m = agent.wait_metric(lambda m: m.get("pyroscope_write_sent_profiles_total") >= 10, 30, "ten profiles sent")
    assert m.get("pyroscope_write_dropped_profiles_total") == 0 and m.get("pyroscope_write_retries_total") == 0
    assert agent.stop() == 0
    flamegraph = server.query("SelectMergeStacktraces", **last_hour(profileTypeID=pyroscope.CPU, labelSelector="{}"))["flamegraph"]
    assert {"reader", "ksys_read", "randomizer"} <= set(flamegraph["names"])
