# SPDX-License-Identifier: Apache-2.0
"""The processes that read DWARF for an agent: which there are, what they have, what the agent has counted and pushed."""
import os
from pathlib import Path

from .processes import wait_until

HELPER = "--internal-dwarf-server"
COUNTERS = ("crashed", "timed_out", "out_of_memory", "misbehaved", "held_back")


def argv(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def parent(pid):
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def helpers(agent):
    """(server, [readers]) of an agent; server None: there is none."""
    own = [int(p.name) for p in Path("/proc").glob("[0-9]*") if HELPER.encode() in argv(p.name)]
    servers = [pid for pid in own if parent(pid) == agent.process.pid]
    assert len(servers) <= 1
    return (servers[0], [pid for pid in own if parent(pid) == servers[0]]) if servers else (None, [])


def files_of(pid):
    try:
        return [os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []


def wait_reader(agent, program):
    """(server, reader) once the program's file is read; those of its libraries may be as well."""
    def look():
        server, readers = helpers(agent)
        return next(((server, r) for r in readers if str(program.argv[0]) in files_of(r)), None)
    return wait_until(look, 20, "a reader of the program")


def counters(agent):
    m = agent.metrics()
    return {name: m.agent(f"dwarf_helper_{name}") for name in COUNTERS}


def status(pid):
    return dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)


def leaves(standin, service):
    """(function, file, line) of the leaf frames that were pushed for a service."""
    return {sample.places[-1] for push in standin.pushes(service_name=service) for sample in push.profile.samples}
