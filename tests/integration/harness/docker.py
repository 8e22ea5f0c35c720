# SPDX-License-Identifier: Apache-2.0
"""A Docker daemon of our own: no network that reaches further than its containers, no image store but its own, on a socket of its own."""
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from . import privileges
from .processes import wait_until


def why_not():
    if os.geteuid() != 0:
        return "dockerd needs root"
    return privileges.why_no_tool("dockerd", "docker", "containerd", "runc")


FETCH = """
import sys, urllib.request
url, *body = sys.argv[1:]
request = urllib.request.Request(url, body[0].encode() if body else None, {"Content-Type": "application/json"})
print(urllib.request.urlopen(request, timeout=5).read().decode())
"""
# Containers have the host's network or none.
WITHOUT_NETWORKS = ("dockerd", "--bridge=none", "--iptables=false", "--ip6tables=false")
# Bridges, filters and published ports, all in a network namespace of their own.
WITH_NETWORKS = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec dockerd "$@"', "dockerd", "--ip6tables=false")


def why_no_networks():
    """Whether this kernel lets us have a namespace with bridges and address translation."""
    script = "ip link set lo up && ip link add b0 type bridge && ip link add v0 type veth && iptables -t nat -L"
    reason = why_not() or privileges.why_no_tool("unshare", "ip", "iptables", "nsenter")
    if reason:
        return reason
    result = subprocess.run(["unshare", "--net", "sh", "-c", script], capture_output=True, text=True, check=False)
    return f"no networks for containers: {result.stderr.strip()}" if result.returncode else None


class Docker:
    """dockerd in a temporary folder, whose path is short because sockets have 108 bytes for it."""

    def __init__(self, processes, *options, networks=False):
        self.processes = processes
        self.dir = Path(tempfile.mkdtemp(prefix="xdocker-"))
        self.path = self.dir / "sock"
        self.socket = f"unix://{self.path}"
        self.daemon = processes.start(
            *(WITH_NETWORKS if networks else WITHOUT_NETWORKS), "--storage-driver=vfs",
            "--data-root", self.dir / "data", "--exec-root", self.dir / "exec", "--pidfile", self.dir / "pid", "-H", self.socket, *options)
        wait_until(self._answers, 30, "dockerd answers")

    def _answers(self):
        assert self.daemon.running(), self.daemon.err[-4000:]
        return self._docker("version", check=False).returncode == 0

    def _docker(self, *arguments, check=True, **options):
        result = subprocess.run(["docker", "-H", self.socket, *map(str, arguments)], capture_output=True, check=False,
                                timeout=40, **options)
        assert not check or result.returncode == 0, result.stderr.decode()
        return result

    def image(self, name, files, *changes):
        """An image of these files: path inside → path of a file; `changes` are lines of a Dockerfile."""
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            for inside, path in files.items():
                tar.add(path, arcname=inside.lstrip("/"))
        self._docker("import", *(f"--change={change}" for change in changes), "-", name, input=archive.getvalue())

    def fetch(self, url, *body):
        """GET from within its networks, or POST of a JSON text; None: no answer."""
        result = subprocess.run(["nsenter", f"--net=/proc/{self.daemon.pid}/ns/net", sys.executable, "-c", FETCH, url, *body],
                                capture_output=True, text=True, check=False)
        return result.stdout if result.returncode == 0 else None

    def build(self, name, dockerfile, context, *options, **arguments):
        """An image by BuildKit; None, or the reason why there is none here. Newer clients want a plugin for it, that of Debian has it."""
        reason = None
        for client in dict.fromkeys(filter(None, (shutil.which("docker"), "/usr/bin/docker"))):
            given = [f"--build-arg={key}={value}" for key, value in arguments.items()]
            result = subprocess.run([client, "-H", self.socket, "build", "-q", "-t", name, "-f", dockerfile, *options, *given, context],
                                    capture_output=True, text=True, check=False, env={**os.environ, "DOCKER_BUILDKIT": "1"})
            if result.returncode == 0:
                return None
            reason = result.stderr
            assert "buildx" in reason, reason
        return f"this docker cannot build by BuildKit: {reason.strip().splitlines()[0]}"

    def run(self, image, *command, options=("--network=none",)):
        """Start a container; its id and the pid of its first process."""
        container = self._docker("run", "-d", *options, image, *command).stdout.decode().strip()
        pid = int(self._docker("inspect", "-f", "{{.State.Pid}}", container).stdout)
        return container, pid

    def create(self, image, *command, name, labels=()):
        """A container that does not run yet; its id."""
        options = [f"--label={label}" for label in labels]
        return self._docker("create", "--network=none", "--name", name, *options, image, *command).stdout.decode().strip()

    def start(self, *containers):
        self._docker("start", *containers)

    def rename(self, container, name):
        self._docker("rename", container, name)

    def kill(self, *containers):
        self._docker("kill", *containers)

    def try_out(self, *arguments):
        """What a command says and how it ends, such as `run --rm` or `exec`: (code, output and errors)."""
        result = self._docker(*arguments, check=False)
        return result.returncode, (result.stdout + result.stderr).decode()

    def inspect(self, what):
        return json.loads(self._docker("inspect", what).stdout)[0]

    def remove(self, *containers):
        self._docker("rm", "-f", *containers)

    def containers(self):
        """The ids of all, also of those that have ended."""
        return self._docker("ps", "-aq", "--no-trunc").stdout.decode().split()

    def pids(self, *containers):
        """The first process of each."""
        result = self._docker("inspect", "-f", "{{.State.Pid}}", *containers)
        return [int(line) for line in result.stdout.split()]

    def cpu_seconds(self, container):
        """What the chain in an ended container says that it has used."""
        self._docker("wait", container)
        return float(self._docker("logs", container).stdout.decode().split()[-1])

    def end(self):
        """Containers are no children of ours: the daemon ends them, and what it leaves is found by the folder's name."""
        if self.daemon.running():
            ids = self._docker("ps", "-aq", check=False).stdout.decode().split()
            if ids:
                self._docker("rm", "-f", *ids, check=False)
            self.daemon.send(signal.SIGTERM)
            try:
                self.daemon.wait(15)
            except AssertionError:
                pass
        self.daemon.end()
        self._kill_left_behind()
        # A container with the host's network leaves this mounted.
        for path in self.dir.glob("exec/netns/*"):
            subprocess.run(["umount", path], check=False, capture_output=True)
        shutil.rmtree(self.dir, ignore_errors=True)

    def _kill_left_behind(self):
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(self.dir).encode() in path.read_bytes():
                    os.kill(int(path.parent.name), signal.SIGKILL)
            except OSError:
                pass
