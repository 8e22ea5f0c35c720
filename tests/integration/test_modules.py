# SPDX-License-Identifier: Apache-2.0
"""Modules of a running agent: their files change, and only what is in them is touched."""
import signal

import pytest

from harness.agent import Agent
from harness.processes import wait_until

pytestmark = pytest.mark.agent

CONFIG = """
import.file "lib" {
	filename = module_path + "/lib.river"
}

lib.sink "a" {
	url = "http://127.0.0.1:1"
}

discovery.process "all" {
	join = [{ receiver = lib.sink.a.kind }]
}
"""

LIB = """
declare "sink" {
	argument "url" { }

	pyroscope.write "%s" {
		endpoint {
			url = argument.url.value
		}
	}

	export "kind" {
		value = "%s"
	}
}
"""

# A module's kind and the component in it.
FIRST = LIB % ("first", "1")
SECOND = LIB % ("second", "2")


@pytest.fixture
def agent(processes, tmp_path):
    (tmp_path / "lib.river").write_text(FIRST)
    return Agent(processes, tmp_path, CONFIG).wait_ready()


def components(agent):
    """Id → state, as /-/healthy lists them, before a line about reads of the whole host that did not return."""
    lines = [line for line in agent.get("/-/healthy")[1].splitlines()[1:] if ": " in line]
    return dict(line.split(": ")[:2] for line in lines)


def test_metrics_say_which_module(agent):
    """As dashboards select them: the path of the module, and the id within it."""
    labels = [l for l, _ in agent.metrics().series("pyroscope_write_sent_bytes_total")]
    assert [(l["component_path"], l["component_id"]) for l in labels] == [("/lib.sink.a", "pyroscope.write.first")], labels


def put(agent, text):
    agent.config_path.with_name("lib.river").write_text(text)


def test_a_module_runs(agent):
    assert components(agent) == {"import.file.lib": "healthy", "lib.sink.a": "healthy", "lib.sink.a/pyroscope.write.first": "healthy",
                                 "discovery.process.all": "healthy"}
    assert agent.stop() == 0


def test_its_file_changes(agent):
    put(agent, SECOND)
    wait_until(lambda: "lib.sink.a/pyroscope.write.second" in components(agent), 10, "the other component")
    assert "lib.sink.a/pyroscope.write.first" not in components(agent)
    assert set(components(agent).values()) == {"healthy"}


def test_its_file_becomes_bad_and_good_again(agent):
    put(agent, "declare {")
    wait_until(lambda: agent.get("/-/healthy")[0] == 500, 10, "the import is unhealthy")
    assert components(agent)["import.file.lib"] == "unhealthy"
    assert components(agent)["lib.sink.a/pyroscope.write.first"] == "healthy"
    # The same mistake, asked for.
    status, body = agent.get("/-/reload")
    assert status == 400
    assert "lib.river:1:" in body
    assert components(agent)["lib.sink.a/pyroscope.write.first"] == "healthy"
    put(agent, SECOND)
    wait_until(lambda: agent.get("/-/healthy")[0] == 200, 10, "the import is healthy")
    assert "lib.sink.a/pyroscope.write.second" in components(agent)


def test_a_use_comes_and_goes_by_reload(agent):
    agent.config_path.write_text(CONFIG + 'lib.sink "b" {\n\turl = "http://127.0.0.1:2"\n}\n')
    agent.process.send(signal.SIGHUP)
    wait_until(lambda: "lib.sink.b/pyroscope.write.first" in components(agent), 10, "the second use")
    agent.config_path.write_text(CONFIG)
    assert agent.get("/-/reload") == (200, "config reloaded\n")
    assert "lib.sink.b/pyroscope.write.first" not in components(agent)
