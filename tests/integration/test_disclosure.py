# SPDX-License-Identifier: Apache-2.0
"""What the agent tells of others' processes and of its configuration, and to whom: no answer without a password shows more than profiles do."""
import json
import secrets
import string
import sys

import pytest

from harness.agent import AUTH, AUTHORIZED, fetch
from harness.processes import free_port, wait_until

pytestmark = [pytest.mark.agent, pytest.mark.bpf]

# Each is in one place only, and in no other process.
ARGUMENT, VARIABLE, FOLDER, SETTING = (word + secrets.token_hex(8) for word in ("a", "v", "f", "s"))

CONFIG = """
discovery.process "all" {
	refresh_interval = "1s"
	discover_config {
		cwd         = true
		exe         = true
		commandline = true
		username    = true
	}
}
discovery.relabel "named" {
	targets = discovery.process.all.targets
	rule {
		source_labels = ["__meta_process_commandline"]
		target_label  = "__tmp_command"
	}
}
pyroscope.ebpf "host" {
	forward_to       = [pyroscope.store.here.receiver]
	targets          = discovery.relabel.named.output
	targets_only     = false
	collect_interval = "1s"
	sample_rate      = 199
}
pyroscope.write "away" {
	external_labels = { "x" = "SETTING" }
	endpoint {
		url     = "http://127.0.0.1:1/"
		headers = { "X-Token" = "SETTING" }
	}
}
pyroscope.store "here" { }
""".replace("SETTING", SETTING)

BURN = "import os\nprint(os.getpid(), flush=True)\nwhile True:\n    sum(i * i for i in range(10000))\n"


@pytest.fixture
def victim(processes, tmp_path):
    """Busy, with a secret in its arguments, its environment and its directory."""
    folder = tmp_path / FOLDER
    folder.mkdir()
    return processes.start(sys.executable, "-c", BURN, f"--token={ARGUMENT}", cwd=folder, env={"TOKEN": VARIABLE, "PATH": "/usr/bin"})


@pytest.fixture(params=["no password", "password"])
def agent(request, start_agent, victim):
    """Without one, and with one that is not shown."""
    port = free_port()
    agent = start_agent(CONFIG + (AUTH if request.param == "password" else ""), f"--server.http.probe-addr=127.0.0.1:{port}").wait_ready()
    agent.probes = f"http://127.0.0.1:{port}"

    def profiled():
        found = json.loads(agent.get(f"/api/v0/web/process?pid={victim.pid}")[1])["processes"]
        return found and found[0]["profiled"]
    wait_until(profiled, 20, "the victim is profiled")
    return agent


def paths_of(agent, victim):
    components = [c["localID"] for c in json.loads(agent.get("/api/v0/web/components")[1])]
    assert {"discovery.process.all", "discovery.relabel.named", "pyroscope.ebpf.host", "pyroscope.write.away"} <= set(components)
    web = ("status", "components", "peers", "modules/x/components", "remotecfg/components", "debug/x", "graph", f"process?pid={victim.pid}",
           "process?name=python", *(f"components/{c}" for c in components))
    return ["/", "/metrics", "/-/ready", "/-/healthy", "/-/reload", "/-/support", "/ready", "/api/v1/status/buildinfo",
            *("/api/v0/web/" + p for p in web)]


def querier(agent, method, body):
    url = f"{agent.url}/querier.v1.QuerierService/{method}"
    return fetch(url, data=json.dumps(body).encode(), headers={"Content-Type": "application/json"})


def queries(agent):
    """What a client of the store asks: every label, value, series and name."""
    span = {"start": 0, "end": 1 << 42}
    names = wait_until(lambda: [text for text in [querier(agent, "LabelNames", span)[1]] if "service_name" in text], 10, "there are profiles")[0]
    yield names
    for name in json.loads(names)["names"]:
        yield querier(agent, "LabelValues", {"name": name, **span})[1]
    yield querier(agent, "Series", span)[1]
    yield querier(agent, "SelectMergeStacktraces", {"profileTypeID": "process_cpu:cpu:nanoseconds:cpu:nanoseconds", "labelSelector": "{}", **span})[1]


def test_no_answer_tells_it(agent, victim):
    hidden = (ARGUMENT, VARIABLE, FOLDER, SETTING)
    for path in paths_of(agent, victim):
        status, text = agent.get(path)
        assert not [s for s in hidden if s in text], (path, status)
    for path in ("/-/ready", "/-/healthy", "/metrics"):
        text = fetch(agent.probes + path)[1]
        assert not [s for s in hidden if s in text], path
    for text in queries(agent):
        assert not [s for s in hidden if s in text], text[:200]
    status, text = agent.get("/-/support")
    assert status in (401, 403) and "PK" not in text


def searched(agent, text):
    answer = json.loads(agent.get(f"/api/v0/web/process?name={text}")[1])
    return [p["pid"] for p in answer["processes"]], answer.get("why")


def test_search_tells_nothing_letter_by_letter(agent, victim):
    """Every beginning of the secret, and every letter behind it: whatever is asked, the victim is found by what all may know."""
    assert victim.pid in searched(agent, "python")[0]
    nobody = searched(agent, "no-process-has-this")
    assert nobody == ([], "no process has this in its name, executable or service name")
    for secret in (ARGUMENT, VARIABLE, FOLDER):
        for n in range(8, len(secret) + 1):
            assert searched(agent, secret[:n]) == nobody, secret[:n]
        for letter in string.hexdigits:
            assert searched(agent, secret[:9] + letter) == nobody
    for words in ("--token=", "-c%20import", "os.getpid"):
        assert victim.pid not in searched(agent, words)[0], words


def test_who_has_the_password_is_told(start_agent, victim):
    agent = start_agent(CONFIG + AUTH.replace('"/-/support"', '"/api/v0/web/process", "/-/support"')).wait_ready()

    def told():
        return ARGUMENT in agent.get_authorized("/api/v0/web/components/discovery.process.all")[1]
    wait_until(told, 20, "the command line is in the targets")
    assert SETTING in agent.get_authorized("/api/v0/web/components/pyroscope.write.away")[1]
    status, text = fetch(f"{agent.url}/api/v0/web/process?name={ARGUMENT}", headers=AUTHORIZED)
    assert status == 200 and [p["pid"] for p in json.loads(text)["processes"]] == [victim.pid]
    assert "components.json" in agent.support_bundle()
    for path in ("/api/v0/web/components/discovery.process.all", f"/api/v0/web/process?name={ARGUMENT}", "/-/support"):
        assert agent.get(path)[0] == 401, path


def test_refused_configuration_is_not_quoted(start_agent):
    """The line beside a mistake may be a secret one."""
    agent = start_agent('pyroscope.store "here" { }\n').wait_ready()
    agent.config_path.write_text(f'pyroscope.write "w" {{\n\tendpoint {{\n\t\turl = "http://127.0.0.1:1"\n\t\tbasic_auth {{\n'
                                 f'\t\t\tpassword = "{SETTING}"\n\t\t\tusername = 5 + \n\t\t}}\n\t}}\n}}\n')
    status, text = agent.get("/-/reload")
    assert status == 400 and SETTING not in text and "password" not in text


def test_support_bundle_wants_a_password(start_agent):
    agent = start_agent('pyroscope.store "here" { }\n').wait_ready()
    status, text = agent.get("/-/support")
    assert status == 403 and text.startswith("the support bundle is given to who has authenticated only: "), text
    # A password where none is wanted proves nothing.
    assert fetch(agent.url + "/-/support", headers=AUTHORIZED)[0] == 403
