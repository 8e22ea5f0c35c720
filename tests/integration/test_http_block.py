# SPDX-License-Identifier: Apache-2.0
"""The `http` block, and blocks that come from files and servers: passwords, TLS with certificates made on the spot, reloads."""
import base64
import http.client
import os
import shutil
import signal
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from harness.processes import wait_until

pytestmark = pytest.mark.agent

PASSWORD = """http {{
	auth {{
		basic {{
			username = "someone"
			password = "{password}"
		}}
{filter}	}}
}}
"""

FILTER = """		filter {{
			paths                       = {paths}
			authenticate_matching_paths = {matching}
		}}
"""

TLS = """http {{
	tls {{
		cert_file = "{pair}.cert"
		key_file  = "{pair}.key"
{more}	}}
}}
"""


def password(text="secret", paths=None, matching="true"):
    return PASSWORD.format(password=text, filter=FILTER.format(paths=paths, matching=matching) if paths else "")


def basic(text="secret", user="someone"):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{text}".encode()).decode()}


class Client:
    """Requests to one agent, each on a connection of its own."""

    def __init__(self, agent):
        self.agent = agent

    def connection(self, tls=None):
        if tls:
            return http.client.HTTPSConnection("127.0.0.1", self.agent.port, timeout=10, context=tls)
        return http.client.HTTPConnection("127.0.0.1", self.agent.port, timeout=10)

    def get(self, path, headers=None, tls=None, method="GET"):
        """(status, headers, body)"""
        connection = self.connection(tls)
        try:
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def status(self, path, headers=None, tls=None):
        return self.get(path, headers, tls)[0]

    def status_or_nothing(self, path, tls=None):
        try:
            return self.status(path, tls=tls)
        except (OSError, http.client.HTTPException):
            return 0


def start(start_agent, text, tls=None):
    agent = start_agent(text)
    client = Client(agent)
    wait_until(lambda: agent.process.running() and client.status_or_nothing("/-/ready", tls) in (200, 401), 15, "agent answers")
    return agent, client


def reload(agent, text):
    """By signal: it needs no password. Whether it was taken."""
    agent.config_path.write_text(text)
    before = len(agent.log_lines(msg="config reloaded")), len(agent.log_lines(msg="failed to reload config"))
    agent.process.send(signal.SIGHUP)

    def outcome():
        after = len(agent.log_lines(msg="config reloaded")), len(agent.log_lines(msg="failed to reload config"))
        return after if after != before else None
    return wait_until(outcome, 10, "a reload's outcome in the log")[0] > before[0]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Path of a certificate that signs itself, without its suffix: name → path."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    directory = tmp_path_factory.mktemp("pairs")
    made = {}
    for name in ("server", "other", "client"):
        made[name] = directory / name
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", f"{made[name]}.key",
                        "-out", f"{made[name]}.cert"], check=True, capture_output=True)
    return made


def trusting(pair, client=None):
    context = ssl.create_default_context(cafile=f"{pair}.cert")
    if client:
        context.load_cert_chain(f"{client}.cert", f"{client}.key")
    return context


# Passwords

def test_password(start_agent):
    agent, client = start(start_agent, password())
    status, headers, _ = client.get("/metrics")
    assert status == 401
    assert headers["WWW-Authenticate"].startswith("Basic realm=")
    assert client.status("/metrics", basic()) == 200
    assert client.status("/metrics", basic("wrong")) == 401
    assert client.status("/metrics", basic(user="nobody")) == 401
    assert client.status("/nowhere") == 401
    assert client.get("/-/reload", method="POST")[0] == 401
    assert not agent.log_lines(msg="config reloaded")
    assert agent.stop() == 0


@pytest.mark.parametrize("matching, listed, other", [("true", 401, 200), ("false", 200, 401)])
def test_filter(start_agent, matching, listed, other):
    _, client = start(start_agent, password(paths='["/metrics", "/-/rel"]', matching=matching))
    assert client.status("/metrics") == listed
    assert client.get("/-/reload", method="POST")[0] == listed
    assert client.status("/-/ready") == other
    assert client.status("/metrics", basic()) == 200


def test_password_by_reload(start_agent):
    agent, client = start(start_agent, "")
    assert client.status("/metrics") == 200
    assert reload(agent, password())
    assert client.status("/metrics") == 401
    assert reload(agent, password("other"))
    assert client.status("/metrics", basic()) == 401
    assert client.status("/metrics", basic("other")) == 200
    # One that fails changes nothing, an empty one everything.
    assert not reload(agent, "http { nonsense = 1 }\n")
    assert client.status("/metrics") == 401
    assert reload(agent, "")
    assert client.status("/metrics") == 200


def test_secret_from_a_file(start_agent, tmp_path):
    """local.file → http: the password changes with the file."""
    token = tmp_path / "token"
    token.write_text("first")
    _, client = start(start_agent, f'local.file "token" {{\n\tfilename = "{token}"\n\tis_secret = true\n}}\n' +
                      password().replace('"secret"', "local.file.token.content"))
    assert client.status("/metrics", basic("first")) == 200
    new = tmp_path / "new"
    new.write_text("second")
    os.replace(new, token)
    wait_until(lambda: client.status("/metrics", basic("second")) == 200, 10, "the new password holds")
    assert client.status("/metrics", basic("first")) == 401


# TLS

def test_tls(start_agent, pairs):
    tls = trusting(pairs["server"])
    agent, client = start(start_agent, TLS.format(pair=pairs["server"], more=""), tls)
    assert client.status("/metrics", tls=tls) == 200
    assert client.status_or_nothing("/metrics") == 0
    with pytest.raises(ssl.SSLCertVerificationError):
        client.get("/metrics", tls=trusting(pairs["other"]))
    assert agent.stop() == 0


