# SPDX-License-Identifier: Apache-2.0
"""`xagent profile` in each of its formats: a program whose names would break out of all of them, seen whole in every file."""
import html.parser
import json
import os
import pty
import re
import shlex
import subprocess
import xml.etree.ElementTree as xml

import pytest

from harness import folded, paths, pprof, privileges

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

RATE = 499
PERIOD_NS = 10**9 // RATE
# Samples, of hundreds on a machine that does nothing else.
ENOUGH = 10
SVG = "{http://www.w3.org/2000/svg}"
# As long as each other: the name is put in place of the other one in the program's symbol table.
FUNCTION = "</script><b>\"&;'<!--]]>${x}"
PLACEHOLDER = "placeholder_of_that_length_"
# The kernel keeps 15 bytes.
COMM = '</script><b>"&'

SOURCE = """
#include <stdio.h>
#include <sys/prctl.h>
static volatile unsigned int sink;
__attribute__((noinline)) void NAME(void) { for (int i = 0; i < 1000; i++) sink += i; }
int main(int argc, char **argv)
{
	(void)argc;
	prctl(PR_SET_NAME, argv[1]);
	puts("named");
	fflush(stdout);
	for (;;)
		NAME();
}
"""


@pytest.fixture(scope="module")
def hostile_program(tmp_path_factory):
    compiler = os.environ.get("CC", "gcc")
    reason = privileges.why_no_tool(compiler)
    if reason:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "hostile.c").write_text(SOURCE)
    program = folder / "hostile"
    subprocess.run([compiler, "-O1", f"-DNAME={PLACEHOLDER}", "-o", program, folder / "hostile.c"], check=True)
    content = program.read_bytes()
    assert len(FUNCTION) == len(PLACEHOLDER) and PLACEHOLDER.encode() in content
    program.write_bytes(content.replace(PLACEHOLDER.encode(), FUNCTION.encode()))
    return program


@pytest.fixture
def hostile(hostile_program, processes):
    process = processes.start(hostile_program, COMM)
    process.wait_for_output("named")
    return process


class Run:
    """What a run of the profiler wrote and said."""
    def __init__(self, processes, folder, name, *arguments):
        self.path = folder / name
        run = processes.run(paths.XAGENT, "profile", "-F", RATE, "-o", name, *arguments, seconds=40, cwd=folder)
        assert run.popen.returncode == 0, run.err
        self.said = run.err.strip().splitlines()
        assert all(line.startswith("xagent: ") for line in self.said), run.err
        self.text = self.path.read_text(encoding="utf-8") if not name.endswith(".gz") else None

    @property
    def samples(self):
        """As the report counts them."""
        return next(int(m[1]) for m in (re.match(r"xagent: (\d+) samples?\b", line) for line in self.said) if m)

    @property
    def last(self):
        return self.said[-1].removeprefix("xagent: ")


def profile(processes, folder, name, pid, *arguments):
    return Run(processes, folder, name, "-d", "0.5", "-p", pid, *arguments)


# ---- html ---------------------------------------------------------------------------------------------------------------------------

class Page(html.parser.HTMLParser):
    """The elements of a page with their attributes, and what is in its scripts."""
    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts, self.open_script = [], [], None
        self.feed(text)
        self.close()
        assert self.open_script is None

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.open_script = [dict(attrs), ""]

    def handle_data(self, data):
        if self.open_script:
            self.open_script[1] += data

    def handle_endtag(self, tag):
        if tag == "script":
            self.scripts.append(self.open_script)
            self.open_script = None


def html_data(text):
    [data] = [script for attributes, script in Page(text).scripts if attributes.get("id") == "xagent-profile"]
    return json.loads(data)


def bars(flamebearer):
    """(level, name, total, self) of each."""
    for level, values in enumerate(flamebearer["levels"]):
        assert len(values) % 4 == 0
        for i in range(0, len(values), 4):
            yield level, flamebearer["names"][values[i + 3]], values[i + 1], values[i + 2]


