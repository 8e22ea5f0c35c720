# SPDX-License-Identifier: Apache-2.0
"""
Reloads under load: no tick is lost or counted twice, whatever changes, and nothing is left behind by them.

The load burns a known amount of CPU time. At each rate a tick is worth its own period, so the sum of all pushed values is that time however
often the rate changes.
"""
import itertools
import os
import re
import signal
import time

import pytest

from harness.agent import config
from harness.processes import wait_until
from test_accounting import at_rest, assert_samples_balance, assert_ticks_balance

pytestmark = pytest.mark.bpf

RELOADS = 200
WARM_UP = 20
# Connections come and go with scrapes and pushes. One descriptor left behind by every tenth reload would be seen.
FDS_UNDER_WAY = RELOADS // 10
MIB = 1 << 20
# Of 200 reloads that each lose one page; malloc's own waste stays below it.
GROWTH_BYTES = 3 * MIB

# What changes from one reload to the next; the rest stays.
CHANGES = [dict(rate=97), dict(rate=199), dict(rate=199, demangle="full"), dict(rate=97, interval="1s"), dict(rate=97, interval="3s"),
           dict(rate=97, targets=[{"__process_pid__": "1", "service_name": "init"}]), dict(rate=97, collect_kernel_profile=False)]


def is_of_another(target, seen):
    """One of a file or of a live process is what the agent works with, and how many there are is theirs to say: another one of the same is not."""
    process = re.match(r"/proc/(\d+)", target)
    return target not in seen and (os.path.exists(process[0]) if process else target.startswith("/"))


def descriptors(agent):
    """kind → how many: "bpf-map", "file" … Processes of the host come and go: one descriptor of each file and each process is not counted."""
    kinds, seen = {}, set()
    folder = f"/proc/{agent.process.pid}/fd"
    for name in os.listdir(folder):
        try:
            target = os.readlink(f"{folder}/{name}")
        except FileNotFoundError:
            continue
        kind = target.split(":")[-1].strip("[]") if "anon_inode" in target else "socket" if "socket" in target else "file"
        if kind == "file" and is_of_another(target, seen):
            seen.add(target)
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
    return kinds


def private_bytes(agent):
    text = open(f"/proc/{agent.process.pid}/smaps_rollup").read()
    return 1024 * int(re.search(r"^Anonymous:\s+(\d+) kB", text, re.MULTILINE)[1])


def reload(agent, text, by_signal):
    agent.config_path.write_text(text)
    if by_signal:
        before = len(agent.log_lines(msg="config reloaded"))
        agent.process.send(signal.SIGHUP)
        wait_until(lambda: len(agent.log_lines(msg="config reloaded")) > before, 10, "the reload")
    else:
        status, body = agent.get("/-/reload")
        assert status == 200, body


def variants(url):
    common = dict(interval="2s")
    for i in itertools.count():
        change = {**common, **CHANGES[i % len(CHANGES)]}
        # The same again, but for what a person sees.
        yield config(url, **change)
        yield "// said differently\n\n" + config(url, **change)


@pytest.fixture
def burners(processes, programs):
    """Both CPUs are busy all the time."""
    started = [processes.start(programs["chain"], 120) for _ in range(os.cpu_count())]
    for process in started:
        process.wait_for_output("main")
    return started


def cpu_ns(processes):
    """What they have used so far."""
    ticks = 0
    for process in processes:
        fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks * 10**9 // os.sysconf("SC_CLK_TCK")


def test_many_reloads(start_agent, standin, burners, capsys):
    texts = variants(standin.url)
    agent = start_agent(next(texts)).wait_ready()
    for i in range(WARM_UP):
        reload(agent, next(texts), i % 5 == 0)
    before, memory = descriptors(agent), private_bytes(agent)
    for i in range(RELOADS):
        reload(agent, next(texts), i % 10 == 0)
        if i % 20 == 0:
            m = agent.metrics()
            assert_ticks_balance(m)
            assert_samples_balance(m)
    # Back to where the first descriptors were counted.
    reload(agent, config(standin.url), False)
    m = wait_until(lambda: at_rest(agent, standin), 20, "what is pushed is what is in profiles")
    assert_ticks_balance(m)
    assert m.kernel("lost") == 0 and m.dropped_samples() - m.agent("samples_dropped_no_target") == 0
    after, grown = descriptors(agent), private_bytes(agent) - memory
    with capsys.disabled():
        print(f"\n    {RELOADS} reloads: descriptors {before} → {after}, memory {memory / MIB:.1f} + {grown / MIB:.2f} MiB")
    for kind in before | after:
        assert after.get(kind, 0) <= before.get(kind, 0) + FDS_UNDER_WAY, (kind, before, after)
    assert after.get("bpf-map", 0) == before.get("bpf-map", 0)
    assert grown < GROWTH_BYTES
    assert agent.stop() == 0


def test_time_is_neither_lost_nor_doubled(start_agent, standin, burners):
    """The values of two processes' profiles add up to their CPU time, over changes of everything that a reload can change."""
    targets = [{"__process_pid__": str(p.pid), "service_name": "known"} for p in burners]
    rates = itertools.cycle([97, 199, 499])

    def text(**more):
        return config(standin.url, rate=next(rates), targets=targets, targets_only=True, **more)
    agent = start_agent(text(interval="1s")).wait_ready()
    standin.wait_pushes()
    # The first push ended an interval; the agent counts from its start on, which was a moment before.
    begin_ns, begin_value = cpu_ns(burners), sum(p.profile.total for p in standin.pushes())
    for more in 4 * [dict(interval="1s"), dict(interval="2s"), dict(interval="1s", demangle="full"), dict(interval="1s", collect_kernel_profile=False)]:
        agent.config_path.write_text(text(**more))
        assert agent.get("/-/reload")[0] == 200
        time.sleep(0.5)
    used = cpu_ns(burners) - begin_ns
    assert agent.stop() == 0
    value = sum(p.profile.total for p in standin.pushes()) - begin_value
    # An interval of what was being pushed when it began, and the time it takes to stop.
    assert 0.93 * used <= value <= 1.0 * used + 1.5e9 * len(burners), (value, used)
    assert {p.profile.period for p in standin.pushes()} == {10**9 // rate for rate in (97, 199, 499)}
    for push in standin.pushes():
        assert all(s.values[0] % push.profile.period == 0 for s in push.profile.samples)


def test_what_did_not_change_is_not_touched(start_agent, standin, burners):
    """The same blocks in another order, with other comments and another logging level: no component is evaluated anew."""
    agent = start_agent(config(standin.url)).wait_ready()
    agent.wait_metric(lambda m: m.agent("samples_received") > 100, 15, "samples")
    before = descriptors(agent)
    blocks = re.split(r"\n(?=[a-z])", config(standin.url, level="debug"))
    for _ in range(3):
        reload(agent, "\n// another order\n" + "\n\n".join(reversed(blocks)), False)
    assert descriptors(agent).get("bpf-map") == before.get("bpf-map")
    assert not [line for line in agent.log_lines(msg="profiling this host")][1:]
    m = agent.metrics()
    assert m.value("pyroscope_ebpf_profiling_sessions_failing_total") == 0
    assert agent.stop() == 0
