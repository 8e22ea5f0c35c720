# SPDX-License-Identifier: Apache-2.0
"""`xagent run` without a configuration, pyroscope.store, the page's files, and what its status view reads."""
import base64
import json
import re
import signal
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from harness import metrics, paths
from harness.agent import Agent, fetch
from harness.processes import free_port, wait_until
from harness.standin import services_with

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
STORE = 'pyroscope.store "s" {{\n{body}}}\n'
# Aim: below 10 s. A machine that is busy with other tests gets more, and the time is printed.
FIRST_GRAPH_SECONDS = 40


def ask(url, headers=None):
    """(status, headers, body bytes) of a GET; an error status is an answer too."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=5) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def ask_json(url):
    status, _, body = ask(url)
    assert status == 200, (url, body)
    return json.loads(body)


def query(url, method, **request):
    status, body = fetch(f"{url}/querier.v1.QuerierService/{method}", data=json.dumps(request).encode(),
                         headers={"Content-Type": "application/json"})
    assert status == 200, f"{method}: {status} {body}"
    return json.loads(body)


def functions(url, selector, seconds=3600):
    """Names in the flame graph of the last seconds."""
    now = int(time.time() * 1000)
    answer = query(url, "SelectMergeStacktraces", profile_typeID=CPU, label_selector=selector, start=now - 1000 * seconds, end=now + 1000)
    return answer.get("flamegraph", {}).get("names", [])


# ---- without a configuration -------------------------------------------------------------------------------------------------------

@pytest.mark.bpf
def test_password_of_a_server_is_not_in_the_list_of_processes(processes, standin, tmp_path):
    """Everybody may read every command line; the server gets the password all the same."""
    where = standin.url.removeprefix("http://")
    agent = processes.start(paths.XAGENT, "run", f"--push.url=http://me:5ecret@{where}", f"--server.http.listen-addr=127.0.0.1:{free_port()}",
                            cwd=tmp_path)
    wait_until(lambda: "the password in --push.url is hidden" in agent.err, 15, "it says what others may have seen")
    line = Path(f"/proc/{agent.pid}/cmdline").read_bytes()
    assert b"5ecret" not in line and f"@{where}".encode() in line, line
    wait_until(lambda: standin.stats()["headers"], 30, "a push")
    credentials = standin.stats()["headers"]["authorization"].removeprefix("Basic ")
    assert base64.b64decode(credentials) == b"me:5ecret"


@pytest.mark.bpf
def test_first_flame_graph(processes, programs, standin, tmp_path):
    chain = processes.start(programs["chain"], 60)
    chain.wait_for_output("main")
    url = f"http://127.0.0.1:{free_port()}"
    begin = time.monotonic()
    agent = processes.start(paths.XAGENT, "run", f"--push.url={standin.url}", f"--server.http.listen-addr={url[7:]}", cwd=tmp_path)
    wait_until(lambda: f"flame graphs of this host: {url}/\n" in agent.err, 15, "it says where to look")
    wait_until(lambda: "gamma" in functions(url, '{service_name="chain"}'), FIRST_GRAPH_SECONDS, "a flame graph of the program")
    print(f"first flame graph {time.monotonic() - begin:.1f} s after the command")
    assert {"main", "alpha", "beta", "gamma", "spin"} <= set(functions(url, '{service_name="chain"}'))

    status = ask_json(f"{url}/api/v0/web/status")
    assert status["samples"]["missed"] >= 0
    target = [t for t in status["targets"] if t["service_name"] == "chain"][0]
    assert target["component"] == "pyroscope.ebpf.host" and target["processes"] == 1 and target["samples"] > 0, target
    assert target["labels"]["service_name"] == "chain"
    assert status["store"]["id"] == "pyroscope.store.host" and status["store"]["profiles"] > 0
    outcomes = {o["name"]: o["value"] for o in status["samples"]["outcomes"]}
    assert 0 < outcomes["in_profiles"] <= status["samples"]["received"] <= status["samples"]["ticks"], status["samples"]
    # Ticks that come between two looks belong to nobody yet.
    assert sum(outcomes.values()) <= status["samples"]["ticks"], status["samples"]
    assert all(o["text"] for o in status["samples"]["outcomes"] + status["stacks"])
    assert {s["end"] for s in status["stacks"]} >= {"complete", "no_user"}

    one, = ask_json(f"{url}/api/v0/web/process?pid={chain.pid}")["processes"]
    assert one["profiled"] and one["service_name"] == "chain" and one["service_name_source"] == "executable" and one["fix"] == "", one
    assert one["exe"] == str(programs["chain"]) and one["why"].startswith("it is profiled: "), one
    assert chain.pid in [p["pid"] for p in ask_json(f"{url}/api/v0/web/process?name=CHAIN")["processes"]]

    before = metrics.parse(fetch(f"{url}/metrics")[1])
    agent.send(signal.SIGHUP)
    loaded = "xagent_config_last_load_success_timestamp_seconds"
    wait_until(lambda: metrics.parse(fetch(f"{url}/metrics")[1]).value(loaded) > before.value(loaded), 10, "the built-in text is loaded again")
    assert "gamma" in functions(url, '{service_name="chain"}'), "a reload keeps what was profiled"

    assert fetch(f"{url}/-/support")[0] == 403, "nobody has a password here"
    assert "xagent_config_hash{" in fetch(f"{url}/metrics")[1]

    agent.send(signal.SIGINT)
    assert agent.wait(20) == 0, agent.err
    assert "xagent: ended" in agent.err
    assert services_with(standin.pushes(), "main", "alpha", "beta", "gamma", "spin").get("chain", 0) > 0


# ---- the page ------------------------------------------------------------------------------------------------------------------------

def page_files(html):
    return re.findall(r'(?:src|href)="(page/[^"]+)"', html)


@pytest.mark.agent
def test_page_files(start_agent):
    agent = start_agent(STORE.format(body=""), "--server.http.ui-path-prefix=/ui").wait_ready()
    for base in (agent.url, agent.url + "/ui"):
        status, headers, body = ask(base + "/", {"Accept": "text/html,application/xhtml+xml;q=0.9"})
        assert status == 200 and headers["Content-Type"].startswith("text/html"), headers
        names = page_files(body.decode())
        assert len(names) > 3 and {f"page/{n}" for n in ("tree.js", "flame.js", "app.js")} <= set(names)
        tags = {headers["ETag"]}
        for name in names:
            status, headers, body = ask(f"{base}/{name}")
            assert status == 200 and body == (paths.TOP / "agent" / name).read_bytes(), name
            assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-cache"
            assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';"), headers
            kinds = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
            assert headers["Content-Type"].startswith(kinds[name.rpartition(".")[2]]), headers
            tags.add(headers["ETag"])
        tag, = tags
        assert ask(f"{base}/{names[0]}", {"If-None-Match": tag})[0::2] == (304, b"")
        assert ask(f"{base}/{names[0]}", {"If-None-Match": '"other"'})[0] == 200
    status, headers, body = ask(agent.url + "/")
    assert status == 200 and headers["Content-Type"].startswith("text/plain") and b"/metrics" in body and headers["Vary"] == "Accept"
    for name in ("page.h", "", "..%2fpage.h", "../page.h"):
        assert ask(f"{agent.url}/page/{name}")[0] == 404, name


@pytest.mark.agent
def test_passwords_hold_for_the_page_and_the_store(start_agent):
    agent = start_agent('http {\n auth {\n basic {\n username = "u"\n password = "p"\n }\n filter {\n paths = ["/-/"]\n'
                        ' authenticate_matching_paths = false\n }\n }\n}\n' + STORE.format(body="")).wait_ready()
    token = {"Authorization": "Basic " + base64.b64encode(b"u:p").decode()}
    for path in ("/", "/page/tree.js", "/api/v0/web/status", "/api/v0/web/process?pid=1", "/api/v1/status/buildinfo"):
        assert ask(agent.url + path, {"Accept": "text/html"})[0] == 401, path
        assert ask(agent.url + path, {"Accept": "text/html"} | token)[0] != 401, path


@pytest.mark.agent
def test_status_without_a_profiler(start_agent):
    agent = start_agent('pyroscope.write "w" { }\n').wait_ready()
    status = ask_json(agent.url + "/api/v0/web/status")
    assert status["store"] is None and status["targets"] == []
    assert {c["id"]: c["state"] for c in status["components"]} == {"pyroscope.write.w": "healthy"}
    assert [n for n in status["notes"] if "no pyroscope.ebpf" in n] and [n for n in status["notes"] if "no pyroscope.store" in n]
    one, = ask_json(f"{agent.url}/api/v0/web/process?pid={agent.process.pid}")["processes"]
    assert not one["profiled"] and "there is no pyroscope.ebpf" in one["why"] and one["fix"], one
    nobody = ask_json(f"{agent.url}/api/v0/web/process?pid={2 ** 31 - 1}")
    assert nobody["processes"] == [] and nobody["why"].startswith("there is no process 2147483647"), nobody
    assert ask_json(f"{agent.url}/api/v0/web/process?name=no-such-program-anywhere")["processes"] == []
    for wrong in ("", "?pid=", "?pid=-1", "?pid=x", "?name="):
        assert ask(f"{agent.url}/api/v0/web/process{wrong}")[0] == 400, wrong


@pytest.mark.bpf
def test_who_is_no_target_is_told_so(start_agent, processes):
    wanted, other = (processes.start("sleep", "60") for _ in range(2))
    agent = start_agent(f'''pyroscope.ebpf "e" {{
	forward_to   = [pyroscope.store.s.receiver]
	targets      = [{{"__process_pid__" = "{wanted.pid}", "service_name" = "wanted"}}]
}}
''' + STORE.format(body="")).wait_ready()
    one, = ask_json(f"{agent.url}/api/v0/web/process?pid={wanted.pid}")["processes"]
    assert (one["service_name"], one["service_name_source"], one["profiled"]) == ("wanted", "configuration", False), one
    assert "has not been met on a CPU" in one["why"] and one["fix"] == "", one
    one, = ask_json(f"{agent.url}/api/v0/web/process?pid={other.pid}")["processes"]
    assert one["why"] == "no target of pyroscope.ebpf.e selects it, and targets_only is true", one
    assert f'__process_pid__ = "{other.pid}"' in one["fix"] and not one["profiled"], one
    assert agent.stop() == 0, agent.log


# ---- the store -----------------------------------------------------------------------------------------------------------------------

def varint(n):
    out = bytearray()
    while n > 0x7f:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    return bytes(out + bytes([n]))


def field(number, value):
    """A number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def profile(function, nanoseconds):
    """profile.proto: one stack of one function, of now."""
    texts = ["", "cpu", "nanoseconds", function]
    kind = field(1, 1) + field(2, 2)
    return (field(1, kind) + field(2, field(1, varint(1)) + field(2, varint(nanoseconds))) +
            field(4, field(1, 1) + field(4, field(1, 1))) + field(5, field(1, 1) + field(2, 3)) +
            b"".join(field(6, t.encode()) for t in texts) + field(9, time.time_ns()) + field(11, kind) + field(12, 10000000))


