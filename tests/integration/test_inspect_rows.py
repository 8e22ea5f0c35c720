# SPDX-License-Identifier: Apache-2.0
"""`xagent inspect rows`: rows of files whose rules are known, and what is said of files that have none."""
import os
import re
import subprocess

import pytest

from harness import paths, privileges

pytestmark = pytest.mark.agent

ROW = re.compile(r"[0-9a-f]+ (none|(\S+) (\S+) (\S+))")
COLUMNS = ["rows", "rules", "bytes", "of_eh_frame", "ns/row", "covered", "bad_fdes", "escapes", "dropped", "file"]

SOURCE = """
	.text
	.globl known, after, root
	.type known, @function
known:	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	nop
	pop %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.skip 64, 0xcc
after:	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.p2align 4, 0xcc
root:	.cfi_startproc
	.cfi_undefined %rip
	nop
	ret
	.cfi_endproc
"""


def inspect(*arguments):
    return subprocess.run([paths.XAGENT, "inspect", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def rows_of(path):
    """[(vaddr, rule)], and whatever else is said is a failure."""
    run = inspect("rows", path)
    assert run.returncode == 0 and run.stderr == "", run.stderr
    assert all(ROW.fullmatch(line) for line in run.stdout.splitlines()), run.stdout[:2000]
    return [(int(vaddr, 16), rule) for vaddr, rule in (line.split(" ", 1) for line in run.stdout.splitlines())]


def gcc(tmp_path, source, *arguments, name="program.so", suffix=".s"):
    reason = privileges.why_no_tool("gcc")
    if reason:
        pytest.skip(reason)
    text = tmp_path / f"source{suffix}"
    text.write_text(source)
    built = subprocess.run(["gcc", *arguments, "-o", tmp_path / name, text], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        pytest.skip(f"gcc {' '.join(arguments)}: {built.stderr[:200]}")
    return tmp_path / name


def test_rows_of_known_code(tmp_path):
    if os.uname().machine != "x86_64":
        pytest.skip("x86-64 assembly")
    library = gcc(tmp_path, SOURCE, "-shared", "-nostdlib", "-Wl,-Ttext=0x10000")
    assert rows_of(library) == [
        (0x10000, "rsp+8 u c-8"),
        (0x10001, "rsp+16 c-16 c-8"),
        (0x10004, "rbp+16 c-16 c-8"),
        (0x10006, "rsp+8 u c-8"),  # the popped frame pointer is the caller's
        (0x10007, "none"),         # a gap
        (0x10047, "rsp+8 u c-8"),  # its padding has no end
        (0x10050, "rsp+8 u undef"),
        (0x10052, "none"),
    ]


@pytest.mark.parametrize("path", ["/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/python3", "/lib/aarch64-linux-gnu/libc.so.6"])
def test_rows_ascend_and_differ(path):
    if not os.path.exists(path):
        pytest.skip(f"no {path}")
    rows = rows_of(path)
    assert len(rows) > 1000
    assert all(a[0] < b[0] and a[1] != b[1] for a, b in zip(rows, rows[1:]))
    assert rows[-1][1] == "none"


def test_stats_are_a_table(tmp_path):
    files = ["/bin/sh", str(paths.XAGENT)]
    run = inspect("rows", "--stats", *files)
    assert run.returncode == 0, run.stderr
    header, *lines = run.stdout.splitlines()
    assert header.split() == COLUMNS
    assert [line.split()[-1] for line in lines] == [*files, "total"]
    numbers = [line.split() for line in lines]
    for column in (0, 1, 2, 6, 7, 8):
        assert sum(int(n[column]) for n in numbers[:-1]) == int(numbers[-1][column])
    assert int(numbers[-1][0]) > 1000
    assert float(numbers[-1][3]) < 0.6
    # Aligned: each number ends where its title does.
    for line in lines:
        for title in COLUMNS[:-1]:
            end = header.index(title) + len(title)
            assert line[end - 1] != " " and line[end] == " ", line


def test_no_rules_is_no_mistake(tmp_path):
    library = gcc(tmp_path, "\t.text\n\tnop\n", "-shared", "-nostdlib")
    assert rows_of(library) == []
    run = inspect("rows", "--stats", library)
    assert run.returncode == 0 and len(run.stdout.splitlines()) == 3


def test_mistakes_name_the_file(tmp_path):
    text = tmp_path / "text"
    text.write_text("no program at all, but long enough for a header, if one only were a little generous about what it says in there")
    risc = tmp_path / "risc"
    elf = bytearray(64)
    elf[:7] = b"\x7fELF\x02\x01\x01"
    elf[16:20] = b"\x03\x00\xf3\x00"
    risc.write_bytes(elf)
    small = tmp_path / "small"
    elf[4] = 1
    small.write_bytes(elf)
    for path, why in ((tmp_path / "absent", "No such file"), (text, "not an ELF file"), (small, "32-bit"),
                      (risc, "machine that is not unwound"), (tmp_path, "not a regular file")):
        run = inspect("rows", path)
        assert run.returncode == 1 and run.stdout == ""
        assert run.stderr.startswith(f"xagent: {path}: ") and why in run.stderr and run.stderr.count("\n") == 1, run.stderr


def test_the_others_go_on(tmp_path):
    run = inspect("rows", "--stats", "/bin/sh", tmp_path / "absent", paths.XAGENT)
    assert run.returncode == 1
    assert "absent: No such file" in run.stderr
    assert [line.split()[-1] for line in run.stdout.splitlines()[1:]] == ["/bin/sh", str(paths.XAGENT), "total"]


@pytest.mark.parametrize("arguments, why", [
    ((), "Usage"), (("row",), 'did you mean "rows"'), (("rows",), "wants an ELF file"),
    (("rows", "/bin/sh", "/bin/sh"), "one ELF file"), (("rows", "--stat", "/bin/sh"), "--stat"),
])
def test_usage(arguments, why):
    run = inspect(*arguments)
    assert run.returncode == 1 and why in run.stderr and run.stdout == ""


def test_help():
    assert "rows" in inspect("--help").stdout
    run = inspect("rows", "--help")
    assert run.returncode == 0 and "--stats" in run.stdout and run.stderr == ""
