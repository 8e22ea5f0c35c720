# SPDX-License-Identifier: Apache-2.0
"""discovery.docker over TCP, where the daemon asks for a certificate."""
import json

import pytest

from harness import docker as docker_harness
from harness import privileges
from harness.agent import Raw, config
from harness.certificates import certificates
from harness.processes import free_port, wait_until
from harness.standin import services_with

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

COMPONENT = "discovery.docker.all"


@pytest.fixture
def docker(processes, programs, tmp_path):
    reason = docker_harness.why_not() or privileges.why_no_tool("openssl")
    if reason:
        pytest.skip(reason)
    files = certificates(tmp_path)
    port = free_port()
    daemon = docker_harness.Docker(processes, "--tlsverify", f"--tlscacert={files}/ca.pem", f"--tlscert={files}/server.pem",
                                   f"--tlskey={files}/server.key", "-H", f"tcp://127.0.0.1:{port}")
    try:
        daemon.files, daemon.port = files, port
        daemon.image("chain:1", {"/app": programs["chain_static"]})
        yield daemon
    finally:
        daemon.end()


def discovery(docker, *tls):
    lines = "".join(f"\t\t{line}\n" for line in tls)
    return (f'discovery.docker "all" {{\n\thost = "tcp://127.0.0.1:{docker.port}"\n'
            f'\ttls_config {{\n\t\tca_file = "{docker.files}/ca.pem"\n{lines}\t}}\n}}\n')


def health(agent):
    status, body = agent.get(f"/api/v0/web/components/{COMPONENT}")
    assert status == 200, body
    return json.loads(body)["health"]


def test_containers_are_told_over_tls(start_agent, standin, docker):
    """Without a certificate of ours the daemon refuses, and health says so; with it, events come as over the socket."""
    ours = (f'cert_file = "{docker.files}/client.pem"', f'key_file = "{docker.files}/client.key"')
    targets = Raw("discovery.docker.all.targets")
    agent = start_agent(config(standin.url, interval="1s", rate=199, before=discovery(docker), targets=targets)).wait_ready()
    wait_until(lambda: health(agent)["state"] == "unhealthy", 15, "the refusal is said")
    assert f"127.0.0.1:{docker.port}: the server wants a client certificate" in health(agent)["message"]
    agent.config_path.write_text(config(standin.url, interval="1s", rate=199, before=discovery(docker, *ours), targets=targets))
    assert agent.get("/-/reload")[0] == 200
    wait_until(lambda: health(agent)["state"] == "healthy", 15, "the daemon answers")
    container, _ = docker.run("chain:1", "/app", "50")
    wait_until(lambda: services_with(standin.pushes(), "spin"), 15, "the container is profiled")
    assert agent.stop() == 0
    name = docker.inspect(container)["Name"]
    assert set(services_with(standin.pushes(), "spin")) == {name}
