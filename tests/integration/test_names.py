# SPDX-License-Identifier: Apache-2.0
"""Names of functions: what `xagent inspect symbols` tells of files, and stripped programs in roots of their own while they run."""
import os
import re
import shutil
import subprocess

import pytest

from harness import burning, paths, privileges

SOURCE = r"""
#include <stdio.h>
#include <time.h>
static volatile unsigned long sink;
static __attribute__((noinline)) void hidden_spin(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += i;
}
static __attribute__((noinline)) void hidden_caller(void)
{
	hidden_spin();
	sink++;
}
int main(void)
{
	time_t end = time(NULL) + 50;
	puts("burning");
	fflush(stdout);
	while (time(NULL) < end)
		hidden_caller();
	return 0;
}
"""
ID = "0123456789abcdef0123456789abcdef01234567"
FUNCTION = re.compile(r"[0-9a-f]+ [0-9a-f]+\?? \S.*")


def run(*words, cwd=None):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60, check=True, cwd=cwd).stdout


def symbols(*arguments):
    return subprocess.run([paths.XAGENT, "inspect", "symbols", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False)


@pytest.fixture
def built(tmp_path):
    """The directory with `full`, `stripped` and `stripped.debug`."""
    reason = privileges.why_no_tool("gcc", "objcopy", "strip", "nm")
    if reason:
        pytest.skip(reason)
    (tmp_path / "p.c").write_text(SOURCE)
    run("gcc", "-g", "-O1", "-fno-optimize-sibling-calls", "-fno-omit-frame-pointer", f"-Wl,--build-id=0x{ID}", "-o", "full", "p.c",
        cwd=tmp_path)
    run("objcopy", "--only-keep-debug", "full", "stripped.debug", cwd=tmp_path)
    run("strip", "-s", "-o", "stripped", "full", cwd=tmp_path)
    run("objcopy", "--add-gnu-debuglink=stripped.debug", "stripped", cwd=tmp_path)
    return tmp_path


def address_of(program, function):
    found = [line.split()[0] for line in run("nm", program).splitlines() if line.endswith(f" {function}")]
    assert len(found) == 1, function
    return found[0].lstrip("0")


# Files looked at

@pytest.mark.agent
def test_sources_and_all_functions(built):
    shown = symbols(built / "full")
    assert shown.returncode == 0 and shown.stderr == "", shown.stderr
    head, *functions = shown.stdout.splitlines()
    assert re.fullmatch(r"# 1\. \.symtab +\d+ functions", head), head
    assert all(FUNCTION.fullmatch(f) for f in functions), functions
    begins = [int(f.split()[0], 16) for f in functions]
    assert begins == sorted(set(begins))
    assert {"main", "hidden_spin", "hidden_caller"} <= {f.split()[2] for f in functions}
    assert f"{address_of(built / 'full', 'hidden_spin')} " in " ".join(f + " " for f in functions)


@pytest.mark.agent
def test_addresses(built):
    vaddr = address_of(built / "full", "hidden_spin")
    (built / "alone").mkdir()
    shutil.copy(built / "stripped", built / "alone" / "stripped")
    for program, name in (("full", "hidden_spin"), ("stripped", "hidden_spin"), ("alone/stripped", f"stripped+0x{vaddr}")):
        shown = symbols(built / program, vaddr, "0x" + vaddr.upper())
        assert shown.returncode == 0, shown.stderr
        lines = [line for line in shown.stdout.splitlines() if not line.startswith("#")]
        assert lines == [f"{vaddr} {name}"] * 2
    assert "debug file" in symbols(built / "stripped", vaddr).stdout


@pytest.mark.agent
def test_lines(built):
    vaddr = address_of(built / "full", "hidden_spin")
    for program in ("full", "stripped"):
        lines = [line for line in symbols("--lines", built / program, vaddr).stdout.splitlines() if not line.startswith("#")]
        assert lines[0] == f"{vaddr} hidden_spin"
        assert re.fullmatch(r"  hidden_spin \S*p\.c:6", lines[1]), lines


@pytest.mark.agent
@pytest.mark.parametrize("arguments, said", [
    ([], "wants an ELF file"),
    (["/etc/passwd"], "/etc/passwd: not an ELF file"),
    (["/nonexistent"], "/nonexistent: No such file or directory"),
    (["/dev/null"], "/dev/null: not a regular file"),
    (["/proc/self/exe", "main"], '"main" is no address in hexadecimal'),
    (["/proc/self/exe", "1" * 17], "is no address in hexadecimal"),
    (["--demangle=nicely", "/proc/self/exe"], "none, simplified, templates or full"),
])
def test_errors(arguments, said):
    shown = symbols(*arguments)
    assert shown.returncode == 1 and said in shown.stderr and shown.stdout == "", (shown.stdout, shown.stderr)


@pytest.mark.agent
def test_fifo_does_not_hold_it_up(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    shown = symbols(tmp_path / "fifo")
    assert shown.returncode == 1 and "not a regular file" in shown.stderr


# Programs that run

def make_root(built, root):
    """A root with its own C library, the stripped program, and its debug file by build id."""
    for line in run("ldd", built / "stripped").splitlines():
        for word in line.split():
            if word.startswith("/"):
                (root / word[1:]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(os.path.realpath(word), root / word[1:])
    (root / "app").mkdir()
    shutil.copy(built / "stripped", root / "app" / "inside")
    debug = root / "usr/lib/debug/.build-id" / ID[:2]
    debug.mkdir(parents=True)
    shutil.copy(built / "stripped.debug", debug / f"{ID[2:]}.debug")


@pytest.mark.bpf
@pytest.mark.beside
def test_stripped_programs_with_debug_files_in_and_out_of_a_root(processes, built, tmp_path):
    """The debug file of the one is below its root only, of the other beside it."""
    root = tmp_path / "root"
    root.mkdir()
    make_root(built, root)
    shutil.copy(built / "stripped", tmp_path / "outside")
    started = burning.start(processes, [["chroot", root, "/app/inside"], [tmp_path / "outside"]], "burning")
    stacks = burning.profile(processes, tmp_path, [p.popen.pid for p in started])
    for name in ("inside", "outside"):
        mine = stacks[name]
        good = mine.having_run("main", "hidden_caller", "hidden_spin")
        assert mine.total >= 50 and good.total >= 0.95 * mine.total, mine.show(8)


@pytest.mark.bpf
@pytest.mark.beside
def test_no_debug_file_to_be_had(processes, built, tmp_path):
    """A FIFO in the debug file's place is left alone, and the frames are named by the file."""
    root = tmp_path / "root"
    root.mkdir()
    make_root(built, root)
    debug = root / "usr/lib/debug/.build-id" / ID[:2] / f"{ID[2:]}.debug"
    debug.unlink()
    os.mkfifo(debug)
    started = burning.start(processes, [["chroot", root, "/app/inside"]], "burning")
    stacks = burning.profile(processes, tmp_path, [p.popen.pid for p in started])["inside"]
    assert stacks.total >= 50
    assert not any("hidden" in frame for frame in stacks.frames()), stacks.show(8)
    assert any(frame.startswith("inside+0x") for frame in stacks.frames()), stacks.show(8)
