# SPDX-License-Identifier: Apache-2.0
"""Functions of Python programs: as the interpreter itself tells them, frame by frame, between the native frames around them."""
import json
import os
import shutil

import pytest

from harness import folded, paths, pprof, pythons
from harness.agent import config
from harness.processes import wait_until

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

CHAINS = (paths.TOP / "tests/fixtures/python/chains.py").read_text()
SEEKS = "tracepoint:syscalls:sys_enter_lseek"
HOST = pythons.get("host 3")[0]


def got(name):
    found, why = pythons.get(name)
    if not found:
        pytest.skip(why)
    return found


@pytest.fixture(params=pythons.NAMES, ids=lambda n: n.replace(" ", "_"))
def python(request):
    return got(request.param)


@pytest.fixture(params=pythons.FEW, ids=lambda n: n.replace(" ", "_"))
def one_of_few(request):
    return got(request.param)


@pytest.fixture
def in_tmp():
    """A name below /tmp of nobody else's."""
    names = []

    def make(name):
        names.append(f"xagent-test-{os.getpid()}-{len(names)}-{name}")
        return names[-1]
    yield make
    for root in {"/", *map(str, pythons.ROOTS.glob("*"))}:
        for name in names:
            path = os.path.join(root, "tmp", name)
            shutil.rmtree(path, ignore_errors=True)
            if os.path.exists(path):
                os.unlink(path)


def is_of_python(place):
    """(function, file, line): native code has other files, or none."""
    return place[1].endswith(".py") or place[1].startswith("<")


def probed(profile):
    """number of the probe → frames of Python, innermost first."""
    stacks = {}
    for sample in profile.samples:
        frames = [list(p) for p in reversed(sample.places) if is_of_python(p)]
        for name, _, _ in frames:
            if ".probe_" in name:
                stacks[int(name.rsplit("_", 1)[1])] = frames
    return stacks


def profiled(processes, output, *arguments):
    run = processes.run(paths.XAGENT, "profile", "-U", "-o", output, *arguments, seconds=120)
    assert run.popen.returncode == 0, run.err
    return pprof.parse(output.read_bytes()) if str(output).endswith(".pb.gz") else folded.parse(output.read_text())


def check_chains(processes, tmp_path, in_tmp, python, n_chains, n_links, n_threads, seed):
    program, _ = python.place(in_tmp("chains.py"), CHAINS)
    report, report_here = python.place(in_tmp("report"))
    profile = profiled(processes, tmp_path / "o.pb.gz", "--lines", "-F", "10000", "-e", SEEKS, "--", *python.command, program, report,
                       str(seed), str(n_chains), str(n_links), str(n_threads))
    seen = probed(profile)
    told = {number: frames for number, frames in map(json.loads, report_here.read_text().splitlines())}
    assert len(told) == n_chains
    assert set(seen) >= set(told), f"{len(set(told) - set(seen))} of {len(told)} are missing, as {sorted(set(told) - set(seen))[:5]}"
    for number, frames in told.items():
        assert seen[number] == frames, number


@pytest.mark.parametrize("n_chains, n_links, n_threads", [(300, 8, 4), (40, 22, 1)])
def test_stacks_are_those_of_the_interpreter(processes, tmp_path, in_tmp, python, n_chains, n_links, n_threads):
    """Names, files, lines and order of calls of every kind, from the first sample on. The longest have some 300 frames of Python between native ones."""
    check_chains(processes, tmp_path, in_tmp, python, n_chains, n_links, n_threads, seed=n_links)


def test_many_threads(processes, tmp_path, in_tmp):
    check_chains(processes, tmp_path, in_tmp, HOST, 256, 6, 64, seed=64)


def test_compiled_code(processes, tmp_path, in_tmp, monkeypatch):
    """Debian's 3.15 compiles what is run often, where that is switched on."""
    python = got("debian 3.15")
    monkeypatch.setenv("PYTHON_JIT", "1")
    run = processes.run(*python.command, "-c", "import sys; print(sys._jit.is_enabled())")
    assert run.out.strip() == "True", run.out + run.err
    check_chains(processes, tmp_path, in_tmp, python, 100, 8, 1, seed=15)
    program, _ = python.place(in_tmp("spin.py"), SPIN)
    stacks = profiled(processes, tmp_path / "o", "-F", "499", "--", *python.command, program, "2")
    begun = folded.Stacks(s for s in stacks if "__main__.work" in s.frames)
    whole = folded.Stacks(s for s in begun if in_order(s.frames, *WHOLE))
    assert whole.total >= 0.995 * begun.total > 100, begun.show()


