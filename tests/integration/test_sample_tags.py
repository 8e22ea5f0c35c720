# SPDX-License-Identifier: Apache-2.0
"""`comm` and `pid_label`: what each sample tells of its process, as a server is sent it."""
import os
import subprocess

import pytest

from harness import privileges
from harness.agent import config
from harness.processes import wait_until
from test_accounting import at_rest

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

# The name of the process is that of its leader, which sleeps; what burns has a name of its own.
SOURCE = r"""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long n;

__attribute__((noinline)) static void tagged_spin(void)
{
	for (int i = 0; i < 1000000; i++)
		n++;
}

static void *burn(void *unused)
{
	pthread_setname_np(pthread_self(), "thread-name");
	for (;;)
		tagged_spin();
	return unused;
}

int main(void)
{
	pthread_t t;

	puts("burns");
	fflush(stdout);
	pthread_create(&t, NULL, burn, NULL);
	pause();
}
"""


@pytest.fixture
def tagged(processes, tmp_path):
    """A running process called "tagged"."""
    reason = privileges.why_no_tool(os.environ.get("CC", "gcc"))
    if reason:
        pytest.skip(reason)
    (tmp_path / "tagged.c").write_text(SOURCE)
    subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-pthread", "-o", tmp_path / "tagged", tmp_path / "tagged.c"], check=True)
    process = processes.start(tmp_path / "tagged")
    process.wait_for_output("burns")
    return process


def spins(pushes):
    """(label comm, label pid, outermost frame) of the samples in tagged_spin."""
    return {(s.labels.get("comm"), s.labels.get("pid"), s.frames[0])
            for p in pushes for s in p.profile.samples if "tagged_spin" in s.frames}


def reload(agent, text):
    agent.config_path.write_text(text)
    status, body = agent.get("/-/reload")
    assert status == 200, body


def test_tags_come_and_go(start_agent, standin, tagged):
    """By reloads, from one interval to the next, and no sample is lost; the series has no label of it."""
    pid = str(tagged.pid)
    plain, both = {(None, None, "clone3"), (None, None, "__clone3"), (None, None, "start_thread")}, ("tagged", pid, "tagged")

    def text(**arguments):
        return config(standin.url, interval="0.5s", rate=499, targets=[{"__process_pid__": pid, "service_name": "x"}], **arguments)

    def wait(tags):
        wait_until(lambda: tags & spins(standin.pushes(service_name="x")), 15, f"samples with {tags}")

    agent = start_agent(text(comm="both", pid_label=True)).wait_ready()
    wait({both})
    assert spins(standin.pushes(service_name="x")) == {both}
    reload(agent, text(comm="label"))
    wait({("tagged", None, frame) for _, _, frame in plain})
    reload(agent, text(comm="stackframe"))
    wait({(None, None, "tagged")})
    reload(agent, text(pid_label=True))
    wait({(None, pid, frame) for _, _, frame in plain})
    reload(agent, text())
    wait(plain)
    m = wait_until(lambda: at_rest(agent, standin), 15, "what is pushed is what is in profiles")
    assert m.dropped_samples() == m.agent("samples_dropped_no_target")
    assert not [line for line in agent.log_lines(level="warn") if "no effect" in line["msg"]]
    assert agent.stop() == 0
    pushes = standin.pushes(service_name="x")
    # Neither a value of its own nor a thread's name, in whatever interval.
    assert {comm for comm, _, _ in spins(pushes)} == {None, "tagged"}
    assert {number for _, number, _ in spins(pushes)} == {None, pid}
    assert all(not {"comm", "pid"} & p.labels.keys() for p in pushes)


def test_many_processes_in_one_series(start_agent, standin, processes, tagged):
    """Each keeps its own number, and together they are what the series has."""
    others = [processes.start(tagged.argv[0]) for _ in range(2)]
    pids = {str(p.pid) for p in (tagged, *others)}
    targets = [{"__process_pid__": p, "service_name": "x"} for p in pids]
    agent = start_agent(config(standin.url, interval="0.5s", rate=499, targets=targets, pid_label=True)).wait_ready()
    wait_until(lambda: {number for _, number, _ in spins(standin.pushes(service_name="x"))} == pids, 15, "all three")
    assert agent.stop() == 0
    for push in standin.pushes(service_name="x"):
        assert {s.labels.get("pid") for s in push.profile.samples} <= pids
