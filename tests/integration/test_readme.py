# SPDX-License-Identifier: Apache-2.0
"""Every command of the README, and of the texts that a person is led to from there, is run: here, or by a test that is named here. Every
configuration in them is one that the program takes. Numbers in them are those of the code."""
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
TEXTS = [README] + [paths.TOP / name for name in (
    "CONTRIBUTING.md", "deploy/README.md", "deploy/examples/README.md", "grafana/README.md", "agent/http/README.md", "agent/unwind/README.md",
    "tests/README.md", "tests/bench/README.md")]
COMMANDS = ("make", "build/xagent", "cd", "kubectl", "helm", "editor", "systemctl", "journalctl", "docker", "/usr/bin/python3", "tests/lint/run.sh",
            "tests/integration/run.sh")
DEPLOY_HOST, DEPLOY_CONTAINERS = "integration/test_deploy_host.py", "integration/test_deploy_containers.py"
RUN_ALL, SUITE = "run-all.sh", "stage integration"
# What a machine for tests has no place for is run by another test, in a form that it has a place for.
ELSEWHERE = {
    "make": (RUN_ALL, SUITE),  # it runs what this has built
    "make test": (RUN_ALL, SUITE),  # which is running
    "tests/lint/run.sh": (RUN_ALL, "stage lint"),
    "make deb && apt install ./build/xagent_*.deb": (DEPLOY_HOST, "test_package_is_installed_and_purged"),
    "editor /etc/default/xagent": (DEPLOY_HOST, "test_package_contents"),
    "systemctl enable --now xagent": (DEPLOY_HOST, "test_profiles_within_the_units_bounds"),
    "journalctl -u xagent -f": (DEPLOY_HOST, "test_profiles_within_the_units_bounds"),
    "docker build -f deploy/docker/Dockerfile -t xagent .": (DEPLOY_CONTAINERS, "test_whole_image_is_built"),
    "docker run": (DEPLOY_CONTAINERS, "test_docker_run_of_the_readme"),
    "cd deploy/docker && docker compose up -d --build": (DEPLOY_CONTAINERS, "test_compose_comes_up"),
    "kubectl apply -k deploy/kubernetes": (DEPLOY_CONTAINERS, "test_daemonset_as_runc_runs_it"),
    ("helm install xagent deploy/helm/xagent -n xagent --create-namespace --set image.repository=registry.example/xagent"
     " --set pyroscope.url=http://pyroscope.pyroscope.svc.cluster.local:4040"): (DEPLOY_CONTAINERS, "test_chart"),
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
RUN, MAKE_RUN, MAKE, PYTEST = "build/xagent run", "make run", "make ", "/usr/bin/python3 -m pytest "
# What a text states as a number: (text, its words, file of the code, what stands there).
FACTS = [
    ("README.md", r"Linux 5\.17 or newer", "agent/sample/refusal.c", r"5\.17"),
    ("README.md", r"http://127\.0\.0\.1:12345", "agent/cli/run/agent.h", r'AGENT_DEFAULT_LISTEN "127\.0\.0\.1:12345"'),
    ("README.md", r"deeper than 1,000 user frames", "bpf/wire.h", r"#define WIRE_MAX_USER_FRAMES 1000\n"),
    ("README.md", r"Debian 12 or newer or Ubuntu 24\.04", "deploy/deps.sh", r"\(Debian 12\+, Ubuntu 24\.04\+\)"),
    ("agent/unwind/README.md", r"up to 256 KiB of a thread's own stack", "bpf/wire.h", r"#define WIRE_MAX_STACK_BYTES \(256 \* 1024\)"),
    ("agent/unwind/README.md", r"24 KiB of any other", "bpf/wire.h", r"#define WIRE_COPY_BYTES 24576\n"),
    ("agent/unwind/README.md", r"two of these are copied", "bpf/wire.h", r"#define WIRE_USER_UNWOUND_PIECES 2\n"),
    ("README.md", r"Within ten seconds", "tests/integration/test_quick_start.py", r"# Aim: below 10 s\."),
    ("agent/README.md", r"waits 100 ms \(loop\)", "agent/util/reader.c", r"most_ns = 100 \* NS_PER_MS"),
    ("agent/README.md", r"or 2 s \(worker\)", "agent/util/reader.c", r"most_ns = 2 \* NS_PER_S"),
    ("agent/profile/README.md", r"`memory_limit` \(64 MiB\)", "deploy/man/xagent.alloy.5", r"memory_limit\|string\|64MiB\|"),
    ("grafana/README.md", r"\(6 hours, 64 MiB", "deploy/man/xagent.alloy.5", r"max_age\|duration\|6h\|"),
    ("grafana/README.md", r"\(6 hours, 64 MiB", "deploy/man/xagent.alloy.5", r"max_bytes\|string\|64MiB\|"),
]


def commands(text):
    """Of the indented blocks, without what is said about them; a line that ends in a backslash goes on."""
    joined = re.sub(r" \\\n\s+", " ", text.read_text())
    for line in joined.splitlines():
        if line.startswith("    ") and line.strip() and line.split()[0] in COMMANDS:
            yield re.sub(r"\s+#\s.*", "", line).strip()


def lines():
    return list(dict.fromkeys(line for text in TEXTS for line in commands(text)))


def elsewhere(line):
    return next((name for name in ELSEWHERE if line == name or name == "docker run" and line.startswith("docker run ")), None)


def here():
    return [line for line in lines() if not elsewhere(line) and not line.startswith((RUN + " ", MAKE, PYTEST))]


def test_every_command_is_run():
    assert len(lines()) > 20 and len(here()) > 10
    missing = set(ELSEWHERE) - {elsewhere(line) for line in lines()}
    assert not missing, f"the texts do not have these any more: {missing}"
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
    (tmp_path / "agent.alloy").write_text(smallest())
    (tmp_path / "old.yaml").write_text(OLD_YAML)
    (tmp_path / "Makefile").write_text("all:\n\t@i=0; while [ $$i -lt 30000 ]; do i=$$((i + 1)); done\n")
    chain = processes.start(programs["chain"], 60)
    chain.wait_for_output("main")
    return tmp_path, str(chain.pid)


def configurations(text):
    """The indented blocks that begin like a configuration: pieces, each of all blocks up to the next line of prose."""
    found = re.findall(r"^(?:    [a-z_.]+(?: \"\w+\")? \{.*\n(?:    .*\n|\n(?=    [\t}a-z]))*)", text.read_text(), re.M)
    return [re.sub("^    ", "", re.split(r"^    (?:build/|make )", piece, flags=re.M)[0], flags=re.M).strip() + "\n" for piece in found]


def smallest():
    """The README's own."""
    return next(piece for piece in configurations(README) if "pyroscope.ebpf" in piece)


def as_here(words, pid):
    """The same command with this machine's pid, address and patience."""
    replaced = {"4711": pid, "30": "1", "10": "1", "401136": "0", "/bin/app": "/bin/true"}
    endless = ["-d", "3"] if words[1:] == ["top"] else []
    return [replaced.get(word, word) for word in words] + endless


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
    (directory / "agent.alloy").write_text(smallest().replace("http://pyroscope:4040", standin.url))
    port = free_port()
    words = shlex.split(line.replace("http://pyroscope:4040", standin.url))
    agent = processes.start(*words, f"--server.http.listen-addr=127.0.0.1:{port}", cwd=directory)
    asks_for_the_page(f"http://127.0.0.1:{port}")
    assert agent.running(), agent.err
    agent.send(2)
    assert agent.wait(20) == 0, agent.err


@pytest.mark.parametrize("line", [line for line in lines() if line.startswith(MAKE) and not elsewhere(line) and line != MAKE_RUN])
def test_make_knows_what_to_do(line):
    """Targets take minutes, and are run by the stages of run-all.sh."""
    words = shlex.split(line.split("&&")[0])
    subprocess.run([words[0], "-n", "-C", paths.TOP, *words[1:]], capture_output=True, check=True, timeout=120)


@pytest.mark.parametrize("line", [line for line in lines() if line.startswith(PYTEST)])
def test_pytest_finds_something(line):
    result = subprocess.run([*shlex.split(line), "--collect-only", "-q"], cwd=paths.TOP, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0 and "::" in result.stdout, result.stdout + result.stderr


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


def test_what_the_texts_point_to_exists():
    """Links are looked at by lint/docs.sh."""
    for text in TEXTS:
        named = re.findall(r"`((?:agent|bpf|deploy|grafana|pprof|river-config|tests)/[\w./-]*)`", text.read_text())
        assert not [name for name in named if not (paths.TOP / name).exists()], text
    assert "(agent/page/pictures/page.png)" in README.read_text()


PIECES = [pytest.param(piece, id=f"{text.parent.name}-{i}") for text in TEXTS for i, piece in enumerate(configurations(text))]


@pytest.mark.parametrize("piece", PIECES)
def test_configuration_is_valid(piece, tmp_path):
    """By itself, but for the server that it sends to and the file of its secret; and laid out as `xagent fmt` does."""
    assert len(PIECES) > 15
    secret = tmp_path / "secret"
    secret.write_text("glc_x\n")
    path = tmp_path / "agent.alloy"
    path.write_text(piece)
    laid_out = subprocess.run([paths.XAGENT, "fmt", path], capture_output=True, text=True, check=False)
    assert laid_out.stdout == piece, laid_out.stderr
    whole = re.sub(r"/etc/xagent/token|/run/secret", str(secret), piece).replace("<64 hex>", "0" * 64)
    if "pyroscope.write.server" in whole and 'pyroscope.write "server"' not in whole:
        whole += next(block for block in smallest().split("\n\n") if 'pyroscope.write "server"' in block)
    path.write_text(whole)
    result = subprocess.run([paths.XAGENT, "validate", path], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name,words,source,code", FACTS, ids=lambda value: None)
def test_number_is_that_of_the_code(name, words, source, code):
    assert re.search(words, re.sub(r"\s+", " ", (paths.TOP / name).read_text())), f"{name} does not say {words}"
    assert re.search(code, (paths.TOP / source).read_text()), f"{source} does not have {code}"


def test_the_readme_is_read_in_two_minutes():
    text = README.read_text()
    assert max(map(len, text.splitlines())) <= 100 and len(text.split()) < 900


def test_sizes_of_pictures():
    """They are looked at on a web page: real ones, and not heavy."""
    names = re.findall(r"\]\(([^)]+\.png)\)", README.read_text())
    assert len(names) == 2
    for name in names:
        data = (paths.TOP / name).read_bytes()
        assert data.startswith(b"\x89PNG") and 10_000 < len(data) < 400_000, f"{name}: {len(data)} bytes"
