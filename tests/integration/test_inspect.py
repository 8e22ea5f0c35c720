# SPDX-License-Identifier: Apache-2.0
"""`xagent inspect stack` and `process`: programs whose stacks are known, and processes that are in the middle of something."""
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness import inspect, paths, privileges
from harness.processes import wait_until

pytestmark = [pytest.mark.agent, pytest.mark.skipif(os.geteuid() != 0, reason="stopping other processes needs root")]

CHAIN = ("spin", "gamma", "beta", "alpha")
NOBODY = 65534

# Threads that make a thread each and end, four families of them.
STORM = r"""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *next(void *a)
{
	pthread_t t;
	usleep(200);
	pthread_detach(pthread_self());
	while (pthread_create(&t, NULL, next, a))
		usleep(1000);
	return NULL;
}
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, next, NULL);
	puts("storm");
	fflush(stdout);
	for (;;)
		pause();
}
"""

# Counts, so that it can be seen to go on; and waits for its child while that holds it up in the kernel.
VFORKER = r"""
#include <stdio.h>
#include <unistd.h>
static __attribute__((noinline)) int waits_for_child(void)
{
	if (vfork() == 0) {
		pause();
		_exit(0);
	}
	return 1;
}
int main(void)
{
	puts("vforker");
	fflush(stdout);
	return waits_for_child() + 1;
}
"""


# Counts queued signals; or sends them, as fast as it can, until it is told to end.
COUNTER = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile sig_atomic_t n, ended;
static void count(int signo)
{
	if (signo == SIGTERM)
		ended = 1;
	else
		n++;
}
static int send_to(int pid)
{
	signal(SIGTERM, count);
	while (!ended)
		n += sigqueue(pid, SIGRTMIN, (union sigval){ 0 }) == 0;
	return printf("%d\n", n) < 0;
}
int main(int argc, char **argv)
{
	if (argc > 1)
		return send_to(atoi(argv[1]));
	signal(SIGRTMIN, count);
	puts("counter");
	fflush(stdout);
	for (int shown = 0;; usleep(1000))
		if (shown != n)
			printf("%d\n", shown = n), fflush(stdout);
}
"""

# Its first function ends with the system call it waits in, where another begins at once.
LAST_INSTRUCTION = r"""
void waits(void);
__asm__(".text\n.globl waits\n.type waits, %function\nwaits:\n.cfi_startproc\n"
#ifdef __x86_64__
	"mov $34, %eax\nsyscall\n" /* pause */
#else
	"mov x0, 0\nmov x1, 0\nmov x2, 0\nmov x3, 0\nmov x8, 73\nsvc 0\n" /* ppoll */
#endif
	".cfi_endproc\n.size waits, . - waits\n"
	".type other, %function\nother:\nnop\nnop\n.size other, . - other\n");
