# SPDX-License-Identifier: Apache-2.0
"""What events may cost: they get fewer samples, sums stay right, and what was not looked at is counted. In counts, not in times."""
import pytest

from harness.agent import config
from harness.processes import wait_until
from test_event_accounting import SEEKS, kernel, with_tracepoints

pytestmark = pytest.mark.bpf

N_SEEKS = 400000


def test_a_flood_within_a_budget(start_agent, standin, processes, programs):
    """A limit that nothing can keep: the fewest samples there are, which stand for all hits."""
    text = with_tracepoints(config(standin.url, interval="1s", rate=97), SEEKS)
    text = text.replace("\n\tsample_rate", "\n\tevent_cpu_limit = 0.00001\n\tsample_rate", 1)
    agent = start_agent(text).wait_ready()
    before = processes.start(programs["seeker"], "2000000000", "0")
    m = agent.wait_metric(lambda m: m.value("xagent_sample_limit_hz", event="tracepoint") == 10, 20, "fewer samples")
    assert m.value("xagent_sample_limit_hz", event="cpu") == 97
    for event in ("cpu", "tracepoint"):
        assert m.value("xagent_event_hits_per_second", event=event) > 0
        cost = m.value("xagent_event_hits_per_second", event=event) * m.value("xagent_event_hit_seconds", event=event)
        assert abs(m.value("xagent_event_cpu_ratio", event=event) - cost) < 0.001 * cost
    before.end()
    seeker = processes.start(programs["seeker"], str(N_SEEKS), "0")
    assert seeker.wait(60) == 0

    def hits():
        return sum(s.values[0] for p in standin.pushes() if p.labels["__name__"] == "seeks" and p.labels["service_name"].endswith("seeker")
                   for s in p.profile.samples)

    def all_hits(m):
        """Those that a sample has not told of yet are the CPUs' last ones."""
        return m.value("xagent_kernel_ticks_total", event="tracepoint")
    m = wait_until(lambda: (lambda m: m if m.kernel("emitted") == m.agent("samples_received") and m.value("xagent_samples_waiting") < 50 else None)(
        agent.metrics()), 20, "all is pushed")
    ends = {name: kernel(m, name, "tracepoint") for name in ("emitted", "filtered", "lost", "idle")}
    assert sum(ends.values()) == all_hits(m), ends
    assert kernel(m, "thinned", "tracepoint") > 0.9 * all_hits(m)
    wait_until(lambda: hits() > 0.9 * all_hits(m), 20, "hits in profiles")
    assert hits() <= agent.metrics().value("xagent_kernel_ticks_total", event="tracepoint")
    assert "what an event costs" in agent.process.err and "an event has fewer samples" in agent.process.err
    assert agent.stop() == 0
