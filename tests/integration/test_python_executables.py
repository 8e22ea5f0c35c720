# SPDX-License-Identifier: Apache-2.0
"""Programs that run Python and are not called so: packed into one file with the interpreter, copied to another name, of a virtual environment."""
import shutil
import subprocess

import pytest

from harness import chains, folded, paths, pythons

pytestmark = [pytest.mark.bpf, pytest.mark.beside]

PROGRAM = """
import sys, time  # of the CPU: there are as many ticks on a busy machine
class Service:
    def handle(self, end):
        return spin(end)
def spin(end):
    while time.process_time() < end:
        sum([i * i for i in range(2000)])
Service().handle(time.process_time() + float(sys.argv[1]))
"""
# PyInstaller takes an interpreter of which there is a shared library, and packs that.
PACKED_BY = "3.12"
PACKED = paths.BUILD / "packed"
FORMS = {"one file": ("--onefile", "packed"), "one folder": ("--onedir", "packed/packed")}


def assert_whole(processes, tmp_path, *command, **options):
    run = processes.run(paths.XAGENT, "profile", "-U", "-F", "499", "-o", tmp_path / "o", "--", *command, "2", seconds=60, **options)
    assert run.popen.returncode == 0, run.err
    stacks = folded.parse((tmp_path / "o").read_text())
    spinning = folded.Stacks(s for s in stacks if "__main__.spin" in s.frames)
    assert spinning.total >= 300, stacks.show()
    # Up to 3.10 functions have no class.
    whole = folded.Stacks(s for s in spinning if chains.is_complete(s) and "_PyEval_EvalFrameDefault" not in s.frames and
                          folded.contains_run(tuple(f.replace("Service.", "") for f in s.frames), ("__main__.<module>", "__main__.handle", "__main__.spin")))
    assert whole.total >= 0.995 * spinning.total, folded.Stacks(s for s in spinning if s not in whole).show(5)
    return whole


def test_another_name(processes, tmp_path):
    copy, program = tmp_path / "service", tmp_path / "program"
    shutil.copy("/usr/bin/python3", copy)
    program.write_text(PROGRAM)
    whole = assert_whole(processes, tmp_path, copy, "-S", "-E", program)
    assert {s.frames[0] for s in whole} == {"service"}


def test_without_symbols(processes, tmp_path):
    """A static program that was stripped exports nothing. Here the names are others: nothing of its own is found by them."""
    python, why = pythons.get("debian 3.15")
    if not python:
        pytest.skip(why)
    data = (python.root / "usr/bin/python3.15").read_bytes()
    for name in (b"_PyEval_EvalFrameDefault", b"PyCode_Type", b"_PyRuntime", b"Py_Version"):
        assert b"\0" + name + b"\0" in data, name
        data = data.replace(b"\0" + name + b"\0", b"\0" + b"x" * len(name) + b"\0")
    stripped, program = python.root / "usr/bin/stripped", python.root / "tmp/without_symbols"
    stripped.write_bytes(data)
    stripped.chmod(0o755)
    program.write_text(PROGRAM)
    assert_whole(processes, tmp_path, "chroot", python.root, "/usr/bin/stripped", "-S", "-E", f"/tmp/{program.name}")


def test_virtual_environment(processes, tmp_path):
    run = subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", tmp_path / "venv"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        pytest.skip(f"no virtual environment: {run.stdout}{run.stderr}")
    (tmp_path / "program").write_text(PROGRAM)
    assert_whole(processes, tmp_path, tmp_path / "venv/bin/python", tmp_path / "program")


@pytest.fixture(scope="session")
def pack():
    """Makes a program of PROGRAM in one of FORMS, once."""
    python = pythons.OF_HOST.get(PACKED_BY)
    if not python:
        pytest.skip(f"no CPython {PACKED_BY} on this host")
    installer, why = pythons.installed(python, "pyinstaller")
    if not installer:
        pytest.skip(why)
    source = PACKED / "packed.py"
    if not source.exists() or source.read_text() != PROGRAM:
        shutil.rmtree(PACKED, ignore_errors=True)
        PACKED.mkdir()
        source.write_text(PROGRAM)

    def make(form):
        option, program = FORMS[form]
        made = PACKED / option / program
        if not made.exists():
            run = subprocess.run([installer / "pyinstaller", option, "--log-level", "ERROR", "--distpath", PACKED / option, "--workpath", PACKED / "work", "--specpath",
                                  PACKED, source], capture_output=True, text=True, timeout=300, check=False)
            assert run.returncode == 0, run.stderr
        return made
    return make


@pytest.mark.skipif(not pythons.FULL, reason="XAGENT_TEST_MATRIX=full runs it: installing and packing take a minute")
@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.replace(" ", "_"))
def test_packed(processes, tmp_path, pack, form):
    """The interpreter is a library that the program unpacks into a folder of its own, or has beside it."""
    whole = assert_whole(processes, tmp_path, pack(form))
    assert {s.frames[0] for s in whole} == {"packed"}
