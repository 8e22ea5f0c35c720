# SPDX-License-Identifier: Apache-2.0
"""
pyroscope.scrape and a Go service with net/http/pprof: what arrives is what the service counts, a hundred targets are asked at moments of their own,
and targets that answer as nobody should hold none of the others.
"""
import json
import os
import shutil
import subprocess
import time
import urllib.request

import pytest

from harness import paths, pprof, pyroscope
from harness.agent import AUTH, ENDPOINT, fetch, river
from harness.processes import free_port, wait_until

pytestmark = [pytest.mark.agent, pytest.mark.beside]

N_FLEET = 100
FLEET_INTERVAL_S = 2
# What each answers, and what is said of it.
HOSTILE = {"endless": "the answer is larger than 8 MiB", "hung": "", "slow": "", "page": "look at it with a browser",
           "page_as_bytes": "not a profile in the format of pprof: <!DOCTYPE html>", "around": "redirect",
           "bomb": "the profile unpacks to more than 16 MiB", "forged": "not a profile in the format of pprof", "cut": "",
           "in_use": "HTTP status 500: Could not enable CPU profiling: cpu profiling already in use"}
KINDS = ("memory", "block", "goroutine", "mutex", "process_cpu")
SCRAPE = """
pyroscope.scrape "{name}" {{
	targets         = {targets}
	forward_to      = [pyroscope.write.endpoint.receiver]
	scrape_interval = "{interval}s"
	scrape_timeout  = "2s"
	{more}

	profiling_config {{
{profiles}	}}
}}
"""


def scrape(name, targets, interval, kinds, more=""):
    off = "".join(f"\t\tprofile.{kind} {{\n\t\t\tenabled = false\n\t\t}}\n" for kind in KINDS if kind not in kinds)
    return SCRAPE.format(name=name, targets=river(targets), interval=interval, profiles=off, more=more)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not os.path.exists(go):
        pytest.skip("no Go")
    built = tmp_path_factory.mktemp("scrape") / "target"
    result = subprocess.run([go, "build", "-o", built, paths.TESTS / "scrape" / "target.go"], capture_output=True, text=True, check=False,
                            env={**os.environ, "GO111MODULE": "off", "GOFLAGS": ""})
    assert result.returncode == 0, result.stderr
    return built


@pytest.fixture
def start_service(processes, program):
    """Start a Go service: its address. `busy`: it has something to profile."""
    def start(*busy):
        address = f"127.0.0.1:{free_port()}"
        processes.start(program, address, *busy).wait_for_output("listening")
        return address
    return start


def within(profile, function):
    """Sums of all values of the stacks in which the function is."""
    sums = [0] * len(profile.sample_types)
    for sample in profile.samples:
        if function in sample.frames:
            sums = [a + b for a, b in zip(sums, sample.values)]
    return sums


def arrived(standin, kind, function):
    pushes = standin.pushes(service_name="shop", __name__=kind)
    return [sum(values) for values in zip(*(within(p.profile, function) for p in pushes))]


def counted(service, path, function):
    with urllib.request.urlopen(f"http://{service}/debug/pprof/{path}", timeout=10) as answer:
        return within(pprof.parse(answer.read()), function)


# Kind → path, a function that has done nothing before the first scrape, how many of its values are counts.
COUNTS = {"memory": ("allocs", "main.allocate", 2), "mutex": ("mutex", "main.contend", 2), "block": ("block", "main.receive", 2)}


def totals(standin, service):
    """What the service has counted so far of each kind: all of it has arrived, no more."""
    def equal():
        for kind, (path, function, n) in COUNTS.items():
            if arrived(standin, kind, function)[:n] != counted(service, path, function)[:n]:
                return None
        return {kind: counted(service, path, function)[:n] for kind, (path, function, n) in COUNTS.items()}
    return wait_until(equal, 20, "differences that sum up to what the service counts")


def latest(standin, kind):
    return standin.pushes(service_name="shop", __name__=kind)[-1]


