# SPDX-License-Identifier: Apache-2.0
"""What is known of a process's container, pod or machine without any API: by its control group and what runtimes write down."""
import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from harness import docker as docker_harness
from harness import paths, privileges
from harness.agent import config
from harness.processes import wait_until

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

TASKS = Path("/run/containerd/io.containerd.runtime.v2.task/k8s.io")
KUBE_LOGS = Path("/var/log/containers")
ENOUGH = 20  # samples of each


def new_id():
    return (uuid.uuid4().hex * 2)[:64]


class Made:
    """Directories, links and files, removed again with the directories that were made for them."""

    def __init__(self):
        self.paths = []

    def directory(self, path):
        for parent in [*reversed(path.parents), path]:
            if not parent.exists():
                parent.mkdir()
                self.paths.append(parent)
        return path

    def file(self, path, text):
        self.directory(path.parent)
        path.write_text(text)
        self.paths.append(path)

    def link(self, path, target):
        self.directory(path.parent)
        path.symlink_to(target)
        self.paths.append(path)

    def remove(self):
        for path in reversed(self.paths):
            try:
                if path.is_symlink() or path.is_file():
                    path.unlink()
                else:
                    path.rmdir()
            except OSError:
                pass  # somebody else's by now


@pytest.fixture
def made():
    things = Made()
    yield things
    things.remove()


@pytest.fixture
def groups(made):
    """Make a control group below one of our own; its directory. Whoever is still in it is killed in the end."""
    reason = privileges.why_no_cgroup2()
    if reason:
        pytest.skip(reason)
    top = privileges.cgroup2_root() / f"xagent-places-{os.getpid()}"
    yield lambda path: made.directory(top / path)
    for procs in top.rglob("cgroup.procs"):
        for pid in procs.read_text().split():
            os.kill(int(pid), signal.SIGKILL)
        wait_until(lambda p=procs: not p.read_text(), 10, f"{procs} is empty")


@pytest.fixture
def burn(processes, programs):
    """Start a program that burns in a control group."""
    def start(group, **options):
        def enter():
            (group / "cgroup.procs").write_text(str(os.getpid()))
        process = processes.start(programs["chain_static"], "50", preexec_fn=enter, **options)
        process.wait_for_output("\n")
        return process
    return start


def annotations(**words):
    return json.dumps({"ociVersion": "1.1.0", "annotations": {f"io.kubernetes.cri.{k.replace('_', '-')}": v for k, v in words.items()}})


def inspect(pid):
    return subprocess.run([paths.XAGENT, "inspect", "process", str(pid)], capture_output=True, text=True, timeout=30, check=True).stdout


def named(text):
    """service_name and where it is from, as `inspect process` shows them."""
    words = {line.split()[0]: line.split(None, 1)[1].strip() for line in text.splitlines() if line.strip().startswith("service_name")}
    return words["service_name"], words["service_name_source"]


def all_profiled(standin, names):
    return all(standin.samples(service_name=name) >= ENOUGH for name in names)


def test_by_control_group_and_files(start_agent, standin, groups, made, burn):
    """Each kind of place has its own series, with nothing configured."""
    tag = f"t{os.getpid()}"
    by_task, by_log = new_id(), new_id()
    pod, alloc = uuid.uuid4(), uuid.uuid4()
    made.file(TASKS / by_task / "config.json", annotations(container_type="container", container_name="app", sandbox_name="web-0",
                                                           sandbox_namespace=tag))
    made.link(KUBE_LOGS / f"db-0_{tag}_postgres-{by_log}.log", "/nowhere")
    underscores = str(pod).replace("-", "_")
    burning = {
        f"{tag}/app": burn(groups(f"kubepods.slice/kubepods-pod{underscores}.slice/cri-containerd-{by_task}.scope")),
        f"{tag}/postgres": burn(groups(f"kubepods/besteffort/pod{pod}/{by_log}")),
        f"{tag}-lxc": burn(groups(f"lxc.payload.{tag}-lxc/system.slice/nginx.service")),
        f"{tag}-task": burn(groups(f"nomad.slice/share.slice/{alloc}.{tag}-task.scope")),
    }
    agent = start_agent(config(standin.url, interval="1s", rate=199)).wait_ready()
    wait_until(lambda: all_profiled(standin, burning), 30, f"{list(burning)} are profiled")
    assert agent.stop() == 0
    labels = standin.pushes(service_name=f"{tag}/app")[0].labels
    assert labels["namespace"] == tag and labels["container"] == "app", labels
    sources = {name: named(inspect(process.pid)) for name, process in burning.items()}
    assert sources == {
        f"{tag}/app": (f"{tag}/app", "pod"),
        f"{tag}/postgres": (f"{tag}/postgres", "pod"),
        f"{tag}-lxc": (f"{tag}-lxc", "machine"),
        f"{tag}-task": (f"{tag}-task", "Nomad task"),
    }


