# SPDX-License-Identifier: Apache-2.0
"""`xagent fmt`: what is written where, what is said, exit codes, and what stays of a file that is rewritten."""
import os
import shutil
import stat
import subprocess
import tempfile

import pytest

from harness import paths

RIGHT = 'logging {\n\tlevel = "info"\n}\n'
WRONG = RIGHT + "\n\n"
MISTAKES = 'logging {\n\tlevel = \n}\n\na "b" = 1\n'
NOBODY = 65534


def fmt(*arguments, text="", command="fmt", prefix=(), program=paths.XAGENT, **options):
    """Exit code, standard output, standard error."""
    run = subprocess.run([*prefix, program, command, *arguments], input=text.encode(), capture_output=True, timeout=20, check=False,
                         **options)
    return run.returncode, run.stdout.decode(), run.stderr.decode()


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "right.alloy").write_text(RIGHT)
    (tmp_path / "wrong.alloy").write_text(WRONG)
    (tmp_path / "mistakes.alloy").write_text(MISTAKES)
    return tmp_path


def facts(path):
    st = os.stat(path)
    return st.st_ino, st.st_mtime_ns, st.st_ctime_ns, st.st_mode, st.st_uid, st.st_gid


@pytest.mark.parametrize("command", ["fmt", "format"])
def test_file_goes_to_standard_output(files, command):
    before = facts("wrong.alloy")
    assert fmt("wrong.alloy", command=command) == (0, RIGHT, "")
    assert facts("wrong.alloy") == before


@pytest.mark.parametrize("arguments", [(), ("-",), ("--", "-")])
def test_standard_input(files, arguments):
    assert fmt(*arguments, text=WRONG) == (0, RIGHT, "")


def test_pipe_as_a_file(files):
    assert fmt("/dev/stdin", text=WRONG) == (0, RIGHT, "")


def test_name_that_begins_with_a_dash(files):
    (files / "-w").write_text(WRONG)
    assert fmt("--", "-w") == (0, RIGHT, "")


def test_test(files):
    assert fmt("-t", "right.alloy") == (0, "", "")
    assert fmt("--test", "wrong.alloy") == (1, "", "Error: file wrong.alloy is not formatted correctly\n")
    assert (files / "wrong.alloy").read_text() == WRONG
    assert fmt("-t", text=RIGHT) == (0, "", "")
    assert fmt("-t", "-", text=WRONG) == (1, "", "Error: file <stdin> is not formatted correctly\n")


@pytest.mark.parametrize("flag", ["-w", "--write", "--write=true"])
def test_write(files, flag):
    assert fmt(flag, "wrong.alloy") == (0, "", "")
    assert (files / "wrong.alloy").read_text() == RIGHT
    assert sorted(p.name for p in files.iterdir()) == ["mistakes.alloy", "right.alloy", "wrong.alloy"]


def test_unchanged_file_is_not_rewritten(files):
    before = facts("right.alloy")
    assert fmt("-w", "right.alloy") == (0, "", "")
    assert facts("right.alloy") == before


