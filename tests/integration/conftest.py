# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the integration tests. Whatever a test starts is dead when it ends, also when it fails."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest

from harness import paths, privileges
from harness.agent import Agent
from harness.processes import Processes
from harness.standin import StandIn

sys.path.append(str(paths.TESTS / "fixtures"))
import frameless  # noqa: E402

CPUS = sorted(os.sched_getaffinity(0))


def pytest_configure(config):
    config.addinivalue_line("markers", "bpf: loads BPF programs; skipped without the privilege")
    config.addinivalue_line("markers", "agent: runs build/xagent")
    config.addinivalue_line("markers", "beside: looks at programs of its own and at nothing else of the machine, so it runs beside others (run.sh)")


def pytest_collection_modifyitems(items):
    """Skips with a reason where the machine does not allow the test."""
    reason = privileges.why_no_bpf()
    for item in items:
        if reason and item.get_closest_marker("bpf"):
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_runtest_logreport(report):
    """The names of those that failed, for run.sh."""
    path = os.environ.get("XAGENT_TEST_FAILED_LIST")
    if path and report.failed:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")


@pytest.fixture(autouse=True)
def _agent_is_built(request):
    if any(request.node.get_closest_marker(m) for m in ("agent", "bpf")):
        assert paths.XAGENT.exists(), f"{paths.XAGENT} is not built: run make"


@pytest.fixture(scope="session")
def programs():
    """Name → path of the fixture programs."""
    reason = privileges.why_no_tool(os.environ.get("CC", "gcc"))
    if reason:
        pytest.skip(reason)
    build = paths.TESTS / "fixtures" / "build.py"
    result = subprocess.run([sys.executable, str(build), str(paths.FIXTURES)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return {p.name: p for p in paths.FIXTURES.iterdir()}


@pytest.fixture(scope="session")
def frameless_programs():
    """Build programs of tests/fixtures/frameless.py by name: name → path. Those that cannot be built here are left out, and all of
    them is a reason to skip."""
    said = set()

    def build(*names):
        built, reasons = frameless.build(names, paths.FIXTURES)
        if not built:
            pytest.skip("; ".join(reasons))
        for reason in set(reasons) - said:
            warnings.warn(reason)
        said.update(reasons)
        return built
    return build


@pytest.fixture
def processes(tmp_path):
    everything = Processes(tmp_path)
    yield everything
    everything.end_all()


@pytest.fixture
def open_directory():
    """Where every user may run programs."""
    path = Path(tempfile.mkdtemp(prefix="xagent-test-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def start_agent(processes, tmp_path):
    """Start `xagent run` with a configuration's text."""
    def start(text, *arguments, **options):
        return Agent(processes, tmp_path, text, *arguments, **options)
    return start


@pytest.fixture
def standin(processes, tmp_path):
    """The in-repository Pyroscope. It never has to refuse a profile for what is in it, nor sees one twice."""
    server = StandIn(processes, tmp_path)
    yield server
    stats = server.stats()
    assert not stats["refusals"] and not stats["duplicates"], stats


@pytest.fixture
def two_cpus():
    if len(CPUS) < 2:
        pytest.skip("needs two CPUs")
    return CPUS[0], CPUS[1]


@pytest.fixture
def cgroup():
    """A new child of the cgroup2 root, emptied and removed afterwards."""
    reason = privileges.why_no_cgroup2()
    if reason:
        pytest.skip(reason)
    root = privileges.cgroup2_root()
    path = root / f"xagent-test-{os.getpid()}"
    path.mkdir()
    yield path
    _remove_cgroup(root, path)


class Container(NamedTuple):
    """A control group that looks like a container's: who is in it is a target of its own, whatever else runs on this host."""
    id: str
    path: Path

    def enter(self):
        """What a child does before its exec."""
        (self.path / "cgroup.procs").write_text("0")

    def only(self, name):
        """Arguments of pyroscope.ebpf: nobody else is profiled."""
        return {"targets": [{"__container_id__": self.id, "service_name": name}], "targets_only": True}


@pytest.fixture
def container():
    """Whoever is still in it is killed afterwards."""
    reason = privileges.why_no_cgroup2()
    if reason:
        pytest.skip(reason)
    root, number = privileges.cgroup2_root(), f"{os.getpid():064x}"
    path = root / f"docker-{number}.scope"
    path.mkdir()
    yield Container(number, path)
    (path / "cgroup.kill").write_text("1")
    _remove_cgroup(root, path)


def _remove_cgroup(root, path):
    for pid in (path / "cgroup.procs").read_text().split():
        try:
            (root / "cgroup.procs").write_text(pid)
        except OSError:
            pass
    for _ in range(50):
        try:
            path.rmdir()
            return
        except OSError:
            time.sleep(0.1)