int main(void)
{
	waits();
	return 1;
}
"""


def compile_c(directory, name, source, *flags):
    reason = privileges.why_no_tool("gcc")
    if reason:
        pytest.skip(reason)
    product = directory / name
    subprocess.run(["gcc", "-O1", "-fomit-frame-pointer", "-pthread", "-o", product, "-x", "c", "-", *flags], input=source,
                   text=True, check=True)
    return product


def run(processes, what, *words, seconds=30, **options):
    return processes.run(paths.XAGENT, "inspect", what, *words, seconds=seconds, **options)


def state(pid):
    """(state letter, pid of the tracer)"""
    text = Path(f"/proc/{pid}/status").read_text()
    return re.search(r"^State:\t(\S)", text, re.M)[1], int(re.search(r"^TracerPid:\t(\d+)", text, re.M)[1])


def cpu_ticks(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def assert_goes_on(pid):
    assert state(pid)[1] == 0
    used = cpu_ticks(pid)
    wait_until(lambda: cpu_ticks(pid) > used + 1, 10, "the process goes on")


def without_libc(thread):
    return tuple(n for n in thread.names if not n.startswith("fixture_"))


# Stacks

def test_chain(processes, programs):
    chain = processes.start(programs["chain"], 60)
    chain.wait_for_output("main")
    thread, = inspect.stacks(processes, chain.pid).values()
    assert thread.tid == chain.pid and thread.name == "chain" and not thread.reason, thread.show()
    names = without_libc(thread)
    assert names[names.index("spin"):][:5] == (*CHAIN, "main") and names[-1] == "_start", thread.show()
    assert all(f.object == str(programs["chain"]) for f in thread.frames if f.name in CHAIN), thread.show()
    assert_goes_on(chain.pid)


def test_each_thread_has_its_own(processes, programs):
    chain = processes.start(programs["chain"], 60, 2)
    tids = {}
    for name in ("thread_a", "thread_b"):
        for line in chain.wait_for_output(name).splitlines():
            tids[line.split()[1]] = int(line.split()[0])
    threads = inspect.stacks(processes, chain.pid)
    assert set(threads) == {chain.pid, *tids.values()}
    for name, tid in tids.items():
        names = without_libc(threads[tid])
        assert names[names.index("spin"):][:5] == (*CHAIN, name) and not threads[tid].reason, threads[tid].show()
    assert "run_threads" in threads[chain.pid].names, threads[chain.pid].show()
    assert_goes_on(chain.pid)


def test_system_call_is_where_it_was_called(processes, tmp_path):
    waiting = processes.start(compile_c(tmp_path, "waiting", LAST_INSTRUCTION))
    wait_until(lambda: state(waiting.pid)[0] == "S", 10, "it waits")
    wait_until(lambda: "waits" in inspect.stacks(processes, waiting.pid)[waiting.pid].names, 5, "it is seen where it waits")
    thread, = inspect.stacks(processes, waiting.pid).values()
    assert thread.names[:2] == ("waits", "main") and not thread.reason, thread.show()


def test_too_deep_stack_says_so(processes, programs):
    deep = processes.start(programs["deep"], 60, 3000)
    deep.wait_for_output("main")
    wait_until(lambda: cpu_ticks(deep.pid) > 1, 10, "it has come down")
    thread, = inspect.stacks(processes, deep.pid).values()
    assert len(thread.frames) == 1000 and thread.reason == "[truncated: too deep]", thread.show()[-2000:]


def test_several_processes(processes, programs):
    pids = []
    for _ in range(2):
        chain = processes.start(programs["chain"], 60)
        chain.wait_for_output("main")
        pids.append(chain.pid)
    both = run(processes, "stack", *pids)
    assert both.popen.returncode == 0 and not both.err, both.err
    assert list(inspect.parse(both.out)) == pids
    assert "\n\nthread " in both.out


def test_one_bad_process_does_not_hide_the_others(processes, programs):
    chain = processes.start(programs["chain"], 60)
    chain.wait_for_output("main")
    some = run(processes, "stack", 4194305, chain.pid)
    assert some.popen.returncode == 1 and "4194305" in some.err, some.err
    assert list(inspect.parse(some.out)) == [chain.pid]


def test_dead_leader_is_passed_over(processes, programs):
    worker = processes.start(programs["pthread_exit_main"], 60)
    worker.wait_for_output("worker")
    wait_until(lambda: state(worker.pid)[0] == "Z", 10, "the leader has ended")
    thread, = inspect.stacks(processes, worker.pid).values()
    assert thread.tid != worker.pid and "worker_spin" in thread.names and not thread.reason, thread.show()


def test_32_bit_process(processes, tmp_path):
    try:
        program = compile_c(tmp_path, "small", "int main(void) { for (;;); }", "-m32", "-nostartfiles", "-nostdlib", "-static", "-e", "main")
    except subprocess.CalledProcessError:
        pytest.skip("gcc -m32 does not work here")
    small = processes.start(program)
    wait_until(lambda: cpu_ticks(small.pid) > 1, 10, "it runs")
    thread, = inspect.stacks(processes, small.pid).values()
    assert not thread.frames and thread.reason == "[32-bit process]", thread.show()


# What happens to the process

def test_stopped_process_stays_stopped(processes, programs):
    chain = processes.start(programs["chain"], 60, 2)
    chain.wait_for_output("thread_b")
    chain.send(signal.SIGSTOP)
    wait_until(lambda: state(chain.pid)[0] == "T", 10, "it stops")
    first = inspect.stacks(processes, chain.pid)
    wait_until(lambda: state(chain.pid) == ("T", 0), 5, "it is stopped again")
    used = cpu_ticks(chain.pid)
    time.sleep(0.2)
    assert cpu_ticks(chain.pid) == used
    assert inspect.stacks(processes, chain.pid) == first
    chain.send(signal.SIGCONT)
    assert_goes_on(chain.pid)


def test_output_of_the_process_goes_on(processes):
    talker = processes.start(sys.executable, "-uc", "import itertools, time\nfor i in itertools.count(): print(i); time.sleep(0.001)")
    talker.wait_for_output("10\n")
    for _ in range(20):
        inspect.stacks(processes, talker.pid)
    said = [int(n) for n in talker.out.split("\n")[:-1]]
    wait_until(lambda: len(talker.out.split("\n")) > len(said) + 20, 10, "it talks on")
    assert said == list(range(len(said)))


def test_signals_are_not_lost(processes, tmp_path):
    """Also those before whose delivery a thread stops."""
    program = compile_c(tmp_path, "counter", COUNTER)
    counter = processes.start(program)
    counter.wait_for_output("counter")
    sender = processes.start(program, counter.pid)
    for _ in range(100):
        inspect.stacks(processes, counter.pid)
    sender.send(signal.SIGTERM)
    assert sender.wait(10) == 0
    sent = int(sender.out)
    assert sent > 1000
    wait_until(lambda: counter.out.endswith(f"\n{sent}\n"), 10, f"{sent} signals arrive")


def test_interrupted_agent_leaves_it_running(processes, programs):
    chain = processes.start(programs["chain"], 60, 2)
    chain.wait_for_output("thread_b")
    for delay in range(0, 40, 2):
        agent = processes.start(paths.XAGENT, "inspect", "stack", chain.pid)
        time.sleep(delay / 1000)
        agent.send((signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[delay // 2 % 3])
        agent.wait(10)
        wait_until(lambda: state(chain.pid)[0] in "RS" and state(chain.pid)[1] == 0, 5, "it is let go")
    assert_goes_on(chain.pid)


def test_closed_output_leaves_it_running(processes, programs):
    chain = processes.start(programs["chain"], 60)
    chain.wait_for_output("main")
    with open("/dev/full", "wb") as full:
        failed = subprocess.run([paths.XAGENT, "inspect", "stack", str(chain.pid)], stdout=full, stderr=subprocess.PIPE, text=True,
                                check=False)
    assert failed.returncode == 1 and "No space left" in failed.stderr, failed
    assert_goes_on(chain.pid)


def test_thread_storm(processes, tmp_path):
    storm = processes.start(compile_c(tmp_path, "storm", STORM))
    storm.wait_for_output("storm")
    for _ in range(20):
        threads = inspect.stacks(processes, storm.pid)
        assert storm.pid in threads
        # glibc tells nothing of the few instructions of clone3 that a new thread begins with.
        bad = [t.show() for t in threads.values() if not t.frames or (t.reason and len(t.frames) > 1)]
        assert not bad, "\n".join(bad)
    assert storm.running() and state(storm.pid) == ("S", 0)


def test_process_that_waits_uninterruptibly(processes, tmp_path):
    vforker = processes.start(compile_c(tmp_path, "vforker", VFORKER))
    wait_until(lambda: state(vforker.pid)[0] == "D", 10, "it waits for its child")
    began = time.monotonic()
    thread, = inspect.stacks(processes, vforker.pid).values()
    assert time.monotonic() - began < 5
    assert thread.names[1:3] == ("waits_for_child", "main") and not thread.reason, thread.show()
    assert state(vforker.pid) == ("D", 0)


def test_dying_processes(processes, programs):
    """Whatever the moment, the answer is stacks or that it has ended."""
    answers = set()
    for delay in range(12):
        chain = processes.start(programs["chain"], 60, 4)
        chain.wait_for_output("thread_d")
        agent = processes.start(paths.XAGENT, "inspect", "stack", chain.pid)
        time.sleep(delay / 1000)
        chain.send(signal.SIGKILL)
        code = agent.wait(20)
        answers.add(code)
        if code == 0:
            inspect.parse(agent.out)
        else:
            assert code == 1 and re.search(r"has ended|there is no process", agent.err), (code, agent.err)
        assert chain.wait(10) == -signal.SIGKILL
    assert answers <= {0, 1}


# What cannot be

@pytest.mark.parametrize("what", ["stack", "process"])
@pytest.mark.parametrize("words, said", [
    ((), "wants process ids"), (("x",), '"x"'), (("1x",), '"1x"'), (("0",), '"0"'), (("-p", "1"), "-p"), (("99999999999",), "99999999999"),
    (("4194305",), "there is no process 4194305"), ((str(os.getpid()), "x"), '"x"')])
def test_bad_words(processes, what, words, said):
    bad = run(processes, what, *words)
    assert bad.popen.returncode == 1 and not bad.out and said in bad.err, (bad.popen.returncode, bad.out, bad.err)


@pytest.mark.parametrize("what", ["stack", "process"])
def test_help(processes, what):
    asked = run(processes, what, "--help")
    assert asked.popen.returncode == 0 and not asked.err and f"xagent inspect {what} PID" in asked.out
    assert max(map(len, asked.out.splitlines())) <= 100


def test_kernel_thread(processes):
    kernel = [p for p in Path("/proc").glob("[0-9]*/comm") if p.read_text() == "kthreadd\n"]
    if not kernel:
        pytest.skip("no kernel threads are seen here")
    pid = kernel[0].parent.name
    refused = run(processes, "stack", pid)
    assert refused.popen.returncode == 1 and f"{pid} (kthreadd) is a kernel thread" in refused.err, refused.err


def test_thread_is_no_process(processes, programs):
    chain = processes.start(programs["chain"], 60, 1)
    tid = chain.wait_for_output("thread_a").split()[0]
    refused = run(processes, "stack", tid)
    assert refused.popen.returncode == 1 and f"{tid} is a thread of process {chain.pid}" in refused.err, refused.err


def test_zombie(processes):
    pid = os.posix_spawn("/bin/true", ["true"], {})
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        refused = run(processes, "stack", pid)
        assert refused.popen.returncode == 1 and f"process {pid} has ended" in refused.err, refused.err
    finally:
        os.waitpid(pid, 0)


def test_traced_by_another(processes, programs):
    reason = privileges.why_no_tool("gdb")
    if reason:
        pytest.skip(reason)
    chain = processes.start(programs["chain"], 60)
    chain.wait_for_output("main")
    debugger = processes.start("gdb", "-batch", "-nx", "-p", chain.pid, "-ex", "shell sleep 60")
    wait_until(lambda: state(chain.pid)[1], 20, "it is traced")
    refused = run(processes, "stack", chain.pid)
    assert refused.popen.returncode == 1 and f"traced by process {debugger.pid}" in refused.err, refused.err
    assert state(chain.pid)[1] == debugger.pid


def test_not_permitted(processes, programs):
    chain = processes.start(programs["chain"], 60)
    chain.wait_for_output("main")
    refused = run(processes, "stack", chain.pid, user=NOBODY, group=NOBODY, extra_groups=[])
    assert refused.popen.returncode == 1 and not refused.out, refused.out
    assert "CAP_SYS_PTRACE" in refused.err and str(chain.pid) in refused.err, refused.err
    if Path("/proc/sys/kernel/yama/ptrace_scope").exists():
        assert "ptrace_scope" in refused.err, refused.err
    assert_goes_on(chain.pid)


# What is known of a process

def facts_of(text, name):
    """The line below the first mapping of an object."""
    mapping = re.search(rf"^[0-9a-f]{{12}}-[0-9a-f]{{12}}  {re.escape(str(name))}\n(.*)$", text, re.M)
    assert mapping, text
    return mapping[1]


def test_process(processes, programs):
    chain = processes.start(programs["chain"], 60)
    chain.wait_for_output("main")
    told = run(processes, "process", chain.pid)
    assert told.popen.returncode == 0 and not told.err, told.err
    assert told.out.startswith(f"process {chain.pid} (chain)\n")
    assert f"  executable    {programs['chain']}\n" in told.out
    assert f"  command line  {programs['chain']} 60\n" in told.out
    assert f"  parent        {os.getpid()} (" in told.out
    assert "  user          0 (root)\n" in told.out
    assert re.match(r"  ([0-9a-f]{40}|-) +\.eh_frame.* \d+ rows +\.symtab \d+ functions$", facts_of(told.out, programs["chain"]))
    assert re.match(r"  ([0-9a-f]{40}|-) +\.eh_frame.* \d+ rows ", facts_of(told.out, "[vdso]"))


def test_process_with_code_made_at_run_time(processes, programs):
    """It has one page of it, and jumps there."""
    codepage = processes.start(programs["codepage"], 60)
    def told():
        out = run(processes, "process", codepage.pid).out
        return out if "[anon]" in out else None
    assert "JIT: frame pointers" in wait_until(told, 10, "it has made its code")


def test_stripped_process_has_no_names(processes, programs):
    chain = processes.start(programs["chain_stripped"], 60)
    chain.wait_for_output("main")
    facts = facts_of(run(processes, "process", chain.pid).out, programs["chain_stripped"])
    assert facts.endswith("  none"), facts


def test_process_of_another_user(processes, programs):
    chain = processes.start(programs["chain"], 60)
    chain.wait_for_output("main")
    told = run(processes, "process", chain.pid, user=NOBODY, group=NOBODY, extra_groups=[])
    assert told.popen.returncode == 0 and not told.err, told.err
    assert f"command line  {programs['chain']} 60" in told.out and "user          0 (root)" in told.out, told.out
    assert "Not known: executable, executable mappings." in told.out and "CAP_SYS_PTRACE" in told.out, told.out


def shown_series(shown):
    """service_name, where it comes from, and the labels of the series."""
    name = re.search(r"^  service_name +(.+)$", shown, re.M)[1]
    source = re.search(r"^  service_name_source +(.+)$", shown, re.M)[1]
    labels = re.search(r"^  labels +\{(.+)\}$", shown, re.M)[1]
    return name, source, dict(re.findall(r'(\w+)="([^"]*)"', labels))


def plain(**more):
    """An environment without names."""
    return {"PATH": os.environ["PATH"], **more}


SERIES = [
    (("sleep", "60"), {}, "sleep", "executable"),
    (("/usr/bin/python3", "{dir}/app.py"), {}, "app.py", "script"),
    (("/usr/bin/python3", "-u", "-c", "import time; time.sleep(60)"), {}, None, "executable"),
    (("/bin/sh", "{dir}/run.sh"), {}, "run.sh", "script"),
    (("sleep", "60"), {"OTEL_SERVICE_NAME": "checkout"}, "checkout", "OTEL_SERVICE_NAME"),
    (("sleep", "60"), {"OTEL_RESOURCE_ATTRIBUTES": "a=b,service.name=cart%2Cs"}, "cart,s", "OTEL_RESOURCE_ATTRIBUTES"),
    (("/usr/bin/python3", "{dir}/app.py"), {"OTEL_SERVICE_NAME": "checkout"}, "checkout", "OTEL_SERVICE_NAME"),
    (("sleep", "60"), {"NOMAD_JOB_NAME": "shop", "NOMAD_TASK_NAME": "web", "OTEL_SERVICE_NAME": "x"}, "shop/web", "Nomad task"),
    (("sleep", "60"), {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "POD_NAMESPACE": "shop", "CONTAINER_NAME": "web"}, "shop/web", "pod"),
]


@pytest.mark.parametrize("argv, variables, name, source", SERIES, ids=[f"{row[2]} by {row[3]}" for row in SERIES])
def test_series_of_a_process(processes, tmp_path, argv, variables, name, source):
    """Without any configuration; nothing but the names is told of the environment."""
    (tmp_path / "app.py").write_text("import time\nprint('up', flush=True)\ntime.sleep(60)\n")
    (tmp_path / "run.sh").write_text("echo up\nsleep 60\n:\n")
    process = processes.start(*(word.format(dir=tmp_path) for word in argv), env=plain(PASSWORD="hush", **variables))
    exe = Path(f"/proc/{process.pid}/exe")
    wait_until(lambda: "sleep" in exe.resolve().name or "sleep" not in argv, 10, "it runs")
    shown = run(processes, "process", process.pid).out
    got, why, labels = shown_series(shown)
    assert (got, why) == (name or exe.resolve().name, source), shown
    assert labels["service_name"] == got and labels["host"] and "__name__" not in labels
    assert labels.get("namespace") == variables.get("POD_NAMESPACE") and labels.get("container") == variables.get("CONTAINER_NAME")
    assert "hush" not in shown
