# SPDX-License-Identifier: Apache-2.0
"""Python as services have it: workers that gunicorn has forked, the interpreter in uwsgi and in Apache, whose
module runs an interpreter of its own for each program. The functions of a request's handler stand below those of the server, which may be
native, from the root of the stack on."""
import re
import shutil
import signal
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

import pytest

from harness import chains, folded, paths, pythons
from harness.agent import fetch
from harness.processes import free_port, wait_until

pytestmark = pytest.mark.bpf

# The one in every run has 3.11, which no other root of the tests has; the other one 3.13.
SUITES = ("bookworm", "trixie") if pythons.FULL else ("bookworm",)
PACKAGES = ("gunicorn", "uwsgi-core", "uwsgi-plugin-python3", "apache2", "libapache2-mod-wsgi-py3")

APP = """
import time
class Service:
    def handle(self):
        return spin(time.thread_time() + 0.05)
def spin(end):
    n = 0
    while time.thread_time() < end:
        n += sum([i * i for i in range(2000)])
    return n
def application(environ, start_response):
    answer = str(Service().handle()).encode()
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [answer]
"""

APACHE = """
ServerRoot /usr/lib/apache2
LoadModule mpm_prefork_module modules/mod_mpm_prefork.so
LoadModule authz_core_module modules/mod_authz_core.so
LoadModule wsgi_module modules/mod_wsgi.so
Listen 127.0.0.1:{port}
ServerName localhost
User #65534
Group #65534
PidFile {folder}/pid
ErrorLog {folder}/log
DefaultRuntimeDir {folder}
StartServers 2
MinSpareServers 2
MaxSpareServers 2
WSGIScriptAlias / {folder}/app.py
{more}
<Directory {folder}>
	Require all granted
</Directory>
"""
DAEMON = "WSGISocketPrefix {folder}/socket\nWSGIDaemonProcess app processes=2 threads=2\nWSGIProcessGroup app"


class Server(NamedTuple):
    command: tuple  # that serves app.py of {folder} on {port}, with two processes
    module: str     # as which it imports app.py: a regular expression
    outer: tuple    # functions of its own, from the root on, between which others may be
    files: dict = {}


def gunicorn(worker, *arguments):
    return Server(("/usr/bin/python3", "/usr/bin/gunicorn", "-w", "2", "-b", "127.0.0.1:{port}", "--chdir", "{folder}", *arguments, "app:application"), "app", worker)


def apache(more, outer):
    return Server(("/usr/sbin/apache2", "-D", "FOREGROUND", "-f", "{folder}/conf"), "_mod_wsgi_[0-9a-f]{32}", outer, {"conf": APACHE.replace("{more}", more)})


SERVERS = {
    "gunicorn": gunicorn(("_start", "__main__.<module>", "gunicorn.arbiter.Arbiter.run", "gunicorn.arbiter.Arbiter.spawn_worker",
                          "gunicorn.workers.base.Worker.init_process", "gunicorn.workers.sync.SyncWorker.handle_request")),
    "uwsgi": Server(("/usr/bin/uwsgi-core", "--plugin", "{plugin}", "--http-socket", "127.0.0.1:{port}", "--master", "--processes", "2", "--die-on-term",
                     "--chdir", "{folder}", "--wsgi-file", "app.py"), "uwsgi_file_app", ("_start", "main", "uwsgi_run", "uwsgi_request_wsgi")),
    "apache": apache("", ("_start", "main", "ap_run_mpm", "ap_invoke_handler", "ap_run_handler")),
}
# Requests by threads of Python's own, and by threads that Apache's module has made.
THREADED = {
    "gunicorn threads": gunicorn(("threading.Thread._bootstrap", "concurrent.futures.thread._worker", "gunicorn.workers.gthread.ThreadWorker.handle_request"),
                                 "--threads", "2"),
    "apache daemon": apache(DAEMON, ()),
}
ALL = {**SERVERS, **(THREADED if pythons.FULL else {})}


@pytest.fixture
def folder_in():
    """A folder below /tmp of a root, which everybody may write to."""
    folders = []

    def make(root):
        folders.append(Path(tempfile.mkdtemp(prefix="xagent-test-", dir=root / "tmp")))
        folders[-1].chmod(0o777)
        return folders[-1], "/tmp/" + folders[-1].name
    yield make
    for folder in folders:
        shutil.rmtree(folder)


class Clients:
    """Two at once, as many as the server has processes, until they are left."""

    def __init__(self, url):
        self.url, self.answers, self.done = url, 0, threading.Event()
        self.threads = [threading.Thread(target=self.ask) for _ in range(2)]

    def ask(self):
        while not self.done.is_set() and self.answers < 10000:
            status, _ = fetch(self.url)
            self.answers += status == 200

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        for thread in self.threads:
            thread.join()


def answers(url, process):
    assert process.running(), process.out + process.err
    try:
        return fetch(url)[0] == 200
    except OSError:
        return False


def profiled(processes, output, server, root, here, folder):
    """Stacks of the server and its workers, from its start until it has answered for some time."""
    port = free_port()
    for name, text in {"app.py": APP, **server.files}.items():
        (here / name).write_text(text.replace("{port}", str(port)).replace("{folder}", folder))
    plugin = next((root / "usr/lib/uwsgi/plugins").glob("python3*_plugin.so")).name.removesuffix("_plugin.so")
    command = [c.format(port=port, folder=folder, plugin=plugin) for c in server.command]
    process = processes.start(paths.XAGENT, "profile", "-U", "-F", "499", "-o", output, "--", "chroot", root, *command)
    url = f"http://127.0.0.1:{port}/"
    wait_until(lambda: answers(url, process), 30, f"{command[0]} answers")
    with Clients(url) as clients:
        wait_until(lambda: clients.answers >= 60, 60, "requests are answered")
    process.send(signal.SIGTERM)
    process.wait()
    return folded.parse(output.read_text())


def in_order(frames, names):
    at = iter(frames)
    return all(name in at for name in names)


def is_whole(stack, server):
    """The handler's functions, called by nobody else, below the server's."""
    at = next((i for i, f in enumerate(stack.frames) if re.fullmatch(server.module + r"\.application", f)), None)
    if at is None:
        return False
    module = stack.frames[at].removesuffix(".application")
    return (chains.is_complete(stack) and stack.frames[at + 1:at + 3] == (f"{module}.Service.handle", f"{module}.spin") and in_order(stack.frames[1:at], server.outer) and
            "_PyEval_EvalFrameDefault" not in stack.frames)


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("name", ALL, ids=lambda n: n.replace(" ", "_"))
def test_servers(processes, tmp_path, folder_in, suite, name):
    root, why = pythons.unpacked(suite, f"servers-{suite}", *PACKAGES)
    if not root:
        pytest.skip(why)
    server = ALL[name]
    stacks = profiled(processes, tmp_path / "o", server, root, *folder_in(root))
    handling = folded.Stacks(s for s in stacks if any(f.endswith(".spin") for f in s.frames))
    # Three seconds of the CPU, by the handler's own clock; the rest is the server's start.
    assert handling.total >= max(1000, 0.5 * stacks.total), f"{handling.total} of {stacks.total}\n{stacks.show()}"
    wrong = folded.Stacks(s for s in handling if not is_whole(s, server))
    assert wrong.total <= 0.005 * handling.total, f"{wrong.total} of {handling.total}\n{wrong.show(5)}"
