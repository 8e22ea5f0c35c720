# SPDX-License-Identifier: Apache-2.0
"""Waits where no program runs when a task is back, as on AArch64 before 6.4: what holds elsewhere holds there, by an agent that looks for no such place."""
import os
import re
import subprocess

import pytest

import test_off_cpu
import test_off_cpu_reason
import test_off_cpu_waker
import test_run_queue
import test_wall
from harness import folded, paths, pprof
from harness.processes import wait_until
from test_hung_readers import deadfs, start_victim, test_look_at_open_waits_is_stuck  # noqa: F401
from test_off_cpu import (test_a_process_that_ends_while_it_waits, test_a_wait_of_a_command_that_goes_on, test_a_wait_that_goes_on,  # noqa: F401
                          test_exec_while_another_thread_waits, test_many_threads, test_migration_at_every_wake, test_of_an_agent,
                          test_short_waits_are_unbiased, test_waits_by_function)
from test_off_cpu_reason import test_labels, test_reasons, test_without_reasons  # noqa: F401
from test_off_cpu_waker import test_sums_are_the_same, test_who_ends_a_wait  # noqa: F401
from test_open_waits import test_functions_of_a_run_of_one_look  # noqa: F401
from test_run_queue import test_behind_a_neighbour  # noqa: F401
from test_wall import test_component_counts_each_sample_once, test_sum_is_threads_by_time  # noqa: F401

pytestmark = pytest.mark.bpf
PREDICTED = paths.BUILD / "tests/events/predicted/xagent"
# What is taken of thirty waits is a sample, of each with the probability that was predicted.
WITHIN = 0.15
LEAST = 2
# Of wall-clock time.
WALL_WITHIN = 0.03
# On some kernels (a 6.18 of Firecracker's, where its own trace lacks one of a thousand) sched_switch is not told of each switch: these are counted. On 6.1 it is.
UNSEEN = 200


@pytest.fixture(scope="module", autouse=True)
def predicted_xagent():
    made = subprocess.run(["make", "--no-print-directory", "-C", paths.TOP, PREDICTED.relative_to(paths.TOP)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr


@pytest.fixture(autouse=True)
def predicted(monkeypatch):
    monkeypatch.setattr(paths, "XAGENT", PREDICTED)
    for module in (test_off_cpu, test_off_cpu_reason, test_off_cpu_waker, test_run_queue):
        monkeypatch.setattr(module, "WITHIN", WITHIN)
    monkeypatch.setattr(test_off_cpu, "UNSEEN", UNSEEN)
    monkeypatch.setattr(test_wall, "WITHIN", WALL_WITHIN)
    monkeypatch.setattr(test_off_cpu_reason, "LEAST", LEAST)


def test_it_is_so(processes):
    run = processes.start(paths.XAGENT, "profile", "-v", "-e", "off_cpu", "-d", "0.2", "-o", os.devnull)
    assert run.wait(60) == 0 and "samples of waits are taken when these begin" in run.err, run.err


def test_long_after_many_short(processes, programs, tmp_path):
    """Nobody foresees it: each long wait is worth what it lasts, for it is found while it lasts."""
    run = processes.start(paths.XAGENT, "profile", "-e", "off_cpu", "-o", tmp_path / "p.pb.gz", "--", programs["surprise"], "6", "3000", "400")
    assert run.wait(60) == 0, run.err
    own = int(re.search(r"^long (\d+)$", run.out, re.M)[1])
    found = pprof.parse((tmp_path / "p.pb.gz").read_bytes())
    mine = [s for s in found.samples if "wait_long" in s.frames and s.frames[-1] == "[sleep]"]
    assert sum(s.values[1] for s in mine) == 6, mine
    assert abs(sum(s.values[0] for s in mine) / own - 1) < 0.02, (own, mine)


def test_functions_of_a_wait_that_begins(processes, tmp_path):
    """Python's functions are walked when it leaves its CPU: they need no look at its memory later."""
    script = tmp_path / "sleeps.py"
    script.write_text("import time\ndef rests():\n    time.sleep(0.02)\nfor _ in range(100):\n    rests()\n")
    run = processes.start(paths.XAGENT, "profile", "-e", "off_cpu", "-f", "folded", "-o", tmp_path / "f", "--", "python3", script)
    assert run.wait(60) == 0, run.err
    mine = folded.parse((tmp_path / "f").read_text()).having_run("__main__.<module>", "__main__.rests")
    # Its first waits come before the agent knows what runs.
    assert 0.6 * 2e9 < mine.total < 1.3 * 2e9, mine.show()


def test_nothing_is_left(start_agent, standin, processes, programs):
    """Each sample has its end, or is of a wait that goes on: counted once, also of threads that come and go."""
    text = test_off_cpu.config(standin.url, interval="1s", rate=97).replace("\n\tsample_rate", test_off_cpu.EVENTS, 1)
    agent = start_agent(text).wait_ready()
    for _ in range(20):
        assert processes.start(programs["waiter"], "2").wait(60) == 0
    m = wait_until(lambda: (lambda m: m.agent("samples_in_profiles") > 200 and m)(agent.metrics()), 30, "samples in profiles")
    assert m.agent("samples_received") == m.agent("samples_in_profiles") + m.dropped_samples() + m.value("xagent_samples_waiting")
    unseen = m.value("xagent_kernel_lost_unseen_total", event="off_cpu")
    assert m.agent("ends_missing") <= unseen <= UNSEEN and m.agent("ends_malformed") == 0, (unseen, m.agent("ends_missing"))
    assert agent.stop() == 0
