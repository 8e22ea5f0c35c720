# SPDX-License-Identifier: Apache-2.0
"""What a person asks make for, beside products: the list of targets, and how each file is compiled."""
import json
import re
import subprocess

import pytest

from harness import paths

pytestmark = pytest.mark.agent


def make(*arguments):
    return subprocess.run(["make", "-s", "-C", paths.TOP, *arguments], capture_output=True, text=True, check=True, timeout=120).stdout


def test_help_has_every_target_for_a_person():
    text = (paths.TOP / "Makefile").read_text()
    section = text.split("# ---- everything a person calls")[1]
    phony = set(" ".join(re.findall(r"^\.PHONY: (.*)", section, re.M)).split()) | {"all"}
    told = set(re.findall(r"^  make (\S+)", make("help"), re.M))
    parts = {name for name in phony if name.startswith("oracle-")}
    assert phony - parts == told - {"compile_commands.json"}
    assert all(len(line) <= 110 for line in make("help").splitlines())


def test_compile_commands():
    """An entry for each source; a command that compiles, as one of each kind shows."""
    make("compile_commands.json")
    entries = {entry["file"]: entry for entry in json.loads((paths.TOP / "compile_commands.json").read_text())}
    sources = [str(path.relative_to(paths.TOP)) for folder in ("agent", "pprof", "river-config") for path in (paths.TOP / folder).rglob("*.c")]
    assert set(sources) <= set(entries) and all((paths.TOP / name).exists() for name in entries)
    for name in ("agent/util/buf.c", "tests/unit/agent/util/test_buf.c", "bpf/sample.bpf.c"):
        command = entries[name]["command"].replace("-target bpf", "-target bpf -fsyntax-only") + " -o /dev/null"
        result = subprocess.run(command, shell=True, cwd=entries[name]["directory"], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
