# SPDX-License-Identifier: Apache-2.0
"""What a host can confront the agent with: files that are no ELF, code without a file, files that are gone, processes that are gone."""
import shutil

import pytest

from harness import folded, paths
from harness.agent import config

pytestmark = pytest.mark.bpf

RATE = 499
CHAIN = ("main", "alpha", "beta", "gamma", "spin")


def profile(processes, tmp_path, *arguments):
    path = tmp_path / "out"
    run = processes.run(paths.XAGENT, "profile", "-f", "folded", "-F", RATE, "-o", path, *arguments)
    assert run.popen.returncode == 0, run.err
    return folded.parse(path.read_text())


def one_process(standin, process, **arguments):
    return config(standin.url, interval="1s", rate=RATE, targets_only=True,
                  targets=[{"__process_pid__": str(process.pid), "service_name": "known"}], **arguments)


def test_garbage_elf_is_named_by_file_and_offset(processes, programs, tmp_path):
    garbage = tmp_path / "garbage.so"
    stacks = profile(processes, tmp_path, "--", programs["codepage"], 1, garbage)
    inside = folded.Stacks(s for s in stacks if s.frames[-1].startswith("garbage.so+0x"))
    assert inside.total >= 100, stacks.show()
    assert inside.having("main", "run_page").total >= 0.99 * inside.total, inside.show()


def test_garbage_elf_is_counted(start_agent, standin, processes, programs, tmp_path):
    page = processes.start(programs["codepage"], 50, tmp_path / "garbage.so")
    page.wait_for_output("page")
    agent = start_agent(one_process(standin, page)).wait_ready()
    m = agent.wait_metric(lambda m: m.agent("objects_malformed") > 0, 15, "the garbage is noticed")
    assert m.agent("objects_malformed") == 1
    assert agent.stop() == 0
    assert standin.samples() > 0


def test_code_without_a_file(start_agent, standin, processes, programs, tmp_path):
    page = processes.start(programs["codepage"], 50)
    page.wait_for_output("page")
    stacks = profile(processes, tmp_path, "-d", 1, "-p", page.pid)
    below = stacks.having_run("main", "run_page")
    assert below.total >= 0.99 * stacks.total >= 100, stacks.show()
    assert all(len(s.frames) > s.frames.index("run_page") + 1 for s in below), below.show()
    agent = start_agent(one_process(standin, page)).wait_ready()
    m = agent.wait_metric(lambda m: m.agent("samples_in_profiles") >= 100, 15, "samples")
    assert m.kernel("raw_frames") > 0 and m.kernel("fp_frames") > 0
    assert agent.stop() == 0


def test_names_of_a_deleted_program(processes, programs, tmp_path):
    copy = tmp_path / "gone"
    shutil.copy(programs["chain"], copy)
    chain = processes.start(copy, 20)
    chain.wait_for_output("main")
    copy.unlink()
    stacks = profile(processes, tmp_path, "-d", 1, "-p", chain.pid)
    leaf = stacks.having("spin")
    assert leaf.having_run(*CHAIN).total >= 0.99 * stacks.total >= 100, stacks.show()


def test_names_of_a_replaced_program(processes, programs, tmp_path):
    """Another file under the same path is not what runs, whatever it says about the addresses."""
    path = tmp_path / "app"
    shutil.copy(programs["chain"], path)
    chain = processes.start(path, 20)
    chain.wait_for_output("main")
    shutil.copy(programs["deep"], tmp_path / "next")
    (tmp_path / "next").replace(path)
    stacks = profile(processes, tmp_path, "-d", 1, "-p", chain.pid)
    assert stacks.having_run(*CHAIN).total >= 0.99 * stacks.total >= 100, stacks.show()
    assert not stacks.having("descend") and not stacks.having("deep_spin"), stacks.show()


def test_files_without_symbols_are_counted(start_agent, standin, processes, programs):
    chain = processes.start(programs["chain_stripped"], 50)
    chain.wait_for_output("main")
    agent = start_agent(one_process(standin, chain)).wait_ready()
    m = agent.wait_metric(lambda m: m.agent("frames_unresolved") > 0, 15, "frames without a name")
    assert m.agent("objects_malformed") == 0 and m.agent("files_open_errors") == 0
    assert agent.stop() == 0


def test_processes_that_vanish(start_agent, standin, processes, programs):
    """Hundreds of processes that are gone when their samples are read: counted at worst, and the rest goes on."""
    agent = start_agent(config(standin.url, interval="1s", rate=997)).wait_ready()
    script = "i=0; while [ $i -lt 1500 ]; do /bin/true; i=$((i+1)); done"
    assert processes.run("sh", "-c", script).popen.returncode == 0
    m = agent.metrics()
    assert m.agent("process_read_errors") <= m.agent("samples_received")
    assert agent.get("/-/healthy")[0] == 200
    assert agent.stop() == 0
    assert standin.samples() >= m.agent("samples_received") - m.dropped_samples()


def test_name_that_is_no_utf8(start_agent, standin, processes, programs, tmp_path):
    """Whatever a user calls a program, it reaches the server as valid UTF-8."""
    path = bytes(tmp_path) + b'/caf\xe9 \x01";{}'
    shutil.copy(programs["chain_stripped"], path)
    odd = processes.start("sh", "-c", 'exec "$0" 50', path)
    odd.wait_for_output("main")
    agent = start_agent(config(standin.url, interval="1s", rate=RATE)).wait_ready()
    m = agent.wait_metric(lambda m: m.get("pyroscope_write_sent_profiles_total") >= 4, 15, "profiles")
    assert m.get("pyroscope_write_dropped_profiles_total") == 0, agent.log
    assert any("caf" in push.labels["service_name"] for push in standin.pushes())
    assert agent.stop() == 0
