# SPDX-License-Identifier: Apache-2.0
"""Nothing is lost without a name: every tick ends in one counter of the kernel half, every sample in a profile or in a named cause."""
import os
import re
import signal
import time

import pytest

from harness import paths
from harness.agent import config
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

TICK_ENDS = ("emitted", "idle", "filtered", "lost")
RATE = 997
PERIOD_NS = 10**9 // RATE


def assert_ticks_balance(m):
    ended = sum(m.kernel(name) for name in TICK_ENDS)
    assert m.kernel("ticks") == ended, {n: m.kernel(n) for n in ("ticks", *TICK_ENDS)}


def waiting_samples(m):
    """Samples that are in no profile yet and in no named cause."""
    return m.agent("samples_received") - m.agent("samples_in_profiles") - m.dropped_samples()


def assert_samples_balance(m):
    assert waiting_samples(m) >= 0, vars(m)
    # What is emitted and not received lies in the ring.
    assert m.kernel("emitted") >= m.agent("samples_received")


def at_rest(agent, standin):
    """The metrics of a moment at which all that is in profiles has been pushed, or None."""
    before = agent.metrics()
    pushed = standin.samples()
    after = agent.metrics()
    in_profiles = before.agent("samples_in_profiles")
    return after if in_profiles and in_profiles == pushed == after.agent("samples_in_profiles") else None


@pytest.fixture
def load(processes, programs):
    """What a host does: computing, system calls, short processes."""
    started = [processes.start(programs["chain"], 50), processes.start(programs["syscalls"], 50),
               processes.start(programs["shortlived"], 50, programs["tiny"])]
    started[0].wait_for_output("main")
    return started


# What a healthy host never brings about, even under load.
NEVER = ("samples_dropped_malformed", "samples_dropped_memory", "samples_dropped_encode", "sideband_malformed", "sideband_lost",
         "process_evictions", "mapping_table_full", "symbol_cache_evictions", "labels_dropped", "targets_rejected",
         "push_queue_dropped_profiles", "push_queue_dropped_bytes")


def assert_parts_fit(m):
    """Counters that count some of what others count."""
    assert m.kernel("cold_limited") + m.kernel("cold_copy_errors") <= m.kernel("cold") <= m.kernel("ticks")
    assert m.kernel("cfi_frames") > 0 and m.kernel("mapping_searches") > 0 and m.kernel("window_fills") > 0
    assert m.kernel("kernel_stack_errors") <= m.kernel("ticks")
    assert m.agent("samples_stale_mapping") <= m.agent("samples_received")


def test_whole_host(start_agent, standin, load):
    agent = start_agent(config(standin.url, interval="4s", rate=199)).wait_ready()
    for round_ in (1, 2, 3):
        agent.wait_metric(lambda m: m.kernel("ticks") >= round_ * 500, 15, "ticks")
        m = agent.metrics()
        assert_ticks_balance(m)
        assert_samples_balance(m)
    m = wait_until(lambda: at_rest(agent, standin), 20, "what is pushed is what is in profiles")
    assert m.kernel("lost") == 0
    assert {name: m.agent(name) for name in NEVER} == dict.fromkeys(NEVER, 0)
    assert_parts_fit(m)
    assert agent.stop() == 0
    # What was waiting at the last look has been flushed, and each push is a whole number of ticks.
    assert standin.samples() >= m.agent("samples_received") - m.dropped_samples()
    for push in standin.pushes():
        assert push.profile.period == 10**9 // 199
        assert all(s.values[0] > 0 and s.values[0] % push.profile.period == 0 for s in push.profile.samples)


def test_what_targets_leave_out_is_counted(start_agent, standin, load):
    """Ticks of processes without a target end in `filtered` or in samples_dropped_no_target, not in a profile."""
    chain = load[0]
    text = config(standin.url, interval="1s", rate=199, targets_only=True,
                  targets=[{"__process_pid__": str(chain.pid), "service_name": "known"}])
    agent = start_agent(text).wait_ready()
    agent.wait_metric(lambda m: m.agent("samples_in_profiles") >= 300, 20, "300 samples")
    m = wait_until(lambda: at_rest(agent, standin), 20, "what is pushed is what is in profiles")
    assert m.kernel("filtered") + m.agent("samples_dropped_no_target") > 0
    assert_ticks_balance(m)
    assert_samples_balance(m)
    assert {p.labels["service_name"] for p in standin.pushes()} == {"known"}
    assert agent.stop() == 0


