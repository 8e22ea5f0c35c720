# SPDX-License-Identifier: Apache-2.0
"""Files as people have them: each is taken as it is, keeps its meaning when it is formatted, and each mistake in it is told where it is."""
import re

import pytest

from harness import paths

FILES = sorted(p for p in (paths.TESTS / "fixtures" / "river").iterdir() if p.suffix in (".alloy", ".river"))


def xagent(processes, *words):
    return processes.run(paths.XAGENT, *words, seconds=20)


@pytest.fixture(params=FILES, ids=lambda p: p.name)
def file(request):
    return request.param


def test_there_are_files():
    assert len(FILES) >= 6, FILES


def test_is_taken(processes, file):
    run = xagent(processes, "validate", file)
    assert run.popen.returncode == 0, run.err
    assert "Error" not in run.err and run.out == "", run.err


def test_formatted_is_taken_and_stays(processes, file, tmp_path):
    formatted = xagent(processes, "fmt", file)
    assert formatted.popen.returncode == 0, formatted.err
    again = tmp_path / file.name
    again.write_text(formatted.out)
    for other in file.parent.glob("*.[tj][xs][to]*"):
        (tmp_path / other.name).write_text(other.read_text())
    assert xagent(processes, "fmt", again).out == formatted.out
    assert xagent(processes, "fmt", "-t", again).popen.returncode == 0
    assert xagent(processes, "validate", again).popen.returncode == 0
    # Nothing a person has written is gone.
    assert re.sub(r"[\s,]", "", formatted.out) == re.sub(r"[\s,]", "", file.read_text())


@pytest.mark.parametrize("old, new, line, said", [
    ("forward_to", "forward_two", 10, 'unrecognized attribute name "forward_two"'),
    ("pyroscope.write.default.receiver", "pyroscope.write.other.receiver", 10,
     'component "pyroscope.write.other.receiver" does not exist or is out of scope'),
    ("targets    = []", 'targets    = "all"', 11, '"all" should be array, got string'),
    ("targets    = []", "targets    = [", 12, None),
])
def test_a_mistake_is_told_where_it_is(processes, tmp_path, old, new, line, said):
    text = (paths.TESTS / "fixtures" / "river" / "minimal.river").read_text()
    assert old in text
    path = tmp_path / "broken.alloy"
    path.write_text(text.replace(old, new))
    run = xagent(processes, "validate", path)
    assert run.popen.returncode == 1, run.err
    assert any(l.startswith(f"Error: {path}:{line}:") and (said is None or said in l) for l in run.err.splitlines()), run.err
    assert run.err.rstrip().endswith("validation failed"), run.err
