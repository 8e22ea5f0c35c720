# SPDX-License-Identifier: Apache-2.0
"""`xagent profile`: what a person without a server sees. Programs whose call chains are known must show exactly these."""
import os
import pty
import signal
import subprocess

import pytest

from harness import folded, paths, pprof

pytestmark = pytest.mark.bpf

CHAIN = ("main", "alpha", "beta", "gamma", "spin")
RATE = 499


def profile(processes, *arguments, seconds=40, **options):
    return processes.run(paths.XAGENT, "profile", *arguments, seconds=seconds, **options)


def profile_folded(processes, tmp_path, *arguments, code=0, **options):
    """The stacks that `profile -f folded` with these arguments writes."""
    path = tmp_path / "out.folded"
    run = profile(processes, "-f", "folded", "-F", RATE, "-o", path, *arguments, **options)
    assert run.popen.returncode == code, run.err
    return folded.parse(path.read_text())


def start_pinned(processes, cpu, *argv):
    return processes.start(*argv, preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))


def assert_chain(stacks, run, least=100, share=0.99):
    """Of the samples whose leaf function is run's last, at least `share` show the whole run without a gap."""
    leaf = stacks.having(run[-1])
    assert leaf.total >= least, f"{leaf.total} samples of {run[-1]}\n{stacks.show()}"
    exact = leaf.having_run(*run)
    assert exact.total >= share * leaf.total, f"{exact.total} of {leaf.total} show {';'.join(run)}\n{leaf.show()}"


def kernel_half(stack, leaf):
    """The frames above the user function `leaf`."""
    return stack.frames[stack.frames.index(leaf) + 1:]


# Chains

def test_chain_is_exact(processes, programs, tmp_path):
    stacks = profile_folded(processes, tmp_path, "--", programs["chain"], 2)
    assert_chain(stacks, CHAIN)


def test_chain_of_a_running_process_is_exact(processes, programs, tmp_path):
    chain = processes.start(programs["chain"], 20)
    chain.wait_for_output("main")
    stacks = profile_folded(processes, tmp_path, "-d", 2, "-p", chain.pid)
    assert_chain(stacks, CHAIN)
    assert stacks.having("spin").total == stacks.total, stacks.show()


def test_each_thread_shows_its_own_chain(processes, programs, tmp_path):
    stacks = profile_folded(processes, tmp_path, "--", programs["chain"], 2, 2)
    for thread in ("thread_a", "thread_b"):
        assert_chain(stacks.having(thread), (thread, *CHAIN[1:]), least=50)
    assert not stacks.having("thread_a", "thread_b"), stacks.show()
    spinning = stacks.having("spin")
    rooted = spinning.having("thread_a").total + spinning.having("thread_b").total
    assert rooted >= 0.99 * spinning.total, spinning.show()


def test_static_program(processes, programs, tmp_path):
    assert_chain(profile_folded(processes, tmp_path, "--", programs["chain_static"], 1), CHAIN)


def test_stripped_program_is_named_by_file_and_offset(processes, programs, tmp_path):
    stacks = profile_folded(processes, tmp_path, "--", programs["chain_stripped"], 1)
    own = [s for s in stacks if any(f.startswith("chain_stripped+0x") for f in s.frames[1:])]
    assert sum(s.count for s in own) >= 100, stacks.show()
    assert not stacks.having("spin"), stacks.show()


@pytest.mark.parametrize("depth", [30, 900])
def test_deep_stack_is_complete(processes, programs, tmp_path, depth):
    stacks = profile_folded(processes, tmp_path, "--", programs["deep"], 1, depth)
    assert_chain(stacks, ("main", *["descend"] * depth, "deep_spin"), least=50)


def test_too_deep_stack_says_that_it_is_cut(processes, programs, tmp_path):
    stacks = profile_folded(processes, tmp_path, "--", programs["deep"], 1, 3000)
    deep = stacks.having("deep_spin")
    assert deep.total >= 50, stacks.show()
    cut = [s for s in deep if any(f.startswith("[truncated") for f in s.frames) and s.frames.count("descend") >= 900]
    assert sum(s.count for s in cut) >= 0.99 * deep.total, deep.show(2)[:2000]


