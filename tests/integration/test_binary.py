# SPDX-License-Identifier: Apache-2.0
"""The finished program as its ELF headers tell: what an attacker who has found a bug in it would have to get around."""
import re
import subprocess
from pathlib import Path

import pytest

from harness import paths, privileges

pytestmark = pytest.mark.agent

# Feature of the machine → what readelf calls it in the note of an object, and the instruction that an indirect call must land on.
FEATURES = {"x86_64": ({"IBT", "SHSTK"}, "endbr64"), "aarch64": ({"BTI", "PAC"}, "bti|paciasp")}


def readelf(*arguments):
    reason = privileges.why_no_tool("readelf")
    if reason:
        pytest.skip(reason)
    return subprocess.run(["readelf", "-W", *map(str, arguments)], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def machine():
    header = readelf("-h", paths.XAGENT)
    return "x86_64" if "X86-64" in header else "aarch64" if "AArch64" in header else "other"


@pytest.fixture(scope="module")
def segments():
    """(type, flags) of each program header."""
    return re.findall(r"^  (\w+) +0x\w+ 0x\w+ 0x\w+ 0x\w+ 0x\w+ ([RWE ]{3})", readelf("-l", paths.XAGENT), re.MULTILINE)


@pytest.fixture(scope="module")
def dynamic():
    """Tag → value of the dynamic section."""
    return dict(re.findall(r"^ 0x\w+ \((\w+)\) +(.*)$", readelf("-d", paths.XAGENT), re.MULTILINE))


@pytest.fixture(scope="module")
def imported():
    return set(re.findall(r" UND (\w+)", readelf("--dyn-syms", paths.XAGENT)))


def features_of(*files):
    """The features that every one of these files, or members of an archive, claims."""
    notes = readelf("-n", *files)
    claimed = [set(re.split(r", ", names)) for names in re.findall(r"(?:x86|AArch64) feature: (.+)$", notes, re.MULTILINE)]
    n_members = len(re.findall(r"^File: ", notes, re.MULTILINE)) or 1
    return set.intersection(*claimed) if len(claimed) == n_members else set()


def test_it_is_loaded_at_an_address_of_chance(dynamic):
    assert re.search(r"Type: +DYN", readelf("-h", paths.XAGENT))
    assert "PIE" in dynamic["FLAGS_1"].split()


def test_relocated_data_is_read_only(segments, dynamic):
    assert "GNU_RELRO" in dict(segments)
    assert "BIND_NOW" in dynamic["FLAGS"] and "NOW" in dynamic["FLAGS_1"].split()
    assert "TEXTREL" not in dynamic and "TEXTREL" not in dynamic["FLAGS"]


def test_nothing_is_writable_and_executable(segments):
    assert dict(segments)["GNU_STACK"].strip() == "RW"
    loads = [flags for kind, flags in segments if kind == "LOAD"]
    assert len(loads) >= 4, segments
    assert not [flags for flags in loads if "W" in flags and "E" in flags]
    # Constants lie in segments of their own, not behind the code.
    assert "R  " in loads and "R E" in loads


def test_libraries_come_from_where_the_system_has_them(dynamic):
    assert "RPATH" not in dynamic and "RUNPATH" not in dynamic


def test_overflows_are_noticed(imported):
    assert "__stack_chk_fail" in imported
    # Level 1 has these, and they say that the others were looked at.
    assert {"__snprintf_chk", "__memcpy_chk"} <= imported


def test_fortify_knows_sizes_of_what_was_allocated():
    """Level 3 only: the size of memory from malloc(n) is known, so that copying into it is checked."""
    compiled = (paths.BUILD / "flags").read_text()
    level = int(re.search(r"-D_FORTIFY_SOURCE=(\d)", compiled).group(1))
    source = "#include <features.h>\nint level = __USE_FORTIFY_LEVEL;\n"
    seen = subprocess.run(["cc", "-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3", "-E", "-P", "-"], input=source,
                          capture_output=True, text=True, check=True).stdout
    assert f"level = {level};" in seen


def test_indirect_branches_land_where_they_may(machine):
    if machine not in FEATURES:
        pytest.skip(f"nothing is known of {machine}")
    wanted, _ = FEATURES[machine]
    ours = [path for path in sorted(paths.BUILD.glob("lib*.a")) if path.name != "libsupport.a"]
    for archive in [paths.BUILD / "agent" / "main.o", *ours]:
        assert wanted <= features_of(archive), archive
    # The linker takes the note from the program when one object is without it, as start files of some distributions are.
    start = [subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
             for name in ("Scrt1.o", "crti.o", "crtn.o", "libiberty.a")]
    others = [wanted <= features_of(path) for path in start if Path(path).is_file()]
    assert (wanted <= features_of(paths.XAGENT)) == all(others), list(zip(start, others))


def test_code_has_landing_pads(machine):
    reason = privileges.why_no_tool("objdump")
    if reason or machine not in FEATURES:
        pytest.skip(reason or f"nothing is known of {machine}")
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", paths.XAGENT], capture_output=True, text=True, check=True).stdout
    main = text[text.index("<main>:"):].splitlines()[1]
    assert re.search(FEATURES[machine][1], main), main


def test_the_callers_flags_come_after_ours():
    run = subprocess.run(["make", "-n", "-B", "V=1", "CFLAGS=-DMINE=1", "CPPFLAGS=-DMINE=2", "LDFLAGS=-Wl,-Map=mine", "build/xagent"],
                         cwd=paths.TOP, capture_output=True, text=True, check=True)
    compiled = next(line for line in run.stdout.splitlines() if line.endswith("-o build/agent/main.o"))
    linked = next(line for line in run.stdout.splitlines() if "-o build/xagent " in line)
    for mine in ("-DMINE=1", "-DMINE=2"):
        assert 0 < compiled.index("-fstack-protector-strong") < compiled.index(mine)
    assert 0 < linked.index("-z,now") < linked.index("-Wl,-Map=mine")
