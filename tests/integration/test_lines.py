# SPDX-License-Identifier: Apache-2.0
"""Files, lines and inlined functions: in the profile of a program whose hot loop is in an inlined function, and at the real server."""
import http.server
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from harness import folded, paths, pprof, pyroscope
from harness.agent import config
from test_pyroscope import last_hour, server  # noqa: F401: a fixture

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

RATE = 499
SOURCE = Path(__file__).resolve().parent.parent / "fixtures" / "inlined.c"
CHAIN = ("main", "burn", "between", "churn")


def line_of(comment):
    return next(n for n, text in enumerate(SOURCE.read_text().splitlines(), 1) if f"/* {comment} */" in text)


def profile(processes, path, *arguments, **options):
    run = processes.run(paths.XAGENT, "profile", "-F", RATE, "-o", path, *arguments, seconds=40, **options)
    assert run.popen.returncode == 0, run.err


def profile_pprof(processes, tmp_path, *arguments, **options):
    path = tmp_path / "cpu.pb.gz"
    profile(processes, path, *arguments, **options)
    return pprof.parse(path.read_bytes())


def value(samples):
    return sum(s.values[0] for s in samples)


def assert_lines(result):
    churning = [s for s in result.samples if s.places[-1][0] == "churn"]
    assert value(churning) >= 0.8 * result.total, [s.places for s in result.samples]
    for sample in churning:
        assert tuple(p[0] for p in sample.places[-4:]) == CHAIN, sample.places
        assert all(p[1].endswith("tests/fixtures/inlined.c") for p in sample.places[-4:]), sample.places
        assert sample.places[-2][2] == line_of("call of churn")
        assert sample.places[-3][2] == line_of("call of between")
        assert sample.places[-4][2] == line_of("call of burn")
    hot = [s for s in churning if s.places[-1][2] in (line_of("hot line"), line_of("hot line") - 1)]
    assert value(hot) >= 0.95 * value(churning), {s.places[-1] for s in churning}


def test_inlined_function_has_file_and_line(processes, programs, tmp_path):
    assert_lines(profile_pprof(processes, tmp_path, "--lines", "--", programs["inlined"], 2))


def test_without_lines_nothing_of_it(processes, programs, tmp_path):
    result = profile_pprof(processes, tmp_path, "--", programs["inlined"], 1)
    burning = [s for s in result.samples if s.frames[-1] == "burn"]
    assert value(burning) >= 0.8 * result.total, result.samples
    assert all(p[1:] == ("", 0) for s in result.samples for p in s.places), result.samples
    # One location a function: what differs in lines only is one stack.
    stacks = [(s.frames, tuple(s.labels.items())) for s in result.samples]
    assert len(set(stacks)) == len(stacks)


def test_text_has_inlined_functions_but_no_lines(processes, programs, tmp_path):
    path = tmp_path / "out.folded"
    profile(processes, path, "--lines", "--", programs["inlined"], 1)
    stacks = folded.parse(path.read_text())
    assert stacks.having_run(*CHAIN).total >= 0.8 * stacks.total, stacks.show()
    assert "inlined.c" not in path.read_text()


def test_go_tool_reads_lines(processes, programs, tmp_path):
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not Path(go).exists():
        pytest.skip("no go")
    path = tmp_path / "cpu.pb.gz"
    profile(processes, path, "--lines", "--", programs["inlined"], 1)
    top = subprocess.run([go, "tool", "pprof", "-top", "-lines", str(path)], capture_output=True, text=True, check=True).stdout
    assert re.search(rf"churn .*inlined\.c:{line_of('hot line')} \(inline\)", top), top


@pytest.fixture
def debug_server(programs, tmp_path):
    """A stripped program without a debug file, and a server that has it."""
    stripped, debug = tmp_path / "inlined", tmp_path / "debug"
    subprocess.run(["objcopy", "--only-keep-debug", programs["inlined"], debug], check=True)
    subprocess.run(["strip", "-o", stripped, programs["inlined"]], check=True)
    notes = subprocess.run(["readelf", "-n", stripped], capture_output=True, text=True, check=True).stdout
    build_id = re.search("Build ID: ([0-9a-f]+)", notes)
    if not build_id:
        pytest.skip("the linker gives no build ids")
    wanted = f"/buildid/{build_id[1]}/debuginfo"

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found = self.path == wanted
            self.send_response(200 if found else 404)
            body = debug.read_bytes() if found else b""
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield stripped, f"http://127.0.0.1:{running.server_port}"
    running.shutdown()


def test_debuginfod_names_a_stripped_program(start_agent, processes, server, debug_server, tmp_path):  # noqa: F811
    """The first interval asks, a later one has the names."""
    program, url = debug_server
    cache = tmp_path / "cache"
    chain = processes.start(program, 8)
    chain.wait_for_output("main")
    text = config(server.url, interval="1s", rate=RATE, targets_only=True,
                  targets=[{"__process_pid__": str(chain.pid), "service_name": "stripped"}],
                  lines=True, inlines=True, debuginfod_urls=[url], debuginfod_cache_path=str(cache))
    agent = start_agent(text).wait_ready()
    assert chain.wait(30) == 0
    agent.stop()
    merged = server.query("SelectMergeProfile", **last_hour(profileTypeID=pyroscope.CPU, labelSelector='{service_name="stripped"}'))
    stacks = pyroscope.profile_stacks(merged)
    named = sum(v for frames, v in stacks.items() if frames[-1] == "churn")
    assert named >= 0.3 * sum(stacks.values()), stacks
    assert list(cache.glob("*/debuginfo"))


def test_server_keeps_lines(start_agent, processes, programs, server):  # noqa: F811
    chain = processes.start(programs["inlined"], 5)
    chain.wait_for_output("main")
    text = config(server.url, interval="2s", rate=RATE, targets_only=True, lines=True, inlines=True,
                  targets=[{"__process_pid__": str(chain.pid), "service_name": "with_lines"}])
    agent = start_agent(text).wait_ready()
    assert chain.wait(30) == 0
    agent.stop()
    merged = server.query("SelectMergeProfile", **last_hour(profileTypeID=pyroscope.CPU, labelSelector='{service_name="with_lines"}'))
    strings = merged["stringTable"]
    functions = {f["id"]: (strings[int(f["name"])], strings[int(f.get("filename", 0))]) for f in merged["function"]}
    places = {(*functions[line["functionId"]], int(line.get("line", 0))) for l in merged["location"] for line in l["line"]}
    churn = {p for p in places if p[0] == "churn"}
    assert any(p[1].endswith("inlined.c") and p[2] == line_of("hot line") for p in churn), places
    stacks = pyroscope.profile_stacks(merged)
    exact = sum(v for frames, v in stacks.items() if frames[-4:] == CHAIN)
    assert exact >= 0.8 * sum(stacks.values()), stacks
