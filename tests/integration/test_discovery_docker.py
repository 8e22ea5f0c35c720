# SPDX-License-Identifier: Apache-2.0
"""discovery.docker with a real daemon: whose samples they are while containers start, stop, are renamed, and while the daemon is away."""
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import burning
from harness import docker as docker_harness
from harness.agent import Raw, config
from harness.processes import Processes, wait_until
from harness.standin import services_with, stacks_of
from harness.unix_proxy import UnixProxy

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

N = 30
COMPONENT = "discovery.docker.all"
RATE = 97

# A few milliseconds of work, then a pause: thirty of them leave the machine some time. Without a C library, which an image would hold.
PROGRAM = """
static void pause_60ms(void)
{
	long time[2] = { 0, 60000000 };
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "0"(35L), "D"(time), "S"(0L) : "rcx", "r11", "memory");
}

__attribute__((noinline)) void NAME(void)
{
	for (volatile int i = 0; i < 3000000; i++)
		;
}

void _start(void)
{
	for (;;) {
		NAME();
		pause_60ms();
	}
}
"""

DISCOVERY = """
discovery.docker "all" {{
	host = "unix://{socket}"
	filter {{
		name   = "label"
		values = ["com.docker.compose.project=thirty"]
	}}
}}
discovery.relabel "named" {{
	targets = discovery.docker.all.targets
	rule {{
		source_labels = ["__meta_docker_container_name"]
		regex         = "/(.*)"
		target_label  = "service_name"
	}}
	rule {{
		action      = "labelmap"
		regex       = "__meta_docker_container_label_com_docker_compose_(project|service)"
		replacement = "compose_$1"
	}}
}}
"""


def function(i):
    return f"burn_{i:02d}"


def build_programs(directory):
    """Path inside an image → path of a program, each with a function of its own."""
    source = directory / "burn.c"
    source.write_text(PROGRAM)

    def build(i):
        path = directory / function(i)
        subprocess.run(["gcc", "-O1", "-static", "-nostdlib", "-fno-stack-protector", f"-DNAME={function(i)}", "-o", path, source],
                       check=True)
        return f"/{function(i)}", path
    with ThreadPoolExecutor(2) as pool:
        return dict(pool.map(build, range(N)))


@pytest.fixture(scope="module")
def docker(tmp_path_factory, programs):
    reason = docker_harness.why_not()
    if reason:
        pytest.skip(reason)
    directory = tmp_path_factory.mktemp("docker")
    processes = Processes(directory)
    daemon = docker_harness.Docker(processes)
    try:
        daemon.image("burn:1", build_programs(directory))
        daemon.image("chain:1", {"/app": programs["chain_static"]})
        yield daemon
    finally:
        daemon.end()
        processes.end_all()


@pytest.fixture
def create(docker):
    """Make the i-th container; its name."""
    def make(i):
        name = f"c{i:02d}"
        docker.create("burn:1", f"/{function(i)}", name=name,
                      labels=["com.docker.compose.project=thirty", f"com.docker.compose.service=svc{i:02d}"])
        return name
    yield make
    docker.remove(*docker.containers())


@pytest.fixture
def start_discovering(start_agent, standin):
    def start(socket, rate=RATE):
        return start_agent(config(standin.url, interval="1s", rate=rate, before=DISCOVERY.format(socket=socket),
                                  targets=Raw("discovery.relabel.named.output"), targets_only=True)).wait_ready()
    return start


def burned(pushes):
    """(function, labels' values, ticks) of all that the programs were seen to do."""
    for push in pushes:
        labels = tuple(push.labels.get(name) for name in ("service_name", "compose_project", "compose_service"))
        for frames, ticks in stacks_of([push]).items():
            for frame in frames:
                if frame.startswith("burn_"):
                    yield frame, labels, ticks