DEEP = """
def deeper(n):
    if n:
        deeper(n - 1)
    else:
        spin()
def spin():
    import time
    end = time.process_time() + 1.5
    while time.process_time() < end:
        sum([i * i for i in range(100)])
import sys
sys.setrecursionlimit(3000)
deeper(900)
"""


def test_deep_recursion(processes, tmp_path, in_tmp):
    program, _ = HOST.place(in_tmp("deep.py"), DEEP)
    stacks = profiled(processes, tmp_path / "o", "-F", "199", "--", *HOST.command, program)
    spinning = stacks.having("__main__.spin")
    assert spinning.total >= 100
    for stack in spinning:
        assert stack.frames.count("__main__.deeper") == 901, stack.frames[:9]


SPIN = """
import hashlib, sys, time
class Service:
    def handle(self, end):
        return work(end)
    @staticmethod
    def key(value):
        return -value
def work(end):
    while time.process_time() < end:
        sorted(range(300), key=Service.key)
        hashlib.sha256(BIG).digest()
        sum(i * i for i in range(300))
BIG = bytes(1 << 18)
def main():
    Service().handle(time.process_time() + float(sys.argv[1]))
main()
"""
WHOLE = ("__main__.<module>", "__main__.main", "handle", "__main__.work")


def in_order(frames, *names):
    at = iter(f.removeprefix("__main__.Service.") if f.startswith("__main__.Service.") else f.replace("__main__.handle", "handle") for f in frames)
    return all(n in at for n in names)


def test_every_timer_tick(processes, tmp_path, in_tmp, python):
    """The chain of calls is the only possible one, wherever the interpreter is interrupted: with the interpreter's lock and without, in generators and callbacks."""
    program, _ = python.place(in_tmp("spin.py"), SPIN)
    stacks = profiled(processes, tmp_path / "o", "-F", "499", "--", *python.command, program, "3")
    begun = folded.Stacks(s for s in stacks if "__main__.work" in s.frames)
    whole = folded.Stacks(s for s in begun if in_order(s.frames, *WHOLE))
    # The rest is the interpreter's beginning and end: it imports modules for some hundredths of a second.
    assert begun.total >= 0.93 * stacks.total, stacks.without("__main__.work").show()
    assert whole.total >= 0.995 * begun.total and begun.total > 500, begun.show()
    assert begun.having("__main__.work.<locals>.<genexpr>").total or begun.having("__main__.<genexpr>").total
    # Where the loop is entered its frame is not in the list yet: it is native then, and the last one.
    loops = begun.having("_PyEval_EvalFrameDefault")
    assert loops.total <= 0.02 * begun.total, loops.show()


SHORT_CALLS = """
import sys, time
def key(value):
    return -value
def work(end):
    while time.process_time() < end:
        sorted(range(300), key=key)
        sum(i * i for i in range(300))
work(time.process_time() + float(sys.argv[1]))
"""


def test_activations_begin_and_end(processes, tmp_path, in_tmp, python):
    """Interrupted where one is entered or left its frame is in one list of the interpreter's and not in the other: that shifts no name to another one's place."""
    program, _ = python.place(in_tmp("short_calls.py"), SHORT_CALLS)
    stacks = profiled(processes, tmp_path / "o", "-F", "997", "--", *python.command, program, "4")
    begun = folded.Stacks(s for s in stacks if "__main__.work" in s.frames)
    assert begun.total > 1000, stacks.show()
    shifted = folded.Stacks(s for s in begun if s.frames[1].startswith("__main__.") or s.frames[1:].index("__main__.<module>") > s.frames[1:].index("__main__.work"))
    assert not shifted, shifted.show()
    by_c = begun.having("list_sort") or begun.having("builtin_sorted")
    assert all(s.frames.index("__main__.work") < min(s.frames.index(f) for f in ("list_sort", "builtin_sorted") if f in s.frames) for s in by_c), by_c.show()


