# SPDX-License-Identifier: Apache-2.0
"""The client of tests/pyroscope/standin.py: what has been pushed to it, and how it is to answer."""
import base64
import json
import sys
from typing import NamedTuple

from . import paths, pprof
from .agent import fetch
from .folded import contains_run
from .processes import wait_until


class Push(NamedTuple):
    labels: dict
    profile: pprof.Profile


class StandIn:
    """A running stand-in, on a port of its own choice."""

    def __init__(self, processes, directory):
        port_file = directory / "standin.port"
        self.process = processes.start(sys.executable, "-B", paths.TESTS / "pyroscope" / "standin.py", "--port", "0",
                                       "--port-file", port_file)
        self.port = int(wait_until(lambda: port_file.exists() and port_file.read_text().strip(), 10,
                                   "the stand-in listens"))
        self.url = f"http://127.0.0.1:{self.port}"

    def set_mode(self, mode):
        status, body = fetch(f"{self.url}/_mode", data=json.dumps({"mode": mode}).encode())
        assert status == 200, body

    def pushes(self, **labels):
        """All accepted pushes with these labels, in the order in which they came."""
        status, body = fetch(f"{self.url}/_pushes")
        assert status == 200, body
        return [p for p in map(_push, json.loads(body)) if labels.items() <= p.labels.items()]

    def stats(self):
        """Requests, answers by status, refusals, duplicates, warnings."""
        status, body = fetch(f"{self.url}/_stats")
        assert status == 200, body
        return json.loads(body)

    def wait_pushes(self, seconds=15, **labels):
        return wait_until(lambda: self.pushes(**labels), seconds, f"a push with {labels}")

    def samples(self, **labels):
        """How many ticks the pushed values stand for."""
        return sum(p.profile.total // p.profile.period for p in self.pushes(**labels))


def _push(item):
    return Push(item["labels"], pprof.parse(base64.b64decode(item["profile"])))


def stacks_of(pushes):
    """frames → value in ticks, over all these pushes."""
    result = {}
    for push in pushes:
        for sample in push.profile.samples:
            result[sample.frames] = result.get(sample.frames, 0) + sample.values[0] // push.profile.period
    return result


def services_with(pushes, *names):
    """service_name → ticks of the stacks in which the names follow each other."""
    result = {}
    for push in pushes:
        count = sum(n for frames, n in stacks_of([push]).items() if contains_run(frames, names))
        if count:
            service = push.labels["service_name"]
            result[service] = result.get(service, 0) + count
    return result