def push(url, service, function):
    labels = [{"name": "__name__", "value": "process_cpu"}, {"name": "service_name", "value": service}]
    series = {"labels": labels, "samples": [{"rawProfile": base64.b64encode(profile(function, 10 ** 7)).decode()}]}
    status, body = fetch(f"{url}/push.v1.PusherService/Push", data=json.dumps({"series": [series]}).encode(),
                         headers={"Content-Type": "application/json"})
    assert status == 200, body


def restart(agent, processes, tmp_path):
    assert agent.stop() == 0, agent.log
    return Agent(processes, tmp_path, agent.config_path.read_text()).wait_ready()


@pytest.mark.agent
def test_store_is_found_again(start_agent, processes, tmp_path):
    """Below --storage.path, which is below where the agent runs."""
    agent = start_agent(STORE.format(body='path = "kept"\n')).wait_ready()
    push(agent.url, "first", "f_of_before")
    assert "f_of_before" in functions(agent.url, '{service_name="first"}')
    agent = restart(agent, processes, tmp_path)
    assert list((tmp_path / "data-xagent" / "kept").iterdir())
    wait_until(lambda: "f_of_before" in functions(agent.url, '{service_name="first"}'), 10, "files are read")
    push(agent.url, "second", "f_of_after")
    assert "f_of_after" in functions(agent.url, '{service_name="second"}')
    assert agent.stop() == 0