CALLBACKS = """
import ctypes, time
libc = ctypes.CDLL(None)
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
def compare(a, b):
    return sum([i for i in range(50)]) and a[0] - b[0]
def sort_in_c(end):
    while time.process_time() < end:
        numbers = (ctypes.c_int * 50)(*range(50, 0, -1))
        libc.qsort(numbers, 50, 4, COMPARE(compare))
sort_in_c(time.process_time() + 2)
"""


def test_callbacks_from_c(processes, tmp_path, in_tmp, python):
    program, _ = python.place(in_tmp("callbacks.py"), CALLBACKS)
    stacks = profiled(processes, tmp_path / "o", "-F", "199", "--", *python.command, program)
    compared = stacks.having("__main__.compare")
    assert compared.total >= 50, stacks.show()

    def is_right(frames):
        outer, inner = frames.index("__main__.sort_in_c"), frames.index("__main__.compare")
        between = frames[outer + 1:inner]
        # ctypes, libffi and the C library, whose sorting has no name where it is stripped.
        return outer < inner and any("sort" in f or f.startswith("libc") for f in between) and not any(f.startswith("__main__") for f in between)
    wrong = folded.Stacks(s for s in compared if not is_right(s.frames))
    # Where an activation of 3.10 ends its CFrame goes some instructions before its frame.
    assert wrong.total <= max(1, 0.005 * compared.total), wrong.show()


def test_twenty_milliseconds(processes, tmp_path, in_tmp):
    """Interpreters that end before anybody can look at them."""
    text = "def brief(n):\n    return sum(i * i for i in range(n))\nimport time\nend = time.process_time() + 0.02\nwhile time.process_time() < end:\n    brief(500)\n"
    program, _ = HOST.place(in_tmp("brief.py"), text)
    # The interpreter's file is looked at when it first runs, once in the life of an agent.
    first = f"{HOST.command[0]} -c 'import time; time.sleep(2)'"
    script = f"{first}; for i in $(seq 60); do {HOST.command[0]} -S -E {program}; done"
    stacks = profiled(processes, tmp_path / "o", "-F", "499", "--", "sh", "-c", script)
    brief = stacks.having("__main__.brief")
    assert brief.total >= 200, stacks.show()
    # The interpreter begins with native code, and ends with it.
    bare = folded.Stacks(s for s in stacks.having("_PyEval_EvalFrameDefault") if not any(".<module>" in f or "importlib" in f for f in s.frames))
    assert bare.total <= 0.01 * brief.total, bare.show()


FORKS = """
import os, time
def serve(end):
    while time.process_time() < end:
        answer()
def answer():
    return [str(i) for i in range(200)]
def prefork():
    for _ in range(4):
        if os.fork() == 0:
            serve(time.process_time() + 1)
            os._exit(0)
    for _ in range(4):
        os.wait()
prefork()
"""


def test_workers_that_were_forked(processes, tmp_path, in_tmp):
    program, _ = HOST.place(in_tmp("forks.py"), FORKS)
    stacks = profiled(processes, tmp_path / "o", "-F", "199", "--", *HOST.command, program)
    served = stacks.having_run("__main__.prefork", "__main__.serve")
    assert served.total >= 100 and served.total >= 0.99 * stacks.having("__main__.serve").total
    assert not stacks.having("_PyEval_EvalFrameDefault").having("__main__.serve")


INTERPRETERS = """
import sys, threading, time
INSIDE = "import time\\n" \
    "def spin(end):\\n" \
    "    while time.process_time() < end: sum(range(200))\\n" \
    "def inside():\\n" \
    "    spin(time.process_time() + 1)\\n" \
    "inside()\\n"
try:
    if sys.version_info >= (3, 13):
        import _interpreters as interpreters
    else:
        import _xxsubinterpreters as interpreters
except ImportError:
    sys.exit(77)
run = getattr(interpreters, "exec", None) or interpreters.run_string
def enter():
    run(interpreters.create(), INSIDE)
def main():
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    # Of one that is there but runs nothing on this thread the list is empty.
    interpreters.create()
    enter()
    end = time.process_time() + 0.5
    while time.process_time() < end:
        sum(range(200))
main()
"""