# As in kind: a monitor in its node's root, and a container of it with a root of its own.
NODE = """
import os, sys
os.chroot(sys.argv[1])
pid = os.fork()
if pid == 0:
    os.chroot("/pod")
    os.chdir("/")
    os.execv("/app", ["/app", "50"])
print(pid, flush=True)
os.waitpid(pid, 0)
"""


def test_container_in_a_container(start_agent, standin, groups, processes, programs, tmp_path):
    """Its runtime's files are in the root of the container around it."""
    tag = f"k{os.getpid()}"
    container = new_id()
    node = tmp_path / "node"
    (node / "pod").mkdir(parents=True)
    shutil.copy(programs["chain_static"], node / "pod" / "app")
    tasks = node / TASKS.relative_to("/") / container
    tasks.mkdir(parents=True)
    (tasks / "config.json").write_text(annotations(container_name="app", sandbox_name="web-0", sandbox_namespace=tag))
    group = groups(f"docker/{new_id()}/kubelet/kubepods/pod{uuid.uuid4()}/{container}")
    process = processes.start(sys.executable, "-c", NODE, node, preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
    pid = process.wait_for_output("\n").split()[0]
    assert named(inspect(pid)) == (f"{tag}/app", "pod")
    agent = start_agent(config(standin.url, interval="1s", rate=199)).wait_ready()
    wait_until(lambda: standin.samples(service_name=f"{tag}/app") >= ENOUGH, 20, "it is profiled")
    assert agent.stop() == 0


def test_files_that_come_after_the_container(start_agent, standin, groups, made, burn):
    """Its first profile already has its labels."""
    tag = f"l{os.getpid()}"
    container = new_id()
    agent = start_agent(config(standin.url, interval="1s", rate=199)).wait_ready()
    burn(groups(f"kubepods/burstable/pod{uuid.uuid4()}/{container}"))
    made.link(KUBE_LOGS / f"db-0_{tag}_redis-{container}.log", "/nowhere")
    wait_until(lambda: standin.samples(service_name=f"{tag}/redis") >= ENOUGH, 20, "it is profiled")
    assert agent.stop() == 0
    assert not standin.pushes(service_name=container[:12])


def test_hidden_by_a_cgroup_namespace(start_agent, standin, groups, made, burn):
    """The agent in a container, in whose namespace its neighbours' control group is "/": their number tells it."""
    tag = f"h{os.getpid()}"
    container = new_id()
    made.file(TASKS / container / "config.json", annotations(container_name="app", sandbox_name="web-0", sandbox_namespace=tag))
    group = groups(f"kubepods/besteffort/pod{uuid.uuid4()}/{container}")
    process = burn(group)

    def enter():
        (group / "cgroup.procs").write_text(str(os.getpid()))
    seen = subprocess.run(["unshare", "-C", "cat", f"/proc/{process.pid}/cgroup"], capture_output=True, text=True, check=True,
                          preexec_fn=enter).stdout
    assert all(line.endswith(":/") for line in seen.splitlines()), seen
    agent = start_agent(config(standin.url, interval="1s", rate=199), prefix=("unshare", "-C"), preexec_fn=enter).wait_ready()
    wait_until(lambda: standin.samples(service_name=f"{tag}/app") >= ENOUGH, 20, "it is profiled")
    assert agent.stop() == 0


def test_docker(start_agent, standin, processes, programs):
    """The names and labels that dockerd writes down, where it was told to, and a name that changes."""
    reason = docker_harness.why_not()
    if reason:
        pytest.skip(reason)
    docker = docker_harness.Docker(processes)
    tag = f"d{os.getpid()}"

    def run(*options):
        return docker._docker("run", "-d", "--network=none", *options, "chain:1", "/app", "50").stdout.decode().strip()
    try:
        docker.image("chain:1", {"/app": programs["chain_static"]})
        agent = start_agent(config(standin.url, interval="1s", rate=199)).wait_ready()
        plain = run("--name", f"{tag}-web")
        run("--name", f"{tag}-other", "--label", f"com.docker.compose.project={tag}", "--label", "com.docker.compose.service=db")
        wait_until(lambda: all_profiled(standin, [f"{tag}-web", f"{tag}/db"]), 30, "both are profiled")
        docker._docker("rename", plain, f"{tag}-api")
        wait_until(lambda: standin.samples(service_name=f"{tag}-api") >= ENOUGH, 20, "the new name is told")
        assert agent.stop() == 0
    finally:
        docker.end()