def assert_asks_nobody(text):
    """There is nothing that a browser would fetch from anywhere, or send to."""
    for tag, attributes in Page(text).elements:
        links = {attributes.get(name) for name in ("src", "srcset", "href", "action", "formaction", "data", "background", "poster")} - {None}
        assert links <= {"data:,"}, (tag, attributes)
    assert "@import" not in text and not re.search(r"url\(\s*[\"']?(?:https?:)?//", text)
    assert set(re.findall(r"https?://([\w.-]+)", text)) <= {"www.w3.org"}  # what XML's languages are called


def test_html(hostile, processes, tmp_path):
    run = profile(processes, tmp_path, "cpu.html", hostile.pid)
    assert run.last == f"open it in a browser: file://{tmp_path}/cpu.html"
    assert run.text.startswith("<!DOCTYPE html>") and run.text.rstrip().endswith("</html>")
    assert_asks_nobody(run.text)
    assert FUNCTION not in run.text
    data = html_data(run.text)
    assert data["unit"] == "samples" and f"pid {hostile.pid}: {run.samples} samples in 0.5 s at {RATE} Hz" in data["title"], data["title"]
    graph = list(bars(data["flamebearer"]))
    assert graph[0][0] == 0 and graph[0][2] == run.samples == data["flamebearer"]["numTicks"]
    assert sum(own for _, _, _, own in graph) == run.samples >= ENOUGH
    assert [(level, total) for level, name, total, _ in graph if name == COMM] == [(1, run.samples)]
    assert sum(total for _, name, total, _ in graph if name == FUNCTION) >= 0.9 * run.samples


# ---- svg ----------------------------------------------------------------------------------------------------------------------------

def tooltips(text):
    """{name: samples} of the bars, and that of the root."""
    root = xml.fromstring(text.encode())
    assert root.tag == SVG + "svg" and not list(root.iter(SVG + "script")) and not list(root.iter(SVG + "image"))
    found = {}
    for group in root.find(f"{SVG}g[@class='bars']") or []:
        name, samples = re.fullmatch(r"(.*): (\d+) samples?, .* %(?:; itself \d+)?", group.find(SVG + "title").text, re.S).groups()
        found[name] = found.get(name, 0) + int(samples)
    return found


def test_svg(hostile, processes, tmp_path):
    (tmp_path / "a b").mkdir()
    run = profile(processes, tmp_path / "a b", "cpu#1.svg", hostile.pid)
    assert run.last == f"open it in a browser: file://{tmp_path}/a%20b/cpu%231.svg"
    found = tooltips(run.text)
    assert found["total"] == found[COMM] == run.samples >= ENOUGH
    assert found[FUNCTION] >= 0.9 * run.samples
    assert "href" not in run.text and set(re.findall(r"https?://[^\"]*", run.text)) == {"http://www.w3.org/2000/svg"}


def test_svg_shows_inlined_functions_with_lines(processes, programs, tmp_path):
    inlined = processes.start(programs["inlined"], 20)
    run = profile(processes, tmp_path, "lines.svg", inlined.pid, "--lines")
    found = tooltips(run.text)
    assert found["churn"] >= 0.8 * run.samples >= ENOUGH and found["between"] >= found["churn"], found


def test_svg_of_the_kernel_alone(processes, programs, tmp_path):
    syscalls = processes.start(programs["syscalls"], 20)
    run = profile(processes, tmp_path, "kernel.svg", syscalls.pid, "-K")
    found = tooltips(run.text)
    assert found["total"] == run.samples >= ENOUGH and "main" not in found and "ksys_read" in found, found


# ---- speedscope -----------------------------------------------------------------------------------------------------------------------