def test_interpreters_of_one_thread(processes, tmp_path, in_tmp, one_of_few):
    """Each has a list of frames of its own, and both are on the C stack."""
    program, _ = one_of_few.place(in_tmp("interpreters.py"), INTERPRETERS)
    run = processes.run(paths.XAGENT, "profile", "-U", "-o", tmp_path / "o", "-F", "199", "--", *one_of_few.command, program, seconds=60)
    if run.popen.returncode == 77:
        pytest.skip("this Python is built without the module that makes interpreters")
    assert run.popen.returncode == 0, run.err
    stacks = folded.parse((tmp_path / "o").read_text())
    inner = stacks.having("__main__.spin")
    assert inner.total >= 60, stacks.show()
    outer = (("__main__.main", "__main__.enter"), ("threading._bootstrap_inner", "__main__.enter"))
    whole = folded.Stacks(s for s in inner if any(in_order([f.replace("threading.Thread.", "threading.") for f in s.frames],
                                                           *names, "__main__.<module>", "__main__.inside", "__main__.spin") for names in outer))
    assert whole.total >= 0.99 * inner.total, inner.show()
    alone = folded.Stacks(s for s in stacks.having("__main__.main") if "__main__.enter" not in s.frames)
    assert alone.total >= 15, stacks.show()


COLLECTS = """
import gc, time
class Node:
    def __del__(self):
        finalizer(self)
def finalizer(node):
    sum(range(300))
def cycle():
    node = Node()
    node.me = node
def collect():
    gc.collect()
def quiet(end):
    while time.process_time() < end:
        [[] for i in range(3000)]
KEPT = [[i] for i in range(200000)]
def main():
    end = time.process_time() + 2
    while time.process_time() < end:
        for _ in range(2000):
            cycle()
        collect()
    gc.disable()
    quiet(time.process_time() + 0.5)
main()
"""


def test_the_collector(processes, tmp_path, in_tmp):
    """From 3.15 on the interpreter tells which frame has started it."""
    python = got("debian 3.15")
    program, _ = python.place(in_tmp("collects.py"), COLLECTS)
    stacks = profiled(processes, tmp_path / "o", "-F", "499", "--", *python.command, program)
    collects = stacks.having("__main__.collect")
    whole = folded.Stacks(s for s in collects if in_order(s.frames, "__main__.main", "__main__.collect", "[garbage collection]"))
    assert whole.total >= 0.99 * collects.total > 100, collects.show()
    finalizers = stacks.having("__main__.Node.__del__")
    behind = folded.Stacks(s for s in finalizers if in_order(s.frames, "__main__.main", "[garbage collection]", "__main__.Node.__del__"))
    assert behind.total >= 0.99 * finalizers.total > 20, finalizers.show()
    quiet = stacks.having("__main__.quiet")
    assert quiet.total >= 20 and not quiet.having("[garbage collection]"), quiet.show()


METHODS = """
import time
class Base:
    def inherited(self):
        return [self.leaf(i) for i in range(50)]
    def overridden(self):
        self.inherited()
    def same(self):
        sum(range(50))
class Middle(Base):
    def overridden(self):
        super().overridden()
    @classmethod
    def make(cls, end):
        cls().run(end)
    @property
    def value(self):
        self.overridden()
    def __call__(self):
        self.value
class Other(Base):
    def same(self):
        sum(range(100))
class Leaf(Middle):
    def leaf(self, i):
        return sum(range(30))
    def run(self, end):
        while time.process_time() < end:
            self()
            self.same()
            Other().same()
            Base.same(Other())
            same(Other())
            Leaf.static()
            local()
    @staticmethod
    def static():
        sum(range(100))
def same(other):
    sum(range(200))
def local():
    class Inner:
        def method(self):
            sum(range(100))
    Inner().method()
Leaf.make(time.process_time() + 1.5)
"""
KNOWN_METHODS = {"<module>", "Base.inherited", "Base.overridden", "Base.same", "Middle.overridden", "Middle.make", "Middle.value", "Middle.__call__", "Other.same",
                 "Leaf.leaf", "Leaf.run", "same", "local", "local.<locals>.Inner.method"}
