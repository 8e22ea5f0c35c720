# SPDX-License-Identifier: Apache-2.0
"""discovery.kubelet: processes in the cgroups of pods, and who they belong to by their node's kubelet."""
import json
import signal

import pytest

from harness import privileges
from harness.agent import Raw, config
from harness.kubelet import Kubelet, Node, pod
from harness.processes import wait_until
from harness.standin import services_with

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

COMPONENT = "discovery.kubelet.node"


@pytest.fixture
def kubelet(tmp_path):
    reason = privileges.why_no_tool("openssl")
    if reason:
        pytest.skip(reason)
    server = Kubelet(tmp_path)
    (tmp_path / "token").write_text("good\n")
    yield server
    server.end()


@pytest.fixture
def burn(processes, programs):
    """Burn in a container of its own; the container's id."""
    reason = privileges.why_no_cgroup2()
    if reason:
        pytest.skip(reason)
    node = Node(privileges.cgroup2_root())
    burning = []

    def start():
        identity, path = node.container()
        burning.append(processes.start(programs["chain"], 60, preexec_fn=Node.enter(path)))
        burning[-1].wait_for_output(" ")
        return identity
    yield start
    for process in burning:
        process.end()
    node.end()


def discovery(kubelet, directory, more=""):
    return f"""
discovery.kubelet "node" {{
	url               = "{kubelet.url}"
	refresh_interval  = "200ms"
	bearer_token_file = "{directory}/token"
	{more}
	tls_config {{
		ca_file     = "{kubelet.cert}"
		server_name = "node-a"
	}}
}}
"""


def text_of(standin, kubelet, directory, more=""):
    return config(standin.url, interval="500ms", rate=199, before=discovery(kubelet, directory, more), targets_only=True,
                  targets=Raw(f"{COMPONENT}.targets"))


def health(agent):
    status, body = agent.get(f"/api/v0/web/components/{COMPONENT}")
    assert status == 200, body
    told = json.loads(body)["health"]
    return told["state"], told["message"]


def wait_health(agent, state, part):
    wait_until(lambda: health(agent)[0] == state and part in health(agent)[1], 10, f"{COMPONENT} is {state}: {part}")


def wait_service(standin, name, more=20):
    enough = standin.samples(service_name=name) + more
    wait_until(lambda: standin.samples(service_name=name) >= enough, 15, f"{name} is profiled")


def test_pods_are_named_by_namespace_and_container(start_agent, standin, kubelet, burn, tmp_path):
    """A container that the kubelet lists late, one that says how it is called, one of a namespace that was not asked for."""
    app, named, foreign = burn(), burn(), burn()
    kubelet.pods = [pod("web-0", ("proxy", "0" * 64), ("app", app)),
                    pod("db-0", ("db", named), annotations={"pyroscope.io/service_name": "database"}),
                    pod("other-0", ("other", foreign), namespace="kube-system")]
    agent = start_agent(text_of(standin, kubelet, tmp_path, 'namespaces = ["shop"]')).wait_ready()
    wait_service(standin, "ebpf/shop/app")
    wait_service(standin, "database")
    late = burn()
    kubelet.pods = [*kubelet.pods, pod("late-0", ("late", late))]
    wait_service(standin, "ebpf/shop/late")
    assert set(services_with(standin.pushes(), "spin")) == {"ebpf/shop/app", "database", "ebpf/shop/late"}
    agent.config_path.write_text(text_of(standin, kubelet, tmp_path))
    agent.process.send(signal.SIGHUP)
    wait_service(standin, "ebpf/kube-system/other")
    wait_service(standin, "ebpf/shop/app")
    assert agent.stop() == 0
    assert len(services_with(standin.pushes(), "spin")) == 4
    assert not any(name.startswith("__meta_") for push in standin.pushes() for name in push.labels)


def test_what_goes_wrong_is_said_once_and_changes_nothing(start_agent, standin, kubelet, burn, tmp_path):
    container = burn()
    kubelet.pods = [pod("web-0", ("app", container)), pod("web-1", ("app", "1" * 64))]
    (tmp_path / "token").write_text("bad")
    agent = start_agent(text_of(standin, kubelet, tmp_path)).wait_ready()
    wait_health(agent, "unhealthy", "(401)")
    assert not standin.pushes()
    (tmp_path / "token").write_text("good")
    wait_service(standin, "ebpf/shop/app")
    wait_health(agent, "healthy", "2 targets")
    kubelet.allowed = False
    wait_health(agent, "unhealthy", "nodes/proxy")
    kubelet.wait_asked(3)
    wait_service(standin, "ebpf/shop/app")
    kubelet.allowed = True
    wait_health(agent, "healthy", "2 targets")
    kubelet.end()
    wait_health(agent, "unhealthy", "")
    wait_service(standin, "ebpf/shop/app")
    assert agent.stop() == 0
    problems = agent.log_lines(msg="cannot take pods from the kubelet, its last ones stay")
    # The last request may have been cut: that is another problem than that nobody is there.
    assert len(problems) in (3, 4), problems
    assert [part in p["reason"] for part, p in zip(("(401)", "nodes/proxy"), problems)] == [True, True]
    assert {p["component_id"] for p in problems} == {COMPONENT}
    assert len(agent.log_lines(msg="the kubelet lists its pods again")) == 2


def test_a_certificate_that_nobody_vouches_for(start_agent, standin, kubelet, tmp_path):
    text = discovery(kubelet, tmp_path).replace(f'ca_file     = "{kubelet.cert}"', "")
    agent = start_agent(config(standin.url, before=text, targets=Raw(f"{COMPONENT}.targets"))).wait_ready()
    wait_health(agent, "unhealthy", "insecure_skip_verify")
    assert kubelet.n_asked == 0
    assert agent.stop() == 0