def reload(agent, text):
    agent.config_path.write_text(text)
    return agent.get("/-/reload")


@pytest.mark.agent
def test_reload_of_a_store(start_agent, tmp_path):
    agent = start_agent(STORE.format(body="")).wait_ready()
    push(agent.url, "s", "f_kept")
    store = ask_json(agent.url + "/api/v0/web/status")["store"]
    assert (store["max_bytes"], store["max_age_s"], store["profiles"]) == (64 << 20, 6 * 3600, 1), store

    status, body = reload(agent, STORE.format(body='max_bytes = "8MiB"\nmax_age = "1h"\n'))
    assert status == 200, body
    store = ask_json(agent.url + "/api/v0/web/status")["store"]
    assert (store["max_bytes"], store["max_age_s"], store["profiles"]) == (8 << 20, 3600, 1), store
    assert "f_kept" in functions(agent.url, "{}")

    status, body = reload(agent, STORE.format(body="") + 'pyroscope.store "t" { }\n')
    assert status == 400 and "there may be one pyroscope.store in all" in body, body
    assert "f_kept" in functions(agent.url, "{}"), "a refused load changes nothing"

    (tmp_path / "file").touch()
    status, body = reload(agent, STORE.format(body='path = "/proc/none"\n'))
    assert status == 200 and "f_kept" in functions(agent.url, "{}"), body
    assert "pyroscope.store.s: unhealthy: " in agent.get("/-/healthy")[1]

    status, body = reload(agent, 'pyroscope.store "other" { }\n')
    assert status == 200, body
    wait_until(lambda: (ask_json(agent.url + "/api/v0/web/status")["store"] or {}).get("id") == "pyroscope.store.other", 10, "the other answers")
    push(agent.url, "s", "f_of_other")
    assert "f_of_other" in functions(agent.url, "{}") and "f_kept" not in functions(agent.url, "{}")

    status, body = reload(agent, 'pyroscope.write "w" { }\n')
    assert status == 200, body
    assert ask(agent.url + "/ready")[0] == 404 and ask(agent.url + "/")[0] == 200
    assert agent.stop() == 0, agent.log


@pytest.mark.agent
def test_open_address_is_said_once(processes, tmp_path):
    port = free_port()
    (tmp_path / "a.alloy").write_text(STORE.format(body=""))
    agent = processes.start(paths.XAGENT, "run", "a.alloy", f"--server.http.listen-addr=:{port}", cwd=tmp_path)
    wait_until(lambda: "may read and push profiles" in agent.err, 10, "it is said")
    agent.send(signal.SIGHUP)
    wait_until(lambda: "config reloaded" in agent.err, 10, "a reload")
    assert "everybody who reaches this agent's address may read and push profiles" in fetch(f"http://127.0.0.1:{port}/-/healthy")[1]
    assert agent.err.count("may read and push profiles") == 1, agent.err
