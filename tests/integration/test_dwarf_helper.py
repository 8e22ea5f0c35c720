# SPDX-License-Identifier: Apache-2.0
"""DWARF is read by processes that can do nothing else: what they may, and what becomes of the agent when a file makes them spin, grow or die."""
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from harness import paths
from harness.agent import config
from harness.dwarf import COUNTERS, argv, counters, files_of, helpers, leaves, status, wait_reader
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

PROGRAM = r"""
#include <stdlib.h>
#include <stdio.h>
#include <time.h>
static volatile unsigned int sink;
__attribute__((noinline)) void burn(unsigned int n) { for (unsigned int i = 0; i < n; i++) sink += i * i; }
int main(int argc, char **argv)
{
	time_t end = time(NULL) + atoi(argv[1]);
	puts("main"); fflush(stdout);
	while (time(NULL) < end) burn(100000);
	return argc > 99;
}
"""

# A unit (DWARF 4) of 20,000 functions that all have the same 50,000 ranges: 10⁹ ranges have to be looked at before the first address has a
# function, in 1 MB of file. Empty ones cost time, others memory too.
HOSTILE = r"""
	.section .debug_abbrev,"",@progbits
abbreviations:
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x11, 0x01, 0x12, 0x07, 0, 0
	.uleb128 2, 0x2e
	.byte 0
	.uleb128 0x55, 0x17, 0, 0
	.byte 0
	.section .debug_info,"",@progbits
	.long end - begin
begin:
	.short 4
	.long abbreviations
	.byte 8
	.uleb128 1
	.quad burn, 0x1000
	.rept 20000
	.uleb128 2
	.long ranges
	.endr
	.byte 0
end:
	.section .debug_ranges,"",@progbits
ranges:
	.rept 50000
	.quad 16, {end}
	.endr
	.quad 0, 0
	.section .note.GNU-stack,"",@progbits
"""

@pytest.fixture
def hostile(tmp_path):
    """Build a program whose debug information costs time, or memory."""
    def build(kind):
        (tmp_path / "p.c").write_text(PROGRAM)
        (tmp_path / "h.s").write_text(HOSTILE.format(end={"time": 16, "memory": 32}[kind]))
        path = tmp_path / f"hostile-{kind}"
        subprocess.run(["gcc", "-O2", "-o", path, tmp_path / "p.c", tmp_path / "h.s"], check=True)
        return path
    return build


def for_program(standin, program, **more):
    return config(standin.url, interval="1s", rate=499, targets_only=True, **more,
                  targets=[{"__process_pid__": str(program.pid), "service_name": "watched"}])


def test_without_lines_there_is_no_process(start_agent, standin, processes, programs):
    chain = processes.start(programs["inlined"], 20)
    agent = start_agent(for_program(standin, chain)).wait_ready()
    agent.wait_metric(lambda m: m.value("pyroscope_ebpf_profiling_sessions_total") >= 3, 20, "three intervals")
    assert helpers(agent) == (None, [])


def test_they_have_no_rights(start_agent, standin, processes, hostile):
    program = processes.start(hostile("time"), 30)
    agent = start_agent(for_program(standin, program, lines=True, inlines=True)).wait_ready()
    server, reader = wait_reader(agent, program)
    for pid in (server, reader):
        s = status(pid)
        assert {s[f"Cap{which}"] for which in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0" * 16}, s
        assert (s["Seccomp"], s["NoNewPrivs"], s["Groups"].strip()) == ("2", "1", ""), s
        assert s["Uid"].split() == s["Gid"].split() == ["65534"] * 4, s
        assert s["Name"] == "xagent-dwarf"
        assert Path(f"/proc/{pid}/environ").read_bytes() == b""
        assert Path(f"/proc/{pid}/oom_score_adj").read_text() == "1000\n"
        limits = Path(f"/proc/{pid}/limits").read_text()
        assert re.search(r"Max core file size +0 +0 ", limits) and re.search(r"Max open files +16 +16 ", limits), limits
        files = {to for to in files_of(pid) if not to.startswith("socket:")}
        assert files == ({"/dev/null", str(program.argv[0])} if pid == reader else {"/dev/null"})
    # It has these a moment after it was started.
    limits = wait_until(lambda: re.search(r"Max processes +0 +0 ", t := Path(f"/proc/{reader}/limits").read_text()) and t, 5, "its limits")
    assert re.search(r"Max cpu time +60 +60 ", limits), limits
    assert "unlimited" not in re.search(r"Max address space.*", limits).group()
    # They end with the agent, however that ends.
    agent.process.send(signal.SIGKILL)
    wait_until(lambda: not argv(server) and not argv(reader), 10, "no process is left")


@pytest.mark.parametrize("kind, counter", [("time", "timed_out"), ("memory", "out_of_memory"), ("crash", "crashed")])
def test_a_hostile_file_costs_its_lines_only(start_agent, standin, processes, programs, hostile, kind, counter):
    program = processes.start(hostile("memory" if kind == "memory" else "time"), 30)
    text = config(standin.url, interval="1s", rate=499, targets_only=True, lines=True, inlines=True,
                  targets=[{"__process_pid__": str(program.pid), "service_name": "hostile"},
                           {"__process_pid__": str(processes.start(programs["inlined"], 30).pid), "service_name": "other"}])
    agent = start_agent(text).wait_ready()
    if kind == "crash":
        os.kill(wait_reader(agent, program)[1], signal.SIGSEGV)
    ticks = agent.metrics().kernel("ticks")
    agent.wait_metric(lambda m: m.agent(f"dwarf_helper_{counter}") == 1, 20, counter)
    # It is left alone from now on, and everything goes on: ticks, intervals, the names of both by their symbol tables, lines of the other.
    sessions = agent.metrics().value("pyroscope_ebpf_profiling_sessions_total")
    agent.wait_metric(lambda m: m.value("pyroscope_ebpf_profiling_sessions_total") >= sessions + 4, 30, "four intervals")
    assert agent.metrics().kernel("ticks") > ticks
    assert counters(agent) == {name: int(name == counter) for name in COUNTERS}
    said = [line for line in agent.log_lines(level="warn") if "debug information could not be read" in line["msg"]]
    assert [line["path"] for line in said] == [str(program.argv[0])], agent.log
    assert agent.stop() == 0
    hostile_leaves, other = leaves(standin, "hostile"), leaves(standin, "other")
    assert {p[0] for p in hostile_leaves} >= {"burn"} and {p[2] for p in hostile_leaves if p[0] == "burn"} == {0}, hostile_leaves
    assert any(p[0] == "churn" and p[1].endswith("inlined.c") and p[2] > 0 for p in other), other


def test_inspect_and_profile_go_the_same_way(processes, hostile, tmp_path):
    program = hostile("memory")
    address = next(line.split()[0] for line in subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
                   if line.endswith(" burn"))
    run = processes.run(paths.XAGENT, "inspect", "symbols", "--lines", program, f"0x{address}")
    assert run.out.splitlines()[-1].endswith(" burn") and "debug information could not be read" in run.err
    path = tmp_path / "out.folded"
    run = processes.run(paths.XAGENT, "profile", "--lines", "-F", 499, "-f", "folded", "-o", path, "--", program, 2, seconds=30)
    assert "burn " in path.read_text() and f"{program}: debug information could not be read" in run.err
