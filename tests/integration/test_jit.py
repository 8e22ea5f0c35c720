# SPDX-License-Identifier: Apache-2.0
"""Generated code has the names that its process writes down: perf maps and jitdumps, wherever they are; and only the process's own."""
import os
import shutil
from pathlib import Path

import pytest

from harness import folded, nodes, paths, privileges
from harness.agent import config
from harness.standin import services_with

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

RATE = 499
SECONDS = 2

SCRIPT = """
function leafWork(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
function middleWork(n) { let t = 0; for (let k = 0; k < 50; k++) t += leafWork(n); return t; }
function outerWork(end) { let x = 0; while (Date.now() < end) x += middleWork(1000); return x; }
console.log(outerWork(Date.now() + 1000 * Number(process.argv[2])));
"""


def profile(processes, tmp_path, *argv, **options):
    """(the run, stacks of the user half) of a program that `xagent profile` starts."""
    path = tmp_path / "out.folded"
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", RATE, "-o", path, "--", *argv, **options)
    assert run.popen.returncode == 0, run.err
    return run, folded.parse(path.read_text())


def cpu_seconds(run):
    """Of all fixture programs that have printed theirs."""
    return sum(float(line.split()[1]) for line in run.out.splitlines() if line.startswith("cpu "))


def check_named(run, stacks, *chain, share=0.95):
    """Nearly all of the fixture's samples have this chain; what is not named would be [jit]."""
    page = stacks.having("run_code")
    assert page.total > 0.5 * cpu_seconds(run) * RATE > 10, f"{run.out}{run.err}\n{stacks.show()}"
    assert page.having_run("main", "run_code", *chain).total >= share * page.total, stacks.show()


def remove_maps(run):
    """What fixture programs have left behind."""
    for line in run.out.splitlines():
        if line.endswith(" code"):
            Path(f"/tmp/perf-{line.split()[0]}.map").unlink(missing_ok=True)


def test_named_after_its_end(processes, programs, tmp_path):
    """The process is gone, and its map removed, long before names are looked up."""
    run, stacks = profile(processes, tmp_path, programs["jitcode"], "map", SECONDS, "first function")
    check_named(run, stacks, "first function")


def test_cleaned(processes, programs, tmp_path):
    run, stacks = profile(processes, tmp_path, programs["jitcode"], "map", SECONDS, b"bad\xffname\x01")
    check_named(run, stacks, "bad\ufffdname?")


def test_address_used_again(start_agent, standin, processes, programs):
    """A line for the same address holds from the interval on in which it is written."""
    agent = start_agent(config(standin.url, interval="1s", rate=RATE)).wait_ready()
    run = processes.run(programs["jitcode"], "map", 4, "alpha", "beta")
    assert agent.stop() == 0
    alpha, beta = (services_with(standin.pushes(), "run_code", name) for name in ("alpha", "beta"))
    assert set(alpha) == set(beta) == {"jitcode"}
    # Of the interval in the middle, all is the second's.
    least = 0.15 * cpu_seconds(run) * RATE
    assert alpha["jitcode"] >= least > 5 and beta["jitcode"] >= least, (alpha, beta)


def test_two_functions_at_one_address(processes, programs, tmp_path):
    """Within one interval, which is named when both are gone."""
    run, stacks = profile(processes, tmp_path, programs["jitcode"], "map", 1, "alpha", "beta")
    page = stacks.having("run_code")
    assert page.total > 0.5 * cpu_seconds(run) * RATE > 10, f"{run.out}{run.err}\n{stacks.show()}"
    for name in ("alpha", "beta"):
        assert page.having_run("run_code", name).total >= 0.35 * page.total, stacks.show()


def test_told_after_the_first_sample(processes, programs, tmp_path):
    """The map comes in the middle of the only interval."""
    process = processes.start(programs["jitcode"], "late", 5, "told late")
    process.wait_for_output(" code")
    path = tmp_path / "out.folded"
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", RATE, "-d", 3.5, "-p", process.pid, "-o", path)
    assert run.popen.returncode == 0, run.err
    page = folded.parse(path.read_text()).having("run_code")
    assert page.total > 10 and page.having_run("run_code", "told late").total >= 0.95 * page.total, page.show()


def test_same_address_in_two_processes(processes, programs, tmp_path):
    """Of one program, and so of one series; each with a function of its own there."""
    script = f'{programs["jitcode"]} map {SECONDS} alpha & {programs["jitcode"]} map {SECONDS} beta & wait'
    run, stacks = profile(processes, tmp_path, "/bin/sh", "-c", script)
    both = stacks.having("run_code")
    assert both.total > 10, stacks.show()
    for name in ("alpha", "beta"):
        assert both.having_run("run_code", name).total >= 0.2 * both.total, stacks.show()
    assert both.having("[jit]").total <= 0.05 * both.total, stacks.show()


