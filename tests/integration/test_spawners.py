# SPDX-License-Identifier: Apache-2.0
"""
Processes of a millisecond, one after the other: what a build host does, and a loop in a shell script.

As many samples as perf sees, ± statistics; under the right name; whole stacks; and each frame named for which there is a symbol.
"""
import math
import re
import shutil
from pathlib import Path

import pytest

from harness import burning, chains, folded, paths, perf, privileges, symbols
from harness.agent import config
from harness.folded import Stacks

pytestmark = pytest.mark.bpf

RATE = 997
SIGMAS = 4
TRIES = 3
# Of user stacks; of the frames for which there is a symbol.
COMPLETE = 0.9995
# Compilers spend some of their time in assembler without unwind information (libgmp), and recurse deeper than a copy of the stack reaches
# before their tables are known.
COMPLETE_BUILD = 0.998
NAMED = 0.99


def assert_same_counts(ours, theirs, least):
    """Two samplers that do not know of each other, of the same processes: counts of rare events."""
    compared = {name for name in ours | theirs if ours.get(name, 0) + theirs.get(name, 0) >= least}
    assert compared, (ours, theirs)
    for name in compared:
        a, b = ours.get(name, 0), theirs.get(name, 0)
        assert abs(a - b) <= SIGMAS * math.sqrt(a + b), f"{name}: we have {a} samples, perf has {b}"


def by_name(stacks):
    return {name: found.total for name, found in burning.by_process(stacks).items()}


def profile_beside_perf(processes, tmp_path, *command, **options):
    """The stacks of a command, and perf's counts of its processes by name. Perf does not follow a name in a whole host, we neither."""
    reason = perf.why_not()
    if reason:
        pytest.skip(reason)
    path = tmp_path / "out.folded"
    for _ in range(TRIES):
        run, counts = perf.record(processes, tmp_path, RATE, paths.XAGENT, "profile", "-f", "folded", "-F", RATE, "-o", path,
                                  "--", *command, **options)
        assert run.popen.returncode == 0, run.err
        if counts is not None:
            return folded.parse(path.read_text()), counts
    pytest.skip("perf cannot read what it has recorded")


def incomplete(stacks):
    return Stacks(s for s in stacks if len(s.frames) > 1 and chains.is_reason(s.frames[1]))


def assert_complete(stacks, least=COMPLETE):
    """Cut stacks are rare and independent of each other: where one is expected, three or four are no rarer than a bad hand (3 sigma)."""
    cut = incomplete(stacks)
    expected = (1 - least) * stacks.total
    assert cut.total <= expected + 3 * expected ** 0.5, f"{cut.total} of {stacks.total} stacks are cut:\n{cut.show()}"


def assert_named(stacks, files):
    shares = symbols.Shares(stacks, files)
    assert shares.missed + shares.unknown <= (1 - NAMED) * shares.frames, shares.show()
    return shares.show()


@pytest.fixture
def true_of_ours(tmp_path):
    """A name that no other process of this host has."""
    path = tmp_path / "truest"
    shutil.copy("/bin/true", path)
    return path


def test_fifty_a_second_as_perf_sees_them(processes, programs, tmp_path, true_of_ours, capsys):
    stacks, theirs = profile_beside_perf(processes, tmp_path, programs["spawner"], 10, 50, true_of_ours)
    ours = by_name(stacks)
    assert set(ours) <= {"spawner", "truest"}, stacks.show()
    assert ours["truest"] > 100
    assert_same_counts(ours, theirs, 20)
    # Some 400 samples: one is no statistics of an aim of 1 in 2,000, two are.
    assert incomplete(stacks).total <= 1, incomplete(stacks).show()
    text = assert_named(stacks, symbols.Files(true_of_ours, programs["spawner"]))
    with capsys.disabled():
        print(f"\n    {ours}, perf: {dict(theirs)}; {text}")


