# SPDX-License-Identifier: Apache-2.0
"""A program that makes functions without end, as templates and class loaders do: more names than there is room for. Those that stay keep theirs."""
import pytest

from harness import folded, paths, pythons

pytestmark = pytest.mark.bpf

RATE, SECONDS = 997, 8
STAY = ("__main__.<module>", "__main__.main", "__main__.stays")
DEEP = 20
# Each is made, runs for a millisecond, and is dropped: some 10,000 names a second are met.
PROGRAM = f"""
import time

def make(i):
    text, last = [], "spin(end)"
    for k in range({DEEP}):
        name = f"made_{{i}}_{{k}}_" + "x" * 80
        text.append(f"def {{name}}(end):\\n    return {{last}} + 1\\n")
        last = f"{{name}}(end)"
    place = {{"spin": spin}}
    exec("\\n".join(text), place)
    return place[name]

def spin(end):
    n = 0
    while time.perf_counter() < end:
        n += 1
    return n

def stays(i):
    return make(i)(time.perf_counter() + 0.001)

def main():
    end, i = time.process_time() + {SECONDS}, 0
    while time.process_time() < end:
        stays(i)
        i += 1

main()
"""


def test_those_that_stay_keep_their_names(processes, tmp_path):
    program, output = tmp_path / "endless.py", tmp_path / "o"
    program.write_text(PROGRAM)
    python = pythons.get("host 3")[0]
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", RATE, "-f", "folded", "-o", output, "--", *python.command, program, seconds=120)
    assert run.popen.returncode == 0, run.err
    # So many stacks are more than one profile, of which each has its lines. From the first function of Python on.
    begun = [s for s in map(folded.parse_line, output.read_text().splitlines()) if any(f.startswith("made_") for f in s.frames)]
    stacks = [([f for f in s.frames if f.startswith(("__main__.", "made_", "<module>", "main", "stays", "[python"))], s.count) for s in begun]
    total = sum(n for _, n in stacks)
    made = sum(n * sum(f.startswith("made_") for f in frames) for frames, n in stacks)
    assert total > RATE * SECONDS / 4 and made >= 0.9 * DEEP * total, (total, made)
    wrong = {tuple(frames[:4]): n for frames, n in stacks if tuple(frames[:3]) != STAY}
    assert not wrong, wrong