# Up to 3.10 those that have no first argument to look for a class by.
OTHERS = {True: {"Leaf.static", "local.<locals>.Inner", "Base.inherited.<locals>.<listcomp>"}, False: {"static", "Inner", "<listcomp>"}}


def test_methods_are_of_their_classes(processes, tmp_path, in_tmp, one_of_few):
    """Up to 3.10 a code object has no qualified name; the class that has the very code under the name of the function does."""
    program, _ = one_of_few.place(in_tmp("methods.py"), METHODS)
    stacks = profiled(processes, tmp_path / "o", "-F", "499", "--", *one_of_few.command, program)
    seen = {f.removeprefix("__main__.") for s in stacks for f in s.frames if f.startswith("__main__.")}
    has_qualname = any("Leaf.static" in f for f in seen)
    assert seen <= KNOWN_METHODS | OTHERS[has_qualname], seen
    assert len(seen & KNOWN_METHODS) >= len(KNOWN_METHODS) - 2, KNOWN_METHODS - seen


CLASSES = """
import sys, time
class Base:
    def __init__(self, n):
        self.n = sum(range(n))
class Derived(Base):
    def __init__(self, n):
        super().__init__(n)
def made(end):
    while time.process_time() < end:
        for i in range(100):
            Derived(i)
def deeper(n):
    deeper(n - 1) if n else made(time.process_time() + 0.3)
for n in range(124, 130):
    deeper(n)
"""


def test_a_class_that_is_called(processes, tmp_path, in_tmp, one_of_few):
    """From 3.12 on the interpreter runs code of its own between the two, which no backtrace has; also behind the frames that are kept (128)."""
    program, _ = one_of_few.place(in_tmp("classes.py"), CLASSES)
    stacks = profiled(processes, tmp_path / "o", "-F", "299", "--", *one_of_few.command, program)
    made = stacks.having("__main__.made")
    assert made.total >= 100, stacks.show()
    for stack in made:
        own = [f.removeprefix("__main__.") for f in stack.frames if f.startswith("__main__.") or f == "__init__"]
        depth = own.count("deeper")
        assert own[:1] == ["<module>"] and own[1:depth + 2] == ["deeper"] * depth + ["made"] and 125 <= depth <= 130, own
        assert set(own[depth + 2:]) <= {"Derived.__init__", "Base.__init__"} and len(own) <= depth + 4, own[depth:]


def test_where_functions_begin(processes, tmp_path, in_tmp, one_of_few):
    """With or without lines in execution."""
    text = "import time\n\n\ndef begins_at_4(end):\n    begins_at_8(end)\n\n\ndef begins_at_8(end):\n    while time.process_time() < end: sum(range(99))\n\n\n" \
        "begins_at_4(time.process_time() + 0.7)\n"
    program, _ = one_of_few.place(in_tmp("begins.py"), text)
    profile = profiled(processes, tmp_path / "o.pb.gz", "-F", "299", "--", *one_of_few.command, program)
    assert {("__main__.begins_at_4", program, 4), ("__main__.begins_at_8", program, 8)} <= profile.functions, profile.functions
    assert all(place[2] == 0 for sample in profile.samples for place in sample.places if place[0].startswith("__main__.begins"))


def test_code_that_comes_to_lie_where_other_code_was(processes, tmp_path, in_tmp):
    """Functions are made, run and forgotten: their memory is the next one's, names and all. Each is called what it is."""
    text = """
import sys, time
def made(number):
    names = {}
    exec(compile("def name_%d(end, time):\\n    while time() < end: sum(range(50))\\n" % number, "<file %d>" % number, "exec"), names)
    names["name_%d" % number](time.process_time() + 0.01, time.process_time)
    SEEN.append(number)
SEEN = []
end = time.process_time() + 3
number = 0
while time.process_time() < end:
    number += 1
    made(number)
"""
    program, _ = HOST.place(in_tmp("made.py"), text)
    profile = profiled(processes, tmp_path / "o.pb.gz", "--lines", "-F", "997", "--", *HOST.command, program)
    seen = {}
    for sample in profile.samples:
        for name, file, _ in sample.places:
            if "name_" in name:
                number = int(name.rsplit("_", 1)[1])
                assert file == f"<file {number}>", (name, file)
                seen[number] = seen.get(number, 0) + sample.values[0] // profile.period
    # Each ran for a hundredth of a second, ten ticks, and no longer.
    assert len(seen) >= 150, len(seen)
    assert max(seen.values()) <= 25, sorted(seen.items(), key=lambda i: -i[1])[:5]