def test_child_that_never_execs_has_its_parents_names(processes, programs, tmp_path):
    stacks = profile_folded(processes, tmp_path, "-d", 3, "--", programs["forker"], 2)
    assert_chain(stacks, ("main", "fork_point", "in_child", "child_spin"))


def test_exec_changes_the_names_at_once(processes, programs, tmp_path):
    stacks = profile_folded(processes, tmp_path, "--", programs["execer"], 1, programs["execed"])
    assert_chain(stacks, ("main", "before_exec"), least=50)
    assert_chain(stacks, ("main", "after_exec"), least=50)
    assert not stacks.having("before_exec", "after_exec"), stacks.show()


def test_dead_leader(processes, programs, tmp_path):
    """A process whose main thread has ended still has its mappings, though /proc/PID/maps is empty."""
    worker = processes.start(programs["pthread_exit_main"], 20)
    worker.wait_for_output("worker")
    stacks = profile_folded(processes, tmp_path, "-d", 1, "-p", worker.pid)
    assert_chain(stacks, ("worker", "worker_spin"), least=50)


def test_library_in_place_of_another_is_not_taken_for_it(processes, programs, tmp_path):
    stacks = profile_folded(processes, tmp_path, "--", programs["pluginhost"], 3, programs["plugin_a.so"], programs["plugin_b.so"])
    for own, other in (("a", "b"), ("b", "a")):
        host = stacks.having(f"host_{own}")
        assert_chain(host, (f"host_{own}", f"plugin_{own}_entry", f"plugin_{own}_spin"), least=50, share=0.98)
        wrong = host.having(f"plugin_{other}_spin")
        assert not wrong, f"host_{own} never calls plugin {other}:\n{wrong.show()}"


# Filters

def test_pids(processes, programs, tmp_path):
    wanted = [processes.start(programs["chain"], 20), processes.start(programs["pthread_exit_main"], 20)]
    other = processes.start(programs["deep"], 20, 5)
    for p in (*wanted, other):
        p.wait_for_output(" ")
    stacks = profile_folded(processes, tmp_path, "-d", 2, "-p", ",".join(str(p.pid) for p in wanted))
    assert stacks.having("spin").total >= 50 and stacks.having("worker_spin").total >= 50, stacks.show()
    assert not stacks.having("deep_spin"), stacks.show()


def test_tids(processes, programs, tmp_path):
    chain = processes.start(programs["chain"], 20, 2)
    text = chain.wait_for_output("thread_b") and chain.wait_for_output("thread_a")
    tids = {name: tid for tid, name in (line.split() for line in text.splitlines())}
    stacks = profile_folded(processes, tmp_path, "-d", 2, "-t", tids["thread_a"])
    assert_chain(stacks, ("thread_a", *CHAIN[1:]), least=50)
    assert not stacks.having("thread_b"), stacks.show()


def test_cpu(processes, programs, tmp_path, two_cpus):
    one = start_pinned(processes, two_cpus[0], programs["chain"], 20)
    two = start_pinned(processes, two_cpus[1], programs["deep"], 20, 5)
    for p in (one, two):
        p.wait_for_output("main")
    stacks = profile_folded(processes, tmp_path, "-d", 2, "-c", two_cpus[1], "-p", f"{one.pid},{two.pid}")
    assert stacks.having("deep_spin").total >= 50, stacks.show()
    assert not stacks.having("spin"), stacks.show()


def test_cgroup(processes, programs, tmp_path, cgroup):
    inside = processes.start(programs["chain"], 20, preexec_fn=lambda: (cgroup / "cgroup.procs").write_text(str(os.getpid())))
    outside = processes.start(programs["deep"], 20, 5)
    for p in (inside, outside):
        p.wait_for_output("main")
    stacks = profile_folded(processes, tmp_path, "-d", 2, "--cgroup", cgroup)
    assert_chain(stacks, CHAIN, least=50)
    assert not stacks.having("deep_spin"), stacks.show()


def test_user_only(processes, programs, tmp_path):
    stacks = profile_folded(processes, tmp_path, "-U", "--", programs["syscalls"], 2)
    for function in ("reader", "randomizer"):
        own = stacks.having(function)
        assert own.total >= 50, stacks.show()
        assert own.ending_in(function).total == own.total, own.show()