def stacks_of_speedscope(text):
    """[(names, samples)]"""
    document = json.loads(text)
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert document["exporter"].startswith("xagent ")
    [data] = document["profiles"]
    assert (data["type"], data["unit"], data["startValue"]) == ("sampled", "nanoseconds", 0)
    assert data["endValue"] == sum(data["weights"]) and len(data["samples"]) == len(data["weights"])
    names = [frame["name"] for frame in document["shared"]["frames"]]
    assert len(set(names)) == len(names)
    assert all(weight % PERIOD_NS == 0 for weight in data["weights"])
    return [(tuple(names[i] for i in stack), weight // PERIOD_NS) for stack, weight in zip(data["samples"], data["weights"])]


def test_speedscope(hostile, processes, tmp_path):
    run = profile(processes, tmp_path, "cpu.speedscope.json", hostile.pid)
    assert run.last == "drop it on https://www.speedscope.app, or: npx speedscope cpu.speedscope.json"
    stacks = stacks_of_speedscope(run.text)
    assert sum(n for _, n in stacks) == run.samples >= ENOUGH
    assert {names[0] for names, _ in stacks} == {COMM}
    assert sum(n for names, n in stacks if names[-1] == FUNCTION and names[-2] == "main") >= 0.8 * run.samples


# ---- what was there before ------------------------------------------------------------------------------------------------------------

def test_folded(hostile, processes, tmp_path):
    run = profile(processes, tmp_path, "it's.folded", hostile.pid)
    assert shlex.split(run.last) == ["draw", "it:", "flamegraph.pl", "it's.folded", ">", "it's.folded.svg"]
    stacks = folded.parse(run.text)
    assert stacks.total == run.samples >= ENOUGH
    # It cannot have a semicolon in a name.
    assert stacks.having(COMM, FUNCTION.replace(";", ":")).total >= 0.9 * run.samples


def test_pprof_and_table(hostile, processes, tmp_path):
    run = profile(processes, tmp_path, "cpu.pb.gz", hostile.pid)
    assert run.last == "look at it: go tool pprof -http=: cpu.pb.gz"
    samples = pprof.parse(run.path.read_bytes()).samples
    assert sum(s.values[0] for s in samples) == run.samples * PERIOD_NS
    assert any(FUNCTION in s.frames for s in samples)
    run = profile(processes, tmp_path, "hot", hostile.pid, "-f", "table")
    assert run.last == "read it: less hot" and FUNCTION in run.text.splitlines()[1]


# ---- where it goes --------------------------------------------------------------------------------------------------------------------

def on_terminal(folder, *arguments):
    """Its standard output is a terminal; what it says on the other one."""
    master, slave = pty.openpty()
    try:
        return subprocess.run([paths.XAGENT, "profile", "-d", "0.5", *arguments], stdin=subprocess.DEVNULL, stdout=slave, cwd=folder,
                              stderr=subprocess.PIPE, text=True, timeout=30, check=False)
    finally:
        os.close(slave)
        os.close(master)


def test_no_graph_is_thrown_at_a_terminal(processes, hostile, tmp_path):
    run = on_terminal(tmp_path, "-p", str(hostile.pid), "-f", "svg")
    assert run.returncode == 0, run.stderr
    assert run.stderr.splitlines()[-1] == f"xagent: open it in a browser: file://{tmp_path}/xagent.svg"
    assert tooltips((tmp_path / "xagent.svg").read_text())["total"] > 0
    run = on_terminal(tmp_path, "-f", "html", "-o", "-")
    assert run.returncode == 1 and "html is no text for a terminal: give it a file, as in -o xagent.html" in run.stderr
    assert {p.name for p in tmp_path.iterdir() if not p.name.endswith((".out", ".err"))} == {"xagent.svg"}


def test_graph_to_a_pipe(hostile, processes):
    run = processes.run(paths.XAGENT, "profile", "-d", "0.5", "-p", hostile.pid, "-f", "html", seconds=40)
    assert run.popen.returncode == 0 and run.out.startswith("<!DOCTYPE html>") and "open it" not in run.err, run.err
    assert html_data(run.out)["flamebearer"]["numTicks"] > 0


@pytest.mark.parametrize("name, says", [
    ("none.html", lambda text: html_data(text)["flamebearer"]["numTicks"] == 0 and ": 0 samples in" in html_data(text)["title"]),
    ("none.svg", lambda text: not tooltips(text) and "No samples: " in text),
    ("none.speedscope.json", lambda text: stacks_of_speedscope(text) == []),
], ids=["html", "svg", "speedscope"])
def test_nothing_sampled_is_a_file_that_says_so(processes, tmp_path, name, says):
    sleeper = processes.start("sleep", 30)
    run = Run(processes, tmp_path, name, "-d", "0.1", "-p", sleeper.pid)
    assert run.samples == 0 and run.last.endswith(f"{name} has none") and len(run.said) == 1, run.said
    assert says(run.text), run.text[:2000]
