# SPDX-License-Identifier: Apache-2.0
"""Who matches no target ends in the kernel half, is counted, and comes back when he matches."""
import contextlib
import os
from pathlib import Path

import pytest

from harness.agent import Raw, config
from harness.processes import wait_until
from harness.standin import services_with

pytestmark = pytest.mark.bpf

RATE = 199
EVERYBODY = 'discovery.process "all" {\n\trefresh_interval = "60s"\n}\n'
BY_EXE = EVERYBODY + """
discovery.relabel "wanted" {
	targets = discovery.process.all.targets
	rule {
		source_labels = ["__meta_process_exe"]
		regex         = ".*/execed"
		action        = "keep"
	}
}
"""
CONTAINER = "c" * 64


def target(process, name):
    return {"__process_pid__": str(process.pid), "service_name": name}


def of(standin, *targets):
    return config(standin.url, interval="1s", rate=RATE, targets=list(targets), targets_only=True)


def ticks_of(metrics):
    return {name: metrics.kernel(name) for name in ("ticks", "emitted", "idle", "filtered", "lost", "refused")}


@pytest.fixture
def burn(processes, programs):
    def start(name="chain"):
        process = processes.start(programs[name], 60)
        if name == "chain":
            process.wait_for_output("main")
        return process
    return start


def test_the_unwanted_end_in_the_kernel_and_are_counted(start_agent, standin, burn):
    wanted, unwanted = burn(), burn("deep")
    agent = start_agent(of(standin, target(wanted, "wanted"))).wait_ready()
    before = agent.wait_metric(lambda m: m.kernel("refused") > RATE, 20, "ticks of the unwanted are refused")
    now = agent.wait_metric(lambda m: m.kernel("refused") - before.kernel("refused") > RATE, 20, "they stay so")
    kernel = ticks_of(now)
    assert kernel["ticks"] == kernel["emitted"] + kernel["idle"] + kernel["filtered"] + kernel["lost"], kernel
    # What is not known yet, as all that else runs here and is new, comes through once or twice; what burns for seconds does not.
    n_dropped = now.agent("samples_dropped_no_target") - before.agent("samples_dropped_no_target")
    assert n_dropped < (now.kernel("refused") - before.kernel("refused")) / 2
    assert unwanted.running()
    assert agent.stop() == 0
    assert {p.labels["service_name"] for p in standin.pushes()} == {"wanted"}


def test_new_targets_take_effect_at_once(start_agent, standin, burn):
    one, two = burn(), burn("deep")
    agent = start_agent(of(standin, target(one, "one"))).wait_ready()
    agent.wait_metric(lambda m: m.kernel("refused") > RATE, 20, "the other one is refused")
    agent.config_path.write_text(of(standin, target(two, "two")))
    assert agent.get("/-/reload")[0] == 200
    wait_until(lambda: standin.samples(service_name="two") > RATE, 20, "the other one is profiled")
    n_one = standin.samples(service_name="one")
    wait_until(lambda: standin.samples(service_name="two") > 3 * RATE, 20, "and stays so")
    # One interval was under way.
    assert standin.samples(service_name="one") - n_one <= 2 * RATE
    assert agent.stop() == 0
    assert set(services_with(standin.pushes(), "spin")) == {"one"}
    assert set(services_with(standin.pushes(), "deep_spin")) == {"two"}


def test_another_program_is_asked_for_again(start_agent, standin, processes, programs):
    """The same process, refused as long as it runs what nobody wants."""
    agent = start_agent(config(standin.url, interval="1s", rate=RATE, before=BY_EXE, targets=Raw("discovery.relabel.wanted.output"),
                               targets_only=True)).wait_ready()
    process = processes.run(programs["execer"], 2, programs["execed"])
    assert process.popen.returncode == 0
    assert agent.metrics().kernel("refused") > RATE / 4
    assert agent.stop() == 0
    after = services_with(standin.pushes(), "after_exec")
    assert set(after) == {"execed"}
    # It has two seconds, of which a busy machine gives it some.
    assert after["execed"] >= RATE / 2
    assert not services_with(standin.pushes(), "before_exec")


@pytest.fixture
def cgroup():
    """A control group that looks like a container's."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    root = next((Path(fields[1]) for fields in mounts if fields[2] == "cgroup2"), None)
    if not root:
        pytest.skip("no unified hierarchy is mounted")
    path = root / f"docker-{CONTAINER}.scope"
    try:
        path.mkdir()
    except OSError as error:
        pytest.skip(f"cannot make a control group: {error}")
    yield path
    # Whoever is in it goes back before it can be removed.
    for pid in (path / "cgroup.procs").read_text().split():
        with contextlib.suppress(OSError):
            (root / "cgroup.procs").write_text(pid)
    path.rmdir()


def test_who_is_moved_is_asked_for_again(start_agent, standin, burn, cgroup):
    process = burn()
    agent = start_agent(of(standin, {"__container_id__": CONTAINER, "service_name": "inside"})).wait_ready()
    agent.wait_metric(lambda m: m.kernel("refused") > RATE, 20, "it is refused outside")
    (cgroup / "cgroup.procs").write_text(str(process.pid))
    wait_until(lambda: standin.samples(service_name="inside") > RATE, 20, "it is profiled inside")
    os.kill(process.pid, 9)
    assert agent.stop() == 0
    assert set(services_with(standin.pushes(), "spin")) == {"inside"}


def test_a_pid_that_is_used_again_inherits_nothing(start_agent, standin, processes, programs):
    """Two programs in turn under one pid, of which one is wanted."""
    agent = start_agent(config(standin.url, interval="1s", rate=RATE, before=BY_EXE.replace("execed", "relay_a"),
                               targets=Raw("discovery.relabel.wanted.output"), targets_only=True)).wait_ready()
    process = processes.run(programs["samepid"], 4, 100, programs["relay_a"], programs["relay_b"])
    if process.popen.returncode == 77:
        pytest.skip("the kernel does not let us choose a pid")
    assert process.popen.returncode == 0, process.err
    assert int(process.out) > 10
    assert agent.stop() == 0
    wanted = services_with(standin.pushes(), "relay_a_spin")
    assert set(wanted) == {"relay_a"}
    assert not services_with(standin.pushes(), "relay_b_spin")
    # Half of the time is the wanted one's.
    assert wanted["relay_a"] >= RATE / 2