def test_idle_ticks_are_counted(start_agent, standin):
    agent = start_agent(config(standin.url, interval="1s")).wait_ready()
    m = agent.wait_metric(lambda m: m.kernel("ticks") >= 200, 15, "200 ticks")
    assert_ticks_balance(m)
    assert agent.stop() == 0


def test_every_scrape_balances(start_agent, standin, load):
    """Also those that come while a tick is under way."""
    agent = start_agent(config(standin.url, interval="1s", rate=RATE)).wait_ready()
    before = dict.fromkeys(("ticks", "ticks_missed", *TICK_ENDS), 0)
    for _ in range(1000):
        m = agent.metrics("xagent_kernel_")
        assert_ticks_balance(m)
        now = {name: m.kernel(name) for name in before}
        assert all(now[name] >= before[name] for name in before), (before, now)
        before = now
    assert before["emitted"] > 1000
    assert agent.stop() == 0


def look(agent):
    """(a clock before, ticks that came, ticks that were due, the clock after) of one scrape."""
    begun = time.monotonic_ns()
    m = agent.metrics()
    return begun, m.kernel("ticks"), m.kernel("ticks") + m.kernel("ticks_missed"), time.monotonic_ns()


def test_ticks_that_never_came_are_counted(start_agent, standin, processes, programs):
    """Rate × time × CPUs is what came and what was missed: here each second tick of one CPU, which finds a BPF map being changed."""
    agent = start_agent(config(standin.url, interval="1s", rate=RATE)).wait_ready()
    before, came, due, after = look(agent)
    processes.run(programs["bigmap"], 3, sorted(os.sched_getaffinity(0))[0])
    before_2, came_2, due_2, after_2 = look(agent)
    came, due = came_2 - came, due_2 - due
    cpus = os.sysconf("SC_NPROCESSORS_ONLN")
    # A tick may be under way, and another one is not yet called missed: for each CPU, at each of both looks.
    slack = 3 * cpus
    assert (before_2 - after) // PERIOD_NS * cpus - slack <= due <= (after_2 - before) // PERIOD_NS * cpus + slack
    assert due - came >= 100, (came, due)
    assert agent.stop() == 0


def test_ring_that_overflows_counts_what_is_lost(start_agent, standin, processes, programs):
    """A stopped agent reads no samples: the ring fills, and the ticks that find it full are `lost`."""
    for depth in (900, 901):
        processes.start(programs["deep"], 100, depth).wait_for_output("main")
    agent = start_agent(config(standin.url, interval="2s", rate=997)).wait_ready()
    agent.wait_metric(lambda m: m.agent("samples_received") > 0, 10, "samples")
    # How fast the ring fills is a matter of how much CPU the programs get.
    for _ in range(5):
        agent.process.send(signal.SIGSTOP)
        processes.run("sleep", 4)
        agent.process.send(signal.SIGCONT)
        m = agent.metrics()
        if m.kernel("lost") > 0:
            break
    assert m.kernel("lost") > 0
    assert_ticks_balance(m)
    assert_samples_balance(m)
    wait_until(lambda: at_rest(agent, standin), 20, "what is pushed is what is in profiles")
    assert agent.get("/-/ready")[0] == 200
    assert agent.stop() == 0


def test_every_counter_is_exported_from_zero_on(start_agent, standin):
    """A cause that has never occurred is 0 in /metrics, so that an alert on it can be written."""
    m = start_agent(config(standin.url)).wait_ready().metrics()
    for name in counters("bpf/wire.h", "WIRE_COUNTERS"):
        assert m.kernel(name) >= 0
    for name in counters("agent/telemetry/telemetry.h", "TELEMETRY_COUNTERS"):
        assert m.agent(name) >= 0
    for name in m.names():
        assert m.types.get(name) != "counter" or name.endswith("_total"), name


def counters(header, table):
    """The names in an X-list of a header."""
    text = (paths.TOP / header).read_text()
    body = re.search(rf"#define {table}\(X\)(.*?)\n\n", text, re.DOTALL)[1]
    names = re.findall(r"X\((\w+),", body)
    assert names
    return names