def test_tls_by_reload(start_agent, pairs):
    """On and off through /-/reload itself, which is answered the way it was asked; the address stays all the time."""
    agent, client = start(start_agent, "")
    tls = {name: trusting(pairs[name]) for name in ("server", "other")}
    for _ in range(2):
        agent.config_path.write_text(TLS.format(pair=pairs["server"], more=""))
        assert client.get("/-/reload", method="POST")[::2] == (200, "config reloaded\n")
        assert client.status("/metrics", tls=tls["server"]) == 200
        assert client.status_or_nothing("/metrics") == 0
        agent.config_path.write_text(TLS.format(pair=pairs["other"], more=""))
        assert client.get("/-/reload", tls=tls["server"], method="POST")[0] == 200
        assert client.status("/metrics", tls=tls["other"]) == 200
        agent.config_path.write_text("")
        assert client.get("/-/reload", tls=tls["other"], method="POST")[0] == 200
        assert client.status("/metrics") == 200


def test_tls_that_cannot_be(start_agent, pairs, tmp_path):
    """What cannot be used is refused with its reason, and what was there goes on."""
    tls = trusting(pairs["server"])
    agent, client = start(start_agent, TLS.format(pair=pairs["server"], more=""), tls)
    for text, reason in (
            (TLS.format(pair=tmp_path / "nowhere", more=""), "nowhere.cert: no such file or directory"),
            (TLS.format(pair=pairs["server"], more="").replace("server.key", "other.key"),
             "tls: private key does not match public key"),
            (TLS.format(pair=pairs["server"], more="").replace("server.cert", "server.key"), "tls: ")):
        agent.config_path.write_text(text)
        status, _, body = client.get("/-/reload", tls=tls, method="POST")
        assert status == 400 and reason in body, body
        assert client.status("/metrics", tls=tls) == 200


def test_client_certificates(start_agent, pairs):
    more = f'\t\tclient_ca_file   = "{pairs["client"]}.cert"\n\t\tclient_auth_type = "RequireAndVerifyClientCert"\n'
    known = trusting(pairs["server"], pairs["client"])
    _, client = start(start_agent, TLS.format(pair=pairs["server"], more=more), known)
    assert client.status("/metrics", tls=known) == 200
    assert client.status_or_nothing("/metrics", trusting(pairs["server"])) == 0
    assert client.status_or_nothing("/metrics", trusting(pairs["server"], pairs["other"])) == 0


def test_versions(start_agent, pairs):
    old = trusting(pairs["server"])
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    new = trusting(pairs["server"])
    agent, client = start(start_agent, TLS.format(pair=pairs["server"], more='\t\tmin_version = "TLS13"\n'), new)
    assert client.status("/metrics", tls=new) == 200
    assert client.status_or_nothing("/metrics", old) == 0
    assert reload(agent, TLS.format(pair=pairs["server"], more='\t\tmax_version = "TLS12"\n'))
    assert client.status("/metrics", tls=old) == 200


def test_first_load_fails(start_agent, pairs):
    agent = start_agent(TLS.format(pair=pairs["server"], more="").replace("server.key", "other.key"))
    assert agent.process.wait(15) == 1
    assert "tls: private key does not match public key" in agent.log


# A listener for everybody

def test_open_listener_warns(start_agent):
    warning = "everybody who reaches this address may use it"

    def warnings(text):
        agent = start_agent(text, "--server.http.listen-addr=0.0.0.0:0")
        wait_until(lambda: agent.log_lines(msg="xagent is running"), 15, "agent is ready")
        return [line for line in agent.log_lines(level="warn") if line["msg"].startswith(warning)]
    assert len(warnings("")) == 1
    assert not warnings(password())


# remote.http

class Answers(BaseHTTPRequestHandler):
    """What the server of a test says now."""

    def do_GET(self):
        self.server.asked += 1
        body = self.server.text.encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def remote():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.text, server.status, server.asked = "first\n", 200, 0
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


REMOTE = """remote.http "password" {{
	url            = "http://127.0.0.1:{port}/"
	poll_frequency = "{often}"
	poll_timeout   = "{timeout}"
	is_secret      = true
}}
"""


def remote_config(server, often="2s", timeout="1s"):
    return (REMOTE.format(port=server.server_port, often=often, timeout=timeout) +
            password().replace('"secret"', "remote.http.password.content"))


def test_remote_password(start_agent, remote):
    agent, client = start(start_agent, remote_config(remote, "1m", "10s"))
    assert client.status("/metrics", basic("first")) == 200
    # Asked again for other arguments, not for the same.
    asked = remote.asked
    remote.text = "second"
    assert reload(agent, remote_config(remote, "1m", "10s"))
    assert remote.asked == asked
    # An answer that takes longer than this is one that fails.
    wait_until(lambda: reload(agent, remote_config(remote, "200ms", "199ms")), 20, "a reload with an answer in time")
    wait_until(lambda: client.status("/metrics", basic("second")) == 200, 10, "the new password holds")
    remote.status = 500
    wait_until(lambda: client.status("/-/healthy", basic("second")) == 500, 10, "the component is unhealthy")
    assert client.status("/metrics", basic("second")) == 200


def test_remote_is_away(start_agent, remote):
    """The first answer must come: without it nothing runs."""
    remote.status = 404
    agent = start_agent(remote_config(remote))
    assert agent.process.wait(15) == 1
    assert "unexpected status code 404" in agent.log


def test_remotecfg_warns(start_agent):
    agent, _ = start(start_agent, 'remotecfg {\n\turl = "https://config.example"\n}\ntracing { }\nlivedebugging {\n\tenabled = true\n}\n')
    assert [line for line in agent.log_lines(level="warn") if line["msg"].startswith("remote configuration is not supported")]