def test_kernel_only(processes, programs, tmp_path):
    stacks = profile_folded(processes, tmp_path, "-K", "--", programs["syscalls"], 2)
    assert stacks.having("ksys_read").total >= 50, stacks.show()
    assert not stacks.having("reader") and not stacks.having("main"), stacks.show()


def test_kernel_frames_follow_the_system_call(processes, programs, tmp_path):
    stacks = profile_folded(processes, tmp_path, "--", programs["syscalls"], 2)
    for function, entry in (("reader", "ksys_read"), ("randomizer", "__x64_sys_getrandom")):
        own = stacks.having(function)
        inside = [s for s in own if entry in kernel_half(s, function)]
        assert sum(s.count for s in inside) >= 0.95 * own.total >= 50, own.show()


def test_idle_adds_ticks_of_idle_cpus(processes, tmp_path):
    without = profile_folded(processes, tmp_path, "-d", 1)
    idle = profile_folded(processes, tmp_path, "-d", 1, "-I")
    names = {s.frames[0] for s in idle} - {s.frames[0] for s in without}
    assert any("swapper" in n or "idle" in n for n in names), f"{sorted(names)}\n{idle.show()}"


def test_frequency_decides_how_many(processes, programs, tmp_path):
    counts = []
    for rate in (49, 997):
        path = tmp_path / f"{rate}.folded"
        run = profile(processes, "-f", "folded", "-F", rate, "-o", path, "--", programs["chain"], 1)
        assert run.popen.returncode == 0, run.err
        counts.append(folded.parse(path.read_text()).having("spin").total)
    assert counts[1] >= 5 * counts[0] > 0, counts


# Formats

def test_folded_goes_to_stdout(processes, programs):
    run = profile(processes, "-f", "folded", "-d", 1, "-F", RATE)
    assert run.popen.returncode == 0, run.err
    folded.parse(run.out)


def test_pprof(processes, programs, tmp_path):
    path = tmp_path / "out.pb.gz"
    run = profile(processes, "-f", "pprof", "-F", RATE, "-o", path, "--", programs["chain"], 1)
    assert run.popen.returncode == 0, run.err
    data = path.read_bytes()
    assert data[:2] == b"\x1f\x8b"
    p = pprof.parse(data)
    assert p.sample_types == [("cpu", "nanoseconds")] and p.period_type == ("cpu", "nanoseconds")
    assert p.period == 10**9 // RATE
    assert all(s.values[0] > 0 and s.values[0] % p.period == 0 for s in p.samples)
    leaf = [s for s in p.samples if "spin" in s.frames]
    exact = [s for s in leaf if folded.contains_run(s.frames, CHAIN)]
    total = sum(s.values[0] for s in leaf)
    assert total >= 100 * p.period and sum(s.values[0] for s in exact) >= 0.99 * total


def test_table_shows_the_hottest_function_first(processes, programs, tmp_path):
    path = tmp_path / "table"
    run = profile(processes, "-f", "table", "-F", RATE, "-o", path, "--", programs["chain"], 2, 2)
    assert run.popen.returncode == 0, run.err
    lines = path.read_text().splitlines()
    rows = [line for line in lines if any(c.isdigit() for c in line)]
    first = [line for line in rows if "spin" in line.split()]
    assert first, path.read_text()
    assert lines.index(first[0]) <= 5, path.read_text()
    assert all(ord(c) >= 32 for line in lines for c in line), "no escapes in a file"


def test_progress_is_shown_on_a_terminal_only(programs, processes, tmp_path):
    seen = on_terminal(paths.XAGENT, "profile", "-d", 2, "-F", RATE, "-f", "folded", "-o", tmp_path / "out")
    assert "samples" in seen and "\r" in seen, seen
    run = profile(processes, "-d", 1, "-f", "folded", "-o", tmp_path / "out")
    assert run.popen.returncode == 0 and "\r" not in run.err and "\x1b" not in run.err, run.err


def on_terminal(*argv):
    """What the program writes to a terminal on its standard error."""
    master, slave = pty.openpty()
    process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave,
                               start_new_session=True)
    os.close(slave)
    try:
        process.wait(20)
        return os.read(master, 65536).decode()
    finally:
        process.kill()
        process.wait()
        os.close(master)


# Commands

@pytest.mark.parametrize("script, code", [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 128 + signal.SIGTERM),
                                          ("kill -KILL $$", 128 + signal.SIGKILL)])
