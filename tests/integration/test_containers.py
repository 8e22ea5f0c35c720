# SPDX-License-Identifier: Apache-2.0
"""Real containers: whose ticks they are, what they are called, and names from the files that the container sees."""
import re

import pytest

from harness import docker as docker_harness
from harness import paths
from harness.agent import config
from harness.folded import contains_run
from harness.processes import wait_until
from harness.standin import services_with, stacks_of

pytestmark = pytest.mark.bpf

CHAIN = ("main", "alpha", "beta", "gamma", "spin")


@pytest.fixture
def docker(processes, programs):
    reason = docker_harness.why_not()
    if reason:
        pytest.skip(reason)
    daemon = docker_harness.Docker(processes)
    try:
        # The same path in both, and nothing there on the host.
        daemon.image("chain:1", {"/app": programs["chain_static"]})
        daemon.image("deep:1", {"/app": programs["deep_static"]})
        yield daemon
    finally:
        daemon.end()


def test_each_container_has_its_own_labels_and_names(start_agent, standin, docker):
    one, _ = docker.run("chain:1", "/app", "50")
    two, _ = docker.run("chain:1", "/app", "50")
    three, _ = docker.run("deep:1", "/app", "50", "7")
    targets = [{"__container_id__": one, "service_name": "first", "colour": "red"},
               {"__container_id__": two, "service_name": "second"},
               {"__container_id__": three, "service_name": "third"}]
    agent = start_agent(config(standin.url, interval="1s", rate=199, targets=targets, targets_only=True)).wait_ready()
    wait_until(lambda: min(standin.samples(service_name=n) for n in ("first", "second", "third")) >= 50, 20, "all three are profiled")
    assert agent.metrics().value("pyroscope_ebpf_active_targets") == 3
    assert agent.stop() == 0
    pushes = standin.pushes()
    assert set(services_with(pushes, "spin")) == {"first", "second"}
    assert set(services_with(pushes, "deep_spin")) == {"third"}
    for push in standin.pushes(service_name="first"):
        assert push.labels["colour"] == "red" and "__container_id__" not in push.labels
        stacks = {f: n for f, n in stacks_of([push]).items() if "spin" in f}
        assert sum(n for f, n in stacks.items() if contains_run(f, CHAIN)) >= 0.99 * sum(stacks.values()), stacks


def name_of(docker, container):
    return docker._docker("inspect", "-f", "{{.Name}}", container).stdout.decode().strip().lstrip("/")


def test_containers_without_targets_have_their_own_names(start_agent, standin, docker):
    """Nobody has configured anything, and no API is asked: the daemon's records are read. Two containers of a Compose service are one series."""
    container, pid = docker.run("chain:1", "/app", "50")
    name = name_of(docker, container)
    labels = ("--label", "com.docker.compose.project=shop", "--label", "com.docker.compose.service=web")
    for _ in range(2):
        docker._docker("run", "-d", "--network=none", *labels, "chain:1", "/app", "50")
    agent = start_agent(config(standin.url, interval="1s", rate=199)).wait_ready()
    wait_until(lambda: min(standin.samples(service_name=n) for n in (name, "shop/web")) >= 50, 20, "all are profiled")
    assert agent.stop() == 0
    assert "app" not in services_with(standin.pushes(), "alpha")
    for push in standin.pushes(service_name=name):
        assert set(push.labels) == {"__name__", "service_name", "host"}, push.labels
    for push in standin.pushes(service_name="shop/web"):
        assert push.labels["compose_project"] == "shop" and push.labels["compose_service"] == "web"
    shown = docker.processes.run(paths.XAGENT, "inspect", "process", pid).out
    assert re.search(rf"^  service_name +{name}$", shown, re.M), shown
    assert re.search(r"^  service_name_source +container name$", shown, re.M), shown
    assert re.search(r"^  image +chain:1$", shown, re.M), shown


def test_container_that_starts_later(start_agent, standin, docker):
    """Its first ticks already belong to it: the cgroup is known at exec."""
    agent = start_agent(config(standin.url, interval="1s", rate=499)).wait_ready()
    container, _ = docker.run("chain:1", "/app", "2")
    name = name_of(docker, container)
    used = docker.cpu_seconds(container)
    assert agent.stop() == 0
    spins = services_with(standin.pushes(), "spin")
    assert spins.get(name, 0) >= 0.9 * 499 * used, (spins, used)


def test_container_that_nobody_knows(start_agent, standin, docker):
    """Its id would be another series each time that it starts."""
    container, _ = docker.run("chain:1", "/app", "50")
    (docker.dir / "data" / "containers" / container / "config.v2.json").unlink()
    agent = start_agent(config(standin.url, interval="1s", rate=199)).wait_ready()
    wait_until(lambda: standin.samples(service_name="app") >= 50, 20, "the container is profiled")
    assert agent.stop() == 0
    assert not {container, container[:12]} & set(services_with(standin.pushes(), "alpha"))
