# SPDX-License-Identifier: Apache-2.0
"""What processes are called without targets, and what becomes of labels that servers do not take."""
import os

import pytest

from harness.agent import config
from harness.processes import wait_until

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

RATE = 199
SPIN = "while True:\n    pass\n"


@pytest.fixture
def script(processes, tmp_path):
    def start(name, **variables):
        (tmp_path / name).write_text(SPIN)
        return processes.start("/usr/bin/python3", tmp_path / name, env={"PATH": os.environ["PATH"], **variables})
    return start


def test_names_without_targets(start_agent, standin, script):
    """By a script, and by what an environment says."""
    script("labels_plain.py")
    script("labels_named.py", OTEL_SERVICE_NAME="labels-checkout")
    names = ("labels_plain.py", "labels-checkout")
    agent = start_agent(config(standin.url, interval="1s", rate=RATE)).wait_ready()
    wait_until(lambda: min(standin.samples(service_name=n) for n in names) >= 50, 20, "both are profiled")
    assert agent.stop() == 0
    assert standin.samples(service_name="labels_named.py") == 0
    for name in names:
        for push in standin.pushes(service_name=name):
            assert set(push.labels) == {"__name__", "service_name", "host"}, push.labels


def test_scripts_are_not_names_where_nobody_wants_it(start_agent, standin, script):
    process = script("labels_unwanted.py")
    name = os.path.basename(os.readlink(f"/proc/{process.pid}/exe"))
    agent = start_agent(config(standin.url, interval="1s", rate=RATE, script_names=False)).wait_ready()
    wait_until(lambda: standin.samples(service_name=name) >= 50, 20, "the interpreter is profiled")
    assert agent.stop() == 0
    assert standin.samples(service_name="labels_unwanted.py") == 0


def test_changed_labels_are_told_once(start_agent, standin, script):
    """Two series, several intervals, and a target that changes nothing about it."""
    targets = [{"__process_pid__": str(script(f"labels_{i}.py").pid), "service_name": f"labels-{i}", "k8s.pod": f"p{i}",
                "__meta_x": "y", "__container_id__": "c" * 64} for i in range(2)]
    agent = start_agent(config(standin.url, interval="1s", rate=RATE, targets=targets)).wait_ready()
    wait_until(lambda: min(len(standin.pushes(service_name=f"labels-{i}")) for i in range(2)) >= 2, 20, "two intervals of both")
    agent.config_path.write_text(config(standin.url, interval="1s", rate=RATE, targets=[*targets, {"__process_pid__": "1", "service_name": "init"}]))
    assert agent.get("/-/reload")[0] == 200
    seen = len(standin.pushes(service_name="labels-0"))
    wait_until(lambda: len(standin.pushes(service_name="labels-0")) >= seen + 2, 20, "two more")
    assert agent.stop() == 0
    for i in range(2):
        for push in standin.pushes(service_name=f"labels-{i}"):
            assert push.labels == {"__name__": "process_cpu", "service_name": f"labels-{i}", "host": push.labels["host"], "k8s_pod": f"p{i}"}
    told = agent.log_lines(msg="label changed before it is sent")
    assert len(told) == 1, told
    assert told[0]["label"] == "k8s.pod" and told[0]["became"] == "k8s_pod" and told[0]["component_id"].startswith("pyroscope.ebpf")
    assert told[0]["level"] == "warn" and told[0]["reason"]
