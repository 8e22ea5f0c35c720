# SPDX-License-Identifier: Apache-2.0
"""`xagent validate` and `xagent convert`: what is said, where, and with which exit code. Needs no privilege."""
import pytest

from harness import paths

GOOD = 'pyroscope.write "w" {\n\tendpoint {\n\t\turl = "http://127.0.0.1:1"\n\t}\n}\n'
BAD = 'discovery.process "p" {\n\tintervall = "1s"\n}\n'


def xagent(processes, tmp_path, *arguments):
    run = processes.run(paths.XAGENT, *arguments, cwd=tmp_path, seconds=10)
    return run.popen.returncode, run.err


def test_nothing_is_said_about_what_is_right(processes, tmp_path):
    (tmp_path / "a.alloy").write_text(GOOD)
    assert xagent(processes, tmp_path, "validate", "a.alloy") == (0, "")


def test_nobody_is_asked(processes, tmp_path):
    """Where a run would end because nobody answers; what the answer would be does not matter."""
    remote = 'remote.http "r" {\n\turl = "http://127.0.0.1:1"\n}\n'
    (tmp_path / "a.alloy").write_text(remote + GOOD + "logging {\n\tlevel = remote.http.r.content\n}\n")
    assert xagent(processes, tmp_path, "validate", "a.alloy") == (0, "")


def test_mistake(processes, tmp_path):
    (tmp_path / "a.alloy").write_text(BAD)
    code, err = xagent(processes, tmp_path, "validate", "a.alloy")
    assert code == 1
    assert err.startswith("Error: a.alloy:2:2: unrecognized attribute name \"intervall\"") and err.endswith("\nError: validation failed\n"), err


def test_directory_tells_of_all_files(processes, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "b.river").write_text("x = \n")
    (tmp_path / "d" / "a.alloy").write_text("y = \n")
    code, err = xagent(processes, tmp_path, "validate", "./d/")
    assert code == 1 and -1 < err.find("Error: d/a.alloy:") < err.find("Error: d/b.river:"), err


@pytest.mark.parametrize("arguments", [("a", "b"), ("--no-such-flag", "a"), ("--stability.level=high", "a"),
                                       ("--config.format=prometheus", "a"), ("missing",)])
@pytest.mark.parametrize("command", ["validate", "run"])
def test_usage_errors(processes, tmp_path, command, arguments):
    code, err = xagent(processes, tmp_path, command, *arguments, *(["--server.http.listen-addr=127.0.0.1:0"] if command == "run" else []))
    assert code == 1 and err, err


def test_validate_wants_something(processes, tmp_path):
    code, err = xagent(processes, tmp_path, "validate")
    assert code == 1 and "one FILE or DIRECTORY is needed" in err, err


def test_initial_load_fails(processes, tmp_path):
    (tmp_path / "a.alloy").write_text(BAD)
    code, err = xagent(processes, tmp_path, "run", "a.alloy", "--server.http.listen-addr=127.0.0.1:0")
    assert code == 1
    assert err.startswith("Error: a.alloy:2:2: ") and err.endswith("\nError: could not perform the initial load successfully\n"), err


YAML = """
net:
  pyroscope: "http://127.0.0.1:4040"
eBPF:
  programs:
    - name: profile
      args:
        private:
          gather_interval: 5
          sample_rate: 97
          targets:
            - {name: web, match: MatchTargetComm, val: nginx, labels: [{l_name: app, l_val: "a$b"}]}
            - {name: job, match: MatchTargetPgID, val: 4711}
            - {name: host, match: MatchTargetNone}
"""


def test_converted_configuration_is_valid(processes, tmp_path):
    (tmp_path / "o.yaml").write_text(YAML)
    code, err = xagent(processes, tmp_path, "convert", "--source-format=yaml", "-o", "o.alloy", "o.yaml")
    assert code == 0 and "Error" not in err, err
    text = (tmp_path / "o.alloy").read_text()
    for word in ('collect_interval = "5s"', "sample_rate = 97", '"job_pgid_4711"', '"a$$b"', "xm_host_"):
        assert word in text, text
    assert xagent(processes, tmp_path, "validate", "o.alloy") == (0, "")


def test_mistake_in_what_is_converted_has_its_place(processes, tmp_path):
    (tmp_path / "o.yaml").write_text(YAML.replace("97", "fast"))
    code, err = xagent(processes, tmp_path, "convert", "--source-format=yaml", "o.yaml")
    assert code == 1 and "Error: o.yaml:10:24: sample_rate" in err, err


@pytest.mark.parametrize("path", sorted((paths.TOP / "deploy" / "examples").glob("*.alloy")), ids=lambda p: p.name)
def test_examples(processes, tmp_path, path):
    """They are right, and laid out as `xagent fmt` would."""
    assert xagent(processes, tmp_path, "validate", path) == (0, "")
    assert xagent(processes, tmp_path, "fmt", "-t", path)[0] == 0
