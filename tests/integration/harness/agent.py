# SPDX-License-Identifier: Apache-2.0
"""`xagent run` under test: configurations, its log, its HTTP side."""
import base64
import io
import json
import re
import signal
import urllib.error
import urllib.request
import zipfile

from . import metrics, paths
from .processes import free_port, wait_until

LOGFMT = re.compile(r'(\w[\w.]*)=("(?:[^"\\]|\\.)*"|\S*)(?:\s|$)')

# Who shows this password is told what components are made of, and gets the support bundle; all else is for everybody.
AUTH = """
http {
	auth {
		basic {
			username = "u"
			password = "told-to-nobody"
		}
		filter {
			paths = ["/-/support", "/api/v0/web/components/", "/api/v0/web/modules/"]
		}
	}
}
"""
AUTH_IN_FORMAT = AUTH.replace("{", "{{").replace("}", "}}")
AUTHORIZED = {"Authorization": "Basic " + base64.b64encode(b"u:told-to-nobody").decode()}

# Back-off that a test can wait for.
ENDPOINT = """
pyroscope.write "endpoint" {{
	endpoint {{
		url                = "{url}"
		remote_timeout     = "{timeout}"
		min_backoff_period = "100ms"
		max_backoff_period = "400ms"
	}}
}}
"""

EBPF = """
pyroscope.ebpf "instance" {{
	forward_to       = [pyroscope.write.endpoint.receiver]
	collect_interval = "{interval}"
	sample_rate      = {rate}
{body}}}
"""


def river(value):
    """A Python value as the configuration language spells it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {river(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(river(v) for v in value) + "]"
    if isinstance(value, Raw):
        return value.text
    return json.dumps(value)


class Raw:
    """An expression that is no literal, such as discovery.process.all.targets."""

    def __init__(self, text):
        self.text = text


def config(url, *, interval="2s", rate=97, timeout="5s", before="", level="info", **arguments):
    """One profiler that pushes to one server; further arguments are those of pyroscope.ebpf."""
    body = "".join(f"\t{name} = {river(value)}\n" for name, value in arguments.items())
    return (f'logging {{\n\tlevel = "{level}"\n}}\n' + before + EBPF.format(interval=interval, rate=rate, body=body) +
            ENDPOINT.format(url=url, timeout=timeout))


def parse_logfmt(line):
    """key → value of one line; empty when it is no logfmt."""
    return {key: json.loads(value) if value.startswith('"') else value for key, value in LOGFMT.findall(line)}


def fetch(url, seconds=20, data=None, headers=None):
    """(status, body text) of one request; an error status is an answer too. So long only where the machine is very busy."""
    request = urllib.request.Request(url, data=data, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")


class Agent:
    """A running `xagent run`; `prefix` is a program that starts it in another place, such as unshare; `program` another build of it."""

    def __init__(self, processes, directory, text, *arguments, name="agent.alloy", prefix=(), program=None, **options):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.config_path = directory / name
        self.config_path.write_text(text)
        self.process = processes.start(*prefix, program or paths.XAGENT, "run", self.config_path,
                                       f"--server.http.listen-addr=127.0.0.1:{self.port}", *arguments,
                                       cwd=directory, **options)

    def get(self, path):
        return fetch(self.url + path)

    def get_authorized(self, path):
        """As who has the password of AUTH."""
        return fetch(self.url + path, headers=AUTHORIZED)

    def support_bundle(self):
        """Contents by name; the configuration has AUTH."""
        request = urllib.request.Request(self.url + "/-/support", headers=AUTHORIZED)
        with urllib.request.urlopen(request, timeout=10) as answer:
            bundle = zipfile.ZipFile(io.BytesIO(answer.read()))
        assert bundle.testzip() is None
        return {name: bundle.read(name).decode() for name in bundle.namelist()}

    def _status(self, path):
        assert self.process.running(), f"agent ended with {self.process.popen.returncode}:\n{self.process.err[-4000:]}"
        try:
            return self.get(path)[0]
        except OSError:
            return 0

    def wait_ready(self, seconds=15):
        wait_until(lambda: self._status("/-/ready") == 200, seconds, "agent is ready")
        return self

    def metrics(self, prefix=""):
        """One scrape; of what begins with `prefix`, for who looks often."""
        status, body = self.get("/metrics")
        assert status == 200, body
        return metrics.parse(body if not prefix else metrics.only(body, prefix))

    def wait_metric(self, condition, seconds, what):
        """Scrape until condition(metrics) holds; the metrics."""
        def scrape():
            m = self.metrics()
            return m if condition(m) else None
        return wait_until(scrape, seconds, what)

    def stop(self, signo=signal.SIGTERM, seconds=20):
        """Ask it to end; the exit code."""
        self.process.send(signo)
        return self.process.wait(seconds)

    @property
    def log(self):
        return self.process.err

    def log_lines(self, **fields):
        """The log's lines (as dicts) that have these fields."""
        lines = [parse_logfmt(line) for line in self.log.splitlines()]
        return [line for line in lines if line and fields.items() <= line.items()]