def test_five_hundred_a_second_are_whole(start_agent, standin, processes, programs, true_of_ours, capsys):
    """Nothing is lost on the way, and hardly a stack is cut."""
    agent = start_agent(config(standin.url, interval="2s", rate=RATE)).wait_ready()
    spent = burning.cpu_seconds(agent.process.pid)
    run = processes.run(programs["spawner"], 8, 500, true_of_ours)
    spent = burning.cpu_seconds(agent.process.pid) - spent
    m = agent.metrics()
    assert agent.stop() == 0
    lost = {n: v for n, v in (("ring", m.kernel("lost")), ("events", m.agent("sideband_lost")), ("processes", m.agent("process_evictions")),
                              ("memory", m.agent("samples_dropped_memory"))) if v}
    assert not lost, lost
    stacks = Stacks(folded.Stack((p.labels["service_name"], *s.frames), s.values[0] // p.profile.period)
                    for p in standin.pushes() for s in p.profile.samples if p.labels["service_name"] in ("truest", "spawner"))
    assert stacks.total > 500, run.out
    # Without room in the ring for a copy of the stack; counted, and on a machine with a CPU to spare none.
    assert_complete(stacks, COMPLETE - m.kernel("cold_limited") / stacks.total)
    with capsys.disabled():
        print(f"\n    {int(run.out)} processes in 8 s, {stacks.total} samples, {incomplete(stacks).total} cut; the agent: {spent / 8:.3f} CPU")


# A build

N_SOURCES = 100
TOOLS = ("cc1", "as", "collect2", "ld")


def write_project(directory):
    """Programs of some functions each, a library of them all, and a Makefile whose recipes need a shell."""
    directory.mkdir()
    for i in range(N_SOURCES):
        functions = "".join(f"static int step_{j}(const char *s, int y) {{ for (int k = 0; k < {j}; k++) y += s[k] * k; return y + (int)strlen(s); }}\n"
                            for j in range(12))
        calls = " + ".join(f"step_{j}(argv[0], argc)" for j in range(12))
        (directory / f"p{i}.c").write_text("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + functions +
                                           f"int main(int argc, char **argv) {{ printf(\"%d\\n\", {calls}); return 0; }}\n")
    products = " ".join(f"p{i}" for i in range(N_SOURCES))
    (directory / "Makefile").write_text(f"all: {products}\n%: %.c\n\t@test -f $< && gcc -O1 -o $@ $< && test -x $@\n")


def tool_paths():
    found = [Path(symbols.output("gcc", f"-print-prog-name={tool}").strip()) for tool in TOOLS]
    return [path if path.is_absolute() else Path(shutil.which(path.name) or path) for path in found]


def test_build_with_make(processes, tmp_path, capsys):
    reason = privileges.why_no_tool("make", "gcc", "nm")
    if reason:
        pytest.skip(reason)
    write_project(tmp_path / "project")
    stacks, theirs = profile_beside_perf(processes, tmp_path, "make", "-B", "-s", "-j2", "-C", tmp_path / "project", seconds=120)
    ours = by_name(stacks)
    assert_same_counts(ours, theirs, 50)
    assert_complete(stacks, COMPLETE_BUILD)
    assert {"cc1", "as", "gcc"} <= set(ours), ours
    assert_in_own_process(stacks)
    programs = [*tool_paths(), *map(shutil.which, ("gcc", "make", "sh", "as", "ld")), *Path("/usr/lib/bfd-plugins").glob("*.so"),
                *Path(symbols.output("gcc", "-print-prog-name=cc1").strip()).parent.glob("*.so")]
    text = assert_named(stacks, symbols.Files(*programs))
    with capsys.disabled():
        print(f"\n    {ours}\n    perf: {dict(theirs)}\n    {text}; {incomplete(stacks).total} of {stacks.total} cut")


def assert_in_own_process(stacks):
    """A program's own code is in the stacks of a process of its name, and in no other's."""
    own = {"cc1": r"cc1", "as": r"[\w-]*-as", "ld": r"[\w-]*-ld(\.bfd|\.gold)?", "gcc": r"[\w-]*gcc-\d+", "make": "make"}
    of = re.compile(r"^(.+)\+0x[0-9a-f]+$")
    for stack in stacks:
        files = {found[1] for found in map(of.match, stack.frames[1:]) if found}
        owners = {name for name, pattern in own.items() for file in files if re.fullmatch(pattern, file)}
        assert owners <= {stack.frames[0]}, stack
