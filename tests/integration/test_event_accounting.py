# SPDX-License-Identifier: Apache-2.0
"""
What is true of timer ticks is true of each event: it ends in one counter of the kernel half, its samples in a profile or a named cause. In
each scrape: under load, where the ring overflows, and over reloads that change what is sampled. (One within the other:
tests/unit/agent/sample/test_nesting.c.)
"""
import itertools
import signal

import pytest

from harness.agent import config
from harness.processes import wait_until
from test_accounting import TICK_ENDS, counters
from test_reload import reload

pytestmark = pytest.mark.bpf

EVENTS = ("cpu", "tracepoint")
SEEKS = {"seeks": "syscalls:sys_enter_lseek"}
BOTH = {**SEEKS, "sought": "syscalls:sys_exit_lseek"}
# Only an agent with the right to switch accounting on hits it.
NEVER_HIT = {"never": "syscalls:sys_enter_acct"}
KERNEL = counters("bpf/wire.h", "WIRE_COUNTERS")
AGENT = ("samples_received", "samples_in_profiles", "samples_dropped_no_target", "samples_dropped_memory", "samples_dropped_encode",
         "samples_dropped_malformed")


def with_tracepoints(text, tracepoints):
    blocks = "".join(f'\t\ttracepoint "{name}" {{ event = "{event}" }}\n' for name, event in tracepoints.items())
    return text.replace("\n\tsample_rate", f"\n\tevents {{\n{blocks}\t}}\n\tsample_rate", 1)


def kernel(m, name, event):
    return int(m.get(f"xagent_kernel_{name}_total", event=event))


class Watch:
    """Scrapes of one agent: each balances, and no counter goes back or vanishes."""

    def __init__(self, agent):
        self.agent = agent
        self.seen = {}

    def look(self):
        m = self.agent.metrics()
        for event in EVENTS:
            counts = {name: kernel(m, name, event) for name in ("ticks", *TICK_ENDS)}
            assert counts["ticks"] == sum(counts[end] for end in TICK_ENDS), (event, counts)
        assert m.kernel("emitted") >= m.agent("samples_received")
        received = {name: m.agent(name) for name in AGENT}
        assert m.agent("samples_received") == m.agent("samples_in_profiles") + m.dropped_samples() + m.value("xagent_samples_waiting"), received
        assert m.get("pyroscope_ebpf_pprof_samples_total") == m.agent("samples_in_profiles")
        now = {key: value for key, value in m.samples.items()
               if key[0].startswith("xagent_kernel_") or key[0].removeprefix("xagent_").removesuffix("_total") in AGENT}
        for key, value in self.seen.items():
            assert key in now and now[key] >= value, (key, value, now.get(key))
        self.seen = now
        return m

    def until(self, condition, seconds, what):
        def look():
            m = self.look()
            return m if condition(m) else None
        return wait_until(look, seconds, what)

    def read_to_the_end(self):
        """What was emitted has been received."""
        return self.until(lambda m: m.kernel("emitted") == m.agent("samples_received"), 20, "the ring is read to its end")


@pytest.fixture
def load(processes, programs):
    """Computing, processes that live for moments, and hits far beyond the limit."""
    return [processes.start(programs["chain"], 60), processes.start(programs["shortlived"], 60, programs["tiny"]),
            processes.start(programs["seeker"], "2000000000", "0"), processes.start(programs["seeker"], "2000000000", "0")]


def test_under_load(start_agent, standin, load):
    """Some of them in targets, so that ends of every kind occur."""
    targets = [{"__process_pid__": str(load[i].pid), "service_name": f"s{i}"} for i in (0, 2)]
    text = config(standin.url, interval="1s", rate=997, targets=targets, targets_only=True)
    watch = Watch(start_agent(with_tracepoints(text, BOTH)).wait_ready())
    m = watch.until(lambda m: all(kernel(m, "emitted", event) >= 3000 for event in EVENTS), 30, "samples of both events")
    for _ in range(100):
        m = watch.look()
    for event in EVENTS:
        assert kernel(m, "refused", event) > 0 and kernel(m, "refused", event) <= kernel(m, "filtered", event)
    assert kernel(m, "thinned", "tracepoint") > 0 and kernel(m, "thinned", "cpu") == 0
    assert kernel(m, "idle", "tracepoint") == 0
    watch.read_to_the_end()
    assert watch.agent.stop() == 0