def test_both_kinds_of_frames_on_request(processes, tmp_path, in_tmp):
    program, _ = HOST.place(in_tmp("spin.py"), SPIN)
    stacks = profiled(processes, tmp_path / "o", "-F", "199", "--interpreter-frames", "--", *HOST.command, program, "1")
    begun = stacks.having("__main__.work")
    assert begun.total >= 50
    assert begun.having_run("_PyEval_EvalFrameDefault", "__main__.<module>").total >= 0.99 * begun.total, begun.show(3)


def test_inspect_tells_of_it(processes, programs, in_tmp):
    program, _ = HOST.place(in_tmp("spin.py"), SPIN)
    for command, said in (((*HOST.command, program, "30"), ": its functions are shown"), ((programs["liar_new"], "version"), "CPython 3.99: this xagent knows")):
        process = processes.start(*command)
        wait_until(lambda p=process: "ython" in os.readlink(f"/proc/{p.pid}/exe") or "liar" in os.readlink(f"/proc/{p.pid}/exe"), 5, "it runs")
        run = processes.run(paths.XAGENT, "inspect", "process", process.pid)
        assert "CPython 3." in run.out and said in run.out, run.out


def test_switch_and_its_reload(start_agent, standin, processes, in_tmp):
    program, _ = HOST.place(in_tmp("spin.py"), SPIN)
    processes.start(*HOST.command, program, "60")
    with_python = config(standin.url, interval="1s", rate=199)
    without = with_python.replace("\n\tsample_rate", "\n\tpython_enabled = false\n\tsample_rate", 1)
    assert without != with_python
    agent = start_agent(without).wait_ready()

    def names_since(pushes):
        return {f for p in standin.pushes()[pushes:] for s in p.profile.samples for f in s.frames}
    wait_until(lambda: "_PyEval_EvalFrameDefault" in names_since(0), 20, "the interpreter's own functions are shown")
    assert "__main__.work" not in names_since(0)
    agent.config_path.write_text(with_python)
    assert agent.get("/-/reload")[0] == 200
    wait_until(lambda: "__main__.work" in names_since(0), 20, "the program's functions are shown")
    walked = agent.wait_metric(lambda m: m.value("xagent_runtime_stacks_total", runtime="python", result="walked") > 50, 20, "stacks are counted")
    assert walked
    m = agent.metrics()
    assert m.value("xagent_runtime_stacks_total", runtime="python", result="unplaced") == 0
    told = {(i["runtime"], i["result"]): i for i in json.loads(agent.get("/api/v0/web/status")[1])["interpreters"]}
    assert told["python", "walked"]["value"] > 50 and told["python", "walked"]["text"], told


LIAR = paths.BUILD / "fixtures" / "liar"


@pytest.mark.parametrize("lie, result", [("threads", "no_thread"), ("frames", "unreadable"), ("unmapped", "no_thread"), ("version", "unsupported"),
                                         ("code", "unreadable"), ("lengths", "walked")])
def test_a_program_that_lies(start_agent, standin, processes, programs, lie, result):
    """It says that it is CPython, and has lists without end, lengths of 2^63, memory that is not there. It costs no more than an honest one, and is told of."""
    agent = start_agent(config(standin.url, interval="1s", rate=499)).wait_ready()
    processes.start(programs[f"liar_{'new' if lie == 'version' else 'now'}"], lie)
    agent.wait_metric(lambda m: m.value("xagent_runtime_stacks_total", runtime="python", result=result) > 200, 20, f"{result} is counted")
    wait_until(lambda: any("lie_spin" in s.frames for p in standin.pushes() for s in p.profile.samples), 20, "its native frames are shown")
    m = agent.metrics()
    assert m.value("xagent_kernel_emitted_total", event="cpu") > 0
    assert agent.stop() == 0
