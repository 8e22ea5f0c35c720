# SPDX-License-Identifier: Apache-2.0
"""`xagent inspect eval`: values on standard output in the language's own syntax, mistakes with their place on standard error."""
import os
import subprocess

import pytest

from harness import paths

pytestmark = pytest.mark.agent


def run(*args, env=None):
    r = subprocess.run([str(paths.XAGENT), "inspect", "eval", *args], capture_output=True, text=True, check=False, timeout=30,
                       env={**os.environ, **(env or {})})
    return r.returncode, r.stdout, r.stderr


VALUES = [
    ("1 + 2 * 3", "7\n"),
    ("-1", "-1\n"),
    ('"a" + "b"', '"ab"\n'),
    ("null", "null\n"),
    ("[1, [2, true]]", "[1, [2, true]]\n"),
    ("[]", "[]\n"),
    ("{}", "{}\n"),
    ('{a = 1, long = {b = "x"}}', '{\n\ta    = 1,\n\tlong = {\n\t\tb = "x",\n\t},\n}\n'),
    ('{"a b" = null}', '{\n\t"a b" = null,\n}\n'),
    ('string.format("%05.1f|%q", 2.25, "x")', '"002.2|\\"x\\""\n'),
    ("encoding.from_yaml(`[0x10, ~]`)", "[16, null]\n"),
    ('json_path("{\\"a\\": [1, 2]}", "$.a[?(@ > 1)]")', "[2]\n"),
    ('array.combine_maps([{a = 1}], [{a = 1}], ["a"])[0].a', "1\n"),
    ("sys.env", "function\n"),
]


@pytest.mark.parametrize("expr, expected", VALUES, ids=[v[0] for v in VALUES])
def test_value(expr, expected):
    assert run(expr) == (0, expected, "")


def test_output_is_input():
    """What is printed is an expression that prints the same again."""
    first = run('{a = [1.5, "ä\\n", {b = null}], "c d" = encoding.from_json("[1e21, -5]")}')
    assert first[0] == 0
    assert run(first[1]) == first


@pytest.mark.parametrize("expr, message", [
    ("foo", '1:1: identifier "foo" does not exist'),
    ("1 +", "1:4: expected expression, got EOF"),
    ("", "1:1: expected expression, got EOF"),
    ('1 +\n "a"', '2:2: "a" should be number, got string'),
    ("encoding.from_json(\"[\")", "1:1: encoding.from_json unexpected end of JSON input"),
    ("string.join([true], \"\")", "1:14: true should be string, got bool"),
    ("sys.env()", "1:1: sys.env expected 1 args, got 0"),
])
def test_mistake(expr, message):
    assert run(expr) == (1, "", message + "\n")


def test_environment():
    assert run('sys.env("XAGENT_TEST")', env={"XAGENT_TEST": "here"}) == (0, '"here"\n', "")


@pytest.mark.parametrize("args, why", [((), "wants an expression"), (("1", "2"), "wants one expression, between quotes")])
def test_usage(args, why):
    code, out, err = run(*args)
    assert (code, out) == (1, "")
    assert err.splitlines()[0] == f"xagent inspect eval: {why}"


def test_help():
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert "xagent inspect eval EXPR" in out
    overview = subprocess.run([str(paths.XAGENT), "inspect", "--help"], capture_output=True, text=True, check=True).stdout
    assert "xagent inspect eval" in overview