def test_profiles_of_a_service(start_agent, standin, start_service):
    service = start_service("busy")
    target = {"__address__": service, "service_name": "shop"}
    agent = start_agent(scrape("go", [target], 1, KINDS[:4]) +
                        scrape("cpu", [target], 3, ["process_cpu"], 'delta_profiling_duration = "2s"') +
                        ENDPOINT.format(url=standin.url, timeout="5s")).wait_ready()
    agent.wait_metric(lambda m: m.get("xagent_scrapes_total", component_id="pyroscope.scrape.go", result="ok") >= 4, 20, "each profile once")
    for n in (20, 30):
        assert fetch(f"http://{service}/work?n={n}", 30)[0] == 200
        now = totals(standin, service)
    assert now["memory"] == [50, 50 * 1024] and now["mutex"][0] == 50 and now["block"][0] == 50
    wait_until(lambda: standin.pushes(service_name="shop", __name__="process_cpu"), 20, "CPU time")

    memory = latest(standin, "memory")
    assert memory.labels == {"__name__": "memory", "__delta__": "false", "service_name": "shop", "job": "pyroscope.scrape.go", "instance": service}
    assert memory.profile.sample_types == [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]
    assert within(memory.profile, "main.allocate")[2:] == [50, 50 * 1024]
    assert latest(standin, "mutex").profile.sample_types == [("contentions", "count"), ("delay", "nanoseconds")]
    goroutine = latest(standin, "goroutine")
    assert goroutine.profile.sample_types == [("goroutine", "count")] and within(goroutine.profile, "main.park") == [50]
    assert goroutine.labels == {"__name__": "goroutine", "service_name": "shop", "job": "pyroscope.scrape.go", "instance": service}
    cpu = latest(standin, "process_cpu")
    assert cpu.profile.sample_types == [("samples", "count"), ("cpu", "nanoseconds")] and cpu.profile.period_type == ("cpu", "nanoseconds")
    ticks, nanoseconds = within(cpu.profile, "main.burn")
    assert ticks > 0 and nanoseconds == ticks * cpu.profile.period and cpu.profile.duration_nanos > 1.5e9


def rows_of(agent, name):
    """Each target, as the component tells of it: url → attributes."""
    status, body = agent.get_authorized(f"/api/v0/web/components/pyroscope.scrape.{name}")
    assert status == 200, body
    (targets,) = [item["value"]["value"] for item in json.loads(body)["debugInfo"] if item["name"] == "target"]
    rows = [{field["key"]: field["value"].get("value") for field in row["value"]} for row in targets]
    return {row["url"]: row for row in rows}


def test_a_hundred_targets_and_hostile_ones(start_agent, standin, start_service):
    service = start_service()
    fleet = [{"__address__": service, "service_name": f"fleet-{i}", "__profile_path__": f"/seen/{i}"} for i in range(N_FLEET)]
    hostile = [{"__address__": service, "service_name": kind, "__profile_path__": f"/hostile/{kind}"} for kind in HOSTILE]
    nobody = {"__address__": "127.0.0.1:1", "service_name": "nobody"}
    agent = start_agent(scrape("fleet", [*hostile, nobody, *fleet], FLEET_INTERVAL_S, ["goroutine"]) + AUTH +
                        ENDPOINT.format(url=standin.url, timeout="5s")).wait_ready()
    n_down = len(hostile) + 1

    def ready(m):
        return m.get("xagent_scrape_targets", health="down") == n_down and m.get("xagent_scrape_targets", health="up") == N_FLEET
    m = agent.wait_metric(ready, 20, "each target has been asked")
    wait_until(lambda: len({p.labels["service_name"] for p in standin.pushes()}) == N_FLEET, 20, "a profile of each service")
    assert {p.labels["service_name"] for p in standin.pushes()} == {t["service_name"] for t in fleet}
    for result in ("too_large", "timeout", "no_profile", "broken", "status", "unreachable"):
        assert m.get("xagent_scrapes_total", result=result) > 0, result
    assert m.get("xagent_scrapes_total", result="held_bytes") == m.get("xagent_scrapes_total", result="memory") == 0

    rows = rows_of(agent, "fleet")
    assert len(rows) == N_FLEET + n_down
    for kind, said in HOSTILE.items():
        row = rows[f"http://{service}/hostile/{kind}"]
        assert row["health"] == "down" and row["last_error"] and said in row["last_error"], row
    assert "cannot connect to 127.0.0.1:1" in rows["http://127.0.0.1:1/debug/pprof/goroutine"]["last_error"]

    # Each quarter of an interval has some of them.
    moments = json.loads(fetch(f"http://{service}/moments")[1])
    quarters = [0] * 4
    for first in (times[0] for times in moments.values()):
        quarters[int(first % FLEET_INTERVAL_S / FLEET_INTERVAL_S * 4)] += 1
    assert min(quarters) >= N_FLEET // 20, quarters
    agent.stop()


