# SPDX-License-Identifier: Apache-2.0
"""Processes of twenty milliseconds, gone before anybody could read their /proc, have names and a service all the same."""
import pytest

from harness import folded, paths
from harness.agent import config
from harness.processes import cpu_seconds
from harness.standin import services_with

pytestmark = pytest.mark.bpf

RATE = 499
CHAIN = ("main", "tiny_main", "tiny_spin")


def test_in_profile(processes, programs, tmp_path):
    path = tmp_path / "out"
    run = processes.run(paths.XAGENT, "profile", "-f", "folded", "-F", RATE, "-o", path, "--",
                        programs["shortlived"], 4, programs["tiny"])
    assert run.popen.returncode == 0, run.err
    stacks = folded.parse(path.read_text())
    named = stacks.having("tiny_spin")
    # The rest is exec, the start of libc, and exit.
    assert named.total >= 0.8 * cpu_seconds(run) * RATE > 100, f"{run.out}\n{stacks.show()}"
    assert named.having_run(*CHAIN).total >= 0.98 * named.total, named.show()
    assert {s.frames[0] for s in named} == {"tiny"}, named.show()


def test_samples_of_short_processes_are_named(processes, programs, tmp_path):
    """Of what is sampled in a tiny process' user code, all is named: none at its start without a stack."""
    path = tmp_path / "out"
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", RATE, "-o", path, "--",
                        programs["shortlived"], 4, programs["tiny"])
    assert run.popen.returncode == 0, run.err
    tiny = folded.Stacks(s for s in folded.parse(path.read_text()) if s.frames[0] == "tiny")
    # The rest is its start-up in libc and the loader, a millisecond each.
    assert tiny.having("tiny_spin").total >= 0.8 * tiny.total > 0, tiny.show()


@pytest.mark.parametrize("name", ["fdeep", "fdeep-thread"])
def test_deep_stacks_are_whole(processes, programs, frameless_programs, tmp_path, name):
    """What nobody knows yet is sampled with its stack, however deep it is: 100 KiB here, frame pointers lead nowhere."""
    path = tmp_path / "out"
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", RATE, "-o", path, "--",
                        programs["shortlived"], 4, frameless_programs(name)[name])
    assert run.popen.returncode == 0, run.err
    deep = folded.parse(path.read_text()).having("deep_spin")
    whole = deep.having_run("deep_main", *["deep_call"] * 50, "deep_spin")
    assert whole.total >= 0.98 * deep.total > 100, deep.show()


def test_in_run(start_agent, standin, processes, programs):
    agent = start_agent(config(standin.url, interval="2s", rate=RATE)).wait_ready()
    run = processes.run(programs["shortlived"], 4, programs["tiny"])
    assert agent.stop() == 0
    spins = services_with(standin.pushes(), *CHAIN)
    assert set(spins) == {"tiny"}
    assert spins["tiny"] >= 0.8 * cpu_seconds(run) * RATE > 100, (spins, run.out)


@pytest.mark.agent
def test_processes_that_ended_are_forgotten(start_agent, standin, processes):
    """A tick may hit a process after it has told its end: that must not bring it back for ever."""
    agent = start_agent(config(standin.url, interval="1s", rate=997))
    agent.wait_ready()
    before = agent.metrics().value("xagent_processes")
    storm = processes.start("/bin/sh", "-c", "i=0; while [ $i -lt 4000 ]; do /bin/true; i=$((i + 1)); done")
    storm.wait(60)
    # What lives on this host and was sampled meanwhile is known, too: some dozens. One of 20 of the 4,000 is hit so late.
    agent.wait_metric(lambda m: m.value("xagent_processes") <= before + 60, 10, "nothing of 4,000 processes is left")
    assert agent.metrics().kernel("emitted") > 500