def ticks_by_function(pushes):
    result = {}
    for name, labels, ticks in burned(pushes):
        result.setdefault(name, {}).setdefault(labels, 0)
        result[name][labels] += ticks
    return result


def cpu_seconds(pids):
    return sum(burning.cpu_seconds(pid) for pid in pids)


def test_thirty_containers(start_discovering, standin, docker, create):
    with ThreadPoolExecutor(4) as pool:
        names = list(pool.map(create, range(N)))
    agent = start_discovering(docker.path)
    for i in range(0, N, 6):
        docker.start(*names[i:i + 6])
    used_before = cpu_seconds(docker.pids(*names[20:]))
    wait_until(lambda: len(ticks_by_function(standin.pushes())) == N, 20, "all are profiled")
    renamed, killed, left = range(10), range(10, 20), range(20, N)
    for i in renamed:
        docker.rename(names[i], f"d{i:02d}")
    docker.kill(*(names[i] for i in killed))
    wait_until(lambda: all(f"d{i:02d}" in {labels[0] for labels in ticks_by_function(standin.pushes())[function(i)]} for i in renamed),
               20, "all have their new names")
    used = cpu_seconds(docker.pids(*names[20:])) - used_before
    assert agent.stop() == 0
    seen = ticks_by_function(standin.pushes())
    for i in range(N):
        expected = {(f"c{i:02d}", "thirty", f"svc{i:02d}")}
        if i in renamed:
            expected.add((f"d{i:02d}", "thirty", f"svc{i:02d}"))
        assert set(seen[function(i)]) <= expected, (i, seen[function(i)])
    ticks = sum(sum(seen[function(i)].values()) for i in left)
    # Chance is 5 % of some 400 ticks.
    assert ticks >= 0.8 * RATE * used, (ticks, used)


@pytest.mark.usefixtures("create")
def test_container_that_lives_for_a_second(start_discovering, standin, docker):
    """It has its name from its first tick on, though its target comes a moment later."""
    agent = start_discovering(docker.path, rate=499)
    docker.create("chain:1", "/app", "1", name="brief", labels=["com.docker.compose.project=thirty"])
    docker.start("brief")
    used = docker.cpu_seconds("brief")
    assert agent.stop() == 0
    spins = services_with(standin.pushes(), "spin")
    assert set(spins) == {"brief"}
    assert spins["brief"] >= 0.9 * 499 * used, (spins, used)


def health(agent):
    status, body = agent.get(f"/api/v0/web/components/{COMPONENT}")
    assert status == 200, body
    return json.loads(body)["health"]


def test_daemon_away_and_back(start_discovering, standin, docker, create):
    socket = docker.dir / "proxy"
    proxy = UnixProxy(socket, docker.path)
    one, two = create(1), create(2)
    docker.start(one)
    agent = start_discovering(socket)
    wait_until(lambda: function(1) in ticks_by_function(standin.pushes()), 10, "the first is profiled")
    proxy.cut()
    wait_until(lambda: health(agent)["state"] == "unhealthy", 10, "its absence is said")
    assert f"unix socket {socket}: No such file or directory" in health(agent)["message"]
    n = standin.samples(service_name=one)
    wait_until(lambda: standin.samples(service_name=one) > n, 10, "the first goes on under its name")
    docker.start(two)
    proxy.begin()
    wait_until(lambda: health(agent)["state"] == "healthy", 10, "its return is said")
    wait_until(lambda: function(2) in ticks_by_function(standin.pushes()), 10, "the second is profiled")
    assert agent.stop() == 0
    proxy.cut()
    assert len(agent.log_lines(level="warn", component_id=COMPONENT)) == 1
    assert len(agent.log_lines(level="info", component_id=COMPONENT, msg="Docker answers again")) == 1
    seen = ticks_by_function(standin.pushes())
    assert set(seen[function(1)]) == {("c01", "thirty", "svc01")}
    assert set(seen[function(2)]) == {("c02", "thirty", "svc02")}
