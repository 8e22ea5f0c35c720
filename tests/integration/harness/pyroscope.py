# SPDX-License-Identifier: Apache-2.0
"""The real Pyroscope: building, serving, querying."""
import json
import signal
import subprocess

from . import paths
from .agent import fetch
from .processes import free_port, wait_until

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
HERE = paths.TESTS / "pyroscope"


def build():
    """(path of the server, None), or (None, why there is none)."""
    directory = paths.BUILD / "pyroscope"
    result = subprocess.run([HERE / "build.sh", directory], capture_output=True, text=True, check=False)
    if result.returncode == 77:
        return None, result.stderr.strip().splitlines()[-1]
    assert result.returncode == 0, result.stderr
    return directory / "pyroscope", None


class Querier:
    """Whoever answers Pyroscope's read API at this address."""

    def __init__(self, url):
        self.url = url

    def query(self, method, seconds=20, **request):
        """One Connect call with JSON; the answer."""
        status, body = fetch(f"{self.url}/querier.v1.QuerierService/{method}", data=json.dumps(request).encode(),
                             headers={"Content-Type": "application/json"}, seconds=seconds)
        assert status == 200, f"{method}: {status} {body}"
        return json.loads(body)


class Pyroscope(Querier):
    """A running server with an empty data folder."""

    def __init__(self, processes, directory, program, *flags):
        port = free_port(consecutive=3)
        super().__init__(f"http://127.0.0.1:{port}")
        self._start = lambda: processes.start(HERE / "serve.sh", program, port, directory / "data", *flags)
        self.start()

    def start(self):
        """Once more after a stop, with what it had."""
        self.process = self._start()
        wait_until(self._ready, 40, "Pyroscope is ready")

    def stop(self):
        self.process.send(signal.SIGTERM)
        self.process.wait(30)

    def _ready(self):
        assert self.process.running(), self.process.err[-4000:]
        try:
            return fetch(f"{self.url}/ready")[0] == 200
        except OSError:
            return False


class NewerPyroscope(Pyroscope):
    """The same server with its second storage, which answers what the first does not: heatmaps, and exemplars."""

    def __init__(self, processes, directory, program):
        port = free_port(consecutive=4)
        Querier.__init__(self, f"http://127.0.0.1:{port}")
        raft, grpc = f"127.0.0.1:{port + 3}", f"127.0.0.1:{port + 1}"
        flags = ["-storage.backend=filesystem", "-storage.filesystem.dir=./v2", "-write-path=segment-writer", "-enable-query-backend=true",
                 "-segment-writer.min-ready-duration=0s", "-metastore.min-ready-duration=0s", "-segment-writer.lifecycler.addr=127.0.0.1",
                 *(f"-metastore.raft.{name}={raft}" for name in ("bind-address", "advertise-address", "server-id")),
                 f"-metastore.address={grpc}", f"-query-backend.address={grpc}"]
        self._start = lambda: processes.start("env", "PYROSCOPE_V2=1", HERE / "serve.sh", program, port, directory / "data", *flags)
        self.start()


def flame_stacks(flamegraph):
    """
    frames from the root on → self value.

    A level is a flat list of fours: distance from the end of the bar before it, total, self, index of the name.
    """
    result = {}
    parents = [(0, int(flamegraph["total"]), ())]
    for number, level in enumerate(flamegraph["levels"]):
        values = [int(v) for v in level["values"]]
        bars, x = [], 0
        for delta, total, own, name in zip(*(values[i::4] for i in range(4))):
            x += delta
            path = _path_at(parents, x) + ((flamegraph["names"][name],) if number else ())
            bars.append((x, x + total, path))
            if own:
                result[path] = result.get(path, 0) + own
            x += total
        parents = bars
    return result


def _path_at(parents, x):
    return next(path for begin, end, path in parents if begin <= x < end)


def profile_stacks(profile):
    """frames from the root on → value, of a google.v1.Profile as JSON, where numbers are strings and zeros are left out."""
    strings = profile["stringTable"]
    functions = {f["id"]: strings[int(f.get("name", 0))] for f in profile["function"]}
    locations = {l["id"]: tuple(functions[line["functionId"]] for line in reversed(l["line"])) for l in profile["location"]}
    result = {}
    for sample in profile["sample"]:
        path = tuple(name for location in reversed(sample["locationId"]) for name in locations[location])
        result[path] = result.get(path, 0) + int(sample["value"][0])
    return result