def test_in_namespaces(processes, programs, tmp_path):
    """Its /tmp is not ours, nor is its pid: the map lies in its root, as perf-1.map."""
    reason = privileges.why_no_tool("unshare", "mount")
    if reason:
        pytest.skip(reason)
    place = tmp_path / "place"
    place.mkdir()
    script = (f'mount -t tmpfs none {place} && cp {programs["jitcode"]} {place} && mount --bind {place} /tmp && '
              f'exec /tmp/jitcode left {SECONDS} inside')
    run, stacks = profile(processes, tmp_path, "unshare", "--pid", "--fork", "--mount", "/bin/sh", "-c", script)
    if "unshare" in run.err and "failed" in run.err:
        pytest.skip(run.err)
    assert run.out.splitlines()[0] == "1 code", run.out
    check_named(run, stacks, "inside")


@pytest.mark.parametrize("how", ["fifo", "link", "other"])
def test_not_its_own(processes, programs, tmp_path, how):
    """Ignored, and nothing waits for anybody to write into the FIFO."""
    if how == "other" and os.geteuid() != 0:
        pytest.skip("only root gives files away")
    run, stacks = profile(processes, tmp_path, programs["jitcode"], how, SECONDS, "stranger", seconds=30)
    check_named(run, stacks, "[jit]")
    assert "stranger" not in stacks.frames(), stacks.show()


def test_short_lived(processes, programs, tmp_path):
    """Twenty processes of a tenth of a second each."""
    script = f'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do {programs["jitcode"]} left 0.1 short; done'
    run, stacks = profile(processes, tmp_path, "/bin/sh", "-c", script)
    remove_maps(run)
    check_named(run, stacks, "short", share=0.9)


def test_in_the_heap(processes, programs, tmp_path):
    run, stacks = profile(processes, tmp_path, programs["jitcode"], "heap", SECONDS, "nobody told")
    check_named(run, stacks, "[heap]")


def test_in_memory_with_a_name(processes, programs, tmp_path):
    """Only /proc tells such names: of a process that was there before."""
    process = processes.start(programs["jitcode"], "named", 30, "nobody told")
    try:
        process.wait_for_output(" code")
    except AssertionError:
        pytest.skip(f"this kernel does not name anonymous memory: {process.err}")
    path = tmp_path / "out.folded"
    run = processes.run(paths.XAGENT, "profile", "-U", "-f", "folded", "-F", RATE, "-d", SECONDS, "-p", process.pid, "-o", path)
    assert run.popen.returncode == 0, run.err
    stacks = folded.parse(path.read_text())
    assert stacks.having_run("run_code", "[anon:generated]").total >= 0.95 * stacks.having("run_code").total > 10, stacks.show()


def test_inspect_stack(processes, programs):
    process = processes.start(programs["jitcode"], "map", 30, "looked at")
    process.wait_for_output(" code")
    run = processes.run(paths.XAGENT, "inspect", "stack", process.pid)
    assert run.popen.returncode == 0, run.err
    assert " looked at\n" in run.out and " run_code " in run.out, run.out


@pytest.mark.parametrize("flag", ["--perf-basic-prof", "--perf-prof"])
def test_node(processes, tmp_path, flag):
    """--perf-basic-prof writes a perf map, --perf-prof a jitdump into the directory that it is started in. Without builtins that are found functions have no other names."""
    reason = privileges.why_no_tool("node")
    if reason:
        pytest.skip(reason)
    node = nodes.without_builtins(shutil.which("node"), tmp_path / "node")
    (tmp_path / "work.js").write_text(SCRIPT)
    # Each function a frame of its own.
    run, stacks = profile(processes, tmp_path, node, flag, "--interpreted-frames-native-stack", "--max-inlined-bytecode-size=0",
                          tmp_path / "work.js", SECONDS, cwd=tmp_path)
    dumps = list(tmp_path.glob("jit-*.dump"))
    assert len(dumps) == (flag == "--perf-prof")

    def function(stack, name):
        return any(name in frame and "work.js" in frame for frame in stack.frames)
    leaf = folded.Stacks(s for s in stacks if function(s, "leafWork"))
    # The rest is the start of node itself, and the compiler's threads.
    assert leaf.total >= 0.4 * stacks.total > 20, stacks.show()
    whole = folded.Stacks(s for s in leaf if function(s, "middleWork") and function(s, "outerWork"))
    assert whole.total >= 0.9 * leaf.total, leaf.show()
    assert stacks.having("[jit]").total <= 0.1 * stacks.total, stacks.show()