def test_ring_that_overflows(start_agent, standin, processes, load):
    """A stopped agent reads nothing; each event that finds the ring full is `lost`, of its own kind, and the hits are in the next sample's sum."""
    text = config(standin.url, interval="1s", rate=997, memory_limit="8MiB")
    watch = Watch(start_agent(with_tracepoints(text, BOTH)).wait_ready())
    watch.until(lambda m: all(kernel(m, "emitted", event) > 0 for event in EVENTS), 20, "samples of both events")
    # How fast the ring fills is a matter of how much CPU the programs get.
    for _ in range(10):
        watch.agent.process.send(signal.SIGSTOP)
        processes.run("sleep", 2)
        watch.agent.process.send(signal.SIGCONT)
        m = watch.look()
        if all(kernel(m, "lost", event) > 0 for event in EVENTS):
            break
    assert all(kernel(m, "lost", event) > 0 for event in EVENTS), [kernel(m, "lost", event) for event in EVENTS]
    assert m.kernel("lost_nested") == 0
    for process in load:
        process.end()
    watch.read_to_the_end()
    assert watch.agent.stop() == 0


def test_reloads(start_agent, standin, processes, programs):
    """Rates and tracepoints come and go, a session after the other, while there is something to sample; each second one cannot begin."""
    burner, seeker = processes.start(programs["chain"], 60), processes.start(programs["seeker"], "2000000000", "0", "2000")
    targets = [{"__process_pid__": str(p.pid), "service_name": "known"} for p in (burner, seeker)]
    rates = itertools.cycle((97, 199, 499))

    def text(tracepoints):
        return with_tracepoints(config(standin.url, interval="1s", rate=next(rates), targets=targets, targets_only=True), tracepoints)
    watch = Watch(start_agent(text({})).wait_ready())
    agent = watch.agent
    assert not [1 for labels, _ in watch.look().series("xagent_kernel_ticks_total") if labels["event"] == "tracepoint"]
    for i, tracepoints in enumerate([SEEKS, SEEKS, BOTH, NEVER_HIT, {}, {}, SEEKS]):
        before = watch.look()
        reload(agent, text(tracepoints), i % 2)
        for event in EVENTS if "seeks" in tracepoints else ("cpu",):
            watch.until(lambda m, e=event: kernel(m, "emitted", e) >= kernel(before, "emitted", e) + 100, 20, f"samples of {event}")
        agent.config_path.write_text(text({"none": "syscalls:sys_enter_nonsense"}))
        # Refused as a whole, and the session before goes on.
        status, answer = agent.get("/-/reload")[:2]
        assert status == 400 and "this kernel has no tracepoint syscalls:sys_enter_nonsense; available_events in /sys/kernel/tracing lists all" in answer
        assert agent.get("/-/healthy")[0] == 200
        watch.look()
    burner.end()
    seeker.end()
    m = watch.read_to_the_end()
    assert kernel(m, "lost", "cpu") == kernel(m, "lost", "tracepoint") == 0
    assert agent.stop() == 0
    assert {p.labels["__name__"] for p in standin.pushes()} == {"process_cpu", *BOTH}


def test_an_event_is_told_of_before_it_comes(start_agent, standin):
    """rate() would not see what came before the first scrape that has the counter."""
    agent = start_agent(config(standin.url)).wait_ready()
    assert {labels["event"] for labels, _ in agent.metrics().series("xagent_kernel_ticks_total")} == {"cpu"}
    reload(agent, with_tracepoints(config(standin.url, rate=199), NEVER_HIT), False)
    m = agent.metrics()
    for name in KERNEL:
        assert [v for labels, v in m.series(f"xagent_kernel_{name}_total") if labels["event"] == "tracepoint"] == [0], name
    limits = {labels["event"]: value for labels, value in m.series("xagent_sample_limit_hz")}
    assert limits == {"cpu": 199, "tracepoint": 1000}
    # The limit of one is its own; told of is the largest.
    slow = with_tracepoints(config(standin.url, rate=199), NEVER_HIT).replace('" }\n', '"\n\t\t\tsample_rate = 50\n\t\t}\n', 1)
    reload(agent, slow, False)
    limits = {labels["event"]: value for labels, value in agent.metrics().series("xagent_sample_limit_hz")}
    assert limits == {"cpu": 199, "tracepoint": 50}
    reload(agent, config(standin.url), False)
    limits = {labels["event"]: value for labels, value in agent.metrics().series("xagent_sample_limit_hz")}
    assert limits == {"cpu": 97, "tracepoint": 0}
    assert agent.stop() == 0
