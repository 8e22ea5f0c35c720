# SPDX-License-Identifier: Apache-2.0
"""What web pages read, the support bundle, and loads when files change. No component here needs a privilege."""
import json
import os

import pytest

from harness import paths
from harness.agent import AUTH_IN_FORMAT, Agent
from harness.processes import free_port, wait_until

CONFIG = '''// password = "commented-out"
pyroscope.write "w" {{
	external_labels = {{"b" = "2", "a" = "1"}}
	endpoint {{
		url            = "http://127.0.0.1:1"
		remote_timeout = "{timeout}"
		basic_auth {{
			username = "me"
			password = "hunter2hunter2"
		}}
	}}
}}
''' + AUTH_IN_FORMAT


@pytest.fixture
def agent(processes, tmp_path):
    a = Agent(processes, tmp_path, CONFIG.format(timeout="90s"), "--config.watch", "--server.http.ui-path-prefix=/ui/").wait_ready()
    yield a
    a.stop()


def test_component(agent):
    assert [c["localID"] for c in json.loads(agent.get("/api/v0/web/components")[1])] == ["pyroscope.write.w"]
    status, body = agent.get_authorized("/ui/api/v0/web/components/pyroscope.write.w")
    c = json.loads(body)
    assert status == 200
    assert list(c) == ["name", "type", "localID", "moduleID", "label", "referencesTo", "referencedBy", "dataFlowEdgesTo", "health",
                       "original", "arguments", "exports", "liveDebuggingEnabled"]
    text = {"type": "string", "value": "1"}
    assert c["arguments"][0]["value"]["value"][0] == {"key": "a", "value": text}
    endpoint = {s["name"]: s for s in c["arguments"][1]["body"]}
    assert list(endpoint) == ["url", "remote_timeout", "basic_auth"]
    assert endpoint["remote_timeout"]["value"] == {"type": "string", "value": "1m30s"}
    assert endpoint["basic_auth"]["body"][1] == {"name": "password", "type": "attr", "value": {"type": "capsule", "value": "(secret)"}}


@pytest.mark.parametrize("path, status", [
    ("components/nobody", 404), ("modules/x/components", 500), ("modules/x", 404), ("remotecfg/components", 500), ("peers", 200),
    ("debug/x?sampleProb=2", 400), ("graph?window=0", 400)])
def test_other_answers(agent, path, status):
    assert agent.get_authorized("/api/v0/web/" + path)[0] == status


DECLARED = '''declare "shift" {{
	argument "password" {{ }}
	pyroscope.write "inner" {{
		endpoint {{
			url = "http://127.0.0.1:1"
			basic_auth {{
				username = "me"
				password = argument.password.value
			}}
		}}
	}}
	export "receiver" {{
		value = pyroscope.write.inner.receiver
	}}
}}
shift "s" {{
	password = "hunter2hunter2"
}}
declare "outer" {{
	shift "t" {{
		password = "h2"
	}}
}}
outer "o" {{ }}
''' + AUTH_IN_FORMAT


def test_modules(processes, tmp_path):
    agent = Agent(processes, tmp_path, DECLARED.format()).wait_ready()
    root = {c["localID"]: c for c in json.loads(agent.get("/api/v0/web/components")[1])}
    assert sorted(root) == ["outer.o", "shift.s"] and root["shift.s"]["createdModuleIDs"] == ["shift.s"]
    for module, local_id, created in (("shift.s", "pyroscope.write.inner", None), ("outer.o", "shift.t", ["outer.o/shift.t"]),
                                      ("outer.o/shift.t", "pyroscope.write.inner", None)):
        listed, = json.loads(agent.get_authorized(f"/api/v0/web/modules/{module}/components")[1])
        assert (listed["localID"], listed["moduleID"], listed.get("createdModuleIDs")) == (local_id, module, created)
        for path in f"modules/{module}/components/{local_id}", f"components/{module}/{local_id}":
            status, body = agent.get_authorized("/api/v0/web/" + path)
            assert status == 200 and json.loads(body)["arguments" if "write" in local_id else "moduleID"], path
    assert agent.get_authorized("/api/v0/web/modules/shift.s/components/nobody")[0] == 404
    assert agent.get_authorized("/api/v0/web/modules/shift.t/components")[0] == 500
    assert not any("hunter2" in text or '"h2"' in text for text in agent.support_bundle().values())
    assert agent.stop() == 0


def test_support_bundle_tells_no_secret(agent):
    everything = agent.support_bundle()
    assert {"components.json", "facts.txt", "log.txt", "metrics.txt"} <= set(everything)
    assert "127.0.0.1:1" in everything["config/01-agent.alloy"]
    assert not any("hunter2" in text or "commented" in text or "told-to-nobody" in text for text in everything.values())


def loaded_hash(agent):
    return [line for line in agent.get("/metrics")[1].splitlines() if line.startswith("xagent_config_hash{")]


def test_replaced_file_is_loaded_and_a_bad_one_is_not(agent, tmp_path):
    before = loaded_hash(agent)
    (tmp_path / "new").write_text(CONFIG.format(timeout="80s"))
    os.rename(tmp_path / "new", agent.config_path)
    wait_until(lambda: loaded_hash(agent) != before, 5, "the new file is loaded")
    agent.config_path.write_text("x")
    m = agent.wait_metric(lambda m: m.get("xagent_config_load_failures_total") == 1, 5, "the bad file is refused")
    assert m.get("xagent_config_last_load_successful") == 0
    status, body = agent.get("/-/reload")
    assert status == 400 and body.startswith(f"{agent.config_path}:1:"), body
    assert agent.get("/-/ready")[0] == 200 and len(json.loads(agent.get("/api/v0/web/components")[1])) == 1


def test_swapped_folder_as_in_a_config_map(processes, tmp_path):
    for name, timeout in (("..1", "10s"), ("..2", "20s")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "c.alloy").write_text(CONFIG.format(timeout=timeout))
    (tmp_path / "..data").symlink_to("..1")
    link = tmp_path / "c.alloy"
    link.symlink_to("..data/c.alloy")
    text = link.read_text()
    agent = Agent.__new__(Agent)
    link_agent(agent, processes, tmp_path, link)
    agent.wait_ready()
    before = loaded_hash(agent)
    (tmp_path / "..next").symlink_to("..2")
    os.rename(tmp_path / "..next", tmp_path / "..data")
    wait_until(lambda: loaded_hash(agent) != before, 5, "the swap is seen")
    assert link.read_text() != text and agent.stop() == 0


def link_agent(agent, processes, directory, link):
    """An agent whose configuration lies where nobody may write a new one."""
    agent.port = free_port()
    agent.url = f"http://127.0.0.1:{agent.port}"
    agent.config_path = link
    agent.process = processes.start(paths.XAGENT, "run", link, "--config.watch", f"--server.http.listen-addr=127.0.0.1:{agent.port}",
                                    cwd=directory)
