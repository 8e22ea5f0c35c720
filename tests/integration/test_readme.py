# SPDX-License-Identifier: Apache-2.0
"""Every command of the README is run: here, or by a test that is named here. And what it points to exists."""
import ast
import os
import re
import shlex
import subprocess

import pytest

from harness import paths
from harness.agent import fetch
from harness.processes import free_port, wait_until

pytestmark = pytest.mark.agent

README = paths.TOP / "README.md"
COMMANDS = ("make", "build/xagent", "cd", "kubectl", "helm", "editor", "systemctl")
# What a machine for tests has no place for is run by another test, in a form that it has a place for.
ELSEWHERE = {
    "make test": ("run-all.sh", "stage integration"),  # which is running
    "make deb && apt install ./build/xagent_0.1.0_amd64.deb": ("integration/test_deploy_host.py", "test_package_is_installed_and_purged"),
    "editor /etc/default/xagent": ("integration/test_deploy_host.py", "test_package_contents"),
    "systemctl enable --now xagent": ("integration/test_deploy_host.py", "test_profiles_within_the_units_bounds"),
    "cd deploy/docker && docker compose up -d --build": ("integration/test_deploy_containers.py", "test_compose_comes_up"),
    "kubectl apply -k deploy/kubernetes": ("integration/test_deploy_containers.py", "test_daemonset_as_runc_runs_it"),
    ("helm install xagent deploy/helm/xagent -n xagent --create-namespace --set image.repository=registry.example/xagent"
     " --set pyroscope.url=http://pyroscope.pyroscope.svc.cluster.local:4040"): (
        "integration/test_deploy_containers.py", "test_chart"),
}
OLD_YAML = """
net:
  pyroscope: "http://127.0.0.1:4040"
eBPF:
  programs:
    - name: profile
      args:
        private:
          targets:
            - {name: host, match: MatchTargetNone}
"""
RUN, MAKE_RUN = "build/xagent run", "make run"


def lines():
    """Of the indented blocks, without what is said about them."""
    found = []
    for line in README.read_text().splitlines():
        if line.startswith("    ") and line.split()[0] in COMMANDS:
            found.append(re.sub(r"\s+#\s.*", "", line).strip())
    return found


def here():
    return [line for line in lines() if line not in ELSEWHERE and not line.startswith((RUN + " ", MAKE_RUN))]


def test_every_command_is_run():
    assert len(lines()) > 15 and len(here()) > 8
    missing = set(ELSEWHERE) - set(lines())
    assert not missing, f"the README does not have these any more: {missing}"
    for name, what in ELSEWHERE.values():
        text = (paths.TESTS / name).read_text()
        if name.endswith(".sh"):
            assert what in text, name
        else:
            assert any(isinstance(f, ast.FunctionDef) and f.name.startswith(what) for f in ast.parse(text).body), f"{name}: no {what}"


@pytest.fixture
def place(tmp_path, processes, programs):
    """A folder in which the README's words mean something: the program, the files it names, and the pid of something that works."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "xagent").symlink_to(paths.XAGENT)
    (tmp_path / "agent.alloy").write_text(configuration())
    (tmp_path / "old.yaml").write_text(OLD_YAML)
    (tmp_path / "Makefile").write_text("all:\n\t@i=0; while [ $$i -lt 30000 ]; do i=$$((i + 1)); done\n")
    chain = processes.start(programs["chain"], 60)
    chain.wait_for_output("main")
    return tmp_path, str(chain.pid)


def configuration():
    """The README's own."""
    blocks = re.findall(r'(?:^    (?:pyroscope|\t|\}).*\n+)+', README.read_text(), re.M)
    text = next(block for block in blocks if "pyroscope.ebpf" in block)
    return re.sub("^    ", "", text, flags=re.M)


def as_here(words, pid):
    """The same command with this machine's pid, address and patience."""
    replaced = {"4711": pid, "30": "1", "10": "1", "401136": "0", "/bin/app": "/bin/true"}
    return [replaced.get(word, word) for word in words]


@pytest.mark.bpf
@pytest.mark.parametrize("line", here())
def test_command(line, place, request):
    directory, pid = place
    words = as_here(shlex.split(line), pid)
    if "--cgroup" in words:
        cgroup = request.getfixturevalue("cgroup")
        (cgroup / "cgroup.procs").write_text(pid)
        words[words.index("--cgroup") + 1] = str(cgroup)
    if "/bin/*" in words:
        words[words.index("/bin/*"):] = ["/bin/true", "/bin/sh"]
    result = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, f"{line}\n{result.stderr}"
    if "-o" in words:
        assert (directory / words[words.index("-o") + 1]).stat().st_size > 0
    elif "validate" not in words and "-w" not in words:
        assert result.stdout.strip(), f"{line} prints nothing\n{result.stderr}"


def asks_for_the_page(url):
    def answers():
        try:
            return fetch(f"{url}/-/ready")[0] == 200
        except OSError:
            return False
    wait_until(answers, 60, "the agent is ready")
    status, page = fetch(f"{url}/", headers={"Accept": "text/html"})
    assert status == 200 and "<html" in page


@pytest.mark.bpf
@pytest.mark.parametrize("line", [line for line in lines() if line.startswith(RUN + " ")])
def test_run(line, place, standin, processes):
    directory, _ = place
    (directory / "agent.alloy").write_text(configuration().replace("http://pyroscope:4040", standin.url))
    port = free_port()
    words = shlex.split(line.replace("http://pyroscope:4040", standin.url))
    agent = processes.start(*words, f"--server.http.listen-addr=127.0.0.1:{port}", cwd=directory)
    asks_for_the_page(f"http://127.0.0.1:{port}")
    assert agent.running(), agent.err
    agent.send(2)
    assert agent.wait(20) == 0, agent.err


@pytest.mark.bpf
def test_make_run(processes):
    """Installs nothing and builds nothing where all is there; else it takes its time."""
    assert MAKE_RUN in lines()
    if os.geteuid() != 0:
        pytest.skip("make run wants root")
    port = free_port()
    run = processes.start("make", "-C", paths.TOP, "run", f"ARGS=--server.http.listen-addr=127.0.0.1:{port}")
    asks_for_the_page(f"http://127.0.0.1:{port}")
    assert f"http://127.0.0.1:{port}" in run.err, "make run does not tell where the page is"


def test_what_the_readme_points_to_exists():
    text = README.read_text()
    named = re.findall(r"\]\(([^)#:]+)\)", text) + re.findall(r"`((?:agent|bpf|deploy|grafana|pprof|river-config|tests)/[\w./-]*)`", text)
    assert len(named) > 8
    assert not [name for name in named if not (paths.TOP / name).exists()]


def test_configurations_are_valid(tmp_path):
    """Also the pieces: a block of the README by itself is one that the program takes, where what it refers to is there."""
    path = tmp_path / "agent.alloy"
    cloud = re.search(r'^    pyroscope\.write "cloud" \{\n(?:    .*\n+)+?    \}\n', README.read_text(), re.M).group(0)
    token = tmp_path / "token"
    token.write_text("glc_x\n")
    path.write_text(configuration() + re.sub("^    ", "", cloud, flags=re.M).replace("/etc/xagent/token", str(token)))
    result = subprocess.run([paths.XAGENT, "validate", path], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_sizes_of_pictures():
    """They are looked at on a web page: real ones, and not heavy."""
    for name in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README.read_text()):
        data = (paths.TOP / name).read_bytes()
        assert data.startswith(b"\x89PNG") and 10_000 < len(data) < 400_000, f"{name}: {len(data)} bytes"