def test_exit_code_of_the_command_is_passed_on(processes, tmp_path, script, code):
    path = tmp_path / "out"
    run = profile(processes, "-f", "folded", "-o", path, "--", "sh", "-c", script)
    assert run.popen.returncode == code, run.err
    folded.parse(path.read_text())


def test_command_has_its_own_output_and_arguments(processes, tmp_path):
    run = profile(processes, "-f", "folded", "-o", tmp_path / "out", "--", "printf", "%s|", "-d", "--help")
    assert (run.popen.returncode, run.out) == (0, "-d|--help|"), run.err


def test_command_that_is_not_there(processes, tmp_path):
    run = profile(processes, "-f", "folded", "-o", tmp_path / "out", "--", "/no/such/program")
    assert run.popen.returncode not in (0, None)
    lines = run.err.strip().splitlines()
    assert len(lines) == 1 and "/no/such/program" in lines[0] and "No such file" in lines[0], run.err


def test_interrupt_still_writes(processes, programs, tmp_path):
    chain = processes.start(programs["chain"], 20)
    chain.wait_for_output("main")
    path = tmp_path / "out"
    run = processes.start(paths.XAGENT, "profile", "-f", "folded", "-F", RATE, "-d", 600, "-o", path, "-p", chain.pid)
    wait_for_samples(run)
    run.send_group(signal.SIGINT)
    assert run.wait(10) == 0, run.err
    assert_chain(folded.parse(path.read_text()), CHAIN, least=20)


def test_interrupt_while_a_command_runs_still_writes(processes, programs, tmp_path):
    path = tmp_path / "out"
    run = processes.start(paths.XAGENT, "profile", "-f", "folded", "-F", RATE, "-o", path, "--", programs["chain"], 20)
    run.wait_for_output("main")
    wait_for_samples(run)
    run.send_group(signal.SIGINT)
    assert run.wait(10) == 128 + signal.SIGINT, run.err
    assert_chain(folded.parse(path.read_text()), CHAIN, least=20)


def wait_for_samples(run):
    """Nothing outside tells how many samples there are; a second of a busy process is hundreds."""
    try:
        run.popen.wait(1.5)
    except Exception:  # still running, as it must
        return
    raise AssertionError(f"ended early with {run.popen.returncode}: {run.err}")


# Mistakes

@pytest.mark.parametrize("arguments, names", [
    (["-F", "0"], "-F"), (["-F", "abc"], "abc"), (["-F", "-5"], "-5"), (["-d", "x"], "x"), (["-d", "0"], "-d"), (["-f", "png"], "png"),
    (["-p", "12x"], "12x"), (["-p", ""], "-p"), (["-t", "1,,2"], "-t"), (["-c", "99999"], "99999"),
    (["--cgroup", "/no/such/cgroup"], "/no/such/cgroup"), (["--frobnicate"], "frobnicate"), (["-U", "-K"], "-K"),
    (["-o", "/no/such/directory/out"], "/no/such/directory/out"), (["-p", "4194305999"], "4194305999"), (["-d"], "-d"),
], ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_wrong_arguments_get_one_clear_line(processes, arguments, names):
    run = profile(processes, "-d", "1", *arguments)
    assert run.popen.returncode in (1, 2), (run.popen.returncode, run.err)
    said = run.err.strip().splitlines()
    assert said and names in said[0], run.err
    assert len(said) <= 2, run.err
    assert run.out == ""


def test_help_and_version(processes):
    for arguments in (("--help",), ("profile", "--help"), ("run", "--help")):
        run = processes.run(paths.XAGENT, *arguments)
        assert run.popen.returncode == 0 and "xagent" in run.out and run.err == "", (arguments, run.err)
    run = processes.run(paths.XAGENT, "--version")
    assert run.popen.returncode == 0 and run.out.startswith("xagent") and any(c.isdigit() for c in run.out), run.out


def test_unknown_command_gets_a_suggestion(processes):
    run = processes.run(paths.XAGENT, "profil")
    assert run.popen.returncode in (1, 2) and "profile" in run.err, run.err


def test_no_arguments_shows_usage(processes):
    run = processes.run(paths.XAGENT)
    assert run.popen.returncode in (1, 2) and "profile" in run.err and "run" in run.err, run.err
