# SPDX-License-Identifier: Apache-2.0
"""More services than a host may send series: some keep their names, the rest is one, and a log and metrics say so."""
import os

import pytest

from harness.agent import config
from harness.processes import wait_until

pytestmark = pytest.mark.bpf

RATE = 199
MAX = 4
N = 6
BUSY = "while True:\n    pass\n"
# Busy one twelfth of the time.
SMALL = "import time\nwhile True:\n    t = time.process_time() + 0.01\n    while time.process_time() < t:\n        pass\n    time.sleep(0.11)\n"


def _target(process, name):
    return {"__process_pid__": str(process.pid), "service_name": name}


def _services(standin):
    return {push.labels["service_name"] for push in standin.pushes()}


def test_series_cap(start_agent, standin, processes, tmp_path):
    """One that is there first keeps its place, however small it is."""
    (tmp_path / "busy.py").write_text(BUSY)
    (tmp_path / "small.py").write_text(SMALL)

    def start(script):
        return processes.start("/usr/bin/python3", tmp_path / script, env={"PATH": os.environ["PATH"]})

    targets = [_target(start("small.py"), "cap-first")]
    agent = start_agent(config(standin.url, interval="1s", rate=RATE, targets=targets, max_series=MAX)).wait_ready()
    wait_until(lambda: "cap-first" in _services(standin), 20, "the first is profiled")
    targets += [_target(start("busy.py"), f"cap-{i}") for i in range(N)]
    agent.config_path.write_text(config(standin.url, interval="1s", rate=RATE, targets=targets, max_series=MAX))
    assert agent.get("/-/reload")[0] == 200
    wait_until(lambda: standin.samples(service_name="other") >= 50, 20, "the rest is profiled")
    m = agent.metrics()
    assert m.agent("series_folded") > 0 and m.agent("samples_folded") > 0
    assert agent.stop() == 0
    names = _services(standin)
    assert len(names) <= MAX and {"cap-first", "other"} <= names, names
    other = standin.pushes(service_name="other")
    assert all(set(push.labels) == {"__name__", "service_name", "host"} for push in other)
    assert len({push.labels["host"] for push in other}) == 1
    told = agent.log_lines(msg='more series than max_series: the smallest new ones are sent as service_name="other"')
    assert len(told) == 1 and told[0]["max_series"] == str(MAX) and told[0]["biggest_folded"].startswith("cap-"), told