def test_reader_keeps_the_old_contents(files):
    with open("wrong.alloy", encoding="utf-8") as reader:
        assert fmt("-w", "wrong.alloy") == (0, "", "")
        assert reader.read() == WRONG


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o4755])
def test_mode_is_kept(files, mode):
    os.chmod("wrong.alloy", mode)
    assert fmt("-w", "wrong.alloy", umask=0o077)[0] == 0
    assert (files / "wrong.alloy").read_text() == RIGHT
    assert stat.S_IMODE(os.stat("wrong.alloy").st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_owner_is_kept(files):
    os.chown("wrong.alloy", NOBODY, 12)
    assert fmt("-w", "wrong.alloy")[0] == 0
    st = os.stat("wrong.alloy")
    assert (st.st_uid, st.st_gid) == (NOBODY, 12)
    assert (files / "wrong.alloy").read_text() == RIGHT


def test_symbolic_link_is_followed(files):
    (files / "d").mkdir()
    os.rename("wrong.alloy", "d/real.alloy")
    (files / "d" / "second").symlink_to("real.alloy")
    (files / "first").symlink_to("d/second")
    assert fmt("-w", "first") == (0, "", "")
    assert os.readlink("first") == "d/second" and os.readlink("d/second") == "real.alloy"
    assert (files / "d" / "real.alloy").read_text() == RIGHT


def test_other_names_of_the_file_are_kept(files):
    os.link("wrong.alloy", "other")
    assert fmt("-w", "wrong.alloy") == (0, "", "")
    assert (files / "other").read_text() == RIGHT and os.path.samefile("other", "wrong.alloy")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount and become somebody else")
def test_mount_point_is_written_in_place(files):
    (files / "place").write_text("")
    mount = 'mount --bind wrong.alloy place && exec "$0" "$@"'
    run = fmt("-w", "place", prefix=("unshare", "--mount", "sh", "-c", mount))
    if "unshare failed" in run[2] or "mount:" in run[2]:
        pytest.skip(run[2])
    assert run == (0, "", "")
    assert (files / "wrong.alloy").read_text() == RIGHT and (files / "place").read_text() == ""


@pytest.fixture
def as_nobody(files, monkeypatch):
    """`xagent fmt` of an unprivileged user, in a folder that this user reaches."""
    if os.geteuid() != 0:
        pytest.skip("only root may become somebody else")

    def run(*arguments):
        with open(paths.XAGENT, "rb") as program:  # its folder may be closed to others; a descriptor is not
            return fmt(*arguments, prefix=("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
                       program=f"/proc/self/fd/{program.fileno()}", pass_fds=(program.fileno(),))

    with tempfile.TemporaryDirectory() as open_folder:
        os.chmod(open_folder, 0o755)
        shutil.copy(files / "wrong.alloy", open_folder)
        monkeypatch.chdir(open_folder)
        yield run


def content(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def test_folder_that_may_not_be_written_to(as_nobody):
    os.chmod("wrong.alloy", 0o666)
    before = facts("wrong.alloy")
    assert as_nobody("-w", "wrong.alloy") == (0, "", "")
    assert content("wrong.alloy") == RIGHT
    assert facts("wrong.alloy")[0] == before[0]


def test_file_of_somebody_else_in_a_folder_of_mine(as_nobody):
    os.chown(".", NOBODY, NOBODY)
    os.chmod("wrong.alloy", 0o646)
    before = facts("wrong.alloy")
    assert as_nobody("-w", "wrong.alloy") == (0, "", "")
    assert content("wrong.alloy") == RIGHT and os.listdir() == ["wrong.alloy"]
    assert facts("wrong.alloy")[3:] == before[3:]


def test_read_only_file_stays(as_nobody):
    os.chown(".", NOBODY, NOBODY)
    os.chmod("wrong.alloy", 0o444)
    assert as_nobody("-w", "wrong.alloy") == (1, "", "Error: open wrong.alloy: permission denied\n")
    assert content("wrong.alloy") == WRONG and os.listdir() == ["wrong.alloy"]


def test_file_that_may_not_be_read(as_nobody):
    os.chmod("wrong.alloy", 0)
    assert as_nobody("wrong.alloy") == (1, "", "Error: open wrong.alloy: permission denied\n")


@pytest.mark.parametrize("arguments, text", [
    (("-w",), "cannot use -w with standard input"),
    (("-w", "-"), "cannot use -w with standard input"),
    (("-w", "-t", "wrong.alloy"), "cannot use -w/--write and -t/--test at the same time"),
    (("-wt", "-"), "cannot use -w/--write and -t/--test at the same time"),
    ((".",), "cannot format a directory"),
    (("-w", "."), "cannot format a directory"),
    (("none.alloy",), "stat none.alloy: no such file or directory"),
    (("-t", "right.alloy/x"), "stat right.alloy/x: not a directory"),
    (("",), "stat : no such file or directory"),
])
def test_what_cannot_be(files, arguments, text):
    assert fmt(*arguments, text=WRONG) == (1, "", f"Error: {text}\n")
    assert (files / "wrong.alloy").read_text() == WRONG


@pytest.mark.parametrize("arguments", [("a", "b"), ("--no-such",), ("-x",), ("--write=2", "a"), ("--", "a", "b")])
def test_usage(files, arguments):
    code, out, err = fmt(*arguments)
    assert (code, out) == (1, "") and err.startswith("xagent fmt: ") and err.endswith("see xagent fmt --help\n"), err


@pytest.mark.parametrize("flags", [(), ("-w",), ("-t",)])
def test_mistakes(files, flags):
    before = facts("mistakes.alloy")
    code, out, err = fmt(*flags, "mistakes.alloy")
    lines = err.splitlines()
    assert (code, out) == (1, "")
    assert lines[-1] == "Error: encountered errors during formatting"
    assert [line.split(": ")[0] for line in lines[:-1]] == ["mistakes.alloy:3:1", "mistakes.alloy:5:3"], err
    assert lines[1].endswith(": attribute names may not have labels")
    assert facts("mistakes.alloy") == before and (files / "mistakes.alloy").read_text() == MISTAKES


def test_mistakes_of_standard_input(files):
    assert fmt(text="a {\n\tb = 1 # c\n}\n") == (
        1, "", "<stdin>:2:8: illegal character U+0023 '#'\n<stdin>:2:8: expected TERMINATOR, got ILLEGAL\nError: encountered errors during formatting\n")


def test_big_input(files):
    text = "".join(f'remote.http "r{i}" {{\n\turl = "http://127.0.0.1:{i}"\n}}\n\n' for i in range(40000))
    assert len(text) > 2_000_000
    assert fmt(text=text) == (0, text[:-1], "")


def test_too_big_input(files):
    with open("huge.alloy", "wb") as f:
        f.truncate((16 << 20) + 1)
    assert fmt("huge.alloy") == (1, "", "Error: read huge.alloy: larger than 16 MiB\n")


def test_help(files):
    code, out, err = fmt("--help")
    assert (code, err) == (0, "") and out.startswith("Usage: xagent fmt ")
    assert fmt("--help", command="format") == (0, out, "")


def test_output_that_cannot_be_written(files):
    with open("/dev/full", "wb") as full:
        run = subprocess.run([paths.XAGENT, "fmt", "right.alloy"], stdout=full, stderr=subprocess.PIPE, timeout=20, check=False)
    assert (run.returncode, run.stderr) == (1, b"Error: write /dev/stdout: no space left on device\n")