TYPES = {"memory:alloc_objects:count:space:bytes", "memory:alloc_space:bytes:space:bytes", "memory:inuse_objects:count:space:bytes",
         "memory:inuse_space:bytes:space:bytes", "mutex:contentions:count:contentions:count", "mutex:delay:nanoseconds:contentions:count",
         "block:contentions:count:contentions:count", "block:delay:nanoseconds:contentions:count", "goroutine:goroutine:count:goroutine:count",
         "process_cpu:cpu:nanoseconds:cpu:nanoseconds", "process_cpu:samples:count:cpu:nanoseconds"}


def shown(server, kind, function):
    """What a flame graph of the last ten minutes has of the function."""
    now = int(time.time() * 1000)
    graph = server.query("SelectMergeStacktraces", profileTypeID=kind, labelSelector='{service_name="shop"}', start=now - 600_000,
                         end=now + 60_000, maxNodes=0)["flamegraph"]
    stacks = pyroscope.flame_stacks(graph) if int(graph.get("total", 0)) else {}
    return sum(value for frames, value in stacks.items() if function in frames)


@pytest.mark.skipif(os.environ.get("XAGENT_TEST_MATRIX") != "full", reason="XAGENT_TEST_MATRIX=full has it")
def test_servers_show_what_the_service_counts(start_agent, start_service, processes, tmp_path):
    """The real server, and the agent's own store."""
    program = paths.BUILD / "pyroscope" / "pyroscope"
    if not program.exists():
        pytest.skip(f"no {program}: tests/pyroscope/build.sh builds it")
    real = pyroscope.Pyroscope(processes, tmp_path, program)
    service = start_service("busy")
    target = {"__address__": service, "service_name": "shop"}
    text = scrape("go", [target], 3, KINDS, 'delta_profiling_duration = "2s"') + ENDPOINT.format(url=real.url, timeout="5s")
    text = text.replace("[pyroscope.write", "[pyroscope.store.here.receiver, pyroscope.write")
    agent = start_agent(text + 'pyroscope.store "here" { }\n').wait_ready()
    agent.wait_metric(lambda m: m.get("xagent_scrapes_total", result="ok") >= 5, 20, "each profile once")
    assert fetch(f"http://{service}/work?n=40", 30)[0] == 200
    for server in (real, pyroscope.Querier(agent.url)):
        for kind, function, expected in (("memory:alloc_objects:count:space:bytes", "main.allocate", 40),
                                         ("memory:alloc_space:bytes:space:bytes", "main.allocate", 40 * 1024),
                                         ("mutex:contentions:count:contentions:count", "main.contend", 40),
                                         ("block:contentions:count:contentions:count", "main.receive", 40)):
            wait_until(lambda s=server, k=kind, f=function, e=expected: shown(s, k, f) == e, 30, f"{expected} of {kind} at {server.url}")
        wait_until(lambda s=server: shown(s, "process_cpu:cpu:nanoseconds:cpu:nanoseconds", "main.burn") > 0, 20, "CPU time")
        now = int(time.time() * 1000)
        answer = server.query("ProfileTypes", start=now - 600_000, end=now + 60_000)
        assert {t["ID"] for t in answer["profileTypes"]} == TYPES
